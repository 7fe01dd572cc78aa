//! The label-swap permutation test, for aggregates that are no means.

use rand::Rng;

use crate::policy::Direction;

use super::aggregate::Position;
use super::outcome::Extremes;
use super::paired::Grouped;
use super::{Aggregate, Outcome, Paired, ROUNDING, Resampling, sign_flip};

/// Tests whether an aggregate of a metric with direction `metric` got worse.
///
/// When nothing changed, the labels "before" and "now" of a cluster could as well be the other way round. The statistic is
/// the difference of the aggregates in the bad direction; p is the share of label assignments for which it is at least the
/// observed one, ties included. For means this is the sign-flip test, and so it is done for a pass rate, the mean of zeros
/// and ones.
///
/// All assignments where at most 16 clusters have a difference, fewer for many samples; else `resampling.draws` random
/// ones, again fewer for many samples. `None` without samples.
pub fn label_swap(
    paired: &Paired<'_>,
    aggregate: Aggregate,
    metric: Direction,
    resampling: Resampling,
) -> Option<Outcome> {
    if paired.is_empty() {
        return None;
    }
    let direction = aggregate.direction(metric);
    let Some(percent) = aggregate.percent() else {
        let sums = paired.cluster_sums_of(aggregate)?;
        return sign_flip(&sums.worse(direction), resampling);
    };
    let grouped = paired.grouped();
    let labels = Labels::new(&grouped, Position::of_percent(paired.len(), percent)?);
    let test = Test {
        observed: labels.rise()?,
        tolerance: ROUNDING * labels.scale(),
        direction,
    };
    let changed: Vec<usize> = (0..grouped.clusters())
        .filter(|&cluster| differs(&grouped, cluster))
        .collect();
    if Resampling::can_enumerate(changed.len(), paired.len()) {
        test.enumerate(labels, &changed)
    } else {
        test.sample(labels, &changed, resampling, paired.len())
    }
}

/// Whether swapping the labels of a cluster can change anything.
fn differs(grouped: &Grouped, cluster: usize) -> bool {
    let members = grouped.starts[cluster]..grouped.starts[cluster + 1];
    grouped.before[members.clone()]
        .iter()
        .zip(&grouped.now[members])
        .any(|(before, now)| (now - before).abs() > ROUNDING * (before.abs() + now.abs()))
}

struct Test {
    observed: f64,
    tolerance: f64,
    direction: Direction,
}

impl Test {
    fn enumerate(&self, mut labels: Labels, changed: &[usize]) -> Option<Outcome> {
        let mut extremes = Extremes::default();
        self.compare(&labels, &mut extremes)?;
        // In the order of the Gray code each assignment is one swap away from the one before.
        for step in 1_u32..1 << changed.len() {
            labels.swap(changed[step.trailing_zeros() as usize]);
            self.compare(&labels, &mut extremes)?;
        }
        Some(extremes.exact())
    }

    fn sample(
        &self,
        mut labels: Labels,
        changed: &[usize],
        resampling: Resampling,
        samples: usize,
    ) -> Option<Outcome> {
        let mut extremes = Extremes::default();
        let mut generator = resampling.generator();
        for _ in 0..resampling.affordable(samples) {
            // Random swaps of any assignment are a uniformly random one: there is no need to start again.
            for word in changed.chunks(64) {
                let mut swaps = generator.next_u64();
                for &cluster in word {
                    if swaps & 1 == 1 {
                        labels.swap(cluster);
                    }
                    swaps >>= 1;
                }
            }
            self.compare(&labels, &mut extremes)?;
        }
        Some(extremes.sampled())
    }

    fn compare(&self, labels: &Labels, extremes: &mut Extremes) -> Option<()> {
        let rise = labels.rise()?;
        let worse = match self.direction {
            Direction::Higher => rise <= self.observed + self.tolerance,
            Direction::Lower => rise >= self.observed - self.tolerance,
        };
        extremes.count(worse, rise.abs() >= self.observed.abs() - self.tolerance);
        Some(())
    }
}

/// All 2n scores in one sorted list, and one bit each for who has it now.
///
/// A swap turns two bits over, and an order statistic is found by counting bits, 64 at a time: no draw sorts or copies.
struct Labels<'a> {
    sorted: Vec<f64>,
    /// Places in `sorted` of each pair, in the order of the clusters: before and now.
    ranks: Vec<[usize; 2]>,
    starts: &'a [usize],
    /// The bits of the scores that are labelled "now"; those beyond the last score are set.
    now: Vec<u64>,
    position: Position,
}

impl<'a> Labels<'a> {
    fn new(grouped: &'a Grouped, position: Position) -> Self {
        let n = grouped.before.len();
        let value = |score: usize| {
            if score < n {
                grouped.before[score]
            } else {
                grouped.now[score - n]
            }
        };
        let mut order: Vec<usize> = (0..2 * n).collect();
        order.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(&b)));
        let mut ranks = vec![[0; 2]; n];
        let mut now = vec![u64::MAX; (2 * n).div_ceil(64)];
        for (rank, &score) in order.iter().enumerate() {
            if score < n {
                ranks[score][0] = rank;
                now[rank / 64] ^= 1 << (rank % 64);
            } else {
                ranks[score - n][1] = rank;
            }
        }
        Self {
            sorted: order.into_iter().map(value).collect(),
            ranks,
            starts: &grouped.starts,
            now,
            position,
        }
    }

    fn swap(&mut self, cluster: usize) {
        for ranks in &self.ranks[self.starts[cluster]..self.starts[cluster + 1]] {
            for rank in ranks {
                self.now[rank / 64] ^= 1 << (rank % 64);
            }
        }
    }

    /// By how much the aggregate is higher with the label "now" than with "before".
    fn rise(&self) -> Option<f64> {
        let now = self.quantile(self.now.iter().copied())?;
        let before = self.quantile(self.now.iter().map(|word| !word))?;
        Some(now - before).filter(|rise| rise.is_finite())
    }

    fn quantile(&self, words: impl Iterator<Item = u64>) -> Option<f64> {
        let mut passed = 0;
        let mut lower = None;
        for (index, word) in words.enumerate() {
            let ones = word.count_ones() as usize;
            let rank = |order: usize| {
                (order < passed + ones).then(|| index * 64 + place_of_one(word, order - passed))
            };
            lower = lower.or_else(|| rank(self.position.lower));
            if let Some(upper) = rank(self.position.upper) {
                let (&lower, &upper) = (self.sorted.get(lower?)?, self.sorted.get(upper)?);
                return Some(self.position.between(lower, upper));
            }
            passed += ones;
        }
        None
    }

    /// The largest magnitude of a score.
    fn scale(&self) -> f64 {
        let ends = [self.sorted.first(), self.sorted.last()];
        ends.into_iter()
            .flatten()
            .fold(0.0, |most, end| end.abs().max(most))
    }
}

/// Where the set bit is that has `before` set bits below it.
fn place_of_one(mut word: u64, before: usize) -> usize {
    for _ in 0..before {
        word &= word - 1;
    }
    word.trailing_zeros() as usize
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "shares of 2^m are exact")]
mod tests {
    use super::super::Method;
    use super::*;

    fn test(before: &[f64], now: &[f64], clusters: Option<&[u32]>, of: Aggregate) -> Outcome {
        let paired = Paired::new(before, now, clusters).unwrap();
        label_swap(&paired, of, Direction::Lower, Resampling::default()).unwrap()
    }

    /// The same, done the long way round: every assignment written out, and [`Aggregate::of`].
    fn by_hand(before: &[f64], now: &[f64], clusters: &[u32], of: Aggregate) -> f64 {
        let rise = |swapped: u32| {
            let label = |i: usize, plain: &[f64], other: &[f64]| {
                if swapped >> clusters[i] & 1 == 1 {
                    other[i]
                } else {
                    plain[i]
                }
            };
            let n = before.len();
            let mut one: Vec<f64> = (0..n).map(|i| label(i, before, now)).collect();
            let mut two: Vec<f64> = (0..n).map(|i| label(i, now, before)).collect();
            of.of(&mut two).unwrap() - of.of(&mut one).unwrap()
        };
        let all = 1 << (clusters.iter().max().unwrap() + 1);
        let worse = (0..all).filter(|&swapped| rise(swapped) >= rise(0) - 1e-9);
        worse.count() as f64 / f64::from(all)
    }

    #[test]
    fn enumeration_is_what_it_says() {
        let before = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 3.0, 3.5, 2.5];
        let now = [1.5, 4.0, 3.0, 7.0, 9.0, 7.5, 4.0, 3.0, 2.0];
        let clusters = [0, 1, 2, 2, 3, 4, 5, 5, 6];
        for of in [
            Aggregate::Median,
            Aggregate::Percentile(90),
            Aggregate::Percentile(5),
            Aggregate::Min,
            Aggregate::Max,
        ] {
            let outcome = test(&before, &now, Some(&clusters), of);
            assert_eq!(outcome.method, Method::Exact);
            let expected = by_hand(&before, &now, &clusters, of);
            assert!((outcome.p_one_sided - expected).abs() < 1e-12, "{of}");
        }
    }

    #[test]
    fn worse_is_the_direction_of_the_metric() {
        let (lower, higher) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        let p = |before: &[f64], now: &[f64], direction| {
            let paired = Paired::new(before, now, None).unwrap();
            let outcome = label_swap(&paired, Aggregate::Median, direction, Resampling::default());
            outcome.unwrap().p_one_sided
        };
        let fell = p(&higher, &lower, Direction::Higher);
        assert!(fell < 0.5, "{fell}");
        assert_eq!(p(&lower, &higher, Direction::Lower), fell);
        assert!(p(&lower, &higher, Direction::Higher) > 0.9);
    }

    #[test]
    fn a_random_sample_finds_a_slow_tail_and_no_more() {
        let before: Vec<f64> = (0..300_u32).map(|i| f64::from(i * 7919 % 300)).collect();
        let slower: Vec<f64> = before.iter().map(|seconds| seconds * 1.2 + 1.0).collect();
        let shuffled: Vec<f64> = before.iter().map(|seconds| 299.0 - seconds).collect();
        let p95 = Aggregate::Percentile(95);
        let regression = test(&before, &slower, None, p95);
        assert_eq!(regression.method, Method::MonteCarlo);
        assert!(regression.p_one_sided < 0.001, "{regression:?}");
        assert!(test(&slower, &before, None, p95).p_one_sided > 0.99);
        assert!(test(&before, &shuffled, None, p95).p_one_sided > 0.4);
    }

    #[test]
    fn a_pass_rate_is_tested_as_the_mean_it_is() {
        let rate = Aggregate::PassRate {
            at: 2.0,
            direction: Direction::Lower,
        };
        // Five samples within the limit before, none now; units of the metric do not matter.
        let outcome = test(&[1.0; 5], &[3.0, 4.0, 50.0, 6.0, 7.0], None, rate);
        assert_eq!(outcome.p_one_sided, 1.0 / 32.0);
    }

    #[test]
    fn equal_sides_are_no_evidence() {
        let same = [0.1, 0.5, 0.9];
        let outcome = test(&same, &same, None, Aggregate::Median);
        assert_eq!((outcome.p_one_sided, outcome.floor), (1.0, 1.0));
        let none = Paired::new(&[], &[], None).unwrap();
        let resampling = Resampling::default();
        assert_eq!(
            label_swap(&none, Aggregate::Median, Direction::Lower, resampling),
            None
        );
    }
}
