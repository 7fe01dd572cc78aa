//! How many words do the answer and the reference share?

use std::cmp::Ordering;

use gate::policy::Measure;

use super::{info, normalise, sides};
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric};

/// F1, precision or recall of the tokens, counted with their repetitions, after normalisation; the best over the references.
#[derive(Debug)]
pub(crate) struct TokenF1 {
    info: Info,
    measure: Measure,
}

impl TokenF1 {
    pub(crate) fn new(name: &str, measure: Measure) -> Self {
        let mut info = info(name, false);
        if measure != Measure::F1 {
            info.version = format!("{}, {measure:?}", info.version);
        }
        TokenF1 { info, measure }
    }
}

impl Metric for TokenF1 {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Step::Done(Outcome::NotApplicable(why)),
        };
        let answer = normalise::normalised(answer);
        let answer = sorted(&answer);
        let best = references
            .iter()
            .map(|reference| {
                measured(
                    &answer,
                    &sorted(&normalise::normalised(reference)),
                    self.measure,
                )
            })
            .fold(0.0, f64::max);
        Step::Done(Outcome::Score {
            score: best,
            reason: None,
        })
    }
}

fn sorted(tokens: &str) -> Vec<&str> {
    let mut sorted: Vec<&str> = tokens
        .split(' ')
        .filter(|token| !token.is_empty())
        .collect();
    sorted.sort_unstable();
    sorted
}

/// Of two sorted sides. Where one is empty, as in SQuAD 2.0: 1 when both are, else 0.
fn measured(answer: &[&str], reference: &[&str], measure: Measure) -> f64 {
    if answer.is_empty() || reference.is_empty() {
        return f64::from(u8::from(answer.is_empty() && reference.is_empty()));
    }
    let (mut shared, mut at, mut other) = (0_u32, 0, 0);
    while let (Some(one), Some(two)) = (answer.get(at), reference.get(other)) {
        let order = one.cmp(two);
        shared += u32::from(order == Ordering::Equal);
        at += usize::from(order != Ordering::Greater);
        other += usize::from(order != Ordering::Less);
    }
    let of = match measure {
        Measure::F1 => (answer.len() + reference.len()) as f64 / 2.0,
        Measure::Precision => answer.len() as f64,
        Measure::Recall => reference.len() as f64,
    };
    f64::from(shared) / of
}
