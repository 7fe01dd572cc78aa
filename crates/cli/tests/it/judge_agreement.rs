//! `judge agreement`: a judge's scores beside human labels.

use std::path::Path;

use serde_json::{Value, json};

use crate::runs::{Folder, Ran, rag_gate};

/// As many digits as the references have.
const DIGITS: f64 = 1e-6;

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let path = root.unwrap().join("fixtures/agreement").join(name);
    path.display().to_string()
}

fn agreement(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = rag_gate();
    command
        .current_dir(folder.path())
        .args(["judge", "agreement"])
        .args(arguments);
    Ran::of(&command.output().unwrap())
}

fn document(folder: &Folder, arguments: &[&str]) -> Value {
    let ran = agreement(folder, &[arguments, &["--json"]].concat());
    ran.exits(0);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Labels and results of these pairs.
fn pairs(pairs: &[(f64, f64)]) -> Folder {
    let lines = pairs.iter().zip(0..).map(|((human, _), number)| {
        json!({"id": format!("q{number}"), "human": human}).to_string() + "\n"
    });
    let samples: Vec<Value> = pairs
        .iter()
        .zip(0..)
        .map(|((_, judge), number)| json!({"id": format!("q{number}"), "scores": {"m": judge}}))
        .collect();
    Folder::new()
        .file("labels.jsonl", lines.collect::<String>())
        .file("results.json", json!({"samples": samples}).to_string())
}

const FILES: [&str; 2] = ["labels.jsonl", "results.json"];

#[test]
fn real_labels_and_scores_agree_as_scipy_and_scikit_learn_say() {
    let folder = Folder::new();
    let (labels, results) = (fixture("labels.jsonl"), fixture("results.json"));
    let found = document(
        &folder,
        &[
            &labels,
            &results,
            "--human-threshold",
            "0.6666666666666666",
            "--judge-threshold",
            "0.8",
        ],
    );
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(fixture("expected.json")).unwrap()).unwrap();
    let expected = &expected["mtrag"]["all"];
    assert_eq!(found["n"], expected["n"]);
    for (ours, theirs) in [
        ("pearson", "pearson"),
        ("spearman", "spearman"),
        ("kendall_tau_b", "kendall_tau_b"),
        ("bias", "mean_bias_judge_minus_human"),
        ("mae", "mae"),
        ("agreement", "agreement"),
        ("kappa", "cohen_kappa"),
        ("auc", "auc"),
    ] {
        let (found, expected) = (found[ours].as_f64().unwrap(), expected[theirs].as_f64());
        assert!(
            (found - expected.unwrap()).abs() <= DIGITS,
            "{ours}: {found}"
        );
    }
    for (ours, theirs) in [
        ("true_positive", "tp"),
        ("false_positive", "fp"),
        ("false_negative", "fn"),
        ("true_negative", "tn"),
    ] {
        assert_eq!(found["confusion"][ours], expected["confusion"][theirs]);
    }
    // The turns of a conversation rise and fall together.
    assert_eq!(found["clusters"], 20);
    let [low, high] = [0, 1].map(|end| found["bias_ci"][end].as_f64().unwrap());
    assert!(low < found["bias"].as_f64().unwrap() && found["bias"].as_f64().unwrap() < high);

    let text = agreement(&folder, &[&labels, &results]);
    text.exits(0)
        .mentions(&["faithfulness by the judge beside faithfulness by people: 477"]);
    assert!(
        text.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        text.stdout
    );
    let last = text.stdout.lines().last().unwrap();
    assert!(!last.is_empty(), "{}", text.stdout);
}

#[test]
fn what_has_no_pair_is_counted_and_never_averaged() {
    let labels = "id,human\na,1\na,0\nb,0\nc,1\nd,\ne,1\nz,1\n";
    let results = json!({"samples": [
        {"id": "a", "scores": {"m": 1}},
        {"id": "b", "scores": {"m": 0.25}},
        {"id": "c", "scores": {"m": null}, "failures": {"m": {"kind": "timeout"}}},
        {"id": "d", "scores": {"m": 1}},
        {"id": "e", "scores": {"m": null}, "not_applicable": {"m": "no claims"}},
        {"id": "f", "scores": {"m": 1}},
    ]});
    let folder = Folder::new()
        .file("labels.csv", labels)
        .file("results.json", results.to_string());
    let found = document(&folder, &["labels.csv", "results.json"]);
    assert_eq!(found["n"], 2);
    assert_eq!(found["bias"], 0.375);
    assert_eq!(
        found["left_out"],
        json!({"not_labelled": 1, "not_in_results": 1, "empty_label": 1, "failed": 1, "not_applicable": 1, "averaged": 1})
    );
    agreement(&folder, &["labels.csv", "results.json"])
        .exits(0)
        .mentions(&[
            "1 labelled and not in the results",
            "1 that the judge failed to score",
            "1 answer with several labels",
            "too few",
        ]);
}

#[test]
fn what_is_not_defined_is_said_and_is_no_nan() {
    let constant: Vec<(f64, f64)> = (0..30).map(|n| (1.0, f64::from(n) / 30.0)).collect();
    let folder = pairs(&constant);
    let found = document(&folder, &FILES);
    for key in ["pearson", "spearman", "kendall_tau_b", "auc"] {
        assert_eq!(found[key], Value::Null, "{key}");
    }
    assert_eq!(found["kappa"], 0.0);
    agreement(&folder, &FILES).exits(0).mentions(&[
        "undefined",
        "all human labels are equal",
        "people say yes to every answer",
    ]);
    // One to five against zero to one: no threshold, no difference.
    let grades: Vec<(f64, f64)> = (0..30)
        .map(|n| (f64::from(n % 5 + 1), f64::from(n % 5) / 4.0))
        .collect();
    let folder = pairs(&grades);
    let found = document(&folder, &FILES);
    for key in [
        "bias",
        "bias_ci",
        "mae",
        "kappa",
        "agreement",
        "auc",
        "confusion",
    ] {
        assert_eq!(found[key], Value::Null, "{key}");
    }
    assert_eq!(found["spearman"], 1.0);
    agreement(&folder, &FILES)
        .exits(0)
        .mentions(&["need --human-threshold", "different scales"]);
    let cut = [
        &FILES[..],
        &["--human-threshold", "4", "--judge-threshold", "0.75"],
    ]
    .concat();
    let found = document(&folder, &cut);
    assert_eq!(found["kappa"], 1.0);
    assert_eq!(found["bias"], Value::Null);
}

#[test]
fn names_are_found_where_they_are_clear_and_asked_for_where_not() {
    let labels = r#"{"id": "a", "labels": {"m": 1, "x": 0}}
{"id": "b", "labels": {"m": 0, "x": 1}}"#;
    let results = json!({"samples": [
        {"id": "a", "scores": {"m": 1, "n": 0}},
        {"id": "b", "scores": {"m": 0, "n": 1}},
    ]});
    let folder = Folder::new()
        .file("labels.jsonl", labels)
        .file("results.json", results.to_string());
    let named = |more: &[&str]| {
        let found = document(&folder, &[&FILES[..], more].concat());
        [&found["label"], &found["metric"]].map(|name| name.as_str().unwrap().to_owned())
    };
    assert_eq!(named(&[]), ["m", "m"]);
    assert_eq!(named(&["--metric", "m"]), ["m", "m"]);
    assert_eq!(named(&["--label", "labels.x", "--metric", "n"]), ["x", "n"]);
    agreement(&folder, &[&FILES[..], &["--metric", "n"]].concat())
        .exits(2)
        .mentions(&["--label", "m, x"]);
    agreement(&folder, &[&FILES[..], &["--metric", "o"]].concat())
        .exits(2)
        .mentions(&["there is no metric `o`", "m, n"]);
    // A file of our own, whose scores people gave.
    let found = document(&folder, &["results.json", "results.json", "--metric", "m"]);
    assert_eq!(found["pearson"], 1.0);
}

#[test]
fn variants_are_matched_by_name_where_there_are_several() {
    let results = json!({"samples": [
        {"id": "a", "variant": "x", "scores": {"m": 1}},
        {"id": "a", "variant": "y", "scores": {"m": 0}},
    ]});
    let folder = Folder::new()
        .file("named.csv", "id,variant,m\na,x,1\na,y,0.5\n")
        .file("nameless.csv", "id,m\na,1\n")
        .file("other.csv", "id,variant,m\na,z,1\n")
        .file("results.json", results.to_string());
    let found = document(&folder, &["named.csv", "results.json"]);
    assert_eq!((&found["n"], &found["bias"]), (&json!(2), &json!(-0.25)));
    agreement(&folder, &["nameless.csv", "results.json"])
        .exits(3)
        .mentions(&["variants cannot be matched", "column `variant`"]);
    agreement(&folder, &["other.csv", "results.json"])
        .exits(3)
        .mentions(&["no answer has both"]);
    let one = json!({"samples": [{"id": "a", "variant": "x", "scores": {"m": 1}}]});
    let folder = folder.file("one.json", one.to_string());
    assert_eq!(document(&folder, &["nameless.csv", "one.json"])["n"], 1);
}

#[test]
fn files_that_are_no_labels_or_results_are_refused() {
    let folder = pairs(&[(1.0, 1.0), (0.0, 0.0)])
        .file("means.json", r#"{"m": 0.5}"#)
        .file("bad.csv", "id,human\nq0,good\nq1,1\n")
        .file("others.csv", "id,human\nx,1\n");
    let cases: [(&[&str], i32, &str); 6] = [
        (&["none.jsonl", "results.json"], 3, "does not exist"),
        (&["labels.jsonl", "none.json"], 3, "does not exist"),
        (&["labels.jsonl", "means.json"], 3, "has means alone"),
        (&["bad.csv", "results.json"], 3, "`good`, no number"),
        (
            &["others.csv", "results.json"],
            3,
            "the labels have `x`, the results `q0`",
        ),
        (
            &["labels.jsonl", "results.json", "--human-threshold", "nan"],
            2,
            "is no number",
        ),
    ];
    for (arguments, code, mention) in cases {
        agreement(&folder, arguments)
            .exits(code)
            .mentions(&[mention]);
    }
}
