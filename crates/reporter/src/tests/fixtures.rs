//! Verdicts as the gate makes them.

use gate::policy::{Direction, Limit, Rule, Severity};
use gate::verdict::{
    Base, Change, Code, FailedSample, Limits, MetricRow, Outcome, PolicySource, Provenance, Reason,
    SCHEMA, SampleCounts, Status, Verdict, WorstSample,
};
use serde_json::json;

/// Everything there can be: variants, slices, warnings, a change to the policy, samples without a score.
pub(super) fn blocked() -> Verdict {
    Verdict {
        outcome: Outcome::Block,
        exit_code: 1,
        summary: "2 of 7 metrics got worse than the policy allows, over 118 samples".into(),
        reasons: blocking_reasons(),
        warnings: warnings(),
        metrics: rows(),
        worst_samples: vec![
            worst(
                "q-0412",
                Some(
                    "2 of 4 claims unsupported: the answer names a refund period of 60 days, the context says 30",
                ),
            ),
            worst("q-0007", None),
        ],
        failed_samples: vec![
            failed("q-0099", "timeout", Some("no answer in 60 s, 4 attempts")),
            failed("q-0100", "missing", None),
        ],
        base: Some(Base {
            r#ref: "origin/main".into(),
            commit: "3f2e1d0c9b8a7f6e5d4c3b2a1908f7e6d5c4b3a2".into(),
            found_by: Some("GITHUB_BASE_REF of the pull request".into()),
            baseline_age_days: Some(12),
            changes: vec![Change {
                file: "gate.toml".into(),
                key: Some("metrics.faithfulness.min".into()),
                base: Some("0.80".into()),
                head: Some("0.60".into()),
                message:
                    "this change lowers metrics.faithfulness.min from 0.80 to 0.60; judged by 0.80"
                        .into(),
            }],
        }),
        samples: Some(SampleCounts {
            common: 118,
            added: 2,
            removed: 1,
            rewritten: 0,
        }),
        usage: Some(json!({"judge_calls": 236, "cache_hits": 118, "cost_usd": 0.41})),
        provenance: Provenance {
            results: Some(json!({
                "commit": "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334",
                "branch": "new-retriever",
                "started_at": "2026-11-30T10:00:00Z",
                "dataset": {"path": "eval/golden.jsonl", "sha256": "dca27275b2ff", "samples": 120},
                "judge": {"provider": "openai", "model": "gpt-4o-mini-2024-07-18"},
            })),
            baseline: Some(json!({
                "run": {
                    "commit": "0f1e2d3c4b5a69788796a5b4c3d2e1f000112233",
                    "judge": {"provider": "openai", "model": "gpt-4o-mini-2024-07-18"},
                },
                "accepted": {"at": "2026-11-18T08:00:00Z", "pull_request": 41, "by": "ada"},
            })),
            differences: vec!["the dataset has 120 samples, that of the baseline 119".into()],
        },
        ..passed()
    }
}

/// Flat files: no samples, no intervals, no gate.toml.
pub(super) fn passed() -> Verdict {
    Verdict {
        schema: SCHEMA.into(),
        tool: "0.1.0".into(),
        gate_id: "rag-gate".into(),
        outcome: Outcome::Pass,
        exit_code: 0,
        summary: "2 metrics hold".into(),
        reasons: vec![],
        warnings: vec![],
        metrics: vec![flat("faithfulness"), flat("context_precision")],
        worst_samples: vec![],
        failed_samples: vec![],
        base: None,
        samples: None,
        usage: None,
        policy: PolicySource {
            path: Some("gate.toml".into()),
            rule: Rule::Significant,
            confidence: 0.95,
            seed: 20_240_607,
            draws: 10_000,
        },
        provenance: Provenance::default(),
    }
}

/// A gated metric that was not measured, without gate.toml.
pub(super) fn undecided() -> Verdict {
    let mut verdict = Verdict {
        outcome: Outcome::Undecided,
        exit_code: 3,
        summary: "1 of 2 metrics was not measured".into(),
        reasons: vec![
            reason(
                Code::IncompleteRun,
                None,
                None,
                None,
                "the run was interrupted after 31 of 120 samples; run it again to finish it",
                None,
            ),
            reason(
                Code::NothingMeasured,
                Some("faithfulness"),
                None,
                None,
                "faithfulness has no score for any of 120 samples (120 × auth)",
                None,
            ),
        ],
        ..passed()
    };
    verdict.policy.path = None;
    verdict.metrics[0] = MetricRow {
        now: None,
        n: Some(0),
        failed: Some(120),
        change: None,
        status: Status::Undecided,
        ..flat("faithfulness")
    };
    verdict
}

fn flat(metric: &str) -> MetricRow {
    MetricRow {
        now: Some(0.85),
        n: None,
        failed: None,
        before: Some(0.84),
        before_n: None,
        before_failed: None,
        pairs: None,
        change: Some(0.01),
        ci: None,
        ..row(metric, None, None, Status::Pass)
    }
}

fn row(metric: &str, variant: Option<&str>, slice: Option<&str>, status: Status) -> MetricRow {
    MetricRow {
        metric: metric.into(),
        variant: variant.map(Into::into),
        slice: slice.map(Into::into),
        direction: Direction::Higher,
        aggregate: "mean".into(),
        now: Some(0.674),
        n: Some(106),
        failed: Some(1),
        not_applicable: Some(0),
        before: Some(0.932),
        before_n: Some(120),
        before_failed: Some(0),
        pairs: Some(106),
        change: Some(-0.258),
        ci: Some([-0.334, -0.182]),
        change_stderr: None,
        p_value: Some(0.0001),
        limits: Limits {
            min: Some(0.8),
            max_drop: Some(Limit::Points(0.03)),
            ..Limits::default()
        },
        severity: Severity::Block,
        status,
    }
}

pub(super) fn reason(
    code: Code,
    metric: Option<&str>,
    variant: Option<&str>,
    slice: Option<&str>,
    message: &str,
    policy_line: Option<usize>,
) -> Reason {
    Reason {
        code,
        metric: metric.map(Into::into),
        variant: variant.map(Into::into),
        slice: slice.map(Into::into),
        message: message.into(),
        pending: false,
        policy_line,
        numbers: [("now".to_owned(), 0.674)].into_iter().collect(),
    }
}

fn worst(id: &str, reason: Option<&str>) -> WorstSample {
    WorstSample {
        id: id.into(),
        variant: Some("dense".into()),
        metric: "faithfulness".into(),
        before: 1.0,
        now: 0.0,
        reason: reason.map(Into::into),
    }
}

fn failed(id: &str, kind: &str, message: Option<&str>) -> FailedSample {
    FailedSample {
        id: id.into(),
        variant: Some("dense".into()),
        metric: "latency_s".into(),
        kind: kind.into(),
        message: message.map(Into::into),
    }
}

fn blocking_reasons() -> Vec<Reason> {
    vec![
        reason(
            Code::BelowMinimum,
            Some("faithfulness"),
            Some("dense"),
            None,
            "faithfulness 0.674 below the minimum 0.80",
            Some(12),
        ),
        reason(
            Code::Regression,
            Some("faithfulness"),
            Some("dense"),
            None,
            "faithfulness fell by 0.258 [0.182, 0.334] over 106 common samples, 0.03 is allowed",
            Some(13),
        ),
        reason(
            Code::Regression,
            Some("faithfulness"),
            Some("dense"),
            Some("lang=de"),
            "faithfulness in lang=de fell by 0.310 over 24 common samples, 0.06 is allowed",
            Some(31),
        ),
        Reason {
            pending: true,
            ..reason(
                Code::AboveMaximum,
                Some("latency_s"),
                Some("dense"),
                None,
                "latency_s p95 2.310 above the maximum 2.00",
                Some(22),
            )
        },
        reason(
            Code::TooManyFailures,
            Some("latency_s"),
            Some("dense"),
            None,
            "latency_s has no score for 11 of 118 samples, 1% may be without",
            Some(6),
        ),
    ]
}

fn rows() -> Vec<MetricRow> {
    vec![
        row("faithfulness", Some("dense"), None, Status::Block),
        MetricRow {
            n: Some(24),
            failed: Some(0),
            before_n: Some(24),
            before_failed: Some(0),
            change: Some(-0.31),
            ci: Some([-0.452, -0.168]),
            limits: Limits {
                max_drop: Some(Limit::Points(0.06)),
                ..Limits::default()
            },
            ..row(
                "faithfulness",
                Some("dense"),
                Some("lang=de"),
                Status::Block,
            )
        },
        MetricRow {
            n: Some(3),
            failed: Some(0),
            before_n: Some(3),
            before_failed: Some(0),
            change: Some(-0.012),
            ci: None,
            limits: Limits {
                max_drop: Some(Limit::Points(0.06)),
                ..Limits::default()
            },
            ..row("faithfulness", Some("dense"), Some("lang=pt"), Status::Warn)
        },
        MetricRow {
            now: Some(0.811),
            n: Some(118),
            failed: Some(0),
            before: Some(0.806),
            change: Some(0.005),
            ci: Some([-0.011, 0.021]),
            ..row("context_precision", Some("bm25-v1"), None, Status::Pass)
        },
        MetricRow {
            direction: Direction::Lower,
            aggregate: "p95".into(),
            now: Some(2.31),
            n: Some(107),
            failed: Some(11),
            before: Some(1.82),
            change: Some(0.49),
            ci: Some([0.12, 0.81]),
            limits: Limits {
                max: Some(2.0),
                max_rise: Some(Limit::Percent(10.0)),
                ..Limits::default()
            },
            ..row("latency_s", Some("dense"), None, Status::Undecided)
        },
        MetricRow {
            now: Some(0.9),
            n: Some(118),
            failed: Some(0),
            before: None,
            before_n: None,
            before_failed: None,
            change: None,
            ci: None,
            limits: Limits::default(),
            severity: Severity::Off,
            ..row("answer_relevancy", None, None, Status::Off)
        },
    ]
}

fn warnings() -> Vec<Reason> {
    vec![
        reason(
            Code::SmallSlice,
            Some("faithfulness"),
            Some("dense"),
            Some("lang=pt"),
            "lang=pt has 3 samples, too few to judge",
            Some(31),
        ),
        reason(
            Code::SamplesChanged,
            None,
            None,
            None,
            "2 samples were added and 1 was removed",
            None,
        ),
    ]
}
