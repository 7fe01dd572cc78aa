//! Limits and the decimals at them.

use serde_json::json;

use super::{Full, case, judge, same};

const F: &str = "faithfulness";

#[test]
fn at_the_limit_is_inside_the_limit() {
    let drop = |limit: &str| format!("[metrics.faithfulness]\nmax_drop = {limit}");
    let flat = |score: f64| json!({"faithfulness": score});
    let full = |score: f64| Full::of(F, same(10, score));
    judge(&[
        case(
            "0.9 to 0.8, flat",
            &drop("0.1"),
            flat(0.8),
            flat(0.9),
            0,
            &[],
        ),
        case("0.9 to 0.8", &drop("0.1"), full(0.8), full(0.9), 0, &[]),
        case("0.7 to 0.6", &drop("0.1"), full(0.6), full(0.7), 0, &[]),
        case("1 to 0.9", &drop("0.1"), full(0.9), full(1.0), 0, &[]),
        case(
            "0.86 to 0.83, flat",
            &drop("0.03"),
            flat(0.83),
            flat(0.86),
            0,
            &[],
        ),
        case(
            "0.3 to 0.2, a hair over",
            &drop("0.1"),
            full(0.1999),
            full(0.3),
            1,
            &["dropped"],
        ),
        case(
            "a thousand samples",
            &drop("0.03"),
            Full::of(F, same(1000, 0.83)),
            Full::of(F, same(1000, 0.86)),
            0,
            &[],
        ),
        case(
            "a millionth over",
            &drop("0.03"),
            full(0.829_999),
            full(0.86),
            1,
            &["0.030001"],
        ),
        case(
            "less than rounding over",
            &drop("0.03"),
            full(0.829_999_999_9),
            full(0.86),
            0,
            &[],
        ),
        case(
            "no drop allowed, none made",
            &drop("0"),
            full(0.1),
            full(0.1),
            0,
            &[],
        ),
        case(
            "no drop allowed, a small one made",
            &drop("0"),
            full(0.8999),
            full(0.9),
            1,
            &[],
        ),
        case(
            "a mean that is the minimum on paper",
            "[metrics.faithfulness]\nmin = 0.8",
            Full::of(F, [0.7, 0.9, 0.7, 0.9, 0.7, 0.9, 0.7, 0.9, 0.7, 0.9]),
            full(0.8),
            0,
            &[],
        ),
        case(
            "the minimum itself, flat",
            "[metrics.faithfulness]\nmin = 0.8",
            flat(0.8),
            flat(0.8),
            0,
            &[],
        ),
        case(
            "a hair below the minimum",
            "[metrics.faithfulness]\nmin = 0.8",
            full(0.799_99),
            full(0.8),
            1,
            &["0.79999", "below the minimum 0.8"],
        )
        .forbids(&["0.800 below", "0.80 below"]),
        case(
            "negative nought is nought",
            "[metrics.faithfulness]\nmin = 0",
            r#"{"faithfulness": -0.0}"#,
            r#"{"faithfulness": 0}"#,
            0,
            &[],
        )
        .forbids(&["-0.0"]),
        case(
            "too small to hold is nought",
            &drop("0.03"),
            r#"{"faithfulness": 1e-999}"#,
            r#"{"faithfulness": 0.01}"#,
            0,
            &[],
        ),
    ]);
}

#[test]
fn lower_is_better_rises() {
    let rise = |limit: &str| format!("[metrics.latency_s]\nmax_rise = {limit}");
    let full = |seconds: f64| Full::without_range("latency_s", same(10, seconds));
    judge(&[
        case(
            "0.1 to 0.4 at 0.3",
            &rise("0.3"),
            full(0.4),
            full(0.1),
            0,
            &[],
        ),
        case(
            "0.1 to 0.4001",
            &rise("0.3"),
            full(0.4001),
            full(0.1),
            1,
            &["rose"],
        ),
        case(
            "1.1 to 1.2 at 0.1",
            &rise("0.1"),
            full(1.2),
            full(1.1),
            0,
            &[],
        ),
        case("faster", &rise("0.1"), full(0.2), full(1.1), 0, &[]),
        case("10% of 2 s", &rise("\"10%\""), full(2.2), full(2.0), 0, &[]),
        case(
            "a hair over 10%",
            &rise("\"10%\""),
            full(2.2001),
            full(2.0),
            1,
            &[],
        ),
        case(
            "at the maximum",
            "[metrics.latency_s]\nmax = 2.0",
            full(2.0),
            full(2.0),
            0,
            &[],
        ),
        case(
            "above the maximum",
            "[metrics.latency_s]\nmax = 2.0",
            full(2.0001),
            full(2.0),
            1,
            &["2.0001", "above the maximum 2"],
        )
        .forbids(&["2.000 above", "2.00 above"]),
        case(
            "hallucination is known to be lower-is-better",
            "[metrics.hallucination]\nmax_rise = 0.05",
            json!({"hallucination": 0.2}),
            json!({"hallucination": 0.1}),
            1,
            &["rose"],
        ),
        case(
            "hallucination without limits has the default one",
            "[metrics.hallucination]",
            json!({"hallucination": 0.2}),
            json!({"hallucination": 0.1}),
            1,
            &["hallucination"],
        ),
        case(
            "gate.toml overrides the direction of an unknown name",
            "[metrics.toxicity]\ndirection = \"lower\"\nmax_rise = 0.01",
            json!({"toxicity": 0.1}),
            json!({"toxicity": 0.2}),
            0,
            &[],
        ),
    ]);
}

#[test]
fn percent_is_of_the_baseline() {
    let drop = |limit: &str| format!("[metrics.faithfulness]\nmax_drop = \"{limit}\"");
    let full = |score: f64| Full::of(F, same(10, score));
    judge(&[
        case(
            "0.80 to 0.76 at 5%",
            &drop("5%"),
            full(0.76),
            full(0.80),
            0,
            &[],
        ),
        case(
            "0.80 to 0.7599 at 5%",
            &drop("5%"),
            full(0.7599),
            full(0.80),
            1,
            &[],
        ),
        case(
            "0.50 to 0.47 at 5%",
            &drop("5%"),
            full(0.47),
            full(0.50),
            1,
            &[],
        ),
        case(
            "a baseline of nought",
            &drop("5%"),
            full(0.0),
            full(0.0),
            0,
            &[],
        ),
        case("0%", &drop("0%"), full(0.5), full(0.5), 0, &[]),
        case("2.5%", &drop("2.5%"), full(0.78), full(0.80), 0, &[]),
    ]);
}

#[test]
fn aggregates_are_limited_like_means() {
    let pass = |min: &str| {
        format!(
            "[metrics.faithfulness]\naggregate = \"pass_rate\"\npass_at = 0.5\nmin = {min}\nmax_drop = 0.1"
        )
    };
    let of = |aggregate: &str, rest: &str| {
        format!("[metrics.faithfulness]\naggregate = \"{aggregate}\"\n{rest}")
    };
    let ten = |low: usize, at: f64, rest: f64| {
        Full::of(
            F,
            (0..10).map(move |index| if index < low { at } else { rest }),
        )
    };
    judge(&[
        case(
            "pass_at itself passes",
            &pass("0.9"),
            ten(1, 0.4, 0.5),
            ten(1, 0.4, 0.5),
            0,
            &["0.9"],
        ),
        case(
            "a pass rate below its minimum",
            &pass("0.9"),
            ten(2, 0.4, 0.5),
            ten(2, 0.4, 0.5),
            1,
            &["0.8"],
        ),
        case(
            "a pass rate at its allowed drop",
            &pass("0.1"),
            ten(3, 0.1, 0.5),
            ten(2, 0.1, 0.5),
            0,
            &[],
        ),
        case(
            "a pass rate that fell by more",
            &pass("0.1"),
            ten(4, 0.1, 0.5),
            ten(2, 0.1, 0.5),
            1,
            &["pass_rate"],
        ),
        case(
            "a pass rate of lower-is-better counts what is at or below",
            "[metrics.latency_s]\naggregate = \"pass_rate\"\npass_at = 2.0\nmin = 0.9\nmax_drop = 1",
            Full::without_range(
                "latency_s",
                [2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0],
            ),
            Full::without_range("latency_s", same(10, 1.0)),
            0,
            &[],
        ),
        case(
            "the worst sample",
            &of("min", "min = 0.3"),
            ten(1, 0.2, 0.9),
            ten(1, 0.2, 0.9),
            1,
            &["0.2"],
        ),
        case(
            "the median is deaf to a few",
            &of("median", "max_drop = 0.03"),
            ten(4, 0.0, 0.9),
            ten(0, 0.0, 0.9),
            0,
            &[],
        ),
        case(
            "the median hears most",
            &of("median", "max_drop = 0.03"),
            ten(6, 0.0, 0.9),
            ten(0, 0.0, 0.9),
            1,
            &[],
        ),
        case(
            "p10 is interpolated",
            &of("p10", "min = 0.09\nmax_drop = 1"),
            Full::of(F, (0..11).map(|i| f64::from(i) / 10.0)),
            Full::of(F, same(11, 0.5)),
            0,
            &["0.1"],
        ),
        case(
            "p10 of a baseline without samples",
            &of("p10", "min = 0.5"),
            ten(0, 0.0, 0.9),
            json!({"faithfulness": 0.9}),
            3,
            &["faithfulness", "baseline"],
        ),
    ]);
}

#[test]
fn other_scales_are_not_taken_for_shares() {
    judge(&[
        case(
            "a hundred-point scale",
            "[metrics.faithfulness]",
            json!({"faithfulness": 85}),
            json!({"faithfulness": 0.86}),
            3,
            &["results.json", "85"],
        ),
        case(
            "a hundred-point baseline",
            "[metrics.faithfulness]",
            json!({"faithfulness": 0.85}),
            json!({"faithfulness": 86}),
            3,
            &["baseline.json", "86"],
        ),
        case(
            "a score of -0.1",
            "[metrics.faithfulness]",
            Full::of("faithfulness", [0.9, -0.1]),
            Full::of("faithfulness", [0.9, 0.9]),
            3,
            &["q001", "-0.1"],
        ),
        case(
            "an unknown metric without a limit",
            "[metrics.stars]",
            json!({"stars": 3.1}),
            json!({"stars": 4.9}),
            2,
            &["stars", "gates nothing"],
        ),
        case(
            "an unknown metric without a limit beside one that has one",
            "[metrics.faithfulness]\n[metrics.stars]",
            json!({"stars": 3.1, "faithfulness": 0.9}),
            json!({"stars": 4.9, "faithfulness": 0.9}),
            0,
            &["stars", "not gated"],
        ),
        case(
            "an unknown metric with a limit",
            "[metrics.stars]\nmax_drop = 1",
            json!({"stars": 3.1}),
            json!({"stars": 4.9}),
            1,
            &["stars", "higher"],
        ),
        case(
            "a scale that gate.toml gives",
            "[metrics.stars]\nrange = [0, 5]\nmax_drop = 1",
            json!({"stars": 5.1}),
            json!({"stars": 4.9}),
            3,
            &["5.1"],
        ),
        case(
            "very large scores",
            "[metrics.tokens]\nmax_rise = \"10%\"",
            json!({"tokens": 1e15}),
            json!({"tokens": 1e15}),
            0,
            &[],
        ),
        case(
            "sums that overflow",
            "[metrics.tokens]\nmax = 2e308\nmax_rise = 1",
            Full::without_range("tokens", same(10, 1.7e308)),
            Full::without_range("tokens", same(10, 1.7e308)),
            2,
            &[],
        ),
    ]);
}
