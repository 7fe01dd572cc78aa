//! Results that stay the same, for targets whose input is something else.

use std::sync::LazyLock;

use gate::results::{Keep, Results, read};

/// Results and baseline with samples, clusters, tags, repeats, a failure and what does not apply.
pub static WITH_SAMPLES: LazyLock<[Results; 2]> = LazyLock::new(|| {
    [
        read_fixed(
            r#"{"schema": "rag-gate/results/1",
                "run": {"dataset": {"sha256": "aa", "samples": 6}, "judge": {"model": "judge-1"},
                        "metrics": {"faithfulness": {"version": "1", "direction": "higher", "range": [0, 1]}}},
                "samples": [
                {"id": "q1", "cluster": "d1", "tags": {"lang": "it"}, "input_sha256": "a1",
                 "scores": {"faithfulness": 0.5, "latency_s": 1.5, "politeness": 3}},
                {"id": "q2", "cluster": "d1", "tags": {"lang": ["it", "de"]}, "input_sha256": "a2",
                 "scores": {"faithfulness": 0.25, "latency_s": 2.5, "politeness": 4}},
                {"id": "q3", "cluster": "d2", "tags": {"lang": "de"}, "input_sha256": "a3",
                 "scores": {"faithfulness": 1, "latency_s": 0.5, "politeness": 5}},
                {"id": "q3", "repeat": 1, "cluster": "d2", "tags": {"lang": "de"}, "input_sha256": "a3",
                 "scores": {"faithfulness": 0, "latency_s": 0.5, "politeness": 5}},
                {"id": "q4", "cluster": "d3", "tags": {"lang": "de"}, "input_sha256": "a4",
                 "scores": {"faithfulness": null, "latency_s": 9, "politeness": null},
                 "failures": {"faithfulness": {"kind": "timeout", "message": "no answer"}},
                 "not_applicable": {"politeness": "no answer"}}]}"#,
        ),
        read_fixed(
            r#"{"schema": "rag-gate/results/1",
                "run": {"dataset": {"sha256": "ab", "samples": 5}, "judge": {"model": "judge-1"},
                        "metrics": {"faithfulness": {"version": "1", "direction": "higher", "range": [0, 1]}}},
                "accepted": {"at": "2026-10-01T00:00:00Z", "commit": "0123456789abcdef"},
                "samples": [
                {"id": "q1", "cluster": "d1", "tags": {"lang": "it"}, "input_sha256": "a1",
                 "scores": {"faithfulness": 0.75, "latency_s": 1.25, "context_recall": 1}},
                {"id": "q2", "cluster": "d1", "tags": {"lang": ["it", "de"]}, "input_sha256": "a2",
                 "scores": {"faithfulness": 0.5, "latency_s": 2.25, "context_recall": 0}},
                {"id": "q3", "cluster": "d2", "tags": {"lang": "de"}, "input_sha256": "b3",
                 "scores": {"faithfulness": 1, "latency_s": 0.5}},
                {"id": "q4", "cluster": "d3", "tags": {"lang": "fr"}, "input_sha256": "a4",
                 "scores": {"faithfulness": 1, "latency_s": 0.5}},
                {"id": "q5", "cluster": "d3", "tags": {"lang": "fr"}, "input_sha256": "a5",
                 "scores": {"faithfulness": 1, "latency_s": 0.25}}]}"#,
        ),
    ]
});

/// Results and baseline that are means alone, of two variants.
pub static MEANS: LazyLock<[Results; 2]> = LazyLock::new(|| {
    [
        read_fixed(
            r#"{"variants": {"a": {"metrics": {"faithfulness": {"mean": 0.8, "n": 9, "failed": 1}, "latency_s": 2}},
                             "b": {"metrics": {"faithfulness": 0.9}}}}"#,
        ),
        read_fixed(
            r#"{"variants": {"a": {"metrics": {"faithfulness": {"mean": 0.9, "n": 10, "failed": 0}, "latency_s": 1}},
                             "c": {"metrics": {"faithfulness": null}}}}"#,
        ),
    ]
});

fn read_fixed(text: &str) -> Results {
    read(text.as_bytes(), Keep::All).expect("it is valid")
}
