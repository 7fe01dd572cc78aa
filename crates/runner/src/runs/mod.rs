//! The record of runs: a file that gets one line a run, so that old runs can be looked at without their results.
//!
//! Lines are only ever added, each with one write; what cannot be read is passed over and stays.

mod names;
mod record;

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use names::name_of;
pub use record::{Difference, MetricRecord, Record, SCHEMA, VariantRecord};

use crate::cache::folder;

/// The record where nobody names one, relative to gate.toml.
pub const PATH: &str = ".rag-gate/runs.jsonl";

/// Why the record of runs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// It cannot be read.
    #[error("could not read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("could not write {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Runs {
    /// In the order in which they ended.
    pub records: Vec<Record>,
    /// Numbers of the lines that cannot be read, counted from 1.
    pub damaged: Vec<usize>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs.
    pub removed: usize,
    /// Runs that stayed.
    pub kept: usize,
    /// Lines that cannot be read; they stayed.
    pub damaged: usize,
}

/// The id of a new run: the time in UTC and six digits that tell processes of one second apart, such as
/// `20261201-004803-9f3a2c`.
pub fn new_id() -> String {
    let now = Timestamp::now();
    // The keys of a `RandomState` come from the system's entropy.
    let random = RandomState::new().hash_one((std::process::id(), now.as_nanosecond()));
    format!(
        "{}-{:06x}",
        now.strftime("%Y%m%d-%H%M%S"),
        random & 0xff_ffff
    )
}

/// Adds a run.
pub fn append(path: &Path, record: &Record) -> Result<(), RunsError> {
    let unwritable = |source| RunsError::Unwritable {
        path: path.to_owned(),
        source,
    };
    refuse_other_than_file(path).map_err(unwritable)?;
    let mut line = serde_json::to_vec(record).map_err(|error| unwritable(error.into()))?;
    line.push(b'\n');
    let parent = parent(path);
    folder::create(parent).map_err(unwritable)?;
    let _lock = lock(parent);
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .map_err(unwritable)?;
    // A line that another process did not finish stays a line of its own.
    if !ends_a_line(&mut file).map_err(unwritable)? {
        line.insert(0, b'\n');
    }
    // One write at the end of the file: where nothing can be locked, two processes still do not mix their lines.
    file.write_all(&line).map_err(unwritable)
}

/// Reads all runs; none when there is no file.
pub fn read(path: &Path) -> Result<Runs, RunsError> {
    let mut runs = Runs::default();
    for (index, line) in lines(path)?.iter().enumerate() {
        match parse(line) {
            Line::Run(record) => runs.records.push(*record),
            Line::Blank => {}
            Line::Damaged => {
                tracing::warn!(path = %path.display(), line = index + 1, "a line of the record of runs cannot be read; it is passed over");
                runs.damaged.push(index + 1);
            }
        }
    }
    Ok(runs)
}

/// Removes runs that started before a time, and all but the last `keep`. The file is replaced as a whole.
pub fn prune(
    path: &Path,
    keep: Option<usize>,
    before: Option<Timestamp>,
) -> Result<Pruned, RunsError> {
    let _lock = lock(parent(path));
    let lines = lines(path)?;
    let parsed: Vec<Line> = lines.iter().map(|line| parse(line)).collect();
    let is_run = |line: &&Line| matches!(line, Line::Run(_));
    let count = parsed.iter().filter(is_run).count();
    let mut surplus = keep.map_or(0, |keep| count.saturating_sub(keep));
    let mut pruned = Pruned::default();
    let mut text = Vec::new();
    for (line, parsed) in lines.iter().zip(parsed) {
        let stays = match parsed {
            Line::Blank => false,
            Line::Damaged => {
                pruned.damaged += 1;
                true
            }
            Line::Run(record) => {
                let is_surplus = surplus > 0;
                surplus = surplus.saturating_sub(1);
                let started = record.started_at.as_deref().and_then(|at| at.parse().ok());
                let is_old = before
                    .zip(started)
                    .is_some_and(|(before, started): (_, Timestamp)| started < before);
                let stays = !is_surplus && !is_old;
                if stays {
                    pruned.kept += 1;
                } else {
                    pruned.removed += 1;
                }
                stays
            }
        };
        if stays {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    if pruned.removed > 0 {
        replace(path, &text).map_err(|source| RunsError::Unwritable {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(pruned)
}

impl Runs {
    /// The place of a run, by its id, its name (the last one of that name), or the beginning of one id.
    pub fn find(&self, name: &str) -> Option<usize> {
        let by = |is: &dyn Fn(&Record) -> bool| self.records.iter().rposition(is);
        let prefixed = || {
            let mut found = (0..self.records.len())
                .filter(|index| !name.is_empty() && self.records[*index].id.starts_with(name));
            found.next().filter(|_| found.next().is_none())
        };
        by(&|record| record.id == name)
            .or_else(|| by(&|record| record.name == name))
            .or_else(prefixed)
    }
}

/// What a line turns out to be.
enum Line {
    Run(Box<Record>),
    Blank,
    Damaged,
}

fn parse(line: &[u8]) -> Line {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Line::Blank;
    }
    match serde_json::from_slice::<Record>(line) {
        Ok(record) if record.schema == SCHEMA && !record.id.is_empty() => {
            Line::Run(Box::new(record))
        }
        _ => Line::Damaged,
    }
}

fn lines(path: &Path) -> Result<Vec<Vec<u8>>, RunsError> {
    let bytes = match refuse_other_than_file(path).and_then(|()| fs::read(path)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(RunsError::Unreadable {
                path: path.to_owned(),
                source,
            });
        }
    };
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    // What follows the last line feed is no line.
    lines.pop_if(|last| last.is_empty());
    Ok(lines)
}

/// A pipe would keep whoever opens it waiting for ever.
fn refuse_other_than_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a file")),
        _ => Ok(()),
    }
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

/// Keeps other writers of the folder waiting until it is dropped. `None` where a folder cannot be locked: on Windows, and
/// on some network file systems.
///
/// The folder is locked and not the file, for pruning puts another file in its place.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().is_ok().then_some(folder)
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    let mut file = tempfile::Builder::new()
        .prefix(".rag-gate-")
        .permissions(permissions)
        .tempfile_in(parent(path))?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn record(number: u32) -> Record {
        let id = format!("202611{:02}-120000-{number:06x}", number % 28 + 1);
        Record {
            schema: SCHEMA.to_owned(),
            name: name_of(&id),
            started_at: Some(format!("2026-11-{:02}T12:00:00Z", number % 28 + 1)),
            id,
            ..Record::default()
        }
    }

    fn filled(count: u32) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".rag-gate/runs.jsonl");
        for number in 0..count {
            append(&path, &record(number)).unwrap();
        }
        (root, path)
    }

    #[test]
    fn runs_are_read_in_the_order_they_were_added() {
        let (root, path) = filled(5);
        let runs = read(&path).unwrap();
        let expected: Vec<Record> = (0..5).map(record).collect();
        assert_eq!(runs.records, expected);
        assert!(root.path().join(".rag-gate/.gitignore").exists());
        assert_eq!(read(&root.path().join("none")).unwrap(), Runs::default());
    }

    #[test]
    fn a_damaged_line_is_passed_over_and_spoils_no_other() {
        let (_root, path) = filled(2);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str(
            "hello\n{\"schema\": \"rag-gate/run/2\", \"id\": \"x\"}\n{\"schema\": \"rag-ga",
        );
        fs::write(&path, text).unwrap();
        append(&path, &record(2)).unwrap();
        let runs = read(&path).unwrap();
        assert_eq!(runs.records, [record(0), record(1), record(2)]);
        assert_eq!(runs.damaged, [3, 4, 5]);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_record() {
        let (_root, path) = filled(1);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert!(matches!(read(&path), Err(RunsError::Unreadable { .. })));
        let added = append(&path, &record(1));
        assert!(matches!(added, Err(RunsError::Unwritable { .. })));
    }

    #[test]
    fn many_may_add_at_once() {
        let (_root, path) = filled(0);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..50 {
                        append(path, &record(thread * 50 + number)).unwrap();
                    }
                });
            }
        });
        let runs = read(&path).unwrap();
        let ids: BTreeSet<&str> = runs.records.iter().map(|run| run.id.as_str()).collect();
        assert_eq!((ids.len(), runs.damaged.len()), (200, 0));
    }

    #[test]
    fn prune_keeps_the_last_ones_and_what_it_cannot_read() {
        let (_root, path) = filled(10);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("damaged\n{text}")).unwrap();
        let expected = Pruned {
            removed: 6,
            kept: 4,
            damaged: 1,
        };
        assert_eq!(prune(&path, Some(4), None).unwrap(), expected);
        let runs = read(&path).unwrap();
        assert_eq!(runs.records, (6..10).map(record).collect::<Vec<_>>());
        assert_eq!(runs.damaged, [1]);

        let before = "2026-11-09T00:00:00Z".parse().unwrap();
        assert_eq!(prune(&path, None, Some(before)).unwrap().removed, 2);
        assert_eq!(read(&path).unwrap().records, [record(8), record(9)]);
        assert_eq!(prune(&path, Some(0), None).unwrap().removed, 2);
        assert_eq!(
            prune(&path.with_file_name("none"), Some(0), None).unwrap(),
            Pruned::default()
        );
    }

    #[test]
    fn a_run_added_while_others_prune_is_not_lost() {
        let (_root, path) = filled(0);
        std::thread::scope(|scope| {
            let path = &path;
            scope.spawn(move || {
                for number in 0..100 {
                    append(path, &record(number)).unwrap();
                }
            });
            scope.spawn(move || {
                for _ in 0..100 {
                    prune(path, Some(95), None).unwrap();
                }
            });
        });
        prune(&path, Some(95), None).unwrap();
        let expected: Vec<Record> = (5..100).map(record).collect();
        assert_eq!(read(&path).unwrap().records, expected);
    }

    #[test]
    fn a_run_is_found_by_id_name_or_beginning() {
        let runs = Runs {
            records: (0..5).map(record).collect(),
            damaged: Vec::new(),
        };
        for (index, record) in runs.records.iter().enumerate() {
            assert_eq!(runs.find(&record.id), Some(index));
            assert_eq!(runs.find(&record.name), Some(index));
            assert_eq!(runs.find(&record.id[..8]), Some(index));
        }
        for unknown in ["", "2026", "brave"] {
            assert_eq!(runs.find(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn ids_are_new_and_say_when() {
        let ids: BTreeSet<String> = (0..100).map(|_| new_id()).collect();
        assert!(ids.len() > 98);
        for id in ids {
            let parts: Vec<&str> = id.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(lengths, [8, 6, 6], "{id}");
            assert!(parts[2].bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
    }
}
