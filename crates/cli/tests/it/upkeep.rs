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

#[test]
fn a_run_is_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let results = r#"{"schema": "rag-gate/results/1", "run": {"id": "20261201-004803-9f3a2c"},
        "samples": [{"id": "a", "scores": {"faithfulness": 0.5}}]}"#;
    fs::write(folder.path().join("results.json"), results).unwrap();
    let add = || run(folder.path(), &["runs", "add", "results.json"]);
    let (first, stderr, code) = add();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(first.starts_with("recorded as "), "{first}");
    let (second, _, code) = add();
    assert_eq!((second, code), (format!("already {first}"), Some(0)));
    let record = fs::read_to_string(folder.path().join(".rag-gate/runs.jsonl")).unwrap();
    assert_eq!(record.lines().count(), 1);
}

#[test]
fn a_gate_toml_in_another_encoding_is_a_wrong_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("gate.toml"), b"id = \"caf\xe9\"\n").unwrap();
    let (_, stderr, code) = run(folder.path(), &["runs"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("gate.toml cannot be read: it is not UTF-8"),
        "{stderr}"
    );
}

/// Beyond `ulimit -f` a write fails as on a full disk, with a message.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_files_ends_a_run_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let answer = "a ".repeat(40);
    let rows: String = (0..2000)
        .map(|row| {
            let row = serde_json::json!({"id": row, "answer": answer, "contexts": ["b"]});
            row.to_string() + "\n"
        })
        .collect();
    fs::write(folder.path().join("d.jsonl"), rows).unwrap();
    let command = format!(
        "ulimit -f 8; '{}' run --dataset d.jsonl --quiet",
        env!("CARGO_BIN_EXE_rag-gate")
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("File too large"), "{stderr}");
    let left: Vec<_> = fs::read_dir(folder.path().join(".rag-gate"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != ".gitignore" && name != "cache")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
