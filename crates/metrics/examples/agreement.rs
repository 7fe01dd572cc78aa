//! How far the lexical judge agrees with people: `cargo run -p metrics --example agreement -- FILE.jsonl…`
//!
//! Each line of a file is a sample with `labels`: `faithful` (0 or 1) or `faithfulness` (0 to 1), `context_relevance`,
//! `completeness`. Files whose names begin alike, up to the first `_`, are one group. Samples are halved by a hash of
//! their conversation or id. What has to be chosen (here the score from which a sample counts as good) is chosen on the
//! first half; the table is of the second.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example reads its arguments and prints"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use metrics::{Answer, Context, Metric, Outcome, Sample, Step};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A metric, the label it is held against, and from where on the label says good.
const QUESTIONS: [(&str, &str, f64); 6] = [
    ("faithfulness", "faithful", 0.5),
    ("faithfulness", "faithfulness", 0.5),
    ("context_precision", "context_relevance", 0.5),
    ("context_relevance", "context_relevance", 0.5),
    ("answer_completeness", "completeness", 0.66),
    ("answer_relevancy", "completeness", 0.66),
];

struct Row {
    sample: Sample,
    labels: Value,
    is_first_half: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let mut files = Vec::new();
    for path in std::env::args().skip(1) {
        let name = Path::new(&path)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let rows = read(&path)?;
        files.push((name.clone(), means(&rows)?));
        let group = name.split('_').next().unwrap_or_default().to_owned();
        groups.entry(group).or_default().extend(rows);
    }
    println!(
        "metric              label              data                       n  good   AUC  cutoff  accuracy  kappa  always good"
    );
    for (metric, label, good_from) in QUESTIONS {
        let built = metrics::by_name(metric)?;
        for (group, rows) in &groups {
            // One of the two labels of faithfulness: what people said where there is both.
            if label == "faithfulness"
                && rows.iter().any(|row| row.labels.get("faithful").is_some())
            {
                continue;
            }
            for with_refusals in [true, false] {
                let scored = |is_first_half: bool| -> Vec<(f64, bool)> {
                    let rows = rows.iter().filter(|row| row.is_first_half == is_first_half);
                    rows.filter(|row| with_refusals || !is_none(&row.sample))
                        .filter_map(|row| {
                            Some((
                                score(&*built, &row.sample)?,
                                row.labels[label].as_f64()? >= good_from,
                            ))
                        })
                        .collect()
                };
                let (first, second) = (scored(true), scored(false));
                if second.is_empty()
                    || (!with_refusals && !rows.iter().any(|row| is_none(&row.sample)))
                {
                    continue;
                }
                let cutoff = best_cutoff(&first);
                let (accuracy, kappa) = agreement(&second, cutoff);
                let good = second.iter().filter(|(_, good)| *good).count();
                let data = if with_refusals {
                    group.clone()
                } else {
                    format!("{group} without \"None\"")
                };
                println!(
                    "{metric:<19} {label:<18} {data:<22} {:>5} {good:>5} {:>5.2} {cutoff:>7.2} {accuracy:>9.2} {kappa:>6.2} {:>12.2}",
                    second.len(),
                    auc(&second),
                    good as f64 / second.len() as f64,
                );
            }
        }
    }
    println!("\nfaithfulness, mean over all samples             n  label  lexical");
    for (name, (n, label, lexical)) in files.iter().filter(|(_, (n, ..))| *n > 0) {
        println!("{name:<46} {n:>3} {label:>6.2} {lexical:>8.2}");
    }
    Ok(())
}

fn read(path: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let rows = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let row: Value = serde_json::from_str(line)?;
            let string = |key: &str| row[key].as_str().map(str::to_owned);
            let contexts = row["contexts"].as_array().map(|contexts| {
                let texts = contexts.iter().filter_map(Value::as_str);
                texts
                    .map(|text| Context {
                        id: None,
                        text: text.to_owned(),
                    })
                    .collect()
            });
            let id = string("id").unwrap_or_default();
            let half = row["metadata"]["conversation"].as_str().unwrap_or(&id);
            let is_first_half = Sha256::digest(half.as_bytes())[0].is_multiple_of(2);
            Ok(Row {
                sample: Sample {
                    id,
                    question: string("question"),
                    answer: string("answer"),
                    references: string("ground_truth").map(|text| vec![text]),
                    contexts,
                    ..Sample::default()
                },
                labels: row["labels"].clone(),
                is_first_half,
            })
        });
    rows.collect()
}

/// Number of samples, and the means of label and score of faithfulness.
fn means(rows: &[Row]) -> Result<(usize, f64, f64), Box<dyn Error>> {
    let metric = metrics::by_name("faithfulness")?;
    let pairs: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            Some((
                row.labels["faithfulness"].as_f64()?,
                score(&*metric, &row.sample)?,
            ))
        })
        .collect();
    let n = pairs.len() as f64;
    let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    Ok((pairs.len(), sum(|pair| pair.0) / n, sum(|pair| pair.1) / n))
}

fn is_none(sample: &Sample) -> bool {
    let answer = sample.answer.as_deref().unwrap_or_default();
    answer
        .trim()
        .trim_end_matches('.')
        .eq_ignore_ascii_case("none")
}

/// The score that the lexical judge gives; `None` when there is none.
fn score(metric: &dyn Metric, sample: &Sample) -> Option<f64> {
    let mut answers = Vec::new();
    loop {
        match metric.step(sample, &answers) {
            Step::Ask(request) => {
                answers.push(Answer::Reading(metrics::lexical::answer(&request)?));
            }
            Step::Done(Outcome::Score { score, .. }) => return Some(score),
            _ => return None,
        }
    }
}

/// How often a good sample scores above a bad one; ties count half.
fn auc(scored: &[(f64, bool)]) -> f64 {
    let of = |wanted: bool| {
        scored
            .iter()
            .filter(move |(_, good)| *good == wanted)
            .map(|(score, _)| *score)
    };
    let mut wins = 0.0;
    for good in of(true) {
        for bad in of(false) {
            wins += match good.partial_cmp(&bad) {
                Some(std::cmp::Ordering::Greater) => 1.0,
                Some(std::cmp::Ordering::Equal) => 0.5,
                _ => 0.0,
            };
        }
    }
    wins / (of(true).count() as f64 * of(false).count() as f64)
}

/// The cutoff with the best kappa, in steps of 0.05.
fn best_cutoff(scored: &[(f64, bool)]) -> f64 {
    let cutoffs = (1..=20_u32).map(|step| f64::from(step) / 20.0);
    let best = cutoffs.max_by(|a, b| agreement(scored, *a).1.total_cmp(&agreement(scored, *b).1));
    best.unwrap_or(0.5)
}

/// Accuracy and Cohen's kappa of "scores at least the cutoff" against the label.
fn agreement(scored: &[(f64, bool)], cutoff: f64) -> (f64, f64) {
    let n = scored.len() as f64;
    let count = |of: fn(bool, bool) -> bool| {
        scored
            .iter()
            .filter(|(score, good)| of(*score >= cutoff, *good))
            .count() as f64
    };
    let accuracy = count(|said, good| said == good) / n;
    let (said, good) = (count(|said, _| said) / n, count(|_, good| good) / n);
    let by_chance = said * good + (1.0 - said) * (1.0 - good);
    let kappa = if by_chance < 1.0 {
        (accuracy - by_chance) / (1.0 - by_chance)
    } else {
        0.0
    };
    (accuracy, kappa)
}
