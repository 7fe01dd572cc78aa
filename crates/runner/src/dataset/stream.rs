//! The file as it comes: a buffer that holds the row at hand and little more.

use std::io::Read;

use super::error::{DatasetError, Place};
use super::scan::{self, Stop};

const CHUNK: usize = 256 * 1024;

/// A single row larger than this is refused: a dataset has many small ones.
const MAX_VALUE: usize = 256 << 20;

pub(super) struct Stream<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    exhausted: bool,
    /// Line of `buffer[start]`, counted from 1.
    line: u64,
}

/// What follows the first value of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterFirst {
    /// Nothing.
    End,
    /// Something.
    More,
    /// It is too long to be looked beyond.
    Far,
}

impl<R: Read> Stream<R> {
    pub(super) fn new(input: R) -> Self {
        Stream {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            exhausted: false,
            line: 1,
        }
    }

    /// The first bytes, without taking them: as many as fit one buffer, or the whole file.
    pub(super) fn head(&mut self) -> Result<&[u8], DatasetError> {
        while self.end - self.start < CHUNK && !self.exhausted {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// The line of the next byte.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next byte that is no white space, without taking it; `None` at the end of the file.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, DatasetError> {
        loop {
            let at = scan::blank(&self.buffer[..self.end], self.start);
            self.advance(at - self.start);
            if self.start < self.end {
                return Ok(Some(self.buffer[self.start]));
            }
            if self.exhausted {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// The next byte, white space or not, without taking it; `None` at the end of the file.
    pub(super) fn first(&mut self) -> Result<Option<u8>, DatasetError> {
        if self.start == self.end && !self.exhausted {
            self.fill()?;
        }
        Ok(self.buffer[..self.end].get(self.start).copied())
    }

    /// The byte after the one that [`Stream::peek`] showed, white space passed over, without taking any.
    pub(super) fn peek_after(&mut self) -> Result<Option<u8>, DatasetError> {
        loop {
            let at = scan::blank(&self.buffer[..self.end], self.start + 1);
            if at < self.end {
                return Ok(Some(self.buffer[at]));
            }
            if self.exhausted {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Takes so many bytes.
    pub(super) fn advance(&mut self, count: usize) {
        let taken = &self.buffer[self.start..self.start + count];
        self.line += newlines(taken);
        self.start += count;
    }

    /// What follows the first value, if that ends within `limit` bytes.
    pub(super) fn after_first_value(&mut self, limit: usize) -> Result<AfterFirst, DatasetError> {
        loop {
            let input = &self.buffer[self.start..self.end];
            match scan::value(input, 0) {
                Ok(end) => {
                    let next = scan::blank(input, end);
                    if next < input.len() || self.exhausted {
                        return Ok(match next < input.len() {
                            true => AfterFirst::More,
                            false => AfterFirst::End,
                        });
                    }
                }
                Err(Stop::Incomplete) if self.exhausted => return Err(self.cut_off()),
                Err(Stop::Incomplete) => (),
                Err(Stop::Invalid(at, what)) => return Err(self.invalid(at, what)),
            }
            if input.len() >= limit {
                return Ok(AfterFirst::Far);
            }
            self.fill()?;
        }
    }

    /// Takes what `scan` finds at the next byte, and gives its text and the line where it begins.
    ///
    /// `scan` gets the input and whether it is all there is, and gives the length of what it found.
    pub(super) fn scanned(
        &mut self,
        mut scan: impl FnMut(&[u8], bool) -> Result<usize, Stop>,
    ) -> Result<(&str, u64), DatasetError> {
        let length = loop {
            let input = &self.buffer[self.start..self.end];
            match scan(input, self.exhausted) {
                Ok(length) if length < input.len() || self.exhausted => break length,
                Err(Stop::Incomplete) if self.exhausted => return Err(self.cut_off()),
                // A number that ends with the buffer may go on behind it.
                Ok(_) | Err(Stop::Incomplete) => self.fill()?,
                Err(Stop::Invalid(at, what)) => return Err(self.invalid(at, what)),
            }
        };
        let (start, line) = (self.start, self.line);
        self.advance(length);
        match std::str::from_utf8(&self.buffer[start..start + length]) {
            Ok(text) => Ok((text, line)),
            Err(error) => Err(not_utf8(
                line + newlines(&self.buffer[start..start + error.valid_up_to()]),
            )),
        }
    }

    fn cut_off(&self) -> DatasetError {
        let quote = self.buffer.get(self.start) == Some(&b'"');
        let problem = match quote {
            true => "the file ends within a text in double quotes",
            false => "the file ends in the middle of the value that begins here",
        };
        DatasetError::new(problem)
            .line(self.line)
            .help("the file was cut off while it was written or copied: make it again")
    }

    fn invalid(&self, at: usize, what: &str) -> DatasetError {
        let before = &self.buffer[self.start..self.start + at];
        let line = self.line + newlines(before);
        if self.buffer.get(self.start + at) == Some(&0) {
            return nul(line);
        }
        let row = match line > self.line {
            true => format!(", in the value that begins in line {}", self.line),
            false => String::new(),
        };
        DatasetError::new(format!("not valid JSON: {what}{row}"))
            .line(line)
            .help("write the file with a JSON library; a JSON checker shows the place")
    }

    /// Reads on, at least as much as is there already, so that looking again costs no more than a constant factor.
    fn fill(&mut self) -> Result<(), DatasetError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end > MAX_VALUE {
            return Err(DatasetError::new("a single row of more than 256 MiB")
                .line(self.line)
                .help("a dataset has one object for each sample; is this another file?"));
        }
        let wanted = self.end + self.end.max(CHUNK);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.end < wanted {
            match self.input.read(&mut self.buffer[self.end..wanted]) {
                Ok(0) => {
                    self.exhausted = true;
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
                Err(error) => {
                    return Err(DatasetError::new(format!("cannot be read: {error}"))
                        .help("the disk is failing, or a compressed file was cut off or damaged: fetch it again")
                        .at(&Place {
                            line: Some(self.line),
                            pointer: None,
                        }));
                }
            }
        }
        Ok(())
    }
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    // A sum over small chunks is what the compiler turns into vector instructions.
    bytes
        .chunks(128)
        .map(|chunk| {
            let count: u8 = chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum();
            u64::from(count)
        })
        .sum()
}

fn not_utf8(line: u64) -> DatasetError {
    DatasetError::new("the text is not UTF-8")
        .line(line)
        .help("write the file as UTF-8: Excel calls it \"CSV UTF-8\", Python encoding=\"utf-8\"")
}

pub(super) fn nul(line: u64) -> DatasetError {
    DatasetError::new("a NUL byte: this is no text, or UTF-16 without a byte order mark")
        .line(line)
        .help("write the dataset as UTF-8 text: JSONL, JSON or CSV")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newlines_are_counted() {
        for count in [0, 1, 127, 128, 129, 1000] {
            assert_eq!(newlines(&vec![b'\n'; count]), count as u64);
            assert_eq!(newlines(&vec![b'x'; count]), 0);
        }
    }
}
