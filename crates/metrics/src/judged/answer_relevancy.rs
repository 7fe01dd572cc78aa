//! Does the answer address the question?

use super::{Judged, is_blank, not_applicable, share};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{ANSWER_RELEVANCY, Part, Prompt};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric};

const LOW: i64 = 1;
const HIGH: i64 = 5;

/// A grade from 1 to 5, as its share from 0 to 1.
#[derive(Debug)]
pub(crate) struct AnswerRelevancy(Judged);

impl AnswerRelevancy {
    pub(crate) fn new(name: &str) -> Self {
        let prompt = Prompt::grade(ANSWER_RELEVANCY, LOW, HIGH);
        AnswerRelevancy(Judged::new(
            name,
            "answer_relevancy",
            prompt,
            &[Column::Question, Column::Answer],
        ))
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
            return Step::Done(Outcome::Score {
                score: 0.0,
                reason: Some("the answer is empty".to_owned()),
            });
        }
        if let Some(answer) = answers.first() {
            return Step::Done(share(answer, LOW, HIGH));
        }
        let messages = self.0.prompt.render(
            "How directly and completely does the answer address the question?",
            &[Part::Question(sample), Part::Text("ANSWER", answer)],
        );
        let expect = Expect::Grade {
            low: LOW,
            high: HIGH,
        };
        self.0.ask(
            expect,
            messages,
            vec![question.to_owned()],
            vec![answer.clone()],
        )
    }
}
