//! How a judge agrees with human labels, against scipy and scikit-learn.

use std::collections::{BTreeMap, HashMap};

use gate::results::{Keep, Results, Score};
use gate::stats::{Agreement, Decisions, Paired};
use serde::Deserialize;

use crate::fixtures::{read, text};

/// As many digits as the references have.
const DIGITS: f64 = 1e-6;

#[derive(Deserialize)]
struct Label {
    id: String,
    variant: String,
    labels: HashMap<String, f64>,
}

#[derive(Deserialize)]
struct Expected {
    mtrag: BTreeMap<String, Figures>,
}

#[derive(Deserialize)]
struct Figures {
    n: usize,
    threshold_human: f64,
    threshold_judge: f64,
    pearson: f64,
    spearman: f64,
    kendall_tau_b: f64,
    mean_bias_judge_minus_human: f64,
    mae: f64,
    agreement: f64,
    cohen_kappa: f64,
    confusion: Cells,
    auc: f64,
}

#[derive(Deserialize)]
struct Cells {
    tp: u64,
    fp: u64,
    r#fn: u64,
    tn: u64,
}

/// The labels of the system, or of all, and the judge's scores of the same answers.
fn ratings(labels: &[Label], results: &Results, system: &str) -> (Vec<f64>, Vec<f64>) {
    let human: HashMap<(&str, &str), f64> = labels
        .iter()
        .map(|label| {
            let key = (label.variant.as_str(), label.id.as_str());
            (key, label.labels["faithfulness"])
        })
        .collect();
    results
        .by_sample("faithfulness")
        .into_iter()
        .filter(|sample| system == "all" || sample.variant == Some(system))
        .map(|sample| match sample.score {
            Score::Number(score) => (human[&(sample.variant.unwrap(), sample.id)], score),
            other => panic!("{}: {other:?}", sample.id),
        })
        .unzip()
}

#[track_caller]
fn close(system: &str, what: &str, found: Option<f64>, expected: f64) {
    assert!(
        found.is_some_and(|found| (found - expected).abs() <= DIGITS),
        "{what} of {system}: {found:?}, not {expected}"
    );
}

#[test]
fn a_published_judge_agrees_with_people_as_the_references_say() {
    let labels: Vec<Label> = text("agreement/labels.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let results = text("agreement/results.json");
    let results = gate::results::read(results.as_bytes(), Keep::Scores).unwrap();
    let expected: Expected = read("agreement/expected.json");
    assert_eq!(expected.mtrag.len(), 4);
    for (system, figures) in &expected.mtrag {
        let (human, judge) = ratings(&labels, &results, system);
        let paired = Paired::new(&human, &judge, None).unwrap();
        let found = Agreement::of(&paired);
        assert_eq!(found.n, figures.n);
        close(system, "Pearson", found.pearson, figures.pearson);
        close(system, "Spearman", found.spearman, figures.spearman);
        close(
            system,
            "Kendall",
            found.kendall_tau_b,
            figures.kendall_tau_b,
        );
        let bias = found.bias.map(|bias| bias.change);
        close(system, "bias", bias, figures.mean_bias_judge_minus_human);
        close(system, "error", found.mae, figures.mae);
        let found = Decisions::of(&paired, figures.threshold_human, figures.threshold_judge);
        let cells = found.confusion;
        assert_eq!(cells.true_positive, figures.confusion.tp);
        assert_eq!(cells.false_positive, figures.confusion.fp);
        assert_eq!(cells.false_negative, figures.confusion.r#fn);
        assert_eq!(cells.true_negative, figures.confusion.tn);
        close(system, "agreement", found.agreement, figures.agreement);
        let kappa = found.kappa.map(|kappa| kappa.change);
        close(system, "kappa", kappa, figures.cohen_kappa);
        close(system, "AUC", found.auc, figures.auc);
    }
}
