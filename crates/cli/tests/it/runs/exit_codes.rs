//! How a run ends, and which stream says what.

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Folder, Full, feed, rag_gate, same};

fn fine() -> Folder {
    Folder::with(r#"{"faithfulness": 0.9}"#, r#"{"faithfulness": 0.9}"#)
}

fn worse() -> Folder {
    Folder::with(r#"{"faithfulness": 0.5}"#, r#"{"faithfulness": 0.9}"#)
}

#[test]
fn a_pass_is_0_and_says_nothing_on_standard_error() {
    let folder = fine();
    let ran = folder.check();
    ran.exits(0).mentions(&["PASS"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_block_is_1_and_its_report_is_on_standard_output() {
    let folder = worse();
    let ran = folder.check();
    ran.exits(1).mentions(&["BLOCKED", "dropped by 0.400"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn undecided_is_3_and_its_report_is_on_standard_output() {
    let folder = Folder::with(r#"{"faithfulness": null}"#, r#"{"faithfulness": 0.9}"#);
    let ran = folder.check();
    ran.exits(3);
    assert!(ran.stdout.contains("UNDECIDED"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn wrong_usage_is_2_and_leaves_standard_output_empty() {
    let folder = fine();
    for arguments in [
        "",
        "chekc results.json baseline.json",
        "check",
        "check results.json baseline.json --frobnicate",
        "check results.json baseline.json --output pdf",
        "check results.json baseline.json --config nowhere.toml",
        "check - -",
        "check results.json",
        "baseline",
        "baseline update results.json --to b.json --accept faithfulness",
        "baseline update results.json --to b.json --at yesterday",
        "baseline update --to b.json",
        "explain frobnication",
    ] {
        let ran = folder.run(arguments);
        ran.exits(2);
        assert_eq!(ran.stdout, "", "{arguments}");
        assert_ne!(ran.stderr, "", "{arguments}");
    }
}

#[test]
fn what_is_not_there_is_3() {
    let folder = fine();
    for (arguments, name) in [
        ("check nowhere.json baseline.json", "nowhere.json"),
        ("check results.json nowhere.json", "nowhere.json"),
        ("check . baseline.json", "."),
        ("baseline show nowhere.json", "nowhere.json"),
        ("baseline diff results.json nowhere.json", "nowhere.json"),
        ("baseline history nowhere.json", "history.jsonl"),
        ("baseline update nowhere.json --to b.json", "nowhere.json"),
    ] {
        let ran = folder.run(arguments);
        ran.exits(3);
        assert_eq!(ran.stdout, "", "{arguments}");
        assert!(ran.stderr.contains(name), "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn a_missing_baseline_names_the_command_that_makes_one() {
    let folder = fine();
    folder
        .run("check results.json main.json")
        .exits(3)
        .mentions(&[
            "rag-gate baseline update results.json --to main.json",
            "--allow-missing-baseline",
        ]);
    folder
        .run("check results.json main.json --allow-missing-baseline")
        .exits(0)
        .mentions(&["absolute limits"]);
    folder.write(
        "gate.toml",
        "version = 1\n[metrics.faithfulness]\nmin = 0.95\n",
    );
    folder
        .run("check results.json main.json --allow-missing-baseline")
        .exits(1)
        .mentions(&["below the minimum 0.95"]);
}

#[test]
fn help_and_version_are_0_and_on_standard_output() {
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["help"],
        &["check", "--help"],
        &["baseline", "update", "--help"],
        &["explain"],
        &["explain", "regression"],
    ] {
        let ran = super::Ran::of(&rag_gate().args(arguments).output().unwrap());
        ran.exits(0);
        assert_ne!(ran.stdout, "", "{arguments:?}");
        assert_eq!(ran.stderr, "", "{arguments:?}");
    }
}

#[test]
fn every_help_page_that_judges_lists_the_exit_codes() {
    for arguments in [
        &["--help"][..],
        &["check", "--help"],
        &["check", "-h"],
        &["baseline", "update", "--help"],
    ] {
        let ran = super::Ran::of(&rag_gate().args(arguments).output().unwrap());
        ran.mentions(&[
            "0 pass",
            "1 blocked",
            "2 wrong usage",
            "3 cannot judge",
            "4 internal error",
            "130 interrupted",
        ]);
    }
}

#[test]
fn json_on_standard_output_parses_whatever_happens() {
    let code = |folder: &Folder, arguments: &str| -> Value {
        let ran = folder.run(arguments);
        let verdict: Value = serde_json::from_str(&ran.stdout).expect(&ran.stdout);
        assert_eq!(verdict["schema"], "rag-gate/verdict/1");
        assert_eq!(verdict["exit_code"], json!(ran.code));
        verdict["outcome"].clone()
    };
    assert_eq!(
        code(&fine(), "check results.json baseline.json --output json"),
        "pass"
    );
    assert_eq!(
        code(&worse(), "check results.json baseline.json --output json"),
        "block"
    );
    let refused = fine()
        .file("broken.json", "{\"faithfulness\": ")
        .file("bad.toml", "version = 1\nfoo = 2\n");
    for arguments in [
        "check broken.json baseline.json --output json",
        "check results.json broken.json --output json",
        "check nowhere.json baseline.json --output json",
        "check results.json nowhere.json --output json",
        "check results.json baseline.json --config bad.toml --output json",
        "check results.json baseline.json --config nowhere.toml --output json",
        "check results.json baseline.json --base nowhere --output json",
    ] {
        assert_eq!(code(&refused, arguments), "undecided", "{arguments}");
    }
}

#[test]
fn a_verdict_of_an_earlier_run_does_not_outlive_a_refusal() {
    let folder = fine();
    let arguments = "check results.json baseline.json --output json=verdict.json --output markdown=report.md --output junit=junit.xml";
    folder.run(arguments).exits(0);
    assert_eq!(folder.json("verdict.json")["outcome"], "pass");
    folder.write("results.json", "<html>");
    folder.run(arguments).exits(3);
    assert_eq!(folder.json("verdict.json")["outcome"], "undecided");
    assert_eq!(folder.json("verdict.json")["exit_code"], 3);
    assert!(!folder.read("report.md").contains("PASS"));
    assert!(folder.read("junit.xml").contains("results.json"));
}

#[test]
fn a_reader_that_has_seen_enough_changes_no_exit_code() {
    let folder = Folder::with(
        &Full::of("faithfulness", same(100, 0.5)).text(),
        &Full::of("faithfulness", same(100, 0.9)).text(),
    );
    for output in ["text", "json", "markdown", "junit", "github"] {
        let mut command: Command = folder.command("check results.json baseline.json --output");
        let mut child = command
            .arg(output)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{output}: {stderr}");
        assert_eq!(stderr, "", "{output}");
    }
}

#[test]
fn a_report_that_cannot_be_written_does_not_pass() {
    let folder = fine().file("file", "");
    folder
        .run("check results.json baseline.json --output json=file/verdict.json")
        .exits(3)
        .mentions(&["file/verdict.json"]);
    folder.write("results.json", r#"{"faithfulness": 0.5}"#);
    folder
        .run("check results.json baseline.json --output json=file/verdict.json")
        .exits(1)
        .mentions(&["file/verdict.json", "dropped by 0.400"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_does_not_pass() {
    let full = || {
        std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let status = |folder: &Folder| {
        folder
            .command("check results.json baseline.json")
            .stdout(full())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .code()
    };
    assert_eq!(status(&fine()), Some(3));
    assert_eq!(status(&worse()), Some(1));
}

#[test]
fn standard_input_is_a_results_file_or_a_baseline() {
    let folder = fine();
    feed(
        folder.command("check - baseline.json"),
        br#"{"faithfulness": 0.5}"#,
    )
    .exits(1);
    feed(
        folder.command("check results.json -"),
        br#"{"faithfulness": 0.95}"#,
    )
    .exits(1);
    feed(folder.command("check - baseline.json"), b"")
        .exits(3)
        .mentions(&["standard input"]);
    feed(
        folder.command("check - baseline.json"),
        br#"{"faithfulness": 0.9"#,
    )
    .exits(3)
    .mentions(&["standard input"]);
}

#[test]
fn a_verdict_is_no_results_file() {
    let folder = fine();
    let verdict = folder
        .run("check results.json baseline.json --output json")
        .stdout;
    feed(folder.command("check - baseline.json"), verdict.as_bytes())
        .exits(3)
        .mentions(&["verdict"]);
}

#[test]
fn the_defaults_say_that_they_are_the_defaults() {
    fine().check().mentions(&["gate.toml"]);
}
