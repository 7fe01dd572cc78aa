//! Markdown for a comment on a pull request or a job summary.
//!
//! Blocks stand in the order of their importance, so that the budget cuts the least important ones.

use std::fmt::Write;

use gate::number;
use gate::verdict::{MetricRow, Outcome, Reason, Status, Verdict};
use serde_json::Value;

use crate::Options;
use crate::budget::{self, Block};
use crate::cells::{
    aggregate, before, change, code_name, count, limits, now, outcome_word, policy_place,
    provenance, reasons_title, scalar, stand_in_judge, status_word,
};
use crate::escape::{EXCERPT, ID, MESSAGE, NAME, cell, code, prose};

/// Longest document; a comment on GitHub may have 65 536 characters.
pub const MAX_BYTES: usize = 60_000;

/// Longest gate id in a marker.
const MAX_MARKER: usize = 100;

/// Most entries of foreign JSON that are listed.
const MAX_ENTRIES: usize = 30;

/// The hidden first line by which a comment is found again; one per gate.
pub fn marker(gate_id: &str) -> String {
    let id: String = gate_id
        .chars()
        .take(MAX_MARKER)
        .map(|current| match current {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => current,
            _ => '-',
        })
        .collect();
    format!("<!-- rag-gate:{id} -->")
}

/// The document, at most [`MAX_BYTES`] long.
pub(crate) fn render(verdict: &Verdict, options: &Options) -> String {
    let blocks = vec![
        heading(verdict),
        base_changes(verdict),
        reasons(reasons_title(verdict.outcome), verdict, &verdict.reasons),
        metrics(verdict),
        worst_samples(verdict, options.show_text),
        failed_samples(verdict, options.show_text),
        reasons("Warnings", verdict, &verdict.warnings),
        passed(verdict),
        origins(verdict),
        usage(verdict),
    ];
    budget::join(blocks, MAX_BYTES)
}

fn heading(verdict: &Verdict) -> Block {
    let sign = match verdict.outcome {
        Outcome::Pass => "✅",
        Outcome::Block => "❌",
        Outcome::Undecided => "⚠️",
    };
    let sentence = format!("{}: {}", verdict.gate_id, verdict.summary);
    let mut rows = vec![format!(
        "## {sign} {} {}\n",
        outcome_word(verdict.outcome),
        prose(&sentence, MESSAGE)
    )];
    rows.extend(stand_in_judge(verdict).map(|judge| format!("\nJudge: {judge}.\n")));
    Block {
        open: format!("{}\n", marker(&verdict.gate_id)),
        rows,
        close: "",
    }
}

fn base_changes(verdict: &Verdict) -> Block {
    let changes = verdict.base.iter().flat_map(|base| &base.changes);
    Block {
        open: "\n**This change alters how it is judged:**\n\n".to_owned(),
        rows: changes
            .map(|change| format!("- ⚠️ {}\n", prose(&change.message, MESSAGE)))
            .collect(),
        close: "",
    }
}

fn reasons(title: &str, verdict: &Verdict, reasons: &[Reason]) -> Block {
    Block {
        open: format!("\n### {title}\n\n"),
        rows: reasons
            .iter()
            .map(|reason| reason_item(verdict, reason))
            .collect(),
        close: "",
    }
}

fn reason_item(verdict: &Verdict, reason: &Reason) -> String {
    let mut item = format!("- {}", prose(&reason.message, MESSAGE));
    if reason.pending {
        item.push_str(" (pending: too little was measured)");
    }
    let _ = write!(item, " · {}", code(&code_name(reason.code), NAME));
    if let Some(place) = policy_place(verdict, reason.policy_line) {
        let _ = write!(item, " {}", code(&place, ID));
    }
    item.push('\n');
    item
}

/// The rows that need attention; all of them when none does.
fn metrics(verdict: &Verdict) -> Block {
    let all_calm = verdict.metrics.iter().all(is_calm);
    let rows = verdict
        .metrics
        .iter()
        .filter(|row| all_calm || !is_calm(row));
    Block {
        open: format!("\n### Metrics\n\n{}", table_head(verdict)),
        rows: rows.map(table_row).collect(),
        close: "",
    }
}

/// The rows that need none, folded, when others stand above.
fn passed(verdict: &Verdict) -> Block {
    let calm: Vec<&MetricRow> = verdict.metrics.iter().filter(|row| is_calm(row)).collect();
    let rows = if calm.len() == verdict.metrics.len() {
        vec![]
    } else {
        calm
    };
    let off = rows.iter().any(|row| row.status == Status::Off);
    let what = if off {
        "What passed or is off"
    } else {
        "What passed"
    };
    Block {
        open: format!(
            "\n<details><summary>{what}: {}</summary>\n\n{}",
            count(rows.len() as u64, "row"),
            table_head(verdict)
        ),
        rows: rows.into_iter().map(table_row).collect(),
        close: "\n</details>\n",
    }
}

fn is_calm(row: &MetricRow) -> bool {
    matches!(row.status, Status::Pass | Status::Off)
}

fn table_head(verdict: &Verdict) -> String {
    let confidence = number::percent(verdict.policy.confidence);
    format!(
        "| metric | now | before | change [{confidence} interval] | limit | verdict |\n\
         | --- | --- | --- | --- | --- | --- |\n"
    )
}

fn table_row(row: &MetricRow) -> String {
    let name = code(&row.metric, NAME);
    let name = aggregate(row).map_or(name.clone(), |aggregate| {
        format!("{name} {}", prose(&aggregate, NAME))
    });
    let parts = [&row.variant, &row.slice].into_iter().flatten();
    let name = parts.fold(name, |name, part| format!("{name} {}", code(part, NAME)));
    let with = |(first, second): (String, Option<String>)| match second {
        Some(second) => format!("{first} {second}"),
        None => first,
    };
    line_of([
        name,
        now(row),
        with(before(row)),
        with(change(row)),
        limits(row).join(", "),
        status_cell(row.status),
    ])
}

fn line_of<const COLUMNS: usize>(cells: [String; COLUMNS]) -> String {
    format!("| {} |\n", cells.map(|content| cell(&content)).join(" | "))
}

fn status_cell(status: Status) -> String {
    let word = status_word(status);
    match status {
        Status::Pass => format!("✅ {word}"),
        Status::Warn => format!("⚠️ {word}"),
        Status::Block => format!("❌ **{word}**"),
        Status::Undecided => format!("❔ **{word}**"),
        Status::Off => word.to_owned(),
    }
}

fn worst_samples(verdict: &Verdict, show_text: bool) -> Block {
    let rows = verdict.worst_samples.iter().map(|sample| {
        let (before, now) = number::pair(sample.before, sample.now);
        let said = sample.reason.as_deref().filter(|_| show_text);
        line_of([
            sample_name(&sample.id, sample.variant.as_deref()),
            code(&sample.metric, NAME),
            format!("{before} → {now}"),
            said.map_or_else(String::new, |reason| prose(reason, EXCERPT)),
        ])
    });
    Block {
        open: "\n### Samples that fell most\n\n\
               | sample | metric | score | what the judge said |\n| --- | --- | --- | --- |\n"
            .to_owned(),
        rows: rows.collect(),
        close: "",
    }
}

fn failed_samples(verdict: &Verdict, show_text: bool) -> Block {
    let rows = verdict.failed_samples.iter().map(|sample| {
        let said = sample.message.as_deref().filter(|_| show_text);
        line_of([
            sample_name(&sample.id, sample.variant.as_deref()),
            code(&sample.metric, NAME),
            prose(&sample.kind, NAME),
            said.map_or_else(String::new, |message| prose(message, EXCERPT)),
        ])
    });
    Block {
        open: "\n### Samples without a score\n\n\
               | sample | metric | kind | message |\n| --- | --- | --- | --- |\n"
            .to_owned(),
        rows: rows.collect(),
        close: "",
    }
}

fn sample_name(id: &str, variant: Option<&str>) -> String {
    let id = code(id, ID);
    variant.map_or(id.clone(), |variant| {
        format!("{id} {}", code(variant, NAME))
    })
}

fn origins(verdict: &Verdict) -> Block {
    let provenance = &verdict.provenance;
    let mut rows = vec![policy(verdict)];
    rows.extend(side("results", provenance.results.as_ref()));
    rows.extend(side("baseline", provenance.baseline.as_ref()));
    rows.extend(accepted(verdict));
    rows.extend(samples(verdict));
    rows.extend(
        provenance
            .differences
            .iter()
            .map(|difference| format!("- differs: {}\n", prose(difference, MESSAGE))),
    );
    rows.push(format!(
        "- decided by rag-gate {}\n",
        code(&verdict.tool, NAME)
    ));
    Block {
        open: "\n<details><summary>Where this comes from</summary>\n\n".to_owned(),
        rows,
        close: "\n</details>\n",
    }
}

fn policy(verdict: &Verdict) -> String {
    let policy = &verdict.policy;
    let file = match &policy.path {
        Some(path) => code(path, ID),
        None => "no gate.toml: defaults".to_owned(),
    };
    let rule =
        serde_json::to_value(policy.rule).map_or_else(|_| String::new(), |rule| scalar(&rule));
    let mut line = format!("- policy: {file}");
    if let Some(base) = &verdict.base {
        let _ = write!(
            line,
            " of {} at {}",
            code(&base.r#ref, NAME),
            code(&base.commit, NAME)
        );
        if let Some(found_by) = &base.found_by {
            let _ = write!(line, " ({})", prose(found_by, EXCERPT));
        }
    }
    let confidence = number::percent(policy.confidence);
    let _ = writeln!(
        line,
        ", rule {rule} at {confidence}, seed {}, {} draws",
        policy.seed, policy.draws
    );
    line
}

/// One line about the run of a side: what was run, on what, and judged by what.
fn side(name: &str, run: Option<&Value>) -> Option<String> {
    const FIELDS: [(&str, &[&str]); 8] = [
        ("commit", &["commit"]),
        ("branch", &["branch"]),
        ("run at", &["started_at"]),
        ("dataset", &["dataset", "path"]),
        ("dataset hash", &["dataset", "sha256"]),
        ("judge", &["judge", "provider"]),
        ("model", &["judge", "model"]),
        ("answered as", &["judge", "reported_model"]),
    ];
    let said: Vec<String> = FIELDS
        .into_iter()
        .filter_map(|(label, path)| {
            provenance(run, path).map(|value| format!("{label} {}", code(&scalar(value), NAME)))
        })
        .collect();
    (!said.is_empty()).then(|| format!("- {name}: {}\n", said.join(", ")))
}

fn accepted(verdict: &Verdict) -> Option<String> {
    let accepted = verdict.provenance.baseline.as_ref()?.get("accepted")?;
    let fields = [
        ("at", "at"),
        ("commit", "commit"),
        ("pull request", "pull_request"),
        ("by", "by"),
        ("note", "note"),
    ];
    let mut said: Vec<String> = fields
        .into_iter()
        .filter_map(|(label, key)| {
            let value = accepted.get(key).filter(|value| !value.is_null())?;
            Some(format!("{label} {}", code(&scalar(value), NAME)))
        })
        .collect();
    if let Some(days) = verdict
        .base
        .as_ref()
        .and_then(|base| base.baseline_age_days)
    {
        said.push(format!("{} ago", count(days, "day")));
    }
    (!said.is_empty()).then(|| format!("- baseline accepted: {}\n", said.join(", ")))
}

fn samples(verdict: &Verdict) -> Option<String> {
    verdict.samples.map(|samples| {
        format!(
            "- samples: {} in common, {} added, {} removed, {} rewritten\n",
            samples.common, samples.added, samples.removed, samples.rewritten
        )
    })
}

fn usage(verdict: &Verdict) -> Block {
    let entries = verdict.usage.as_ref().and_then(Value::as_object);
    let rows = entries
        .into_iter()
        .flatten()
        .take(MAX_ENTRIES)
        .map(|(key, value)| format!("- {}: {}\n", code(key, NAME), code(&scalar(value), NAME)));
    Block {
        open: "\n<details><summary>Usage</summary>\n\n".to_owned(),
        rows: rows.collect(),
        close: "\n</details>\n",
    }
}
