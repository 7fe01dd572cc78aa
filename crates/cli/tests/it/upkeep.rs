//! `rag-gate cache`, `plan` and `runs` on folders and files as people have them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What the command printed, and its exit code.
fn run(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_rag-gate"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code(),
    )
}

#[test]
fn a_folder_that_is_no_cache_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let hash = "ab".repeat(32);
    let files = ["src/main.rs", "README.md", &format!("ab/{hash}.json")];
    for file in files {
        let path = folder.path().join("code").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{\"theirs\": true}").unwrap();
    }
    for command in [
        &["cache", "clear", "--path", "code"][..],
        &["cache", "prune", "--max-size", "0", "--path", "code"],
    ] {
        let (stdout, stderr, code) = run(folder.path(), command);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains("removed 0 answers"), "{stdout}");
        assert!(stdout.contains("left alone"), "{stdout}");
    }
    for file in files {
        assert!(folder.path().join("code").join(file).exists(), "{file}");
    }
}

#[test]
fn the_cache_and_the_record_are_beside_gate_toml_or_where_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let eval = folder.path().join("eval");
    fs::create_dir(&eval).unwrap();
    fs::write(
        eval.join("gate.toml"),
        "[cache]\npath = \"answers\"\n[runs]\npath = \"runs.jsonl\"\n",
    )
    .unwrap();
    fs::write(folder.path().join("flat.json"), "{\"faithfulness\": 0.5}").unwrap();
    let (stdout, _, code) = run(
        folder.path(),
        &["cache", "stats", "--config", "eval/gate.toml"],
    );
    assert_eq!(
        (code, stdout.lines().next()),
        (Some(0), Some("eval/answers"))
    );
    let (_, _, code) = run(
        folder.path(),
        &["runs", "add", "flat.json", "-c", "eval/gate.toml"],
    );
    assert_eq!(code, Some(0));
    assert!(eval.join("runs.jsonl").exists());
    let (_, stderr, code) = run(folder.path(), &["cache", "stats", "--path", "typo"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("typo does not exist"), "{stderr}");
}

#[test]
fn a_damaged_line_of_the_record_is_named_and_hides_no_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("flat.json"), "{\"faithfulness\": 0.5}").unwrap();
    fs::write(folder.path().join("runs.jsonl"), "{\"schema\": \"rag-").unwrap();
    let path = ["--path", "runs.jsonl"];
    run(
        folder.path(),
        &[&["runs", "add", "flat.json"][..], &path].concat(),
    );
    let (stdout, stderr, code) = run(folder.path(), &[&["runs"][..], &path].concat());
    assert_eq!(code, Some(0));
    assert!(stderr.contains("line 1 of runs.jsonl"), "{stderr}");
    assert!(
        stdout.contains("faithfulness 0.500 (n unknown)"),
        "{stdout}"
    );
}

#[test]
fn a_plan_takes_what_gate_toml_says() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("gate.toml"),
        r#"
        [dataset]
        path = "golden.jsonl"
        [[variants]]
        name = "a"
        [[variants]]
        name = "b"
        [judge]
        concurrency = 4
        latency = "2s"
        latency_sigma = 0.0
        rpm = 6
        price = { prompt = 1.0, completion = 2.0 }
        [metrics.faithfulness]
        [metrics.exact_match]
        [metrics.politeness]
        kind = "rubric"
        criteria = "The answer is polite."
        "#,
    )
    .unwrap();
    fs::write(
        folder.path().join("golden.jsonl"),
        "{\"question\": \"1\"}\n{\"question\": \"2\"}\n\n{\"question\": \"3\"}",
    )
    .unwrap();
    let (stdout, stderr, code) = run(
        folder.path(),
        &[
            "plan",
            "--prompt-tokens",
            "1000",
            "--completion-tokens",
            "500",
            "-o",
            "json",
        ],
    );
    assert_eq!(code, Some(0), "{stderr}");
    let plan: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    // 3 samples, 2 variants, 2 metrics that a judge scores.
    assert_eq!(plan["calls"], 12);
    let share = &plan["shares"][0];
    assert_eq!(share["cost_usd"], 0.024);
    assert_eq!(share["limits_s"], 120.0);
    let time = &share["times"][0];
    assert_eq!(
        (time["workers"].clone(), time["makespan_s"].clone()),
        (4.into(), 6.0.into())
    );
    assert_eq!(time["time_s"], 120.0);
}

#[test]
fn numbers_that_make_no_sense_are_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("latencies.json"), "[1.0, -2.0]").unwrap();
    for (arguments, expected) in [
        (&["plan"][..], 2),
        (
            &[
                "plan",
                "--samples",
                "4000000000",
                "--variants",
                "4000000000",
            ],
            2,
        ),
        (&["plan", "--samples", "10", "--cached", "120"], 2),
        (&["plan", "--samples", "10", "--concurrency", "0"], 2),
        (&["plan", "--samples", "10", "--price-prompt", "-1"], 2),
        (&["plan", "--samples", "10", "--sigma", "NaN"], 2),
        (&["plan", "--latencies", "latencies.json"], 3),
        (&["plan", "--latencies", "none.json"], 3),
        (&["runs", "prune"], 2),
        (&["runs", "show"], 3),
        (&["cache", "prune", "--older-than", "30"], 2),
    ] {
        let (stdout, stderr, code) = run(folder.path(), arguments);
        assert_eq!(code, Some(expected), "{arguments:?}: {stdout}{stderr}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
    // Nothing to do is no error.
    let (stdout, _, code) = run(folder.path(), &["plan", "--samples", "0"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("0 samples"), "{stdout}");
}
