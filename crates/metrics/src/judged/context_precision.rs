//! Do the useful passages stand before the useless ones?

use super::{Judged, is_blank, not_applicable, owned, passages, references, verdicts};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{CONTEXT_PRECISION, Part, Prompt};
use crate::request::{Expect, Verdict};
use crate::sample::Sample;
use crate::{Column, Info, Metric, reason};

/// The average precision of the ranking: a verdict for each passage, useful for arriving at the reference or not.
#[derive(Debug)]
pub(crate) struct ContextPrecision(Judged);

impl ContextPrecision {
    pub(crate) fn new(name: &str) -> Self {
        let prompt = Prompt::verdicts(CONTEXT_PRECISION);
        ContextPrecision(Judged::new(
            name,
            "context_precision",
            prompt,
            &[Column::Contexts],
        ))
    }
}

impl Metric for ContextPrecision {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.0.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let Some(passages) = passages(sample) else {
            return not_applicable("no contexts");
        };
        let mut goals = references(sample);
        if goals.is_empty() {
            goals.extend(sample.answer.as_deref().filter(|answer| !is_blank(answer)));
        }
        if goals.is_empty() {
            return not_applicable("no reference and no answer");
        }
        if let Some(answer) = answers.first() {
            return Step::Done(match verdicts(answer, passages.len()) {
                Ok(verdicts) => {
                    let score = average_precision(verdicts);
                    let reason = || {
                        reason::missing("passages", "not useful", passages.into_iter(), verdicts)
                    };
                    Outcome::Score {
                        score,
                        // Useless passages at the end take nothing from a perfect order.
                        reason: (score < 1.0).then(reason).flatten(),
                    }
                }
                Err(failed) => failed,
            });
        }
        let items = passages.len();
        let (texts, evidence) = (owned(&passages), owned(&goals));
        let parts = [
            Part::Question(sample),
            Part::Numbered("ANSWER", goals),
            Part::Numbered("PASSAGE", passages),
        ];
        let task = format!("Passages 1 to {items}: is each useful for arriving at the answer?");
        let messages = self.0.prompt.render(&task, &parts);
        self.0
            .ask(Expect::Verdicts { items }, messages, texts, evidence)
    }
}

/// `Σ precision@k · v_k / Σ v_k`: exactly 1 when all useful passages come first, 0 when none is useful.
fn average_precision(verdicts: &[Verdict]) -> f64 {
    let (mut useful, mut sum) = (0.0, 0.0);
    for (rank, verdict) in (1_u32..).zip(verdicts) {
        useful += verdict.holds;
        sum += useful / f64::from(rank) * verdict.holds;
    }
    if useful > 0.0 {
        (sum / useful).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(useful: &[u8], expected: f64) {
        let verdicts: Vec<_> = useful
            .iter()
            .map(|&useful| Verdict::new(f64::from(useful), ""))
            .collect();
        assert!(
            (average_precision(&verdicts) - expected).abs() < 1e-12,
            "{useful:?}"
        );
    }

    #[test]
    fn the_order_counts() {
        check(&[1, 1, 0], 1.0);
        check(&[0, 1], 0.5);
        check(&[1, 0, 1], 5.0 / 6.0);
        check(&[0, 0, 0], 0.0);
    }

    #[test]
    fn perfect_is_exactly_one() {
        let verdicts = vec![Verdict::new(1.0, ""); 7];
        assert_eq!(average_precision(&verdicts).to_bits(), 1.0_f64.to_bits());
    }
}
