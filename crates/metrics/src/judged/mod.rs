//! Metrics that a judge scores, as a rule with one call.
//!
//! A metric takes what it needs from the sample, or says why it does not apply; asks; and turns the reading into a
//! score. Those that ask the same share a [`Kind`]: their equal questions are one call.

mod answer_claims;
mod answer_relevancy;
mod claim_sources;
mod context_precision;
mod context_recall;
mod context_relevance;
mod entities;
mod entries;
mod facts;
mod faithfulness;
mod generated_questions;
mod rubric;
mod standing;

pub(crate) use entries::ENTRIES;

use gate::policy::Direction;

use crate::outcome::{Answer, FailureKind, Outcome, Step};
use crate::prompts::{Prompt, Values};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::{Expect, Message, Reading, Request, Verdict};
use crate::sample::Sample;
use crate::{Column, Info};

/// What is asked, whatever the name of the metric.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// How a request names it.
    name: &'static str,
    /// Version of the question and of what is made of its answer.
    version: &'static str,
    /// The instructions.
    template: &'static str,
    /// The first line of the data; `{items}` is their number.
    task: &'static str,
}

/// What all judged metrics have.
#[derive(Debug)]
struct Judged {
    info: Info,
    kind: Kind,
    prompt: Prompt,
}

impl Judged {
    /// Better when higher, from 0 to 1, by one call.
    fn new(
        of: &Build<'_>,
        kind: Kind,
        values: &Values,
        needs: &[Column],
    ) -> Result<Self, BuildError> {
        let prompt = Prompt::new(of, kind.template, kind.task, values)?;
        Ok(Judged {
            info: Info {
                name: of.name.to_owned(),
                version: kind.version.to_owned(),
                prompt_sha256: Some(prompt.sha256().to_owned()),
                direction: Direction::Higher,
                range: Some([0.0, 1.0]),
                judged: true,
                calls: 1,
                embeds: false,
                needs: needs.to_vec(),
            },
            kind,
            prompt,
        })
    }

    /// Better when lower.
    fn lower(mut self) -> Self {
        self.info.direction = Direction::Lower;
        self
    }

    fn ask(
        &self,
        expect: Expect,
        messages: Vec<Message>,
        items: Vec<String>,
        evidence: Vec<String>,
    ) -> Step {
        Step::Ask(Request {
            metric: self.kind.name.to_owned(),
            version: self.kind.version.to_owned(),
            messages,
            expect,
            items,
            evidence,
            of_answer: None,
        })
    }

    /// The same about claims of both sides, of which the first `of_answer` are those of the answer.
    fn ask_both(
        &self,
        expect: Expect,
        messages: Vec<Message>,
        items: Vec<String>,
        of_answer: usize,
        evidence: Vec<String>,
    ) -> Step {
        match self.ask(expect, messages, items, evidence) {
            Step::Ask(request) => Step::Ask(Request {
                of_answer: Some(of_answer),
                ..request
            }),
            other => other,
        }
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

/// The texts that the judge gave, or why there is no score.
fn texts(answer: &Answer) -> Result<&[String], Outcome> {
    match answer {
        Answer::Reading(Reading::Texts(texts)) => Ok(texts),
        _ => Err(failed(
            FailureKind::Inconsistent,
            "the judge gave something else than texts",
        )),
    }
}

/// The share of the scale that a grade is, from 0 to 1, with the judge's reason; of a weighted grade its mean.
fn share(answer: &Answer, [low, high]: [i64; 2], is_weighted: bool) -> Outcome {
    let Answer::Reading(Reading::Grade {
        grade,
        weighted,
        reason,
    }) = answer
    else {
        return failed(
            FailureKind::Inconsistent,
            "the judge gave something else than a grade",
        );
    };
    let weighted = weighted.filter(|_| is_weighted);
    let grade = weighted.unwrap_or(*grade);
    if !grade.is_finite() {
        return failed(
            FailureKind::NotANumber,
            "the judge gave a grade that is no number",
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "a scale has few grades")]
    let (lowest, highest) = (low as f64, high as f64);
    if !(lowest..=highest).contains(&grade) {
        let message = format!("the judge gave {grade} on a scale from {low} to {high}");
        return failed(FailureKind::Inconsistent, &message);
    }
    let said = match (is_weighted, weighted) {
        (false, _) => format!("{grade} of {high}"),
        (true, Some(_)) => format!("{grade:.2} of {high}, weighted"),
        (true, None) => format!("{grade} of {high}, not weighted: no log-probabilities"),
    };
    let why = reason.trim();
    Outcome::Score {
        score: ((grade - lowest) / (highest - lowest)).clamp(0.0, 1.0),
        reason: (is_weighted || !why.is_empty()).then(|| match why.is_empty() {
            true => said,
            false => reason::short(&format!("{said}: {why}")),
        }),
    }
}

fn mean(verdicts: &[Verdict]) -> f64 {
    let sum: f64 = verdicts.iter().map(|verdict| verdict.holds).sum();
    (sum / verdicts.len() as f64).clamp(0.0, 1.0)
}

/// What peers make of a verdict, which for them is yes or no.
fn is_yes(verdict: &Verdict) -> bool {
    verdict.holds >= 0.5
}

/// The share of verdicts that are yes; there is at least one.
fn share_of_yes(verdicts: &[Verdict]) -> f64 {
    let yes = verdicts.iter().filter(|verdict| is_yes(verdict)).count();
    yes as f64 / verdicts.len() as f64
}

fn score(score: f64, reason: &str) -> Outcome {
    Outcome::Score {
        score,
        reason: Some(reason.to_owned()),
    }
}

fn done(outcome: Outcome) -> Step {
    Step::Done(outcome)
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
