//! What holds of every verdict, whatever it was made of.

use gate::policy::{Limit, Severity};
use gate::verdict::{Code, MetricRow, Outcome, Reason, Status, Verdict};

/// Checks a verdict against itself and gives it as JSON.
///
/// # Panics
///
/// When it contradicts itself.
pub fn check(verdict: &Verdict) -> String {
    check_outcome(verdict);
    for row in &verdict.metrics {
        check_row(row);
    }
    for reason in verdict.reasons.iter().chain(&verdict.warnings) {
        check_reason(reason);
    }
    for sample in &verdict.worst_samples {
        finite("before of a worst sample", sample.before);
        finite("now of a worst sample", sample.now);
    }
    let json = serde_json::to_string(verdict).expect("a verdict can be written");
    let again: Verdict = serde_json::from_str(&json).expect("a written verdict can be read");
    assert_eq!(again, *verdict, "a verdict survives its file");
    json
}

/// The outcome is that of the gravest reason and of the gravest row.
///
/// # Panics
///
/// When it is another.
pub fn check_outcome(verdict: &Verdict) {
    let blocks = |code| {
        matches!(
            code,
            Code::BelowMinimum | Code::AboveMaximum | Code::Regression | Code::Drift
        )
    };
    let blocked = verdict.reasons.iter().any(|reason| blocks(reason.code));
    let expected = match (blocked, verdict.reasons.is_empty()) {
        (true, _) => Outcome::Block,
        (false, false) => Outcome::Undecided,
        (false, true) => Outcome::Pass,
    };
    assert_eq!(verdict.outcome, expected, "reasons: {:?}", verdict.reasons);
    assert_eq!(verdict.exit_code, verdict.outcome.exit_code());
    assert!(
        !verdict.reasons.iter().any(|reason| reason.pending),
        "what is pending is no reason"
    );
    let has = |status| verdict.metrics.iter().any(|row| row.status == status);
    assert_eq!(
        has(Status::Block),
        verdict.outcome == Outcome::Block,
        "rows: {:?}",
        verdict.metrics
    );
    if has(Status::Undecided) {
        assert_ne!(verdict.outcome, Outcome::Pass);
    }
    for reason in &verdict.reasons {
        let Some(metric) = &reason.metric else {
            continue;
        };
        // Two entries of [[slices]] may make rows of the same name.
        let mut rows = verdict.metrics.iter().filter(|row| {
            row.metric == *metric && row.variant == reason.variant && row.slice == reason.slice
        });
        let gravity = |status| match status {
            Status::Off => 0,
            Status::Pass => 1,
            Status::Warn => 2,
            Status::Undecided => 3,
            Status::Block => 4,
        };
        let due = if blocks(reason.code) {
            Status::Block
        } else {
            Status::Undecided
        };
        assert!(
            rows.any(|row| row.severity == Severity::Block && gravity(row.status) >= gravity(due)),
            "no row for {reason:?}"
        );
    }
}

fn check_row(row: &MetricRow) {
    let numbers = [
        ("now", row.now),
        ("before", row.before),
        ("change", row.change),
        ("change_stderr", row.change_stderr),
        ("p_value", row.p_value),
        ("min", row.limits.min),
        ("max", row.limits.max),
        ("low", row.ci.map(|[low, _]| low)),
        ("high", row.ci.map(|[_, high]| high)),
        ("max_drop", row.limits.max_drop.map(Limit::amount)),
        ("max_rise", row.limits.max_rise.map(Limit::amount)),
        ("max_drift", row.limits.max_drift.map(Limit::amount)),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            finite(name, number);
        }
    }
    if let Some([low, high]) = row.ci {
        assert!(low <= high, "{row:?}");
    }
    if let Some(p) = row.p_value {
        assert!((0.0..=1.0).contains(&p), "{row:?}");
    }
    if let Some(stderr) = row.change_stderr {
        assert!(stderr >= 0.0, "{row:?}");
    }
    if row.n == Some(0) {
        assert_eq!(row.now, None, "an aggregate of nothing: {row:?}");
    }
    assert_eq!(
        row.status == Status::Off,
        row.severity == Severity::Off,
        "{row:?}"
    );
}

fn check_reason(reason: &Reason) {
    for (name, number) in &reason.numbers {
        finite(name, *number);
    }
    assert!(!reason.message.is_empty(), "{reason:?}");
}

/// Sentences are about numbers that exist. For inputs without a name that looks like none.
///
/// # Panics
///
/// When a sentence shows what is no number.
pub fn check_sentences(verdict: &Verdict) {
    let messages = verdict
        .reasons
        .iter()
        .chain(&verdict.warnings)
        .map(|reason| &reason.message);
    for sentence in messages
        .chain([&verdict.summary])
        .chain(&verdict.provenance.differences)
    {
        let mut words = sentence.split(|c: char| !c.is_ascii_alphanumeric());
        assert!(
            !words.any(|word| matches!(word, "NaN" | "inf")),
            "no number in: {sentence}"
        );
    }
}

fn finite(what: &str, number: f64) {
    assert!(number.is_finite(), "{what} is {number}");
}
