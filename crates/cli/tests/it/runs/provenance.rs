//! What makes two sides comparable.

use serde_json::{Value, json};

use super::{Full, case, judge, same};

const F: &str = "faithfulness";
const GATED: &str = "[metrics.faithfulness]";

/// Ten samples in which faithfulness fell by 0.06.
fn fell() -> Full {
    Full::of(F, same(10, 0.84))
}

fn before() -> Full {
    Full::of(F, same(10, 0.9))
}

#[test]
fn another_judge_or_prompt_makes_another_metric() {
    let judge_of = |value: Value| before().set("/run/judge", value);
    let mut cases = Vec::new();
    let changes: [(&str, &str, Value, &[&str]); 7] = [
        (
            "model",
            "/run/judge/model",
            json!("judge-b"),
            &["judge-a", "judge-b"],
        ),
        (
            "provider",
            "/run/judge/provider",
            json!("ollama"),
            &["openai", "ollama"],
        ),
        (
            "prompt",
            "/run/metrics/faithfulness/prompt_sha256",
            json!("ff"),
            &["prompt"],
        ),
        (
            "version",
            "/run/metrics/faithfulness/version",
            json!("2"),
            &["version"],
        ),
        (
            "range",
            "/run/metrics/faithfulness/range",
            json!([0, 100]),
            &["range"],
        ),
        (
            "direction",
            "/run/metrics/faithfulness/direction",
            json!("lower"),
            &["direction"],
        ),
        (
            "parameters",
            "/run/judge/params",
            json!({"temperature": 1}),
            &["temperature"],
        ),
    ];
    for (name, pointer, value, mention) in changes {
        let baseline = before()
            .set("/run/metrics/faithfulness/prompt_sha256", json!("ee"))
            .set("/run/judge/params", json!({"temperature": 0}));
        let results = fell()
            .set("/run/metrics/faithfulness/prompt_sha256", json!("ee"))
            .set("/run/judge/params", json!({"temperature": 0}))
            .set(pointer, value);
        cases.push(case(name, GATED, results, baseline, 3, mention).forbids(&["dropped by"]));
    }
    cases.push(case(
        "reported model",
        GATED,
        fell().set("/run/judge/reported_model", json!("judge-a-0901")),
        before().set("/run/judge/reported_model", json!("judge-a-0613")),
        3,
        &["judge-a-0901", "judge-a-0613"],
    ));
    cases.push(case(
        "the same parameters in another order",
        GATED,
        before().set("/run/judge/params", json!({"top_p": 1, "temperature": 0})),
        judge_of(json!({"provider": "openai", "model": "judge-a", "params": {"temperature": 0, "top_p": 1}})),
        0,
        &[],
    ));
    judge(&cases);
}

#[test]
fn a_judge_that_moved_makes_no_regression() {
    let moved = |moved: Value| {
        json!({"pinned_at": "2026-01-01T00:00:00Z", "metrics": {
            "faithfulness": {"moved": moved, "n": 10, "changed": 9, "change": -0.12, "ci": [-0.15, -0.09]},
        }})
    };
    let drifted = |is: Value| fell().set("/run/judge/drift", moved(is));
    let accepted = |at: &str| before().set("/accepted/at", json!(at));
    judge(&[
        case(
            "moved",
            GATED,
            drifted(json!(true)),
            before(),
            3,
            &[
                "the judge itself moved by -0.120 on 10 pinned",
                "judge's and not",
            ],
        )
        .forbids(&["dropped by", "rag-gate judge pin"]),
        case(
            "moved, and pinned before the baseline was accepted",
            GATED,
            drifted(json!(true)),
            accepted("2026-02-01T00:00:00Z"),
            3,
            &["itself moved", "rag-gate judge pin"],
        ),
        case(
            "moved, and pinned with the baseline",
            GATED,
            drifted(json!(true)),
            accepted("2025-12-31T23:59:59Z"),
            3,
            &["itself moved"],
        )
        .forbids(&["rag-gate judge pin"]),
        case(
            "moved, held to absolute limits alone",
            "[gate]\non_incomparable = \"absolute\"\n[metrics.faithfulness]\nmin = 0.8",
            drifted(json!(true)),
            before(),
            0,
            &["itself moved", "absolute limits alone"],
        ),
        case(
            "moved, below an absolute limit",
            "[metrics.faithfulness]\nmin = 0.85",
            drifted(json!(true)),
            before(),
            1,
            &["below the minimum"],
        ),
        case(
            "not moved",
            GATED,
            drifted(json!(false)),
            before(),
            1,
            &["dropped by"],
        ),
        case(
            "nobody can tell",
            GATED,
            drifted(json!(null)),
            before(),
            1,
            &["dropped by"],
        ),
        case(
            "the baseline's own record is history",
            GATED,
            fell(),
            before().set("/run/judge/drift", moved(json!(true))),
            1,
            &["dropped by"],
        ),
    ]);
}

#[test]
fn a_formula_does_not_care_who_judges() {
    let of = |metric: &str, judge: &str, score: f64| {
        Full::without_range(metric, same(10, score)).set("/run/judge/model", json!(judge))
    };
    judge(&[
        case(
            "a formula, the same",
            "[metrics.exact_match]",
            of("exact_match", "b", 0.9),
            of("exact_match", "a", 0.9),
            0,
            &[],
        ),
        case(
            "a formula that fell",
            "[metrics.exact_match]",
            of("exact_match", "b", 0.8),
            of("exact_match", "a", 0.9),
            1,
            &["dropped"],
        ),
        case(
            "seconds",
            "[metrics.latency_s]\nmax_rise = 0.1",
            of("latency_s", "b", 1.0),
            of("latency_s", "a", 1.0),
            0,
            &[],
        ),
    ]);
}

#[test]
fn what_is_unknown_on_one_side_is_comparable_with_a_warning() {
    judge(&[
        case(
            "no judge in the baseline",
            GATED,
            before(),
            before().without("/run/judge"),
            0,
            &["judge"],
        ),
        case(
            "no judge in the baseline, and it fell",
            GATED,
            fell(),
            before().without("/run/judge"),
            1,
            &["judge", "dropped"],
        ),
        case(
            "no version in the baseline",
            GATED,
            before(),
            before().without("/run/metrics"),
            0,
            &["version"],
        ),
        case(
            "no prompt in the baseline",
            GATED,
            before().set("/run/metrics/faithfulness/prompt_sha256", json!("ee")),
            before(),
            0,
            &["prompt"],
        ),
        case(
            "a flat baseline",
            GATED,
            fell(),
            json!({F: 0.9}),
            1,
            &["dropped"],
        ),
        case(
            "no provenance at all",
            GATED,
            before().without("/run"),
            before().without("/run"),
            0,
            &[],
        ),
    ]);
}

#[test]
fn absolute_limits_stay_where_nothing_is_comparable() {
    let other = |full: Full| full.set("/run/judge/model", json!("judge-b"));
    let absolute = "[gate]\non_incomparable = \"absolute\"\n[metrics.faithfulness]\nmin = 0.8";
    let low = || Full::of(F, same(10, 0.7));
    judge(&[
        case(
            "below the minimum under another judge",
            "[metrics.faithfulness]\nmin = 0.8",
            other(low()),
            before(),
            1,
            &["below the minimum", "judge-b"],
        )
        .forbids(&["dropped by"]),
        case(
            "above the minimum under another judge",
            "[metrics.faithfulness]\nmin = 0.8",
            other(fell()),
            before(),
            3,
            &["judge-b"],
        ),
        case(
            "absolute: above the minimum",
            absolute,
            other(fell()),
            before(),
            0,
            &["judge-b"],
        ),
        case(
            "absolute: below the minimum",
            absolute,
            other(low()),
            before(),
            1,
            &["judge-b", "below the minimum"],
        ),
        case(
            "only warned of",
            "[metrics.faithfulness]\nseverity = \"warn\"",
            other(fell()),
            before(),
            0,
            &["judge-b"],
        ),
    ]);
}

#[test]
fn a_metric_is_gated_although_another_is_incomparable() {
    let two = |score: f64, prompt: &str| {
        Full::of(F, same(10, 0.9))
            .each(|_, sample| sample["scores"]["answer_relevancy"] = json!(score))
            .set("/run/metrics/faithfulness/prompt_sha256", json!(prompt))
    };
    judge(&[case(
        "one incomparable, one fell",
        "[metrics.faithfulness]\n[metrics.answer_relevancy]",
        two(0.5, "bb"),
        two(0.9, "aa"),
        1,
        &["prompt", "answer_relevancy", "dropped"],
    )]);
}

#[test]
fn metrics_come_and_go() {
    let two = || before().each(|_, sample| sample["scores"]["context_recall"] = json!(0.9));
    judge(&[
        case(
            "gone and not in the policy",
            GATED,
            before(),
            two(),
            0,
            &["context_recall", "gone"],
        ),
        case(
            "gone and in the policy",
            "[metrics.faithfulness]\n[metrics.context_recall]",
            before(),
            two(),
            3,
            &["context_recall"],
        ),
        case(
            "gone and in the policy as a warning",
            "[metrics.faithfulness]\n[metrics.context_recall]\nseverity = \"warn\"",
            before(),
            two(),
            0,
            &["context_recall"],
        ),
        case(
            "gone without a table of metrics",
            "",
            before(),
            two(),
            3,
            &["context_recall"],
        ),
        case(
            "new without a table of metrics",
            "",
            two(),
            before(),
            0,
            &["context_recall", "not gated"],
        ),
        case(
            "new and below its minimum",
            "[metrics.faithfulness]\n[metrics.context_recall]\nmin = 0.95",
            two(),
            before(),
            1,
            &["context_recall"],
        ),
        case(
            "known, and in neither",
            "[metrics.faithfulness]\n[metrics.answer_relevancy]",
            before(),
            before(),
            3,
            &["answer_relevancy"],
        ),
        case(
            "unknown, and in neither",
            "[metrics.faithfulness]\n[metrics.faithfulnes]",
            before(),
            before(),
            2,
            &["faithfulnes", "did you mean", "faithfulness"],
        ),
        case(
            "missing, and its old mean was below the minimum",
            "[metrics.context_recall]\nmin = 0.95",
            before(),
            two(),
            3,
            &["context_recall"],
        )
        .forbids(&["below the minimum"]),
    ]);
}
