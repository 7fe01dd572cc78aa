//! Every number the statistics give for real systems, against scipy, statsmodels and numpy.

use std::collections::{BTreeMap, HashMap};

use gate::policy::Direction;
use gate::stats::{
    Aggregate, ClusterSums, Estimate, Interval, Method, Outcome, Paired, Resampling, bootstrap,
    holm, minimal_detectable, sign_flip, sign_test,
};
use serde::Deserialize;

use crate::fixtures::{Common, System, read};

#[derive(Deserialize)]
struct Expected {
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Comparison {
    baseline: String,
    candidate: String,
    filter: Option<String>,
    metrics: BTreeMap<String, Metric>,
    adjusted_t_p_two_sided: Option<Adjusted>,
    adjusted_t_p_less: Option<Adjusted>,
}

#[derive(Deserialize)]
struct Metric {
    n_pairs: usize,
    n_clusters: usize,
    baseline: Side,
    candidate: Side,
    diff_mean: f64,
    se_naive: f64,
    se_clustered_cr0: f64,
    mcnemar: Option<McNemar>,
    /// Absent where the two sides are the same.
    #[serde(flatten)]
    tests: Option<Tests>,
}

#[derive(Deserialize)]
struct Tests {
    se_clustered_cr1: f64,
    ci95_clustered_t: [f64; 2],
    p_clustered_t_two_sided: f64,
    t_test: TTest,
    sign_test_exact: SignTest,
    noninferiority_p: HashMap<String, f64>,
    mde_80pct_power_z: f64,
    bootstrap_percentile: Bootstrapped,
    bootstrap_cluster_percentile: Bootstrapped,
    permutation_sign_flip: Permuted,
    permutation_sign_flip_cluster: Permuted,
    permutation_exact_first_nonzero: Enumerated,
}

#[derive(Deserialize)]
struct Side {
    n: usize,
    mean: f64,
    sd: f64,
    se: f64,
    ci95_t: [f64; 2],
}

#[derive(Deserialize)]
struct TTest {
    df: usize,
    p_two_sided: f64,
    p_less: f64,
    ci95: [f64; 2],
}

#[derive(Deserialize)]
struct SignTest {
    plus: u64,
    minus: u64,
    zero: usize,
    p_two_sided: f64,
}

#[derive(Deserialize)]
struct McNemar {
    regressed: u64,
    improved: u64,
    p_exact: f64,
}

#[derive(Deserialize)]
struct Bootstrapped {
    ci95: [f64; 2],
    tolerance: Option<f64>,
}

#[derive(Deserialize)]
struct Permuted {
    p_two_sided: f64,
    p_less: Option<f64>,
}

#[derive(Deserialize)]
struct Enumerated {
    diffs: Vec<f64>,
    sum: f64,
    p_two_sided: f64,
    p_less: f64,
}

#[derive(Deserialize)]
struct Adjusted {
    raw: BTreeMap<String, f64>,
    holm: BTreeMap<String, f64>,
}

/// Six decimals, as the reference prints them.
#[track_caller]
fn same(what: &str, found: f64, expected: f64) {
    let difference = (found - expected).abs();
    assert!(difference <= 5.1e-7, "{what}: {found} for {expected}");
}

/// A p-value: six decimals, or six digits where it is printed as 1.23456e-07.
#[track_caller]
fn same_p(what: &str, found: Option<f64>, expected: f64) {
    let found = found.unwrap_or_else(|| panic!("{what} is missing"));
    let tolerance = if expected < 0.001 {
        expected * 1e-5
    } else {
        5.1e-7
    };
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found:e} for {expected:e}"
    );
}

/// The ends of an interval within `tolerance`.
#[track_caller]
fn same_interval(what: &str, found: Option<Interval>, [low, high]: [f64; 2], tolerance: f64) {
    let found = found.unwrap_or_else(|| panic!("{what} is missing"));
    assert!(
        (found.low - low).abs() <= tolerance && (found.high - high).abs() <= tolerance,
        "{what}: {found:?} for [{low}, {high}] ± {tolerance}"
    );
}

/// A p-value of random permutations: within five standard errors of both sides' draws.
#[track_caller]
fn same_by_chance(what: &str, found: f64, method: Method, expected: f64) {
    let variance = |p: f64| p.clamp(1e-4, 1.0 - 1e-4) * (1.0 - p.clamp(1e-4, 1.0 - 1e-4)) / 1e4;
    let ours = match method {
        Method::Exact => 0.0,
        Method::MonteCarlo => variance(found),
    };
    // The reference counts the observed assignment as one more draw.
    let error = (ours + variance(expected)).sqrt() + 1e-4 / 5.0;
    assert!(
        (found - expected).abs() <= 5.0 * error,
        "{what}: {found} for {expected} ± {error}"
    );
}

fn estimate(values: &[f64]) -> Estimate {
    ClusterSums::of(values, None)
        .and_then(|sums| sums.estimate())
        .unwrap()
}

/// Calls `check` with every comparison, metric and its samples; returns how many there were.
fn each(mut check: impl FnMut(&str, &Metric, &Common)) -> usize {
    let mut count = 0;
    for dataset in ["aragog", "mtrag", "refchecker"] {
        let expected: Expected = read(&format!("expected/{dataset}.json"));
        for comparison in &expected.comparisons {
            for (name, metric) in &comparison.metrics {
                let common = comparison.common(dataset, name);
                let what = format!(
                    "{dataset} {} → {} {name}",
                    comparison.baseline, comparison.candidate
                );
                check(&what, metric, &common);
                count += 1;
            }
        }
    }
    count
}

impl Comparison {
    fn common(&self, dataset: &str, metric: &str) -> Common {
        let system = |name: &str| read::<System>(&format!("scores/{dataset}/{name}.json"));
        let setting = self.filter.as_deref().map(|filter| {
            let (tag, value) = filter.split_once(" == ").unwrap();
            (tag.to_owned(), value.to_owned())
        });
        Common::of(
            &system(&self.baseline),
            &system(&self.candidate),
            metric,
            |item| {
                setting
                    .as_ref()
                    .is_none_or(|(tag, value)| item.tags.get(tag) == Some(value))
            },
        )
    }
}

impl Common {
    fn alone(&self) -> Paired<'_> {
        Paired::new(&self.before, &self.now, None).unwrap()
    }

    fn clustered(&self) -> Paired<'_> {
        Paired::new(&self.before, &self.now, Some(&self.clusters)).unwrap()
    }
}

fn change(paired: &Paired<'_>) -> Estimate {
    paired
        .cluster_sums()
        .and_then(|sums| sums.estimate())
        .unwrap()
}

/// "It got worse" of the sign-flip test.
fn flip(paired: &Paired<'_>) -> Outcome {
    let sums = paired.cluster_sums().unwrap();
    sign_flip(&sums.worse(Direction::Higher), Resampling::default()).unwrap()
}

#[test]
fn each_side_alone() {
    let count = each(|what, metric, common| {
        for (expected, values) in [
            (&metric.baseline, &common.before),
            (&metric.candidate, &common.now),
        ] {
            let found = estimate(values);
            let stderr = found.stderr.unwrap();
            assert_eq!(found.n, expected.n, "{what}");
            same(what, found.change, expected.mean);
            same(
                what,
                Aggregate::Mean.of(&mut values.clone()).unwrap(),
                expected.mean,
            );
            same(what, stderr, expected.se);
            same(what, stderr * (found.n as f64).sqrt(), expected.sd);
            same_interval(what, found.interval(0.95), expected.ci95_t, 5.1e-7);
        }
    });
    assert_eq!(count, 71);
}

#[test]
fn differences_over_clusters() {
    each(|what, metric, common| {
        let found = change(&common.clustered());
        assert_eq!(found.n, metric.n_pairs, "{what}");
        assert_eq!(found.clusters, metric.n_clusters, "{what}");
        same(what, found.change, metric.diff_mean);
        let (clusters, cr1) = (found.clusters as f64, found.stderr.unwrap());
        same(
            what,
            cr1 * ((clusters - 1.0) / clusters).sqrt(),
            metric.se_clustered_cr0,
        );
        let Some(tests) = &metric.tests else {
            assert_eq!((found.nonzero_clusters, found.stderr), (0, Some(0.0)));
            assert_eq!(found.p_two_sided(), Some(1.0), "{what}");
            return;
        };
        same(what, cr1, tests.se_clustered_cr1);
        same_interval(what, found.interval(0.95), tests.ci95_clustered_t, 5.1e-7);
        same_p(what, found.p_two_sided(), tests.p_clustered_t_two_sided);
    });
}

#[test]
fn differences_of_independent_samples() {
    each(|what, metric, common| {
        let found = change(&common.alone());
        same(what, found.stderr.unwrap(), metric.se_naive);
        let Some(tests) = &metric.tests else { return };
        assert_eq!(found.clusters - 1, tests.t_test.df, "{what}");
        same_p(what, found.p_two_sided(), tests.t_test.p_two_sided);
        same_p(what, found.p_below(0.0), tests.t_test.p_less);
        same_interval(what, found.interval(0.95), tests.t_test.ci95, 5.1e-7);
        for (margin, expected) in &tests.noninferiority_p {
            let margin: f64 = margin.parse().unwrap();
            same_p(what, found.p_above(-margin), *expected);
        }
        let found = minimal_detectable(found.stderr.unwrap(), 0.975).unwrap();
        same(what, found, tests.mde_80pct_power_z);
    });
}

#[test]
fn enumerated_sign_flips() {
    each(|what, metric, common| {
        let Some(tests) = &metric.tests else { return };
        let expected = &tests.permutation_exact_first_nonzero;
        let sums = ClusterSums::of(&expected.diffs, None).unwrap();
        let found = sign_flip(&sums.worse(Direction::Higher), Resampling::default()).unwrap();
        assert_eq!(found.method, Method::Exact, "{what}");
        same(what, expected.diffs.iter().sum(), expected.sum);
        same_p(what, Some(found.p_one_sided), expected.p_less);
        same_p(what, Some(found.p_two_sided), expected.p_two_sided);

        // The differences are those of the samples, in their order.
        let sums = common.alone().cluster_sums().unwrap();
        let nonzero = sums.sums().iter().filter(|sum| **sum != 0.0);
        for (found, expected) in nonzero.zip(&expected.diffs) {
            same(what, *found, *expected);
        }
    });
}

#[test]
fn random_sign_flips() {
    each(|what, metric, common| {
        let Some(tests) = &metric.tests else { return };
        let (alone, clustered) = (flip(&common.alone()), flip(&common.clustered()));
        let expected = &tests.permutation_sign_flip;
        let less = expected.p_less.unwrap();
        same_by_chance(what, alone.p_one_sided, alone.method, less);
        same_by_chance(what, alone.p_two_sided, alone.method, expected.p_two_sided);
        let expected = tests.permutation_sign_flip_cluster.p_two_sided;
        same_by_chance(what, clustered.p_two_sided, clustered.method, expected);
    });
}

#[test]
fn bootstrap_intervals() {
    each(|what, metric, common| {
        let Some(tests) = &metric.tests else { return };
        let expected = &tests.bootstrap_percentile;
        let tolerance = expected.tolerance.unwrap();
        same_bootstrap(what, &common.alone(), expected.ci95, tolerance);
        // The tolerance is a share of the standard error, and over clusters that is another one.
        let tolerance = tolerance * (tests.se_clustered_cr1 / metric.se_naive).max(1.0);
        let expected = tests.bootstrap_cluster_percentile.ci95;
        same_bootstrap(what, &common.clustered(), expected, tolerance);
    });
}

/// Within the tolerance of the reference; where a metric is 0 or 1 the means of all draws are multiples of 1/n, and an end
/// may fall to the neighbouring one.
///
/// Sharper, and for all: the ends of the reference lie between those of narrower and wider intervals of ours. 1.1 % in each
/// tail is five standard errors of 10 000 draws on either side.
#[track_caller]
fn same_bootstrap(what: &str, paired: &Paired<'_>, [low, high]: [f64; 2], tolerance: f64) {
    let interval = |confidence| {
        let found = bootstrap(paired, Aggregate::Mean, confidence, Resampling::default()).unwrap();
        assert_eq!(found.draws, 10_000);
        found.interval
    };
    let scores = [paired.before(), paired.now()].concat();
    let step = if scores.iter().all(|score| [0.0, 1.0].contains(score)) {
        1.0 / paired.len() as f64 + 5.1e-7
    } else {
        0.0
    };
    let found = interval(0.95);
    same_interval(what, Some(found), [low, high], tolerance.max(step));
    let (narrow, wide) = (interval(0.928), interval(0.972));
    assert!(
        (wide.low - 5.1e-7..=narrow.low + 5.1e-7).contains(&low)
            && (narrow.high - 5.1e-7..=wide.high + 5.1e-7).contains(&high),
        "{what}: {narrow:?} to {wide:?} for [{low}, {high}]"
    );
}

#[test]
fn sign_tests() {
    each(|what, metric, common| {
        let sums = common.alone().cluster_sums().unwrap();
        let count = |keep: fn(&f64) -> bool| sums.sums().iter().filter(|sum| keep(sum)).count();
        let better = count(|sum| *sum > 0.0) as u64;
        let worse = count(|sum| *sum < 0.0) as u64;
        if let Some(tests) = &metric.tests {
            let expected = &tests.sign_test_exact;
            assert_eq!((better, worse), (expected.plus, expected.minus), "{what}");
            assert_eq!(sums.sums().len() - sums.nonzero(), expected.zero, "{what}");
            same_p(what, Some(sign_test(better, worse)), expected.p_two_sided);
        }
        if let Some(expected) = &metric.mcnemar {
            assert_eq!(
                (better, worse),
                (expected.improved, expected.regressed),
                "{what}"
            );
            same_p(what, Some(sign_test(better, worse)), expected.p_exact);
        }
    });
}

#[test]
fn holm_over_the_metrics_of_a_comparison() {
    for dataset in ["aragog", "mtrag", "refchecker"] {
        let expected: Expected = read(&format!("expected/{dataset}.json"));
        for comparison in &expected.comparisons {
            let what = format!(
                "{dataset} {} → {}",
                comparison.baseline, comparison.candidate
            );
            let p_values = |p: fn(&Estimate) -> Option<f64>| -> Vec<f64> {
                let metrics = comparison.metrics.keys();
                metrics
                    .map(|metric| p(&change(&comparison.common(dataset, metric).alone())).unwrap())
                    .collect()
            };
            let families = [
                (
                    &comparison.adjusted_t_p_two_sided,
                    p_values(Estimate::p_two_sided),
                ),
                (
                    &comparison.adjusted_t_p_less,
                    p_values(|found| found.p_below(0.0)),
                ),
            ];
            for (expected, raw) in families {
                let Some(expected) = expected else { continue };
                for (found, expected) in raw.iter().zip(expected.raw.values()) {
                    same_p(&what, Some(*found), *expected);
                }
                // The reference corrects what it has rounded.
                let rounded: Vec<f64> = expected.raw.values().copied().collect();
                for (found, expected) in holm(&rounded).into_iter().zip(expected.holm.values()) {
                    same_p(&what, Some(found), *expected);
                }
            }
        }
    }
}
