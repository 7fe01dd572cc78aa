//! Slow drift: merges that each lose 0.02 pass `max_drop = 0.03` one by one.
//!
//! The chain of accepted baselines is linked by paired changes, not by means, so that an edit of the dataset or another
//! judge breaks the chain visibly instead of bending it.

use crate::history::{HistoryLine, HistoryMetric};
use crate::number::{self, EPSILON};
use crate::policy::{Limit, Placed, Rule};
use crate::verdict::Code;

use super::case::Case;
use super::relative::{Relative, worse};
use super::{Findings, Inputs, sentence};

/// How far a baseline's mean may be from the last line of the history: both are the same file's, printed exactly.
const SAME_MEAN: f64 = 1e-6;

/// One accepted change, or the break before which nothing counts.
#[derive(Debug, Clone, Copy)]
struct Link {
    change: f64,
    stderr: f64,
}

/// The drop since one accepted baseline.
#[derive(Debug, Clone)]
struct Since {
    drop: f64,
    stderr: f64,
    mean: f64,
    when: String,
    merges: usize,
}

/// Files `drift` when the accepted changes and today's add up to more than the limit.
pub(crate) fn judge(
    case: &mut Case<'_>,
    inputs: &Inputs<'_>,
    today: &Relative,
    limit: Placed<Limit>,
    findings: &mut Findings,
) {
    let metric = case.sides.metric;
    let variant = case.sides.variant.name;
    let history = inputs.history.unwrap_or(&[]);
    if history.is_empty() {
        let message = format!(
            "{}: max_drift is set and there is no history beside the baseline; `rag-gate baseline update` writes it",
            case.subject()
        );
        case.warn(findings, Code::DriftChain, message);
        return;
    }
    let chain = Chain::of(case, history, today);
    if let Some(message) = chain.broken {
        let message = format!("{}: {message}", case.subject());
        case.warn(findings, Code::DriftChain, message);
    }
    let window = inputs.policy.drift_window() as usize;
    let worst = chain
        .points
        .iter()
        .rev()
        .take(window)
        // A drop since the baseline alone is a regression, and one reason for it is enough.
        .filter(|since| since.merges > 0 || !today.exceeds())
        .filter(|since| exceeds(since, limit.value))
        .filter(|since| inputs.policy.rule() != Rule::Significant || is_significant(since, inputs))
        .max_by(|a, b| a.drop.total_cmp(&b.drop));
    let Some(worst) = worst else {
        return;
    };
    let allowed = limit.value.in_points(worst.mean);
    let message = format!(
        "{} has lost {} since {} ({}), over {} and this change; max_drift is {}",
        super::subject(metric, variant, None),
        number::apart(worst.drop, allowed),
        number::value(worst.mean),
        worst.when,
        sentence::plural(worst.merges, "accepted change", "accepted changes"),
        limit.value
    );
    let numbers = [
        ("drift", worst.drop),
        ("since", worst.mean),
        ("allowed", allowed),
        ("changes", worst.merges as f64),
    ];
    let certain = !case.is_shaky();
    case.violation(
        findings,
        Code::Drift,
        message,
        limit.line,
        certain,
        &numbers,
    );
}

fn exceeds(since: &Since, limit: Limit) -> bool {
    since.drop > limit.in_points(since.mean) + EPSILON
}

/// The lower bound of the sum exceeds 0, with the standard errors of its parts adding up in squares.
fn is_significant(since: &Since, inputs: &Inputs<'_>) -> bool {
    crate::stats::normal_quantile(inputs.policy.confidence())
        .is_none_or(|z| since.drop - z * since.stderr > 0.0)
}

struct Chain {
    /// The drop since each accepted baseline that still counts, oldest first.
    points: Vec<Since>,
    /// Why older baselines do not count.
    broken: Option<String>,
}

impl Chain {
    /// Walks from today back until the chain is broken or reset.
    fn of(case: &Case<'_>, history: &[HistoryLine], today: &Relative) -> Chain {
        let metric = case.sides.metric;
        let variant = case.sides.variant.name;
        let mut points = Vec::new();
        let mut broken = None;
        let mut drop = today.drop;
        let mut variance = today.stderr.unwrap_or(0.0).powi(2);
        let mut lines = history.iter().rev().peekable();
        if let Some(last) = lines
            .peek()
            .and_then(|line| line.metric(&metric.name, variant))
        {
            // The baseline should be the last accepted one; a step that nobody recorded counts by its means.
            if let (Some(mean), Some(before), true) =
                (last.mean, case.row.before, metric.aggregate.is_mean())
                && (mean - before).abs() > SAME_MEAN
            {
                broken = Some(format!(
                    "the history ends at {} and the baseline is at {}: the step between them counts by its means",
                    number::value(mean),
                    number::value(before)
                ));
                drop += worse(metric.direction, before - mean);
            }
        }
        let mut merges = 0;
        while let Some(line) = lines.next() {
            let Some(entry) = line.metric(&metric.name, variant) else {
                broken = Some(format!(
                    "the chain of accepted baselines begins after {}, which did not measure it",
                    when(line)
                ));
                break;
            };
            let Some(mean) = entry.mean else {
                broken = Some(format!(
                    "the baseline accepted {} has no mean: the chain begins after it",
                    when(line)
                ));
                break;
            };
            points.push(Since {
                drop,
                stderr: variance.sqrt(),
                mean,
                when: when(line),
                merges,
            });
            if line.reset.contains(&metric.name) {
                break;
            }
            let Some(previous) = lines.peek() else {
                // What the first recorded change was measured against is a point as well.
                if let Some(change) = entry.change {
                    points.push(Since {
                        drop: drop + worse(metric.direction, change),
                        stderr: variance.sqrt().hypot(entry.change_stderr.unwrap_or(0.0)),
                        mean: mean - change,
                        when: "before the first line of the history".to_owned(),
                        merges: merges + 1,
                    });
                }
                break;
            };
            match link(
                &metric.aggregate.to_string(),
                line,
                entry,
                previous,
                previous.metric(&metric.name, variant),
            ) {
                Ok(Some(link)) => {
                    drop += worse(metric.direction, link.change);
                    variance += link.stderr.powi(2);
                    merges += 1;
                }
                Ok(None) => {}
                Err(why) => {
                    broken = Some(format!(
                        "the chain of accepted baselines begins {}: {why}",
                        when(line)
                    ));
                    break;
                }
            }
        }
        points.reverse();
        Chain { points, broken }
    }
}

/// The accepted change from one line to the next; an error says why there is none.
fn link(
    aggregate: &str,
    line: &HistoryLine,
    entry: &HistoryMetric,
    previous: &HistoryLine,
    before: Option<&HistoryMetric>,
) -> Result<Option<Link>, String> {
    let differs = |now: &Option<String>, before: &Option<String>| match (now, before) {
        (Some(now), Some(before)) => now != before,
        _ => false,
    };
    if differs(&line.judge_model, &previous.judge_model) {
        return Err("the judge changed".to_owned());
    }
    if let Some(before) = before
        && differs(&entry.version, &before.version)
    {
        return Err("the metric's version changed".to_owned());
    }
    let is_same_aggregate = entry.aggregate.as_deref().unwrap_or("mean") == aggregate;
    if let (Some(change), true) = (entry.change, is_same_aggregate) {
        return Ok(Some(Link {
            change,
            stderr: entry.change_stderr.unwrap_or(0.0),
        }));
    }
    if differs(&line.dataset_sha256, &previous.dataset_sha256) {
        return Err("the dataset changed, and no paired change was recorded".to_owned());
    }
    let means = entry.mean.zip(before.and_then(|before| before.mean));
    Ok(means.map(|(now, then)| Link {
        change: now - then,
        stderr: f64::hypot(
            entry.stderr.unwrap_or(0.0),
            before.and_then(|before| before.stderr).unwrap_or(0.0),
        ),
    }))
}

fn when(line: &HistoryLine) -> String {
    let date = line
        .accepted
        .at
        .as_deref()
        .map(|at| at.split('T').next().unwrap_or(at).to_owned());
    match (date, &line.accepted.commit) {
        (Some(date), Some(commit)) => {
            format!("accepted {date}, {}", commit.get(..8).unwrap_or(commit))
        }
        (Some(date), None) => format!("accepted {date}"),
        (None, Some(commit)) => format!("accepted with {}", commit.get(..8).unwrap_or(commit)),
        (None, None) => "of an unknown date".to_owned(),
    }
}
