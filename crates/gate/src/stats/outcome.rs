//! What a permutation test says.

/// How the permutations were gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// All of them.
    Exact,
    /// A random sample of them.
    MonteCarlo,
}

/// The p-values of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Share of the permutations that are at least as bad as what was observed, above 0 and up to 1.
    pub p_one_sided: f64,
    /// Share of the permutations that are at least as far from no change, in either direction, above 0 and up to 1.
    pub p_two_sided: f64,
    /// How the permutations were gone through.
    pub method: Method,
    /// The number of permutations gone through.
    pub draws: u64,
    /// The smallest one-sided p-value this test could have given, whatever the data: 2^−m for m clusters with a
    /// difference, 1/(draws + 1) for a random sample.
    pub floor: f64,
}

/// Counts permutations that are as extreme as the observed one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extremes {
    worse: u64,
    farther: u64,
    draws: u64,
}

impl Extremes {
    /// Counts one permutation.
    #[inline]
    pub(super) fn count(&mut self, worse: bool, farther: bool) {
        self.worse += u64::from(worse);
        self.farther += u64::from(farther);
        self.draws += 1;
    }

    /// The outcome when every permutation was counted, the observed one among them.
    pub(super) fn exact(self) -> Outcome {
        let draws = self.draws as f64;
        Outcome {
            p_one_sided: self.worse as f64 / draws,
            p_two_sided: self.farther as f64 / draws,
            method: Method::Exact,
            draws: self.draws,
            floor: 1.0 / draws,
        }
    }

    /// The outcome for a random sample. The observed permutation counts as one more, without which the test would reject
    /// too often and p could be 0 (Phipson and Smyth 2010).
    pub(super) fn sampled(self) -> Outcome {
        let draws = (self.draws + 1) as f64;
        Outcome {
            p_one_sided: (self.worse + 1) as f64 / draws,
            p_two_sided: (self.farther + 1) as f64 / draws,
            method: Method::MonteCarlo,
            draws: self.draws,
            floor: 1.0 / draws,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observed_permutation_counts() {
        let mut extremes = Extremes::default();
        for draw in 0..9 {
            extremes.count(false, draw == 0);
        }
        let sampled = extremes.sampled();
        assert_eq!((sampled.p_one_sided, sampled.p_two_sided), (0.1, 0.2));
        assert_eq!((sampled.floor, sampled.draws), (0.1, 9));
        extremes.count(true, true);
        let exact = extremes.exact();
        assert_eq!((exact.p_one_sided, exact.p_two_sided), (0.1, 0.2));
    }
}
