//! How far two ratings of the same samples go together: Pearson, Spearman, Kendall.

use std::cmp::Ordering;

use super::Sum;

/// Pearson's r of two ratings of the same samples, −1 to 1.
///
/// r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²). `None` where it is not defined: lengths that differ, fewer than two
/// samples, a side that is constant, or numbers that are not finite or too large to be squared.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || is_constant(x) || is_constant(y) {
        return None;
    }
    let (mean_x, mean_y) = (
        super::mean(x.iter().copied())?,
        super::mean(y.iter().copied())?,
    );
    let products = |of: &dyn Fn(f64, f64) -> f64| {
        x.iter()
            .zip(y)
            .map(|(x, y)| of(x - mean_x, y - mean_y))
            .collect::<Sum>()
            .total()
    };
    let both = products(&|x, y| x * y);
    let (only_x, only_y) = (products(&|x, _| x * x), products(&|_, y| y * y));
    // One root is exact where both sides are the same, so that perfect is 1; two bear numbers that are very large or small.
    let product = only_x * only_y;
    let norm = match product.is_normal() {
        true => product.sqrt(),
        false => only_x.sqrt() * only_y.sqrt(),
    };
    // Rounding may lead a hair's breadth beyond what a correlation can be.
    (norm > 0.0 && norm.is_finite() && both.is_finite()).then(|| (both / norm).clamp(-1.0, 1.0))
}

/// Spearman's ρ, −1 to 1: [`pearson`] of the ranks, ties sharing the average of theirs.
///
/// `None` as there. O(n log n).
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    (is_finite(x) && is_finite(y)).then(|| pearson(&ranks(x), &ranks(y)))?
}

/// Kendall's τ-b, −1 to 1, which allows for ties (Kendall 1945).
///
/// τ-b = (C − D) / √((n₀ − n₁)(n₀ − n₂)) with C concordant and D discordant pairs, n₀ = n(n − 1)/2 and n₁, n₂ the pairs
/// that are tied in x and in y. Counted by merge sort in O(n log n) (Knight 1966). `None` where a side is constant, fewer
/// than two samples are there, lengths differ or a number is not finite.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || is_constant(x) || is_constant(y) {
        return None;
    }
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    pairs.sort_unstable_by(|a, b| order(a.0, b.0).then_with(|| order(a.1, b.1)));
    let tied_x = tied(&pairs, |a, b| order(a.0, b.0).is_eq());
    let tied_both = tied(&pairs, |a, b| a == b);
    let mut by_y: Vec<f64> = pairs.into_iter().map(|(_, y)| y).collect();
    let mut spare = by_y.clone();
    // Within equal x the y rise, so that only a larger x with a smaller y counts.
    let discordant = inversions(&mut by_y, &mut spare);
    let tied_y = tied(&by_y, |a, b| order(*a, *b).is_eq());
    let all = pairs_among(x.len());
    let excess = i128::from(all) - i128::from(tied_x) - i128::from(tied_y) + i128::from(tied_both)
        - 2 * i128::from(discordant);
    let norm = ((all - tied_x) as f64).sqrt() * ((all - tied_y) as f64).sqrt();
    Some((excess as f64 / norm).clamp(-1.0, 1.0))
}

/// The area under the ROC curve, 0 to 1: how likely a sample that is `positive` has a higher score than one that is not,
/// ties counting half.
///
/// From the sum of ranks (Mann and Whitney 1947): (R₊ − n₊(n₊ + 1)/2) / (n₊ · n₋), in O(n log n). `None` where all samples
/// are of one kind, lengths differ or a score is not finite.
pub fn auc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let n = scores.len();
    let positives = positive.iter().filter(|is| **is).count();
    if positive.len() != n || positives == 0 || positives == n {
        return None;
    }
    if !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let ranks = ranks(scores);
    let sum: Sum = ranks
        .iter()
        .zip(positive)
        .filter(|(_, is)| **is)
        .map(|(rank, _)| *rank)
        .collect();
    let (n_positive, n_negative) = (positives as f64, (n - positives) as f64);
    let beaten = sum.total() - n_positive * (n_positive + 1.0) / 2.0;
    Some(beaten / (n_positive * n_negative))
}

/// Ranks from 1, ties sharing the average of theirs; `values` are finite.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order_of: Vec<usize> = (0..values.len()).collect();
    order_of.sort_unstable_by(|&a, &b| order(values[a], values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for group in order_of.chunk_by(|&a, &b| order(values[a], values[b]).is_eq()) {
        let average = before as f64 + f64::midpoint(1.0, group.len() as f64);
        for &index in group {
            ranks[index] = average;
        }
        before += group.len();
    }
    ranks
}

/// Not the order of bits: −0 and 0 are one score.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// True without spread, which leaves nothing to correlate; also where a number is not finite.
fn is_constant(values: &[f64]) -> bool {
    let first = values.first();
    values.iter().any(|value| !value.is_finite()) || values.iter().all(|value| Some(value) == first)
}

/// Pairs of equal neighbours in what is sorted.
fn tied<T>(sorted: &[T], same: impl Fn(&T, &T) -> bool) -> u64 {
    sorted
        .chunk_by(same)
        .map(|group| pairs_among(group.len()))
        .sum()
}

fn pairs_among(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// Sorts `values`; gives back how many pairs stood in the wrong order.
fn inversions(values: &mut [f64], spare: &mut [f64]) -> u64 {
    let n = values.len();
    let mut found = 0;
    let mut width = 1;
    while width < n {
        for start in (0..n).step_by(2 * width) {
            let middle = (start + width).min(n);
            let end = (start + 2 * width).min(n);
            let (mut left, mut right) = (start, middle);
            for slot in &mut spare[start..end] {
                let takes_right =
                    right < end && (left >= middle || order(values[right], values[left]).is_lt());
                if takes_right {
                    *slot = values[right];
                    right += 1;
                    found += (middle - left) as u64;
                } else {
                    *slot = values[left];
                    left += 1;
                }
            }
        }
        values.copy_from_slice(spare);
        width *= 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_constant_side_is_undefined_and_never_nan() {
        let (constant, other) = ([0.1; 4], [0.1, 0.2, 0.3, 0.4]);
        for of in [pearson, spearman, kendall_tau_b] {
            assert_eq!(of(&constant, &other), None);
            assert_eq!(of(&other, &constant), None);
            assert_eq!(of(&[], &[]), None);
            assert_eq!(of(&[1.0], &[1.0]), None);
            assert_eq!(of(&[1.0, 2.0], &[1.0]), None);
            assert_eq!(of(&[1.0, f64::NAN], &[1.0, 2.0]), None);
            assert_eq!(of(&[0.0, -0.0], &[1.0, 2.0]), None);
            assert_eq!(of(&other, &other), Some(1.0));
        }
        assert_eq!(pearson(&[f64::MAX, f64::MIN], &[1.0, 2.0]), None);
        let small = [1e-100, 2e-100, 4e-100];
        assert!((pearson(&small, &small).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(
            ranks(&[3.0, 1.0, 3.0, -0.0, 0.0]),
            [4.5, 3.0, 4.5, 1.5, 1.5]
        );
    }

    #[test]
    fn an_area_needs_both_kinds() {
        assert_eq!(auc(&[1.0, 2.0], &[true, true]), None);
        assert_eq!(auc(&[1.0, 2.0], &[false, false]), None);
        assert_eq!(auc(&[1.0], &[true, false]), None);
        assert_eq!(auc(&[f64::NAN, 1.0], &[true, false]), None);
        assert_eq!(auc(&[0.2, 0.9, 0.9], &[false, true, false]), Some(0.75));
    }

    /// By definition, in O(n²).
    fn tau_by_pairs(x: &[f64], y: &[f64]) -> Option<f64> {
        let (mut excess, mut free_x, mut free_y) = (0_i64, 0_i64, 0_i64);
        for i in 0..x.len() {
            for j in 0..i {
                let sign = |a: f64, b: f64| i64::from(a > b) - i64::from(a < b);
                let (dx, dy) = (sign(x[i], x[j]), sign(y[i], y[j]));
                excess += dx * dy;
                free_x += dx.abs();
                free_y += dy.abs();
            }
        }
        (free_x > 0 && free_y > 0)
            .then(|| excess as f64 / ((free_x as f64).sqrt() * (free_y as f64).sqrt()))
    }

    fn auc_by_pairs(scores: &[f64], positive: &[bool]) -> Option<f64> {
        let (mut won, mut all) = (0.0, 0.0);
        for (score, _) in scores.iter().zip(positive).filter(|(_, is)| **is) {
            for (other, _) in scores.iter().zip(positive).filter(|(_, is)| !**is) {
                all += 1.0;
                won += match order(*score, *other) {
                    Ordering::Greater => 1.0,
                    Ordering::Equal => 0.5,
                    Ordering::Less => 0.0,
                };
            }
        }
        (all > 0.0).then(|| won / all)
    }

    /// Scores with many ties.
    fn ratings() -> impl Strategy<Value = Vec<(f64, f64, bool)>> {
        let score = || (-3_i32..6).prop_map(f64::from);
        prop::collection::vec((score(), score(), any::<bool>()), 0..60)
    }

    proptest! {
        #[test]
        fn merging_counts_what_all_pairs_say(ratings in ratings()) {
            let x: Vec<f64> = ratings.iter().map(|row| row.0).collect();
            let y: Vec<f64> = ratings.iter().map(|row| row.1).collect();
            let positive: Vec<bool> = ratings.iter().map(|row| row.2).collect();
            match (kendall_tau_b(&x, &y), tau_by_pairs(&x, &y)) {
                (Some(one), Some(other)) => prop_assert!((one - other).abs() < 1e-12),
                (one, other) => prop_assert_eq!(one, other),
            }
            match (auc(&x, &positive), auc_by_pairs(&x, &positive)) {
                (Some(one), Some(other)) => prop_assert!((one - other).abs() < 1e-12),
                (one, other) => prop_assert_eq!(one, other),
            }
        }

        #[test]
        fn correlations_stay_within_their_bounds_and_know_no_sides(ratings in ratings()) {
            let x: Vec<f64> = ratings.iter().map(|row| row.0).collect();
            let y: Vec<f64> = ratings.iter().map(|row| row.1).collect();
            for of in [pearson, spearman, kendall_tau_b] {
                let (one, other) = (of(&x, &y), of(&y, &x));
                prop_assert_eq!(one.is_some(), other.is_some());
                if let (Some(one), Some(other)) = (one, other) {
                    prop_assert!((-1.0..=1.0).contains(&one));
                    prop_assert!((one - other).abs() < 1e-12);
                }
            }
        }
    }
}
