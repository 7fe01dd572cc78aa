//! How many samples a decision takes.

use super::student::normal_quantile;

/// The probability with which a drop is to be found.
pub const POWER: f64 = 0.8;

/// More samples than this are no advice.
const MOST: f64 = 1e9;

/// About how many samples it takes for a drop as large as `drop` (above 0, in units of the metric) to be significant at
/// `confidence`, one-sided, with a probability of [`POWER`], when `n` samples gave `stderr`.
///
/// N = n · ((z(confidence) + z(0.80)) · stderr / drop)², rounded up: standard errors shrink with the square root, given as
/// many samples per cluster as now (Miller 2024). `None` when there is no drop, no standard error, or when it
/// would take more than a thousand million.
pub fn samples_needed(n: usize, drop: f64, stderr: f64, confidence: f64) -> Option<u64> {
    let ratio = minimal_detectable(stderr, confidence)? / drop;
    let needed = (n as f64 * ratio.powi(2)).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between 0 and MOST"
    )]
    let samples = needed as u64;
    (drop > 0.0 && needed <= MOST).then_some(samples)
}

/// The smallest true drop that is found at `confidence`, one-sided, with a probability of [`POWER`], in units of the
/// metric: (z(confidence) + z(0.80)) · stderr. A two-sided test at 95 % is a one-sided one at 97.5 %.
pub fn minimal_detectable(stderr: f64, confidence: f64) -> Option<f64> {
    let effect = (normal_quantile(confidence)? + normal_quantile(POWER)?) * stderr;
    (effect.is_finite() && effect >= 0.0).then_some(effect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_drop_takes_four_times_the_samples() {
        // (1.644854 + 0.841621)² = 6.182557
        assert_eq!(samples_needed(100, 0.1, 0.1, 0.95), Some(619));
        assert_eq!(samples_needed(100, 0.05, 0.1, 0.95), Some(2474));
    }

    #[test]
    fn no_drop_has_no_answer() {
        assert_eq!(samples_needed(100, 0.0, 0.1, 0.95), None);
        assert_eq!(samples_needed(100, -0.1, 0.1, 0.95), None);
        assert_eq!(samples_needed(100, f64::NAN, 0.1, 0.95), None);
        assert_eq!(samples_needed(100, 0.1, f64::INFINITY, 0.95), None);
        assert_eq!(samples_needed(100, 0.1, f64::NAN, 0.95), None);
        assert_eq!(samples_needed(100, 0.1, 0.1, 1.0), None);
        assert_eq!(samples_needed(100, 1e-300, 0.1, 0.95), None);
        assert_eq!(samples_needed(100, 0.1, 0.0, 0.95), Some(0));
    }
}
