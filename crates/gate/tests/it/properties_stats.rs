//! Laws that the statistics obey for any samples.

use gate::policy::Direction;
use gate::stats::{
    Aggregate, ClusterSums, Paired, Resampling, bootstrap, holm, label_swap, mean, sign_flip,
    sign_test,
};
use proptest::prelude::*;

/// Few draws: the laws hold for any number.
const FEW: Resampling = Resampling {
    seed: 7,
    draws: 300,
};

/// A score: of a judge, one of few values, or of any size.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..1.0_f64,
        (0..=4_u8).prop_map(|quarter| f64::from(quarter) / 4.0),
        -1e6..1e6_f64,
    ]
}

/// Samples with the cluster of each, ids below the number of samples.
fn samples() -> impl Strategy<Value = Vec<(f64, f64, u32)>> {
    (1..60_usize).prop_flat_map(|n| {
        let id = 0..u32::try_from(n).unwrap();
        prop::collection::vec((score(), score(), id), n)
    })
}

/// The same samples in another order, with other numbers for the clusters.
fn reordered() -> impl Strategy<Value = [Columns; 2]> {
    samples().prop_flat_map(|samples| {
        let ids: Vec<u32> = (0..).take(samples.len()).collect();
        let order = Just(samples.clone()).prop_shuffle();
        (Just(samples), order, Just(ids).prop_shuffle()).prop_map(|(samples, order, ids)| {
            let renumbered = order.into_iter().map(|(b, n, id)| (b, n, ids[id as usize]));
            [samples.into_iter().collect(), renumbered.collect()]
        })
    })
}

#[derive(Debug, Default)]
struct Columns {
    before: Vec<f64>,
    now: Vec<f64>,
    clusters: Vec<u32>,
}

impl FromIterator<(f64, f64, u32)> for Columns {
    fn from_iter<I: IntoIterator<Item = (f64, f64, u32)>>(samples: I) -> Self {
        let mut columns = Columns::default();
        for (before, now, cluster) in samples {
            columns.before.push(before);
            columns.now.push(now);
            columns.clusters.push(cluster);
        }
        columns
    }
}

impl Columns {
    fn paired(&self) -> Paired<'_> {
        Paired::new(&self.before, &self.now, Some(&self.clusters)).unwrap()
    }

    fn sums(&self) -> ClusterSums {
        self.paired().cluster_sums().unwrap()
    }
}

fn aggregates() -> impl Strategy<Value = Aggregate> {
    let rate = |direction| Aggregate::PassRate { at: 0.5, direction };
    prop::sample::select(vec![
        Aggregate::Mean,
        Aggregate::Median,
        Aggregate::Percentile(5),
        Aggregate::Percentile(95),
        Aggregate::Min,
        Aggregate::Max,
        rate(Direction::Higher),
        rate(Direction::Lower),
    ])
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.max(1e-9)
}

/// Mostly numbers of any magnitude, and now and then none.
fn hostile() -> impl Strategy<Value = f64> {
    use prop::num::f64::{ANY, NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        60 => POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
        10 => prop::sample::select(vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0, -0.0, 1.0]),
        1 => ANY,
    ]
}

/// The largest magnitude of a score.
fn scale(columns: &Columns) -> f64 {
    let scores = columns.before.iter().chain(&columns.now);
    scores.fold(0.0, |most, score| score.abs().max(most))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn order_and_numbering_change_no_mean([one, other] in reordered()) {
        let (a, b) = (one.sums().estimate().unwrap(), other.sums().estimate().unwrap());
        let scale = scale(&one);
        prop_assert_eq!((a.n, a.clusters), (b.n, b.clusters));
        prop_assert!(close(a.change, b.change, scale));
        prop_assert!(close(a.stderr.unwrap_or(-1.0), b.stderr.unwrap_or(-1.0), scale));
        let flip = |columns: &Columns| sign_flip(&columns.sums().worse(Direction::Higher), FEW);
        prop_assert_eq!(flip(&one), flip(&other));
    }

    #[test]
    fn order_and_numbering_change_no_aggregate([one, other] in reordered(), of in aggregates()) {
        let scale = scale(&one);
        let swap = |columns: &Columns| label_swap(&columns.paired(), of, Direction::Lower, FEW);
        prop_assert_eq!(swap(&one), swap(&other));
        let change = |columns: &Columns| columns.paired().change(of).unwrap();
        prop_assert!(close(change(&one), change(&other), scale));
        let interval = |columns: &Columns| {
            bootstrap(&columns.paired(), of, 0.9, FEW).map(|found| found.interval)
        };
        match (interval(&one), interval(&other)) {
            (Some(a), Some(b)) => {
                prop_assert!(close(a.low, b.low, scale) && close(a.high, b.high, scale));
            }
            (a, b) => prop_assert_eq!(a, b),
        }
    }

    #[test]
    fn an_interval_contains_its_estimate(samples in samples(), confidence in 0.01..0.999_f64) {
        let columns: Columns = samples.into_iter().collect();
        let estimate = columns.sums().estimate().unwrap();
        if let Some(interval) = estimate.interval(confidence) {
            prop_assert!(interval.contains(estimate.change));
            let wider = estimate.interval(f64::midpoint(confidence, 1.0)).unwrap();
            prop_assert!(wider.low <= interval.low && interval.high <= wider.high);
            prop_assert!(estimate.lower_bound(0.9).unwrap() <= estimate.change);
            prop_assert!(estimate.upper_bound(0.9).unwrap() >= estimate.change);
        } else {
            prop_assert_eq!(estimate.clusters, 1);
        }
    }

    #[test]
    fn p_values_are_probabilities(samples in samples(), of in aggregates()) {
        let columns: Columns = samples.into_iter().collect();
        let sums = columns.sums();
        let outcomes = [
            sign_flip(&sums.worse(Direction::Lower), FEW).unwrap(),
            label_swap(&columns.paired(), of, Direction::Lower, FEW).unwrap(),
        ];
        for outcome in outcomes {
            prop_assert!(outcome.floor > 0.0 && outcome.floor <= outcome.p_one_sided);
            prop_assert!(outcome.p_one_sided <= 1.0 && outcome.p_two_sided <= 1.0);
            prop_assert!(outcome.p_two_sided > 0.0);
        }
        let estimate = sums.estimate().unwrap();
        let p_values = [estimate.p_two_sided(), estimate.p_below(0.1), estimate.p_above(0.1)];
        for p in p_values.into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
    }

    #[test]
    fn better_one_way_is_worse_the_other(samples in samples()) {
        let columns: Columns = samples.into_iter().collect();
        let p = |direction| {
            let outcome = sign_flip(&columns.sums().worse(direction), FEW).unwrap();
            (outcome.method, outcome.p_one_sided)
        };
        let ((method, higher), (_, lower)) = (p(Direction::Higher), p(Direction::Lower));
        // What is observed counts on both sides.
        prop_assert!(method == gate::stats::Method::MonteCarlo || higher + lower > 1.0);
    }

    #[test]
    fn units_do_not_matter(samples in samples(), exponent in -20..20_i32) {
        // Powers of two, so that the scores scale without rounding.
        let unit = 2.0_f64.powi(exponent);
        let scaled: Columns = samples.iter().map(|(b, n, id)| (b * unit, n * unit, *id)).collect();
        let columns: Columns = samples.into_iter().collect();
        let flip = |columns: &Columns| sign_flip(&columns.sums().worse(Direction::Higher), FEW);
        prop_assert_eq!(flip(&columns), flip(&scaled));
        let swap = |columns: &Columns| {
            label_swap(&columns.paired(), Aggregate::Percentile(90), Direction::Higher, FEW)
        };
        prop_assert_eq!(swap(&columns), swap(&scaled));
        let (a, b) = (columns.sums().estimate().unwrap(), scaled.sums().estimate().unwrap());
        prop_assert!(close(a.change * unit, b.change, scale(&scaled)));
        prop_assert_eq!(a.p_two_sided(), b.p_two_sided());
    }

    #[test]
    fn an_aggregate_lies_among_its_values(values in prop::collection::vec(score(), 1..50), of in aggregates()) {
        let found = of.of(&mut values.clone()).unwrap();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let inside = match of {
            Aggregate::PassRate { .. } => (0.0..=1.0).contains(&found),
            _ => found >= low - 1e-9 && found <= high + 1e-9,
        };
        prop_assert!(inside, "{of}: {found}");
    }

    #[test]
    fn means_do_not_depend_on_order(values in prop::collection::vec(score(), 1..50).prop_flat_map(|values| {
        (Just(values.clone()), Just(values).prop_shuffle())
    })) {
        let (a, b) = (mean(values.0).unwrap(), mean(values.1).unwrap());
        prop_assert!(close(a, b, a.abs() * 1e-3));
    }

    #[test]
    fn holm_keeps_order_and_never_lowers(p_values in prop::collection::vec(0.0..=1.0_f64, 0..20)) {
        let adjusted = holm(&p_values);
        prop_assert_eq!(adjusted.len(), p_values.len());
        for (a, &p) in adjusted.iter().zip(&p_values) {
            prop_assert!(*a >= p && *a <= (p * p_values.len() as f64).min(1.0));
            for (b, &q) in adjusted.iter().zip(&p_values) {
                prop_assert!(p > q || a <= b);
            }
        }
    }

    #[test]
    fn a_sign_test_is_symmetric(better in 0..5000_u64, worse in 0..5000_u64) {
        let p = sign_test(better, worse);
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert_eq!(p.to_bits(), sign_test(worse, better).to_bits());
        prop_assert!(sign_test(better, worse + better.abs_diff(worse) + 1) <= 1.0);
    }

    #[test]
    fn hostile_numbers_break_nothing(
        before in prop::collection::vec(hostile(), 0..40),
        now in prop::collection::vec(hostile(), 0..40),
        of in aggregates(),
        confidence in prop::num::f64::ANY,
    ) {
        let finite = |number: Option<f64>| number.is_none_or(f64::is_finite);
        prop_assert!(finite(mean(before.clone())));
        prop_assert!(holm(&before).iter().all(|p| (0.0..=1.0).contains(p)));
        if let Some(outcome) = sign_flip(&before, FEW) {
            prop_assert!((0.0..=1.0).contains(&outcome.p_one_sided));
        }
        let n = before.len().min(now.len());
        let Some(paired) = Paired::new(&before[..n], &now[..n], None) else {
            return Ok(());
        };
        prop_assert!(finite(paired.change(of)));
        if let Some(found) = bootstrap(&paired, of, confidence, FEW) {
            prop_assert!(found.interval.low <= found.interval.high);
        }
        if let Some(outcome) = label_swap(&paired, of, Direction::Lower, FEW) {
            prop_assert!((0.0..=1.0).contains(&outcome.p_two_sided));
        }
        let Some(estimate) = paired.cluster_sums().and_then(|sums| sums.estimate()) else {
            return Ok(());
        };
        prop_assert!(finite(estimate.stderr) && finite(estimate.p_two_sided()));
        prop_assert!(finite(estimate.upper_bound(confidence)));
        prop_assert!(estimate.interval(confidence).is_none_or(|found| found.low <= found.high));
    }
}
