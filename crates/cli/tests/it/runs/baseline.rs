//! Making accepted results the baseline, and looking at it.

use serde_json::{Value, json};

use super::{Folder, Full, same};

const F: &str = "faithfulness";
const POLICY: &str = "version = 1\nbaseline = \"main.json\"\n[metrics.faithfulness]\nmin = 0.5\n";

fn folder(results: &Full) -> Folder {
    Folder::new()
        .file("gate.toml", POLICY)
        .file("results.json", results.text())
}

fn good() -> Full {
    Full::of(F, same(20, 0.9))
}

fn update(folder: &Folder, day: u8) -> super::Ran {
    folder.run(&format!(
        "baseline update results.json --at 2026-11-{day:02}T00:00:00Z"
    ))
}

fn lines(folder: &Folder) -> Vec<Value> {
    folder
        .read("history.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn an_update_makes_a_baseline_and_a_history() {
    let folder = folder(&good().each(|_, sample| sample["reasons"] = json!({F: "because"})));
    update(&folder, 1).exits(0);
    let baseline = folder.json("main.json");
    assert_eq!(baseline["accepted"]["at"], "2026-11-01T00:00:00Z");
    assert_eq!(baseline["samples"].as_array().unwrap().len(), 20);
    assert!(!folder.read("main.json").contains("because"));
    let lines = lines(&folder);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["dataset_sha256"], "aa");
    assert_eq!(lines[0]["judge_model"], "judge-a");
    assert_eq!(lines[0]["metrics"][F]["n"], 20);
    folder.run("check results.json").exits(0);
}

#[test]
fn the_next_update_appends_the_paired_change() {
    let folder = folder(&good());
    update(&folder, 1).exits(0);
    // One hard question came, and every old one lost 0.02.
    folder.write(
        "results.json",
        Full::of(F, (0..21).map(|index| if index < 20 { 0.88 } else { 0.1 })).text(),
    );
    update(&folder, 2).exits(0);
    let lines = lines(&folder);
    assert_eq!(lines.len(), 2);
    let entry = &lines[1]["metrics"][F];
    assert!(
        (entry["change"].as_f64().unwrap() + 0.02).abs() < 1e-9,
        "{entry}"
    );
    assert_eq!(entry["pairs"], 20);
    assert!(entry["change_stderr"].is_number(), "{entry}");
}

#[test]
fn the_same_update_twice_writes_the_same_bytes() {
    let read = || {
        let folder = folder(&good());
        update(&folder, 1).exits(0);
        (folder.read("main.json"), folder.read("history.jsonl"))
    };
    assert_eq!(read(), read());
}

#[test]
fn a_baseline_of_a_baseline_is_the_same() {
    let folder = folder(&good().each(|index, sample| {
        sample["scores"] = json!({F: if index % 3 == 0 { json!(null) } else { json!(0.1 + 0.2) }, "latency_s": 1e-7});
        if index % 3 == 0 {
            sample["not_applicable"] = json!({F: "nothing to say"});
        }
        sample["tags"] = json!({"lang": ["it", "de"], "hops": 2});
        sample["cluster"] = json!("doc");
        sample["repeat"] = json!(0);
    }));
    folder
        .run(
            "baseline update results.json --to a.json --at 2026-11-01T00:00:00Z --config gate.toml",
        )
        .exits(1);
    folder.write(
        "gate.toml",
        "version = 1\n[metrics.faithfulness]\nmin = 0.2\nmax_drop = 1\n",
    );
    folder
        .run("baseline update results.json --to a/a.json --at 2026-11-01T00:00:00Z")
        .exits(0);
    folder
        .run("baseline update a/a.json --to b/b.json --at 2026-11-01T00:00:00Z")
        .exits(0);
    assert_eq!(folder.read("a/a.json"), folder.read("b/b.json"));
}

#[test]
fn one_changed_sample_changes_few_lines() {
    let folder = folder(&Full::of(F, same(200, 0.9)));
    update(&folder, 1).exits(0);
    let before = folder.read("main.json");
    folder.write(
        "results.json",
        Full::of(F, (0..200).map(|index| if index == 77 { 0.8 } else { 0.9 })).text(),
    );
    update(&folder, 2).exits(0);
    let after = folder.read("main.json");
    let changed = after
        .lines()
        .zip(before.lines())
        .filter(|(after, before)| after != before)
        .count();
    assert_eq!(after.lines().count(), before.lines().count());
    assert!(after.lines().count() > 200, "a sample a line");
    assert!(changed <= 6, "{changed} lines");
}

#[test]
fn runs_that_are_no_evidence_are_refused() {
    for (name, results, mention) in [
        (
            "incomplete",
            good().set("/run/complete", json!(false)),
            "incomplete",
        ),
        (
            "a subset",
            good().set("/run/subset", json!({"of": 100, "seed": 1})),
            "subset",
        ),
        ("unmeasured", good().failing(F, 20), "faithfulness"),
        ("too many failures", good().failing(F, 5), "15/20"),
        ("empty", good().only(|_| false), "faithfulness"),
    ] {
        let folder = folder(&results);
        let ran = update(&folder, 1);
        assert_eq!(ran.code, Some(3), "{name}: {ran:?}");
        assert!(ran.said().contains(mention), "{name}: {}", ran.said());
        assert!(!folder.join("main.json").exists(), "{name}");
        assert!(!folder.join("history.jsonl").exists(), "{name}");
    }
}

#[test]
fn a_loss_is_refused_until_it_is_accepted_with_a_reason() {
    let folder = folder(&good());
    update(&folder, 1).exits(0);
    let (baseline, history) = (folder.read("main.json"), folder.read("history.jsonl"));
    folder.write("results.json", Full::of(F, same(20, 0.8)).text());
    update(&folder, 2)
        .exits(1)
        .mentions(&["dropped by 0.100", "--accept faithfulness --reason"]);
    assert_eq!(
        (folder.read("main.json"), folder.read("history.jsonl")),
        (baseline, history)
    );
    folder
        .run("baseline update results.json --accept faithfulness")
        .exits(2);
    folder
        .run("baseline update results.json --accept faithfullness --reason why")
        .exits(2)
        .mentions(&["faithfullness"]);
    folder
        .run("baseline update results.json --at 2026-11-02T00:00:00Z --accept faithfulness --reason cheaper --by me --pull-request 7 --commit abc")
        .exits(0);
    let accepted = folder.json("main.json")["accepted"].clone();
    assert_eq!(accepted["note"], "cheaper");
    assert_eq!(accepted["by"], "me");
    assert_eq!(accepted["pull_request"], "7");
    assert_eq!(accepted["commit"], "abc");
    assert_eq!(lines(&folder)[1]["reset"], json!([F]));
}

#[test]
fn another_judge_can_become_the_baseline_when_it_is_accepted() {
    let folder = folder(&good());
    update(&folder, 1).exits(0);
    folder.write(
        "results.json",
        Full::of(F, same(20, 0.7))
            .set("/run/judge/model", json!("judge-b"))
            .text(),
    );
    update(&folder, 2).exits(3).mentions(&["judge-b"]);
    folder
        .run("baseline update results.json --at 2026-11-02T00:00:00Z --accept faithfulness --reason judge")
        .exits(0);
    folder.run("check results.json").exits(0);
}

#[test]
fn several_runs_become_their_average() {
    let folder = folder(&good());
    for (name, score) in [("a", 0.8), ("b", 0.9), ("c", 1.0)] {
        folder.write(&format!("{name}.json"), Full::of(F, same(20, score)).text());
    }
    folder
        .run("baseline update a.json b.json c.json --at 2026-11-01T00:00:00Z")
        .exits(0);
    let mean = folder.json("main.json")["metrics"][F]["mean"]
        .as_f64()
        .unwrap();
    assert!((mean - 0.9).abs() < 1e-9, "{mean}");
    assert_eq!(lines(&folder)[0]["metrics"][F]["n"], 20);
    folder.run("check a.json").exits(1);
    folder.run("check b.json").exits(0).mentions(&["20/20"]);
}

#[test]
fn runs_of_different_code_or_dataset_are_no_average() {
    let folder = folder(&good());
    folder.write(
        "a.json",
        good().set("/run/commit", json!("a".repeat(40))).text(),
    );
    folder.write(
        "b.json",
        good().set("/run/commit", json!("b".repeat(40))).text(),
    );
    folder.run("baseline update a.json b.json").exits(3);
    folder.write(
        "c.json",
        good().set("/run/dataset/sha256", json!("other")).text(),
    );
    folder.run("baseline update results.json c.json").exits(3);
    folder.write(
        "d.json",
        good().set("/run/judge/model", json!("judge-b")).text(),
    );
    folder.run("baseline update results.json d.json").exits(3);
    assert!(!folder.join("main.json").exists());
}

#[test]
fn flat_runs_average_too() {
    let folder = folder(&good())
        .file("a.json", r#"{"faithfulness": 0.8}"#)
        .file("b.json", r#"{"faithfulness": 0.9}"#);
    folder
        .run("baseline update a.json b.json --at 2026-11-01T00:00:00Z")
        .exits(0);
    let shown = folder.run("baseline show");
    shown.exits(0).mentions(&["faithfulness", "0.85"]);
}

#[test]
fn the_line_of_an_update_that_did_not_finish_is_dropped() {
    let folder = folder(&good());
    update(&folder, 1).exits(0);
    let orphan = json!({"accepted": {"at": "2026-11-02T00:00:00Z"}, "metrics": {F: {"mean": 0.2, "change": -0.7}}});
    folder.write(
        "history.jsonl",
        format!("{}{orphan}\n", folder.read("history.jsonl")),
    );
    update(&folder, 3).exits(0).mentions(&["unfinished"]);
    let ats: Vec<Value> = lines(&folder)
        .iter()
        .map(|line| line["accepted"]["at"].clone())
        .collect();
    assert_eq!(
        ats,
        [json!("2026-11-01T00:00:00Z"), json!("2026-11-03T00:00:00Z")]
    );
}

#[test]
fn an_orphan_line_drifts_nothing() {
    let folder = folder(&good());
    folder.write(
        "gate.toml",
        "version = 1\nbaseline = \"main.json\"\n[gate]\nmax_drift = 0.05\n[metrics.faithfulness]\n",
    );
    update(&folder, 1).exits(0);
    let orphan = json!({"accepted": {"at": "2026-11-02T00:00:00Z"}, "metrics": {F: {"mean": 0.2, "change": -0.7}}});
    folder.write(
        "history.jsonl",
        format!("{}{orphan}\n", folder.read("history.jsonl")),
    );
    folder.run("check results.json").exits(0);
}

#[test]
fn a_corrupt_baseline_or_history_is_not_overwritten() {
    let folder = folder(&good()).file("main.json", "{\"samples\": [");
    update(&folder, 1).exits(3).mentions(&["main.json"]);
    assert_eq!(folder.read("main.json"), "{\"samples\": [");
    std::fs::remove_file(folder.join("main.json")).unwrap();
    folder.write("history.jsonl", "{}\n<<<<<<< HEAD\n");
    update(&folder, 1)
        .exits(3)
        .mentions(&["history.jsonl", "line 2"]);
    assert_eq!(folder.read("history.jsonl"), "{}\n<<<<<<< HEAD\n");
    assert!(!folder.join("main.json").exists());
}

#[cfg(unix)]
#[test]
fn a_baseline_that_cannot_be_written_stays_whole() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new()
        .file("gate.toml", POLICY.replace("main.json", "closed/main.json"))
        .file("results.json", good().text());
    update(&folder, 1).exits(0);
    let before = (
        folder.read("closed/main.json"),
        folder.read("closed/history.jsonl"),
    );
    let mode = |mode| {
        std::fs::set_permissions(folder.join("closed"), std::fs::Permissions::from_mode(mode))
            .unwrap()
    };
    mode(0o555);
    // The superuser writes everywhere.
    let closed = std::fs::write(folder.join("closed/probe"), "").is_err();
    if closed {
        folder.write("results.json", Full::of(F, same(20, 0.95)).text());
        update(&folder, 2).exits(3).mentions(&["could not write"]);
    }
    mode(0o755);
    if closed {
        assert_eq!(
            before,
            (
                folder.read("closed/main.json"),
                folder.read("closed/history.jsonl")
            )
        );
    }
    assert!(
        std::fs::read_dir(folder.join("closed")).unwrap().count() <= 3,
        "no temporary file is left"
    );
}

#[test]
fn updates_at_the_same_time_leave_whole_files() {
    let folder = folder(&Full::of(F, same(2000, 0.9)));
    let children: Vec<_> = (1..=8)
        .map(|day| {
            folder
                .command(&format!(
                    "baseline update results.json --at 2026-11-{day:02}T00:00:00Z"
                ))
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(matches!(child.wait().unwrap().code(), Some(0 | 3)));
    }
    assert_eq!(
        folder.json("main.json")["samples"]
            .as_array()
            .unwrap()
            .len(),
        2000
    );
    assert!(!lines(&folder).is_empty());
    folder.run("check results.json").exits(0);
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn show_diff_and_history_say_what_was_accepted() {
    let folder = folder(&good());
    update(&folder, 1).exits(0);
    folder.write("old.json", folder.read("main.json"));
    folder.write(
        "results.json",
        Full::of(F, (0..20).map(|index| if index == 7 { 0.5 } else { 0.9 })).text(),
    );
    folder
        .run("baseline update results.json --at 2026-11-02T00:00:00Z --by me")
        .exits(0);
    folder.run("baseline show").exits(0).mentions(&[
        "2026-11-02",
        "me",
        "judge-a",
        "faithfulness",
        "(20/20)",
    ]);
    folder.run("baseline show main.json").exits(0);
    folder
        .run("baseline diff old.json main.json")
        .exits(0)
        .mentions(&["20 samples in both", "0.900 → 0.880", "-0.020"]);
    folder
        .run("baseline diff main.json main.json")
        .exits(0)
        .mentions(&["0 added"]);
    folder.run("baseline history").exits(0).mentions(&[
        "2 accepted baselines",
        "faithfulness",
        "0.900 → 0.880",
        "█",
    ]);
    folder.run("baseline history main.json").exits(0);
}

#[test]
fn a_link_stays_a_link() {
    #[cfg(unix)]
    {
        let folder = folder(&good()).file("real/main.json", good().text());
        std::os::unix::fs::symlink("real/main.json", folder.join("main.json")).unwrap();
        update(&folder, 1).exits(0);
        assert!(
            std::fs::symlink_metadata(folder.join("main.json"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(
            folder.json("real/main.json")["accepted"]["at"],
            "2026-11-01T00:00:00Z"
        );
    }
}

#[test]
fn a_baseline_that_is_one_of_its_own_runs_is_averaged_from_what_it_was() {
    let folder = folder(&good());
    update(&folder, 1).exits(0);
    folder
        .run("baseline update main.json --at 2026-11-02T00:00:00Z")
        .exits(0);
    folder.run("check results.json").exits(0);
}
