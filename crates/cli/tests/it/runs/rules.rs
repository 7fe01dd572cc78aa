//! The rules: point, significant, noninferior.

use serde_json::json;

use super::{Full, case, judge, same};

const F: &str = "faithfulness";
const SIGNIFICANT: &str = "[gate]\nrule = \"significant\"\n[metrics.faithfulness]";
const NONINFERIOR: &str = "[gate]\nrule = \"noninferior\"\n[metrics.faithfulness]";

/// Scores that alternate around 0.7.
fn noisy(count: u32, shift: f64, spread: f64) -> Full {
    Full::of(
        F,
        (0..count).map(move |index| 0.7 + shift + if index % 2 == 0 { spread } else { -spread }),
    )
}

fn clustered(full: Full, clusters: usize) -> Full {
    full.each(|index, sample| sample["cluster"] = json!(format!("doc-{}", index % clusters)))
}

#[test]
fn point_blocks_and_says_what_could_be_noise() {
    judge(&[
        case(
            "noise",
            "[metrics.faithfulness]",
            noisy(20, -0.05, 0.2),
            Full::of(F, same(20, 0.7)),
            1,
            &["noise", "significant"],
        ),
        case(
            "no noise",
            "[metrics.faithfulness]",
            Full::of(F, same(20, 0.5)),
            Full::of(F, same(20, 0.7)),
            1,
            &["dropped"],
        )
        .forbids(&["noise"]),
        case(
            "one sample",
            "[metrics.faithfulness]",
            Full::of(F, [0.5]),
            Full::of(F, [0.7]),
            1,
            &["dropped"],
        ),
        case(
            "flat files have no interval",
            "[metrics.faithfulness]",
            json!({F: 0.5}),
            json!({F: 0.7}),
            1,
            &["dropped"],
        ),
    ]);
}

#[test]
fn significant_blocks_what_is_no_noise() {
    judge(&[
        case(
            "noise",
            SIGNIFICANT,
            noisy(20, -0.05, 0.25),
            Full::of(F, same(20, 0.7)),
            0,
            &["noise", "samples would decide"],
        ),
        case(
            "a loss beyond noise",
            SIGNIFICANT,
            noisy(200, -0.05, 0.1),
            Full::of(F, same(200, 0.7)),
            1,
            &["dropped"],
        ),
        case(
            "beyond noise and within the limit",
            SIGNIFICANT,
            noisy(200, -0.02, 0.01),
            Full::of(F, same(200, 0.7)),
            0,
            &[],
        ),
        case(
            "flat files fall back on the point rule",
            SIGNIFICANT,
            json!({F: 0.5}),
            json!({F: 0.7}),
            1,
            &["point"],
        ),
        case(
            "three clusters that collapsed",
            SIGNIFICANT,
            clustered(noisy(30, -0.5, 0.02), 3),
            clustered(Full::of(F, same(30, 0.7)), 3),
            1,
            &["dropped"],
        ),
        case(
            "one cluster that collapsed",
            SIGNIFICANT,
            clustered(noisy(30, -0.5, 0.02), 1),
            clustered(Full::of(F, same(30, 0.7)), 1),
            1,
            &["dropped"],
        ),
        case(
            "one sample that collapsed",
            SIGNIFICANT,
            Full::of(F, [0.1]),
            Full::of(F, [0.7]),
            1,
            &["dropped"],
        ),
        case(
            "two samples that disagree",
            SIGNIFICANT,
            Full::of(F, [0.1, 0.75]),
            Full::of(F, [0.7, 0.7]),
            0,
            &["noise"],
        ),
        case(
            "few of many samples differ",
            SIGNIFICANT,
            Full::of(F, (0..40).map(|index| if index < 3 { 0.0 } else { 0.7 })),
            Full::of(F, same(40, 0.7)),
            0,
            &["noise"],
        ),
        case(
            "the median is tested too",
            "[gate]\nrule = \"significant\"\n[metrics.faithfulness]\naggregate = \"median\"",
            noisy(60, -0.3, 0.02),
            Full::of(F, same(60, 0.7)),
            1,
            &["median"],
        ),
        case(
            "the minimum of a metric needs no test",
            "[gate]\nrule = \"significant\"\n[metrics.faithfulness]\nmin = 0.8",
            noisy(20, 0.0, 0.25),
            noisy(20, 0.0, 0.25),
            1,
            &["below the minimum"],
        ),
    ]);
}

#[test]
fn one_real_loss_among_ten_metrics_is_caught() {
    let ten = |lost: f64| {
        Full::without_range("m0", same(100, 0.7)).each(|index, sample| {
            for metric in 0..10_usize {
                let wave = if (index + metric) % 2 == 0 { 0.1 } else { -0.1 };
                let loss = if metric == 4 { lost } else { 0.0 };
                sample["scores"][format!("m{metric}")] =
                    json!(0.7 + (wave - loss) * f64::from(u8::from(lost > 0.0)));
            }
        })
    };
    let metrics: String = (0..10)
        .map(|metric| format!("[metrics.m{metric}]\nrange = [0, 1]\n"))
        .collect();
    judge(&[case(
        "one lost",
        &format!("[gate]\nrule = \"significant\"\n{metrics}"),
        ten(0.1),
        ten(0.0),
        1,
        &["m4 dropped"],
    )
    .forbids(&["m5 dropped"])]);
}

#[test]
fn noninferior_wants_to_be_shown() {
    judge(&[
        case(
            "identical",
            NONINFERIOR,
            noisy(100, 0.0, 0.1),
            noisy(100, 0.0, 0.1),
            0,
            &[],
        ),
        case(
            "within, with little noise",
            NONINFERIOR,
            noisy(100, -0.01, 0.02),
            Full::of(F, same(100, 0.7)),
            0,
            &[],
        ),
        case(
            "within, with much noise",
            NONINFERIOR,
            noisy(10, -0.01, 0.25),
            Full::of(F, same(10, 0.7)),
            1,
            &[],
        ),
        case(
            "one cluster",
            NONINFERIOR,
            clustered(noisy(30, 0.0, 0.02), 1),
            clustered(Full::of(F, same(30, 0.7)), 1),
            3,
            &[],
        ),
        case(
            "one sample",
            NONINFERIOR,
            Full::of(F, [0.7]),
            Full::of(F, [0.7]),
            3,
            &[],
        ),
        case(
            "better",
            NONINFERIOR,
            noisy(100, 0.1, 0.02),
            Full::of(F, same(100, 0.7)),
            0,
            &[],
        ),
        case(
            "worse",
            NONINFERIOR,
            noisy(100, -0.1, 0.02),
            Full::of(F, same(100, 0.7)),
            1,
            &["0.1"],
        ),
        case(
            "a flat baseline",
            NONINFERIOR,
            noisy(100, 0.1, 0.02),
            json!({F: 0.7}),
            3,
            &[],
        ),
    ]);
}
