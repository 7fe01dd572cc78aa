//! What holds for every metric, whatever the sample.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::registry::tests::built;
use crate::request::{Expect, Reading, Request, Verdict};
use crate::sample::{Context, Sample, Turn};
use crate::{Answer, Metric, Outcome, Step, entries};

/// A metric of each kind, as its example has it.
fn all() -> impl Iterator<Item = Box<dyn Metric>> {
    entries().map(|entry| built(&entry.name.replace("@k", "@2"), entry.example).unwrap())
}

/// What a judge might say; `share` is how far things hold.
fn answer(request: &Request, share: f64) -> Answer {
    let verdict = || Verdict {
        quote: request
            .evidence
            .first()
            .map(|text| text.chars().take(20).collect()),
        ..Verdict::new(share, if share < 0.5 { "not said" } else { "" })
    };
    Answer::Reading(match request.expect {
        Expect::Verdicts { items } | Expect::Quotes { items } => {
            assert!(
                items > 0 && items == request.items.len(),
                "{}",
                request.metric
            );
            Reading::Verdicts(vec![verdict(); items])
        }
        Expect::Sources { items, sources } => {
            assert!(
                items > 0 && items == request.items.len(),
                "{}",
                request.metric
            );
            let held = if share < 0.5 { 0 } else { sources };
            Reading::Sources(vec![(1..=held).collect(); items])
        }
        Expect::Texts { .. } if share < 0.5 => Reading::Texts(Vec::new()),
        Expect::Texts { least, most } if least == most => {
            Reading::Texts((0..most).map(|number| format!("Text {number}")).collect())
        }
        // Names that stand in what was shown.
        Expect::Texts { most, .. } => {
            let words = request
                .items
                .iter()
                .flat_map(|item| item.split_whitespace());
            let names = words.filter(|word| word.chars().any(char::is_alphanumeric));
            Reading::Texts(names.take(most).map(str::to_owned).collect())
        }
        Expect::Grade { low, high } | Expect::WeightedGrade { low, high } => Reading::Grade {
            grade: low as f64 + share * (high - low) as f64,
            weighted: None,
            reason: "polite enough".to_owned(),
        },
    })
}

/// Goes through the steps of a metric to its outcome.
fn outcome(metric: &dyn Metric, sample: &Sample, share: f64) -> Outcome {
    let info = metric.info();
    let (mut answers, mut asked) = (Vec::new(), 0);
    loop {
        assert!(answers.len() < 9, "{} goes round in circles", info.name);
        let answer = match metric.step(sample, &answers) {
            Step::Done(outcome) => return outcome,
            Step::Embed(texts) => {
                assert!(info.embeds && texts.iter().all(|text| !text.trim().is_empty()));
                Answer::Embeddings(texts.iter().map(|_| vec![1.0, 0.5]).collect())
            }
            Step::Run => Answer::Outcome(Outcome::Score {
                score: share,
                reason: None,
            }),
            Step::Ask(request) => {
                assert!(info.judged);
                asked += 1;
                answer(&request, share)
            }
        };
        assert!(asked <= info.calls, "{} asks {asked} times", info.name);
        answers.push(answer);
    }
}

fn check(metric: &dyn Metric, sample: &Sample, share: f64) {
    let info = metric.info();
    match outcome(metric, sample, share) {
        Outcome::Score { score, reason } => {
            let [low, high] = info.range.unwrap_or([f64::MIN, f64::MAX]);
            assert!((low..=high).contains(&score), "{}: {score}", info.name);
            assert!(
                reason.is_none_or(|reason| reason.len() < 310),
                "{}",
                info.name
            );
        }
        Outcome::NotApplicable(why) => assert!(!why.is_empty(), "{}", info.name),
        Outcome::Failed { message, .. } => panic!("{}: {message}", info.name),
    }
}

fn any_text() -> impl Strategy<Value = Option<String>> {
    prop::option::of("\\PC{0,20}|[A-Z. \n]{0,9}={0,7}[a-z. \n]{0,9}|")
}

fn any_contexts() -> impl Strategy<Value = Option<Vec<Context>>> {
    let context =
        (prop::option::of("[a-c]"), "\\PC{0,10}").prop_map(|(id, text)| Context { id, text });
    prop::option::of(prop::collection::vec(context, 0..4))
}

fn any_ids() -> impl Strategy<Value = Option<Vec<String>>> {
    prop::option::of(prop::collection::vec("[a-d]?", 0..4))
}

prop_compose! {
    /// Any sample.
    pub(crate) fn any_sample()(
        question in any_text(),
        answer in any_text(),
        references in prop::option::of(prop::collection::vec("\\PC{0,20}", 0..3)),
        contexts in any_contexts(),
        reference_contexts in any_contexts(),
        context_ids in any_ids(),
        reference_context_ids in any_ids(),
    ) -> Sample {
        Sample { question, answer, references, contexts, reference_contexts, context_ids, reference_context_ids, ..Sample::default() }
    }
}

proptest! {
    /// A metric asks for what can be answered, and scores within its range.
    #[test]
    fn any_sample_ends_in_an_outcome(sample in any_sample(), share in 0.0..=1.0_f64) {
        static ALL: LazyLock<Vec<Box<dyn Metric>>> = LazyLock::new(|| all().collect());
        for metric in &*ALL {
            check(&**metric, &sample, share);
        }
    }
}

/// Samples at the edges: empty, long, from right to left, of emoji.
fn edges() -> Vec<(&'static str, Sample)> {
    let of = |question: &str, answer: &str, reference: &str, context: &str| {
        let context = Context {
            text: context.to_owned(),
            ..Context::default()
        };
        Sample {
            id: "edge".to_owned(),
            question: Some(question.to_owned()),
            answer: Some(answer.to_owned()),
            references: Some(vec![reference.to_owned()]),
            contexts: Some(vec![context.clone()]),
            reference_contexts: Some(vec![context]),
            history: vec![Turn {
                role: "user".to_owned(),
                text: question.to_owned(),
            }],
            ..Sample::default()
        }
    };
    let long = "The tower stands in Paris, and 7 others do not. ".repeat(2_100);
    let none = of("Where?", "In Paris.", "", "");
    vec![
        ("nothing at all", Sample::default()),
        (
            "an empty answer",
            of("Where?", "", "In Paris.", "The tower is in Paris."),
        ),
        (
            "empty contexts",
            Sample {
                contexts: Some(Vec::new()),
                ..none.clone()
            },
        ),
        (
            "one claim",
            of("Where?", "In Paris.", "In Paris.", "The tower is in Paris."),
        ),
        (
            "no reference",
            Sample {
                references: None,
                reference_contexts: None,
                ..none
            },
        ),
        ("100 000 letters", of("Where?", &long, &long, &long)),
        (
            "one letter 100 000 times",
            of("Where?", &"a".repeat(100_000), "a", "a"),
        ),
        (
            "right to left",
            of(
                "أين البرج؟",
                "البرج في باريس.",
                "في باريس.",
                "يقع برج إيفل في باريس.",
            ),
        ),
        ("emoji", of("🗼❓", "🗼🇫🇷 👩‍👩‍👧‍👦", "🇫🇷", "🗼 ∈ 🇫🇷 👩‍👩‍👧‍👦")),
        (
            "without spaces",
            of("塔在哪里？", "塔在巴黎。", "巴黎", "埃菲尔铁塔在巴黎。"),
        ),
        (
            "control characters",
            of("\0", "\u{1b}[2J\u{202e}", "\r\n", "\u{feff}\u{2028}"),
        ),
    ]
}

#[test]
fn each_metric_is_defined_at_the_edges() {
    for (name, sample) in edges() {
        for metric in all() {
            for share in [0.0, 1.0] {
                let before = outcome(&*metric, &sample, share);
                assert_eq!(before, outcome(&*metric, &sample, share), "{name}");
                check(&*metric, &sample, share);
            }
        }
    }
}
