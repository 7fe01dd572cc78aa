//! The sign test, and with it that of `McNemar`.

use statrs::function::factorial::ln_binomial;

/// Exact two-sided p-value of "as many samples got better as got worse", above 0 and up to 1.
///
/// Twice the probability of at most min(better, worse) heads among better + worse tosses of a fair coin, at most 1. For
/// scores of 0 and 1 this is `McNemar`'s exact test (1947): those that stayed what they were do not count.
pub fn sign_test(better: u64, worse: u64) -> f64 {
    let tosses = better.saturating_add(worse);
    let fewer = better.min(worse);
    let log = ln_binomial(tosses, fewer) - tosses as f64 * std::f64::consts::LN_2;
    let mut term = log.exp();
    let mut tail = term;
    // C(n, i − 1) = C(n, i) · i / (n − i + 1); from the middle outwards the terms fall off within some √n steps.
    for heads in (1..=fewer).rev() {
        term *= heads as f64 / (tosses - heads + 1) as f64;
        tail += term;
        if term < tail * f64::EPSILON {
            break;
        }
    }
    (2.0 * tail).clamp(f64::MIN_POSITIVE, 1.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "shares of 2^m are exact")]
mod tests {
    use super::*;

    #[test]
    fn few_tosses_are_counted() {
        assert_eq!(sign_test(0, 0), 1.0);
        assert_eq!(sign_test(1, 1), 1.0);
        assert!((sign_test(0, 5) - 2.0 / 32.0).abs() < 1e-15);
        assert!((sign_test(5, 1) - 14.0 / 64.0).abs() < 1e-15);
    }

    #[test]
    fn a_million_tosses_are_nearly_normal() {
        // z = (1000 − 1)/1000 with the correction for continuity: 2·(1 − Φ(0.999)) = 0.317794.
        let p = sign_test(499_500, 500_500);
        assert!((p - 0.317_794).abs() < 1e-5, "{p}");
        assert!(sign_test(0, u64::MAX) > 0.0);
        assert!((sign_test(1 << 40, 1 << 40) - 1.0).abs() < 1e-2);
    }
}
