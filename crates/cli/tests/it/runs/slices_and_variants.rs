//! Parts of the samples that are judged on their own, and severities.

use serde_json::{Value, json};

use super::{Full, case, judge, same};

const F: &str = "faithfulness";

/// A hundred samples, ten of them German.
fn languages(german: f64, english: f64) -> Full {
    Full::of(
        F,
        (0..100).map(move |index| if index < 10 { german } else { english }),
    )
    .each(|index, sample| sample["tags"] = json!({"lang": if index < 10 { "de" } else { "en" }}))
}

#[test]
fn slices_have_their_own_limits_and_no_others() {
    let before = || languages(0.9, 0.9);
    let policy =
        |slice: &str| format!("[metrics.faithfulness]\n[[slices]]\ntag = \"lang\"\n{slice}");
    let small = |full: Full| {
        full.each(|index, sample| {
            sample["tags"] = json!({"lang": if index < 4 { "de" } else { "en" }})
        })
    };
    let lists = |german: f64| {
        languages(german, 0.9).each(|index, sample| sample["tags"] = json!({"topic": if index < 10 { json!(["billing", "refunds"]) } else { json!(["billing"]) }}))
    };
    judge(&[
        case(
            "a slice that fell",
            &policy("max_drop = 0.06"),
            languages(0.7, 0.91),
            before(),
            1,
            &["lang=de"],
        ),
        case(
            "a slice at its limit",
            &policy("max_drop = 0.06"),
            languages(0.84, 0.9),
            before(),
            0,
            &[],
        ),
        case(
            "a slice below its minimum",
            &policy("min = 0.8"),
            languages(0.7, 0.95),
            languages(0.7, 0.9),
            1,
            &["lang=de", "below the minimum"],
        ),
        case(
            "a slice that fell, of another value",
            &policy("values = [\"en\"]\nmax_drop = 0.06"),
            languages(0.7, 0.91),
            before(),
            0,
            &[],
        )
        .forbids(&["lang=de"]),
        case(
            "a slice that fell, of this value",
            &policy("values = [\"de\"]\nmax_drop = 0.06"),
            languages(0.7, 0.91),
            before(),
            1,
            &["lang=de"],
        ),
        case(
            "a slice of another metric",
            "[metrics.faithfulness]\n[metrics.context_recall]\n[[slices]]\ntag = \"lang\"\nmetrics = [\"context_recall\"]\nmax_drop = 0.06",
            languages(0.7, 0.91).each(|_, sample| sample["scores"]["context_recall"] = json!(0.9)),
            before().each(|_, sample| sample["scores"]["context_recall"] = json!(0.9)),
            0,
            &[],
        ),
        case(
            "the metric's own minimum is not the slice's",
            "[metrics.faithfulness]\nmin = 0.8\n[[slices]]\ntag = \"lang\"\nmax_drop = 0.06",
            languages(0.5, 0.9),
            languages(0.5, 0.9),
            0,
            &[],
        ),
        case(
            "a slice of four",
            &policy("max_drop = 0.06"),
            small(languages(0.8, 0.9)),
            small(before()),
            0,
            &["lang=de", "4"],
        ),
        case(
            "a slice of four, and four are enough",
            &policy("max_drop = 0.06\nmin_samples = 4"),
            small(languages(0.8, 0.9)),
            small(before()),
            1,
            &["lang=de"],
        ),
        case(
            "a slice that only warns",
            &policy("max_drop = 0.06\nseverity = \"warn\""),
            languages(0.7, 0.91),
            before(),
            0,
            &["lang=de"],
        ),
        case(
            "a sample is in each of its tags",
            "[metrics.faithfulness]\n[[slices]]\ntag = \"topic\"\nmax_drop = 0.06",
            lists(0.7),
            lists(0.9),
            1,
            &["topic=refunds"],
        ),
        case(
            "the larger tag is fine",
            "[metrics.faithfulness]\n[[slices]]\ntag = \"topic\"\nvalues = [\"billing\"]\nmax_drop = 0.06",
            lists(0.7),
            lists(0.9),
            0,
            &["topic=billing"],
        ),
        case(
            "tags of numbers and booleans",
            "[metrics.faithfulness]\n[[slices]]\ntag = \"hops\"\nmax_drop = 0.06",
            languages(0.7, 0.91).each(|index, sample| {
                sample["tags"] = json!({"hops": if index < 10 { json!(2) } else { json!(true) }})
            }),
            before().each(|index, sample| {
                sample["tags"] = json!({"hops": if index < 10 { json!(2) } else { json!(true) }})
            }),
            1,
            &["hops=2"],
        ),
        case(
            "a rise of what should rise",
            &policy("max_rise = 0.1"),
            before(),
            before(),
            2,
            &["max_rise"],
        ),
        case(
            "a slice without a limit",
            &policy(""),
            before(),
            before(),
            2,
            &["slices"],
        ),
    ]);
}

#[test]
fn every_variant_is_gated_against_itself() {
    let variants = |bm25: f64, dense: Option<f64>| {
        let of = |name: &str, score: f64| {
            Full::of(F, same(10, score)).each(|_, sample| sample["variant"] = json!(name))
        };
        match dense {
            Some(dense) => of("bm25", bm25).and(of("dense", dense)),
            None => of("bm25", bm25),
        }
    };
    let listed = "[[variants]]\nname = \"bm25\"\n[[variants]]\nname = \"dense\"\n[metrics.faithfulness]\nmin = 0.5";
    judge(&[
        case(
            "one rises, the other falls",
            "[metrics.faithfulness]",
            variants(1.0, Some(0.8)),
            variants(0.9, Some(0.9)),
            1,
            &["dense"],
        ),
        case(
            "a new variant",
            "[metrics.faithfulness]",
            variants(0.9, Some(0.2)),
            variants(0.9, None),
            0,
            &["dense", "not gated"],
        ),
        case(
            "a new variant below the minimum",
            "[metrics.faithfulness]\nmin = 0.5",
            variants(0.9, Some(0.2)),
            variants(0.9, None),
            1,
            &["dense"],
        ),
        case(
            "a listed variant that is missing",
            listed,
            variants(0.9, None),
            variants(0.9, Some(0.9)),
            3,
            &["dense"],
        ),
        case(
            "a listed variant that is missing beside a block",
            listed,
            variants(0.1, None),
            variants(0.9, Some(0.9)),
            1,
            &["dense", "bm25"],
        ),
        case(
            "summaries of variants",
            "[metrics.faithfulness]",
            json!({"variants": {"a": {"metrics": {F: {"mean": 0.9, "n": 10}}}, "b": {"metrics": {F: {"mean": 0.7, "n": 10}}}}}),
            json!({"variants": {"a": {"metrics": {F: {"mean": 0.9, "n": 10}}}, "b": {"metrics": {F: {"mean": 0.9, "n": 10}}}}}),
            1,
            &["dropped", "b"],
        ),
    ]);
}

#[test]
fn severities_and_patterns() {
    let two = |recall: f64, mrr: f64| -> Value {
        json!({"retrieval.recall": recall, "retrieval.mrr": mrr, "faithfulness": 0.9})
    };
    let limits = "range = [0, 1]\n";
    judge(&[
        case(
            "off shows without judging",
            "[metrics.faithfulness]\nseverity = \"off\"\nmin = 0.99\n[metrics.\"retrieval.recall\"]\nmax_drop = 0.03",
            two(0.9, 0.9),
            two(0.9, 0.9),
            0,
            &["faithfulness", "off"],
        ),
        case(
            "a pattern that warns",
            &format!(
                "[metrics.faithfulness]\n[metrics.\"retrieval.*\"]\nseverity = \"warn\"\n{limits}"
            ),
            two(0.5, 0.9),
            two(0.9, 0.9),
            0,
            &["retrieval.recall", "dropped"],
        ),
        case(
            "the most specific name wins",
            &format!(
                "[metrics.\"retrieval.recall\"]\n{limits}\n[metrics.\"retrieval.*\"]\nseverity = \"warn\"\n{limits}"
            ),
            two(0.5, 0.5),
            two(0.9, 0.9),
            1,
            &["retrieval.recall", "retrieval.mrr"],
        ),
        case(
            "the most specific pattern wins",
            &format!("[metrics.\"*\"]\nseverity = \"off\"\n[metrics.\"retrieval.*\"]\n{limits}"),
            two(0.5, 0.9),
            two(0.9, 0.9),
            1,
            &["retrieval.recall"],
        ),
        case(
            "a pattern that matches nothing",
            "[metrics.faithfulness]\n[metrics.\"retreival.*\"]\nmin = 0.5",
            two(0.9, 0.9),
            two(0.9, 0.9),
            2,
            &["retreival.*"],
        ),
        case(
            "everything off gates nothing",
            "[metrics.faithfulness]\nseverity = \"off\"",
            two(0.9, 0.9),
            two(0.9, 0.9),
            2,
            &["gates nothing"],
        ),
        case(
            "an empty table gates nothing",
            "[metrics]",
            two(0.9, 0.9),
            two(0.9, 0.9),
            2,
            &["gates nothing"],
        ),
        case(
            "a warning is shown",
            "[metrics.faithfulness]\nseverity = \"warn\"\nmin = 0.99",
            two(0.9, 0.9),
            two(0.9, 0.9),
            0,
            &["below the minimum"],
        ),
        case(
            "too many failures of a warned metric",
            "[metrics.faithfulness]\nseverity = \"warn\"",
            Full::of(F, same(10, 0.9)).failing(F, 5),
            Full::of(F, same(10, 0.9)),
            0,
            &["5/10"],
        ),
    ]);
}
