//! Correction for testing many limits at once.

/// Adjusted p-values, in the order of `p_values`: Holm's step-down method (1979).
///
/// With the m p-values in ascending order, the i-th (from 0) becomes the largest of (m − j)·p(j) over j ≤ i, at most 1.
/// Rejecting what is at or below α then rejects any true hypothesis with probability α at most, whatever their dependence.
/// What is not a number counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |test: usize| {
        let p = p_values[test];
        if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }
    };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &test) in order.iter().enumerate() {
        let remaining = (p_values.len() - rank) as f64;
        largest = largest.max((remaining * p(test)).min(1.0));
        adjusted[test] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-15, "{adjusted:?}");
        }
    }

    #[test]
    fn one_test_needs_no_correction() {
        assert_eq!(holm(&[0.04]), [0.04]);
        assert_eq!(holm(&[]), [] as [f64; 0]);
    }

    #[test]
    fn what_is_no_number_never_rejects() {
        assert_eq!(holm(&[f64::NAN, 0.01, 7.0]), [1.0, 0.03, 1.0]);
    }
}
