//! Does the answer address the question?

use super::{Judged, Kind, done, is_blank, not_applicable, score, share};
use crate::outcome::{Answer, Step};
use crate::prompts::{Part, Values, form};
use crate::registry::{Build, BuildError};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric};

const SCALE: [i64; 2] = [1, 5];

const KIND: Kind = Kind {
    name: "answer_relevancy",
    version: "1",
    template: include_str!("../../prompts/answer_relevancy.md"),
    task: "How directly and completely does the answer address the question?",
};

/// A grade from 1 to 5, as its share from 0 to 1.
#[derive(Debug)]
pub(super) struct AnswerRelevancy(Judged);

impl AnswerRelevancy {
    pub(super) fn new(of: &Build<'_>) -> Result<Self, BuildError> {
        let values = Values {
            scale: SCALE,
            form: form::grade(SCALE),
            ..Values::default()
        };
        let needs = &[Column::Question, Column::Answer];
        Judged::new(of, KIND, &values, needs).map(AnswerRelevancy)
    }
}

impl Metric for AnswerRelevancy {
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
        // An application that falls silent got worse: nobody has to be asked.
        if is_blank(answer) {
            return done(score(0.0, "the answer is empty"));
        }
        if let Some(answer) = answers.first() {
            return done(share(answer, SCALE, false));
        }
        let parts = [Part::Question(sample), Part::Text("ANSWER", answer)];
        let messages = self.0.prompt.render(1, answer, &parts);
        let [low, high] = SCALE;
        self.0.ask(
            Expect::Grade { low, high },
            messages,
            vec![question.to_owned()],
            vec![answer.clone()],
        )
    }
}
