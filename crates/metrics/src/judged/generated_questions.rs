//! Does the answer answer the question? As Ragas asks it: which questions would it answer, and how near are they?

use super::{Judged, Kind, done, failed, is_blank, not_applicable, score, texts};
use crate::cosine::cosines;
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason::cut;
use crate::registry::{Build, BuildError};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric};

/// How many questions, where gate.toml does not say it.
const QUESTIONS: u32 = 3;

/// Most questions.
const MOST: u32 = 20;

const KIND: Kind = Kind {
    name: "generated_questions",
    version: "1",
    template: include_str!("../../prompts/generated_questions.md"),
    task: "Which questions does the answer answer?",
};

/// The mean cosine of the question and those that the judge writes for the answer; 0 when it commits to nothing.
#[derive(Debug)]
pub(super) struct GeneratedQuestions {
    judged: Judged,
    questions: usize,
}

impl GeneratedQuestions {
    pub(super) fn new(of: &Build<'_>) -> Result<Self, BuildError> {
        let questions = of.section.questions.unwrap_or(QUESTIONS);
        if !(1..=MOST).contains(&questions) {
            return Err(of.bad("questions", format!("a number from 1 to {MOST}")));
        }
        let what = match questions {
            1 => "Give exactly one question".to_owned(),
            _ => format!("Give exactly {questions} questions"),
        };
        let values = Values {
            form: form::texts(&format!(
                "{what}, and an empty list for an answer that commits to nothing."
            )),
            ..Values::default()
        };
        let mut judged = Judged::new(of, KIND, &values, &[Column::Question, Column::Answer])?;
        judged.info.embeds = true;
        Ok(GeneratedQuestions {
            judged,
            questions: questions as usize,
        })
    }
}

impl Metric for GeneratedQuestions {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let Some(question) = sample.question.as_deref().filter(|text| !is_blank(text)) else {
            return not_applicable("no question");
        };
        let Some(answer) = &sample.answer else {
            return not_applicable("no answer");
        };
        if is_blank(answer) {
            return done(score(0.0, "the answer is empty"));
        }
        let Some((first, rest)) = answers.split_first() else {
            let parts = [Part::Text("ANSWER", answer)];
            let messages = self.judged.prompt.render(self.questions, answer, &parts);
            let expect = Expect::Texts {
                least: self.questions,
                most: self.questions,
            };
            let items = vec![answer.clone()];
            return self.judged.ask(expect, messages, items, Vec::new());
        };
        let generated = match texts(first) {
            Ok(generated) => generated,
            Err(failed) => return done(failed),
        };
        if generated.is_empty() {
            return done(score(0.0, "the answer commits to nothing"));
        }
        let Some(embeddings) = rest.first() else {
            let texts = std::iter::once(question).chain(generated.iter().map(String::as_str));
            return Step::Embed(texts.map(str::to_owned).collect());
        };
        done(match cosines(embeddings, generated.len()) {
            Ok(cosines) => {
                let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
                let furthest = std::iter::zip(&cosines, generated)
                    .min_by(|a, b| a.0.total_cmp(b.0))
                    .map(|(cosine, text)| {
                        format!("it also answers «{}» ({cosine:.2})", cut(text, 120))
                    });
                Outcome::Score {
                    score: mean.clamp(0.0, 1.0),
                    reason: furthest,
                }
            }
            Err((kind, message)) => failed(kind, &message),
        })
    }
}
