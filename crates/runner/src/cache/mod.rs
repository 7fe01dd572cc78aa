//! The cache: answers that were given once, one file each.
//!
//! ```text
//! KeyParts ─▶ Key ─▶ ab/ab12….json ─▶ Entry
//! ```
//!
//! Any number of processes may use one folder at once: a file is written beside its place and renamed, so that under its
//! name it is whole or not there. A file that is damaged all the same counts as none.

mod entry;
pub(crate) mod folder;
mod key;
mod pack;
mod upkeep;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gate::policy::CacheMode;

pub use entry::{Entry, SCHEMA};
pub use folder::create as create_folder;
pub use key::{Key, KeyParts, NoKey};
pub use pack::{Packed, Unpacked};
pub use upkeep::{ModelStats, Removed, Stats};

use entry::Found;

/// The folder of the cache where nobody names one, relative to gate.toml.
pub const PATH: &str = ".rag-gate/cache";

/// What a temporary file's name begins with.
const TEMPORARY: &str = ".tmp-";

/// How often a write is tried while somebody else clears the folder.
const TRIES: usize = 3;

/// Why the cache cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Something stands in the folder's place.
    #[error("the cache {} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("could not read {}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written or removed.
    #[error("could not write {}", path.display())]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An answer has no form in JSON: its latency is no finite number.
    #[error("the answer {key} cannot be stored")]
    NotStorable {
        /// Its key.
        key: Key,
        /// Why.
        source: serde_json::Error,
    },
    /// A file is no pack, or is damaged.
    #[error("line {line} is no packed answer: {problem}")]
    NotAPack {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A pack cannot be read or written.
    #[error("could not read or write the pack")]
    Pack {
        /// Why.
        source: io::Error,
    },
}

/// A folder of answers. Reading and writing block; the files are small.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// The same from the root: the current folder is not asked for with every file.
    absolute: PathBuf,
    mode: CacheMode,
    /// Keys whose files cannot be used.
    damaged: Mutex<HashSet<Key>>,
    /// Answers that could not be written.
    unwritten: AtomicU64,
}

impl Cache {
    /// Opens the folder. It is made when the first answer is put into it.
    pub fn open(path: &Path, mode: CacheMode) -> Result<Cache, CacheError> {
        match fs::metadata(path) {
            Ok(found) if !found.is_dir() => {
                return Err(CacheError::NotAFolder {
                    path: path.to_owned(),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(CacheError::NotAFolder {
                    path: path.to_owned(),
                });
            }
            Err(_) if mode == CacheMode::Replay => {
                tracing::warn!(path = %path.display(), "there is no cache to replay from");
            }
            Ok(_) | Err(_) => {}
        }
        Ok(Cache {
            folder: path.to_owned(),
            absolute: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            mode,
            damaged: Mutex::default(),
            unwritten: AtomicU64::new(0),
        })
    }

    /// The answer of a key, where the mode allows to take one. A file that cannot be used counts as none.
    pub fn get(&self, key: &Key) -> Option<Entry> {
        match self.mode {
            CacheMode::Off | CacheMode::Refresh => return None,
            CacheMode::ReadWrite | CacheMode::ReadOnly | CacheMode::Replay => {}
        }
        self.find(key)
    }

    /// How long the answer of a key took when it was given, in seconds, also where the mode asks for it anew.
    pub fn earlier_latency(&self, key: &Key) -> Option<f64> {
        match self.mode {
            CacheMode::Off => None,
            _ => self.find(key).map(|entry| entry.latency_s),
        }
    }

    fn find(&self, key: &Key) -> Option<Entry> {
        let path = self.path(key);
        let problem = match read(&path) {
            Ok(Found::Whole(found, entry)) if found == *key => return Some(entry),
            Ok(Found::Whole(found, _)) => format!("it holds the answer {found}"),
            Ok(Found::Damaged(problem)) => problem,
            Ok(Found::Foreign) => "rag-gate has not written it".to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => error.to_string(),
        };
        let is_news = self
            .damaged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(*key);
        if is_news {
            tracing::warn!(path = %path.display(), problem, "an answer of the cache cannot be used; it counts as missing");
        }
        None
    }

    /// Keeps an answer, where the mode allows it.
    ///
    /// A cache that cannot be written (a read-only file system, a full disk) costs money, not the run: it is warned of
    /// once and counted in [`Cache::unwritten`]. An error is an answer that has no form in JSON.
    pub fn put(&self, key: &Key, entry: &Entry) -> Result<(), CacheError> {
        match self.mode {
            CacheMode::Off | CacheMode::ReadOnly | CacheMode::Replay => return Ok(()),
            CacheMode::ReadWrite | CacheMode::Refresh => {}
        }
        let bytes = entry::file(key, entry)
            .map_err(|source| CacheError::NotStorable { key: *key, source })?;
        match self.write(key, &bytes) {
            Ok(()) => {
                self.damaged
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .remove(key);
            }
            Err(error) => {
                if self.unwritten.fetch_add(1, Ordering::Relaxed) == 0 {
                    tracing::warn!(path = %self.folder.display(), %error, "the cache cannot be written; answers are asked for again next time");
                }
            }
        }
        Ok(())
    }

    /// True when nobody may be called: an answer that is not here is a failure.
    pub fn is_replay(&self) -> bool {
        self.mode == CacheMode::Replay
    }

    /// What the cache is used for.
    pub fn mode(&self) -> CacheMode {
        self.mode
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many files were met that cannot be used, and have not been replaced since.
    pub fn damaged(&self) -> u64 {
        self.damaged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len() as u64
    }

    /// How many answers could not be written.
    pub fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }

    /// The place of an answer. Folders of two digits keep each of them short.
    fn path(&self, key: &Key) -> PathBuf {
        let name = key.to_string();
        self.absolute.join(&name[..2]).join(format!("{name}.json"))
    }

    /// Puts a file in its place as a whole.
    ///
    /// It is not synced: after a crash of the machine an answer may be gone or full of NULs, which its check tells, and
    /// it is asked for again. Syncing thousands of small files would cost more than that.
    fn write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let shard = path.parent().unwrap_or(&self.absolute);
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match write_in(shard, &path, bytes) {
                // The folder is not made yet, or somebody cleared the cache just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries > 0 => {
                    folder::create(shard)?;
                }
                result => return result,
            }
        }
    }
}

fn write_in(shard: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary(shard)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file that others may read once it has its name, as the umask allows.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(folder)
}

/// Opens without waiting: a pipe that nobody writes into must not stop a run.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads a file of the cache.
fn read(path: &Path) -> io::Result<Found> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Found::Foreign);
    }
    let length = metadata.len().min(entry::MAX_BYTES);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    file.take(entry::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > entry::MAX_BYTES {
        return Ok(Found::Foreign);
    }
    Ok(entry::read(&bytes))
}

#[cfg(test)]
mod tests {
    use metrics::{Expect, Request};
    use serde_json::json;

    use super::*;
    use crate::provider::{Identity, Usage};

    /// One of many keys.
    pub(super) fn key(number: u32) -> Key {
        let identity = Identity {
            provider: "openai".to_owned(),
            model: None,
            params: json!({}),
        };
        let request = Request {
            metric: "faithfulness".to_owned(),
            version: "1".to_owned(),
            messages: Vec::new(),
            expect: Expect::Verdicts { items: 1 },
            items: Vec::new(),
            evidence: Vec::new(),
            of_answer: None,
        };
        Key::of(&KeyParts {
            identity: &identity,
            request: &request,
            repeat: number,
        })
    }

    pub(super) fn entry(answer: &str) -> Entry {
        Entry {
            answer: answer.to_owned(),
            numerals: Vec::new(),
            is_computed: false,
            model: Some("judge-1".to_owned()),
            usage: Usage {
                prompt_tokens: Some(12),
                completion_tokens: None,
            },
            at: "2026-11-01T12:00:00Z".parse().unwrap(),
            latency_s: 0.25,
        }
    }

    fn open(path: &Path, mode: CacheMode) -> Cache {
        Cache::open(path, mode).unwrap()
    }

    #[test]
    fn a_mode_says_whether_answers_are_taken_and_put() {
        let root = tempfile::tempdir().unwrap();
        let old = entry("old");
        open(root.path(), CacheMode::ReadWrite)
            .put(&key(0), &old)
            .unwrap();
        for (mode, takes, puts) in [
            (CacheMode::ReadWrite, true, true),
            (CacheMode::Off, false, false),
            (CacheMode::ReadOnly, true, false),
            (CacheMode::Refresh, false, true),
            (CacheMode::Replay, true, false),
        ] {
            let cache = open(root.path(), mode);
            assert_eq!(cache.get(&key(0)).is_some(), takes, "{mode:?}");
            let new = key(mode as u32 + 1);
            cache.put(&new, &entry("new")).unwrap();
            let stored = open(root.path(), CacheMode::ReadOnly).get(&new);
            assert_eq!(stored.is_some(), puts, "{mode:?}");
            assert_eq!(cache.is_replay(), mode == CacheMode::Replay);
        }
        let refresh = open(root.path(), CacheMode::Refresh);
        refresh.put(&key(0), &entry("newer")).unwrap();
        let found = open(root.path(), CacheMode::Replay).get(&key(0)).unwrap();
        assert_eq!(found.answer, "newer");
    }

    #[test]
    fn opening_makes_nothing_and_putting_makes_a_folder_that_git_ignores() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".rag-gate/cache");
        let cache = open(&path, CacheMode::ReadWrite);
        assert_eq!(cache.get(&key(0)), None);
        assert!(!root.path().join(".rag-gate").exists());
        cache.put(&key(0), &entry("yes")).unwrap();
        assert_eq!(cache.get(&key(0)), Some(entry("yes")));
        assert!(root.path().join(".rag-gate/.gitignore").exists());
    }

    #[test]
    fn a_file_that_cannot_be_used_is_a_miss_and_counted_once() {
        let root = tempfile::tempdir().unwrap();
        let cache = open(root.path(), CacheMode::ReadWrite);
        for number in 0..4 {
            cache.put(&key(number), &entry("yes")).unwrap();
        }
        let path = |number| cache.path(&key(number));
        let whole = fs::read(path(0)).unwrap();
        fs::write(path(0), &whole[..whole.len() / 2]).unwrap();
        fs::write(path(1), "{\"hello\": 1}").unwrap();
        fs::copy(path(3), path(2)).unwrap();
        for number in 0..3 {
            assert_eq!(cache.get(&key(number)), None);
            assert_eq!(cache.get(&key(number)), None);
        }
        assert_eq!(cache.damaged(), 3);
        assert_eq!(cache.get(&key(3)), Some(entry("yes")));

        cache.put(&key(0), &entry("again")).unwrap();
        assert_eq!(cache.get(&key(0)), Some(entry("again")));
        assert_eq!(cache.damaged(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_a_file_stops_nobody() {
        let root = tempfile::tempdir().unwrap();
        let cache = open(root.path(), CacheMode::ReadWrite);
        let path = cache.path(&key(0));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(cache.get(&key(0)), None);
        assert_eq!(cache.damaged(), 1);
        cache.put(&key(0), &entry("yes")).unwrap();
        assert_eq!(cache.get(&key(0)), Some(entry("yes")));
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_no_run() {
        let root = tempfile::tempdir().unwrap();
        // A file where the folder of the key would be.
        let cache = open(root.path(), CacheMode::ReadWrite);
        fs::write(cache.path(&key(0)).parent().unwrap(), "").unwrap();
        cache.put(&key(0), &entry("yes")).unwrap();
        assert_eq!(cache.unwritten(), 1);
        assert_eq!(cache.get(&key(0)), None);

        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = Cache::open(&path, CacheMode::ReadWrite).unwrap_err();
            assert!(matches!(error, CacheError::NotAFolder { .. }), "{error}");
        }
    }

    #[test]
    fn a_file_of_the_cache_reads_like_this() {
        let text = String::from_utf8(entry::file(&key(0), &entry("yes")).unwrap()).unwrap();
        insta::assert_snapshot!(text, @r#"
        {
          "schema": "rag-gate/answer/1",
          "key": "b70c453a1d7305305f343247d418bf496c3c87b34bd278dd0847c52afaac4316",
          "answer": "yes",
          "model": "judge-1",
          "usage": {
            "prompt_tokens": 12
          },
          "at": "2026-11-01T12:00:00Z",
          "latency_s": 0.25,
          "check": "9cb401cc9a1df6b325f0d20438e56ea59cbf6307e420f98b2010f4330657fab0"
        }
        "#);
    }

    #[test]
    fn many_may_use_one_folder_at_once() {
        let root = tempfile::tempdir().unwrap();
        let long = "x".repeat(20_000);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let (path, long) = (root.path(), &long);
                scope.spawn(move || {
                    let cache = open(path, CacheMode::ReadWrite);
                    for round in 0..60 {
                        let key = key(round % 7);
                        cache
                            .put(&key, &entry(&format!("{thread} {round} {long}")))
                            .unwrap();
                        let found = cache.get(&key).unwrap();
                        assert!(found.answer.ends_with(long));
                    }
                    assert_eq!((cache.damaged(), cache.unwritten()), (0, 0));
                });
            }
        });
        let stats = open(root.path(), CacheMode::ReadWrite).stats().unwrap();
        assert_eq!((stats.files, stats.damaged, stats.leftovers), (7, 0, 0));
    }

    /// The folder that the process of the next test writes into.
    const VICTIM: &str = "RAG_GATE_TEST_CACHE";

    #[test]
    #[ignore = "is the process that another test kills"]
    fn a_process_that_writes_until_it_is_killed() {
        let Some(path) = std::env::var_os(VICTIM) else {
            return;
        };
        let cache = open(Path::new(&path), CacheMode::ReadWrite);
        let long = "x".repeat(60_000);
        for round in 0..1_000_000 {
            cache
                .put(&key(round % 5), &entry(&format!("{round} {long}")))
                .unwrap();
        }
    }

    #[test]
    fn a_process_that_is_killed_leaves_whole_files() {
        let root = tempfile::tempdir().unwrap();
        for _ in 0..4 {
            let mut process = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact"])
                .arg("cache::tests::a_process_that_writes_until_it_is_killed")
                .env(VICTIM, root.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            // Killed in the middle of writing: there is a file, and the next one is under way.
            let cache = open(root.path(), CacheMode::ReadOnly);
            while cache.get(&key(4)).is_none() {
                assert!(process.try_wait().unwrap().is_none(), "it wrote nothing");
                std::thread::yield_now();
            }
            process.kill().unwrap();
            process.wait().unwrap();
            let stats = cache.stats().unwrap();
            assert_eq!((stats.files, stats.damaged, stats.foreign), (5, 0, 0));
            // The next round starts anew.
            fs::remove_file(cache.path(&key(4))).unwrap();
        }
    }
}
