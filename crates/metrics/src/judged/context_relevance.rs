//! Do the retrieved passages bear on the question?

use super::{
    Judged, Kind, done, is_blank, mean, not_applicable, owned, passages, score, share_of_yes,
    verdicts,
};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

const PASSAGES: Kind = Kind {
    name: "context_relevance",
    version: "1",
    template: include_str!("../../prompts/context_relevance.md"),
    task: "Passages 1 to {items}: does each bear on the question?",
};

const SENTENCES: Kind = Kind {
    name: "context_sentences",
    version: "1",
    template: include_str!("../../prompts/context_sentences.md"),
    task: "Statements 1 to {items}: is each relevant to the question?",
};

/// What a verdict is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// Each passage.
    Passages,
    /// Each sentence of all passages; 0 without one.
    DeepEval,
}

/// The share of what was retrieved that bears on the question.
#[derive(Debug)]
pub(super) struct ContextRelevance {
    judged: Judged,
    formula: Formula,
}

impl ContextRelevance {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let values = Values {
            form: form::verdicts(),
            ..Values::default()
        };
        let kind = match formula {
            Formula::Passages => PASSAGES,
            Formula::DeepEval => SENTENCES,
        };
        let judged = Judged::new(of, kind, &values, &[Column::Question, Column::Contexts])?;
        Ok(ContextRelevance { judged, formula })
    }
}

impl Metric for ContextRelevance {
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
        let passages = passages(sample);
        let items: Vec<&str> = match self.formula {
            Formula::Passages => passages.unwrap_or_default(),
            Formula::DeepEval => {
                let passages = passages.unwrap_or_default();
                passages.into_iter().flat_map(sentences::split).collect()
            }
        };
        if items.is_empty() {
            return match self.formula {
                Formula::DeepEval if sample.contexts.is_some() => done(score(
                    0.0,
                    "no statements in the contexts, which DeepEval scores 0",
                )),
                _ => not_applicable("no contexts"),
            };
        }
        if let Some(answer) = answers.first() {
            return done(match verdicts(answer, items.len()) {
                Ok(verdicts) => {
                    let (score, nouns) = match self.formula {
                        Formula::Passages => (mean(verdicts), "passages"),
                        Formula::DeepEval => (share_of_yes(verdicts), "statements"),
                    };
                    let reason = reason::missing(nouns, "irrelevant", items.into_iter(), verdicts);
                    Outcome::Score { score, reason }
                }
                Err(failed) => failed,
            });
        }
        let count = items.len();
        let texts = owned(&items);
        let shown = match self.formula {
            Formula::Passages => Part::Numbered("PASSAGE", items),
            Formula::DeepEval => Part::Lines("STATEMENTS OF THE PASSAGES", 1, &texts),
        };
        let parts = [Part::Question(sample), shown];
        let messages = self.judged.prompt.render(count, question, &parts);
        let evidence = vec![question.to_owned()];
        self.judged
            .ask(Expect::Verdicts { items: count }, messages, texts, evidence)
    }
}
