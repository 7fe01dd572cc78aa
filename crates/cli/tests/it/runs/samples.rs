//! Which samples count: failures, repeats, overlap, subsets, rewritten questions.

use serde_json::{Value, json};

use super::{Case, Full, case, judge, put, same};

const F: &str = "faithfulness";
const MIN: &str = "[metrics.faithfulness]\nmin = 0.8";

fn full(count: usize, score: f64) -> Full {
    Full::of(F, same(count, score))
}

#[test]
fn what_has_no_score_is_counted_and_never_averaged() {
    let drop_key = |full: Full| {
        full.each(|index, sample| {
            if index == 3 {
                sample["scores"] = json!({});
            }
        })
    };
    let inapplicable = |full: Full, count: usize| {
        full.each(|index, sample| {
            if index < count {
                sample["scores"] = json!({F: null});
                sample["not_applicable"] = json!({F: "no reference"});
            }
        })
    };
    let five = "[gate]\nmax_failed = 0.05\n[metrics.faithfulness]\nmin = 0.8";
    judge(&[
        case(
            "a missing key is a failure",
            MIN,
            drop_key(full(10, 0.9)),
            full(10, 0.9),
            3,
            &["9/10", "q003"],
        ),
        case(
            "five of a hundred at 5 %",
            five,
            full(100, 0.9).failing(F, 5),
            full(100, 0.9),
            0,
            &["95/100"],
        ),
        case(
            "six of a hundred at 5 %",
            five,
            full(100, 0.9).failing(F, 6),
            full(100, 0.9),
            3,
            &["94/100"],
        ),
        case(
            "one of a hundred at the default",
            MIN,
            full(100, 0.9).failing(F, 1),
            full(100, 0.9),
            0,
            &["99/100"],
        ),
        case(
            "two of a hundred at the default",
            MIN,
            full(100, 0.9).failing(F, 2),
            full(100, 0.9),
            3,
            &["98/100"],
        ),
        case(
            "all failed",
            MIN,
            full(10, 0.9).failing(F, 10),
            full(10, 0.9),
            3,
            &["faithfulness"],
        ),
        case(
            "all not applicable",
            MIN,
            inapplicable(full(10, 0.9), 10),
            full(10, 0.9),
            3,
            &["faithfulness"],
        ),
        case(
            "what is not applicable is no denominator",
            MIN,
            inapplicable(full(10, 0.9), 5),
            full(10, 0.9),
            0,
            &["5/5"],
        ),
        case(
            "one failed of the applicable",
            MIN,
            inapplicable(full(40, 0.9), 10).each(|index, sample| {
                if index == 20 {
                    sample["scores"] = json!({F: null});
                }
            }),
            full(40, 0.9),
            3,
            &["29/30", "q020"],
        ),
        case(
            "no samples",
            MIN,
            full(0, 0.9),
            full(10, 0.9),
            3,
            &["faithfulness"],
        ),
        case(
            "a baseline without samples",
            "[metrics.faithfulness]",
            full(10, 0.9),
            full(0, 0.9),
            3,
            &[],
        ),
        case(
            "a baseline that failed",
            "[metrics.faithfulness]",
            full(10, 0.9),
            full(10, 0.9).failing(F, 10),
            3,
            &[],
        ),
        case(
            "a failure in the baseline pairs with nothing",
            "[metrics.faithfulness]",
            full(100, 0.9),
            full(100, 0.9).failing(F, 1),
            0,
            &[],
        ),
    ]);
}

#[test]
fn a_block_among_failures_counts_when_nothing_could_save_it() {
    let drop = "[metrics.faithfulness]\nmax_drop = 0.03";
    judge(&[
        case(
            "far below the minimum",
            MIN,
            full(100, 0.1).failing(F, 20),
            full(100, 0.1),
            1,
            &["80/100", "below the minimum"],
        ),
        case(
            "below, unless the failed were perfect",
            MIN,
            full(100, 0.78).failing(F, 20),
            full(100, 0.78),
            3,
            &["80/100", "pending"],
        ),
        case(
            "a certain regression",
            drop,
            full(100, 0.5).failing(F, 20),
            full(100, 0.9),
            1,
            &["dropped"],
        ),
        case(
            "a pending regression",
            drop,
            full(100, 0.86).failing(F, 10),
            full(100, 0.9),
            3,
            &["pending"],
        ),
        case(
            "an unbounded metric has a best value that nobody knows",
            "[metrics.reward]\nmin = 2",
            Full::without_range("reward", same(100, 1.0)).failing("reward", 50),
            Full::without_range("reward", same(100, 1.0)),
            3,
            &["50/100"],
        ),
        case(
            "too few, yet all of them are there",
            "[metrics.faithfulness]\nmin = 0.8\nmin_samples = 20",
            full(10, 0.2),
            full(10, 0.9),
            1,
            &["below the minimum"],
        ),
        case(
            "too few and fine",
            "[metrics.faithfulness]\nmin_samples = 20",
            full(10, 0.9),
            full(10, 0.9),
            3,
            &["20"],
        ),
        case(
            "just enough",
            "[metrics.faithfulness]\nmin_samples = 10",
            full(10, 0.9),
            full(10, 0.9),
            0,
            &[],
        ),
        case(
            "interrupted half way, and hopeless",
            MIN,
            full(40, 0.1)
                .only(|index| index < 20)
                .set("/run/complete", json!(false)),
            full(40, 0.1),
            1,
            &["incomplete"],
        ),
        case(
            "interrupted half way, and saveable",
            MIN,
            full(40, 0.7)
                .only(|index| index < 20)
                .set("/run/complete", json!(false)),
            full(40, 0.7),
            3,
            &["incomplete", "pending"],
        ),
        case(
            "interrupted and fine",
            MIN,
            full(40, 0.9)
                .only(|index| index < 30)
                .set("/run/complete", json!(false)),
            full(40, 0.9),
            3,
            &["incomplete"],
        ),
    ]);
}

#[test]
fn repeats_of_a_sample_are_one_sample() {
    let repeats = |scores: &[(&str, u32, Value)]| {
        let mut full = full(0, 0.0);
        for (id, repeat, score) in scores {
            full.samples()
                .push(json!({"id": id, "repeat": repeat, "scores": {F: score}}));
        }
        full
    };
    let b = |score: f64| repeats(&[("a", 0, json!(score)), ("b", 0, json!(score))]);
    judge(&[
        case(
            "a sample with many repeats weighs no more",
            "[metrics.faithfulness]\nmin = 0.5",
            repeats(&[
                ("a", 0, json!(0)),
                ("a", 1, json!(0)),
                ("a", 2, json!(0)),
                ("b", 0, json!(1)),
            ]),
            b(0.5),
            0,
            &["0.5", "2/2"],
        ),
        case(
            "failed only when every repeat is",
            "[metrics.faithfulness]\nmin = 0.8",
            repeats(&[
                ("a", 0, json!(null)),
                ("a", 1, json!(0.9)),
                ("b", 0, json!(0.9)),
            ]),
            b(0.9),
            0,
            &["2/2"],
        ),
        case(
            "failed when every repeat is",
            "[metrics.faithfulness]\nmin = 0.8",
            repeats(&[
                ("a", 0, json!(null)),
                ("a", 1, json!(null)),
                ("b", 0, json!(0.9)),
            ]),
            b(0.9),
            3,
            &["1/2"],
        ),
        case(
            "the same repeat twice",
            "[metrics.faithfulness]",
            repeats(&[("a", 1, json!(0.9)), ("a", 1, json!(0.9))]),
            b(0.9),
            3,
            &["`a`", "repeat"],
        ),
        case(
            "the same id twice with other scores",
            "[metrics.faithfulness]",
            repeats(&[("a", 0, json!(0.9)), ("a", 0, json!(0.1))]),
            b(0.9),
            3,
            &["`a`"],
        ),
        case(
            "the same id in two spellings of Unicode",
            "[metrics.faithfulness]",
            repeats(&[("caf\u{e9}", 0, json!(0.9)), ("cafe\u{301}", 0, json!(0.1))]),
            b(0.9),
            3,
            &["caf"],
        ),
        case(
            "other numbers of repeats on both sides",
            "[metrics.faithfulness]",
            repeats(&[
                ("a", 0, json!(0.8)),
                ("a", 1, json!(1.0)),
                ("b", 5, json!(0.9)),
            ]),
            b(0.9),
            0,
            &["2/2"],
        ),
    ]);
}

#[test]
fn deleting_hard_questions_or_adding_easy_ones_moves_nothing() {
    // Ten easy ones that fell from 1 to 0.9, ten hard ones at 0.6.
    let sides = |easy: f64| {
        Full::of(
            F,
            (0..20).map(move |index| if index < 10 { easy } else { 0.6 }),
        )
    };
    let drop = "[metrics.faithfulness]\nmax_drop = 0.03";
    let easy_ones =
        || full(60, 1.0).each(|index, sample| sample["id"] = json!(format!("easy-{index}")));
    let hard_ones =
        || full(20, 0.1).each(|index, sample| sample["id"] = json!(format!("hard-{index}")));
    judge(&[
        case(
            "hard ones deleted",
            drop,
            sides(0.9).only(|index| index < 15),
            sides(1.0),
            1,
            &["removed"],
        ),
        case(
            "easy ones added",
            drop,
            sides(0.9).and(easy_ones()),
            sides(1.0),
            1,
            &["added"],
        ),
        case(
            "hard ones added",
            drop,
            sides(1.0).and(hard_ones()),
            sides(1.0),
            0,
            &["20", "added"],
        ),
        case(
            "hard ones added below the minimum",
            MIN,
            sides(1.0).and(hard_ones()),
            sides(1.0),
            1,
            &["below the minimum"],
        ),
        case(
            "half of the baseline",
            drop,
            sides(1.0).only(|index| index < 10),
            sides(1.0),
            0,
            &["10"],
        ),
        case(
            "less than half of the baseline",
            drop,
            sides(1.0).only(|index| index < 9),
            sides(1.0),
            3,
            &["9"],
        ),
        case(
            "a smaller overlap is allowed",
            &format!("[gate]\nmin_overlap = 0.4\n{drop}"),
            sides(1.0).only(|index| index < 9),
            sides(1.0),
            0,
            &[],
        ),
        case(
            "commonly scored, not commonly there",
            "[gate]\nmax_failed = 1\n[metrics.faithfulness]\nmax_drop = 0.03",
            sides(1.0).failing(F, 11),
            sides(1.0),
            3,
            &[],
        ),
        case(
            "ids of strings and numbers",
            drop,
            full(2, 0.9).each(|index, sample| sample["id"] = json!(index)),
            full(2, 0.9).each(|index, sample| sample["id"] = json!(index.to_string())),
            0,
            &[],
        ),
    ]);
}

#[test]
fn a_declared_subset_is_compared_with_what_it_is_a_part_of() {
    let subset = |full: Full| full.set("/run/subset", json!({"of": 20, "seed": 7}));
    let few = |limit: usize| full(20, 0.9).only(move |index| index < limit);
    judge(&[
        case(
            "five of twenty",
            "[metrics.faithfulness]",
            subset(few(5)),
            full(20, 0.9),
            0,
            &["5"],
        ),
        case(
            "five of twenty that fell",
            "[metrics.faithfulness]",
            subset(full(5, 0.7)),
            full(20, 0.9),
            1,
            &["dropped"],
        ),
        case(
            "five of twenty, undeclared",
            "[metrics.faithfulness]",
            few(5),
            full(20, 0.9),
            3,
            &[],
        ),
        case(
            "with an id that the baseline does not know",
            "[metrics.faithfulness]",
            subset(few(5).each(|index, sample| {
                if index == 0 {
                    sample["id"] = json!("new");
                }
            })),
            full(20, 0.9),
            3,
            &[],
        ),
        case(
            "too few for min_samples",
            "[metrics.faithfulness]\nmin_samples = 10",
            subset(few(5)),
            full(20, 0.9),
            3,
            &["10"],
        ),
    ]);
}

#[test]
fn a_rewritten_question_is_another_question() {
    let hashed = |full: Full, rewritten: usize| {
        full.each(|index, sample| {
            let version = u8::from(index < rewritten);
            sample["input_sha256"] = json!(format!("{index:062x}{version:02x}"));
        })
    };
    let other = |full: Full| full.set("/run/dataset/sha256", json!("bb"));
    let cases: Vec<Case> = vec![
        case(
            "three of ten rewritten",
            "[metrics.faithfulness]",
            other(hashed(full(10, 0.9), 3)),
            hashed(full(10, 0.9), 0),
            0,
            &["3"],
        ),
        case(
            "three of ten rewritten and easier, the others fell",
            "[metrics.faithfulness]",
            other(hashed(
                Full::of(F, (0..10).map(|index| if index < 3 { 1.0 } else { 0.85 })),
                3,
            )),
            hashed(full(10, 0.9), 0),
            1,
            &["0.05"],
        ),
        case(
            "all rewritten",
            "[metrics.faithfulness]",
            other(hashed(full(10, 0.9), 10)),
            hashed(full(10, 0.9), 0),
            3,
            &[],
        ),
        case(
            "another dataset hash, the same questions",
            "[metrics.faithfulness]",
            other(hashed(full(10, 0.9), 0)),
            hashed(full(10, 0.9), 0),
            0,
            &[],
        ),
        case(
            "hashes on one side, the same dataset",
            "[metrics.faithfulness]",
            hashed(full(10, 0.9), 0),
            full(10, 0.9),
            0,
            &[],
        ),
        case(
            "another dataset hash and no input hashes",
            "[metrics.faithfulness]",
            other(full(10, 0.9)),
            full(10, 0.9),
            3,
            &["dataset"],
        ),
        case(
            "another dataset hash, no input hashes, and below the minimum",
            MIN,
            other(full(10, 0.5)),
            full(10, 0.9),
            1,
            &["dataset", "below the minimum"],
        )
        .forbids(&["dropped"]),
        case(
            "another dataset hash because questions were added",
            "[metrics.faithfulness]",
            other(full(12, 0.9)),
            full(10, 0.9),
            0,
            &["2 added"],
        ),
    ];
    judge(&cases);
}

#[test]
fn the_order_of_a_file_changes_nothing() {
    let scores: Vec<f64> = (0..50)
        .map(|index| f64::from(index * 7 % 50) / 49.0)
        .collect();
    let baseline: Vec<f64> = scores.iter().map(|score| 0.3 + 0.5 * score).collect();
    let mut reversed = Full::of(F, scores.clone());
    reversed.samples().reverse();
    let verdict = |results: &Full| {
        let folder = super::Folder::with(&results.text(), &Full::of(F, baseline.clone()).text());
        folder
            .run("check results.json baseline.json --output json")
            .stdout
    };
    assert_eq!(verdict(&Full::of(F, scores)), verdict(&reversed));
}

#[test]
fn a_summary_that_contradicts_its_samples_is_refused() {
    let mut summed = full(10, 0.9);
    put(
        &mut summed.0,
        "/metrics",
        json!({F: {"mean": 0.9004, "n": 10, "failed": 0}}),
    );
    let rounded = summed.clone();
    put(
        &mut summed.0,
        "/metrics",
        json!({F: {"mean": 0.91, "n": 10, "failed": 0}}),
    );
    let lying = summed.clone();
    put(
        &mut summed.0,
        "/metrics",
        json!({F: {"mean": 0.9, "n": 20, "failed": 0}}),
    );
    judge(&[
        case("rounded", MIN, rounded, full(10, 0.9), 0, &[]),
        case(
            "lying",
            MIN,
            lying,
            full(10, 0.9),
            3,
            &["results.json", "0.91"],
        ),
        case("lying about n", MIN, summed, full(10, 0.9), 3, &["20"]),
        case(
            "a summary without scores",
            MIN,
            json!({"metrics": {F: {"mean": null, "n": 0, "failed": 10}}}),
            full(10, 0.9),
            3,
            &[],
        ),
        case(
            "a summary whose n is nought",
            MIN,
            json!({"metrics": {F: {"mean": 0.9, "n": 0}}}),
            full(10, 0.9),
            3,
            &[],
        ),
    ]);
}
