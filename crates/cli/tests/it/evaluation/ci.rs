//! `ci`: run, check, every output, one exit code.

use std::fs;

use judge_server::{Faults, Settings};

use super::{Judge, Project, rows};

/// A project whose judge counts words, with an accepted baseline.
fn lexical() -> Project {
    let project = Project::new(30, "http://127.0.0.1:1", "");
    let policy = project.read("gate.toml");
    let start = policy.find("[judge]").unwrap();
    let end = policy.find("[metrics").unwrap();
    let policy = format!(
        "{}[judge]\nprovider = \"lexical\"\n{}",
        &policy[..start],
        &policy[end..]
    );
    project.write("gate.toml", &policy);
    project
        .gate(&["run", "--quiet", "--results", "baseline.json"])
        .ended(0);
    project
}

#[test]
fn unchanged_answers_pass_and_worse_ones_block() {
    let project = lexical();
    let pass = project.gate(&[
        "ci",
        "--output",
        "json=verdict.json",
        "--output",
        "junit=gate.xml",
    ]);
    pass.ended(0);
    assert!(
        pass.stdout.is_empty() || pass.stdout.starts_with("PASS"),
        "{}",
        pass.stdout
    );
    assert_eq!(project.json("verdict.json")["outcome"], "pass");
    assert!(project.read("gate.xml").contains("<testsuite"));

    project.write("answers.jsonl", &rows(30, "Bananas are yellow, and number"));
    let block = project.gate(&["ci"]);
    block.ended(1);
    assert!(block.stdout.starts_with("BLOCKED"), "{}", block.stdout);
    assert!(
        block
            .stdout
            .contains("lexical: word overlap, no language model"),
        "{}",
        block.stdout
    );
    assert!(
        block.stdout.contains("faithfulness dropped by"),
        "{}",
        block.stdout
    );
}

#[test]
fn check_on_what_ci_saved_gives_the_same_verdict_byte_for_byte() {
    let project = lexical();
    project.write("answers.jsonl", &rows(30, "Bananas are yellow, and number"));
    project
        .gate(&["ci", "--quiet", "--output", "json=one.json"])
        .ended(1);
    project
        .gate(&[
            "check",
            ".rag-gate/results.json",
            "--output",
            "json=two.json",
        ])
        .ended(1);
    assert_eq!(project.read("one.json"), project.read("two.json"));
}

#[test]
fn a_missing_baseline_is_said_before_anybody_is_called() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    let ran = project.gate(&["ci", "--output", "json=verdict.json"]);
    ran.ended(3);
    assert!(
        ran.stderr
            .contains("the baseline baseline.json does not exist"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("rag-gate baseline update"),
        "{}",
        ran.stderr
    );
    assert_eq!(judge.server.stats().calls, 0);
    assert_eq!(project.json("verdict.json")["outcome"], "undecided");
    project
        .gate(&["ci", "--quiet", "--allow-missing-baseline"])
        .ended(0);
    assert_eq!(judge.server.stats().calls, 10);
}

#[test]
fn too_many_failures_cannot_be_judged() {
    let judge = Judge::start(Settings {
        faults: Faults {
            share_500: 0.3,
            seed: 5,
            ..Faults::default()
        },
        ..Settings::default()
    });
    let project = Project::new(30, &judge.server.url(), "retries = 0\n");
    let ran = project.gate(&[
        "ci",
        "--quiet",
        "--allow-missing-baseline",
        "--output",
        "json=verdict.json",
    ]);
    ran.ended(3);
    let verdict = project.json("verdict.json");
    assert_eq!(verdict["reasons"][0]["code"], "too-many-failures");
    assert!(ran.stdout.contains("unavailable"), "{}", ran.stdout);
    // What has failed is asked for again, and nothing else.
    let calls = judge.server.stats().calls;
    assert_eq!(calls, 60);
    let again = project.gate(&["run", "--quiet"]);
    assert!(judge.server.stats().calls < 60 + 30, "{}", again.stdout);
}

#[test]
fn the_old_verdict_does_not_stand_for_a_run_that_failed() {
    let project = lexical();
    project
        .gate(&["ci", "--quiet", "--output", "json=verdict.json"])
        .ended(0);
    fs::remove_file(project.path("answers.jsonl")).unwrap();
    project
        .gate(&["ci", "--quiet", "--output", "json=verdict.json"])
        .ended(3);
    assert_eq!(project.json("verdict.json")["outcome"], "undecided");
}

/// What stands in the results file by the time of the verdict may be another process's.
#[cfg(unix)]
#[test]
fn ci_judges_what_it_made_and_not_what_stands_in_the_file() {
    let project = lexical();
    project.write("answers.jsonl", &rows(30, "Bananas are yellow, and number"));
    let block = project.gate(&["ci", "--quiet", "--results", "/dev/null"]);
    block.ended(1);
    assert!(block.stdout.starts_with("BLOCKED"), "{}", block.stdout);
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let project = lexical();
    project.gate(&["ci"]).ended(0);
    fs::write(project.path("history.jsonl"), "").unwrap();
    let files = [
        "answers.jsonl",
        "baseline.json",
        "history.jsonl",
        "gate.toml",
        ".rag-gate/runs.jsonl",
    ];
    let before = files.map(|file| project.read(file));
    for file in files {
        for command in ["run", "ci"] {
            let refused = project.gate(&[command, "--results", file]);
            refused.ended(2);
            assert!(
                refused.stderr.contains("would overwrite"),
                "{}",
                refused.stderr
            );
        }
        let output = format!("json={file}");
        project.gate(&["ci", "--output", &output]).ended(2);
    }
    assert_eq!(files.map(|file| project.read(file)), before);

    let policy = project.read("gate.toml");
    for file in ["answers.jsonl", "baseline.json"] {
        project.write("gate.toml", &format!("{policy}[runs]\npath = \"{file}\"\n"));
        let refused = project.gate(&["run"]);
        refused.ended(2);
        assert!(
            refused.stderr.contains("[runs] path would overwrite"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_anything_is_paid_for() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), "");
    fs::create_dir(project.path("taken")).unwrap();
    for arguments in [
        &["run", "--results", "taken"][..],
        &["run", "--results", "taken", "--check-only"],
        &["run", "--results", "gate.toml/results.json"],
    ] {
        let refused = project.gate(arguments);
        refused.ended(3);
        assert!(
            refused.stderr.contains("could not write"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(judge.server.stats().calls, 0);
}

#[cfg(unix)]
#[test]
fn a_policy_that_is_a_link_to_nowhere_is_not_no_policy() {
    let project = lexical();
    fs::remove_file(project.path("gate.toml")).unwrap();
    for target in ["nowhere", "gate.toml"] {
        std::os::unix::fs::symlink(target, project.path("gate.toml")).unwrap();
        let refused = project.gate(&["check", "baseline.json", "baseline.json"]);
        refused.ended(2);
        assert!(
            refused
                .stderr
                .contains("is a link to a file that is not there"),
            "{}",
            refused.stderr
        );
        fs::remove_file(project.path("gate.toml")).unwrap();
    }
}

#[test]
fn a_refusal_names_its_policy() {
    let project = lexical();
    fs::remove_file(project.path("baseline.json")).unwrap();
    let refused = project.gate(&["ci", "--output", "text"]);
    refused.ended(3);
    assert!(
        !refused.stdout.contains("no gate.toml"),
        "{}",
        refused.stdout
    );
}
