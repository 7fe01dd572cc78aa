//! `rag-gate runs`: what was run before.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gate::number;
use gate::policy::Policy;
use gate::results::Keep;
use jiff::Timestamp;
use reporter::plain;
use runner::runs::{self, Difference, MetricRecord, Record, Runs, RunsError};

use super::{beside, config_path, policy, units};
use crate::args::{RunsArgs, RunsCommand};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, input};

/// Columns of the means below a run.
const WIDTH: usize = 80;

/// Digits of a commit in the list.
const COMMIT: usize = 9;

/// Digits of a hash that tell it from others.
const HASH: usize = 12;

pub(crate) fn run(args: &RunsArgs) -> Result<ExitCode, Error> {
    let path = match &args.path {
        Some(path) => path.clone(),
        None => {
            let config = config_path(args.config.as_deref())?;
            let (policy, _) = policy(config.as_deref())?;
            path_of(&policy, config.as_deref())
        }
    };
    let text = match &args.command {
        None => list(&read(&path)?, args.last),
        Some(RunsCommand::Show { run }) => show(&read(&path)?, run.as_deref())?,
        Some(RunsCommand::Add { results }) => add(&path, results)?,
        Some(RunsCommand::Prune { keep, older_than }) => {
            let before = older_than.map(units::Age::ago);
            let pruned = runs::prune(&path, *keep, before).map_err(of)?;
            let mut text = format!(
                "removed {}; {} left\n",
                units::plural(pruned.removed, "run"),
                pruned.kept
            );
            if pruned.damaged > 0 {
                let _ = writeln!(
                    text,
                    "left alone: {}",
                    units::plural(pruned.damaged, "damaged line")
                );
            }
            text
        }
    };
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

/// The record of gate.toml.
pub(crate) fn path_of(policy: &Policy, config: Option<&Path>) -> PathBuf {
    let named = policy
        .file()
        .runs
        .as_ref()
        .and_then(|runs| runs.path.as_deref());
    beside(config, named.unwrap_or(runner::runs::PATH))
}

fn read(path: &Path) -> Result<Runs, Error> {
    if !path.exists() {
        return Err(Error::Missing {
            what: "the record of runs",
            path: path.display().to_string(),
            help: "a run makes it; --path names another one".to_owned(),
        });
    }
    let found = runs::read(path).map_err(of)?;
    for line in &found.damaged {
        let path = plain(&path.display().to_string());
        console::note(&format!(
            "warning: line {line} of {path} cannot be read and is passed over"
        ));
    }
    Ok(found)
}

fn add(path: &Path, results: &Path) -> Result<String, Error> {
    let found = input::results(results, Keep::Scores)?;
    let named = input::name(results);
    let mut record = Record::of(&found, Some(&named));
    if record.started_at.is_none() {
        record.started_at = Some(Timestamp::now().to_string());
    }
    let known = runs::read(path).map_err(of)?;
    if let Some(known) = known.records.iter().find(|known| known.id == record.id) {
        return Ok(format!(
            "already recorded as {} ({})\n",
            plain(&known.name),
            plain(&known.id)
        ));
    }
    runs::append(path, &record).map_err(of)?;
    Ok(format!(
        "recorded as {} ({})\n",
        plain(&record.name),
        plain(&record.id)
    ))
}

fn list(found: &Runs, last: usize) -> String {
    let mut text = String::new();
    head(
        &mut text,
        ["run", "when (UTC)", "commit", "samples", "cost"],
    );
    for record in found.records.iter().rev().take(last) {
        let commit: String = record
            .commit
            .iter()
            .flat_map(|commit| commit.chars().take(COMMIT))
            .chain(record.dirty.filter(|dirty| *dirty).map(|_| '+'))
            .collect();
        head(
            &mut text,
            [
                &plain(&record.name),
                &when(record),
                &or_dash(Some(plain(&commit)).filter(|_| !commit.is_empty())),
                &or_dash(record.samples().map(|samples| samples.to_string())),
                &or_dash(record.cost_usd.map(units::dollars)),
            ],
        );
        let mut notes: Vec<String> = Vec::new();
        notes.extend(record.outcome.as_deref().map(plain));
        if record.complete == Some(false) {
            notes.push("interrupted".to_owned());
        }
        notes.extend(
            record
                .all_metrics()
                .map(|(variant, metric, record)| mean(metric, variant, record)),
        );
        wrapped(&mut text, &notes);
    }
    let hidden = found.records.len().saturating_sub(last);
    if hidden > 0 {
        let _ = writeln!(
            text,
            "\n{hidden} older runs are not shown; --last shows more"
        );
    }
    text
}

/// The line of a run, or of the heads above them.
fn head(text: &mut String, [name, when, commit, samples, cost]: [&str; 5]) {
    let line = format!("{name:19} {when:16}  {commit:10} {samples:>8} {cost:>10}");
    text.push_str(line.trim_end());
    text.push('\n');
}

fn show(found: &Runs, named: Option<&str>) -> Result<String, Error> {
    let index = match named {
        Some(named) => found.find(named).ok_or_else(|| Error::Usage {
            message: format!("no run is named `{named}`, and no id or only several begin so"),
            help: Some("rag-gate runs lists them".to_owned()),
        })?,
        None => found.records.len().wrapping_sub(1),
    };
    let Some(record) = found.records.get(index) else {
        return Ok("no run is recorded yet\n".to_owned());
    };
    let mut text = format!("{} ({})\n", plain(&record.name), plain(&record.id));
    for (name, fact) in facts(record) {
        if let Some(fact) = fact {
            let _ = writeln!(text, "  {name:14}{}", plain(&fact));
        }
    }
    if record.all_metrics().next().is_some() {
        text.push('\n');
    }
    for (variant, metric, of_metric) in record.all_metrics() {
        let _ = writeln!(text, "  {}", mean(metric, variant, of_metric));
    }
    let before = index
        .checked_sub(1)
        .and_then(|before| found.records.get(before));
    if let Some(before) = before {
        let differences = record.differences(before);
        let name = plain(&before.name);
        match differences.is_empty() {
            true => {
                let _ = writeln!(text, "\nNothing differs from the run before, {name}");
            }
            false => {
                let _ = writeln!(text, "\nWhat differs from the run before, {name}");
            }
        }
        for difference in differences {
            text.push_str(&changed(&difference));
        }
    }
    Ok(text)
}

/// A difference on one line where it fits, else on three.
fn changed(difference: &Difference) -> String {
    let shown = |value: &Option<String>| match value {
        Some(value) => plain(short(value)),
        None => or_dash(None),
    };
    let what = plain(&difference.what);
    let (before, now) = (shown(&difference.before), shown(&difference.now));
    let line = format!("  {what:28} {before} → {now}");
    match line.chars().count() {
        0..=WIDTH => format!("{line}\n"),
        _ => format!("  {what}\n    {before}\n    → {now}\n"),
    }
}

/// The beginning of a hash, which tells it from others.
fn short(text: &str) -> &str {
    let is_hash = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => &text[..HASH],
        false => text,
    }
}

fn facts(record: &Record) -> Vec<(&'static str, Option<String>)> {
    let dataset = record.dataset.as_ref();
    let judge = record.judge.as_ref();
    let words = |words: Vec<Option<String>>| {
        let known: Vec<String> = words.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(" "))
    };
    let commit = record.commit.clone().map(|commit| match record.dirty {
        Some(true) => format!("{commit} with changes"),
        _ => commit,
    });
    let reported = judge.and_then(|judge| judge.reported_model.clone());
    vec![
        ("outcome", record.outcome.clone()),
        (
            "complete",
            record.complete.filter(|is| !is).map(|_| "no".to_owned()),
        ),
        ("started", record.started_at.clone()),
        ("took", record.duration_s.map(units::time)),
        ("commit", commit),
        ("branch", record.branch.clone()),
        ("dataset", dataset.and_then(|dataset| dataset.path.clone())),
        ("sha256", dataset.and_then(|dataset| dataset.sha256.clone())),
        (
            "samples",
            record.samples().map(|samples| samples.to_string()),
        ),
        (
            "judge",
            judge.and_then(|judge| words(vec![judge.provider.clone(), judge.model.clone()])),
        ),
        ("answered by", reported),
        (
            "parameters",
            judge
                .and_then(|judge| judge.params.as_ref())
                .map(|params| gate::json::sorted(params).to_string()),
        ),
        (
            "usage",
            record
                .usage
                .as_ref()
                .map(|usage| gate::json::sorted(usage).to_string()),
        ),
        (
            "cost",
            Some(
                record
                    .cost_usd
                    .map_or_else(|| "unknown".to_owned(), units::dollars),
            ),
        ),
        ("results", record.results.clone()),
    ]
}

/// A mean and what is behind it.
fn mean(metric: &str, variant: Option<&str>, record: &MetricRecord) -> String {
    let name = match variant {
        Some(variant) => format!("{} [{}]", plain(metric), plain(variant)),
        None => plain(metric),
    };
    format!(
        "{name} {} ({})",
        or_dash(record.mean.map(number::value)),
        number::denominator(record.n, record.failed)
    )
}

/// Parts of a list, as many on a line as fit.
fn wrapped(text: &mut String, parts: &[String]) {
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && line.chars().count() + part.chars().count() + 2 > WIDTH {
            let _ = writeln!(text, "{line}");
            line.clear();
        }
        line.push_str("  ");
        line.push_str(part);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{line}");
    }
}

fn when(record: &Record) -> String {
    let at = record.started_at.as_deref();
    match at.and_then(|at| at.parse().ok()) {
        Some(at) => units::moment(at),
        None => or_dash(at.map(plain)),
    }
}

fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

/// An error of the record as one of the command.
fn of(error: RunsError) -> Error {
    match error {
        RunsError::Unreadable { path, source } => Error::Unreadable {
            path: path.display().to_string(),
            error: source,
        },
        RunsError::Unwritable { path, source } => Error::Output {
            path,
            error: source,
        },
    }
}
