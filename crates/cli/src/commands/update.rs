//! `rag-gate baseline update`: makes accepted results the baseline.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gate::baseline::{average, history_line, refusals};
use gate::history::HistoryLine;
use gate::number;
use gate::results::{Accepted, Keep, Results};
use gate::verdict::{Code, Outcome, Verdict};
use gate::{Inputs, decide};
use reporter::{Format, Options, render};

use super::{baseline_of, check, config_path, no_baseline_named};
use crate::args::UpdateArgs;
use crate::base::history_path;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, input, output};

pub(crate) fn run(args: &UpdateArgs) -> Result<ExitCode, Error> {
    let config = config_path(args.config.as_deref())?;
    let (policy, text) = super::policy(config.as_deref())?;
    let target = args
        .to
        .clone()
        .or_else(|| baseline_of(&policy, config.as_deref()))
        .ok_or_else(no_baseline_named)?;
    let history_path = history_path(&target);
    if history_path == target || Some(&target) == config.as_ref() {
        return Err(Error::usage(format!(
            "the baseline cannot be {}, which holds something else",
            target.display()
        )));
    }
    let at = accepted_at(args.at.as_deref())?;
    // Held until the end: what is read here is what the new files are made of.
    let _lock = output::lock_folder(&target)?;
    let mut results = read_runs(&args.runs)?;
    let before = match target.exists() {
        true => Some(input::results(&target, Keep::Scores)?),
        false => None,
    };
    let mut history = input::history(&history_path)?.unwrap_or_default();
    drop_orphan(&mut history, before.as_ref());
    let source = config.as_deref().map(input::name).zip(text);
    let bound = check::bind(&policy, source.as_ref(), &results, before.as_ref())?;
    check::check_ranges(&bound, &results, &input::name(&target))?;
    let accepts = Accepts::of(&args.accept, &bound)?;
    let mut verdict = decide(Inputs {
        policy: &policy,
        bound: &bound,
        results: &results,
        baseline: before.as_ref(),
        history: Some(&history)
            .filter(|lines| !lines.is_empty())
            .map(Vec::as_slice),
    });
    verdict.policy.path = source.map(|(name, _)| name);
    if let Some(code) = refuse(&verdict, &accepts)? {
        return Ok(code);
    }
    let accepted = Accepted {
        at: Some(at),
        commit: args.commit.clone().or_else(|| results.run.commit.clone()),
        pull_request: args.pull_request.clone(),
        by: args.by.clone(),
        note: args.reason.clone(),
        reset: accepts.metrics.clone(),
    };
    let mut line = history_line(&results, &verdict, &accepted);
    results.accepted = Some(accepted);
    if let gate::results::Scores::Samples(samples) = &mut results.scores {
        samples.trim_reasons();
    }
    // That was about the baseline before.
    if let Some(judge) = &mut results.run.judge {
        judge.drift = None;
    }
    let mut file = Vec::new();
    results.write(&mut file).map_err(|error| Error::Output {
        path: target.clone(),
        error,
    })?;
    line.baseline = Some(input::sha256(&file));
    history.push(line);
    write_both(&target, &file, &history_path, &history)?;
    console::print(&done(&target, &verdict, &results, history.len()))?;
    let judge = policy.file().judge.as_ref();
    if judge.is_some_and(|judge| judge.pinned.is_some()) {
        console::note("pin the judge with the new baseline: rag-gate judge pin");
    }
    Ok(ExitCode::Pass)
}

/// Every run, each of them complete, as one.
fn read_runs(paths: &[PathBuf]) -> Result<Results, Error> {
    let mut runs = Vec::new();
    for path in paths {
        if path.to_str() != Some(input::STDIN) && !path.exists() {
            return Err(Error::Missing {
                what: "the results file",
                path: path.display().to_string(),
                help: "name the file that the evaluation wrote".to_owned(),
            });
        }
        let run = input::results(path, Keep::Scores)?;
        if run.run.complete == Some(false) {
            return Err(Error::Refused {
                message: format!(
                    "{}: the run is incomplete: it says that it was interrupted",
                    input::name(path)
                ),
                help: Some("a baseline is a whole run: run it again to its end".to_owned()),
            });
        }
        if run.run.subset.is_some() {
            return Err(Error::Refused {
                message: format!(
                    "{}: the run covers a subset of the dataset",
                    input::name(path)
                ),
                help: Some("a baseline is a whole run: run it without --sample".to_owned()),
            });
        }
        runs.push(run);
    }
    average(runs).map_err(|error| Error::Input {
        path: paths
            .iter()
            .map(|path| input::name(path))
            .collect::<Vec<_>>()
            .join(", "),
        error,
    })
}

/// A history that is ahead of the baseline was left by an update that did not finish: its last line never counted.
fn drop_orphan(history: &mut Vec<HistoryLine>, before: Option<&Results>) {
    let at = |accepted: &Accepted| accepted.at.clone();
    let Some(stands) = before
        .and_then(|before| before.accepted.as_ref())
        .and_then(at)
    else {
        return;
    };
    let accounted = history
        .iter()
        .rposition(|line| at(&line.accepted).as_deref() == Some(&stands));
    if let Some(last) = accounted
        && last + 1 < history.len()
    {
        console::note(
            "warning: history.jsonl was ahead of the baseline; the line of an unfinished update is dropped",
        );
        history.truncate(last + 1);
    }
}

/// The metrics whose loss is accepted.
struct Accepts {
    metrics: Vec<String>,
}

impl Accepts {
    fn of(patterns: &[String], bound: &gate::policy::Bound) -> Result<Self, Error> {
        let mut metrics = Vec::new();
        for pattern in patterns {
            let found: Vec<&str> = bound
                .metrics
                .iter()
                .map(|metric| metric.name.as_str())
                .filter(|name| gate::policy::matches(pattern, name))
                .collect();
            if found.is_empty() {
                return Err(Error::Usage {
                    message: format!("--accept {pattern} names no gated metric"),
                    help: Some(format!(
                        "gated are {}",
                        bound
                            .metrics
                            .iter()
                            .map(|metric| metric.name.as_str())
                            .collect::<Vec<_>>()
                            .join(", ")
                    )),
                });
            }
            for name in found {
                if !metrics.iter().any(|known| known == name) {
                    metrics.push(name.to_owned());
                }
            }
        }
        Ok(Accepts { metrics })
    }

    fn holds(&self, metric: &str) -> bool {
        self.metrics.iter().any(|accepted| accepted == metric)
    }
}

/// Shows why the results cannot become the baseline; `None` when they can.
fn refuse(verdict: &Verdict, accepts: &Accepts) -> Result<Option<ExitCode>, Error> {
    let left = refusals(verdict, |metric| accepts.holds(metric));
    if left.is_empty() {
        return Ok(None);
    }
    let is_worse = |code: Code| {
        matches!(
            code,
            Code::BelowMinimum | Code::AboveMaximum | Code::Regression | Code::Drift
        )
    };
    let outcome = match left.iter().any(|reason| is_worse(reason.code)) {
        true => Outcome::Block,
        false => Outcome::Undecided,
    };
    let options = Options {
        colour: console::stdout_colour(),
        width: console::width(),
        show_text: true,
    };
    console::print(&render(verdict, Format::Text, &options))?;
    let mut worse: Vec<&str> = left
        .iter()
        .filter(|reason| is_worse(reason.code))
        .filter_map(|reason| reason.metric.as_deref())
        .collect();
    worse.sort_unstable();
    worse.dedup();
    let accept: Vec<String> = worse
        .iter()
        .map(|metric| format!("--accept {}", reporter::plain(metric)))
        .collect();
    let advice = match outcome {
        Outcome::Block => format!(
            "the baseline was not updated: the results are worse than the policy allows; to accept the loss: {} --reason \"why\"",
            accept.join(" ")
        ),
        _ => "the baseline was not updated: the results cannot be judged".to_owned(),
    };
    console::note(&advice);
    Ok(Some(ExitCode::from(outcome)))
}

/// The history first: an update that is interrupted between the two leaves a history that is ahead, which the next update
/// notices, and not a baseline that nobody accounts for.
fn write_both(
    target: &Path,
    file: &[u8],
    history_path: &Path,
    history: &[HistoryLine],
) -> Result<(), Error> {
    let mut lines = String::new();
    for line in history {
        let json = serde_json::to_string(line).map_err(|error| Error::Output {
            path: history_path.to_owned(),
            error: error.into(),
        })?;
        lines.push_str(&json);
        lines.push('\n');
    }
    output::replace(history_path, lines.as_bytes())?;
    output::replace(target, file)
}

fn done(target: &Path, verdict: &Verdict, results: &Results, accepted: usize) -> String {
    let mut text = format!("{} updated: ", target.display());
    match results.samples() {
        Some(samples) => {
            let _ = write!(text, "{} samples, ", samples.len());
        }
        None => text.push_str("means alone, "),
    }
    let _ = writeln!(
        text,
        "{accepted} accepted {} in its history",
        if accepted == 1 {
            "baseline"
        } else {
            "baselines"
        }
    );
    for row in verdict.metrics.iter().filter(|row| row.slice.is_none()) {
        let name = match &row.variant {
            Some(variant) => format!(
                "{} [{}]",
                reporter::plain(&row.metric),
                reporter::plain(variant)
            ),
            None => reporter::plain(&row.metric),
        };
        let _ = match (row.now, row.before, row.change) {
            (Some(now), Some(before), Some(change)) => writeln!(
                text,
                "  {name}  {} → {} ({}{})",
                number::value(before),
                number::value(now),
                number::signed(change),
                match row.pairs {
                    Some(_) => " over the common samples",
                    None => "",
                }
            ),
            (Some(now), Some(before), None) => {
                writeln!(
                    text,
                    "  {name}  {} → {}",
                    number::value(before),
                    number::value(now)
                )
            }
            (Some(now), None, _) => writeln!(text, "  {name}  {}", number::value(now)),
            (None, ..) => writeln!(text, "  {name}  –"),
        };
    }
    text
}

fn accepted_at(named: Option<&str>) -> Result<String, Error> {
    match named {
        None => {
            let now = jiff::Timestamp::now();
            // Whole seconds are enough to tell two merges apart, and easier to read.
            Ok(jiff::Timestamp::from_second(now.as_second())
                .unwrap_or(now)
                .to_string())
        }
        Some(text) => text
            .parse::<jiff::Timestamp>()
            .map(|at| at.to_string())
            .map_err(|error| {
                Error::usage(format!(
                    "--at {text} is no time such as 2026-11-30T12:00:00Z: {error}"
                ))
            }),
    }
}
