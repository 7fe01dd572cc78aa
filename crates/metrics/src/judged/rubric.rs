//! Does the answer meet a criterion of gate.toml?

use super::{Judged, is_blank, not_applicable, owned, passages, references, share};
use crate::outcome::{Answer, Step};
use crate::prompts::{self, Part, Prompt};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric};

/// A grade on a scale, as its share from 0 to 1.
#[derive(Debug)]
pub(crate) struct Rubric {
    judged: Judged,
    criteria: String,
    low: i64,
    high: i64,
}

impl Rubric {
    /// `low` is below `high`.
    pub(crate) fn new(name: &str, criteria: &str, [low, high]: [i64; 2]) -> Self {
        let prompt = Prompt::grade(&prompts::rubric(criteria, low, high), low, high);
        Rubric {
            judged: Judged::new(name, "rubric", prompt, &[Column::Answer]),
            criteria: criteria.to_owned(),
            low,
            high,
        }
    }
}

impl Metric for Rubric {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let Some(answer) = &sample.answer else {
            return not_applicable("no answer");
        };
        if is_blank(answer) {
            return not_applicable("the answer is empty");
        }
        if let Some(answer) = answers.first() {
            return Step::Done(share(answer, self.low, self.high));
        }
        let passages = passages(sample).unwrap_or_default();
        let evidence = owned(&passages);
        let parts = [
            Part::Question(sample),
            Part::Numbered("PASSAGE", passages),
            Part::Numbered("REFERENCE ANSWER", references(sample)),
            Part::Text("ANSWER", answer),
        ];
        let messages = self
            .judged
            .prompt
            .render("How far does the answer meet the criterion?", &parts);
        let expect = Expect::Grade {
            low: self.low,
            high: self.high,
        };
        self.judged.ask(
            expect,
            messages,
            vec![self.criteria.clone(), answer.clone()],
            evidence,
        )
    }
}
