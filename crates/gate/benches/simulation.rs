//! The error rates of the rules by simulation: `cargo bench -p gate --bench simulation`.
//!
//! Prints the tables of docs/statistics.md. Seeds are fixed, so that only the time differs between two runs.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that prints what it measured, and how long it took"
)]

#[path = "../tests/it/scenario.rs"]
mod scenario;

use std::time::Instant;

use scenario::{Scenario, Scores, Slices, Tally, clustered, normal, usual};

fn main() {
    // `cargo test --benches` starts this too, without the flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let start = Instant::now();
    let parts: [(&str, fn()); 5] = [
        ("unchanged", unchanged),
        ("beyond", beyond_the_usual),
        ("rules", rules),
        ("few", few_samples),
        ("power", power),
    ];
    // `-- few power` runs these alone.
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    for (name, part) in parts {
        if named.is_empty() || named.iter().any(|argument| argument == name) {
            part();
        }
    }
    println!("\n{:.0} s", start.elapsed().as_secs_f64());
}

/// The repetitions on all cores; the result does not depend on how many there are.
fn run(scenario: Scenario, repetitions: u64) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let range = part * repetitions / threads..(part + 1) * repetitions / threads;
                scope.spawn(move || scenario.tally(range))
            })
            .collect();
        for part in parts {
            tally.add(part.join().unwrap());
        }
    });
    tally
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn table(columns: &[&str]) {
    println!("\n| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
}

fn rows_of_unchanged(seeds_from: u64, situations: &[(&str, u64, Scenario)]) {
    table(&["no real change", "limits", "reruns", "blocked"]);
    for (seed, (situation, repetitions, scenario)) in (seeds_from..).zip(situations) {
        let tally = run(scenario.seed(seed), *repetitions);
        let blocked = percent(tally.blocked_share());
        let limits = scenario.limits();
        println!("| {situation} | {limits} | {repetitions} | {blocked} |");
    }
}

/// What has to stay at or below 6 %.
fn unchanged() {
    let runs = usual().scores(Scores::YesNo { p: 0.8 });
    let flips = |share| usual().scores(Scores::Flips { share });
    let clusters = usual().clusters_of(5).scores(clustered(0.25, 0.8));
    let three = Slices::Dealt(3);
    rows_of_unchanged(
        100,
        &[
            ("sd 0.13", 4000, usual().scores(normal(0.13))),
            ("sd 0.25", 4000, usual()),
            ("yes/no, 80 % yes, independent runs", 4000, runs),
            ("yes/no, 10 % of samples differ", 4000, flips(0.10)),
            ("yes/no, 4 % of samples differ", 4000, flips(0.04)),
            ("20 clusters of five", 4000, clusters),
            ("three slices", 4000, usual().slices(three)),
            (
                "20 clusters, three slices of them",
                4000,
                clusters.slices(three),
            ),
        ],
    );
}

/// Few clusters, small slices, and aggregates that are no means.
fn beyond_the_usual() {
    let clusters = usual().clusters_of(5).scores(clustered(0.25, 0.8));
    let loose = usual().scores(clustered(0.25, 0.2));
    let rate = usual().aggregate("pass_rate");
    let median = usual().aggregate("median");
    rows_of_unchanged(
        200,
        &[
            (
                "20 clusters of five that the files do not name",
                1000,
                clusters.without_cluster_names(),
            ),
            ("five clusters of 20", 1000, loose.clusters_of(20)),
            ("four clusters of 25", 1000, loose.clusters_of(25)),
            (
                "four clusters of 25, one metric",
                1000,
                loose.clusters_of(25).metrics(1),
            ),
            (
                "seven slices of three clusters",
                1000,
                clusters.slices(Slices::Dealt(7)),
            ),
            (
                "20 slices of one cluster, samples independent",
                1000,
                usual().clusters_of(5).slices(Slices::Clusters),
            ),
            (
                "20 slices of one cluster, 80 % of its variance shared",
                1000,
                clusters.slices(Slices::Clusters),
            ),
            (
                "pass rate, independent runs",
                1000,
                rate.scores(Scores::YesNo { p: 0.8 }),
            ),
            (
                "pass rate, 4 % of samples differ",
                1000,
                rate.scores(Scores::Flips { share: 0.04 }),
            ),
            ("median", 400, median),
            ("p95", 400, usual().aggregate("p95")),
            ("median of five samples", 400, median.samples(5)),
            ("median of eight samples", 400, median.samples(8)),
        ],
    );
}

/// The three rules side by side.
fn rules() {
    table(&[
        "rule",
        "samples",
        "reruns",
        "nothing changed: blocked",
        "one of ten lost 0.10: caught",
    ]);
    for (rule, max_drop, samples, repetitions) in [
        ("significant", 0.0, 100, 4000),
        ("significant", 0.03, 100, 1000),
        ("point", 0.03, 100, 1000),
        ("noninferior", 0.03, 100, 1000),
        ("significant", 0.0, 500, 1000),
        ("significant", 0.03, 500, 1000),
        ("point", 0.03, 500, 1000),
        ("noninferior", 0.03, 500, 1000),
    ] {
        let scenario = usual().rule(rule, max_drop).samples(samples);
        let blocked = percent(run(scenario.seed(300), repetitions).blocked_share());
        let caught = percent(run(scenario.drop(0.1).seed(301), repetitions).caught_share());
        println!(
            "| `{rule}`, `max_drop = {max_drop}` | {samples} | {repetitions} | {blocked} | {caught} |"
        );
    }
}

/// A collapse is caught, noise is not.
fn few_samples() {
    table(&[
        "samples",
        "metrics",
        "sd",
        "reruns",
        "nothing changed: blocked",
        "one lost 0.70: caught",
    ]);
    for samples in [2, 3, 4, 5, 8] {
        for (metrics, sd) in [(1, 0.13), (1, 0.25), (10, 0.13), (10, 0.25)] {
            let scenario = usual().samples(samples).metrics(metrics).scores(normal(sd));
            let blocked = percent(run(scenario.seed(400), 2000).blocked_share());
            let caught = percent(run(scenario.drop(0.7).seed(401), 2000).caught_share());
            println!("| {samples} | {metrics} | {sd} | 2000 | {blocked} | {caught} |");
        }
    }
}

/// How often a drop of one metric in ten is caught, by its size; 500 reruns a cell.
fn power() {
    let sizes = [50, 100, 200, 500];
    let mut columns = vec!["one of ten lost".to_owned()];
    columns.extend(sizes.map(|samples| format!("{samples} samples")));
    table(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for drop in [0.02, 0.03, 0.05, 0.075, 0.10, 0.15, 0.20] {
        let cells = sizes.map(|samples| {
            let lost = usual().samples(samples).drop(drop).seed(500);
            percent(run(lost, 500).caught_share())
        });
        println!("| {drop} | {} |", cells.join(" | "));
    }
}
