//! What the fuzz targets found, each input made small and kept. See `fuzz/README.md`.

use gate::history::{self, HistoryLine};
use gate::policy::Policy;
use gate::results::{Keep, Results, read};
use gate::verdict::{Outcome, Verdict};
use gate::{Inputs, decide};

fn results(text: &str) -> Results {
    read(text.as_bytes(), Keep::All).unwrap_or_else(|error| panic!("{error}"))
}

fn write(results: &Results) -> String {
    let mut bytes = Vec::new();
    results.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn verdict(
    policy: &str,
    results: &Results,
    baseline: Option<&Results>,
    history: Option<&[HistoryLine]>,
) -> Verdict {
    let policy = Policy::parse(policy).unwrap();
    let bound = policy.bind(results, baseline).unwrap();
    decide(Inputs {
        policy: &policy,
        bound: &bound,
        results,
        baseline,
        history,
    })
}

#[test]
fn a_file_that_mixes_named_and_unnamed_variants_can_be_read_again() {
    let mixed = results(
        r#"{"samples": [{"id": "a", "variant": "v", "scores": {"m": 0.5}}, {"id": "b", "scores": {"m": 1}}]}"#,
    );
    let written = write(&mixed);
    assert_eq!(write(&results(&written)), written);
}

#[test]
fn scores_that_overflow_in_sum_are_refused_or_written_readably() {
    let text = r#"{"samples": [{"id": "a", "scores": {"m": 1.7e308}}, {"id": "b", "scores": {"m": 1.7e308}}]}"#;
    if let Ok(overflowing) = read(text.as_bytes(), Keep::All) {
        let written = write(&overflowing);
        assert_eq!(write(&results(&written)), written);
    }
}

#[test]
fn minus_zero_is_written_as_zero_at_once() {
    let written = write(&results(r#"{"metrics": {"m": -0.0}}"#));
    assert_eq!(write(&results(&written)), written);
    assert!(!written.contains("-0"), "{written}");
}

#[test]
fn the_order_of_samples_changes_no_byte_of_the_verdict() {
    let sample =
        |id: &str, metric: &str| format!(r#"{{"id": "{id}", "scores": {{"{metric}": 0.5}}}}"#);
    let samples = [sample("a", "faithfulness"), sample("b", "context_recall")];
    let json = |first: &str, second: &str| {
        let results = results(&format!(r#"{{"samples": [{first}, {second}]}}"#));
        serde_json::to_string(&verdict("", &results, None, None)).unwrap()
    };
    assert_eq!(
        json(&samples[0], &samples[1]),
        json(&samples[1], &samples[0])
    );
}

#[test]
fn means_too_large_to_subtract_are_refused() {
    for text in [
        r#"{"politeness": -1.5e308}"#,
        r#"{"metrics": {"politeness": {"mean": 1.5e308}}}"#,
        r#"{"samples": [{"id": "a", "scores": {"politeness": 1.5e308}}]}"#,
    ] {
        assert!(read(text.as_bytes(), Keep::All).is_err(), "{text}");
    }
}

#[test]
fn a_history_too_large_to_add_up_is_refused_or_shows_no_infinity() {
    let lines = |numbers: &str| {
        history::parse(&format!(
            "{{\"metrics\": {{\"politeness\": {{\"mean\": 1.5e308}}}}}}\n{{\"metrics\": {{\"politeness\": {numbers}}}}}\n"
        ))
    };
    let policy = "[metrics.politeness]\nmax_drift = 0.1\n";
    let now = results(r#"{"politeness": 0.5}"#);
    for numbers in [
        r#"{"mean": -1.5e308}"#,
        r#"{"mean": 1.5e308, "change": -1.5e308, "change_stderr": 1.5e308}"#,
    ] {
        let Ok(history) = lines(numbers) else {
            continue;
        };
        let verdict = verdict(policy, &now, Some(&now), Some(&history));
        for reason in verdict.reasons.iter().chain(&verdict.warnings) {
            assert!(!reason.message.contains("inf"), "{}", reason.message);
        }
    }
}

/// An interrupted run says that it was meant to have more samples than fit into memory.
#[test]
fn a_dataset_of_any_stated_size_is_judged() {
    for meant in ["18446744073709551615", "1000000000000"] {
        let now = results(&format!(
            r#"{{"run": {{"complete": false, "dataset": {{"samples": {meant}}}}},
                 "samples": [{{"id": "a", "scores": {{"faithfulness": 0.25}}}},
                             {{"id": "b", "scores": {{"faithfulness": null}}}},
                             {{"id": "c", "scores": {{"faithfulness": null}}}}]}}"#
        ));
        let verdict = verdict("[metrics.faithfulness]\nmin = 0.5\n", &now, None, None);
        assert_eq!(verdict.outcome, Outcome::Undecided, "{meant}");
    }
}

#[test]
fn a_reason_alone_makes_no_metric() {
    let text = r#"{"samples": [{"id": "a", "scores": {"faithfulness": 1}, "reasons": {"overall": "good"}}]}"#;
    let now = results(text);
    assert_eq!(now.metric_names(), ["faithfulness"]);
    let verdict = verdict("", &now, None, None);
    assert_eq!(verdict.outcome, Outcome::Pass, "{:?}", verdict.reasons);

    let contradicting =
        br#"{"metrics": {"m": 0.5}, "samples": [{"id": "a", "reasons": {"m": "x"}}]}"#;
    assert_eq!(
        read(&contradicting[..], Keep::All).err(),
        read(&contradicting[..], Keep::Scores).err()
    );
}
