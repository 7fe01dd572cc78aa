//! Is what the reference answer says there: in the retrieved passages, or in the answer?

use super::{
    Judged, Kind, done, is_blank, mean, not_applicable, owned, passages, references, score,
    share_of_yes, verdicts,
};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::{Expect, Verdict};
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

const ATTRIBUTED: Kind = Kind {
    name: "context_recall",
    version: "1",
    template: include_str!("../../prompts/context_recall.md"),
    task: "Claims 1 to {items}: can each be attributed to the passages?",
};

const COMPLETE: Kind = Kind {
    name: "answer_completeness",
    version: "1",
    template: include_str!("../../prompts/answer_completeness.md"),
    task: "Claims 1 to {items} of the reference answer: does the answer have each?",
};

/// Where the claims are looked for, and what is made of the verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// In the passages; the best over the references.
    Contexts,
    /// In the answer; the best over the references.
    Answer,
    /// In the passages, for the first reference.
    Ragas,
    /// The same, 0 without claims.
    DeepEval,
    /// The same as of Ragas.
    Promptfoo,
}

/// The share of the reference's sentences that are there.
#[derive(Debug)]
pub(super) struct ContextRecall {
    judged: Judged,
    formula: Formula,
}

impl ContextRecall {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let values = Values {
            form: form::verdicts(),
            ..Values::default()
        };
        let (kind, needs): (_, &[Column]) = match formula {
            Formula::Answer => (COMPLETE, &[Column::Answer, Column::Reference]),
            _ => (ATTRIBUTED, &[Column::Reference, Column::Contexts]),
        };
        Ok(ContextRecall {
            judged: Judged::new(of, kind, &values, needs)?,
            formula,
        })
    }

    /// Where the claims are looked for, or what comes of it without.
    fn evidence<'a>(&self, sample: &'a Sample) -> Result<Vec<&'a str>, Step> {
        if self.formula != Formula::Answer {
            return passages(sample).ok_or_else(|| not_applicable("no contexts"));
        }
        match sample.answer.as_deref() {
            None => Err(not_applicable("no answer")),
            // An application that falls silent got worse: nobody has to be asked.
            Some(answer) if is_blank(answer) => Err(done(score(0.0, "the answer is empty"))),
            Some(answer) => Ok(vec![answer]),
        }
    }
}

impl Metric for ContextRecall {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let references = references(sample);
        let Some(spoken) = references.first().copied() else {
            return not_applicable("no reference");
        };
        let (claims, ends) = claims(&references);
        if claims.is_empty() {
            return match self.formula {
                Formula::DeepEval => done(score(
                    0.0,
                    "no claims in the reference, which DeepEval scores 0",
                )),
                _ => not_applicable("no claims in the reference"),
            };
        }
        let evidence = match self.evidence(sample) {
            Ok(evidence) => evidence,
            Err(step) => return step,
        };
        if let Some(answer) = answers.first() {
            return done(match verdicts(answer, claims.len()) {
                Ok(verdicts) => self.score(verdicts, &claims, &ends),
                Err(failed) => failed,
            });
        }
        let expect = Expect::Verdicts {
            items: claims.len(),
        };
        let (items, texts) = (owned(&claims), owned(&evidence));
        let shown = match self.formula {
            Formula::Answer => Part::Text("ANSWER", evidence.first().copied().unwrap_or_default()),
            _ => Part::Numbered("PASSAGE", evidence),
        };
        let parts = [
            Part::Question(sample),
            shown,
            Part::Lines("CLAIMS", 1, &items),
        ];
        let messages = self.judged.prompt.render(items.len(), spoken, &parts);
        self.judged.ask(expect, messages, items, texts)
    }
}

impl ContextRecall {
    fn score(&self, verdicts: &[Verdict], claims: &[&str], ends: &[usize]) -> Outcome {
        let fault = match self.formula {
            Formula::Answer => "not in the answer",
            _ => "not in the contexts",
        };
        let found = match self.formula {
            Formula::Contexts | Formula::Answer => best(verdicts, ends),
            // Those have one reference.
            _ => ends.iter().find(|end| **end > 0).map(|&end| {
                let verdicts = &verdicts[..end];
                (share_of_yes(verdicts), 0..end)
            }),
        };
        let Some((score, range)) = found else {
            return Outcome::NotApplicable("no claims in the reference".to_owned());
        };
        let claims = claims[range.clone()].iter().copied();
        Outcome::Score {
            score,
            reason: reason::missing("claims of the reference", fault, claims, &verdicts[range]),
        }
    }
}

/// The claims of all references, and where among them each reference ends.
pub(super) fn claims<'a>(references: &[&'a str]) -> (Vec<&'a str>, Vec<usize>) {
    let mut claims = Vec::new();
    let mut ends = Vec::with_capacity(references.len());
    for reference in references {
        claims.append(&mut sentences::split(reference));
        ends.push(claims.len());
    }
    (claims, ends)
}

/// The best mean over the references, and which verdicts are of that reference; `None` when none has a claim.
pub(super) fn best(verdicts: &[Verdict], ends: &[usize]) -> Option<(f64, std::ops::Range<usize>)> {
    let mut best: Option<(f64, std::ops::Range<usize>)> = None;
    let mut start = 0;
    for &end in ends {
        let range = std::mem::replace(&mut start, end)..end;
        if range.is_empty() {
            continue;
        }
        let score = mean(&verdicts[range.clone()]);
        if best.as_ref().is_none_or(|(best, _)| score > *best) {
            best = Some((score, range));
        }
    }
    best
}
