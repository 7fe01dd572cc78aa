//! Accepted changes add up.

use serde_json::{Value, json};

use super::{Case, Full, case, judge, same};

const F: &str = "faithfulness";
const POLICY: &str = "[gate]\nmax_drift = 0.05\n[metrics.faithfulness]\nmax_drop = 0.03";

/// A history whose lines have these means and these changes.
fn chain(lines: &[(f64, Option<f64>)]) -> Vec<Value> {
    lines
        .iter()
        .enumerate()
        .map(|(index, (mean, change))| {
            let mut metric = json!({"mean": mean, "n": 10, "failed": 0, "stderr": 0.01, "version": "1"});
            if let Some(change) = change {
                metric["change"] = json!(change);
                metric["change_stderr"] = json!(0.001);
                metric["pairs"] = json!(10);
            }
            json!({
                "accepted": {"at": format!("2026-10-{:02}T00:00:00Z", index + 1), "commit": format!("{index:040}")},
                "dataset_sha256": "aa", "judge_model": "judge-a", "metrics": {F: metric}
            })
        })
        .collect()
}

fn today(score: f64) -> Full {
    Full::of(F, same(10, score))
}

/// The baseline that the last line of a history accepted.
fn accepted(score: f64, lines: usize) -> Full {
    today(score).set(
        "/accepted",
        json!({"at": format!("2026-10-{lines:02}T00:00:00Z")}),
    )
}

fn drift(
    name: &'static str,
    policy: &str,
    lines: &[(f64, Option<f64>)],
    now: f64,
    exit: i32,
    mention: &'static [&'static str],
) -> Case {
    let before = lines.last().unwrap().0;
    case(
        name,
        policy,
        today(now),
        accepted(before, lines.len()),
        exit,
        mention,
    )
    .history(&chain(lines))
}

#[test]
fn losses_since_any_point_of_the_window_add_up() {
    let falling = [(0.86, None), (0.84, Some(-0.02)), (0.82, Some(-0.02))];
    judge(&[
        drift(
            "the third loss",
            POLICY,
            &falling,
            0.80,
            1,
            &["drift", "0.06", "0.86"],
        ),
        drift("no further loss", POLICY, &falling, 0.82, 0, &[]),
        drift("exactly at the limit", POLICY, &falling, 0.81, 0, &[]),
        drift(
            "just over the limit",
            POLICY,
            &falling,
            0.8099,
            1,
            &["drift"],
        ),
        drift("recovered today", POLICY, &falling, 0.86, 0, &[]),
        drift(
            "no drift rule",
            "[metrics.faithfulness]\nmax_drop = 0.03",
            &falling,
            0.80,
            0,
            &[],
        ),
        drift(
            "a drift rule of the metric",
            "[metrics.faithfulness]\nmax_drop = 0.03\nmax_drift = 0.05",
            &falling,
            0.80,
            1,
            &["drift"],
        ),
        drift(
            "only a warning",
            "[gate]\nmax_drift = 0.05\n[metrics.faithfulness]\nseverity = \"warn\"",
            &falling,
            0.80,
            0,
            &["0.06"],
        ),
        drift(
            "the window ends before the first loss",
            "[gate]\nmax_drift = 0.05\ndrift_window = 2\n[metrics.faithfulness]",
            &falling,
            0.80,
            0,
            &[],
        ),
        drift(
            "since the peak",
            POLICY,
            &[(0.80, None), (0.86, Some(0.06)), (0.83, Some(-0.03))],
            0.80,
            1,
            &["0.06", "0.86"],
        ),
        drift(
            "lines without a change count by their means",
            POLICY,
            &[(0.86, None), (0.84, None), (0.82, None)],
            0.80,
            1,
            &["0.06"],
        ),
        drift(
            "the means say otherwise because the dataset changed",
            POLICY,
            &[(0.86, None), (0.91, Some(-0.02)), (0.95, Some(-0.02))],
            0.93,
            1,
            &["drift", "0.06"],
        ),
        drift(
            "the dataset got harder, and nobody lost",
            POLICY,
            &[(0.95, None), (0.86, Some(0.0)), (0.80, Some(0.0))],
            0.80,
            0,
            &[],
        ),
    ]);
}

#[test]
fn an_accepted_loss_begins_the_chain_anew() {
    let lines = [(0.86, None), (0.84, Some(-0.02)), (0.60, Some(-0.24))];
    let mut reset = chain(&lines);
    reset[2]["reset"] = json!([F]);
    let mut other = chain(&lines);
    other[2]["reset"] = json!(["context_recall"]);
    let row = |name: &'static str,
               lines: &[Value],
               now: f64,
               exit: i32,
               mention: &'static [&'static str]| {
        case(name, POLICY, today(now), accepted(0.60, 3), exit, mention).history(lines)
    };
    judge(&[
        row("reset", &reset, 0.58, 0, &[]),
        row("reset of another metric", &other, 0.60, 1, &["drift"]),
        row("not reset", &chain(&lines), 0.60, 1, &["drift"]),
    ]);
}

#[test]
fn drift_needs_two_sides_that_compare() {
    let falling = [(0.86, None), (0.84, Some(-0.02)), (0.82, Some(-0.02))];
    let row = |name: &'static str,
               results: Full,
               exit: i32,
               mention: &'static [&'static str],
               forbid: &'static [&'static str]| {
        case(name, POLICY, results, accepted(0.82, 3), exit, mention)
            .history(&chain(&falling))
            .forbids(forbid)
    };
    judge(&[
        row(
            "another judge today",
            today(0.80).set("/run/judge/model", json!("judge-b")),
            3,
            &["judge-b"],
            &["0.06"],
        ),
        row(
            "pending",
            today(0.80).failing(F, 3),
            3,
            &["7/10", "pending"],
            &[],
        ),
        case(
            "a history that is not JSON",
            POLICY,
            today(0.82),
            accepted(0.82, 1),
            3,
            &["history.jsonl", "1"],
        )
        .history(&[json!("not a line")]),
    ]);
}
