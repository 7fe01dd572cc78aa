//! Whether a difference between the two sides means anything, metric by metric.

use crate::json::canonical;
use crate::number::EPSILON;
use crate::policy::BoundMetric;
use crate::results::{JudgeInfo, MetricInfo, Results};

/// What differs between the two sides for one metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Comparison {
    /// What makes them incomparable, as clauses: "the judge's model is `b` now and was `a`".
    pub(crate) differences: Vec<String>,
    /// What only the baseline states, as noun phrases.
    pub(crate) unknown_now: Vec<String>,
    /// What only the results state.
    pub(crate) unknown_before: Vec<String>,
}

impl Comparison {
    fn field<T: PartialEq + std::fmt::Display>(
        &mut self,
        what: &str,
        now: Option<T>,
        before: Option<T>,
    ) {
        match (now, before) {
            (Some(now), Some(before)) if now != before => self
                .differences
                .push(format!("{what} is `{now}` now and was `{before}`")),
            (Some(_), None) => self.unknown_before.push(what.to_owned()),
            (None, Some(_)) => self.unknown_now.push(what.to_owned()),
            _ => {}
        }
    }
}

/// Compares provenance and scale of one metric; samples are compared where they are paired.
pub(crate) fn compare(metric: &BoundMetric, results: &Results, baseline: &Results) -> Comparison {
    let mut comparison = Comparison::default();
    let nothing = MetricInfo::default();
    let now = results.metric_info(&metric.name).unwrap_or(&nothing);
    let before = baseline.metric_info(&metric.name).unwrap_or(&nothing);
    let name = &metric.name;
    comparison.field(
        &format!("the version of {name}"),
        now.version.as_deref(),
        before.version.as_deref(),
    );
    comparison.field(
        &format!("the prompt of {name}"),
        now.prompt_sha256.as_deref(),
        before.prompt_sha256.as_deref(),
    );
    comparison.field(
        &format!("the direction of {name}"),
        now.direction,
        before.direction,
    );
    scale(&mut comparison, metric, (results, now), (baseline, before));
    if metric.judged {
        judge(
            &mut comparison,
            results.run.judge.as_ref(),
            baseline.run.judge.as_ref(),
        );
    }
    comparison
        .differences
        .extend(moved(&metric.name, results, baseline));
    comparison
}

/// That the judge does not score its pinned answers as it did: then a difference of results is the judge's.
fn moved(metric: &str, results: &Results, baseline: &Results) -> Option<String> {
    let drift = results.run.judge.as_ref()?.drift.as_ref()?;
    let found = drift.metrics.get(metric)?;
    if found.moved != Some(true) {
        return None;
    }
    let by = found.change.map_or_else(String::new, |change| {
        format!(" by {}", crate::number::signed(change))
    });
    let mut clause = format!(
        "the judge itself moved{by} on {} pinned answers that it scored again, so that a difference is the judge's and not the change's",
        found.n
    );
    // Then the baseline may have been measured after the judge moved.
    let accepted = baseline
        .accepted
        .as_ref()
        .and_then(|accepted| accepted.at.as_deref());
    if is_before(drift.pinned_at.as_deref(), accepted) {
        clause.push_str(
            " (they were pinned before the baseline was accepted: `rag-gate judge pin` with every new baseline)",
        );
    }
    Some(clause)
}

/// Whether one time is known to be before another; what is no time is not.
fn is_before(one: Option<&str>, other: Option<&str>) -> bool {
    let time = |text: Option<&str>| text?.parse::<jiff::Timestamp>().ok();
    time(one)
        .zip(time(other))
        .is_some_and(|(one, other)| one < other)
}

/// Ranges that differ, or scores that exceed the range that the other side states.
fn scale(
    comparison: &mut Comparison,
    metric: &BoundMetric,
    (results, now): (&Results, &MetricInfo),
    (baseline, before): (&Results, &MetricInfo),
) {
    let shown = |range: [f64; 2]| format!("[{}, {}]", range[0], range[1]);
    if let (Some(now), Some(before)) = (now.range, before.range) {
        let same = |(one, other): (&f64, &f64)| (one - other).abs() <= EPSILON;
        if !now.iter().zip(&before).all(same) {
            comparison.differences.push(format!(
                "the range of {} is {} now and was {}: another scale",
                metric.name,
                shown(now),
                shown(before)
            ));
        }
        return;
    }
    let sides = [
        (now.range, baseline, "the baseline's"),
        (before.range, results, "the results'"),
    ];
    for (range, other, whose) in sides {
        let Some([low, high]) = range else {
            continue;
        };
        let Some([lowest, highest]) = other.extremes(&metric.name) else {
            continue;
        };
        if lowest < low || highest > high {
            comparison.differences.push(format!(
                "{whose} scores of {} go from {} to {}, outside the range {} of the other side: another scale",
                metric.name,
                crate::number::value(lowest),
                crate::number::value(highest),
                shown([low, high])
            ));
        }
    }
}

fn judge(comparison: &mut Comparison, now: Option<&JudgeInfo>, before: Option<&JudgeInfo>) {
    let (now, before) = match (now, before) {
        (Some(now), Some(before)) => (now, before),
        (None, None) => return,
        (Some(_), None) => {
            comparison.unknown_before.push("the judge".to_owned());
            return;
        }
        (None, Some(_)) => {
            comparison.unknown_now.push("the judge".to_owned());
            return;
        }
    };
    comparison.field(
        "the judge's provider",
        now.provider.as_deref(),
        before.provider.as_deref(),
    );
    comparison.field(
        "the judge's model",
        now.model.as_deref(),
        before.model.as_deref(),
    );
    comparison.field(
        "the model that the judge reports",
        now.reported_model.as_deref(),
        before.reported_model.as_deref(),
    );
    let params = |judge: &JudgeInfo| {
        let params = judge.params.as_ref().filter(|params| !params.is_null())?;
        Some(canonical(params).to_string())
    };
    comparison.field("the judge's parameters", params(now), params(before));
}
