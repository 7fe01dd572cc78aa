//! `rag-gate judge agreement`: a judge's scores beside human labels of the same answers.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use gate::number;
use gate::results::{Keep, ReadError, Results, Score};
use gate::stats::{Agreement, Decisions, Estimate, Paired};
use serde::Serialize;

use super::labels::{Answer, Chosen, Labels};
use super::{json, wrapped};
use crate::args::AgreementArgs;
use crate::commands::units::plural;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, input};

/// Of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Fewer answers say nothing about a judge.
const FEW: usize = 20;

/// From where a label or a score from 0 to 1 is a yes.
const HALF: f64 = 0.5;

pub(super) fn run(args: &AgreementArgs) -> Result<ExitCode, Error> {
    let is_stdin = |path: &std::path::Path| path.to_str() == Some(input::STDIN);
    if is_stdin(&args.labels) && is_stdin(&args.results) {
        return Err(Error::usage(
            "labels and results cannot both be standard input",
        ));
    }
    for (what, path) in [
        ("the file of labels", &args.labels),
        ("the results file", &args.results),
    ] {
        if !is_stdin(path) && !path.exists() {
            return Err(Error::Missing {
                what,
                path: path.display().to_string(),
                help: "name an existing file".to_owned(),
            });
        }
    }
    let labels = Labels::read(&args.labels)?;
    let results = input::results(&args.results, Keep::Scores)?;
    let (label, metric) = names(args, &labels, &results)?;
    let chosen = labels.choose(&label).map_err(|error| Error::Input {
        path: input::name(&args.labels),
        error,
    })?;
    let matched = Matched::of(&labels, &chosen, &results, &metric)?;
    let report = Report::of(args, &label, &metric, &matched)?;
    let text = match args.json {
        true => json(&report)?,
        false => report.text(),
    };
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

/// The label and the metric that are compared.
fn names(
    args: &AgreementArgs,
    labels: &Labels,
    results: &Results,
) -> Result<(String, String), Error> {
    if results.samples().is_none() {
        return Err(Error::Refused {
            message: format!(
                "{} has means alone: an answer's score is compared with its label",
                input::name(&args.results)
            ),
            help: Some("write results with their samples".to_owned()),
        });
    }
    let labels: Vec<&str> = labels.names().collect();
    let metrics = results.metric_names();
    let known = |what: &str, name: &str, among: &[&str]| match among.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(Error::Usage {
            message: format!("there is no {what} `{name}`"),
            help: Some(format!("there are {}", among.join(", "))),
        }),
    };
    let label = args
        .label
        .as_deref()
        .map(|name| {
            known(
                "label",
                name.strip_prefix("labels.").unwrap_or(name),
                &labels,
            )
        })
        .transpose()?;
    let metric = args
        .metric
        .as_deref()
        .map(|name| known("metric", name, &metrics))
        .transpose()?;
    // What is called the same is meant to be the same.
    let shared: Vec<&str> = labels
        .iter()
        .copied()
        .filter(|name| metrics.contains(name))
        .collect();
    let one = |named: Option<String>, other: Option<&String>, among: &[&str]| {
        let same = other.filter(|other| among.contains(&other.as_str()));
        named.or_else(|| match (among, shared.as_slice(), same) {
            ([only], _, _) => Some((*only).to_owned()),
            (_, _, Some(same)) => Some(same.clone()),
            (_, [only], None) if other.is_none() => Some((*only).to_owned()),
            _ => None,
        })
    };
    let chosen_label = one(label.clone(), metric.as_ref(), &labels);
    let chosen_metric = one(metric, label.as_ref(), &metrics);
    let unclear = |what: &str, option: &str, among: &[&str]| Error::Usage {
        message: format!("which {what} is meant is not clear"),
        help: Some(format!("name it with {option}: {}", among.join(", "))),
    };
    Ok((
        chosen_label.ok_or_else(|| unclear("label", "--label", &labels))?,
        chosen_metric.ok_or_else(|| unclear("metric", "--metric", &metrics))?,
    ))
}

/// Labels and scores of the same answers, and what has only one of them.
#[derive(Debug, Default)]
struct Matched {
    human: Vec<f64>,
    judge: Vec<f64>,
    clusters: Option<Vec<u32>>,
    counts: Counts,
}

/// Answers that are not compared, by why.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    /// The results have them, the labels do not.
    not_labelled: usize,
    /// The labels have them, the results do not.
    not_in_results: usize,
    /// Both have them, and the label is empty.
    empty_label: usize,
    /// The judge should have scored them.
    failed: usize,
    /// The metric does not apply to them.
    not_applicable: usize,
    /// Compared, with the mean of several labels.
    averaged: usize,
}

impl Matched {
    fn of(
        labels: &Labels,
        chosen: &Chosen,
        results: &Results,
        metric: &str,
    ) -> Result<Matched, Error> {
        let samples = results.by_sample(metric);
        let variants: HashSet<Option<&str>> = samples.iter().map(|row| row.variant).collect();
        let labelled = labels.variants();
        // Files of one variant need not agree on how it is called, or whether it is.
        let any_variant = match (labelled.len(), variants.len()) {
            (1, 1) => true,
            _ if labelled.contains(&None) || variants.contains(&None) => {
                return Err(Error::Refused {
                    message:
                        "the variants cannot be matched: one file names them and the other does not"
                            .to_owned(),
                    help: Some(
                        "labels of several variants have a column `variant`, as the results have"
                            .to_owned(),
                    ),
                });
            }
            _ => false,
        };
        let key = |variant: Option<&str>, id: &str| -> Answer {
            let variant = variant.filter(|_| !any_variant);
            (variant.map(str::to_owned), id.to_owned())
        };
        let by_key: HashMap<Answer, Option<f64>> = chosen
            .by_answer
            .iter()
            .map(|((variant, id), label)| (key(variant.as_deref(), id), *label))
            .collect();
        let mut matched = Matched::default();
        matched.counts.averaged = chosen.averaged;
        let mut met: HashSet<Answer> = HashSet::new();
        let mut clusters: Vec<Option<&str>> = Vec::new();
        for sample in &samples {
            let answer = key(sample.variant, sample.id);
            let counts = &mut matched.counts;
            match (by_key.get(&answer), sample.score) {
                (None, _) => counts.not_labelled += 1,
                (Some(None), _) => counts.empty_label += 1,
                (Some(Some(_)), Score::NotApplicable(_)) => counts.not_applicable += 1,
                (Some(Some(_)), Score::Failed { .. }) => counts.failed += 1,
                (Some(Some(label)), Score::Number(score)) => {
                    matched.human.push(*label);
                    matched.judge.push(score);
                    clusters.push(sample.cluster);
                }
            }
            met.insert(answer);
        }
        matched.counts.not_in_results = by_key.keys().filter(|key| !met.contains(*key)).count();
        if matched.human.is_empty() {
            let first = |id: Option<&str>| id.unwrap_or("none").to_owned();
            return Err(Error::Refused {
                message: "no answer has both a label and a score".to_owned(),
                help: Some(format!(
                    "they are matched by id: the labels have `{}`, the results `{}`",
                    first(by_key.keys().map(|(_, id)| id.as_str()).min()),
                    first(samples.first().map(|sample| sample.id)),
                )),
            });
        }
        matched.clusters = codes(&clusters);
        Ok(matched)
    }
}

/// A number for each cluster; an answer without one is its own. `None` where no answer has one.
fn codes(clusters: &[Option<&str>]) -> Option<Vec<u32>> {
    clusters.iter().find(|cluster| cluster.is_some())?;
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut next = 0_u32;
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let codes = clusters.iter().map(|cluster| match cluster {
        Some(name) => *known.entry(name).or_insert_with(&mut fresh),
        None => fresh(),
    });
    Some(codes.collect())
}

/// All that is said; what is not defined is null.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    label: &'a str,
    metric: &'a str,
    n: usize,
    clusters: usize,
    left_out: Counts,
    pearson: Option<f64>,
    spearman: Option<f64>,
    kendall_tau_b: Option<f64>,
    /// Mean of judge − human.
    bias: Option<f64>,
    bias_ci: Option<[f64; 2]>,
    mae: Option<f64>,
    threshold_human: Option<f64>,
    threshold_judge: Option<f64>,
    confusion: Option<Cells>,
    agreement: Option<f64>,
    kappa: Option<f64>,
    kappa_ci: Option<[f64; 2]>,
    auc: Option<f64>,
    /// Why some of it is not defined.
    undefined: Vec<&'static str>,
    message: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Cells {
    true_positive: u64,
    false_positive: u64,
    false_negative: u64,
    true_negative: u64,
}

impl<'a> Report<'a> {
    fn of(
        args: &AgreementArgs,
        label: &'a str,
        metric: &'a str,
        matched: &Matched,
    ) -> Result<Report<'a>, Error> {
        let too_large = || Error::Input {
            path: input::name(&args.results),
            error: ReadError {
                problem: "the scores are too large to be compared".to_owned(),
                line: None,
                column: None,
                pointer: None,
                sample: None,
                help: None,
            },
        };
        let (human, judge) = (&matched.human, &matched.judge);
        let paired = Paired::new(human, judge, matched.clusters.as_deref());
        let paired = paired.ok_or_else(too_large)?;
        let together = Agreement::of(&paired);
        let mut undefined = Vec::new();
        for (scores, why) in [
            (human, "all human labels are equal"),
            (judge, "all scores of the judge are equal"),
        ] {
            if scores.iter().all(|score| Some(score) == scores.first()) {
                undefined.push(why);
            }
        }
        // A difference of two scales is no difference between two people.
        let same_scale = is_unit(human) == is_unit(judge);
        if !same_scale {
            undefined.push(
                "labels and scores have different scales, so that their difference means nothing",
            );
        }
        let half = |scores: &[f64]| is_unit(scores).then_some(HALF);
        let threshold_human = args.human_threshold.or_else(|| half(human));
        let threshold_judge = args.judge_threshold.or_else(|| half(judge));
        if threshold_human.is_none() {
            undefined.push("labels beyond 0 to 1 need --human-threshold");
        }
        if threshold_judge.is_none() {
            undefined.push("scores beyond 0 to 1 need --judge-threshold");
        }
        let decisions = threshold_human
            .zip(threshold_judge)
            .map(|(human, judge)| Decisions::of(&paired, human, judge));
        let kappa = decisions.and_then(|decisions| decisions.kappa);
        let cells = decisions.map(|decisions| decisions.confusion);
        let bias = together.bias.filter(|_| same_scale);
        let ci = |estimate: Option<Estimate>| {
            let interval = estimate?.interval(CONFIDENCE)?;
            Some([interval.low, interval.high])
        };
        // Where the cells leave no spread, as where all agree, the error is not 0 but unknown.
        let has_spread = |estimate: &Estimate| estimate.stderr.is_some_and(|stderr| stderr > 0.0);
        let kappa_ci =
            ci(kappa.filter(has_spread)).map(|[low, high]| [low.max(-1.0), high.min(1.0)]);
        Ok(Report {
            schema: "rag-gate/judge-agreement/1",
            label,
            metric,
            n: together.n,
            clusters: together.bias.map_or(together.n, |bias| bias.clusters),
            left_out: matched.counts,
            pearson: together.pearson,
            spearman: together.spearman,
            kendall_tau_b: together.kendall_tau_b,
            bias: bias.map(|bias| bias.change),
            bias_ci: ci(bias),
            mae: together.mae.filter(|_| same_scale),
            threshold_human,
            threshold_judge,
            confusion: cells.map(|cells| Cells {
                true_positive: cells.true_positive,
                false_positive: cells.false_positive,
                false_negative: cells.false_negative,
                true_negative: cells.true_negative,
            }),
            agreement: decisions.and_then(|decisions| decisions.agreement),
            kappa: kappa.map(|kappa| kappa.change),
            kappa_ci,
            auc: decisions.and_then(|decisions| decisions.auc),
            message: advice(together.n, kappa, kappa_ci, cells),
            undefined,
        })
    }

    fn text(&self) -> String {
        let clusters = match self.clusters == self.n {
            true => String::new(),
            false => format!(" in {}", plural(self.clusters, "cluster")),
        };
        let mut text = wrapped(&reporter::plain(&format!(
            "{} by the judge beside {} by people: {}{clusters}",
            self.metric,
            self.label,
            plural(self.n, "answer"),
        )));
        text.push_str(&self.left_out.text());
        text.push('\n');
        figure(&mut text, "Pearson's r", self.pearson, None);
        figure(&mut text, "Spearman's ρ", self.spearman, None);
        figure(&mut text, "Kendall's τ-b", self.kendall_tau_b, None);
        figure(&mut text, "bias, judge − human", self.bias, self.bias_ci);
        figure(&mut text, "mean absolute error", self.mae, None);
        if let (Some(cells), Some(human), Some(judge)) =
            (self.confusion, self.threshold_human, self.threshold_judge)
        {
            let _ = writeln!(
                text,
                "\n yes is {} and more by people, {} and more by the judge\n",
                number::limit(human),
                number::limit(judge)
            );
            let _ = writeln!(text, " {:<22}  {:>9}  {:>9}", "", "human yes", "human no");
            for (name, yes, no) in [
                ("judge yes", cells.true_positive, cells.false_positive),
                ("judge no", cells.false_negative, cells.true_negative),
            ] {
                let _ = writeln!(text, " {name:<22}  {yes:>9}  {no:>9}");
            }
            text.push('\n');
            figure(&mut text, "agreement", self.agreement, None);
            figure(&mut text, "Cohen's κ", self.kappa, self.kappa_ci);
            figure(&mut text, "AUC", self.auc, None);
        }
        text.push('\n');
        for why in &self.undefined {
            text.push_str(&wrapped(&format!("undefined: {why}")));
        }
        text.push_str(&wrapped(&self.message));
        text
    }
}

/// One line of the report.
fn figure(text: &mut String, name: &str, value: Option<f64>, ci: Option<[f64; 2]>) {
    let value = value.map_or_else(|| "undefined".to_owned(), number::value);
    let ci = ci.map_or_else(String::new, |[low, high]| {
        format!(
            "  ({} to {} at 95 %)",
            number::value(low),
            number::value(high)
        )
    });
    let _ = writeln!(text, " {name:<22}  {value:>6}{ci}");
}

impl Counts {
    fn text(&self) -> String {
        let named = [
            (self.not_labelled, "without a label"),
            (self.not_in_results, "labelled and not in the results"),
            (self.empty_label, "with an empty label"),
            (self.failed, "that the judge failed to score"),
            (self.not_applicable, "to which the metric does not apply"),
        ];
        let left_out: Vec<String> = named
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let mut text = String::new();
        if !left_out.is_empty() {
            text.push_str(&wrapped(&format!("left out: {}", left_out.join(", "))));
        }
        if self.averaged > 0 {
            text.push_str(&wrapped(&format!(
                "{} with several labels, which are averaged",
                plural(self.averaged, "answer")
            )));
        }
        text
    }
}

/// Whether all lie from 0 to 1.
fn is_unit(scores: &[f64]) -> bool {
    scores.iter().all(|score| (0.0..=1.0).contains(score))
}

/// What a person can do with it. The words for κ are those of Landis and Koch 1977.
fn advice(
    n: usize,
    kappa: Option<Estimate>,
    ci: Option<[f64; 2]>,
    cells: Option<gate::stats::Confusion>,
) -> String {
    let Some(cells) = cells else {
        return "how far the judge decides as people do is not known without thresholds".to_owned();
    };
    let human_yes = cells.true_positive + cells.false_negative;
    if human_yes == 0 || human_yes == cells.n() {
        return format!(
            "people say {} to every answer, so that nothing is known of the others: label answers that are {}, or choose another --human-threshold",
            if human_yes == 0 { "no" } else { "yes" },
            if human_yes == 0 { "good" } else { "wrong" },
        );
    }
    let Some(kappa) = kappa.map(|kappa| kappa.change) else {
        return "κ is not defined".to_owned();
    };
    let shown = number::value(kappa);
    if n < FEW {
        return format!(
            "{} are too few to say how far the judge can be trusted: label 50 or more",
            plural(n, "answer")
        );
    }
    if ci.is_some_and(|[low, _]| low <= 0.0) || kappa <= 0.0 {
        return format!(
            "κ {shown} cannot be told from chance over {}: do not gate on this judge",
            plural(n, "answer")
        );
    }
    let (word, then) = match kappa {
        _ if kappa <= 0.2 => ("slight", "do not gate on this judge"),
        _ if kappa <= 0.4 => ("fair", "let it warn, not block: severity = \"warn\""),
        _ if kappa <= 0.6 => (
            "moderate",
            "gate on means over many answers, and look at single answers yourself",
        ),
        _ if kappa <= 0.8 => (
            "substantial",
            "gate on it; of single answers some verdicts are still wrong",
        ),
        _ => ("almost perfect", "gate on it"),
    };
    format!("κ {shown} is {word} agreement (Landis and Koch 1977): {then}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gate::stats::{Confusion, kappa};

    fn advised(cells: Confusion) -> String {
        let all = [
            (true, true, cells.true_positive),
            (false, true, cells.false_positive),
            (true, false, cells.false_negative),
            (false, false, cells.true_negative),
        ];
        let (human, judge): (Vec<bool>, Vec<bool>) = all
            .into_iter()
            .flat_map(|(human, judge, count)| (0..count).map(move |_| (human, judge)))
            .unzip();
        let kappa = kappa(&human, &judge, None);
        let ci = kappa.and_then(|kappa| {
            let interval = kappa.interval(CONFIDENCE)?;
            Some([interval.low, interval.high])
        });
        advice(human.len(), kappa, ci, Some(cells))
    }

    fn cells(
        true_positive: u64,
        false_positive: u64,
        false_negative: u64,
        true_negative: u64,
    ) -> Confusion {
        Confusion {
            true_positive,
            false_positive,
            false_negative,
            true_negative,
        }
    }

    #[test]
    fn advice_follows_kappa_and_how_well_it_is_known() {
        for (cells, expected) in [
            (cells(45, 5, 5, 45), "substantial"),
            (cells(49, 1, 0, 50), "almost perfect"),
            (cells(35, 12, 12, 41), "moderate"),
            (cells(300, 200, 140, 360), "fair"),
            (cells(260, 240, 240, 260), "chance"),
            (cells(310, 240, 190, 260), "slight"),
            (cells(12, 8, 8, 12), "chance"),
            (cells(4, 1, 1, 4), "too few"),
            (cells(10, 0, 5, 0), "people say yes to every answer"),
            (cells(0, 30, 0, 70), "people say no to every answer"),
            (cells(5, 45, 45, 5), "chance"),
        ] {
            let found = advised(cells);
            assert!(found.contains(expected), "{cells:?}: {found}");
        }
        assert!(advice(9, None, None, None).contains("thresholds"));
    }

    #[test]
    fn answers_without_a_cluster_are_their_own() {
        assert_eq!(codes(&[None, None]), None);
        assert_eq!(
            codes(&[Some("a"), None, Some("b"), Some("a"), None]),
            Some(vec![0, 1, 2, 0, 3])
        );
    }
}
