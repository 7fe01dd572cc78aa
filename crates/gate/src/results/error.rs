//! Why a results file is refused, and where.

use std::fmt;

/// A results file that cannot be used: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// What is wrong, in lower case, without the file's name.
    pub problem: String,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column in bytes, counted from 1.
    pub column: Option<u64>,
    /// JSON pointer (RFC 6901) to the value.
    pub pointer: Option<String>,
    /// Id of the sample, as the file has it.
    pub sample: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl ReadError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        ReadError {
            problem: problem.into(),
            line: None,
            column: None,
            pointer: None,
            sample: None,
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn at(mut self, (line, column): (u64, u64)) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    pub(crate) fn pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    pub(crate) fn sample(mut self, id: impl Into<String>) -> Self {
        self.sample = Some(id.into());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        let mut place = Vec::new();
        if let Some(line) = self.line {
            place.push(match self.column {
                Some(column) => format!("line {line}, column {column}"),
                None => format!("line {line}"),
            });
        }
        if let Some(pointer) = &self.pointer {
            place.push(pointer.clone());
        }
        if let Some(sample) = &self.sample {
            place.push(format!("sample `{sample}`"));
        }
        if !place.is_empty() {
            write!(f, " ({})", place.join(", "))?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// One step of a JSON pointer, escaped as RFC 6901 asks.
pub(crate) fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}
