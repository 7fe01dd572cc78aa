//! Reads one JSON value after the other from a stream, so that a file is never in memory as a whole.
//!
//! `serde_json` parses every value; this only knows where the next one starts. A value that ends beyond the buffer is
//! parsed again once more of the file is there. A bare `NaN`, which other tools write and JSON does not have, is replaced
//! by a marker of the same length at the place where the parser stumbled over it.

use std::io::Read;

use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny};

use super::error::ReadError;
use super::row::{Row, RowSeed};

/// What a bare `NaN` becomes: a string of one DEL character, three bytes like the token.
pub(super) const NAN_MARKER: &str = "\u{7f}";
const NAN_REPLACEMENT: &[u8; 3] = b"\"\x7f\"";

const CHUNK: usize = 256 * 1024;

/// A single value larger than this is refused: a results file has many small ones.
const MAX_VALUE: usize = 1 << 30;

pub(super) struct Stream<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    exhausted: bool,
    /// Newlines before `buffer[0]`.
    lines_before: u64,
    /// Bytes between the last newline and `buffer[0]`.
    column_before: u64,
}

impl<R: Read> Stream<R> {
    pub(super) fn new(input: R) -> Self {
        Stream {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            exhausted: false,
            lines_before: 0,
            column_before: 0,
        }
    }

    /// The next byte that is no white space, without taking it; `None` at the end of the input.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            while let Some(&byte) = self.buffer[..self.end].get(self.start) {
                if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                    return Ok(Some(byte));
                }
                self.start += 1;
            }
            if self.exhausted {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Takes the byte that [`Stream::peek`] showed.
    pub(super) fn take(&mut self) {
        self.start += 1;
    }

    /// Line and column of the next byte.
    pub(super) fn position(&self) -> (u64, u64) {
        self.position_of(self.start)
    }

    /// The next value, whatever it is made of.
    pub(super) fn value<T: DeserializeOwned>(&mut self) -> Result<T, ReadError> {
        loop {
            let input = &self.buffer[self.start..self.end];
            let mut values = serde_json::Deserializer::from_slice(input).into_iter::<T>();
            let outcome = match values.next() {
                Some(Ok(value)) => Ok((value, values.byte_offset())),
                Some(Err(error)) => Err(Some(error)),
                None => Err(None),
            };
            match outcome {
                // A number that ends with the buffer may go on behind it.
                Ok((_, used)) if used == input.len() && !self.exhausted => self.fill()?,
                Ok((value, used)) => {
                    self.start += used;
                    return Ok(value);
                }
                Err(error) => self.recover(error)?,
            }
        }
    }

    /// The next value as a sample, handed to `take` while it still borrows the buffer.
    pub(super) fn row<O>(
        &mut self,
        mut take: impl FnMut(&Row<'_>) -> Result<O, ReadError>,
    ) -> Result<O, ReadError> {
        loop {
            let input = &self.buffer[self.start..self.end];
            let mut row = Row::default();
            let mut parser = serde_json::Deserializer::from_slice(input);
            let outcome = match RowSeed(&mut row).deserialize(&mut parser) {
                Ok(()) => Ok((take(&row), parser.into_iter::<IgnoredAny>().byte_offset())),
                Err(error) => Err(error),
            };
            drop(row);
            match outcome {
                Ok((Ok(output), used)) => {
                    self.start += used;
                    return Ok(output);
                }
                Ok((Err(error), _)) => return Err(error.at(self.position())),
                Err(error) => self.recover(Some(error))?,
            }
        }
    }

    /// Makes another attempt worthwhile (more input, or a `NaN` out of the way), or says why there is none.
    fn recover(&mut self, error: Option<serde_json::Error>) -> Result<(), ReadError> {
        let Some(error) = error else {
            return if self.exhausted {
                Err(self.cut_off())
            } else {
                self.fill()
            };
        };
        if error.is_eof() {
            return if self.exhausted {
                Err(self.cut_off())
            } else {
                self.fill()
            };
        }
        let offset = self.offset_of(&error);
        // The token at which the parser stumbled may end beyond the buffer.
        if self.end - offset < 16 && !self.exhausted {
            return self.fill();
        }
        if error.is_syntax()
            && let Some(at) = self.nan_near(offset)
        {
            self.buffer[at..at + 3].copy_from_slice(NAN_REPLACEMENT);
            return Ok(());
        }
        Err(self.explain(&error, offset))
    }

    fn explain(&self, error: &serde_json::Error, offset: usize) -> ReadError {
        let rest = &self.buffer[offset.saturating_sub(1)..self.end];
        let text = error.to_string();
        let problem = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(problem, _)| problem);
        let refusal = if rest
            .windows(8)
            .take(4)
            .any(|window| window.eq_ignore_ascii_case(b"infinity"))
        {
            ReadError::new("`Infinity` is no score")
                .help("mend what computes it: a division by zero or a logarithm of zero, usually")
        } else if problem.contains("number out of range") {
            ReadError::new(format!(
                "the number {} is too large to be read",
                self.number_around(offset)
            ))
            .help("scores are finite numbers")
        } else if problem.contains("invalid unicode") {
            ReadError::new("the text is not UTF-8")
                .help("write the file as UTF-8 (UTF-16 with a byte order mark is read too)")
        } else if problem.contains("twice") || problem.contains("duplicate") {
            ReadError::new(problem.to_owned()).help("keep one: it cannot be told which is meant")
        } else if error.is_syntax() {
            ReadError::new(format!("not valid JSON: {problem}"))
                .help("write the file again; a JSON checker shows the place")
        } else {
            ReadError::new(problem.to_owned())
        };
        let refusal = refusal.at(self.position_of(offset));
        match self.id_before(offset) {
            Some(id) => refusal.sample(id),
            None => refusal,
        }
    }

    /// The number at which the parser stopped, as it stands in the file, cut to a readable length.
    fn number_around(&self, offset: usize) -> String {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        let text = &self.buffer[self.start..self.end];
        let at = (offset - self.start).min(text.len());
        let start = text[..at]
            .iter()
            .rposition(|byte| !is_part(byte))
            .map_or(0, |before| before + 1);
        let number: String = text[start..]
            .iter()
            .take_while(|byte| is_part(byte))
            .map(|byte| char::from(*byte))
            .collect();
        match number.get(..40) {
            Some(cut) if number.len() > 40 => format!("{cut}…"),
            _ => number,
        }
    }

    pub(super) fn cut_off(&self) -> ReadError {
        ReadError::new("the file ends in the middle of the JSON document: it was cut off")
            .at(self.position_of(self.end))
            .help("write or download it again")
    }

    /// The id of the sample in which the parser stopped, for the message: the parser itself gave up on it.
    fn id_before(&self, offset: usize) -> Option<String> {
        let sample = &self.buffer[self.start..self.end];
        let seen = &sample[..(offset - self.start).min(sample.len())];
        let find = |text: &[u8]| {
            let at = text.windows(4).position(|window| window == b"\"id\"")? + 4;
            let value = text[at..].trim_ascii_start().strip_prefix(b":")?;
            serde_json::Deserializer::from_slice(value)
                .into_iter::<String>()
                .next()?
                .ok()
        };
        if sample.first() == Some(&b'{') {
            find(seen)
        } else {
            None
        }
    }

    /// Where the parser stood, as an index of the buffer.
    fn offset_of(&self, error: &serde_json::Error) -> usize {
        let input = &self.buffer[self.start..self.end];
        let line_start = match error.line() {
            0 | 1 => 0,
            line => input
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
                .nth(line - 2)
                .map_or(0, |(index, _)| index + 1),
        };
        (self.start + line_start + error.column().saturating_sub(1)).min(self.end)
    }

    /// A bare `NaN` at, or one byte before, the place where the parser stumbled.
    fn nan_near(&self, offset: usize) -> Option<usize> {
        (offset.saturating_sub(1).max(self.start)..=offset + 1)
            .find(|&at| self.buffer[..self.end].get(at..at + 3) == Some(b"NaN"))
    }

    fn position_of(&self, offset: usize) -> (u64, u64) {
        let before = &self.buffer[..offset.min(self.end)];
        let lines = newlines(before);
        let column = match before.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => (before.len() - newline - 1) as u64,
            None => self.column_before + before.len() as u64,
        };
        (self.lines_before + lines + 1, column + 1)
    }

    /// Reads on, after moving what is not yet taken to the front.
    fn fill(&mut self) -> Result<(), ReadError> {
        if self.start > 0 {
            let (line, column) = self.position_of(self.start);
            (self.lines_before, self.column_before) = (line - 1, column - 1);
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end > MAX_VALUE {
            return Err(ReadError::new("a single value is larger than 1 GiB").at(self.position()));
        }
        // Doubling keeps the number of attempts at a huge value small.
        let wanted = CHUNK.max(2 * self.end);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.end < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.exhausted = true;
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(ReadError::new(format!("could not be read: {error}"))
                        .at(self.position_of(self.end)));
                }
            }
        }
        Ok(())
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    // Counting in short runs lets the compiler use vector instructions.
    bytes
        .chunks(255)
        .map(|chunk| {
            u64::from(
                chunk
                    .iter()
                    .fold(0_u8, |count, byte| count + u8::from(*byte == b'\n')),
            )
        })
        .sum()
}
