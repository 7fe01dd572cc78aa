//! Arbitrary text as history.jsonl, and the drift that follows from it.
#![no_main]

use std::sync::LazyLock;

use gate::policy::Policy;
use gate::{Inputs, decide, history};
use gate_fuzz::fixed::{MEANS, WITH_SAMPLES};
use libfuzzer_sys::fuzz_target;

static POLICIES: LazyLock<[Policy; 2]> = LazyLock::new(|| {
    ["", "rule = \"significant\""].map(|rule| {
        let text = format!(
            "[gate]\n{rule}\nmax_drift = 0.05\n[metrics.faithfulness]\n[metrics.latency_s]\nmax_drift = \"5%\"\n"
        );
        Policy::parse(&text).expect("it is valid")
    })
});

fuzz_target!(|text: &str| {
    let lines = match history::parse(text) {
        Ok(lines) => lines,
        Err(error) => {
            let line = error.line.expect("an error of the history has a place");
            assert!(line >= 1 && line as usize <= text.lines().count());
            return;
        }
    };
    // What was read is read again from what is written of it.
    let written: String = lines
        .iter()
        .map(|line| serde_json::to_string(line).expect("a line can be written") + "\n")
        .collect();
    assert_eq!(history::parse(&written).as_deref(), Ok(&lines[..]));

    for (policy, [results, baseline]) in POLICIES.iter().zip([&*WITH_SAMPLES, &*MEANS]) {
        let bound = policy
            .bind(results, Some(baseline))
            .expect("the metrics are there");
        let verdict = decide(Inputs {
            policy,
            bound: &bound,
            results,
            baseline: Some(baseline),
            history: Some(&lines),
        });
        gate_fuzz::verdict::check(&verdict);
    }
});
