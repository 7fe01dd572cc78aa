//! Sums over clusters: all that the mean, its standard error and the sign-flip test need of the samples.

use crate::policy::Direction;

use super::{Estimate, ROUNDING, Sum};

/// Per cluster the sum of its values and how many there are; every cluster has at least one.
///
/// Computed once from n samples; everything about means is then done over G clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSums {
    sums: Vec<f64>,
    counts: Vec<u32>,
}

impl ClusterSums {
    /// Sums of `values`, finite numbers. `clusters` holds one id below `values.len()` for each of them; without it every
    /// value is its own cluster.
    ///
    /// `None` when lengths or ids do not fit, or when a sum is not finite. No values are no clusters.
    pub fn of(values: &[f64], clusters: Option<&[u32]>) -> Option<Self> {
        Self::collect(values.iter().map(|value| (*value, value.abs())), clusters)
    }

    /// Sums of terms, each with the magnitude of what it was computed from.
    ///
    /// 0.1 + 0.2 − 0.3 is 5.6e-17: what is left of numbers 10^12 times as large is rounding, not a difference, and becomes
    /// 0 so that it is not counted as one.
    pub(super) fn collect(
        terms: impl ExactSizeIterator<Item = (f64, f64)>,
        clusters: Option<&[u32]>,
    ) -> Option<Self> {
        match clusters {
            None => Self::of_singles(terms),
            Some(clusters) => Self::of_clusters(terms, clusters),
        }
    }

    fn of_singles(terms: impl ExactSizeIterator<Item = (f64, f64)>) -> Option<Self> {
        let sums: Vec<f64> = terms.map(|(term, scale)| snap(term, scale)).collect();
        let counts = vec![1; sums.len()];
        sums.iter()
            .all(|sum| sum.is_finite())
            .then_some(Self { sums, counts })
    }

    fn of_clusters(
        terms: impl ExactSizeIterator<Item = (f64, f64)>,
        clusters: &[u32],
    ) -> Option<Self> {
        let n = terms.len();
        if clusters.len() != n {
            return None;
        }
        let ids = usize::try_from(*clusters.iter().max().unwrap_or(&0)).ok()? + 1;
        if n > 0 && ids > n {
            return None;
        }
        let mut gathered = vec![(Sum::default(), 0.0_f64, 0_u32); ids];
        for ((term, scale), &cluster) in terms.zip(clusters) {
            let (sum, scales, count) = gathered.get_mut(usize::try_from(cluster).ok()?)?;
            sum.add(term);
            *scales += scale;
            *count += 1;
        }
        // An id that nobody has is not a cluster.
        gathered.retain(|(_, _, count)| *count > 0);
        let sums: Vec<f64> = gathered
            .iter()
            .map(|(sum, scale, _)| snap(sum.total(), *scale))
            .collect();
        let counts = gathered.into_iter().map(|(_, _, count)| count).collect();
        sums.iter()
            .all(|sum| sum.is_finite())
            .then_some(Self { sums, counts })
    }

    /// The sum of each cluster, in order of its id.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The number of samples of each cluster, in the same order.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The number of clusters whose sum is not zero.
    pub fn nonzero(&self) -> usize {
        self.sums.iter().filter(|sum| **sum != 0.0).count()
    }

    /// The sums turned so that positive is worse, for [`sign_flip`](super::sign_flip()).
    ///
    /// `direction` is that of what was summed: that of the metric for a mean.
    pub fn worse(&self, direction: Direction) -> Vec<f64> {
        let sign = match direction {
            Direction::Higher => -1.0,
            Direction::Lower => 1.0,
        };
        self.sums.iter().map(|sum| sign * sum).collect()
    }

    /// The mean over all samples with its clustered standard error; `None` without samples.
    ///
    /// With `s` the sum and `k` the number of samples of a cluster, n = Σ k and D = Σ s / n:
    ///
    /// - CR0 = √(Σ (s − k·D)²) / n, Miller 2024 ("Adding Error Bars to Evals");
    /// - CR1 = CR0 · √(G / (G − 1)), the factor that makes it the ordinary standard error when every sample is its own
    ///   cluster.
    pub fn estimate(&self) -> Option<Estimate> {
        let clusters = self.sums.len();
        let n: usize = self.counts.iter().map(|count| *count as usize).sum();
        if n == 0 {
            return None;
        }
        let change = self.sums.iter().copied().collect::<Sum>().total() / n as f64;
        if !change.is_finite() {
            return None;
        }
        Some(Estimate {
            change,
            stderr: self.stderr(change, n),
            clusters,
            nonzero_clusters: self.nonzero(),
            n,
        })
    }

    fn stderr(&self, change: f64, n: usize) -> Option<f64> {
        let clusters = self.sums.len();
        if clusters < 2 {
            return None;
        }
        let squares: Sum = self
            .sums
            .iter()
            .zip(&self.counts)
            .map(|(sum, count)| (sum - f64::from(*count) * change).powi(2))
            .collect();
        let scale: f64 = self.sums.iter().map(|sum| sum.abs()).sum();
        let norm = snap(squares.total().sqrt(), scale);
        let factor = (clusters as f64 / (clusters - 1) as f64).sqrt();
        Some(norm / n as f64 * factor).filter(|stderr| stderr.is_finite())
    }
}

/// `number`, or 0 when it is no more than the rounding of numbers of magnitude `scale`.
fn snap(number: f64, scale: f64) -> f64 {
    if scale.is_finite() && number.abs() <= ROUNDING * scale {
        0.0
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_without_samples_are_no_clusters() {
        let sums = ClusterSums::of(&[1.0, 2.0, 4.0, 8.0], Some(&[3, 0, 3, 0])).unwrap();
        assert_eq!(sums.sums(), [10.0, 5.0]);
        assert_eq!(sums.counts(), [2, 2]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(ClusterSums::of(&[1.0, 2.0], Some(&[0])), None);
        assert_eq!(ClusterSums::of(&[1.0, 2.0], Some(&[0, u32::MAX])), None);
        assert_eq!(ClusterSums::of(&[f64::NAN], None), None);
        assert_eq!(ClusterSums::of(&[f64::INFINITY], Some(&[0])), None);
        assert_eq!(ClusterSums::of(&[f64::MAX, f64::MAX], Some(&[0, 0])), None);
    }

    #[test]
    fn no_samples_have_no_estimate() {
        for clusters in [None, Some([].as_slice())] {
            let sums = ClusterSums::of(&[], clusters).unwrap();
            assert_eq!(sums.sums(), [] as [f64; 0]);
            assert_eq!(sums.estimate(), None);
        }
    }

    #[test]
    fn one_cluster_has_no_standard_error() {
        let estimate = ClusterSums::of(&[0.1, 0.4], Some(&[0, 0]))
            .and_then(|sums| sums.estimate())
            .unwrap();
        assert_eq!((estimate.change, estimate.stderr), (0.25, None));
    }

    #[test]
    fn rounding_is_not_spread() {
        let same = vec![0.1; 1001];
        let estimate = ClusterSums::of(&same, None)
            .and_then(|sums| sums.estimate())
            .unwrap();
        assert_eq!(estimate.stderr, Some(0.0));
    }

    #[test]
    fn worse_is_positive() {
        let sums = ClusterSums::of(&[0.5, -0.25], None).unwrap();
        assert_eq!(sums.worse(Direction::Higher), [-0.5, 0.25]);
        assert_eq!(sums.worse(Direction::Lower), [0.5, -0.25]);
    }
}
