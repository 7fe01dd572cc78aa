use gate::policy::Direction;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::outcome::{FailureKind, Outcome, Step};
use crate::registry::tests::built;
use crate::sample::{Context, Sample};

/// What a metric makes of a sample, in one line.
fn of(name: &str, table: &str, sample: &Sample) -> String {
    match built(name, table).unwrap().step(sample, &[]) {
        Step::Done(Outcome::Score { score, reason }) => {
            assert_eq!(reason, None);
            score.to_string()
        }
        Step::Done(Outcome::NotApplicable(why)) => format!("not applicable: {why}"),
        Step::Done(Outcome::Failed { kind, message }) => {
            assert_eq!(kind, FailureKind::NotANumber);
            format!("failed: {message}")
        }
        other => panic!("{other:?}"),
    }
}

fn spent(number: f64) -> Sample {
    Sample {
        latency_s: Some(number),
        tokens: Some(number),
        cost_usd: Some(number),
        ..Sample::default()
    }
}

#[test]
fn what_the_dataset_says_is_the_score() {
    let sample = spent(1.534);
    for name in [
        "latency_s",
        "tokens",
        "target_tokens",
        "cost_usd",
        "target_cost_usd",
    ] {
        assert_eq!(of(name, "", &sample), "1.534", "{name}");
        assert_eq!(of(name, "", &spent(0.0)), "0", "{name}");
    }
    assert_eq!(of("latency_ms", "", &sample), "1534");
}

#[test]
fn what_is_less_than_nothing_or_more_than_any_number_fails() {
    for (name, column) in [
        ("latency_s", "latency"),
        ("latency_ms", "latency"),
        ("tokens", "tokens"),
        ("cost_usd", "cost"),
    ] {
        assert_eq!(
            of(name, "", &Sample::default()),
            format!("not applicable: no {column}")
        );
        assert!(
            of(name, "", &spent(-0.5)).starts_with(&format!("failed: the {column} is -")),
            "{name}"
        );
        for (number, shown) in [(f64::INFINITY, "inf"), (f64::NAN, "NaN")] {
            assert_eq!(
                of(name, "", &spent(number)),
                format!("failed: the {column} is {shown}, which is no finite number")
            );
        }
    }
    // A number of seconds that has no number of milliseconds.
    assert!(of("latency_ms", "", &spent(1e308)).starts_with("failed: the latency is inf"));
}

proptest! {
    #[test]
    fn milliseconds_come_back_as_they_were(milliseconds in 0_u32..100_000_000) {
        let sample = spent(f64::from(milliseconds) / 1000.0);
        prop_assert_eq!(of("latency_ms", "", &sample), milliseconds.to_string());
    }
}

#[test]
fn the_length_of_all_passages_is_counted_as_a_reader_counts() {
    let sample = |texts: &[&str]| Sample {
        contexts: Some(
            texts
                .iter()
                .map(|&text| Context {
                    text: text.to_owned(),
                    ..Context::default()
                })
                .collect(),
        ),
        ..Sample::default()
    };
    let length = |unit: &str, texts: &[&str]| {
        let table = format!("unit = '{unit}'");
        of("context_length", &table, &sample(texts))
    };
    let texts = ["It is tall.\r\nIs it old?", "👩‍👩‍👧‍👦e\u{301}"];
    assert_eq!(length("characters", &texts), (22 + 2).to_string());
    assert_eq!(of("context_length", "", &sample(&texts)), "24");
    assert_eq!(length("words", &texts), "7");
    assert_eq!(length("sentences", &texts), "3");
    assert_eq!(length("words", &["برج إيفل", "塔在巴黎"]), "6");
    assert_eq!(length("characters", &[]), "0");
    assert_eq!(
        of("context_length", "", &Sample::default()),
        "not applicable: no contexts"
    );
    assert_eq!(length("characters", &[&"é".repeat(100_000)]), "100000");
    let error = built("context_length", "unit = 'bytes'").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`unit` of `context_length`: one of `characters`, `words` and `sentences`"
    );
}

fn row(row: &Value) -> Sample {
    Sample {
        other: row.as_object().unwrap().clone(),
        ..Sample::default()
    }
}

fn at(path: &str, value: &Value) -> String {
    let table = format!("kind = 'json_path'\npath = '{path}'");
    of("own", &table, &row(value))
}

#[test]
fn a_path_finds_one_number() {
    let sample = json!({
        "usage": {"total_tokens": 512, "share": "0.25", "is_cached": true, "is_new": false},
        "steps": [{"ms": 3}, {"ms": 4.5}],
        "usage.total": " 7 ",
    });
    assert_eq!(at("$.usage.total_tokens", &sample), "512");
    assert_eq!(at("$.usage.share", &sample), "0.25");
    assert_eq!(at("$.usage.is_cached", &sample), "1");
    assert_eq!(at("$.usage.is_new", &sample), "0");
    assert_eq!(at("$.steps[-1].ms", &sample), "4.5");
    assert_eq!(at("$.steps[?@.ms < 4].ms", &sample), "3");
    assert_eq!(at("$[\"usage.total\"]", &sample), "7");
}

#[test]
fn what_is_no_number_is_said() {
    let sample = json!({
        "a": null, "b": "", "c": "fast\n", "d": [1], "e": {"x": 1}, "f": "NaN", "g": "-Infinity", "h": [1, 2],
    });
    let said: Vec<String> = [
        "$.z", "$.a", "$.b", "$.c", "$.d", "$.e", "$.f", "$.g", "$.h[*]",
    ]
    .into_iter()
    .map(|path| at(path, &sample))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    not applicable: nothing at $.z
    not applicable: null at $.a
    not applicable: nothing at $.b
    failed: the text «fast» at $.c, not a number
    failed: a list at $.d, not a number
    failed: an object at $.e, not a number
    failed: NaN at $.f is no finite number
    failed: -inf at $.g is no finite number
    failed: 2 values at $.h[*], not one
    ");
}

#[test]
fn gate_toml_says_which_way_is_better_and_how_far_it_goes() {
    let metric = |table: &str| built("own", &format!("kind = 'json_path'\n{table}"));
    let plain = metric("path = '$.x'").unwrap();
    assert!(plain.reads_other());
    assert_eq!(
        (plain.info().direction, plain.info().range),
        (Direction::Higher, None)
    );
    assert_eq!(plain.info().version, "1, path $.x");
    let table = "path = '$.x'\ndirection = 'lower'\nrange = [0, 5]";
    let bounded = metric(table).unwrap();
    assert_eq!(
        (bounded.info().direction, bounded.info().range),
        (Direction::Lower, Some([0.0, 5.0]))
    );
    let table = format!("kind = 'json_path'\n{table}");
    assert_eq!(of("own", &table, &row(&json!({"x": 5}))), "5");
    assert_eq!(
        of("own", &table, &row(&json!({"x": 5.5}))),
        "failed: 5.5 at $.x is outside of the range from 0 to 5"
    );
    assert_eq!(
        metric("").unwrap_err().to_string(),
        "`own` has no `path`: where the number is: `path = \"$.usage.total_tokens\"`"
    );
    let error = metric("path = 'usage.total'").unwrap_err().to_string();
    assert!(
        error.starts_with("`path` of `own`: no JSONPath: "),
        "{error}"
    );
}
