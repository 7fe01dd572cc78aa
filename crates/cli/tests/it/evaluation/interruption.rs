//! Runs that are interrupted or killed.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use judge_server::{Faults, Latency, Settings};
use serde_json::Value;

use super::{Judge, Project, Ran, files};

fn slow(latency_ms: u64) -> Judge {
    Judge::start(Settings {
        latency: Latency::Fixed(Duration::from_millis(latency_ms)),
        ..Settings::default()
    })
}

fn start(project: &Project, arguments: &[&str]) -> Child {
    project
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[track_caller]
fn wait_for(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_interrupted_run_writes_what_it_has_as_incomplete_and_ends_with_130() {
    for name in ["INT", "TERM", "HUP"] {
        let judge = slow(5);
        let project = Project::new(200, &judge.server.url(), "");
        let child = start(&project, &["run", "--quiet"]);
        wait_for(|| judge.server.stats().completed >= 20);
        signal(&child, name);
        let ran = Ran::from(child.wait_with_output().unwrap());
        ran.ended(130);
        assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
        let results = project.json(".rag-gate/results.json");
        assert_eq!(results["run"]["complete"], false);
        let samples = results["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 200);
        let missing = samples
            .iter()
            .filter_map(|sample| sample["failures"].as_object())
            .flatten()
            .filter(|(_, failure)| failure["kind"] == "cancelled")
            .count();
        let calls = judge.server.stats().calls;
        assert_eq!(missing as u64, 400 - calls, "{name}");

        project.gate(&["run", "--quiet"]).ended(0);
        assert_eq!(judge.server.stats().calls, 400, "{name}");
        assert_eq!(
            project.json(".rag-gate/results.json")["run"]["complete"],
            true
        );
    }
}

#[test]
fn a_second_signal_waits_for_nobody() {
    let judge = Judge::start(Settings {
        faults: Faults {
            never: (0..1000).collect(),
            ..Faults::default()
        },
        ..Settings::default()
    });
    let project = Project::new(20, &judge.server.url(), "");
    let mut child = start(&project, &["run", "--quiet"]);
    wait_for(|| judge.server.stats().calls >= 8);
    let start = Instant::now();
    signal(&child, "INT");
    // The first one has to be noticed before the second.
    wait_for_stderr(&mut child, "interrupted");
    signal(&child, "INT");
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(4));
}

/// A terminal that closes leaves no program behind.
#[test]
fn programs_are_ended_when_the_terminal_closes() {
    let project = Project::new(3, "http://127.0.0.1:9/v1", "");
    project.write(
        "gate.toml",
        "[dataset]\npath = \"answers.jsonl\"\n[metrics.mine]\nkind = \"command\"\n\
         command = [\"sh\", \"-c\", \"echo $$ >number; mv number pid; exec sleep 600\"]\n",
    );
    let mut child = start(&project, &["run", "--quiet"]);
    wait_for(|| project.path("pid").exists());
    signal(&child, "HUP");
    wait_for_stderr(&mut child, "interrupted");
    signal(&child, "HUP");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let program = project.read("pid");
    wait_for(|| {
        let asked = Command::new("ps")
            .args(["-o", "stat=", "-p", program.trim()])
            .output();
        // What has ended stays as a zombie until somebody asks for it.
        let state = String::from_utf8(asked.unwrap().stdout).unwrap();
        state.trim().is_empty() || state.trim().starts_with('Z')
    });
}

/// `nohup` says that the run is to outlive its terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let judge = slow(5);
    let project = Project::new(100, &judge.server.url(), "");
    let gate = project.command(&[]);
    let child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" run --quiet"])
        .arg(gate.get_program())
        .current_dir(project.path(""))
        .env("JUDGE_KEY", super::SECRET)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(|| judge.server.stats().completed >= 20);
    signal(&child, "HUP");
    Ran::from(child.wait_with_output().unwrap()).ended(0);
    assert_eq!(judge.server.stats().calls, 200);
}

fn wait_for_stderr(child: &mut Child, word: &str) {
    use std::io::BufRead;
    let stderr = std::io::BufReader::new(child.stderr.as_mut().unwrap());
    assert!(
        stderr
            .lines()
            .map_while(Result::ok)
            .any(|line| line.contains(word))
    );
}

#[test]
fn ci_that_is_interrupted_judges_nothing() {
    let judge = slow(5);
    let project = Project::new(200, &judge.server.url(), "");
    let child = start(
        &project,
        &[
            "ci",
            "--quiet",
            "--allow-missing-baseline",
            "--output",
            "json=verdict.json",
        ],
    );
    wait_for(|| judge.server.stats().completed >= 20);
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).ended(130);
    let verdict = project.json("verdict.json");
    assert_eq!(verdict["outcome"], "undecided");
    assert_eq!(verdict["exit_code"], 130);
}

#[test]
fn a_deadline_ends_the_run_as_incomplete() {
    let judge = slow(20);
    let project = Project::new(500, &judge.server.url(), "");
    let ran = project.gate(&["run", "--quiet", "--deadline", "300ms"]);
    ran.ended(3);
    assert!(
        ran.stderr.contains("the time for the run was up"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        project.json(".rag-gate/results.json")["run"]["complete"],
        false
    );
}

/// Twenty times, at moments that move through the whole run: nothing is corrupt, and nothing that was paid for is paid
/// again but what was under way.
#[test]
fn killed_at_any_moment_a_run_loses_only_what_was_under_way() {
    let judge = slow(2);
    let project = Project::new(400, &judge.server.url(), "concurrency = 4\n");
    let mut under_way = 0;
    for round in 0..20 {
        let before = judge.server.stats();
        let mut child = start(&project, &["run", "--quiet"]);
        let goal = before.calls + 1 + round * 3;
        wait_for(|| judge.server.stats().calls >= goal);
        child.kill().unwrap();
        child.wait().unwrap();
        under_way += 4;
        for file in files(&project.path(".rag-gate")) {
            let text = fs::read_to_string(&file).unwrap();
            let is_entry = file
                .extension()
                .is_some_and(|extension| extension == "json");
            if is_entry && !file.file_name().unwrap().to_str().unwrap().starts_with('.') {
                let parsed: Result<Value, _> = serde_json::from_str(&text);
                assert!(parsed.is_ok(), "{}", file.display());
            }
        }
    }
    project.gate(&["run", "--quiet"]).ended(0);
    let calls = judge.server.stats().calls;
    assert!(calls <= 800 + under_way, "{calls} calls for 800 answers");
    let stats = project.gate(&["cache", "stats"]);
    stats.ended(0);
    assert_eq!(
        project.json(".rag-gate/results.json")["run"]["complete"],
        true
    );
}

#[test]
fn a_formula_on_an_endless_text_holds_up_nobody() {
    let project = Project {
        folder: tempfile::tempdir().unwrap(),
    };
    // What a model writes that is stuck: minutes of work for a distance.
    let text = |letters: &str| letters.repeat(100_000);
    let row = serde_json::json!({"id": "a", "question": "?", "answer": text("abcd"), "reference": text("badc")});
    project.write("answers.jsonl", &format!("{row}\n"));
    project.write(
        "gate.toml",
        "[dataset]\npath = \"answers.jsonl\"\n[metrics.edit_similarity]\n[metrics.length]\nat_least = 1\n",
    );
    let child = start(&project, &["run", "--quiet"]);
    // Signals are listened to before samples are taken up; the first one may come too early for a handler.
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(50));
    signal(&child, "INT");
    let began = Instant::now();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(began.elapsed() < Duration::from_secs(10));
    ran.ended(130);
}

#[test]
fn an_interrupted_pin_pins_nothing_and_ends_with_130() {
    let judge = slow(20);
    let project = Project::new(30, &judge.server.url(), "");
    let child = start(&project, &["judge", "pin", "--quiet", "--to", "kept.jsonl"]);
    wait_for(|| judge.server.stats().completed >= 1);
    signal(&child, "INT");
    let ran = Ran::from(child.wait_with_output().unwrap());
    ran.ended(130);
    assert!(ran.stderr.contains("nothing was pinned"), "{}", ran.stderr);
    assert!(!project.path("kept.jsonl").exists());
}
