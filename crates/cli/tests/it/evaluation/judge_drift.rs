//! `judge pin` and `judge drift`, and what a run makes of a judge that moved.

use std::fs;

use judge_server::{Faults, Settings};
use serde_json::{Value, json};

use super::{Judge, Project, files};

/// A judge that says no where it said yes.
fn moved() -> Judge {
    Judge::start(Settings {
        replacements: vec![(
            r#"verdict\":true"#.to_owned(),
            r#"verdict\":false"#.to_owned(),
        )],
        ..Settings::default()
    })
}

/// A project with an accepted baseline and pinned answers, of the judge as it is.
fn pinned(judge: &Judge, more: &str) -> Project {
    let project = Project::new(30, &judge.server.url(), more);
    project
        .gate(&["run", "--quiet", "--results", "baseline.json"])
        .ended(if more.contains("pinned") { 3 } else { 0 });
    project.gate(&["judge", "pin", "--quiet"]).ended(0);
    if more.contains("pinned") {
        project
            .gate(&["run", "--quiet", "--results", "baseline.json"])
            .ended(0);
    }
    project
}

/// From now on, the judge at that address is asked.
fn ask_of(project: &Project, judge: &Judge) {
    let policy = project.read("gate.toml");
    let lines = policy
        .lines()
        .map(|line| match line.starts_with("base_url") {
            true => format!("base_url = \"{}\"\n", judge.server.url()),
            false => format!("{line}\n"),
        });
    project.write("gate.toml", &lines.collect::<String>());
}

const PINNED: &str = "pinned = \"judge.jsonl\"\n";

#[test]
fn a_judge_that_did_not_move_is_asked_past_the_cache() {
    let judge = Judge::start(Settings::default());
    let project = pinned(&judge, "");
    let text = project.read("judge.jsonl");
    assert_eq!(text.lines().count(), 11);
    let about: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(about["schema"], "rag-gate/judge/1");
    assert_eq!(about["judge"]["model"], "judge");
    let first: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert!(first["sample"]["contexts"][0]["text"].is_string());
    assert!(first["scores"]["faithfulness"].is_number());

    // 60 for the run, 20 to pin.
    assert_eq!(judge.server.stats().calls, 80);
    let before = files(&project.path(".rag-gate/cache"));
    let ran = project.gate(&["judge", "drift", "--quiet"]);
    ran.ended(0);
    assert_eq!(judge.server.stats().calls, 100);
    assert_eq!(files(&project.path(".rag-gate/cache")), before);
    assert!(
        ran.stdout
            .contains("the judge did not move: it scores its 10 pinned answers as it did"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("as it was"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80));

    let ran = project.gate(&["judge", "drift", "--quiet", "--json"]);
    let document: Value = serde_json::from_str(&ran.ended(0).stdout).unwrap();
    assert_eq!(document["moved"], false);
    let drift = &document["judge"]["drift"];
    assert_eq!(drift["calls"], 20);
    for metric in ["faithfulness", "answer_relevancy"] {
        let found = &drift["metrics"][metric];
        assert_eq!((&found["n"], &found["changed"]), (&json!(10), &json!(0)));
        assert_eq!(found["ci"], json!([0.0, 0.0]));
    }
}

#[test]
fn a_judge_that_moved_ends_with_3_and_says_by_how_much() {
    let judge = Judge::start(Settings::default());
    let project = pinned(&judge, "");
    let other = moved();
    ask_of(&project, &other);
    let ran = project.gate(&["judge", "drift", "--quiet"]);
    ran.ended(3);
    assert!(
        ran.stdout
            .contains("the judge itself moved (faithfulness -0."),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("pin again"), "{}", ran.stdout);
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        ran.stdout
    );
    let ran = project.gate(&["judge", "drift", "--quiet", "--json"]);
    let document: Value = serde_json::from_str(&ran.ended(3).stdout).unwrap();
    assert_eq!(document["moved"], true);
    let faithfulness = &document["judge"]["drift"]["metrics"]["faithfulness"];
    assert_eq!(faithfulness["moved"], true);
    assert_eq!(faithfulness["now"], 0.0);
    let before = faithfulness["before"].as_f64().unwrap();
    assert_eq!(faithfulness["change"], json!(-before));
    assert!(faithfulness["ci"][1].as_f64().unwrap() < 0.0);
}

#[test]
fn a_judge_that_moved_makes_a_difference_incomparable_and_no_regression() {
    let judge = Judge::start(Settings::default());
    let other = moved();
    let ci = |project: &Project| {
        let ran = project.gate(&[
            "ci",
            "--quiet",
            "--cache",
            "off",
            "--output",
            "json=verdict.json",
        ]);
        let verdict = project.json("verdict.json");
        let codes: Vec<String> = verdict["reasons"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reason| reason["code"].as_str().unwrap().to_owned())
            .collect();
        (ran, codes)
    };

    // Without pinned answers the change is blamed.
    let project = pinned(&judge, "");
    ask_of(&project, &other);
    let (ran, codes) = ci(&project);
    ran.ended(1);
    assert_eq!(codes, ["regression"]);

    let project = pinned(&judge, PINNED);
    let (ran, codes) = ci(&project);
    ran.ended(0);
    assert!(codes.is_empty());
    let results = project.json(".rag-gate/results.json");
    let drift = &results["run"]["judge"]["drift"];
    assert_eq!(drift["metrics"]["faithfulness"]["moved"], false);
    assert_eq!(drift["samples"], 10);
    assert_eq!(results["usage"]["judge_calls"], 80);

    ask_of(&project, &other);
    let (ran, codes) = ci(&project);
    ran.ended(3);
    assert_eq!(codes, ["incomparable"]);
    let reason = project.json("verdict.json")["reasons"][0]["message"].to_string();
    assert!(reason.contains("the judge itself moved by -"), "{reason}");
    assert!(
        reason.contains("the judge's and not the change's"),
        "{reason}"
    );
    assert!(
        ran.stderr.contains("warning: the judge itself moved"),
        "{}",
        ran.stderr
    );
    let results = project.json(".rag-gate/results.json");
    assert_eq!(
        results["run"]["judge"]["drift"]["metrics"]["faithfulness"]["moved"],
        true
    );

    // The baseline of the judge as it is now cannot be updated without a word, and then has no record of the past.
    let update = ["baseline", "update", ".rag-gate/results.json"];
    project.gate(&update).ended(3);
    let accepting = ["--accept", "*", "--reason", "the judge moved"];
    let ran = project.gate(&[&update[..], &accepting[..]].concat());
    ran.ended(0);
    assert!(ran.stderr.contains("rag-gate judge pin"), "{}", ran.stderr);
    assert_eq!(
        project.json("baseline.json")["run"]["judge"]["drift"],
        Value::Null
    );
    project.gate(&["judge", "pin", "--quiet"]).ended(0);
    ci(&project).0.ended(0);

    let project = pinned(&judge, PINNED);
    ask_of(&project, &other);
    let policy = project.read("gate.toml") + "\n[gate]\non_incomparable = \"absolute\"\n";
    project.write("gate.toml", &policy);
    let (ran, codes) = ci(&project);
    ran.ended(0);
    assert!(codes.is_empty());
    assert!(
        ran.stdout.contains("held to its absolute limits alone"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_change_that_is_worse_is_blocked_when_the_judge_did_not_move() {
    let judge = Judge::start(Settings::default());
    let project = pinned(&judge, PINNED);
    let mut baseline = project.json("baseline.json");
    baseline.as_object_mut().unwrap().remove("metrics");
    for sample in baseline["samples"].as_array_mut().unwrap() {
        sample["scores"]["faithfulness"] = json!(1.0);
    }
    project.write("baseline.json", &baseline.to_string());
    let ran = project.gate(&["ci", "--quiet"]);
    ran.ended(1);
    assert!(
        ran.stdout.contains("faithfulness dropped by"),
        "{}",
        ran.stdout
    );
}

#[test]
fn nobody_is_asked_again_in_replay_or_where_a_judge_computes() {
    let judge = Judge::start(Settings::default());
    let project = pinned(&judge, PINNED);
    let calls = judge.server.stats().calls;
    let ran = project.gate(&["run", "--cache", "replay"]);
    ran.ended(0);
    assert!(ran.stderr.contains("not asked again"), "{}", ran.stderr);
    assert_eq!(judge.server.stats().calls, calls);
    let results = project.json(".rag-gate/results.json");
    assert_eq!(results["run"]["judge"]["drift"], Value::Null);

    // All from the cache, whose answers may be of a judge that has moved since: it is asked again.
    project.gate(&["run", "--quiet"]).ended(0);
    assert_eq!(judge.server.stats().calls, calls + 20);
    let dry = project.gate(&["run", "--dry-run", "--quiet"]);
    assert!(
        dry.ended(0)
            .stdout
            .contains("10 answers × 2 metrics are asked again"),
        "{}",
        dry.stdout
    );

    let policy = project.read("gate.toml");
    let start = policy.find("[judge]").unwrap();
    let end = policy.find("[metrics").unwrap();
    let lexical = "[judge]\nprovider = \"lexical\"\npinned = \"judge.jsonl\"\n";
    project.write(
        "gate.toml",
        &format!("{}{lexical}{}", &policy[..start], &policy[end..]),
    );
    project.gate(&["run", "--quiet"]).ended(0);
    let results = project.json(".rag-gate/results.json");
    assert_eq!(results["run"]["judge"]["drift"], Value::Null);
    project.gate(&["judge", "pin", "--quiet"]).ended(0);
    project.gate(&["judge", "drift", "--quiet"]).ended(0);
}

#[test]
fn pinned_answers_that_are_not_there_are_said_before_anybody_is_called() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(5, &judge.server.url(), PINNED);
    for command in [
        &["run", "--quiet"][..],
        &["run", "--quiet", "--check-only"],
        &["judge", "drift"],
    ] {
        let ran = project.gate(command);
        ran.ended(3);
        assert!(
            ran.stderr.contains("judge.jsonl does not exist"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("rag-gate judge pin"), "{}", ran.stderr);
    }
    project.write("judge.jsonl", "{\"schema\": \"rag-gate/judge/2\"}\n");
    project.gate(&["run", "--quiet"]).ended(3);
    assert_eq!(judge.server.stats().calls, 0);
}

#[test]
fn another_judge_is_no_judge_that_moved() {
    let judge = Judge::start(Settings::default());
    let project = pinned(&judge, PINNED);
    let calls = judge.server.stats().calls;
    let policy = project.read("gate.toml");
    project.write(
        "gate.toml",
        &policy.replace("model = \"judge\"", "model = \"another\""),
    );
    let ran = project.gate(&["judge", "drift", "--quiet"]);
    ran.ended(3);
    assert!(
        ran.stdout
            .replace('\n', " ")
            .contains("`another` now and was `judge`"),
        "{}",
        ran.stdout
    );
    assert_eq!(judge.server.stats().calls, calls);
    let ran = project.gate(&["run", "--quiet"]);
    ran.ended(0);
    assert!(
        ran.stderr
            .contains("warning: whether the judge moved cannot be told"),
        "{}",
        ran.stderr
    );
    assert_eq!(judge.server.stats().calls, calls + 60);

    // A metric of another version is unknown, and the other is told all the same.
    project.write("gate.toml", &policy);
    let text = project.read("judge.jsonl");
    let (about, answers) = text.split_once('\n').unwrap();
    let mut about: Value = serde_json::from_str(about).unwrap();
    about["metrics"]["faithfulness"]["version"] = json!("0");
    project.write("judge.jsonl", &format!("{about}\n{answers}"));
    let ran = project.gate(&["judge", "drift", "--quiet"]);
    ran.ended(3);
    let said = ran.stdout.replace('\n', " ");
    assert!(
        said.contains("faithfulness: pinned with another version")
            && said.contains("cannot be told of faithfulness from 10 pinned answers; it did not on answer_relevancy"),
        "{said}"
    );
}

#[test]
fn a_judge_that_gives_no_answers_did_not_move() {
    let judge = Judge::start(Settings::default());
    let project = pinned(&judge, "retries = 0\n");
    let down = Judge::start(Settings {
        faults: Faults {
            share_500: 1.0,
            ..Faults::default()
        },
        ..Settings::default()
    });
    ask_of(&project, &down);
    let ran = project.gate(&["judge", "drift", "--quiet", "--json"]);
    let document: Value = serde_json::from_str(&ran.ended(3).stdout).unwrap();
    assert_eq!(document["moved"], Value::Null);
    fs::remove_file(project.path("judge.jsonl")).unwrap();
    project.gate(&["judge", "pin", "--quiet"]).ended(3);
    assert!(!project.path("judge.jsonl").exists());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let judge = Judge::start(Settings::default());
    let project = Project::new(30, &judge.server.url(), "");
    project.gate(&["judge", "pin", "--samples", "3"]).ended(2);
    let ran = project.gate(&["judge", "pin", "--to", "answers.jsonl"]);
    ran.ended(2);
    assert!(ran.stderr.contains("would overwrite"), "{}", ran.stderr);
    project.gate(&["judge"]).ended(2);
    let policy = project.read("gate.toml");
    let judged = "[metrics.faithfulness]\n[metrics.answer_relevancy]\n";
    assert!(policy.contains(judged));
    project.write(
        "gate.toml",
        &policy.replace(judged, "[metrics.exact_match]\n"),
    );
    let answers = project
        .read("answers.jsonl")
        .replace("\"question\"", "\"reference\":\"x\",\"question\"");
    project.write("answers.jsonl", &answers);
    let ran = project.gate(&["judge", "pin"]);
    ran.ended(2);
    assert!(
        ran.stderr.contains("no metric asks the judge"),
        "{}",
        ran.stderr
    );
    project.write(
        "gate.toml",
        &format!("{policy}\n[embeddings]\nprovider = \"lexical\"\npinned = \"x\"\n"),
    );
    let ran = project.gate(&["run"]);
    ran.ended(2);
    assert!(
        ran.stderr.contains("[embeddings] has no pinned answers"),
        "{}",
        ran.stderr
    );
    assert_eq!(judge.server.stats().calls, 0);
}
