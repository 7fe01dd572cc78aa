//! The example that everything began with, and merges that each lose a little.

use serde_json::json;

use super::Folder;

const POLICY: &str = "\
version = 1

[gate]
max_drop = 0.03

[metrics.faithfulness]
min = 0.80

[metrics.context_precision]
min = 0.75
";

fn seed(results: &str) -> Folder {
    Folder::with(
        results,
        r#"{"faithfulness": 0.86, "context_precision": 0.80}"#,
    )
    .file("gate.toml", POLICY)
}

#[test]
fn small_losses_within_both_criteria_pass_without_a_reason() {
    let folder = seed(r#"{"faithfulness": 0.85, "context_precision": 0.79}"#);
    folder
        .run("check results.json baseline.json -o text -o json=verdict.json")
        .exits(0);
    assert_eq!(folder.json("verdict.json")["reasons"], json!([]));
    assert_eq!(folder.json("verdict.json")["outcome"], "pass");
}

#[test]
fn one_metric_that_violates_both_criteria_blocks_with_two_reasons() {
    let folder = seed(r#"{"faithfulness": 0.79, "context_precision": 0.80}"#);
    folder
        .run("check results.json baseline.json -o text -o json=verdict.json")
        .exits(1)
        .mentions(&[
            "faithfulness 0.790 below the minimum 0.80",
            "faithfulness dropped by 0.070 against the baseline",
        ]);
    let verdict = folder.json("verdict.json");
    let messages: Vec<&str> = verdict["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason["message"].as_str().unwrap())
        .collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(
        messages[0].starts_with("faithfulness 0.790 below the minimum 0.80"),
        "{messages:?}"
    );
    assert!(
        messages[1].starts_with("faithfulness dropped by 0.070 against the baseline"),
        "{messages:?}"
    );
    assert_eq!(verdict["reasons"][0]["code"], "below-minimum");
    assert_eq!(verdict["reasons"][1]["code"], "regression");
}

/// Merges that each lose 0.02, accepted one by one; how `write` puts a mean into a results file is the test's.
fn merges_that_each_lose_a_little(write: impl Fn(f64) -> String) {
    let folder = Folder::new()
        .file(
            "gate.toml",
            "version = 1\nbaseline = \"baseline/main.json\"\n[gate]\nmax_drop = 0.03\nmax_drift = 0.05\n[metrics.faithfulness]\nmin = 0.5\n",
        )
        .file("results.json", write(0.86));
    folder
        .run("baseline update results.json --at 2026-11-01T00:00:00Z")
        .exits(0);
    for (day, mean) in [(2, 0.84), (3, 0.82)] {
        folder.write("results.json", write(mean));
        folder.run("check results.json").exits(0);
        folder
            .run(&format!(
                "baseline update results.json --at 2026-11-0{day}T00:00:00Z"
            ))
            .exits(0);
    }
    folder.write("results.json", write(0.80));
    let accepted = folder.read("baseline/main.json");
    folder
        .run("check results.json --output text --output json=verdict.json")
        .exits(1)
        .mentions(&["0.06", "0.86"]);
    let verdict = folder.json("verdict.json");
    let codes: Vec<&str> = verdict["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["drift"]);
    folder
        .run("baseline update results.json --at 2026-11-04T00:00:00Z")
        .exits(1)
        .mentions(&["not updated", "--accept faithfulness"]);
    assert_eq!(folder.read("baseline/main.json"), accepted);
    folder
        .command("baseline update results.json --at 2026-11-04T00:00:00Z --accept faithfulness --reason cheaper")
        .status()
        .map(|status| assert!(status.success()))
        .unwrap();
    folder.write("results.json", write(0.78));
    folder.run("check results.json").exits(0);
}

#[test]
fn the_third_of_three_small_losses_is_drift_in_flat_files() {
    merges_that_each_lose_a_little(|mean| json!({"faithfulness": mean}).to_string());
}

#[test]
fn the_third_of_three_small_losses_is_drift_in_full_files() {
    merges_that_each_lose_a_little(|mean| {
        super::Full::of("faithfulness", super::same(20, mean)).text()
    });
}
