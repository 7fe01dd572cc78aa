//! `rag-gate run`: scores a dataset and writes results.json.

use std::collections::BTreeMap;
use std::fmt::Write;

use gate::results::{Results, Score};

use super::units::plural;
use crate::args::{EvaluationArgs, RunArgs};
use crate::error::Error;
use crate::evaluation::{self, Configured, Evaluated, configure, evaluate};
use crate::exit_code::ExitCode;
use crate::{console, input};

/// Most kinds of failure that are listed.
const MAX_CAUSES: usize = 10;
/// So much of a failure's message is shown, in characters.
const MAX_MESSAGE: usize = 300;

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    evaluation::init_logging(args.evaluation.log_format);
    let configured = configure(&args.evaluation)?;
    let judge = judge_name(&configured);
    say_notes(&args.evaluation, &configured);
    if args.check_only {
        evaluation::check_place(&evaluation::results_path(&args.evaluation), &configured)?;
        return console::print(&checked(&configured)).map(|()| ExitCode::Pass);
    }
    if args.dry_run {
        return super::dry_run::run(&configured);
    }
    let evaluated = evaluate(&args.evaluation, configured)?;
    if let Some(results) = &evaluated.results {
        console::print(&summary(results, &evaluated, &judge))?;
    }
    if let Some(error) = evaluated.error() {
        console::report(&error);
    }
    Ok(evaluated.exit_code())
}

/// What was recognised, unless nobody wants to know.
pub(crate) fn say_notes(args: &EvaluationArgs, configured: &Configured) {
    for note in &configured.notes {
        if !args.quiet || note.starts_with("warning") {
            console::note(&reporter::plain(note));
        }
    }
}

/// The judge as reports name it.
pub(crate) fn judge_name(configured: &Configured) -> String {
    let metrics = &configured.work.metrics;
    let judged = metrics.iter().any(|metric| metric.info().judged);
    let embeds = metrics.iter().any(|metric| metric.info().embeds);
    let setup = match (judged, embeds, &configured.work.embeddings) {
        (false, true, Some(embeddings)) => embeddings,
        (false, false, _) => {
            let has_program = metrics.iter().any(|metric| metric.program().is_some());
            return match has_program {
                true => "none (formulas and programs)".to_owned(),
                false => "none (formulas alone)".to_owned(),
            };
        }
        _ => &configured.work.judge,
    };
    let identity = setup.provider.identity();
    match (identity.provider.as_str(), &identity.model) {
        ("lexical", _) => "lexical (word overlap, no model)".to_owned(),
        (_, Some(model)) => reporter::plain(model),
        (provider, None) => provider.to_owned(),
    }
}

fn checked(configured: &Configured) -> String {
    let names: Vec<&str> = configured
        .work
        .metrics
        .iter()
        .map(|metric| metric.info().name.as_str())
        .collect();
    format!(
        "ready: {}, {} ({}), judge {}; nobody was called\n",
        plural(configured.work.dataset.len(), "sample"),
        plural(names.len(), "metric"),
        reporter::plain(&names.join(", ")),
        judge_name(configured)
    )
}

/// The means, with their denominators.
fn summary(results: &Results, evaluated: &Evaluated, judge: &str) -> String {
    let mut rows =
        vec![["metric", "mean", "scored", "failed", "not applicable"].map(str::to_owned)];
    for variant in results.variants() {
        for (metric, summary) in results.summaries_of(variant) {
            let n = summary.n.unwrap_or(0);
            let failed = summary.failed.unwrap_or(0);
            rows.push([
                match variant {
                    Some(variant) => {
                        format!("{} [{}]", reporter::plain(metric), reporter::plain(variant))
                    }
                    None => reporter::plain(metric),
                },
                summary
                    .mean
                    .map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")),
                format!("{n}/{}", n + failed),
                failed.to_string(),
                summary.not_applicable.unwrap_or(0).to_string(),
            ]);
        }
    }
    let mut text = columns(&rows);
    text.push('\n');
    text.push_str(&corpora(results));
    text.push_str(&causes(results));
    text.push_str(&doubts(results));
    let _ = writeln!(text, "{}", evaluated.line(judge));
    if let Some(results) = evaluated
        .results
        .as_ref()
        .and_then(|results| results.usage.as_ref())
    {
        let tokens = |key: &str| results.get(key).and_then(serde_json::Value::as_u64);
        if let (Some(prompt), Some(completion)) =
            (tokens("prompt_tokens"), tokens("completion_tokens"))
            && prompt + completion > 0
        {
            let cost = match evaluated.cost_usd {
                Some(cost) => format!("${cost:.4}"),
                None => "cost unknown".to_owned(),
            };
            let _ = writeln!(text, "{prompt} + {completion} tokens, {cost}");
        }
    }
    let name = evaluated
        .name
        .as_ref()
        .map_or_else(String::new, |name| format!(" (run {name})"));
    let _ = writeln!(text, "written to {}{name}", input::name(&evaluated.path));
    text
}

/// Values of all samples together, which no mean is, with what it takes to compute them elsewhere.
fn corpora(results: &Results) -> String {
    let mut text = String::new();
    for (metric, info) in results.run.metrics.iter().flatten() {
        for corpus in &info.corpus {
            let variant = (corpus.variant.as_ref()).map_or_else(String::new, |variant| {
                format!(" [{}]", reporter::plain(variant))
            });
            let _ = writeln!(
                text,
                "{}{variant} of all together: {:.3}\n  {}",
                reporter::plain(metric),
                corpus.value,
                corpus.signature
            );
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// What the run found doubtful about its own numbers.
fn doubts(results: &Results) -> String {
    let mut text = String::new();
    for warning in results.run.warnings.iter().flatten() {
        let _ = writeln!(text, "warning: {}", reporter::plain(&warning.message));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Why scores failed: each kind of a metric once, with one of its messages.
fn causes(results: &Results) -> String {
    let mut found: BTreeMap<(&str, &str), (u64, &str)> = BTreeMap::new();
    let columns = results
        .samples()
        .map_or(&[][..], gate::results::Samples::metrics);
    for column in columns {
        for row in 0..results.samples().map_or(0, gate::results::Samples::len) {
            if let Score::Failed { kind, message } = column.score(row) {
                let cause = found.entry((column.metric(), kind)).or_default();
                cause.0 += 1;
                if cause.1.is_empty() {
                    cause.1 = message.unwrap_or("");
                }
            }
        }
    }
    let mut text = String::new();
    for ((metric, kind), (count, message)) in found.iter().take(MAX_CAUSES) {
        let message: String = message.chars().take(MAX_MESSAGE).collect();
        let message = reporter::plain(&message);
        let _ = writeln!(
            text,
            "failed: {}, {count} × {kind}: {message}",
            reporter::plain(metric)
        );
    }
    if found.len() > MAX_CAUSES {
        let _ = writeln!(
            text,
            "… and {} more kinds of failure",
            found.len() - MAX_CAUSES
        );
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Rows of cells in aligned columns, the first to the left, the others to the right.
fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: Vec<usize> = (0..N)
        .map(|at| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at {
                0 => write!(text, " {cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}
