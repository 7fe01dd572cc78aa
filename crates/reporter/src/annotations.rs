//! Workflow commands: annotations on the lines of gate.toml that ask for what was violated.

use std::fmt::Write;

use gate::verdict::{Reason, Verdict};

use crate::escape::{command_data, command_property};

/// GitHub shows ten annotations of each level a step and drops the rest without a word.
const MAX_EACH: usize = 10;

/// One command a line; nothing for a pass without warnings.
pub(crate) fn render(verdict: &Verdict) -> String {
    let mut commands = String::new();
    for (level, reasons) in [("error", &verdict.reasons), ("warning", &verdict.warnings)] {
        for reason in reasons.iter().take(MAX_EACH) {
            commands.push_str(&command(level, verdict, reason));
        }
    }
    let more = [
        beyond(verdict.reasons.len(), "reason"),
        beyond(verdict.warnings.len(), "warning"),
    ];
    let more: Vec<String> = more.into_iter().flatten().collect();
    if !more.is_empty() {
        let _ = writeln!(
            commands,
            "::notice title={}::{} in the report",
            command_property(&verdict.gate_id),
            more.join(" and ")
        );
    }
    commands
}

fn command(level: &str, verdict: &Verdict, reason: &Reason) -> String {
    let mut properties = Vec::new();
    if let Some(path) = &verdict.policy.path {
        properties.push(format!("file={}", command_property(path)));
        if let Some(line) = reason.policy_line {
            properties.push(format!("line={line}"));
        }
    }
    let title = format!(
        "{}: {}",
        verdict.gate_id,
        crate::cells::code_name(reason.code)
    );
    properties.push(format!("title={}", command_property(&title)));
    format!(
        "::{level} {}::{}\n",
        properties.join(","),
        command_data(&reason.message)
    )
}

fn beyond(count: usize, noun: &str) -> Option<String> {
    let more = count.saturating_sub(MAX_EACH);
    let plural = if more == 1 { "" } else { "s" };
    (more > 0).then(|| format!("{more} more {noun}{plural}"))
}
