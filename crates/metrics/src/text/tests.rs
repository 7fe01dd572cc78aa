use serde_json::Value;

use super::*;
use crate::outcome::{Outcome, Step};
use crate::registry::tests::built;
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
    let (exact, f1) = (
        ExactMatch::new("exact_match"),
        TokenF1::new("token_f1", gate::policy::Measure::F1),
    );
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
    let f1 = TokenF1::new("token_f1", gate::policy::Measure::F1);
    let score = score(&f1, &sample("red red red", &["red blue red"]));
    assert!((score - 2.0 / 3.0).abs() < 1e-12, "{score}");
}

/// The values of `rouge-score`, sacrebleu, Levenshtein and `RapidFuzz`, to the decimals that were printed.
#[test]
fn the_reference_implementations_are_matched() {
    let ascii = |rest: &str| format!("tokenizer = 'ascii'\n{rest}");
    let metrics: Vec<(&str, f64, Box<dyn Metric>)> = [
        ("rouge1", 1.0, "rouge_1", ascii("")),
        ("rouge2", 1.0, "rouge_2", ascii("")),
        ("rougeL", 1.0, "rouge_l", ascii("")),
        (
            "rouge1_precision",
            1.0,
            "rouge_1",
            ascii("measure = 'precision'"),
        ),
        ("rouge1_recall", 1.0, "rouge_1", ascii("measure = 'recall'")),
        ("rouge1_stem", 1.0, "rouge_1", ascii("stemmer = true")),
        ("rouge2_stem", 1.0, "rouge_2", ascii("stemmer = true")),
        ("rougeL_stem", 1.0, "rouge_l", ascii("stemmer = true")),
        (
            "rouge1_ws",
            1.0,
            "rouge_1",
            "tokenizer = 'whitespace'".to_owned(),
        ),
        (
            "rouge2_ws",
            1.0,
            "rouge_2",
            "tokenizer = 'whitespace'".to_owned(),
        ),
        (
            "rougeL_ws",
            1.0,
            "rouge_l",
            "tokenizer = 'whitespace'".to_owned(),
        ),
        ("bleu", 100.0, "bleu", "tokenizer = '13a'".to_owned()),
        ("bleu_zh", 100.0, "bleu", "tokenizer = 'zh'".to_owned()),
        ("bleu_intl", 100.0, "bleu", "tokenizer = 'intl'".to_owned()),
        ("bleu_char", 100.0, "bleu", "tokenizer = 'char'".to_owned()),
        ("chrf", 100.0, "chrf", String::new()),
        ("chrf_pp", 100.0, "chrf++", String::new()),
        (
            "lev_ratio",
            1.0,
            "edit_similarity",
            "similarity = 'indel'".to_owned(),
        ),
        ("lev_norm", 1.0, "edit_similarity", String::new()),
        (
            "jaro_winkler",
            1.0,
            "edit_similarity",
            "similarity = 'jaro_winkler'".to_owned(),
        ),
    ]
    .into_iter()
    .map(|(expected, scale, name, table)| (expected, scale, built(name, &table).unwrap()))
    .collect();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for line in include_str!("../../fixtures/text.jsonl").lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| pair[key].as_str().unwrap();
        let sample = sample(text("answer"), &[text("reference")]);
        for (name, scale, metric) in &metrics {
            let Some(expected) = pair["expected"][*name].as_f64() else {
                continue;
            };
            let found = scale * score(&**metric, &sample);
            compared += 1;
            if (found - expected).abs() > 1e-6 {
                wrong.push(format!(
                    "{name} of {}: {found:.6}, not {expected}",
                    text("id")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 900, "{compared}");
}

/// Of all samples of a language together.
#[test]
fn the_corpus_values_of_sacrebleu_are_matched() {
    let expected: Value =
        serde_json::from_str(include_str!("../../fixtures/text-corpus.json")).unwrap();
    let tables = ["13a", "intl", "zh", "char", "none"].map(|tokenizer| {
        let bleu = built("bleu", &format!("tokenizer = '{tokenizer}'")).unwrap();
        let signature =
            format!("nrefs:1|case:mixed|eff:no|tok:{tokenizer}|smooth:exp|version:2.6.0");
        (format!("/bleu/{tokenizer}"), bleu, signature)
    });
    let letters = [("chrf", 0), ("chrf++", 2)].map(|(name, words)| {
        let signature =
            format!("nrefs:1|case:mixed|eff:yes|nc:6|nw:{words}|space:no|version:2.6.0");
        (format!("/{name}"), by_name(name).unwrap(), signature)
    });
    for (language, expected) in expected.as_object().unwrap() {
        for (place, metric, signature) in tables.iter().chain(&letters) {
            let mut corpus = metric.corpus().unwrap();
            assert_eq!(corpus.value(), None);
            for line in include_str!("../../fixtures/text.jsonl").lines() {
                let pair: Value = serde_json::from_str(line).unwrap();
                if pair["lang"] == **language {
                    let text = |key: &str| pair[key].as_str().unwrap();
                    corpus.add(&sample(text("answer"), &[text("reference")]));
                }
            }
            corpus.add(&Sample::default());
            let found = 100.0 * corpus.value().unwrap();
            let expected = expected.pointer(place).unwrap().as_f64().unwrap();
            assert!(
                (found - expected).abs() < 1e-6,
                "{place} of {language}: {found}, not {expected}"
            );
            assert_eq!(corpus.signature(), *signature);
        }
    }
}

#[test]
fn json_is_equal_by_value() {
    let metric = built("json_equal", "").unwrap();
    for (answer, reference, is_equal) in [
        ("{\"a\": 1, \"b\": [2]}", "{\"b\": [2.0], \"a\": 1e0}", true),
        ("```json\n[1]\n```", "[1]", true),
        (
            "Here it is:\n```json\n[1]\n```\nAnything else?",
            "[1]",
            true,
        ),
        ("Use ``` for code.", "[1]", false),
        ("[1, 2]", "[2, 1]", false),
        // Different ids that are the same double.
        ("1234567890123456789", "1234567890123456780", false),
        ("9007199254740993", "9007199254740992", false),
        ("-9007199254740993", "-9007199254740993", true),
    ] {
        let score = score(metric.as_ref(), &sample(answer, &[reference]));
        assert_eq!(score > 0.5, is_equal, "{answer}, {reference}");
    }
}
