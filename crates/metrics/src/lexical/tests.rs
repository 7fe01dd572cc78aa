use proptest::prelude::*;

use super::*;

fn request(metric: &str, expect: Expect, items: &[&str], evidence: &[&str]) -> Request {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Request {
        metric: metric.to_owned(),
        version: "1".to_owned(),
        messages: Vec::new(),
        expect,
        items: owned(items),
        evidence: owned(evidence),
        of_answer: None,
    }
}

fn verdicts_of(metric: &str, items: usize) -> Expect {
    match metric {
        "faithfulness" => Expect::Quotes { items },
        _ => Expect::Verdicts { items },
    }
}

#[track_caller]
fn check(metric: &str, items: &[&str], evidence: &[&str], expected: &[(f64, &str)]) {
    let expect = verdicts_of(metric, items.len());
    let Some(Reading::Verdicts(verdicts)) = answer(&request(metric, expect, items, evidence))
    else {
        panic!("no verdicts");
    };
    let verdicts: Vec<_> = verdicts
        .iter()
        .map(|verdict| (verdict.holds, verdict.reason.as_str()))
        .collect();
    assert_eq!(verdicts, expected);
}

#[test]
fn a_claim_is_held_against_all_passages() {
    check(
        "faithfulness",
        &[
            "The tower is in Paris.",
            "It has 330 steps.",
            "Hello!",
            "Yes.",
        ],
        &["A tower in FRANCE.", "Paris has many steps: 331."],
        &[
            (1.0, ""),
            (0.25, "not found: 330"),
            (0.0, "not found: Hello"),
            (0.5, ""),
        ],
    );
    check(
        "context_recall",
        &["北京是首都。"],
        &["首都是北京"],
        &[(0.5, "")],
    );
    check(
        "faithfulness",
        &["Red green blue black."],
        &[],
        &[(0.0, "not found: Red, green, blue, …")],
    );
}

#[test]
fn a_passage_is_useful_when_it_has_words_of_the_reference() {
    check(
        "context_precision",
        &["The capital is Paris.", "Cats sleep."],
        &["Paris, France", "Something else entirely different"],
        &[(1.0, ""), (0.0, "has 0 % of the words of the answer")],
    );
}

#[test]
fn facts_are_held_against_the_other_side() {
    // The answer comes first in the evidence; its two sentences are the first two claims.
    check(
        "factual_correctness",
        &["It is in Paris.", "It is green.", "Paris has it."],
        &["It is in Paris. It is green.", "Rome", "Paris has it."],
        &[(1.0, ""), (0.0, "not found: green"), (1.0, "")],
    );
    let expect = Expect::Verdicts { items: 1 };
    for evidence in [&[][..], &["One sentence. And another."]] {
        let request = request("factual_correctness", expect, &["Paris"], evidence);
        assert_eq!(answer(&request), None);
    }
}

#[test]
fn a_source_holds_a_claim_when_it_has_half_of_its_words() {
    let items = ["The tower is in Paris.", "Bananas are yellow."];
    let sources = ["A tower in Rome.", "Paris, the tower.", "Bananas"];
    let expect = Expect::Sources {
        items: 2,
        sources: 3,
    };
    assert_eq!(
        answer(&request("claim_sources", expect, &items, &sources)),
        Some(Reading::Sources(vec![vec![1, 2], vec![3]]))
    );
    let other = Expect::Sources {
        items: 2,
        sources: 2,
    };
    assert_eq!(
        answer(&request("claim_sources", other, &items, &sources)),
        None
    );
}

#[test]
fn a_passage_bears_on_the_question_by_its_words() {
    for metric in ["context_relevance", "context_sentences"] {
        check(
            metric,
            &["The tower of Paris", "In Paris", "Bananas"],
            &["Where is the Paris tower?"],
            &[
                (1.0, ""),
                (0.5, ""),
                (0.0, "has 0 of 2 words of the question"),
            ],
        );
        check(metric, &["Bananas"], &["Why?"], &[(0.5, "")]);
    }
}

#[test]
fn an_answer_is_relevant_when_it_takes_up_the_question() {
    let grade = |question, text| {
        let expect = Expect::Grade { low: 1, high: 5 };
        match answer(&request("answer_relevancy", expect, &[question], &[text])) {
            Some(Reading::Grade { grade, .. }) => grade,
            other => panic!("{other:?}"),
        }
    };
    let cases = [
        (
            "What is the capital of France?",
            "The capital of France is Paris.",
            5.0,
        ),
        ("What is the capital of France?", "It is the capital.", 3.0),
        ("What is the capital of France?", "None", 1.0),
        ("Why?", "Because.", 3.0),
    ];
    for (question, text, expected) in cases {
        let grade: f64 = grade(question, text);
        assert!((grade - expected).abs() < 1e-12, "{text}: {grade}");
    }
}

#[test]
fn it_does_not_judge_what_it_cannot() {
    let grade = Expect::Grade { low: 1, high: 5 };
    assert_eq!(
        answer(&request("rubric", grade, &["It is polite."], &["Yes."])),
        None
    );
    assert_eq!(answer(&request("answer_relevancy", grade, &[], &[])), None);
    let one = Expect::Verdicts { items: 1 };
    for (metric, expect) in [
        ("no_contradiction", one),
        ("answer_claims", one),
        ("yes_no", one),
        ("entities", Expect::Texts { least: 1, most: 9 }),
        ("generated_questions", Expect::Texts { least: 3, most: 3 }),
        ("g_eval", Expect::WeightedGrade { low: 0, high: 10 }),
    ] {
        assert_eq!(
            answer(&request(metric, expect, &["a"], &["b"])),
            None,
            "{metric}"
        );
    }
    assert_eq!(
        answer(&request(
            "faithfulness",
            Expect::Quotes { items: 2 },
            &["a"],
            &[]
        )),
        None
    );
}

proptest! {
    #[test]
    fn any_request_is_answered_within_its_form(
        items in prop::collection::vec("\\PC{0,30}", 0..4),
        evidence in prop::collection::vec("\\PC{0,30}", 0..3),
        metric in prop::sample::select(vec![
            "faithfulness", "context_precision", "context_recall", "answer_completeness",
        ]),
    ) {
        let items: Vec<_> = items.iter().map(String::as_str).collect();
        let evidence: Vec<_> = evidence.iter().map(String::as_str).collect();
        let expect = verdicts_of(metric, items.len());
        match answer(&request(metric, expect, &items, &evidence)) {
            Some(Reading::Verdicts(verdicts)) => {
                prop_assert_eq!(verdicts.len(), items.len());
                prop_assert!(verdicts.iter().all(|verdict| (0.0..=1.0).contains(&verdict.holds)));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
