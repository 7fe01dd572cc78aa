//! `rag-gate judge`: how far the judge can be trusted.

mod agreement;
mod drift;
mod labels;
mod pin;

use crate::args::JudgeCommand;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Columns of a report.
const WIDTH: usize = 80;

pub(super) fn run(command: &JudgeCommand) -> Result<ExitCode, Error> {
    match command {
        JudgeCommand::Agreement(args) => agreement::run(args),
        JudgeCommand::Pin(args) => pin::run(args),
        JudgeCommand::Drift(args) => drift::run(args),
    }
}

/// A sentence in lines of at most [`WIDTH`] columns, ending with a line feed.
fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in sentence.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
    text
}

/// A document as JSON over several lines.
fn json(document: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .map_err(|error| Error::Output {
            path: "standard output".into(),
            error: error.into(),
        })
}
