//! Do the useful passages stand before the useless ones?

use gate::policy::Against;

use super::{
    Judged, Kind, done, is_blank, is_yes, not_applicable, owned, passages, references, score,
    verdicts,
};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::{Expect, Verdict};
use crate::sample::Sample;
use crate::{Column, Info, Metric};

const KIND: Kind = Kind {
    name: "context_precision",
    version: "1",
    template: include_str!("../../prompts/context_precision.md"),
    task: "Passages 1 to {items}: is each useful for arriving at the answer?",
};

/// Added by Ragas to what it divides by.
const EPSILON: f64 = 1e-10;

/// What is made of the verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// Average precision.
    Exact,
    /// The same, divided by a little more.
    Ragas,
    /// The same as ours, by the reference alone; 0 without passages.
    DeepEval,
}

/// The average precision of the ranking: a verdict for each passage, useful for arriving at the goal or not.
#[derive(Debug)]
pub(super) struct ContextPrecision {
    judged: Judged,
    formula: Formula,
    against: Option<Against>,
}

impl ContextPrecision {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let values = Values {
            form: form::verdicts(),
            ..Values::default()
        };
        let against = match formula {
            Formula::DeepEval => Some(Against::Reference),
            _ => of.section.against,
        };
        let needs: &[Column] = match against {
            None => &[Column::Contexts],
            Some(Against::Reference) => &[Column::Contexts, Column::Reference],
            Some(Against::Answer) => &[Column::Contexts, Column::Answer],
        };
        Ok(ContextPrecision {
            judged: Judged::new(of, KIND, &values, needs)?,
            formula,
            against,
        })
    }

    /// What the passages are to help with: the references, or the answer.
    fn goals<'a>(&self, sample: &'a Sample) -> Result<Vec<&'a str>, &'static str> {
        let answer = || {
            let answer = sample.answer.as_deref();
            answer.filter(|answer| !is_blank(answer))
        };
        let mut goals = match self.against {
            Some(Against::Answer) => Vec::new(),
            _ => references(sample),
        };
        if self.against != Some(Against::Reference) && goals.is_empty() {
            goals.extend(answer());
        }
        match (goals.is_empty(), self.against) {
            (false, _) => Ok(goals),
            (true, None) => Err("no reference and no answer"),
            (true, Some(Against::Reference)) => Err("no reference"),
            (true, Some(Against::Answer)) => Err("no answer"),
        }
    }
}

impl Metric for ContextPrecision {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let passages = match passages(sample) {
            Some(passages) => passages,
            None if self.formula == Formula::DeepEval && sample.contexts.is_some() => {
                return done(score(0.0, "no contexts, which DeepEval scores 0"));
            }
            None => return not_applicable("no contexts"),
        };
        let goals = match self.goals(sample) {
            Ok(goals) => goals,
            Err(why) => return not_applicable(why),
        };
        if let Some(answer) = answers.first() {
            return done(match verdicts(answer, passages.len()) {
                Ok(verdicts) => self.score(&passages, verdicts),
                Err(failed) => failed,
            });
        }
        let items = passages.len();
        let (texts, evidence) = (owned(&passages), owned(&goals));
        let spoken = goals.first().copied().unwrap_or_default();
        let parts = [
            Part::Question(sample),
            Part::Numbered("ANSWER", goals),
            Part::Numbered("PASSAGE", passages),
        ];
        let messages = self.judged.prompt.render(items, spoken, &parts);
        self.judged
            .ask(Expect::Verdicts { items }, messages, texts, evidence)
    }
}

impl ContextPrecision {
    fn score(&self, passages: &[&str], verdicts: &[Verdict]) -> Outcome {
        let holds = verdicts.iter();
        let score = match self.formula {
            Formula::Exact => average_precision(holds.map(|verdict| verdict.holds), 0.0),
            Formula::Ragas => average_precision(binary(verdicts), EPSILON),
            Formula::DeepEval => average_precision(binary(verdicts), 0.0),
        };
        // Useless passages at the end take nothing from a perfect order.
        let is_perfect = score >= 1.0 - 2.0 * EPSILON;
        let passages = passages.iter().copied();
        Outcome::Score {
            score,
            reason: (!is_perfect)
                .then(|| reason::missing("passages", "not useful", passages, verdicts))
                .flatten(),
        }
    }
}

fn binary(verdicts: &[Verdict]) -> impl Iterator<Item = f64> {
    verdicts
        .iter()
        .map(|verdict| f64::from(u8::from(is_yes(verdict))))
}

/// `Σ precision@k · v_k / (Σ v_k + epsilon)`; without the epsilon exactly 1 when all useful passages come first. 0 when none
/// is useful.
fn average_precision(useful: impl Iterator<Item = f64>, epsilon: f64) -> f64 {
    let (mut total, mut sum) = (0.0, 0.0);
    for (rank, useful) in (1_u32..).zip(useful) {
        total += useful;
        sum += total / f64::from(rank) * useful;
    }
    if total > 0.0 {
        (sum / (total + epsilon)).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(useful: &[u8], epsilon: f64, expected: f64) {
        let found = average_precision(useful.iter().map(|&useful| f64::from(useful)), epsilon);
        assert!((found - expected).abs() < 1e-13, "{useful:?}: {found}");
    }

    #[test]
    fn the_order_counts() {
        check(&[1, 1, 0], 0.0, 1.0);
        check(&[0, 1], 0.0, 0.5);
        check(&[1, 0, 1], 0.0, 5.0 / 6.0);
        check(&[0, 0, 0], 0.0, 0.0);
    }

    #[test]
    fn perfect_is_exactly_one_but_for_ragas() {
        let perfect = |epsilon| average_precision(std::iter::repeat_n(1.0, 2), epsilon);
        assert_eq!(perfect(0.0).to_bits(), 1.0_f64.to_bits());
        check(&[1, 1], EPSILON, 0.999_999_999_95);
        check(&[0, 0], EPSILON, 0.0);
    }
}
