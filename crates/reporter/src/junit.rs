//! `JUnit` XML: the gate is a test suite, every row of the verdict a test case.

use std::collections::{HashMap, HashSet};

use gate::verdict::{MetricRow, Outcome, Reason, Status, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::cells::{code_name, is_violation, outcome_word, stand_in_judge};
use crate::escape::{MESSAGE, NAME, shown};

/// The report; never green when the verdict is not.
pub(crate) fn render(verdict: &Verdict) -> String {
    let gate_id = shown(&verdict.gate_id, NAME);
    let mut suite = TestSuite::new(&gate_id);
    if let Some(judge) = stand_in_judge(verdict) {
        suite.add_property(("judge", judge));
    }
    let mut by_row: HashMap<About<'_>, Vec<&Reason>> = HashMap::new();
    for reason in &verdict.reasons {
        by_row.entry(about_reason(reason)).or_default().push(reason);
    }
    let rows: HashSet<About<'_>> = verdict.metrics.iter().map(about_row).collect();
    let cases = verdict.metrics.iter().map(|row| {
        let reasons = by_row.get(&about_row(row));
        row_case(row, reasons.map_or(&[], Vec::as_slice))
    });
    let cases = cases.chain(
        verdict
            .reasons
            .iter()
            .filter(|reason| !rows.contains(&about_reason(reason)))
            .map(|reason| TestCase::new(reason_name(reason), reason_status(reason, &[reason]))),
    );
    for mut case in cases {
        case.set_classname(&gate_id);
        suite.add_test_case(case);
    }
    if verdict.outcome != Outcome::Pass && suite.errors == 0 && suite.failures == 0 {
        let mut case = outcome_case(verdict);
        case.set_classname(&gate_id);
        suite.add_test_case(case);
    }
    if !verdict.warnings.is_empty() {
        suite.set_system_out(lines(&verdict.warnings.iter().collect::<Vec<_>>()));
    }
    let mut report = Report::new(&gate_id);
    report.add_test_suite(suite);
    match report.to_string() {
        Ok(document) => document,
        // Writing to memory does not fail, and every character was made legal.
        Err(error) => format!("<!-- {} -->\n", shown(&error.to_string(), NAME)),
    }
}

/// What a row or a reason is about: metric, variant and slice.
type About<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

fn about_row(row: &MetricRow) -> About<'_> {
    (
        Some(&row.metric),
        row.variant.as_deref(),
        row.slice.as_deref(),
    )
}

fn about_reason(reason: &Reason) -> About<'_> {
    (
        reason.metric.as_deref(),
        reason.variant.as_deref(),
        reason.slice.as_deref(),
    )
}

fn row_case(row: &MetricRow, reasons: &[&Reason]) -> TestCase {
    let status = match (row.status, reasons.first()) {
        (Status::Pass | Status::Warn, None) => TestCaseStatus::success(),
        (Status::Off, None) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("off: shown, not judged");
            status
        }
        (_, Some(first)) => reason_status(first, reasons),
        (Status::Block, None) => bare_status(NonSuccessKind::Failure, "blocked"),
        (Status::Undecided, None) => bare_status(NonSuccessKind::Error, "undecided"),
    };
    let name = name(&row.metric, row.variant.as_deref(), row.slice.as_deref());
    TestCase::new(&name, status)
}

/// A failure for a violation, an error for what could not be decided.
fn reason_status(first: &Reason, reasons: &[&Reason]) -> TestCaseStatus {
    let violation = reasons
        .iter()
        .find(|reason| is_violation(reason.code) && !reason.pending);
    let kind = match violation {
        Some(_) => NonSuccessKind::Failure,
        None => NonSuccessKind::Error,
    };
    let decided = reasons.iter().find(|reason| !reason.pending);
    let main = violation.or(decided).unwrap_or(&first);
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_type(code_name(main.code))
        .set_message(shown(&main.message, MESSAGE))
        .set_description(lines(reasons));
    status
}

fn bare_status(kind: NonSuccessKind, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(message).set_message(message);
    status
}

fn outcome_case(verdict: &Verdict) -> TestCase {
    let kind = match verdict.outcome {
        Outcome::Block => NonSuccessKind::Failure,
        Outcome::Pass | Outcome::Undecided => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_type(outcome_word(verdict.outcome))
        .set_message(shown(&verdict.summary, MESSAGE));
    TestCase::new("verdict", status)
}

fn reason_name(reason: &Reason) -> String {
    let code = code_name(reason.code);
    match &reason.metric {
        Some(metric) => {
            let name = name(metric, reason.variant.as_deref(), reason.slice.as_deref());
            format!("{name}: {code}")
        }
        None => code,
    }
}

fn name(metric: &str, variant: Option<&str>, slice: Option<&str>) -> String {
    [variant, slice]
        .into_iter()
        .flatten()
        .fold(shown(metric, NAME), |name, part| {
            format!("{name} [{}]", shown(part, NAME))
        })
}

fn lines(reasons: &[&Reason]) -> String {
    let lines: Vec<String> = reasons
        .iter()
        .map(|reason| {
            format!(
                "- {}: {}",
                code_name(reason.code),
                shown(&reason.message, MESSAGE)
            )
        })
        .collect();
    lines.join("\n")
}
