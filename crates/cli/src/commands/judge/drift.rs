//! `rag-gate judge drift`: did the judge itself move since its answers were pinned?

use std::fmt::Write as _;
use std::time::Duration;

use gate::number;
use gate::results::{JudgeInfo, MetricDrift};
use runner::control::Ended;
use serde::Serialize;

use super::{json, wrapped};
use crate::args::DriftArgs;
use crate::commands::units::plural;
use crate::console;
use crate::error::Error;
use crate::evaluation::{self, Manner, Reasked, configure_to_reask, sentence};
use crate::exit_code::ExitCode;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// Null where it cannot be told.
    moved: Option<bool>,
    message: &'a str,
    /// The judge as results have it, with the numbers by metric.
    judge: &'a JudgeInfo,
}

pub(super) fn run(args: &DriftArgs) -> Result<ExitCode, Error> {
    evaluation::init_logging(args.asking.log_format);
    let evaluation = args.asking.evaluation(None);
    let reask = configure_to_reask(&evaluation, args.pinned.as_deref())?;
    let reasked = reask.ask(&Manner::of(&evaluation, Duration::ZERO))?;
    let moved = match reasked.drift.problem {
        Some(_) => None,
        None => reasked.drift.moved(),
    };
    let message = format!(
        "{}{}",
        sentence(&reasked.drift),
        advice(moved, reasked.ended.as_ref())
    );
    let text = match args.json {
        true => json(&Document {
            schema: "rag-gate/judge-drift/1",
            moved,
            message: &message,
            judge: &reasked.judge,
        })?,
        false => report(&reasked, &reporter::plain(&message)),
    };
    console::print(&text)?;
    Ok(match (reasked.ended, moved) {
        (Some(Ended::Interrupted), _) => ExitCode::Interrupted,
        (_, Some(false)) => ExitCode::Pass,
        (_, Some(true) | None) => ExitCode::CannotJudge,
    })
}

fn advice(moved: Option<bool>, ended: Option<&Ended>) -> &'static str {
    match moved {
        // What it was like is still known: it has to answer first.
        None if ended.is_some() => "",
        Some(true) => {
            "; measure the baseline's commit again with this judge, update the baseline, and pin again"
        }
        Some(false) => "",
        None => "; `rag-gate judge pin` pins answers anew",
    }
}

fn report(reasked: &Reasked, message: &str) -> String {
    let drift = &reasked.drift;
    let judge = &reasked.judge;
    let name = judge.model.as_deref().or(judge.provider.as_deref());
    let count = |number: Option<u64>| usize::try_from(number.unwrap_or(0)).unwrap_or(usize::MAX);
    let mut text = wrapped(&format!(
        "judge {}: {} of {}, asked again with {}",
        reporter::plain(name.unwrap_or("unknown")),
        plural(count(drift.samples), "answer"),
        drift.pinned_at.as_deref().map_or_else(
            || "unknown".to_owned(),
            |at| reporter::plain(at.get(..10).unwrap_or(at))
        ),
        plural(count(drift.calls), "call"),
    ));
    if let (Some(then), Some(now)) = (&reasked.reported_then, &judge.reported_model)
        && then != now
    {
        text.push_str(&wrapped(&format!(
            "it calls itself {} now, and was {}",
            reporter::plain(now),
            reporter::plain(then)
        )));
    }
    text.push('\n');
    if !drift.metrics.is_empty() {
        text.push_str(&table(
            drift.metrics.iter().map(|(name, drift)| row(name, drift)),
        ));
        for (name, metric) in &drift.metrics {
            if let Some(problem) = &metric.problem {
                text.push_str(&wrapped(&reporter::plain(&format!(" {name}: {problem}"))));
            }
        }
        text.push('\n');
    }
    text.push_str(&wrapped(message));
    text
}

/// A metric, mean then and now, change, interval, changed, lost, and what that means.
fn row(name: &str, drift: &MetricDrift) -> [String; 7] {
    let shown = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), number::value);
    let said = match drift.moved {
        Some(true) => "moved",
        Some(false) => "as it was",
        None => "unknown",
    };
    [
        reporter::plain(name),
        shown(drift.before),
        shown(drift.now),
        drift.change.map_or_else(|| "-".to_owned(), number::signed),
        drift.ci.map_or_else(
            || "-".to_owned(),
            |[low, high]| format!("{} to {}", number::signed(low), number::signed(high)),
        ),
        match drift.lost {
            0 => format!("{}/{}", drift.changed, drift.n),
            lost => format!("{}/{}, {lost} lost", drift.changed, drift.n),
        },
        said.to_owned(),
    ]
}

fn table(rows: impl Iterator<Item = [String; 7]>) -> String {
    let heads = [
        "metric",
        "then",
        "now",
        "change",
        "95 % interval",
        "changed",
        "",
    ];
    let rows: Vec<[String; 7]> = std::iter::once(heads.map(str::to_owned))
        .chain(rows)
        .collect();
    let widths: Vec<usize> = (0..6)
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let _ = match (at, widths.get(at)) {
                (0, Some(width)) => write!(line, " {cell:<width$}"),
                (_, Some(width)) => write!(line, "  {cell:>width$}"),
                (_, None) => write!(line, "  {cell}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
