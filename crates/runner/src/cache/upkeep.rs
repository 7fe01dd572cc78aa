//! Looking at the folder as a whole: what is in it, and what of it may go.
//!
//! Only files that rag-gate has written are ever removed, whatever folder the path names.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::entry::Found;
use super::{Cache, CacheError, Key, TEMPORARY, read};

/// A temporary file that is older belongs to a process that is gone.
const LEFTOVER: Duration = Duration::from_hours(1);

/// What is in a cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Answers.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// When the oldest answer was given.
    pub oldest: Option<Timestamp>,
    /// When the newest answer was given.
    pub newest: Option<Timestamp>,
    /// Answers by the model that gave them, in its own words; `None` where it did not say.
    pub models: BTreeMap<Option<String>, ModelStats>,
    /// Answers that are cut off, changed, or under another's name.
    pub damaged: u64,
    /// Files that rag-gate has not written.
    pub foreign: u64,
    /// Temporary files.
    pub leftovers: u64,
}

/// The answers of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelStats {
    /// How many.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Answers.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Answers that were damaged.
    pub damaged: u64,
    /// Temporary files of processes that are gone.
    pub leftovers: u64,
    /// Answers that stayed.
    pub kept: u64,
    /// Their size in bytes.
    pub kept_bytes: u64,
    /// Files that rag-gate has not written; they stayed.
    pub foreign: u64,
}

/// A file in the folder.
pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// An answer under the name of its key.
    Answer {
        key: Key,
        at: Timestamp,
        model: Option<String>,
        latency_s: f64,
    },
    Damaged,
    Temporary {
        changed: Option<SystemTime>,
    },
    Foreign,
}

impl Cache {
    /// What is in the folder. Every file is read.
    pub fn stats(&self) -> Result<Stats, CacheError> {
        let mut stats = Stats::default();
        self.walk(&mut |item| {
            match item.kind {
                Kind::Answer { at, model, .. } => {
                    stats.files += 1;
                    stats.bytes += item.bytes;
                    stats.oldest = Some(stats.oldest.map_or(at, |oldest| oldest.min(at)));
                    stats.newest = Some(stats.newest.map_or(at, |newest| newest.max(at)));
                    let of_model = stats.models.entry(model).or_default();
                    of_model.files += 1;
                    of_model.bytes += item.bytes;
                }
                Kind::Damaged => stats.damaged += 1,
                Kind::Temporary { .. } => stats.leftovers += 1,
                Kind::Foreign => stats.foreign += 1,
            }
            Ok(())
        })?;
        Ok(stats)
    }

    /// How long the answers took, in seconds, in the order of their keys.
    pub fn latencies(&self) -> Result<Vec<f64>, CacheError> {
        let mut found = Vec::new();
        self.walk(&mut |item| {
            if let Kind::Answer { key, latency_s, .. } = item.kind {
                found.push((key, latency_s));
            }
            Ok(())
        })?;
        found.sort_unstable_by_key(|(key, _)| *key);
        Ok(found.into_iter().map(|(_, latency)| latency).collect())
    }

    /// Removes answers that were given before a time, then the oldest until the rest fits into `max_bytes`; always
    /// what is damaged and what dead processes left.
    pub fn prune(
        &self,
        before: Option<Timestamp>,
        max_bytes: Option<u64>,
    ) -> Result<Removed, CacheError> {
        let mut removed = Removed::default();
        let mut answers = Vec::new();
        self.walk(&mut |item| {
            match item.kind {
                Kind::Answer { key, at, .. } => answers.push((at, key, item.bytes, item.path)),
                Kind::Damaged => removed.damaged += remove(&item.path)?,
                Kind::Temporary { changed } if is_leftover(changed) => {
                    removed.leftovers += remove(&item.path)?;
                }
                Kind::Temporary { .. } => {}
                Kind::Foreign => removed.foreign += 1,
            }
            Ok(())
        })?;
        answers.sort_unstable_by_key(|(at, key, ..)| (*at, *key));
        let mut bytes: u64 = answers.iter().map(|(_, _, bytes, _)| bytes).sum();
        for (at, _, size, path) in answers {
            let is_old = before.is_some_and(|before| at < before);
            if is_old || max_bytes.is_some_and(|max| bytes > max) {
                removed.files += remove(&path)?;
                removed.bytes += size;
                bytes -= size;
            } else {
                removed.kept += 1;
                removed.kept_bytes += size;
            }
        }
        self.remove_empty_folders()?;
        Ok(removed)
    }

    /// Removes all answers, and what is left of others.
    pub fn clear(&self) -> Result<Removed, CacheError> {
        let mut removed = Removed::default();
        self.walk(&mut |item| {
            match item.kind {
                Kind::Answer { .. } => {
                    removed.files += remove(&item.path)?;
                    removed.bytes += item.bytes;
                }
                Kind::Damaged => removed.damaged += remove(&item.path)?,
                Kind::Temporary { .. } => removed.leftovers += remove(&item.path)?,
                Kind::Foreign => removed.foreign += 1,
            }
            Ok(())
        })?;
        self.remove_empty_folders()?;
        Ok(removed)
    }

    /// Looks at every file, folder by folder in the order of their names. A folder that is not there is empty.
    pub(super) fn walk(
        &self,
        visit: &mut dyn FnMut(Item) -> Result<(), CacheError>,
    ) -> Result<(), CacheError> {
        for path in children(self.folder())? {
            if shard_of(&path).is_none() {
                if !is_gitignore(&path) {
                    visit(foreign(path))?;
                }
                continue;
            }
            for path in children(&path)? {
                visit(look(path)?)?;
            }
        }
        Ok(())
    }

    /// Folders of two digits that nothing is left in.
    fn remove_empty_folders(&self) -> Result<(), CacheError> {
        for path in children(self.folder())? {
            if shard_of(&path).is_some() {
                // Fails for one that is not empty, or that is gone.
                let _ = fs::remove_dir(&path);
            }
        }
        Ok(())
    }
}

/// What a file in a folder of two digits is.
fn look(path: PathBuf) -> Result<Item, CacheError> {
    let Ok(metadata) = fs::symlink_metadata(&path) else {
        // Somebody else removed it.
        return Ok(foreign(path));
    };
    let name = path.file_name().and_then(|name| name.to_str());
    if !metadata.is_file() {
        return Ok(foreign(path));
    }
    if name.is_some_and(|name| name.starts_with(TEMPORARY)) {
        let kind = Kind::Temporary {
            changed: metadata.modified().ok(),
        };
        return Ok(Item {
            path,
            bytes: metadata.len(),
            kind,
        });
    }
    let Some(named) = key_of(&path) else {
        return Ok(foreign(path));
    };
    let kind = match read(&path) {
        Ok(Found::Whole(key, entry)) if key == named => Kind::Answer {
            key,
            at: entry.at,
            model: entry.model,
            latency_s: entry.latency_s,
        },
        Ok(Found::Whole(..) | Found::Damaged(_)) => Kind::Damaged,
        Ok(Found::Foreign) => Kind::Foreign,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Kind::Foreign,
        Err(source) => return Err(CacheError::Unreadable { path, source }),
    };
    Ok(Item {
        path,
        bytes: metadata.len(),
        kind,
    })
}

fn foreign(path: PathBuf) -> Item {
    Item {
        path,
        bytes: 0,
        kind: Kind::Foreign,
    }
}

/// The key that a path such as `ab/ab12….json` names.
fn key_of(path: &Path) -> Option<Key> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    let shard = shard_of(path.parent()?)?;
    name.starts_with(&shard).then(|| name.parse().ok())?
}

/// The two digits that a folder is named by.
fn shard_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (name.len() == 2 && name.bytes().all(is_digit) && path.is_dir()).then(|| name.to_owned())
}

fn is_gitignore(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore")
}

fn is_leftover(changed: Option<SystemTime>) -> bool {
    changed.is_some_and(|changed| changed.elapsed().is_ok_and(|age| age > LEFTOVER))
}

/// What a folder holds, sorted; nothing when it is not there.
fn children(folder: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let unreadable = |source| CacheError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    paths.sort_unstable();
    Ok(paths)
}

/// Removes a file; 0 when somebody else was faster.
fn remove(path: &Path) -> Result<u64, CacheError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(1),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(source) => Err(CacheError::Unwritable {
            path: path.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use gate::policy::CacheMode;

    use super::super::tests::{entry, key};
    use super::*;

    /// Ten answers, one a day from 2026-11-01 on, of two models.
    fn filled(path: &Path) -> Cache {
        let cache = Cache::open(path, CacheMode::ReadWrite).unwrap();
        for day in 1..=10 {
            let mut entry = entry("yes");
            entry.at = format!("2026-11-{day:02}T00:00:00Z").parse().unwrap();
            entry.model = (day % 2 == 0).then(|| "judge-1".to_owned());
            entry.latency_s = f64::from(day);
            cache.put(&key(day), &entry).unwrap();
        }
        cache
    }

    fn days(cache: &Cache) -> Vec<u32> {
        (1..=10)
            .filter(|day| cache.get(&key(*day)).is_some())
            .collect()
    }

    #[test]
    fn stats_count_what_is_there() {
        let root = tempfile::tempdir().unwrap();
        let cache = filled(root.path());
        fs::write(cache.path(&key(1)), "").unwrap();
        fs::copy(cache.path(&key(3)), cache.path(&key(4))).unwrap();
        fs::write(root.path().join("notes.txt"), "mine").unwrap();
        let stats = cache.stats().unwrap();
        assert_eq!((stats.files, stats.damaged, stats.foreign), (8, 2, 1));
        assert_eq!(stats.oldest, Some("2026-11-02T00:00:00Z".parse().unwrap()));
        assert_eq!(stats.newest, Some("2026-11-10T00:00:00Z".parse().unwrap()));
        assert_eq!(stats.models[&Some("judge-1".to_owned())].files, 4);
        assert_eq!(stats.models[&None].files, 4);
        assert_eq!(
            stats.bytes,
            stats.models.values().map(|model| model.bytes).sum::<u64>()
        );
        let mut latencies = cache.latencies().unwrap();
        latencies.sort_by(f64::total_cmp);
        assert_eq!(latencies, [2.0, 3.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_empty() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(&root.path().join("none"), CacheMode::ReadWrite).unwrap();
        assert_eq!(cache.stats().unwrap(), Stats::default());
        assert_eq!(cache.clear().unwrap(), Removed::default());
    }

    #[test]
    fn prune_removes_what_is_old_then_the_oldest_until_the_rest_fits() {
        let root = tempfile::tempdir().unwrap();
        let cache = filled(root.path());
        let before = "2026-11-04T00:00:00Z".parse().unwrap();
        let removed = cache.prune(Some(before), None).unwrap();
        assert_eq!((removed.files, removed.kept), (3, 7));
        assert_eq!(days(&cache), [4, 5, 6, 7, 8, 9, 10]);

        let size = cache.stats().unwrap().bytes / 7;
        let removed = cache.prune(None, Some(size * 3 + size / 2)).unwrap();
        assert_eq!((removed.files, removed.kept), (4, 3));
        assert_eq!(days(&cache), [8, 9, 10]);
        assert_eq!(removed.kept_bytes, cache.stats().unwrap().bytes);

        assert_eq!(cache.prune(None, None).unwrap().kept, 3);
        assert_eq!(cache.prune(None, Some(0)).unwrap().files, 3);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_dead_processes_left_is_pruned_and_what_live_ones_write_is_not() {
        let root = tempfile::tempdir().unwrap();
        let cache = filled(root.path());
        let shard = cache.path(&key(1)).parent().unwrap().to_owned();
        let dead = shard.join(".tmp-dead");
        let live = shard.join(".tmp-live");
        fs::write(&live, "x").unwrap();
        let file = fs::File::create(&dead).unwrap();
        file.set_modified(SystemTime::now() - LEFTOVER * 2).unwrap();
        assert_eq!(cache.prune(None, None).unwrap().leftovers, 1);
        assert!(live.exists() && !dead.exists());
        assert_eq!(cache.clear().unwrap().leftovers, 1);
    }

    #[test]
    fn what_somebody_else_wrote_is_never_removed() {
        let root = tempfile::tempdir().unwrap();
        let cache = filled(root.path());
        let name = "ab".repeat(32);
        let foreign = [
            root.path().join("notes.txt"),
            root.path().join("src/main.rs"),
            root.path().join("ab/notes.json"),
            // Another store that names files by their hashes.
            root.path().join(format!("ab/{name}.json")),
            root.path().join(format!("ab/{name}")),
            root.path().join(format!("cd/{name}.json")),
        ];
        for path in &foreign {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{\"theirs\": true}").unwrap();
        }
        let removed = cache.prune(None, Some(0)).unwrap();
        assert_eq!((removed.files, removed.kept), (10, 0));
        let removed = filled(root.path()).clear().unwrap();
        assert_eq!((removed.files, removed.damaged), (10, 0));
        for path in &foreign {
            assert!(path.exists(), "{}", path.display());
        }
    }
}
