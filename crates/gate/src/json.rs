//! JSON in one order and one spelling: the order of a file changes nothing.

use serde_json::Value;

/// The same JSON with the keys of every object sorted.
pub fn sorted(value: &Value) -> Value {
    rebuilt(value, &|number| Value::Number(number.clone()))
}

/// As [`sorted`], with 0 and 0.0 the same number: two values are equal when their canonical forms are.
pub(crate) fn canonical(value: &Value) -> Value {
    rebuilt(value, &|number| {
        number
            .as_f64()
            .and_then(serde_json::Number::from_f64)
            .map_or(Value::Null, Value::Number)
    })
}

fn rebuilt(value: &Value, number: &impl Fn(&serde_json::Number) -> Value) -> Value {
    match value {
        Value::Number(found) => number(found),
        Value::Array(items) => items.iter().map(|item| rebuilt(item, number)).collect(),
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            entries
                .into_iter()
                .map(|(key, value)| (key.clone(), rebuilt(value, number)))
                .collect()
        }
        other => other.clone(),
    }
}
