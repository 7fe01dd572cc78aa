//! An estimated mean change, its interval and its t-tests.

use super::student;

/// A range of values, `low` ≤ `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in units of the metric.
    pub low: f64,
    /// Upper end, in units of the metric.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The mean of n values in G clusters and how well it is known.
///
/// The t-tests have G − 1 degrees of freedom and need two clusters; without spread (a standard error of 0) their p-values
/// are those of the limit, 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean, in units of the metric: of now − before, negative for a fall.
    pub change: f64,
    /// Its clustered standard error CR1, from 0 up; `None` with fewer than two clusters.
    pub stderr: Option<f64>,
    /// The number of clusters, G.
    pub clusters: usize,
    /// How many of them have a sum that is not zero.
    pub nonzero_clusters: usize,
    /// The number of samples.
    pub n: usize,
}

impl Estimate {
    /// Two-sided t interval at `confidence` (0 to 1, exclusive): change ± t(G−1, (1 + confidence)/2) · stderr.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        if confidence <= 0.0 {
            return None;
        }
        let margin = self.margin(f64::midpoint(1.0, confidence))?;
        Some(Interval {
            low: self.change - margin,
            high: self.change + margin,
        })
    }

    /// What the true change exceeds with `confidence`, one-sided: change − t(G−1, confidence) · stderr.
    pub fn lower_bound(&self, confidence: f64) -> Option<f64> {
        Some(self.change - self.margin(confidence)?)
    }

    /// What the true change stays below with `confidence`, one-sided: change + t(G−1, confidence) · stderr.
    pub fn upper_bound(&self, confidence: f64) -> Option<f64> {
        Some(self.change + self.margin(confidence)?)
    }

    /// p-value of "the true change is 0" against "it is not".
    pub fn p_two_sided(&self) -> Option<f64> {
        let smaller = self.p_below(0.0)?.min(self.p_above(0.0)?);
        Some((2.0 * smaller).min(1.0))
    }

    /// p-value of "the true change is `value` or more" against "it is less".
    ///
    /// With 0, for a higher-is-better metric: did it get worse?
    pub fn p_below(&self, value: f64) -> Option<f64> {
        self.p_beyond(value - self.change)
    }

    /// p-value of "the true change is `value` or less" against "it is more".
    ///
    /// With −limit, for a higher-is-better metric: is it shown not to be worse by more than the limit?
    pub fn p_above(&self, value: f64) -> Option<f64> {
        self.p_beyond(self.change - value)
    }

    /// The probability of a distance as large as this in this direction, when the true one is 0.
    fn p_beyond(&self, distance: f64) -> Option<f64> {
        let stderr = self.stderr?;
        if stderr > 0.0 {
            student::upper_tail(distance / stderr, self.degrees()?)
        } else {
            Some(if distance > 0.0 { 0.0 } else { 1.0 })
        }
    }

    fn margin(&self, confidence: f64) -> Option<f64> {
        let margin = student::quantile(confidence, self.degrees()?)? * self.stderr?;
        margin.is_finite().then_some(margin)
    }

    fn degrees(&self) -> Option<f64> {
        (self.clusters >= 2).then(|| (self.clusters - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(change: f64, stderr: Option<f64>, clusters: usize) -> Estimate {
        Estimate {
            change,
            stderr,
            clusters,
            nonzero_clusters: clusters,
            n: clusters,
        }
    }

    #[test]
    fn without_spread_the_answer_is_certain() {
        let fell = estimate(-0.1, Some(0.0), 5);
        assert_eq!(fell.p_two_sided(), Some(0.0));
        assert_eq!(fell.p_below(0.0), Some(0.0));
        assert_eq!(fell.p_above(0.0), Some(1.0));
        assert!(fell.interval(0.95).unwrap().contains(-0.1));
        let same = estimate(0.0, Some(0.0), 5);
        assert_eq!(same.p_two_sided(), Some(1.0));
        assert_eq!(same.p_below(0.0), Some(1.0));
    }

    #[test]
    fn one_cluster_tells_nothing() {
        let one = estimate(-0.1, None, 1);
        assert_eq!(one.p_two_sided(), None);
        assert_eq!(one.interval(0.95), None);
        assert_eq!(one.lower_bound(0.95), None);
    }

    #[test]
    fn a_confidence_that_is_none_has_no_interval() {
        let some = estimate(-0.1, Some(0.05), 9);
        for confidence in [1.0, 2.0, -1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(some.interval(confidence), None, "{confidence}");
            assert_eq!(some.upper_bound(confidence), None, "{confidence}");
        }
    }

    #[test]
    fn the_one_sided_bound_is_where_the_test_turns() {
        let some = estimate(-0.1, Some(0.05), 9);
        let bound = some.upper_bound(0.95).unwrap();
        assert!((some.p_below(bound).unwrap() - 0.05).abs() < 1e-12);
        let bound = some.lower_bound(0.95).unwrap();
        assert!((some.p_above(bound).unwrap() - 0.05).abs() < 1e-12);
    }
}
