//! Student's t and the normal distribution.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// P(T ≥ t) with `degrees` of freedom, precise in the tail; `None` when there is no such distribution.
pub(super) fn upper_tail(t: f64, degrees: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, degrees).ok()?;
    // statrs panics on NaN.
    (!t.is_nan()).then(|| student.sf(t))
}

/// The t below which a share `p` of the distribution lies, 0 < p < 1.
///
/// Newton's method on the tail. Above 0 the tail is convex, and the normal quantile, from which it starts, lies below
/// that of every t distribution: the steps only go up, and none goes too far. (`inverse_cdf` of statrs 0.19 is off in the
/// fifth digit at a million degrees of freedom, and never returns at a hundred million.)
pub(super) fn quantile(p: f64, degrees: f64) -> Option<f64> {
    let tail = p.min(1.0 - p);
    if tail.is_nan() || tail <= 0.0 {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, degrees).ok()?;
    let mut t = -normal_quantile(tail)?;
    for _ in 0..200 {
        let step = (student.sf(t) - tail) / student.pdf(t);
        if !step.is_finite() || step <= t * 1e-15 {
            break;
        }
        t += step;
    }
    Some(if p < 0.5 { -t } else { t })
}

/// The z below which a share `p` of the standard normal distribution lies, 0 < p < 1.
pub(crate) fn normal_quantile(p: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then(|| Normal::standard().inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `p`, degrees of freedom, and the quantile: tables of the t distribution, `qt(p, df)` in R.
    const QUANTILES: [(f64, f64, f64); 8] = [
        (0.975, 1.0, 12.706_204_736_2),
        (0.975, 2.0, 4.302_652_729_7),
        (0.8, 2.0, 1.060_660_171_8),
        (0.975, 13.0, 2.160_368_656_5),
        (0.95, 13.0, 1.770_933_396_0),
        (0.975, 30.0, 2.042_272_456_3),
        (0.995, 100.0, 2.625_890_521_4),
        (0.999_999, 1.0, 318_309.886_182_7),
    ];

    #[test]
    fn quantiles_are_those_of_r() {
        for (p, degrees, expected) in QUANTILES {
            let found = quantile(p, degrees).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{p} {degrees}: {found}"
            );
            assert_eq!(quantile(1.0 - p, degrees).map(f64::signum), Some(-1.0));
        }
        assert_eq!(quantile(0.5, 7.0), Some(0.0));
    }

    #[test]
    fn many_degrees_of_freedom_are_nearly_normal() {
        for degrees in [1e4, 1e5, 1e6, 1e8] {
            let z: f64 = 1.959_963_984_540_054;
            // First term of the Cornish–Fisher expansion in 1/degrees.
            let expected = z + (z.powi(3) + z) / (4.0 * degrees);
            let found = quantile(0.975, degrees).unwrap();
            assert!(
                (found - expected).abs() < 1e-7,
                "{degrees}: {found} {expected}"
            );
        }
    }

    #[test]
    fn what_is_no_probability_has_no_quantile() {
        for p in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
            assert_eq!(quantile(p, 5.0), None);
            assert_eq!(normal_quantile(p), None);
        }
        assert_eq!(quantile(0.9, 0.0), None);
        assert_eq!(upper_tail(f64::NAN, 5.0), None);
        assert_eq!(upper_tail(f64::INFINITY, 5.0), Some(0.0));
        assert_eq!(upper_tail(f64::NEG_INFINITY, 5.0), Some(1.0));
    }
}
