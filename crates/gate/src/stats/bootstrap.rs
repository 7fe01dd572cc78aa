//! The paired cluster bootstrap interval of a change.

use super::aggregate::{Position, select};
use super::paired::Grouped;
use super::resampling::index;
use super::{Aggregate, Interval, Paired, Resampling};

/// An interval and how many draws it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The interval of now − before, in units of the aggregate.
    pub interval: Interval,
    /// The number of draws.
    pub draws: u64,
}

/// The two-sided percentile interval of now − before at `confidence` (0 to 1, exclusive).
///
/// Each draw takes G of the G clusters with replacement, both sides of a cluster together, and aggregates all their
/// samples (Efron 1979; over clusters: Davison and Hinkley 1997, section 3.8); the interval holds the middle `confidence` of
/// the differences. Very many samples get fewer draws.
///
/// `None` with fewer than two clusters, and for min and max, whose bootstrap distribution never goes beyond the observed
/// extreme.
pub fn bootstrap(
    paired: &Paired<'_>,
    aggregate: Aggregate,
    confidence: f64,
    resampling: Resampling,
) -> Option<Bootstrap> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let mut changes = match aggregate.percent() {
        None => of_means(paired, aggregate, resampling)?,
        Some(0 | 100) => return None,
        Some(percent) => of_quantiles(&paired.grouped(), percent, resampling)?,
    };
    let tail = (1.0 - confidence) / 2.0;
    let draws = changes.len();
    let mut quantile = |share| select(&mut changes, Position::of_share(draws, share)?);
    let (low, high) = (quantile(tail)?, quantile(1.0 - tail)?);
    (low.is_finite() && high.is_finite()).then_some(Bootstrap {
        interval: Interval { low, high },
        draws: draws as u64,
    })
}

/// Differences of means: sums and counts of clusters are all it takes.
fn of_means(paired: &Paired<'_>, aggregate: Aggregate, resampling: Resampling) -> Option<Vec<f64>> {
    let sums = paired.cluster_sums_of(aggregate)?;
    let mut clusters: Vec<(f64, f64)> = sums
        .sums()
        .iter()
        .zip(sums.counts())
        .map(|(sum, count)| (*sum, f64::from(*count)))
        .collect();
    if clusters.len() < 2 {
        return None;
    }
    clusters.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)));
    let mut generator = resampling.generator();
    let draws = resampling.affordable(clusters.len());
    let change = |_| {
        let (mut total, mut samples) = (0.0, 0.0);
        for _ in 0..clusters.len() {
            let (sum, count) = clusters[index(&mut generator, clusters.len())];
            total += sum;
            samples += count;
        }
        total / samples
    };
    Some((0..draws).map(change).collect())
}

/// Differences of quantiles. A draw only weighs the clusters; the scores are sorted once, and a quantile of the draw is
/// found by adding up weights along them.
fn of_quantiles(grouped: &Grouped, percent: u8, resampling: Resampling) -> Option<Vec<f64>> {
    let clusters = grouped.clusters();
    if clusters < 2 {
        return None;
    }
    let before = Sorted::new(&grouped.before, &grouped.starts);
    let now = Sorted::new(&grouped.now, &grouped.starts);
    let mut generator = resampling.generator();
    let mut weights = vec![0_u32; clusters];
    let change = |_| {
        weights.fill(0);
        let mut samples = 0;
        for _ in 0..clusters {
            let drawn = index(&mut generator, clusters);
            weights[drawn] += 1;
            samples += grouped.starts[drawn + 1] - grouped.starts[drawn];
        }
        let position = Position::of_percent(samples, percent)?;
        Some(now.quantile(&weights, position)? - before.quantile(&weights, position)?)
    };
    (0..resampling.affordable(grouped.before.len()))
        .map(change)
        .collect()
}

/// The scores of one side in ascending order, each with its cluster.
struct Sorted {
    scores: Vec<(f64, u32)>,
}

impl Sorted {
    fn new(values: &[f64], starts: &[usize]) -> Self {
        let mut scores: Vec<(f64, u32)> = Vec::with_capacity(values.len());
        for (cluster, bounds) in (0_u32..).zip(starts.windows(2)) {
            scores.extend(
                values[bounds[0]..bounds[1]]
                    .iter()
                    .map(|&value| (value, cluster)),
            );
        }
        scores.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self { scores }
    }

    /// The quantile when each score counts as often as its cluster was drawn.
    fn quantile(&self, weights: &[u32], position: Position) -> Option<f64> {
        let mut passed = 0;
        let mut scores = self.scores.iter();
        let mut score_at = |order: usize| {
            scores.find_map(|&(score, cluster)| {
                passed += weights[cluster as usize] as usize;
                (passed > order).then_some((score, passed))
            })
        };
        let (lower, passed_lower) = score_at(position.lower)?;
        let upper = if passed_lower > position.upper {
            lower
        } else {
            score_at(position.upper)?.0
        };
        Some(position.between(lower, upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(before: &[f64], now: &[f64], clusters: Option<&[u32]>, of: Aggregate) -> Interval {
        let paired = Paired::new(before, now, clusters).unwrap();
        bootstrap(&paired, of, 0.95, Resampling::default())
            .unwrap()
            .interval
    }

    #[test]
    fn weighing_clusters_is_repeating_their_samples() {
        let values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6];
        let sorted = Sorted::new(&values, &[0, 2, 3, 6]);
        let weights = [2, 0, 1];
        let mut repeated = vec![3.0, 1.0, 3.0, 1.0, 1.5, 9.0, 2.6];
        for percent in [5, 25, 50, 90, 99] {
            let position = Position::of_percent(repeated.len(), percent).unwrap();
            assert_eq!(
                sorted.quantile(&weights, position),
                Aggregate::Percentile(percent).of(&mut repeated),
                "p{percent}"
            );
        }
    }

    #[test]
    fn a_constant_shift_has_no_spread() {
        let before: Vec<f64> = (0..50).map(f64::from).collect();
        let now: Vec<f64> = before.iter().map(|value| value - 2.0).collect();
        for of in [
            Aggregate::Mean,
            Aggregate::Median,
            Aggregate::Percentile(95),
        ] {
            let found = interval(&before, &now, None, of);
            assert!((found.low + 2.0).abs() < 1e-9 && (found.high + 2.0).abs() < 1e-9);
        }
    }

    #[test]
    fn clusters_widen_what_their_samples_repeat() {
        let scores: Vec<f64> = (0..40_u32).map(|i| f64::from(i / 10 * 37 % 11)).collect();
        let zeros = vec![0.0; 40];
        let ids: Vec<u32> = (0..40).map(|i| i / 10).collect();
        let of = Aggregate::Median;
        let (alone, clustered) = (
            interval(&zeros, &scores, None, of),
            interval(&zeros, &scores, Some(&ids), of),
        );
        assert!(clustered.high - clustered.low >= alone.high - alone.low);
    }

    #[test]
    fn there_is_no_interval_for_extremes_or_one_cluster() {
        let (before, now) = ([0.1, 0.5], [0.2, 0.4]);
        let resampling = Resampling::default();
        let paired = Paired::new(&before, &now, None).unwrap();
        assert_eq!(bootstrap(&paired, Aggregate::Min, 0.95, resampling), None);
        assert_eq!(bootstrap(&paired, Aggregate::Max, 0.95, resampling), None);
        assert_eq!(bootstrap(&paired, Aggregate::Median, 1.0, resampling), None);
        let one = Paired::new(&before, &now, Some(&[0, 0])).unwrap();
        assert_eq!(bootstrap(&one, Aggregate::Mean, 0.95, resampling), None);
        assert_eq!(bootstrap(&one, Aggregate::Median, 0.95, resampling), None);
    }
}
