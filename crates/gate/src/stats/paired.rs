//! The commonly scored samples of two runs, side by side.

use std::cmp::Ordering;

use super::{Aggregate, ClusterSums, Estimate};

/// Scores of the same samples before and now, in the same order.
///
/// What is computed from it depends on the values and on which samples share a cluster; the order of the samples and the
/// numbers of the clusters change nothing but the last bits of a sum.
#[derive(Debug, Clone, Copy)]
pub struct Paired<'a> {
    before: &'a [f64],
    now: &'a [f64],
    clusters: Option<&'a [u32]>,
}

impl<'a> Paired<'a> {
    /// Pairs `before` and `now`, finite scores of n samples each. `clusters` holds one id per sample, 0 to n − 1, equal
    /// for samples that are not independent; without it every sample is its own cluster.
    ///
    /// `None` when lengths differ, a score is not finite or an id is out of range.
    pub fn new(before: &'a [f64], now: &'a [f64], clusters: Option<&'a [u32]>) -> Option<Self> {
        let n = before.len();
        let fits = now.len() == n
            && before.iter().all(|score| score.is_finite())
            && now.iter().all(|score| score.is_finite())
            && clusters.is_none_or(|ids| {
                ids.len() == n
                    && ids
                        .iter()
                        .all(|&id| usize::try_from(id).is_ok_and(|id| id < n))
            });
        fits.then_some(Self {
            before,
            now,
            clusters,
        })
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// Scores before, in units of the metric.
    pub fn before(&self) -> &'a [f64] {
        self.before
    }

    /// Scores now, in units of the metric.
    pub fn now(&self) -> &'a [f64] {
        self.now
    }

    /// The cluster of each sample; `None` where every sample is its own.
    pub(super) fn clusters(&self) -> Option<&'a [u32]> {
        self.clusters
    }

    /// Sums of now − before over clusters; `None` only when a difference is too large for an `f64`.
    pub fn cluster_sums(&self) -> Option<ClusterSums> {
        self.cluster_sums_of(Aggregate::Mean)
    }

    /// The estimated change of an aggregate that is a mean: the mean itself, or a pass rate, the mean of zeros and ones.
    /// `None` for the others, and without samples.
    pub fn estimate(&self, aggregate: Aggregate) -> Option<Estimate> {
        match aggregate.percent() {
            None => self.cluster_sums_of(aggregate)?.estimate(),
            Some(_) => None,
        }
    }

    /// The difference now − before of `aggregate` over all samples; for means this is the mean paired difference.
    pub fn change(&self, aggregate: Aggregate) -> Option<f64> {
        if aggregate.percent().is_none() {
            return self
                .cluster_sums_of(aggregate)?
                .estimate()
                .map(|mean| mean.change);
        }
        let before = aggregate.of(&mut self.before.to_vec())?;
        let now = aggregate.of(&mut self.now.to_vec())?;
        Some(now - before).filter(|change| change.is_finite())
    }

    /// As [`cluster_sums`](Self::cluster_sums), of what each score adds to an aggregate that is a mean: a pass rate is the
    /// mean of zeros and ones.
    pub(super) fn cluster_sums_of(&self, aggregate: Aggregate) -> Option<ClusterSums> {
        let terms = self.before.iter().zip(self.now).map(|(&before, &now)| {
            let (before, now) = (aggregate.term(before), aggregate.term(now));
            (now - before, before.abs() + now.abs())
        });
        ClusterSums::collect(terms, self.clusters)
    }

    /// The pairs grouped by cluster, in an order that the values alone decide.
    pub(super) fn grouped(&self) -> Grouped {
        let id = |sample: usize| self.clusters.map_or(sample, |ids| ids[sample] as usize);
        let by_value = |a: usize, b: usize| {
            self.before[a]
                .total_cmp(&self.before[b])
                .then_with(|| self.now[a].total_cmp(&self.now[b]))
        };
        let mut order: Vec<usize> = (0..self.len()).collect();
        if self.clusters.is_some() {
            order.sort_unstable_by(|&a, &b| id(a).cmp(&id(b)).then_with(|| by_value(a, b)));
        }
        let mut groups: Vec<&[usize]> = order.chunk_by(|&a, &b| id(a) == id(b)).collect();
        // Clusters that compare equal hold equal pairs: which of them comes first cannot be seen in a result.
        groups.sort_unstable_by(|a, b| {
            a.iter()
                .zip(*b)
                .map(|(&a, &b)| by_value(a, b))
                .find(|ordering| ordering.is_ne())
                .unwrap_or(Ordering::Equal)
                .then_with(|| a.len().cmp(&b.len()))
        });
        let mut grouped = Grouped {
            before: Vec::with_capacity(self.len()),
            now: Vec::with_capacity(self.len()),
            starts: Vec::with_capacity(groups.len() + 1),
        };
        grouped.starts.push(0);
        for group in groups {
            grouped
                .before
                .extend(group.iter().map(|&sample| self.before[sample]));
            grouped
                .now
                .extend(group.iter().map(|&sample| self.now[sample]));
            grouped.starts.push(grouped.before.len());
        }
        grouped
    }
}

/// Pairs in canonical order: those of cluster g are `starts[g]..starts[g + 1]`.
#[derive(Debug, PartialEq)]
pub(super) struct Grouped {
    pub(super) before: Vec<f64>,
    pub(super) now: Vec<f64>,
    pub(super) starts: Vec<usize>,
}

impl Grouped {
    /// The number of clusters.
    pub(super) fn clusters(&self) -> usize {
        self.starts.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_pair_is_refused() {
        assert!(Paired::new(&[1.0], &[], None).is_none());
        assert!(Paired::new(&[1.0], &[f64::NAN], None).is_none());
        assert!(Paired::new(&[1.0], &[1.0], Some(&[])).is_none());
        assert!(Paired::new(&[1.0], &[1.0], Some(&[1])).is_none());
        assert!(Paired::new(&[], &[], Some(&[])).is_some_and(|none| none.is_empty()));
    }

    #[test]
    fn rounding_is_not_a_difference() {
        let before = [0.1 + 0.2, 0.5, 1e9];
        let now = [0.3, 0.25, 1e9 + 1e-6];
        let sums = Paired::new(&before, &now, None)
            .and_then(|paired| paired.cluster_sums())
            .unwrap();
        assert_eq!(sums.sums(), [0.0, -0.25, 0.0]);
        let opposite = Paired::new(&[0.1, 0.7], &[0.7, 0.1], Some(&[0, 0]))
            .and_then(|paired| paired.cluster_sums())
            .unwrap();
        assert_eq!(opposite.nonzero(), 0);
    }

    #[test]
    fn groups_do_not_depend_on_order_or_numbers() {
        let one = Paired::new(
            &[3.0, 1.0, 2.0, 1.0],
            &[4.0, 0.0, 5.0, 7.0],
            Some(&[0, 1, 0, 2]),
        )
        .unwrap()
        .grouped();
        let other = Paired::new(
            &[1.0, 2.0, 1.0, 3.0],
            &[7.0, 5.0, 0.0, 4.0],
            Some(&[0, 3, 1, 3]),
        )
        .unwrap()
        .grouped();
        assert_eq!(one, other);
        assert_eq!(one.starts, [0, 1, 2, 4]);
        assert_eq!(one.before, [1.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn the_change_of_a_pass_rate_counts_samples() {
        let rate = Aggregate::PassRate {
            at: 0.5,
            direction: crate::policy::Direction::Higher,
        };
        let paired = Paired::new(&[0.6, 0.6, 0.2, 0.1], &[0.4, 0.6, 0.3, 0.1], None).unwrap();
        assert_eq!(paired.change(rate), Some(-0.25));
        let change = paired.change(Aggregate::Max).unwrap();
        assert!(change.abs() < 1e-12);
    }
}
