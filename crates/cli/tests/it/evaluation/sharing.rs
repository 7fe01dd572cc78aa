//! Many processes on one cache folder.

use std::fs;
use std::time::Duration;

use judge_server::{Latency, Settings};
use serde_json::Value;

use super::{Judge, Project, Ran, files};

#[test]
fn four_processes_at_once_tear_nothing_and_a_fifth_calls_nobody() {
    let judge = Judge::start(Settings {
        latency: Latency::Fixed(Duration::from_millis(3)),
        ..Settings::default()
    });
    let project = Project::new(60, &judge.server.url(), "");
    let children: Vec<_> = (0..4)
        .map(|number| {
            let results = format!("results-{number}.json");
            project
                .command(&["run", "--quiet", "--results", &results])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        Ran::from(child.wait_with_output().unwrap()).ended(0);
    }
    let calls = judge.server.stats().calls;
    assert!((120..=480).contains(&calls), "{calls}");
    for file in files(&project.path(".rag-gate/cache")) {
        let text = fs::read_to_string(&file).unwrap();
        let entry: Value = serde_json::from_str(&text).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap();
        assert_eq!(entry["key"], name);
    }
    assert_eq!(files(&project.path(".rag-gate/cache")).len(), 120);
    project
        .gate(&["run", "--quiet", "--results", "results-4.json"])
        .ended(0);
    assert_eq!(judge.server.stats().calls, calls);
    let samples = |number: u32| project.json(&format!("results-{number}.json"))["samples"].clone();
    assert!((1..5).all(|number| samples(number) == samples(0)));
    assert_eq!(project.read(".rag-gate/runs.jsonl").lines().count(), 5);
}
