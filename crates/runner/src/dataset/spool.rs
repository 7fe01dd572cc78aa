//! Where the samples wait: in memory while they are few, else in an unnamed temporary file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Held in memory unless options say otherwise.
pub(super) const MEMORY: usize = 32 << 20;

/// Records in the order in which they were added.
#[derive(Debug)]
pub(super) struct Spool {
    limit: usize,
    /// What is not in the file: all, or what was added since the last write.
    memory: Vec<u8>,
    file: Option<Mutex<File>>,
    written: u64,
    /// End of each record.
    ends: Vec<u64>,
}

impl Spool {
    pub(super) fn new(limit: usize) -> Self {
        Spool {
            limit,
            memory: Vec::new(),
            file: None,
            written: 0,
            ends: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds what `write` appends.
    pub(super) fn add<E: From<io::Error>>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        write(&mut self.memory)?;
        self.ends.push(self.written + self.memory.len() as u64);
        // Once there is a file, it is written to in pieces of a size that a disk likes.
        let limit = match self.file {
            Some(_) => self.limit.min(1 << 20),
            None => self.limit,
        };
        if self.memory.len() > limit {
            self.flush()?;
        }
        Ok(())
    }

    /// The record, from whatever thread.
    pub(super) fn get(&self, index: usize) -> io::Result<Vec<u8>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such record");
        let end = *self.ends.get(index).ok_or_else(missing)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let length = usize::try_from(end - start).map_err(io::Error::other)?;
        let mut record = vec![0; length];
        match &self.file {
            Some(file) if start < self.written => {
                // A reader that panicked has left no more than another position.
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut record)?;
            }
            _ => {
                let start = usize::try_from(start - self.written).map_err(io::Error::other)?;
                let there = self.memory.get(start..start + length).ok_or_else(missing)?;
                record.copy_from_slice(there);
            }
        }
        Ok(record)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(Mutex::new(tempfile::tempfile()?));
        }
        if let Some(file) = &mut self.file {
            let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(self.written))?;
            file.write_all(&self.memory)?;
        }
        self.written += self.memory.len() as u64;
        self.memory = Vec::new();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_from_memory_and_from_the_file_and_to_many_threads() {
        for limit in [0, 10, 1000, MEMORY] {
            let mut spool = Spool::new(limit);
            for number in 0..500 {
                let add = |out: &mut Vec<u8>| write!(out, "{}", "x".repeat(number % 7));
                spool.add(add).unwrap();
                assert_eq!(spool.get(number).unwrap().len(), number % 7);
            }
            assert_eq!(spool.file.is_some(), limit < 1000 + 500);
            std::thread::scope(|scope| {
                for first in 0..4 {
                    let spool = &spool;
                    scope.spawn(move || {
                        for number in (first..500).step_by(3).rev() {
                            assert_eq!(spool.get(number).unwrap().len(), number % 7);
                        }
                    });
                }
            });
            assert!(spool.get(500).is_err());
        }
    }
}
