use serde_json::Value;

use super::*;
use crate::outcome::{Outcome, Step};
use crate::{Metric, by_name};

fn sample(answer: &str, references: &[&str]) -> Sample {
    Sample {
        answer: Some(answer.to_owned()),
        references: Some(references.iter().map(|&text| text.to_owned()).collect()),
        ..Sample::default()
    }
}

fn score(metric: &dyn Metric, sample: &Sample) -> f64 {
    match metric.step(sample, &[]) {
        Step::Done(Outcome::Score { score, .. }) => score,
        other => panic!("{other:?}"),
    }
}

/// Equal to `SQuAD`'s script, but where that script does not know the punctuation or the words of a language.
#[test]
fn squad_is_matched_where_squad_is_right() {
    let pairs = include_str!("../../fixtures/squad.jsonl");
    let (exact, f1) = (ExactMatch::new("exact_match"), TokenF1::new("token_f1"));
    let mut differences = Vec::new();
    let mut count = 0;
    for line in pairs.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| pair[key].as_str().unwrap();
        let sample = sample(text("answer"), &[text("reference")]);
        let ours = [score(&exact, &sample), score(&f1, &sample)];
        let theirs = [
            pair["exact_match"].as_f64().unwrap(),
            pair["f1"].as_f64().unwrap(),
        ];
        count += 1;
        if ours
            .iter()
            .zip(theirs)
            .any(|(ours, theirs)| (ours - theirs).abs() > 1e-6)
        {
            let [answer, reference] =
                ["answer", "reference"].map(|key| crate::reason::cut(text(key), 60));
            differences.push(format!(
                "{} {theirs:?} → {ours:.3?}: {answer} | {reference}",
                text("lang")
            ));
        }
    }
    assert_eq!(count, 47);
    insta::assert_snapshot!(differences.join("\n"), @r#"
    zh [0.0, 0.0] → [0.000, 0.667]: 六次 | 六
    de [0.0, 0.666667] → [1.000, 1.000]: "A Machine to End War" | „A Machine to End War“
    ro [0.0, 0.714286] → [1.000, 1.000]: "O mașină care să pună capăt războiului" | „O mașină care să pună capăt războiului”
    "#);
}

#[test]
fn the_best_reference_counts() {
    let sample = sample("the Eiffel tower", &["Louvre", "Eiffel Tower!"]);
    for metric in ["exact_match", "token_f1"] {
        let metric = by_name(metric).unwrap();
        assert_eq!(score(&*metric, &sample).to_bits(), 1.0_f64.to_bits());
    }
}

#[test]
fn an_empty_answer_is_wrong_and_a_missing_reference_is_missing() {
    for name in ["exact_match", "token_f1", "semantic_similarity"] {
        let metric = by_name(name).unwrap();
        assert_eq!(
            score(&*metric, &sample("", &["Paris"])).to_bits(),
            0.0_f64.to_bits(),
            "{name}"
        );
        let none = |sample: &Sample| match metric.step(sample, &[]) {
            Step::Done(Outcome::NotApplicable(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(none(&sample("", &[" "])), "no reference");
        assert_eq!(none(&sample("Paris", &[])), "no reference");
        assert_eq!(none(&Sample::default()), "no answer");
    }
}

#[test]
fn words_are_counted_with_their_repetitions() {
    let f1 = TokenF1::new("token_f1");
    let score = score(&f1, &sample("red red red", &["red blue red"]));
    assert!((score - 2.0 / 3.0).abs() < 1e-12, "{score}");
}
