//! Aggregates: what turns the scores of many samples into one number.

use std::fmt;

use crate::number::EPSILON;
use crate::policy::Direction;

use super::sum;

/// How the scores of a metric become one number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Aggregate {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// The middle value.
    Median,
    /// The value below which so many percent of the scores lie: 0 to 100, in practice 5, 10, 25, 75, 90, 95 or 99.
    Percentile(u8),
    /// The smallest score.
    Min,
    /// The largest score.
    Max,
    /// The share of scores, 0 to 1, at or beyond a value in the good direction. Higher is better, whatever the metric.
    PassRate {
        /// The value at which a sample passes, in units of the metric.
        at: f64,
        /// Which way the metric is better.
        direction: Direction,
    },
}

impl Aggregate {
    /// The aggregate of `values`, finite scores in any order; the order afterwards is unspecified.
    ///
    /// `None` for no values. Quantiles interpolate linearly between order statistics: type 7 of Hyndman and Fan (1996),
    /// the default of numpy and R.
    pub fn of(&self, values: &mut [f64]) -> Option<f64> {
        let aggregate = match self.percent() {
            Some(percent) => select(values, Position::of_percent(values.len(), percent)?),
            None => sum::mean(values.iter().map(|&value| self.term(value))),
        };
        aggregate.filter(|aggregate| aggregate.is_finite())
    }

    /// Whether this is the arithmetic mean, so that differences pair sample by sample.
    pub fn is_mean(&self) -> bool {
        matches!(self, Aggregate::Mean)
    }

    /// Which way the aggregate is better, given the direction of its metric: more passing samples are always better.
    pub fn direction(&self, metric: Direction) -> Direction {
        match self {
            Aggregate::PassRate { .. } => Direction::Higher,
            _ => metric,
        }
    }

    /// The percentile that this aggregate is, 0 to 100; `None` for those that are means.
    pub(super) fn percent(&self) -> Option<u8> {
        match self {
            Aggregate::Mean | Aggregate::PassRate { .. } => None,
            Aggregate::Median => Some(50),
            Aggregate::Percentile(percent) => Some((*percent).min(100)),
            Aggregate::Min => Some(0),
            Aggregate::Max => Some(100),
        }
    }

    /// What one score adds to the mean that this aggregate is: itself, or 1 for a pass and 0 for none.
    pub(super) fn term(&self, value: f64) -> f64 {
        match self {
            Aggregate::PassRate { at, direction } => {
                let passes = match direction {
                    Direction::Higher => value >= at - EPSILON,
                    Direction::Lower => value <= at + EPSILON,
                };
                f64::from(u8::from(passes))
            }
            _ => value,
        }
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aggregate::Mean => f.write_str("mean"),
            Aggregate::Median => f.write_str("median"),
            Aggregate::Percentile(percent) => write!(f, "p{percent}"),
            Aggregate::Min => f.write_str("min"),
            Aggregate::Max => f.write_str("max"),
            Aggregate::PassRate { .. } => f.write_str("pass_rate"),
        }
    }
}

/// Where a quantile lies among n sorted values: between `lower` and the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Position {
    /// Index of the order statistic at or below the quantile.
    pub(super) lower: usize,
    /// Index of the order statistic at or above it.
    pub(super) upper: usize,
    fraction: f64,
}

impl Position {
    /// (n − 1) · percent / 100, in integers: p95 of 21 values is the twentieth of them and no interpolation.
    pub(super) fn of_percent(n: usize, percent: u8) -> Option<Self> {
        let hundredths = n.checked_sub(1)?.checked_mul(usize::from(percent))?;
        let (lower, rest) = (hundredths / 100, hundredths % 100);
        Some(Self {
            lower,
            upper: lower + usize::from(rest > 0),
            fraction: rest as f64 / 100.0,
        })
    }

    /// (n − 1) · share, for a share from 0 to 1.
    pub(super) fn of_share(n: usize, share: f64) -> Option<Self> {
        let exact = n.checked_sub(1)? as f64 * share.clamp(0.0, 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 0 and n − 1"
        )]
        let lower = exact.floor() as usize;
        let fraction = exact - exact.floor();
        Some(Self {
            lower,
            upper: lower + usize::from(fraction > 0.0),
            fraction,
        })
    }

    /// The quantile, given its two order statistics.
    pub(super) fn between(self, lower: f64, upper: f64) -> f64 {
        lower + self.fraction * (upper - lower)
    }
}

/// The quantile at `position`, in linear time; `None` beyond the end.
pub(super) fn select(values: &mut [f64], position: Position) -> Option<f64> {
    if position.upper >= values.len() {
        return None;
    }
    let (_, &mut lower, above) = values.select_nth_unstable_by(position.lower, f64::total_cmp);
    let upper = if position.upper > position.lower {
        above.iter().copied().min_by(f64::total_cmp)?
    } else {
        lower
    };
    Some(position.between(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(aggregate: Aggregate, values: &[f64]) -> Option<f64> {
        aggregate.of(&mut values.to_vec())
    }

    #[test]
    fn quantiles_interpolate_as_numpy_does() {
        // numpy.percentile([15, 20, 35, 40, 50], …)
        let values = [50.0, 15.0, 35.0, 20.0, 40.0];
        assert_eq!(of(Aggregate::Median, &values), Some(35.0));
        assert_eq!(of(Aggregate::Percentile(5), &values), Some(16.0));
        assert_eq!(of(Aggregate::Percentile(25), &values), Some(20.0));
        assert_eq!(of(Aggregate::Percentile(90), &values), Some(46.0));
        assert_eq!(of(Aggregate::Percentile(95), &values), Some(48.0));
        assert_eq!(of(Aggregate::Min, &values), Some(15.0));
        assert_eq!(of(Aggregate::Max, &values), Some(50.0));
        assert_eq!(of(Aggregate::Median, &[1.0, 2.0]), Some(1.5));
    }

    #[test]
    fn one_value_is_all_its_quantiles() {
        for aggregate in [
            Aggregate::Mean,
            Aggregate::Median,
            Aggregate::Percentile(99),
            Aggregate::Min,
            Aggregate::Max,
        ] {
            assert_eq!(of(aggregate, &[0.3]), Some(0.3), "{aggregate}");
            assert_eq!(of(aggregate, &[]), None, "{aggregate}");
        }
        assert_eq!(of(Aggregate::Percentile(255), &[0.3, 0.4]), Some(0.4));
    }

    #[test]
    fn a_sample_at_the_mark_passes() {
        let at = 0.3;
        let scores = [0.1 + 0.2, 0.3 - 1e-12, 0.31, 0.29];
        let rate = |direction| of(Aggregate::PassRate { at, direction }, &scores);
        assert_eq!(rate(Direction::Higher), Some(0.75));
        assert_eq!(rate(Direction::Lower), Some(0.75));
    }

    #[test]
    fn names_are_those_of_the_policy() {
        let rate = Aggregate::PassRate {
            at: 0.5,
            direction: Direction::Lower,
        };
        assert_eq!(Aggregate::Percentile(95).to_string(), "p95");
        assert_eq!(rate.to_string(), "pass_rate");
        assert_eq!(rate.direction(Direction::Lower), Direction::Higher);
        assert_eq!(Aggregate::Max.direction(Direction::Lower), Direction::Lower);
    }

    #[test]
    fn shares_and_percents_agree() {
        for n in 1..200 {
            for percent in [0_u8, 5, 25, 50, 95, 100] {
                let by_percent = Position::of_percent(n, percent).unwrap();
                let by_share = Position::of_share(n, f64::from(percent) / 100.0).unwrap();
                let exact = |position: Position| position.lower as f64 + position.fraction;
                assert!((exact(by_percent) - exact(by_share)).abs() < 1e-9);
                assert!(by_share.upper < n);
            }
        }
    }
}
