//! A metric that is a function of the sample alone.

use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric};

/// What is computed of a sample.
type Compute = Box<dyn Fn(&Sample) -> Outcome + Send + Sync>;

/// A formula under its name.
pub(super) struct Formula {
    info: Info,
    compute: Compute,
}

impl Formula {
    /// `compute` gives scores within the range of `info`.
    pub(super) fn boxed(
        info: Info,
        compute: impl Fn(&Sample) -> Outcome + Send + Sync + 'static,
    ) -> Box<dyn Metric> {
        Box::new(Formula {
            info,
            compute: Box::new(compute),
        })
    }
}

impl std::fmt::Debug for Formula {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Formula").field(&self.info.name).finish()
    }
}

impl Metric for Formula {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        Step::Done((self.compute)(sample))
    }
}

/// A score without a reason.
pub(super) fn score(score: f64) -> Outcome {
    Outcome::Score {
        score,
        reason: None,
    }
}

/// 1 where it holds, else 0 and why.
pub(super) fn holds(holds: bool, why_not: impl FnOnce() -> String) -> Outcome {
    Outcome::Score {
        score: f64::from(u8::from(holds)),
        reason: (!holds).then(|| crate::reason::short(&why_not())),
    }
}
