//! What `run` writes and says.

use std::fs;

use judge_server::{Faults, Settings};
use serde_json::json;

use super::{Judge, Project, SECRET, files};

#[test]
fn results_say_where_they_come_from() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(
        10,
        &judge.server.url(),
        "[judge.price]\nprompt = 1.0\ncompletion = 2.0\n",
    );
    let ran = project.gate(&["run", "--quiet"]);
    ran.ended(0);
    let results = project.json(".rag-gate/results.json");
    let run = &results["run"];
    assert_eq!(results["schema"], "rag-gate/results/1");
    assert_eq!(run["complete"], true);
    assert_eq!(run["dataset"]["samples"], 10);
    assert_eq!(run["dataset"]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(run["judge"]["provider"], "openai");
    assert_eq!(run["judge"]["model"], "judge");
    assert!(run["judge"]["reported_model"].is_string());
    assert_eq!(run["metrics"]["faithfulness"]["range"], json!([0.0, 1.0]));
    assert_eq!(
        run["metrics"]["faithfulness"]["prompt_sha256"]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    let usage = &results["usage"];
    assert_eq!(
        (&usage["requests"], &usage["judge_calls"]),
        (&json!(20), &json!(20))
    );
    assert!(usage["cost_usd"].as_f64().unwrap() > 0.0);
    assert_eq!(results["metrics"]["faithfulness"]["n"], 10);
    assert_eq!(results["samples"].as_array().unwrap().len(), 10);
    // git passes over what belongs to this machine.
    assert_eq!(project.read(".rag-gate/.gitignore").trim(), "*");
    assert_eq!(project.read(".rag-gate/runs.jsonl").lines().count(), 1);
}

#[test]
fn an_unknown_price_is_unknown_and_not_zero() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(2, &judge.server.url(), "");
    let ran = project.gate(&["run", "--quiet"]);
    ran.ended(0);
    assert!(ran.stdout.contains("cost unknown"), "{}", ran.stdout);
    let usage = &project.json(".rag-gate/results.json")["usage"];
    assert!(usage["cost_usd"].is_null());
    assert!(usage["prompt_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn two_warm_runs_agree_byte_for_byte_but_for_id_and_times() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(20, &judge.server.url(), "");
    let results = || {
        project.gate(&["run", "--quiet"]).ended(0);
        let mut results = project.json(".rag-gate/results.json");
        for key in ["id", "started_at", "duration_s"] {
            results["run"].as_object_mut().unwrap().remove(key);
        }
        results["usage"] = json!(null);
        results.to_string()
    };
    let cold = results();
    assert_eq!(results(), cold);
    assert_eq!(results(), cold);
    assert_eq!(judge.server.stats().calls, 40);
}

#[test]
fn the_key_is_in_no_file_and_no_message_though_the_server_repeats_it() {
    let judge = Judge::start(Settings {
        key: Some("another".to_owned()),
        ..Settings::default()
    });
    let project = Project::new(50, &judge.server.url(), "");
    for arguments in [
        &["run"][..],
        &["run", "--log-format", "json"],
        &["run", "--fail-fast"],
        &[
            "ci",
            "--allow-missing-baseline",
            "--output",
            "json=verdict.json",
        ],
    ] {
        let ran = Ran::debug(&project, arguments);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!text.contains(SECRET), "{text}");
        }
        assert!(ran.stderr.contains("JUDGE_KEY"), "{}", ran.stderr);
        assert!(ran.stderr.contains(&judge.server.url()), "{}", ran.stderr);
    }
    for file in files(project.folder.path()) {
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET), "{}", file.display());
    }
}

#[test]
fn a_log_in_json_is_json_to_its_last_line() {
    let judge = Judge::start(Settings {
        key: Some("another".to_owned()),
        ..Settings::default()
    });
    let project = Project::new(5, &judge.server.url(), "");
    let ran = project.gate(&["run", "--log-format", "json"]);
    ran.ended(3);
    let lines: Vec<serde_json::Value> = ran
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines.first().unwrap()["message"],
        "5 samples in answers.jsonl"
    );
    let last = lines.last().unwrap();
    assert_eq!(last["level"], "ERROR");
    assert!(
        last["message"].as_str().unwrap().contains("JUDGE_KEY"),
        "{last}"
    );
}

/// As much as can be logged.
struct Ran;

impl Ran {
    fn debug(project: &Project, arguments: &[&str]) -> super::Ran {
        let mut command = project.command(arguments);
        super::Ran::from(command.env("RAG_GATE_LOG", "trace").output().unwrap())
    }
}

#[test]
fn the_key_is_in_no_file_though_the_server_puts_it_into_good_answers() {
    let judge = Judge::start(Settings {
        replacements: vec![
            (
                "The passage says so.".to_owned(),
                format!("I was sent {SECRET}"),
            ),
            ("\"model\":\"".to_owned(), format!("\"model\":\"{SECRET}-")),
        ],
        ..Settings::default()
    });
    let project = Project::new(5, &judge.server.url(), "");
    let ran = project.gate(&["run"]);
    ran.ended(0);
    let shown = [
        ran.stdout.clone() + &ran.stderr,
        project.gate(&["runs", "show"]).stdout,
        project.gate(&["cache", "stats"]).stdout,
    ];
    for text in shown {
        assert!(!text.contains(SECRET), "{text}");
    }
    let results = project.read(".rag-gate/results.json");
    assert!(results.contains("I was sent "), "{results}");
    for file in files(project.folder.path()) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(SECRET), "{}", file.display());
    }
}

#[test]
fn results_overwrite_nothing_that_is_read() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(3, &judge.server.url(), "");
    let before = (project.read("answers.jsonl"), project.read("gate.toml"));
    for name in ["answers.jsonl", "gate.toml", ".rag-gate/runs.jsonl"] {
        project
            .gate(&["run", "--quiet", "--results", name])
            .ended(2);
    }
    assert_eq!(
        (project.read("answers.jsonl"), project.read("gate.toml")),
        before
    );
    assert_eq!(judge.server.stats().calls, 0);
}

#[test]
fn what_cannot_work_is_said_before_the_run() {
    let project = Project::new(3, "http://127.0.0.1:1", "");
    let policy = |judge: &str, metrics: &str| {
        format!("version = 1\n[dataset]\npath = \"answers.jsonl\"\n[judge]\n{judge}\n{metrics}\n")
    };
    let rubric = "[metrics.polite]\nkind = \"rubric\"\ncriteria = \"polite\"";
    for (judge, metrics, said) in [
        ("provider = \"lexical\"", rubric, "cannot score the rubric"),
        (
            "provider = \"command\"\ncommand = [\"no-such-program\"]",
            rubric,
            "no-such-program",
        ),
        (
            "provider = \"lexical\"",
            "[metrics.faithfulness]\nkind = \"token_f1\"",
            "by its kind",
        ),
        ("provider = \"lexical\"", "[metrics.\"zzz*\"]", "no pattern"),
        (
            "provider = \"simulated\"",
            &format!("{rubric}\nscale = [1, 2, 3]"),
            "two numbers",
        ),
        (
            "provider = \"lexical\"",
            "[metrics.faithfulness]\n[dataset.columns]\nquestoin = \"q\"",
            "did you mean",
        ),
    ] {
        project.write("gate.toml", &policy(judge, metrics));
        let ran = project.gate(&["run", "--check-only"]);
        ran.ended(2);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}

#[test]
fn scores_of_two_embedding_models_are_not_compared() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(3, &judge.server.url(), "");
    let rows: String = (0..8)
        .map(|row| {
            json!({"id": row, "question": "q", "answer": format!("a {row}"), "ground_truth": "a"})
                .to_string()
                + "\n"
        })
        .collect();
    project.write("answers.jsonl", &rows);
    let policy = |model: &str| {
        format!(
            "version = 1\nbaseline = \"baseline.json\"\n[dataset]\npath = \"answers.jsonl\"\n[embeddings]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"{model}\"\n[metrics.semantic_similarity]\n",
            judge.server.url()
        )
    };
    project.write("gate.toml", &policy("one"));
    project
        .gate(&["run", "--results", "results.json", "--quiet"])
        .ended(0);
    fs::rename(project.path("results.json"), project.path("baseline.json")).unwrap();
    project.gate(&["ci", "--quiet"]).ended(0);
    let planned = project.gate(&["run", "--dry-run"]);
    assert!(
        planned
            .stdout
            .contains("8: 8 cached, 0 equal to another, 0 to ask"),
        "{}",
        planned.stdout
    );
    project.write("gate.toml", &policy("two"));
    let ran = project.gate(&["ci", "--quiet"]);
    ran.ended(3);
    assert!(
        ran.stdout.contains("embeddings openai two"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_run_without_a_score_is_no_success() {
    let project = Project::new(1, "http://127.0.0.1:1", "");
    fs::remove_file(project.path("gate.toml")).unwrap();
    project.write(
        "answers.jsonl",
        "{\"id\": \"a\", \"question\": \"q\", \"answer\": \"\", \"contexts\": [\"x\"]}\n",
    );
    let ran = project.gate(&["run", "--dataset", "answers.jsonl"]);
    ran.ended(3);
    assert!(
        ran.stdout.contains("0 of 2 scores, 2 not applicable"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_key_in_gate_toml_is_not_shown_in_the_error_about_it() {
    let project = Project::new(1, "http://127.0.0.1:1", "");
    for line in [
        "api_key = \"sk-hunter2\"",
        "headers = { Authorization = 'sk-hunter2', x = 1 }",
    ] {
        project.write("gate.toml", &format!("version = 1\n[judge]\n{line}\n"));
        let ran = project.gate(&["run", "--check-only"]);
        ran.ended(2);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
        assert!(ran.stderr.contains("gate.toml:3"), "{}", ran.stderr);
    }
}

#[test]
fn a_run_that_measured_nothing_leaves_the_old_results() {
    let judge = Judge::start(Settings {
        key: Some("another".to_owned()),
        ..Settings::default()
    });
    let project = Project::new(5, &judge.server.url(), "");
    fs::create_dir(project.path(".rag-gate")).unwrap();
    project.write(".rag-gate/results.json", "old");
    project.gate(&["run", "--quiet"]).ended(3);
    assert_eq!(project.read(".rag-gate/results.json"), "old");
}

#[test]
fn a_variable_that_is_not_set_is_named_before_anybody_is_called() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    for arguments in [
        &["run"][..],
        &["run", "--check-only"],
        &["run", "--dry-run"],
    ] {
        let mut command = project.command(arguments);
        let ran = super::Ran::from(command.env_remove("JUDGE_KEY").output().unwrap());
        ran.ended(2);
        assert!(ran.stderr.contains("JUDGE_KEY"), "{}", ran.stderr);
    }
    assert_eq!(judge.server.stats().calls, 0);
}

#[test]
fn check_only_and_dry_run_call_nobody_and_write_nothing() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    let checked = project.gate(&["run", "--check-only"]);
    checked.ended(0);
    assert!(
        checked.stdout.starts_with("ready: 5 samples, 2 metrics"),
        "{}",
        checked.stdout
    );
    let planned = project.gate(&["run", "--dry-run"]);
    planned.ended(0);
    assert!(
        planned
            .stdout
            .contains("10: 0 cached, 0 equal to another, 10 to ask"),
        "{}",
        planned.stdout
    );
    assert!(planned.stdout.contains("unknown"), "{}", planned.stdout);
    assert!(!project.path(".rag-gate").exists());
    assert_eq!(judge.server.stats().calls, 0);

    project.gate(&["run", "--quiet"]).ended(0);
    let planned = project.gate(&["run", "--dry-run"]);
    assert!(
        planned
            .stdout
            .contains("10: 10 cached, 0 equal to another, 0 to ask"),
        "{}",
        planned.stdout
    );
}

#[test]
fn a_column_that_a_metric_needs_and_no_sample_has_is_said_before_the_run() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    let policy = project.read("gate.toml") + "[metrics.context_recall]\n";
    project.write("gate.toml", &policy);
    let ran = project.gate(&["run"]);
    ran.ended(2);
    assert!(
        ran.stderr
            .contains("context_recall needs `reference`, which no sample of answers.jsonl has"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_unknown_metric_is_named_with_the_nearest_and_its_line() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    let policy = project.read("gate.toml") + "[metrics.token_f2]\n";
    project.write("gate.toml", &policy);
    let ran = project.gate(&["run"]);
    ran.ended(2);
    for part in ["token_f2", "token_f1", "gate.toml:"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn failures_are_counted_and_named_and_do_not_end_the_run() {
    let judge = Judge::start(Settings {
        faults: Faults {
            share_500: 0.3,
            seed: 5,
            ..Faults::default()
        },
        ..Settings::default()
    });
    let project = Project::new(30, &judge.server.url(), "retries = 0\n");
    let ran = project.gate(&["run", "--quiet"]);
    ran.ended(0);
    let results = project.json(".rag-gate/results.json");
    let failed: u64 = ["faithfulness", "answer_relevancy"]
        .iter()
        .map(|metric| results["metrics"][metric]["failed"].as_u64().unwrap())
        .sum();
    assert!(failed >= 8, "{failed}");
    let told = results["samples"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|sample| sample["failures"].as_object())
        .flatten()
        .filter(|(_, failure)| failure["kind"] == "unavailable")
        .count();
    assert_eq!(told as u64, failed);
    assert!(
        ran.stdout.contains(&format!("{failed} failed")),
        "{}",
        ran.stdout
    );
}

#[test]
fn without_a_policy_the_metrics_are_those_that_the_columns_allow() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    fs::remove_file(project.path("gate.toml")).unwrap();
    let ran = project.gate(&["run", "--dataset", "answers.jsonl"]);
    ran.ended(0);
    let results = project.json(".rag-gate/results.json");
    let metrics: Vec<&String> = results["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(metrics, ["context_precision", "faithfulness"]);
    assert_eq!(results["run"]["judge"]["provider"], "lexical");
    assert!(
        ran.stdout.contains("lexical (word overlap, no model)"),
        "{}",
        ran.stdout
    );
}
