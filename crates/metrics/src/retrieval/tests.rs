use crate::by_name;
use crate::outcome::{Outcome, Step};
use crate::sample::{Context, Sample};

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
    match by_name(name).unwrap().step(sample, &[]) {
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

/// How many documents are relevant, the ranks of those among the first 100, and what `trec_eval` prints, to four digits.
type Query = (usize, &'static [usize], &'static [(&'static str, f64)]);

/// Two queries of the test suite of `trec_eval`, its `success_k` being `hit_rate@k`.
const QUERIES: [Query; 2] = [
    (
        77,
        &[
            1, 2, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 30, 31,
            34, 36, 37, 39, 42, 43, 44, 47, 48, 49, 50, 51, 53, 56, 58, 72, 79, 82, 84,
        ],
        &[
            ("recall@5", 0.0519),
            ("recall@10", 0.0909),
            ("recall@15", 0.1558),
            ("recall@20", 0.2078),
            ("recall@30", 0.2857),
            ("recall@100", 0.5455),
            ("hit_rate@1", 1.0),
            ("hit_rate@5", 1.0),
            ("hit_rate@10", 1.0),
        ],
    ),
    (
        10,
        &[19, 37, 41, 43, 44, 65, 67, 89, 99],
        &[
            ("recall@5", 0.0),
            ("recall@10", 0.0),
            ("recall@15", 0.0),
            ("recall@20", 0.1),
            ("recall@30", 0.1),
            ("recall@100", 0.9),
            ("hit_rate@1", 0.0),
            ("hit_rate@5", 0.0),
            ("hit_rate@10", 0.0),
        ],
    ),
];

#[test]
fn the_values_are_those_of_trec_eval() {
    for (relevant, ranks, expected) in QUERIES {
        let retrieved = (1..=100).map(|rank| match ranks.iter().position(|&known| known == rank) {
            Some(number) => format!("relevant{number}"),
            None => format!("other{rank}"),
        });
        let sample = Sample {
            context_ids: Some(retrieved.collect()),
            reference_context_ids: Some(
                (0..relevant)
                    .map(|number| format!("relevant{number}"))
                    .collect(),
            ),
            ..Sample::default()
        };
        for (metric, expected) in expected {
            let shown = of(metric, &sample);
            let score: f64 = shown.split(' ').next().unwrap().parse().unwrap();
            assert!(
                (score - expected).abs() <= 5e-5,
                "{metric} {expected}: {shown}"
            );
        }
    }
}
