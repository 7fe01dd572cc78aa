//! Laws of the decision: what must not change a verdict, and what must not make it worse.

use gate::policy::Policy;
use gate::results::{Keep, Results, read};
use gate::verdict::{Outcome, Verdict};
use gate::{Inputs, decide};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const POLICIES: [&str; 5] = [
    "version = 1\n[metrics.faithfulness]\nmin = 0.4\nmax_drop = 0.1\n",
    "version = 1\n[gate]\nrule = \"significant\"\n[metrics.\"*\"]\n[[slices]]\ntag = \"lang\"\nmax_drop = 0.2\nmin_samples = 2\n",
    "version = 1\n[gate]\nrule = \"noninferior\"\nmax_failed = 0.5\n[metrics.faithfulness]\n",
    "version = 1\n[gate]\nmax_failed = 1.0\n[metrics.faithfulness]\naggregate = \"median\"\nmin = 0.3\n[metrics.context_recall]\naggregate = \"pass_rate\"\npass_at = 0.5\n",
    "",
];

/// One sample: id, repeat, cluster, language and two scores, a missing one as `None`.
type Row = (u8, u8, u8, u8, Option<u8>, Option<u8>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::btree_map(
        (0_u8..12, 0_u8..2),
        (
            0_u8..4,
            0_u8..3,
            prop::option::weighted(0.9, 0_u8..=20),
            prop::option::weighted(0.9, 0_u8..=20),
        ),
        1..20,
    )
    .prop_map(|rows| {
        rows.into_iter()
            .map(|((id, repeat), (cluster, lang, one, two))| (id, repeat, cluster, lang, one, two))
            .collect()
    })
}

fn sample((id, repeat, cluster, lang, one, two): Row) -> Value {
    let score = |score: Option<u8>| score.map(|score| f64::from(score) / 20.0);
    let lang = ["it", "de", "en"][usize::from(lang)];
    json!({
        "id": format!("q-{id}"),
        "repeat": repeat,
        "cluster": format!("doc-{cluster}"),
        "tags": {"lang": lang, "kind": ["x", "y"]},
        "scores": {"faithfulness": score(one), "context_recall": score(two)},
        "failures": match two { None => json!({"context_recall": {"kind": "timeout"}}), Some(_) => json!({}) },
    })
}

fn document(rows: &[Row]) -> Value {
    json!({
        "schema": "rag-gate/results/1",
        "run": {"complete": true, "judge": {"provider": "openai", "params": {"a": 1, "b": 2}}},
        "samples": rows.iter().copied().map(sample).collect::<Vec<_>>(),
    })
}

/// The same JSON with the keys of every object the other way round.
fn turned(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let mut parts: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}:{}", json!(key), turned(value)))
                .collect();
            parts.reverse();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(items) => {
            let parts: Vec<String> = items.iter().map(turned).collect();
            format!("[{}]", parts.join(","))
        }
        other => other.to_string(),
    }
}

fn results(text: &str) -> Results {
    read(text.as_bytes(), Keep::All).unwrap()
}

fn verdict(policy: &str, now: &Results, before: &Results) -> Option<Verdict> {
    let policy = Policy::parse(policy).unwrap();
    let bound = policy.bind(now, Some(before)).ok()?;
    Some(decide(Inputs {
        policy: &policy,
        bound: &bound,
        results: now,
        baseline: Some(before),
        history: None,
    }))
}

fn bytes(verdict: Option<&Verdict>) -> String {
    serde_json::to_string(&verdict).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The order of samples and of keys changes no byte of the verdict; neither does deciding twice.
    #[test]
    fn order_changes_nothing(now in rows(), before in rows(), shift in 0_usize..20, policy in 0_usize..POLICIES.len()) {
        let policy = POLICIES[policy];
        let baseline = results(&document(&before).to_string());
        let straight = verdict(policy, &results(&document(&now).to_string()), &baseline);
        let mut other = now.clone();
        other.reverse();
        let length = other.len();
        other.rotate_left(shift % length);
        let turned_baseline = results(&turned(&document(&before)));
        let moved = verdict(policy, &results(&turned(&document(&other))), &turned_baseline);
        prop_assert_eq!(bytes(straight.as_ref()), bytes(moved.as_ref()));
        let again = verdict(policy, &results(&document(&now).to_string()), &baseline);
        prop_assert_eq!(bytes(straight.as_ref()), bytes(again.as_ref()));
    }

    /// Raising every score never turns a pass into a block (higher is better, point rule).
    #[test]
    fn better_scores_never_block(now in rows(), before in rows(), by in 0_u8..=10) {
        let policy = POLICIES[0];
        let baseline = results(&document(&before).to_string());
        let better: Vec<Row> = now
            .iter()
            .map(|(id, repeat, cluster, lang, one, two)| {
                let raise = |score: &Option<u8>| score.map(|score| (score + by).min(20));
                (*id, *repeat, *cluster, *lang, raise(one), raise(two))
            })
            .collect();
        let first = verdict(policy, &results(&document(&now).to_string()), &baseline);
        let raised = verdict(policy, &results(&document(&better).to_string()), &baseline);
        if let (Some(first), Some(raised)) = (first, raised)
            && first.outcome == Outcome::Pass
        {
            prop_assert_ne!(raised.outcome, Outcome::Block);
        }
    }

    /// A results file that is written and read again is the same file.
    #[test]
    fn a_file_round_trips(rows in rows()) {
        let mut once = Vec::new();
        results(&document(&rows).to_string()).write(&mut once).unwrap();
        let mut twice = Vec::new();
        read(once.as_slice(), Keep::All).unwrap().write(&mut twice).unwrap();
        prop_assert_eq!(String::from_utf8(once).unwrap(), String::from_utf8(twice).unwrap());
    }

    /// The outcome is what the reasons say, and nothing in a verdict is NaN or infinite.
    #[test]
    fn the_outcome_follows_from_the_reasons(now in rows(), before in rows(), policy in 0_usize..POLICIES.len()) {
        let baseline = results(&document(&before).to_string());
        let Some(verdict) = verdict(POLICIES[policy], &results(&document(&now).to_string()), &baseline) else {
            return Ok(());
        };
        let blocks = verdict.reasons.iter().any(|reason| {
            ["below-minimum", "above-maximum", "regression", "drift"].contains(&reason.code.name().as_str())
        });
        let expected = match (blocks, verdict.reasons.is_empty()) {
            (true, _) => Outcome::Block,
            (false, false) => Outcome::Undecided,
            (false, true) => Outcome::Pass,
        };
        prop_assert_eq!(verdict.outcome, expected);
        for row in &verdict.metrics {
            for number in [row.now, row.before, row.change, row.change_stderr, row.p_value].into_iter().flatten() {
                prop_assert!(number.is_finite());
            }
        }
    }
}

#[test]
fn a_large_file_is_read_in_pieces_as_in_one() {
    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let rows: Vec<Value> = (0..20_000_u32)
        .map(|id| {
            let mut entry = Map::new();
            entry.insert(
                "id".to_owned(),
                json!(format!("question number {id}, with \"quotes\" and é")),
            );
            entry.insert(
                "scores".to_owned(),
                json!({"faithfulness": f64::from(id % 7) / 7.0}),
            );
            Value::Object(entry)
        })
        .collect();
    let text = json!({"samples": rows}).to_string();
    let written = |results: Results| {
        let mut bytes = Vec::new();
        results.write(&mut bytes).unwrap();
        bytes
    };
    let whole = written(results(&text));
    for step in [1, 7, 4096] {
        let slow = read(Slow(text.as_bytes(), step), Keep::All).unwrap();
        assert_eq!(written(slow), whole);
    }
}
