//! How resampling is seeded, and how much of it is affordable.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use super::{DRAWS, SEED};

/// Samples that all draws together may touch: a second or two of work.
const BUDGET: u64 = 200_000_000;

/// Draws that are made whatever they cost.
const FEWEST: u64 = 200;

/// Seed and number of draws of a resampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// Seed of the generator.
    pub seed: u64,
    /// Number of draws; a quantile of very many samples gets fewer.
    pub draws: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            seed: SEED,
            draws: DRAWS,
        }
    }
}

impl Resampling {
    /// As many of the draws as can be afforded when each goes through `samples` of them.
    pub(super) fn affordable(self, samples: usize) -> u64 {
        let affordable = BUDGET / u64::try_from(samples).unwrap_or(u64::MAX).max(1);
        self.draws.min(affordable.max(FEWEST)).max(1)
    }

    /// Whether going through all 2^`bits` permutations of `samples` is affordable.
    pub(super) fn can_enumerate(bits: usize, samples: usize) -> bool {
        bits <= MOST_ENUMERATED && (samples as u64).saturating_mul(1 << bits) <= BUDGET
    }

    /// The generator: `ChaCha8` from `rand`, whose stream is the same on every platform and in every version.
    pub(super) fn generator(self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.seed)
    }
}

/// The most clusters whose signs are all tried: 2^16 permutations.
pub(super) const MOST_ENUMERATED: usize = 16;

/// A number from 0 to `below` − 1, for `below` up to 2^32.
///
/// The high half of a product (Lemire 2019), without its rejection step: numbers differ in probability by at most
/// `below`/2^32. Written out because `random_range` may draw differently in the next version of rand, and verdicts would
/// change with it.
#[inline]
pub(super) fn index(generator: &mut ChaCha8Rng, below: usize) -> usize {
    ((u64::from(generator.next_u32()) * below as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_inputs_get_fewer_draws() {
        let resampling = Resampling::default();
        assert_eq!(resampling.affordable(0), 10_000);
        assert_eq!(resampling.affordable(20_000), 10_000);
        assert_eq!(resampling.affordable(100_000), 2_000);
        assert_eq!(resampling.affordable(usize::MAX), 200);
        let none = Resampling {
            draws: 0,
            ..resampling
        };
        assert_eq!(none.affordable(10), 1);
    }

    #[test]
    fn indices_are_in_range_and_all_occur() {
        let mut generator = Resampling::default().generator();
        let mut seen = [0; 7];
        for _ in 0..7000 {
            seen[index(&mut generator, 7)] += 1;
        }
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
    }
}
