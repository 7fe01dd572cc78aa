//! Does the answer say only what the retrieved passages say?

use super::{Judged, mean, not_applicable, owned, passages, verdicts};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{FAITHFULNESS, Part, Prompt};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric, reason, sentences};

/// The share of the answer's sentences that the passages support.
#[derive(Debug)]
pub(crate) struct Faithfulness(Judged);

impl Faithfulness {
    pub(crate) fn new(name: &str) -> Self {
        let prompt = Prompt::verdicts(FAITHFULNESS);
        Faithfulness(Judged::new(
            name,
            "faithfulness",
            prompt,
            &[Column::Answer, Column::Contexts],
        ))
    }
}

impl Metric for Faithfulness {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.0.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let Some(answer) = &sample.answer else {
            return not_applicable("no answer");
        };
        let Some(passages) = passages(sample) else {
            return not_applicable("no contexts");
        };
        let claims = sentences::split(answer);
        if claims.is_empty() {
            return not_applicable("no claims in the answer");
        }
        if let Some(answer) = answers.first() {
            return Step::Done(match verdicts(answer, claims.len()) {
                Ok(verdicts) => Outcome::Score {
                    score: mean(verdicts),
                    reason: reason::missing("claims", "unsupported", claims.into_iter(), verdicts),
                },
                Err(failed) => failed,
            });
        }
        let expect = Expect::Verdicts {
            items: claims.len(),
        };
        let (items, evidence) = (owned(&claims), owned(&passages));
        let parts = [
            Part::Question(sample),
            Part::Numbered("PASSAGE", passages),
            Part::Lines("CLAIMS", &items),
        ];
        let task = format!(
            "Claims 1 to {}: is each supported by the passages?",
            claims.len()
        );
        let messages = self.0.prompt.render(&task, &parts);
        self.0.ask(expect, messages, items, evidence)
    }
}
