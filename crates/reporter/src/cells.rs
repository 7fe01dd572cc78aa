//! What terminal and Markdown show alike: the numbers of a row, the words for outcomes, the ids of samples.

use gate::number;
use gate::verdict::{Code, MetricRow, Outcome, Status, Verdict};
use serde_json::Value;

use crate::escape::{NAME, cut, shown};

/// Widest number in a cell; a number of 300 digits is cut.
const NUMBER: usize = 20;

/// A measured value.
pub(crate) fn value(measured: f64) -> String {
    cut(&number::value(measured), NUMBER)
}

/// `0.674 (106/107)`: never a mean without its denominator.
pub(crate) fn now(row: &MetricRow) -> String {
    let limits = [row.limits.min, row.limits.max];
    let mean = row.now.map_or_else(
        || "–".to_owned(),
        |now| cut(&number::beside(now, limits), NUMBER),
    );
    format!("{mean} ({})", number::denominator(row.n, row.failed))
}

/// `0.932` and `(118/120)`, or a dash.
pub(crate) fn before(row: &MetricRow) -> (String, Option<String>) {
    match row.before {
        Some(mean) => {
            let of = row
                .before_n
                .map(|n| format!("({})", number::denominator(Some(n), row.before_failed)));
            (value(mean), of)
        }
        None => ("–".to_owned(), None),
    }
}

/// `-0.258` and `[-0.334, -0.182]`, or a dash.
pub(crate) fn change(row: &MetricRow) -> (String, Option<String>) {
    match row.change {
        Some(change) => (
            cut(&number::signed(change), NUMBER),
            row.ci.map(|[low, high]| {
                let low = cut(&number::signed(low), NUMBER);
                format!("[{low}, {}]", cut(&number::signed(high), NUMBER))
            }),
        ),
        None => ("–".to_owned(), None),
    }
}

/// Each limit in its own words: `≥ 0.80`, `drop ≤ 0.03`.
pub(crate) fn limits(row: &MetricRow) -> Vec<String> {
    let limits = &row.limits;
    let absolute = [(limits.min, "≥"), (limits.max, "≤")];
    let relative = [
        (limits.max_drop, "drop ≤"),
        (limits.max_rise, "rise ≤"),
        (limits.max_drift, "drift ≤"),
    ];
    let absolute = absolute
        .into_iter()
        .filter_map(|(limit, sign)| limit.map(|limit| format!("{sign} {}", number::limit(limit))));
    let relative = relative
        .into_iter()
        .filter_map(|(limit, sign)| limit.map(|limit| format!("{sign} {limit}")));
    let all: Vec<String> = absolute
        .chain(relative)
        .map(|limit| cut(&limit, NUMBER))
        .collect();
    if all.is_empty() {
        vec!["none".to_owned()]
    } else {
        all
    }
}

/// The aggregate when it is not the mean, which goes without saying.
pub(crate) fn aggregate(row: &MetricRow) -> Option<String> {
    (row.aggregate != "mean").then(|| shown(&row.aggregate, NUMBER))
}

/// Whether a slice row stands right below the row of its metric.
pub(crate) fn belongs_to(row: &MetricRow, above: Option<&MetricRow>) -> bool {
    row.slice.is_some()
        && above.is_some_and(|above| above.metric == row.metric && above.variant == row.variant)
}

/// The word for the status of a row.
pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pass => "pass",
        Status::Warn => "warn",
        Status::Block => "BLOCK",
        Status::Undecided => "undecided",
        Status::Off => "off",
    }
}

/// The word for an outcome.
pub(crate) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "PASS",
        Outcome::Block => "BLOCKED",
        Outcome::Undecided => "UNDECIDED",
    }
}

/// What the list of reasons answers.
pub(crate) fn reasons_title(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Block => "Why it blocks",
        Outcome::Undecided => "Why it cannot be decided",
        Outcome::Pass => "Reasons",
    }
}

/// The code as scripts and `rag-gate explain` know it.
pub(crate) fn code_name(code: Code) -> String {
    match serde_json::to_value(code) {
        Ok(Value::String(name)) => name,
        _ => format!("{code:?}"),
    }
}

/// Whether a reason of this code means that the answers got worse, not that something was not measured.
pub(crate) fn is_violation(code: Code) -> bool {
    matches!(
        code,
        Code::BelowMinimum | Code::AboveMaximum | Code::Regression | Code::Drift
    )
}

/// `gate.toml:12`, when both are known.
pub(crate) fn policy_place(verdict: &Verdict, line: Option<usize>) -> Option<String> {
    let path = verdict.policy.path.as_deref()?;
    line.map(|line| format!("{}:{line}", shown(path, NAME)))
}

/// The first `n` characters of a commit; enough to find it.
pub(crate) fn short_commit(commit: &str) -> String {
    shown(&commit.chars().take(10).collect::<String>(), 10)
}

/// A word of the run of one side, wherever the file keeps it.
pub(crate) fn provenance<'a>(side: Option<&'a Value>, path: &[&str]) -> Option<&'a Value> {
    let side = side?;
    let run = side.get("run").unwrap_or(side);
    path.iter()
        .try_fold(run, |value, key| value.get(key))
        .filter(|value| !value.is_null())
}

/// A judge that is no model has to be named wherever its scores are shown.
pub(crate) fn stand_in_judge(verdict: &Verdict) -> Option<&'static str> {
    let results = verdict.provenance.results.as_ref();
    match provenance(results, &["judge", "provider"])?.as_str()? {
        "lexical" => Some("lexical: word overlap, no language model"),
        "simulated" => Some("simulated: made-up scores, for planning and tests"),
        _ => None,
    }
}

/// A scalar of foreign JSON as text; objects and lists as JSON.
pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `1 day`, `12 days`.
pub(crate) fn count(number: impl Into<i128>, noun: &str) -> String {
    let number = number.into();
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}
