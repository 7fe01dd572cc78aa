//! How much of what is relevant is among the first k?

use super::info;
use super::ranking::Ranking;
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric};

/// `recall@k`: the relevant passages among the first k, divided by all relevant ones.
#[derive(Debug)]
pub(crate) struct Recall {
    info: Info,
    k: usize,
}

impl Recall {
    pub(crate) fn new(name: &str, k: usize) -> Self {
        Recall {
            info: info(name),
            k,
        }
    }
}

impl Metric for Recall {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let ranking = match Ranking::of(sample) {
            Ok(ranking) => ranking,
            Err(why) => return Step::Done(Outcome::NotApplicable(why.to_owned())),
        };
        let (found, relevant) = (ranking.found(self.k), ranking.relevant.len());
        Step::Done(Outcome::Score {
            score: found as f64 / relevant as f64,
            reason: (found < relevant).then(|| {
                format!(
                    "{found} of {relevant} relevant passages among the first {}",
                    self.k
                )
            }),
        })
    }
}
