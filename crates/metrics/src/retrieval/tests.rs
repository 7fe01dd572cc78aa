use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::outcome::{Outcome, Step};
use crate::registry::tests::built;
use crate::sample::{Context, Sample};
use crate::{Metric, by_name};

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn ids(retrieved: &[&str], relevant: &[&str]) -> Sample {
    Sample {
        context_ids: Some(owned(retrieved)),
        reference_context_ids: Some(owned(relevant)),
        ..Sample::default()
    }
}

fn contexts(all: &[(Option<&str>, &str)]) -> Vec<Context> {
    let context = |&(id, text): &(Option<&str>, &str)| Context {
        id: id.map(str::to_owned),
        text: text.to_owned(),
    };
    all.iter().map(context).collect()
}

fn of(name: &str, sample: &Sample) -> String {
    said(&*by_name(name).unwrap(), sample)
}

/// As [`of`], with a table of gate.toml.
fn with(name: &str, table: &str, sample: &Sample) -> String {
    said(&*built(name, table).unwrap(), sample)
}

fn said(metric: &dyn Metric, sample: &Sample) -> String {
    match metric.step(sample, &[]) {
        Step::Done(Outcome::Score { score, reason }) => {
            format!("{score} {}", reason.unwrap_or_default())
        }
        Step::Done(Outcome::NotApplicable(why)) => why,
        other => format!("{other:?}"),
    }
}

#[test]
fn recall_is_over_all_that_is_relevant() {
    let sample = ids(&["a", "x", "b", "y", "c"], &["a", "b", "c", "d"]);
    assert_eq!(
        of("recall@1", &sample),
        "0.25 1 of 4 relevant passages among the first 1"
    );
    assert_eq!(
        of("recall@3", &sample),
        "0.5 2 of 4 relevant passages among the first 3"
    );
    assert_eq!(
        of("retrieval.recall@100", &sample),
        "0.75 3 of 4 relevant passages among the first 100"
    );
    assert_eq!(of("recall@5", &ids(&["b", "a"], &["a", "b", "a"])), "1 ");
}

#[test]
fn a_repeated_passage_is_found_once_and_keeps_its_rank() {
    let sample = ids(&["a", "a", "b"], &["a", "b"]);
    assert!(of("recall@2", &sample).starts_with("0.5 "));
    assert!(of("recall@3", &sample).starts_with("1 "));
}

#[test]
fn a_hit_is_one() {
    let sample = ids(&["x", "a"], &["a", "b"]);
    assert_eq!(
        of("hit_rate@1", &sample),
        "0 no relevant passage among the first 1"
    );
    assert_eq!(of("hit_rate@2", &sample), "1 ");
    assert_eq!(of("hit_rate", &sample), "1 ");
    assert_eq!(
        of("hit_rate", &ids(&[], &["a"])),
        "0 no relevant passage among the first 0"
    );
}

#[test]
fn ids_within_the_passages_and_then_texts_stand_in_for_ids() {
    let mut sample = Sample {
        contexts: Some(contexts(&[(Some("e\u{301}"), "one"), (Some("2"), "two")])),
        reference_context_ids: Some(owned(&["é"])),
        ..Sample::default()
    };
    assert_eq!(of("recall@1", &sample), "1 ");
    sample.contexts = Some(contexts(&[(Some("1"), "one"), (None, "two ")]));
    assert_eq!(of("recall@1", &sample), "ids on one side only");
    sample.reference_contexts = Some(contexts(&[(None, "two")]));
    sample.reference_context_ids = None;
    assert!(of("recall@1", &sample).starts_with("0 "));
    assert_eq!(of("recall@2", &sample), "1 ");
}

#[test]
fn what_is_missing_is_said() {
    assert_eq!(of("recall@5", &Sample::default()), "no reference contexts");
    assert_eq!(
        of("recall@5", &ids(&["a"], &[])),
        "nothing is relevant to the question"
    );
    let sample = Sample {
        reference_context_ids: Some(owned(&["a"])),
        ..Sample::default()
    };
    assert_eq!(of("hit_rate", &sample), "no contexts");
}

#[test]
fn fewer_than_k_are_divided_by_k() {
    let sample = ids(&["a", "x"], &["a", "b"]);
    assert_eq!(of("precision@1", &sample), "1 ");
    assert_eq!(
        of("precision@2", &sample),
        "0.5 1 of the first 2 passages are relevant"
    );
    assert_eq!(
        of("precision@5", &sample),
        "0.2 1 relevant among 2 passages, where 5 are asked for"
    );
    assert_eq!(
        of("precision@4294967295", &ids(&[], &["a"])),
        "0 no relevant passage among the first 4294967295"
    );
}

#[test]
fn the_first_relevant_passage_counts_by_its_rank() {
    let sample = ids(&["x", "y", "a", "b"], &["a", "b"]);
    assert_eq!(
        of("mrr", &sample),
        format!("{} the first relevant passage has rank 3", 1.0 / 3.0)
    );
    assert_eq!(of("mrr@3", &sample), of("mrr", &sample));
    assert_eq!(
        of("mrr@2", &sample),
        "0 no relevant passage among the first 2"
    );
}

#[test]
fn average_precision_is_over_all_that_is_relevant() {
    let sample = ids(&["a", "x", "b"], &["a", "b", "c", "d"]);
    let expected = (1.0 + 2.0 / 3.0) / 4.0;
    assert_eq!(
        of("map", &sample),
        format!("{expected} 2 of 4 relevant passages found, with rank 1, 3")
    );
    assert_eq!(
        of("map@2", &sample),
        "0.25 1 of 4 relevant passages found, with rank 1"
    );
    assert_eq!(of("map", &ids(&["b", "a", "x"], &["a", "b"])), "1 ");
    assert_eq!(
        of("r_precision", &sample),
        "0.5 2 of 4 relevant passages among the first 4"
    );
    let many: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let relevant = [&many[..], &["x"]].concat();
    assert!(of("ndcg", &ids(&many, &relevant)).ends_with("rank 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"));
}

#[test]
fn grades_weigh_the_ranks_and_from_zero_down_nothing_is_relevant() {
    let mut sample = ids(&["b", "a", "z", "n"], &["a", "b", "z", "n", "c"]);
    sample.reference_context_id_grades = Some(vec![3.0, 1.0, 0.0, -2.0, 0.5]);
    let gain = |grades: &[f64]| -> f64 {
        let ranks = grades.iter().zip(2_u8..);
        ranks
            .map(|(grade, next)| grade / 3.0 / f64::from(next).log2())
            .sum()
    };
    let expected = gain(&[1.0, 3.0]) / gain(&[3.0, 1.0, 0.5]);
    assert_eq!(
        of("ndcg", &sample),
        format!("{expected} 2 of 3 relevant passages found, with rank 1, 2")
    );
    let expected = gain(&[1.0]) / gain(&[3.0]);
    assert!(of("ndcg@1", &sample).starts_with(&format!("{expected} ")));
    assert!(of("precision@4", &sample).starts_with("0.5 "));
    sample.reference_context_id_grades = Some(vec![0.0; 5]);
    assert_eq!(of("ndcg", &sample), "nothing is relevant to the question");
    // The grades of the ids say nothing of the texts.
    sample.contexts = Some(contexts(&[(None, "one")]));
    sample.reference_contexts = Some(contexts(&[(None, "one"), (None, "one")]));
    assert_eq!(with("ndcg", "by = 'text'", &sample), "1 ");
    // Of a passage that stands twice, the higher grade counts.
    sample.reference_context_grades = Some(vec![0.0, 2.0]);
    assert_eq!(with("recall@1", "by = 'text'", &sample), "1 ");
}

#[test]
fn a_passage_is_known_by_what_gate_toml_says() {
    let mut sample = Sample {
        contexts: Some(contexts(&[
            (Some("1"), "The tower is in Paris!"),
            (Some("2"), " The tower is in Rome. "),
        ])),
        reference_contexts: Some(contexts(&[
            (Some("2"), "The tower is in Rome."),
            (Some("3"), "The tower is in Paris."),
        ])),
        ..Sample::default()
    };
    let recall = |table: &str, sample: &Sample| with("recall@2", table, sample);
    assert!(recall("", &sample).starts_with("0.5 "));
    assert!(recall("by = 'id'", &sample).starts_with("0.5 "));
    assert!(recall("by = 'text'", &sample).starts_with("0.5 "));
    assert_eq!(recall("by = 'similarity'", &sample), "1 ");
    // One letter of 22.
    assert_eq!(recall("by = 'similarity'\nthreshold = 0.95", &sample), "1 ");
    assert!(recall("by = 'similarity'\nthreshold = 0.96", &sample).starts_with("0.5 "));
    sample.contexts = None;
    assert_eq!(
        recall("by = 'similarity'", &sample),
        "no texts of the contexts"
    );
    assert_eq!(recall("by = 'id'", &sample), "no ids of the contexts");
    sample.context_ids = Some(owned(&["3", "9"]));
    assert!(recall("by = 'id'", &sample).starts_with("0.5 "));
    sample.reference_contexts = None;
    assert_eq!(
        recall("by = 'text'", &sample),
        "no texts of the reference contexts"
    );
    assert_eq!(
        recall("by = 'id'", &sample),
        "no ids of the reference contexts"
    );
}

#[test]
fn what_is_alike_is_found_once_and_as_the_best_of_its_kind() {
    let texts = |all: &[&str]| {
        let all: Vec<(Option<&str>, &str)> = all.iter().map(|&text| (None, text)).collect();
        Some(contexts(&all))
    };
    let sample = |retrieved: &[&str], relevant: &[&str]| Sample {
        contexts: texts(retrieved),
        reference_contexts: texts(relevant),
        ..Sample::default()
    };
    let recall = |sample: &Sample| with("recall@9", "by = 'similarity'", sample);
    // Both are nearest to the first: the second reference is not found.
    let near = sample(
        &["abcdefghijkl", "abcdefghijkm"],
        &["abcdefghijkz", "abcdefghxyzz"],
    );
    assert!(recall(&near).starts_with("0.5 "), "{}", recall(&near));
    let all = sample(
        &["abcdefghijkl", "abcdefghxyzw"],
        &["abcdefghijkz", "abcdefghxyzz"],
    );
    assert_eq!(recall(&all), "1 ");
    // What is nearest to a passage that is not relevant is that passage.
    let mut graded = near;
    graded.reference_context_grades = Some(vec![0.0, 1.0]);
    assert!(recall(&graded).starts_with("0 "));
    assert!(recall(&sample(&["", " "], &["ab", "", "c"])).starts_with("0 "));
}

#[test]
fn long_passages_are_compared() {
    let long = "The tower stands in Paris, and 7 others do not. ".repeat(2_100);
    let other = long.replace("Paris", "Milan");
    let sample = Sample {
        contexts: Some(contexts(&[(None, &other)])),
        reference_contexts: Some(contexts(&[(None, &long)])),
        ..Sample::default()
    };
    // Five letters of 48 differ.
    let found = |threshold: &str| {
        with(
            "hit_rate",
            &format!("by = 'similarity'\n{threshold}"),
            &sample,
        )
    };
    assert_eq!(found("threshold = 0.89"), "1 ");
    assert!(found("threshold = 0.9").starts_with("0 "));
}

#[test]
fn what_makes_another_metric_is_in_its_version() {
    let version = |table: &str| built("map", table).unwrap().info().version.clone();
    assert_eq!(version(""), "1");
    assert_eq!(version("by = 'id'"), "1, by id");
    assert_eq!(version("by = 'text'"), "1, by text");
    assert_eq!(version("by = 'similarity'"), "1, by similarity 0.8");
    assert_eq!(
        version("by = 'similarity'\nthreshold = 0.75"),
        "1, by similarity 0.75"
    );
    for (table, error) in [
        (
            "by = 'text'\nthreshold = 0.9",
            "it says how alike, under `by = \"similarity\"`",
        ),
        (
            "threshold = 0.9",
            "it says how alike, under `by = \"similarity\"`",
        ),
        ("by = 'similarity'\nthreshold = 0.0", "above 0 and up to 1"),
        ("by = 'similarity'\nthreshold = nan", "above 0 and up to 1"),
        ("by = 'similarity'\nthreshold = 1.5", "above 0 and up to 1"),
    ] {
        let message = built("map", table).unwrap_err().to_string();
        assert_eq!(message, format!("`threshold` of `map`: {error}"));
    }
}

prop_compose! {
    fn any_query()(
        retrieved in prop::collection::vec("[a-f]", 0..9),
        relevant in prop::collection::btree_map("[a-f]", prop_oneof![Just(0.0), -2.0..5.0_f64, Just(1e308)], 0..6),
    ) -> Sample {
        Sample {
            context_ids: Some(retrieved),
            reference_context_ids: Some(relevant.keys().cloned().collect()),
            reference_context_id_grades: Some(relevant.into_values().collect()),
            ..Sample::default()
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_retrieved_a_score_is_a_share(sample in any_query(), k in 1_usize..12) {
        for name in ["precision", "recall", "hit_rate", "mrr", "map", "ndcg"] {
            let step = by_name(&format!("{name}@{k}")).unwrap().step(&sample, &[]);
            if let Step::Done(Outcome::Score { score, reason }) = step {
                prop_assert!((0.0..=1.0).contains(&score), "{} {}", name, score);
                prop_assert_eq!(score < 1.0, reason.is_some());
            }
        }
    }

    #[test]
    fn what_is_relevant_first_is_perfect(relevant in prop::collection::btree_map("[a-z]{1,3}", 0.1..9.0_f64, 1..9)) {
        let mut order: Vec<(&String, &f64)> = relevant.iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(a.1));
        let mut sample = Sample {
            context_ids: Some(order.into_iter().map(|(id, _)| id.clone()).collect()),
            reference_context_ids: Some(relevant.keys().cloned().collect()),
            reference_context_id_grades: Some(relevant.values().copied().collect()),
            ..Sample::default()
        };
        sample.context_ids.as_mut().unwrap().push("other".to_owned());
        for name in ["mrr", "map", "ndcg", "r_precision", "ndcg@3", "hit_rate@1"] {
            prop_assert_eq!(of(name, &sample), "1 ", "{}", name);
        }
    }
}

const QRELS: &str = include_str!("../../fixtures/trec/qrels.txt");
const RESULTS: &str = include_str!("../../fixtures/trec/results.txt");
const EXPECTED: &str = include_str!("../../fixtures/trec/expected.txt");

/// The queries of the test suite of `trec_eval`, ranked as it ranks them: by score and then by document, both downwards.
fn queries(is_cut: bool, grade: impl Fn(&str, f64) -> f64) -> BTreeMap<&'static str, Sample> {
    let mut queries: BTreeMap<&str, Sample> = BTreeMap::new();
    for line in QRELS.lines() {
        let [query, document, judged] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let sample = queries.entry(query).or_default();
        let grades = &mut sample.reference_context_id_grades;
        grades
            .get_or_insert_default()
            .push(grade(document, judged.parse().unwrap()));
        let ids = &mut sample.reference_context_ids;
        ids.get_or_insert_default().push(document.to_owned());
    }
    let mut run: BTreeMap<&str, Vec<(f32, &str)>> = BTreeMap::new();
    for line in RESULTS.lines() {
        let mut cells = line.split(' ');
        let mut cell = || cells.next().unwrap();
        let (query, document, score) = (cell(), cell(), cell().parse().unwrap());
        if !is_cut || cells.next() == Some("kept") {
            run.entry(query).or_default().push((score, document));
        }
    }
    for (query, sample) in &mut queries {
        let mut ranked = run.remove(query).unwrap_or_default();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(a.1)));
        sample.context_ids = Some(ranked.iter().map(|(_, id)| (*id).to_owned()).collect());
    }
    queries
}

/// Our name of a measure.
fn name(measure: &str) -> String {
    let whole = [
        ("map", "map"),
        ("Rprec", "r_precision"),
        ("recip_rank", "mrr"),
        ("ndcg", "ndcg"),
    ];
    if let Some((_, name)) = whole.iter().find(|(theirs, _)| *theirs == measure) {
        return (*name).to_owned();
    }
    let (stem, k) = measure.rsplit_once('_').unwrap();
    let stem = match stem {
        "P" => "precision",
        "recall" => "recall",
        "ndcg_cut" => "ndcg",
        "map_cut" => "map",
        "success" => "hit_rate",
        _ => panic!("{measure}"),
    };
    format!("{stem}@{k}")
}

#[test]
fn the_values_are_those_of_trec_eval() {
    // For three grades and none, which the suite does not have.
    let sum = |document: &str| document.bytes().map(u32::from).sum::<u32>();
    let graded = |document: &str, judged: f64| match judged > 0.0 {
        true => f64::from(1 + sum(document) % 3),
        false => -f64::from(sum(document) % 2),
    };
    let sets = BTreeMap::from([
        ("all", (queries(false, |_, judged| judged), 5e-5)),
        ("kept", (queries(true, |_, judged| judged), 5e-5)),
        ("graded", (queries(false, graded), 5e-7)),
    ]);
    let mut compared = 0;
    for line in EXPECTED.lines() {
        let [set, measure, query, value] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (queries, tolerance) = &sets[set];
        let metric = by_name(&name(measure)).unwrap();
        let score = |sample: &Sample| match metric.step(sample, &[]) {
            Step::Done(Outcome::Score { score, .. }) => score,
            other => panic!("{line}: {other:?}"),
        };
        let score = match query {
            "all" => queries.values().map(score).sum::<f64>() / queries.len() as f64,
            _ => score(&queries[query]),
        };
        let expected: f64 = value.parse().unwrap();
        // Half a unit of the last place that is printed, and what binary fractions add.
        assert!(
            (score - expected).abs() <= tolerance + 1e-12,
            "{line}: {score}"
        );
        compared += 1;
    }
    assert_eq!(compared, 407);
}
