//! Does each statement of the answer address the question? As `DeepEval` asks it.

use super::{Judged, Kind, done, is_blank, not_applicable, owned, score, share_of_yes, verdicts};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

const KIND: Kind = Kind {
    name: "answer_claims",
    version: "1",
    template: include_str!("../../prompts/answer_claims.md"),
    task: "Statements 1 to {items}: is each relevant to the question?",
};

/// The share of the answer's statements that are not irrelevant; 1 without statements.
#[derive(Debug)]
pub(super) struct AnswerClaims(Judged);

impl AnswerClaims {
    pub(super) fn new(of: &Build<'_>) -> Result<Self, BuildError> {
        let values = Values {
            form: form::verdicts(),
            ..Values::default()
        };
        let needs = &[Column::Question, Column::Answer];
        Judged::new(of, KIND, &values, needs).map(AnswerClaims)
    }
}

impl Metric for AnswerClaims {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.0.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let Some(question) = sample.question.as_deref().filter(|text| !is_blank(text)) else {
            return not_applicable("no question");
        };
        let Some(answer) = &sample.answer else {
            return not_applicable("no answer");
        };
        let claims = sentences::split(answer);
        if claims.is_empty() {
            return done(score(
                1.0,
                "no statements in the answer, which DeepEval scores 1",
            ));
        }
        if let Some(answer) = answers.first() {
            return done(match verdicts(answer, claims.len()) {
                Ok(verdicts) => Outcome::Score {
                    score: share_of_yes(verdicts),
                    reason: reason::missing(
                        "statements",
                        "irrelevant",
                        claims.into_iter(),
                        verdicts,
                    ),
                },
                Err(failed) => failed,
            });
        }
        let items = owned(&claims);
        let expect = Expect::Verdicts { items: items.len() };
        let parts = [
            Part::Question(sample),
            Part::Lines("STATEMENTS OF THE ANSWER", 1, &items),
        ];
        let messages = self.0.prompt.render(items.len(), answer, &parts);
        let evidence = vec![question.to_owned()];
        self.0.ask(expect, messages, items, evidence)
    }
}
