//! Is the answer the reference?

use unicode_normalization::UnicodeNormalization as _;

use super::formula::{Formula, holds};
use super::{info, normalise, sides};
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric, reason};

/// 1 when the answer equals a reference after normalisation, else 0.
#[derive(Debug)]
pub(crate) struct ExactMatch(Info);

impl ExactMatch {
    pub(crate) fn new(name: &str) -> Self {
        ExactMatch(info(name, false))
    }
}

impl Metric for ExactMatch {
    fn info(&self) -> &Info {
        &self.0
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Step::Done(Outcome::NotApplicable(why)),
        };
        let answer_tokens = normalise::normalised(answer);
        let is_match = references
            .iter()
            .any(|reference| answer_tokens == normalise::normalised(reference));
        Step::Done(Outcome::Score {
            score: f64::from(u8::from(is_match)),
            reason: (!is_match).then(|| {
                let (answer, reference) = (
                    reason::cut(answer.trim(), 90),
                    reason::cut(references[0].trim(), 90),
                );
                format!("«{answer}» is not «{reference}»")
            }),
        })
    }
}

/// 1 when the answer equals a reference after trimming and NFC, else 0.
pub(super) fn strict(name: &str) -> Box<dyn Metric> {
    let nfc = |text: &str| text.trim().nfc().collect::<String>();
    Formula::boxed(info(name, false), move |sample| {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Outcome::NotApplicable(why),
        };
        let answer = nfc(answer);
        holds(
            references.iter().any(|reference| nfc(reference) == answer),
            || {
                let reference = references.first().map_or("", |first| first.trim());
                format!(
                    "«{}» is not «{}»",
                    reason::cut(&answer, 90),
                    reason::cut(reference, 90)
                )
            },
        )
    })
}
