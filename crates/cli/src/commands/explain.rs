//! `rag-gate explain`: what a reason code means and what to do.

use std::fmt::Write;

use gate::explain::{EXPLANATIONS, Explanation};
use gate::verdict::Code;

use super::wrap;
use crate::console;
use crate::error::Error;
use crate::exit_code::ExitCode;

pub(crate) fn run(code: Option<&str>) -> Result<ExitCode, Error> {
    let text = match code {
        None => list(),
        Some(name) => match Code::parse(name) {
            Ok(code) => EXPLANATIONS
                .iter()
                .find(|entry| entry.code == code)
                .map(page)
                .unwrap_or_default(),
            Err(near) => {
                return Err(Error::Usage {
                    message: format!("`{name}` is no reason code"),
                    help: Some(match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "rag-gate explain lists them".to_owned(),
                    }),
                });
            }
        },
    };
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

fn list() -> String {
    let mut text = String::new();
    for entry in EXPLANATIONS {
        let _ = writeln!(text, "{:22}{}", entry.code.name(), entry.effect);
    }
    text.push_str("\nrag-gate explain CODE says what one means and what to do.\n");
    text
}

fn page(entry: &Explanation) -> String {
    let mut text = format!("{} ({})\n", entry.code.name(), entry.effect);
    for (title, body) in [
        ("What it means", entry.meaning),
        ("What to do", entry.advice),
    ] {
        let _ = write!(text, "\n{title}\n{}", wrap::words(body, 2, 2));
    }
    text
}
