//! Do the retrieved passages hold what the reference answer says?

use super::{Judged, mean, not_applicable, owned, passages, references, verdicts};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{CONTEXT_RECALL, Part, Prompt};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric, reason, sentences};

/// The share of the reference's sentences that can be attributed to the passages; with several references, the best.
#[derive(Debug)]
pub(crate) struct ContextRecall(Judged);

impl ContextRecall {
    pub(crate) fn new(name: &str) -> Self {
        let prompt = Prompt::verdicts(CONTEXT_RECALL);
        ContextRecall(Judged::new(
            name,
            "context_recall",
            prompt,
            &[Column::Reference, Column::Contexts],
        ))
    }
}

impl Metric for ContextRecall {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.0.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let references = references(sample);
        if references.is_empty() {
            return not_applicable("no reference");
        }
        let Some(passages) = passages(sample) else {
            return not_applicable("no contexts");
        };
        let mut claims = Vec::new();
        let mut ends = Vec::with_capacity(references.len());
        for reference in references {
            claims.append(&mut sentences::split(reference));
            ends.push(claims.len());
        }
        if claims.is_empty() {
            return not_applicable("no claims in the reference");
        }
        if let Some(answer) = answers.first() {
            return Step::Done(score(answer, &claims, &ends));
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
            "Claims 1 to {}: can each be attributed to the passages?",
            claims.len()
        );
        let messages = self.0.prompt.render(&task, &parts);
        self.0.ask(expect, messages, items, evidence)
    }
}

/// `ends` says where in `claims` each reference ends.
fn score(answer: &Answer, claims: &[&str], ends: &[usize]) -> Outcome {
    let all = match verdicts(answer, claims.len()) {
        Ok(verdicts) => verdicts,
        Err(failed) => return failed,
    };
    let mut best: Option<(f64, std::ops::Range<usize>)> = None;
    let mut start = 0;
    for &end in ends {
        let range = std::mem::replace(&mut start, end)..end;
        if range.is_empty() {
            continue;
        }
        let score = mean(&all[range.clone()]);
        if best.as_ref().is_none_or(|(best, _)| score > *best) {
            best = Some((score, range));
        }
    }
    let Some((score, range)) = best else {
        return Outcome::NotApplicable("no claims in the reference".to_owned());
    };
    let claims = claims[range.clone()].iter().copied();
    Outcome::Score {
        score,
        reason: reason::missing(
            "claims of the reference",
            "not in the contexts",
            claims,
            &all[range],
        ),
    }
}
