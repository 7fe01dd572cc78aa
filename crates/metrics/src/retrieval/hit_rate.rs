//! Was anything relevant retrieved at all?

use super::info;
use super::ranking::Ranking;
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric};

/// `hit_rate@k`: 1 when a relevant passage is among the first k, else 0; `hit_rate` looks at all of them.
#[derive(Debug)]
pub(crate) struct HitRate {
    info: Info,
    k: Option<usize>,
}

impl HitRate {
    pub(crate) fn new(name: &str, k: Option<usize>) -> Self {
        HitRate {
            info: info(name),
            k,
        }
    }
}

impl Metric for HitRate {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let ranking = match Ranking::of(sample) {
            Ok(ranking) => ranking,
            Err(why) => return Step::Done(Outcome::NotApplicable(why.to_owned())),
        };
        let seen = ranking.retrieved.len().min(self.k.unwrap_or(usize::MAX));
        let is_hit = ranking.found(seen) > 0;
        Step::Done(Outcome::Score {
            score: f64::from(u8::from(is_hit)),
            reason: (!is_hit).then(|| format!("no relevant passage among the first {seen}")),
        })
    }
}
