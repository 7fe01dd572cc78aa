//! What the rules do when nothing changed, and when something did: the short form of `benches/simulation.rs`.
//!
//! Seeds are fixed, so that a test counts the same every time. Holm's correction promises 5 %, to which the long form
//! holds it with thousands of repetitions. 200 scatter around that with a standard error of 1.5 points, which the bound of
//! 10 % leaves room for: without the correction 12 % (pass rates) to 80 % (slices) are blocked.

use crate::scenario::{Scenario, Scores, Slices, Tally, clustered, normal, usual};

fn tally(scenario: Scenario) -> Tally {
    scenario.tally(0..200)
}

#[track_caller]
fn is_seldom_blocked(scenario: Scenario) {
    let blocked = tally(scenario).blocked_share();
    assert!(blocked <= 0.10, "{blocked} of {scenario:?}");
}

#[test]
fn unchanged_scores_are_seldom_blocked() {
    is_seldom_blocked(usual().scores(normal(0.13)).seed(1));
    is_seldom_blocked(usual().scores(normal(0.25)).seed(2));
}

#[test]
fn unchanged_yes_and_no_are_seldom_blocked() {
    is_seldom_blocked(usual().scores(Scores::YesNo { p: 0.8 }).seed(10));
    is_seldom_blocked(usual().scores(Scores::Flips { share: 0.10 }).seed(11));
    is_seldom_blocked(usual().scores(Scores::Flips { share: 0.04 }).seed(12));
}

#[test]
fn clusters_that_move_together_are_seldom_blocked() {
    let clusters = usual().clusters_of(5).scores(clustered(0.25, 0.8)).seed(20);
    is_seldom_blocked(clusters);
    // It takes the clusters for that: the same scores without them are blocked often.
    assert!(tally(clusters.without_cluster_names()).blocked_share() > 0.2);
}

#[test]
fn slices_do_not_add_to_what_is_blocked() {
    is_seldom_blocked(usual().slices(Slices::Dealt(3)).seed(30));
}

#[test]
fn slices_of_few_clusters_do_not_either() {
    let clusters = usual().clusters_of(5).scores(clustered(0.25, 0.8)).seed(31);
    is_seldom_blocked(clusters.metrics(3).slices(Slices::Dealt(7)));
    // Within one cluster it takes samples that are independent.
    let independent = usual().clusters_of(5).metrics(3).slices(Slices::Clusters);
    is_seldom_blocked(independent.seed(32));
}

#[test]
fn unchanged_pass_rates_and_quantiles_are_seldom_blocked() {
    let rate = usual().aggregate("pass_rate").samples(25);
    let flips = rate.scores(Scores::Flips { share: 0.16 }).seed(40);
    let median = usual().aggregate("median").samples(5).seed(41);
    for scenario in [flips, median] {
        // Bootstraps take their time, so there are fewer repetitions.
        let blocked = scenario.tally(0..80).blocked_share();
        assert!(blocked <= 0.10, "{blocked} of {scenario:?}");
    }
}

#[test]
fn a_real_drop_in_one_of_ten_metrics_is_caught() {
    let caught = tally(usual().drop(0.1).seed(50)).caught_share();
    assert!(caught >= 0.87, "{caught}");
}

#[test]
fn few_samples_are_no_excuse_for_a_collapse() {
    for samples in [3, 5, 8] {
        let collapse = usual().samples(samples).scores(normal(0.13)).drop(0.7);
        let caught = tally(collapse.seed(60)).caught_share();
        assert!(caught >= 0.95, "{caught} with {samples} samples");
    }
}

#[test]
fn noise_of_few_samples_is_seldom_blocked() {
    is_seldom_blocked(usual().samples(5).seed(61));
    is_seldom_blocked(usual().samples(8).seed(62));
}

#[test]
fn the_point_rule_blocks_what_did_not_change() {
    // What the other rules are for; were it not so, the scenarios above would show nothing.
    assert!(tally(usual().rule("point", 0.03).seed(70)).blocked_share() > 0.5);
}
