//! Renders a verdict.
//!
//! ```text
//!            ┌▶ text         terminal
//! Verdict ───┼▶ markdown     comment of a pull request, job summary
//!            ├▶ json         verdict.json
//!            ├▶ junit        test reports of any CI
//!            └▶ annotations  workflow commands of GitHub
//! ```
//!
//! A renderer is one function from a [`Verdict`] to a `String`. It computes nothing: every number and every sentence
//! is in the verdict, and `gate::number` writes the numbers. Whatever came from a dataset, a judge or a foreign file
//! passes through `escape`, the one place that knows which characters take effect where.

mod annotations;
mod budget;
mod cells;
mod escape;
mod json;
mod junit;
mod markdown;
mod text;

use std::fmt;
use std::str::FromStr;

use gate::verdict::Verdict;

pub use markdown::{MAX_BYTES as MARKDOWN_MAX_BYTES, marker};

/// A form in which a verdict can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// For a terminal or a log.
    Text,
    /// For a comment or a job summary on GitHub, at most [`MARKDOWN_MAX_BYTES`] long.
    Markdown,
    /// `verdict.json`.
    Json,
    /// `JUnit` XML: a test case for each metric.
    Junit,
    /// Workflow commands that GitHub turns into annotations; meant for standard output of a step.
    Github,
}

/// How to render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether the text may hold colours.
    pub colour: bool,
    /// Columns of the terminal; text is wrapped there.
    pub width: usize,
    /// Whether to show what judges and targets said about single samples; JSON always has it.
    pub show_text: bool,
}

/// A name that is no format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(
    /// The name as it was given.
    pub String,
);

/// The verdict in the given form, ending in a line break unless there is nothing to say.
pub fn render(verdict: &Verdict, format: Format, options: &Options) -> String {
    match format {
        Format::Text => text::render(verdict, options),
        Format::Markdown => markdown::render(verdict, options),
        Format::Json => json::render(verdict),
        Format::Junit => junit::render(verdict),
        Format::Github => annotations::render(verdict),
    }
}

/// Any text on one line, with nothing in it that takes effect in a terminal or a log.
pub fn plain(text: &str) -> String {
    escape::shown(text, PLAIN)
}

/// Longest text that [`plain`] leaves whole, in columns.
const PLAIN: usize = 4000;

impl Format {
    /// Every format, in the order in which help texts name them.
    pub const ALL: [Format; 5] = [
        Format::Text,
        Format::Markdown,
        Format::Json,
        Format::Junit,
        Format::Github,
    ];

    /// The name by which the command line knows it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Markdown => "markdown",
            Format::Json => "json",
            Format::Junit => "junit",
            Format::Github => "github",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
        write!(
            f,
            "unknown format `{}`, expected one of {}",
            escape::shown(&self.0, 40),
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownFormat {}

impl Default for Options {
    fn default() -> Self {
        Options {
            colour: false,
            width: 80,
            show_text: true,
        }
    }
}

#[cfg(test)]
mod tests;
