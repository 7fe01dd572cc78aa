//! Whether a judge still gives the scores that it gave to its pinned answers.
//!
//! The same answers, asked about again: whatever differs is the judge's. One score in ten that flips is what models do;
//! all of them lower by a tenth is another judge under the old name, and no difference of results means anything.

use crate::number::EPSILON;
use crate::results::MetricDrift;
use crate::stats::{Aggregate, Paired};

/// The judge moved only by more than this, in points: what is smaller hides under every limit.
pub const TOLERANCE: f64 = 0.01;

/// With fewer scores on both sides nothing is said.
pub const MIN_SCORES: usize = 5;

/// Of all intervals of a re-ask together.
pub const CONFIDENCE: f64 = 0.95;

/// One metric on the pinned answers, as scored when they were pinned and as scored now, in the same order; `None` where
/// there is no score. `metrics` is how many are compared in one go, from 1 up.
///
/// Moved is where the two-sided t interval of the mean change over the answers excludes 0 and the mean change exceeds
/// [`TOLERANCE`]. The interval is at 1 − 0.05 / `metrics` (Bonferroni), so that a judge that is only noisy passes for moved
/// in one re-ask of twenty at most, however many metrics it has. Without spread, as when every score changed by the
/// same, the interval is that point: no change never is a move, and any other beyond the tolerance is. With fewer than
/// [`MIN_SCORES`] on both sides `moved` stays open.
pub fn compare(before: &[Option<f64>], now: &[Option<f64>], metrics: usize) -> MetricDrift {
    let pairs = || before.iter().zip(now);
    let (old, new): (Vec<f64>, Vec<f64>) =
        pairs().filter_map(|(old, new)| (*old).zip(*new)).unzip();
    let lost = pairs()
        .filter(|(old, new)| old.is_some() && new.is_none())
        .count();
    let is_changed = |(old, new): &(&f64, &f64)| (**old - **new).abs() > EPSILON;
    let mut drift = MetricDrift {
        n: old.len() as u64,
        changed: old.iter().zip(&new).filter(is_changed).count() as u64,
        lost: lost as u64,
        ..MetricDrift::default()
    };
    let estimate =
        Paired::new(&old, &new, None).and_then(|paired| paired.estimate(Aggregate::Mean));
    let Some(estimate) = estimate else {
        drift.problem = Some("none of its pinned scores was given again".to_owned());
        return drift;
    };
    drift.before = crate::stats::mean(old.iter().copied());
    drift.now = crate::stats::mean(new.iter().copied());
    drift.change = Some(estimate.change);
    let interval = estimate.interval(1.0 - (1.0 - CONFIDENCE) / metrics.max(1) as f64);
    drift.ci = interval.map(|interval| [interval.low, interval.high]);
    match interval {
        Some(interval) if old.len() >= MIN_SCORES => {
            let is_far = estimate.change.abs() > TOLERANCE + EPSILON;
            drift.moved = Some(is_far && !interval.contains(0.0));
        }
        _ => {
            drift.problem = Some(format!(
                "{} of its pinned scores given again, and {MIN_SCORES} are needed",
                old.len()
            ));
        }
    }
    drift
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{Rng, SeedableRng};

    use super::*;

    fn scores(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn shifted(by: &[f64]) -> MetricDrift {
        let before = vec![Some(0.5); by.len()];
        let now: Vec<_> = by.iter().map(|by| Some(0.5 + by)).collect();
        compare(&before, &now, 1)
    }

    #[test]
    fn the_same_scores_are_no_move() {
        let same = shifted(&[0.0; 10]);
        assert_eq!((same.moved, same.changed, same.n), (Some(false), 0, 10));
        assert_eq!((same.change, same.ci), (Some(0.0), Some([0.0, 0.0])));
        // What differs by rounding is not changed.
        let rounded = compare(&scores(&[0.1 + 0.2; 6]), &scores(&[0.3; 6]), 1);
        assert_eq!((rounded.moved, rounded.changed), (Some(false), 0));
    }

    #[test]
    fn one_flip_is_noise_and_a_shift_of_all_is_a_move() {
        let mut one = [0.0; 10];
        one[3] = -0.5;
        assert_eq!(shifted(&one).moved, Some(false));
        assert_eq!(shifted(&one).changed, 1);
        let shift = [
            -0.1, -0.12, -0.08, -0.2, 0.0, -0.1, -0.15, -0.1, -0.05, -0.1,
        ];
        assert_eq!(shifted(&shift).moved, Some(true));
        assert_eq!(shifted(&[0.2; 10]).moved, Some(true));
    }

    #[test]
    fn a_shift_without_spread_counts_beyond_the_tolerance() {
        let constant = |by: f64| shifted(&[by; 6]).moved;
        assert_eq!(constant(-0.1), Some(true));
        assert_eq!(constant(0.01), Some(false));
        assert_eq!(constant(0.011), Some(true));
    }

    #[test]
    fn what_is_certain_and_tiny_is_no_move() {
        let tiny = [0.004, 0.005, 0.006, 0.005, 0.004, 0.006];
        let found = shifted(&tiny);
        assert!(found.ci.unwrap()[0] > 0.0);
        assert_eq!(found.moved, Some(false));
    }

    #[test]
    fn few_scores_leave_it_open() {
        let four = shifted(&[-0.5; 4]);
        assert_eq!((four.moved, four.n), (None, 4));
        assert!(four.problem.unwrap().contains("5 are needed"));
        let none = compare(&[Some(1.0), None], &[None, Some(1.0)], 1);
        assert_eq!((none.moved, none.n, none.lost), (None, 0, 1));
        assert_eq!((none.change, none.ci), (None, None));
        assert!(none.problem.is_some());
        assert!(compare(&[], &[], 0).problem.is_some());
    }

    #[test]
    fn several_metrics_widen_the_interval() {
        let before = scores(&[0.5; 8]);
        let now = scores(&[0.4, 0.45, 0.3, 0.5, 0.45, 0.5, 0.35, 0.5]);
        assert_eq!(compare(&before, &now, 1).moved, Some(true));
        assert_eq!(compare(&before, &now, 8).moved, Some(false));
    }

    /// About normal: twelve uniform draws.
    fn noise(generator: &mut ChaCha8Rng) -> f64 {
        let unit = |word: u32| f64::from(word) / f64::from(u32::MAX);
        (0..12).map(|_| unit(generator.next_u32())).sum::<f64>() - 6.0
    }

    /// The share of re-asks in which a judge of three metrics passes for moved: each score has a noise of 0.1, then and now,
    /// and those of now are lower by `shift`.
    fn share_of_moves(answers: usize, shift: f64) -> f64 {
        let mut generator = ChaCha8Rng::seed_from_u64(20_240_607);
        let re_asks = 4000;
        let mut scores = |shift: f64| -> Vec<Option<f64>> {
            let score = |_| Some(0.7 - shift + 0.1 * noise(&mut generator));
            (0..answers).map(score).collect()
        };
        let moved = (0..re_asks)
            .filter(|_| {
                (0..3).any(|_| compare(&scores(0.0), &scores(shift), 3).moved == Some(true))
            })
            .count();
        moved as f64 / f64::from(re_asks)
    }

    #[test]
    fn a_noisy_judge_seldom_passes_for_moved_and_one_that_moved_seldom_does_not() {
        let shares = [(10, 0.0), (10, 0.1), (10, 0.2), (30, 0.1)]
            .map(|(answers, shift)| share_of_moves(answers, shift));
        // As docs/judge-trust.md has them, in percent.
        insta::assert_snapshot!(shares.map(|share| format!("{:.1}", 100.0 * share)).join(" "), @"5.3 67.4 99.9 99.9");
    }

    /// Yes or no with the same chance of an error, then and now.
    #[test]
    fn flips_to_both_sides_seldom_pass_for_a_move() {
        let mut generator = ChaCha8Rng::seed_from_u64(7);
        let mut verdict = |index: usize| {
            let is_wrong = generator.next_u32().is_multiple_of(10);
            Some(f64::from(u8::from(index.is_multiple_of(3) == is_wrong)))
        };
        let mut moved = 0;
        for _ in 0..2000 {
            let (before, now): (Vec<_>, Vec<_>) = (0..10)
                .map(|index| (verdict(index), verdict(index)))
                .unzip();
            moved += u32::from(compare(&before, &now, 1).moved == Some(true));
        }
        assert!(moved <= 100, "{moved} of 2000");
    }
}
