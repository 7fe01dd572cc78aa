//! Metrics that a judge scores, each with one call.
//!
//! A metric takes what it needs from the sample, or says why it does not apply; asks; and turns the reading into a
//! score.

mod answer_relevancy;
mod context_precision;
mod context_recall;
mod faithfulness;
mod rubric;

pub(crate) use answer_relevancy::AnswerRelevancy;
pub(crate) use context_precision::ContextPrecision;
pub(crate) use context_recall::ContextRecall;
pub(crate) use faithfulness::Faithfulness;
pub(crate) use rubric::Rubric;

use gate::policy::Direction;

use crate::outcome::{Answer, FailureKind, Outcome, Step};
use crate::prompts::Prompt;
use crate::reason;
use crate::registry::Entry;
use crate::request::{Expect, Message, Reading, Request, Verdict};
use crate::sample::Sample;
use crate::{Column, Info};

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "faithfulness",
        about: "share of the answer's sentences that the passages support",
        definition: "supported sentences of the answer, divided by all its sentences. Not applicable without an answer, \
without passages, or without a claim.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Faithfulness::new(of.name))),
    },
    Entry {
        name: "context_precision",
        about: "useful passages come first",
        definition: "the average precision of the ranking, with a verdict for each passage: useful for arriving at the \
reference, or not.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(ContextPrecision::new(of.name))),
    },
    Entry {
        name: "context_recall",
        about: "share of the reference's sentences that the passages hold",
        definition: "sentences of the reference that can be attributed to the passages, divided by all its sentences; the \
best over the references.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(ContextRecall::new(of.name))),
    },
    Entry {
        name: "answer_relevancy",
        about: "the answer addresses the question",
        definition: "a grade from 1 to 5 for how directly and completely the answer addresses the question, as its share \
from 0 to 1.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(AnswerRelevancy::new(of.name))),
    },
    Entry {
        name: "rubric",
        about: "a criterion of your own",
        definition: "the judge's grade on a scale, by the criteria of gate.toml, as its share from 0 to 1.",
        keys: &["criteria", "scale"],
        example: "kind = 'rubric'\ncriteria = 'The answer is polite.'",
        build: |of| {
            let criteria = of.section.criteria.as_deref().map(str::trim);
            let criteria = criteria
                .filter(|criteria| !criteria.is_empty())
                .ok_or_else(|| of.lacks("criteria", "say in it what a good answer does"))?;
            let scale = of
                .section
                .scale
                .as_ref()
                .map_or(SCALE, |scale| *scale.get_ref());
            Ok(Box::new(Rubric::new(of.name, criteria, scale)))
        },
    },
];

/// The scale of a rubric that names none.
const SCALE: [i64; 2] = [1, 5];

/// Version of the definitions of all judged metrics.
const VERSION: &str = "1";

/// What all judged metrics have.
#[derive(Debug)]
struct Judged {
    info: Info,
    /// What is computed, whatever its name: equal questions of two names are one call.
    kind: &'static str,
    prompt: Prompt,
}

impl Judged {
    fn new(name: &str, kind: &'static str, prompt: Prompt, needs: &[Column]) -> Self {
        Judged {
            info: Info {
                name: name.to_owned(),
                version: VERSION.to_owned(),
                prompt_sha256: Some(prompt.sha256()),
                direction: Direction::Higher,
                range: Some([0.0, 1.0]),
                judged: true,
                calls: 1,
                embeds: false,
                needs: needs.to_vec(),
            },
            kind,
            prompt,
        }
    }

    fn ask(
        &self,
        expect: Expect,
        messages: Vec<Message>,
        items: Vec<String>,
        evidence: Vec<String>,
    ) -> Step {
        Step::Ask(Request {
            metric: self.kind.to_owned(),
            version: VERSION.to_owned(),
            messages,
            expect,
            items,
            evidence,
        })
    }
}

/// What becomes of verdicts on so many items, or why there is no score.
fn verdicts(answer: &Answer, items: usize) -> Result<&[Verdict], Outcome> {
    let Answer::Reading(Reading::Verdicts(verdicts)) = answer else {
        return Err(failed(
            FailureKind::Inconsistent,
            "the judge gave something else than verdicts",
        ));
    };
    if verdicts.len() != items {
        let message = format!(
            "the judge gave {} verdicts on {items} items",
            verdicts.len()
        );
        return Err(failed(FailureKind::Inconsistent, &message));
    }
    if let Some(wrong) = verdicts
        .iter()
        .find(|verdict| !(0.0..=1.0).contains(&verdict.holds))
    {
        let message = format!(
            "the judge gave a verdict of {}, which is not from 0 to 1",
            wrong.holds
        );
        let kind = if wrong.holds.is_finite() {
            FailureKind::Inconsistent
        } else {
            FailureKind::NotANumber
        };
        return Err(failed(kind, &message));
    }
    Ok(verdicts)
}

/// The share of the scale that a grade is, from 0 to 1, with the judge's reason.
fn share(answer: &Answer, low: i64, high: i64) -> Outcome {
    let Answer::Reading(Reading::Grade { grade, reason }) = answer else {
        return failed(
            FailureKind::Inconsistent,
            "the judge gave something else than a grade",
        );
    };
    if !grade.is_finite() {
        return failed(
            FailureKind::NotANumber,
            "the judge gave a grade that is no number",
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "a scale has few grades")]
    let (low, high) = (low as f64, high as f64);
    if !(low..=high).contains(grade) {
        let message = format!("the judge gave {grade} on a scale from {low} to {high}");
        return failed(FailureKind::Inconsistent, &message);
    }
    let reason = reason.trim();
    Outcome::Score {
        score: ((grade - low) / (high - low)).clamp(0.0, 1.0),
        reason: (!reason.is_empty())
            .then(|| reason::short(&format!("{grade} of {high}: {reason}"))),
    }
}

fn mean(verdicts: &[Verdict]) -> f64 {
    let sum: f64 = verdicts.iter().map(|verdict| verdict.holds).sum();
    (sum / verdicts.len() as f64).clamp(0.0, 1.0)
}

fn failed(kind: FailureKind, message: &str) -> Outcome {
    Outcome::Failed {
        kind,
        message: message.to_owned(),
    }
}

/// The retrieved passages, also the empty ones, since their ranks count; `None` when there is no text at all.
fn passages(sample: &Sample) -> Option<Vec<&str>> {
    let contexts = sample.contexts.as_ref()?;
    let passages: Vec<&str> = contexts
        .iter()
        .map(|context| context.text.as_str())
        .collect();
    passages
        .iter()
        .any(|text| !is_blank(text))
        .then_some(passages)
}

/// The reference answers that say something.
fn references(sample: &Sample) -> Vec<&str> {
    let references = sample.references.iter().flatten();
    references
        .map(String::as_str)
        .filter(|text| !is_blank(text))
        .collect()
}

fn is_blank(text: &str) -> bool {
    text.trim_start().is_empty()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn not_applicable(why: &str) -> Step {
    Step::Done(Outcome::NotApplicable(why.to_owned()))
}

#[cfg(test)]
mod tests;
