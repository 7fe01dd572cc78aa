//! How many words do the answer and the reference share?

use std::collections::HashMap;

use super::{info, normalise, sides};
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric};

/// F1 of the tokens, counted with their repetitions, after normalisation; the best over the references.
#[derive(Debug)]
pub(crate) struct TokenF1(Info);

impl TokenF1 {
    pub(crate) fn new(name: &str) -> Self {
        TokenF1(info(name, false))
    }
}

impl Metric for TokenF1 {
    fn info(&self) -> &Info {
        &self.0
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Step::Done(Outcome::NotApplicable(why)),
        };
        let answer = normalise::tokens(answer);
        let best = references
            .iter()
            .map(|reference| f1(&answer, &normalise::tokens(reference)))
            .fold(0.0, f64::max);
        Step::Done(Outcome::Score {
            score: best,
            reason: None,
        })
    }
}

/// Where a side is empty, as in SQuAD 2.0: 1 when both are, else 0.
fn f1(answer: &[String], reference: &[String]) -> f64 {
    if answer.is_empty() || reference.is_empty() {
        return f64::from(u8::from(answer.is_empty() && reference.is_empty()));
    }
    let mut left: HashMap<&str, u32> = HashMap::with_capacity(reference.len());
    for token in reference {
        *left.entry(token).or_default() += 1;
    }
    let mut shared = 0_u32;
    for token in answer {
        if let Some(count) = left.get_mut(token.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    2.0 * f64::from(shared) / (answer.len() + reference.len()) as f64
}
