//! Is the answer the JSON that it should be?

use serde_json::Value;

use super::formula::{Formula, holds};
use super::presence::fingerprint;
use super::{info, sides};
use crate::outcome::Outcome;
use crate::registry::{Build, BuildError};
use crate::{Column, Metric};

/// Most violations that a reason names.
const NAMED: usize = 3;

/// 1 when the answer is JSON that the schema accepts. References to other documents are refused when it is built.
pub(super) fn schema(of: &Build<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let Some(text) = &of.files.schema else {
        return Err(of.lacks(
            "schema",
            "the file with the JSON Schema that a good answer meets",
        ));
    };
    let schema: Value = serde_json::from_str(text)
        .map_err(|error| of.bad("schema", format!("the file is no JSON: {error}")))?;
    let validator = jsonschema::validator_for(&schema).map_err(|error| of.bad("schema", error))?;
    let mut info = info(of.name, false);
    info.needs = vec![Column::Answer];
    info.version = format!("{}, {}", info.version, fingerprint(text));
    Ok(Formula::boxed(info, move |sample| {
        let Some(answer) = &sample.answer else {
            return Outcome::NotApplicable("no answer".to_owned());
        };
        match parsed(answer) {
            Err(why) => holds(false, || why),
            Ok(value) => {
                let errors: Vec<String> = validator
                    .iter_errors(&value)
                    .take(NAMED)
                    .map(|error| {
                        let place = error.instance_path().to_string();
                        match place.is_empty() {
                            true => error.to_string(),
                            false => format!("{place}: {error}"),
                        }
                    })
                    .collect();
                holds(errors.is_empty(), || errors.join("; "))
            }
        }
    }))
}

/// 1 when the answer and a reference are the same JSON: numbers by value, members in any order.
pub(super) fn equal(of: &Build<'_>) -> Box<dyn Metric> {
    Formula::boxed(info(of.name, false), |sample| {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Outcome::NotApplicable(why),
        };
        let references: Vec<Value> = references
            .iter()
            .filter_map(|text| parsed(text).ok())
            .collect();
        if references.is_empty() {
            return Outcome::NotApplicable("the reference is no JSON".to_owned());
        }
        match parsed(answer) {
            Err(why) => holds(false, || why),
            Ok(answer) => holds(
                references.iter().any(|other| is_equal(&answer, other)),
                || {
                    difference(&answer, references.first().unwrap_or(&Value::Null), "")
                        .unwrap_or_else(|| "the answer is another value".to_owned())
                },
            ),
        }
    })
}

/// The JSON of an answer, which may stand in a code fence, with words around it.
fn parsed(text: &str) -> Result<Value, String> {
    let inner = text.split_once("```").and_then(|(_, rest)| {
        let (_, rest) = rest.split_once('\n')?;
        Some(rest.split_once("```")?.0)
    });
    let text = text.trim();
    // Within JSON a fence is a part of a text.
    serde_json::from_str(text)
        .or_else(|error| inner.map_or(Err(error), serde_json::from_str))
        .map_err(|error| format!("no JSON: {error}"))
}

fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        // As doubles, different whole numbers beyond 2^53 would be equal.
        (Value::Number(one), Value::Number(other)) if !one.is_f64() && !other.is_f64() => {
            one == other
        }
        (Value::Number(one), Value::Number(other)) => {
            one.as_f64().is_some_and(|one| Some(one) == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| is_equal(one, other)))
        }
        _ => one == other,
    }
}

/// The first place where two values differ.
fn difference(answer: &Value, reference: &Value, place: &str) -> Option<String> {
    match (answer, reference) {
        _ if is_equal(answer, reference) => None,
        (Value::Object(one), Value::Object(other)) => {
            let missing = other.keys().find(|key| !one.contains_key(*key));
            if let Some(key) = missing {
                return Some(format!("{place}/{key} is missing"));
            }
            if let Some(key) = one.keys().find(|key| !other.contains_key(*key)) {
                return Some(format!("{place}/{key} is too much"));
            }
            one.iter().zip(other.values()).find_map(|((key, one), _)| {
                difference(one, other.get(key)?, &format!("{place}/{key}"))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs
                .into_iter()
                .find_map(|(at, (one, other))| difference(one, other, &format!("{place}/{at}")))
        }
        _ => Some(format!(
            "{} is {}, not {}",
            if place.is_empty() {
                "the answer"
            } else {
                place
            },
            crate::reason::cut(&answer.to_string(), 60),
            crate::reason::cut(&reference.to_string(), 60)
        )),
    }
}
