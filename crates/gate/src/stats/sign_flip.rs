//! The sign-flip permutation test of a mean difference.

use rand::Rng;
use rand::rngs::ChaCha8Rng;

use super::outcome::Extremes;
use super::resampling::{MOST_ENUMERATED, index};
use super::{Outcome, ROUNDING, Resampling};

/// Groups of clusters whose signs are drawn: beyond that clusters share one.
const MOST_FLIPPED: usize = 10_000;

/// Tests whether a mean got worse, from the sums of its differences over clusters, positive for worse.
///
/// When nothing changed, before and now are exchangeable, and each cluster's sum could as well have had the other sign
/// (Fisher 1935; over clusters: Cameron, Gelbach and Miller 2008). The statistic is the total; p is the share of sign
/// assignments whose total is at least the observed one, ties included.
///
/// - Up to 16 sums that are not zero: all assignments.
/// - More: `resampling.draws` random ones.
/// - More than 10 000: random ones too, but clusters share a sign in 10 000 groups, put together at random. A subgroup of
///   the sign flips is as valid a test as all of them (Hemerik and Goeman 2018), without the normal approximation that one
///   huge cluster would break; a million samples take a fraction of a second.
///
/// The order of the sums and a common factor change nothing. No sums, or zeros alone, give p = 1; `None` when a sum is
/// not finite.
pub fn sign_flip(worse: &[f64], resampling: Resampling) -> Option<Outcome> {
    if !worse.iter().all(|sum| sum.is_finite()) {
        return None;
    }
    let mut generator = resampling.generator();
    let sums = grouped(scaled(worse), &mut generator);
    let observed = Observed::new(&sums);
    let mut extremes = Extremes::default();
    if sums.len() <= MOST_ENUMERATED {
        for flipped in subset_sums(&sums) {
            observed.compare(flipped, &mut extremes);
        }
        return Some(extremes.exact());
    }
    // Eight signs at a time: a draw adds up one entry of each table instead of eight sums.
    let tables: Vec<Vec<f64>> = sums.chunks(8).map(subset_sums_of_eight).collect();
    for _ in 0..resampling.draws.max(1) {
        let mut flipped = 0.0;
        for eight in tables.chunks(8) {
            for (table, signs) in eight.iter().zip(generator.next_u64().to_le_bytes()) {
                flipped += table[usize::from(signs)];
            }
        }
        observed.compare(flipped, &mut extremes);
    }
    Some(extremes.sampled())
}

/// The total of the sums as they are, and what counts as equal to it.
struct Observed {
    total: f64,
    tolerance: f64,
}

impl Observed {
    fn new(sums: &[f64]) -> Self {
        Self {
            total: sums.iter().sum(),
            tolerance: ROUNDING * sums.iter().map(|sum| sum.abs()).sum::<f64>(),
        }
    }

    /// Counts the assignment that flips sums which add up to `flipped`: its total is the observed one less twice that.
    #[inline]
    fn compare(&self, flipped: f64, extremes: &mut Extremes) {
        let total = self.total - 2.0 * flipped;
        extremes.count(
            flipped <= self.tolerance,
            total.abs() >= self.total.abs() - 2.0 * self.tolerance,
        );
    }
}

/// The sums that are not zero, largest first, as multiples of the largest: small or huge units neither vanish nor overflow.
fn scaled(worse: &[f64]) -> Vec<f64> {
    let largest = worse.iter().fold(0.0_f64, |most, sum| most.max(sum.abs()));
    let mut sums: Vec<f64> = worse
        .iter()
        .filter(|sum| **sum != 0.0)
        .map(|sum| sum / largest)
        .collect();
    sums.sort_unstable_by(|a, b| b.abs().total_cmp(&a.abs()).then_with(|| b.total_cmp(a)));
    sums
}

/// At most [`MOST_FLIPPED`] sums: beyond that, shuffled and added up in groups.
///
/// Which clusters share a group must not depend on the signs under test, and the sorted order does where magnitudes are
/// equal: positive sums would meet each other, and zeros and ones give nothing but equal magnitudes.
fn grouped(mut sums: Vec<f64>, generator: &mut ChaCha8Rng) -> Vec<f64> {
    if sums.len() <= MOST_FLIPPED {
        return sums;
    }
    for last in (1..sums.len()).rev() {
        sums.swap(last, index(generator, last + 1));
    }
    let mut groups = vec![0.0; MOST_FLIPPED];
    for hand in sums.chunks(MOST_FLIPPED) {
        for (group, sum) in groups.iter_mut().zip(hand) {
            *group += sum;
        }
    }
    groups
}

/// The sum of every subset: entry i holds that of the terms whose bits are set in i.
fn subset_sums(terms: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(1 << terms.len());
    sums.push(0.0);
    for term in terms {
        let without = sums.len();
        sums.extend_from_within(..);
        for sum in &mut sums[without..] {
            *sum += term;
        }
    }
    sums
}

/// As [`subset_sums`], padded with zeros to eight terms.
fn subset_sums_of_eight(terms: &[f64]) -> Vec<f64> {
    let mut eight = [0.0; 8];
    for (padded, term) in eight.iter_mut().zip(terms) {
        *padded = *term;
    }
    subset_sums(&eight)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "shares of 2^m are exact")]
mod tests {
    use super::super::Method;
    use super::*;

    fn test(worse: &[f64]) -> Outcome {
        sign_flip(worse, Resampling::default()).unwrap()
    }

    #[test]
    fn few_clusters_are_enumerated() {
        let outcome = test(&[1.0, 2.0, 0.0, 3.0]);
        assert_eq!(outcome.method, Method::Exact);
        assert_eq!((outcome.draws, outcome.floor), (8, 0.125));
        assert_eq!((outcome.p_one_sided, outcome.p_two_sided), (0.125, 0.25));
    }

    #[test]
    fn ties_count_whatever_the_rounding() {
        // 0.1 + 0.2 = 0.3: flipping all three leaves 0 flipped in sum, a tie in decimal and not in binary.
        assert_eq!(test(&[0.1, 0.2, -0.3]).p_one_sided, 5.0 / 8.0);
        assert_eq!(test(&[-0.1, -0.2, 0.3]).p_one_sided, 5.0 / 8.0);
    }

    #[test]
    fn no_difference_is_no_evidence() {
        for worse in [[].as_slice(), &[0.0, 0.0], &[-0.0]] {
            let outcome = test(worse);
            assert_eq!((outcome.p_one_sided, outcome.floor), (1.0, 1.0));
        }
        assert_eq!(sign_flip(&[f64::NAN], Resampling::default()), None);
        assert_eq!(sign_flip(&[f64::INFINITY; 20], Resampling::default()), None);
    }

    #[test]
    fn extreme_units_neither_vanish_nor_overflow() {
        for unit in [1e-308, 1e-300, 1.0, 1e300, 1e308] {
            assert_eq!(test(&[unit; 6]).p_one_sided, 1.0 / 64.0, "{unit:e}");
        }
    }

    #[test]
    fn a_random_sample_agrees_with_enumeration() {
        let sixteen: Vec<f64> = (0..16).map(|i| f64::from(i % 7) - 2.5).collect();
        let exact = test(&sixteen);
        // A seventeenth sum without weight turns enumeration into sampling.
        let seventeen: Vec<f64> = sixteen.iter().copied().chain([1e-300]).collect();
        let sampled = test(&seventeen);
        assert_eq!(sampled.method, Method::MonteCarlo);
        assert_eq!(sampled.floor, 1.0 / 10_001.0);
        let error = (exact.p_one_sided * (1.0 - exact.p_one_sided) / 1e4).sqrt();
        assert!((exact.p_one_sided - sampled.p_one_sided).abs() < 4.0 * error);
    }

    #[test]
    fn a_million_clusters_are_grouped() {
        // Mean 0.003 and standard deviation 1 over 10^6: z = 3, p = 0.00135.
        let sums: Vec<f64> = (0..1_000_000)
            .map(|i| if i % 2 == 0 { 1.003 } else { -0.997 })
            .collect();
        let outcome = test(&sums);
        assert_eq!(outcome.draws, 10_000);
        assert!(
            (0.0002..0.003).contains(&outcome.p_one_sided),
            "{outcome:?}"
        );
    }

    #[test]
    fn groups_do_not_sort_signs() {
        // As many better as worse, but for 1644 of a million: z = 1.644, p = 0.05.
        let signs: Vec<f64> = (0..1_000_000)
            .map(|i| if i % 2 == 0 || i < 1645 { 1.0 } else { -1.0 })
            .collect();
        let outcome = test(&signs);
        assert!((0.035..0.065).contains(&outcome.p_one_sided), "{outcome:?}");
    }

    #[test]
    fn one_huge_cluster_among_many_is_not_evidence() {
        let mut sums: Vec<f64> = (0..20_000).map(|i| f64::from(i % 2) - 0.5).collect();
        sums.push(1e6);
        // At least as bad is: the huge one unflipped, and no less than nothing of the rest.
        let outcome = test(&sums);
        assert!((outcome.p_one_sided - 0.25).abs() < 0.03, "{outcome:?}");
    }

    #[test]
    fn subsets_are_indexed_by_their_bits() {
        assert_eq!(
            subset_sums(&[1.0, 2.0, 4.0]),
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
        );
        assert_eq!(subset_sums_of_eight(&[1.0])[255], 1.0);
    }
}
