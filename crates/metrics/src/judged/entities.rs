//! Are the people, places and things of the reference answer in the retrieved passages?

use super::standing::{Texts, normalised};
use super::{
    Judged, Kind, done, failed, not_applicable, owned, passages, references, score, texts,
};
use crate::outcome::{Answer, FailureKind, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason::{self, cut};
use crate::registry::{Build, BuildError};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric};

/// Most entities of a text.
const MOST: usize = 100;

/// Added by Ragas to what it divides by.
const EPSILON: f64 = 1e-8;

const KIND: Kind = Kind {
    name: "entities",
    version: "1",
    template: include_str!("../../prompts/entities.md"),
    task: "Which named entities stand in the text?",
};

/// What is made of the entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// Those of the reference are looked for in the passages, by rule.
    Found,
    /// Those of the passages are listed by a second call, and compared letter for letter.
    Ragas,
}

/// The share of the reference's entities that the passages have.
#[derive(Debug)]
pub(super) struct EntityRecall {
    judged: Judged,
    formula: Formula,
}

impl EntityRecall {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let values = Values {
            form: form::texts(
                "Give each entity as one text, at most 100 of them, and an empty list when there is none.",
            ),
            ..Values::default()
        };
        let mut judged = Judged::new(of, KIND, &values, &[Column::Reference, Column::Contexts])?;
        if formula == Formula::Ragas {
            judged.info.calls = 2;
        }
        Ok(EntityRecall { judged, formula })
    }

    fn ask(&self, found: &[&str]) -> Step {
        let spoken = found.first().copied().unwrap_or_default();
        let messages = self.judged.prompt.render(
            found.len(),
            spoken,
            &[Part::Numbered("TEXT", found.to_vec())],
        );
        let expect = Expect::Texts {
            least: 1,
            most: MOST,
        };
        self.judged.ask(expect, messages, owned(found), Vec::new())
    }
}

impl Metric for EntityRecall {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let references = references(sample);
        let Some(first) = references.first() else {
            return not_applicable("no reference");
        };
        let Some(passages) = passages(sample) else {
            return not_applicable("no contexts");
        };
        // One that is as right has other words for the same: the first is asked about.
        let reference = std::slice::from_ref(first);
        match (self.formula, answers) {
            (_, []) => self.ask(reference),
            (Formula::Found, [listed, ..]) => done(match texts(listed) {
                Ok(listed) => found(listed, first, &passages),
                Err(failed) => failed,
            }),
            (Formula::Ragas, [_]) => self.ask(&passages),
            (Formula::Ragas, [of_reference, of_passages, ..]) => {
                done(match (texts(of_reference), texts(of_passages)) {
                    (Ok(of_reference), Ok(of_passages)) => ragas(of_reference, of_passages),
                    (Err(failed), _) | (_, Err(failed)) => failed,
                })
            }
        }
    }
}

/// What does not stand in the reference is none of its entities.
fn found(listed: &[String], reference: &str, passages: &[&str]) -> Outcome {
    let reference = Texts::new([reference]);
    let mut entities: Vec<(&str, String)> = Vec::new();
    for entity in listed.iter().filter(|entity| reference.has_name(entity)) {
        let normal = normalised(entity);
        if entities.iter().all(|(_, known)| *known != normal) {
            entities.push((entity, normal));
        }
    }
    if entities.is_empty() {
        return match listed.first() {
            None => Outcome::NotApplicable("no entities in the reference".to_owned()),
            Some(invented) => failed(
                FailureKind::Inconsistent,
                &format!(
                    "the judge lists entities that do not stand in the reference: {}",
                    cut(invented, 60)
                ),
            ),
        };
    }
    let passages = Texts::new(passages.iter().copied());
    let missing: Vec<&str> = entities
        .iter()
        .map(|(entity, _)| *entity)
        .filter(|entity| !passages.has_name(entity))
        .collect();
    let count = entities.len();
    Outcome::Score {
        score: (count - missing.len()) as f64 / count as f64,
        reason: (!missing.is_empty()).then(|| {
            let names = missing.join(", ");
            let count_missing = missing.len();
            reason::short(&format!(
                "{count_missing} of {count} entities of the reference not in the contexts: {names}"
            ))
        }),
    }
}

/// Common entities, each once, by those of the reference, as often as they were listed.
fn ragas(of_reference: &[String], of_passages: &[String]) -> Outcome {
    use std::collections::HashSet;
    let known: HashSet<&String> = of_passages.iter().collect();
    let wanted: HashSet<&String> = of_reference.iter().collect();
    let common = wanted.intersection(&known).count();
    let share = common as f64 / (of_reference.len() as f64 + EPSILON);
    score(
        share,
        &format!(
            "{common} of {} entities of the reference are among the {} of the contexts",
            wanted.len(),
            known.len()
        ),
    )
}
