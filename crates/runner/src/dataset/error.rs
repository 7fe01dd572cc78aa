//! Why a dataset is refused, and where.

use std::fmt;

/// A dataset that cannot be used: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetError {
    /// What is wrong, in lower case, without the file's name.
    pub problem: String,
    /// Line, counted from 1: where the row begins, or where the parser stopped.
    pub line: Option<u64>,
    /// JSON pointer (RFC 6901) to the row.
    pub pointer: Option<String>,
    /// Id of the sample, as the file has it.
    pub sample: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// True when gate.toml is to be mended, not the file.
    pub is_of_options: bool,
}

impl DatasetError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        DatasetError {
            problem: problem.into(),
            line: None,
            pointer: None,
            sample: None,
            help: None,
            is_of_options: false,
        }
    }

    /// It is `[dataset.columns]` that is wrong.
    pub(crate) fn of_options(mut self) -> Self {
        self.is_of_options = true;
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The more exact place, which is set first, stays.
    pub(crate) fn at(mut self, place: &Place) -> Self {
        self.line = self.line.or(place.line);
        if self.pointer.is_none() {
            self.pointer.clone_from(&place.pointer);
        }
        self
    }

    pub(crate) fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) fn sample(mut self, id: Option<&str>) -> Self {
        self.sample = self.sample.or_else(|| id.map(str::to_owned));
        self
    }
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.problem))?;
        let line = self.line.map(|line| format!("line {line}"));
        let sample = self.sample.as_ref().map(|id| format!("sample `{id}`"));
        let place: Vec<String> = [line, self.pointer.clone(), sample]
            .into_iter()
            .flatten()
            .collect();
        if !place.is_empty() {
            write!(f, " ({})", one_line(&place.join(", ")))?;
        }
        Ok(())
    }
}

/// Names and ids are the file's: a line break in one breaks no message, and an escape sequence reaches no terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl std::error::Error for DatasetError {}

/// Where a row stands in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: Option<u64>,
    pub(crate) pointer: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, &self.pointer) {
            (Some(line), _) => write!(f, "line {line}"),
            (None, Some(pointer)) => f.write_str(pointer),
            (None, None) => f.write_str("the row"),
        }
    }
}
