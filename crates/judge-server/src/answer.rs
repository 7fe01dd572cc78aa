//! What the judge says: an answer of the form that was asked for, which depends on the question alone.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

use crate::hash;

/// The part of a chat completion request that matters here.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatRequest<'a> {
    #[serde(borrow, default)]
    pub(crate) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) messages: Vec<ChatMessage<'a>>,
    #[serde(default)]
    pub(crate) response_format: Option<ResponseFormat>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ChatMessage<'a> {
    #[serde(borrow)]
    pub(crate) content: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ResponseFormat {
    Text,
    JsonObject,
    JsonSchema { json_schema: NamedSchema },
}

#[derive(Debug, Deserialize)]
pub(crate) struct NamedSchema {
    schema: Value,
}

/// The answer to this request, as text.
pub(crate) fn answer(request: &ChatRequest<'_>) -> String {
    let mut state = request.messages.iter().fold(0, |hash, message| {
        hash::mix(hash ^ hash::fnv(message.content.as_bytes()))
    });
    let value = match &request.response_format {
        Some(ResponseFormat::JsonSchema { json_schema }) => {
            instance(&json_schema.schema, None, &mut state)
        }
        _ => from_prompt(request, &mut state),
    };
    value.to_string()
}

/// Something that the schema allows. `number` is the place in the list, from 1.
fn instance(schema: &Value, number: Option<u64>, state: &mut u64) -> Value {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choose(choices, state);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    match kind {
        Some("object") => object(schema, number, state),
        Some("array") => array(schema, state),
        Some("integer" | "number") => {
            let low = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
            let high = schema
                .get("maximum")
                .and_then(Value::as_i64)
                .unwrap_or(low + 1);
            integer(low, high, state)
        }
        Some("boolean") => json!(next(state) & 1 == 1),
        _ => json!("The passage says so."),
    }
}

fn object(schema: &Value, number: Option<u64>, state: &mut u64) -> Value {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return json!({});
    };
    let mut fields = Map::new();
    for (name, property) in properties {
        let value = match (number, is_place(name)) {
            (Some(number), true) => json!(number),
            _ => instance(property, None, state),
        };
        fields.insert(name.clone(), value);
    }
    Value::Object(fields)
}

/// The key that says which item of a list is meant.
fn is_place(name: &str) -> bool {
    matches!(name, "item" | "number" | "index" | "id" | "n")
}

fn array(schema: &Value, state: &mut u64) -> Value {
    let length = ["minItems", "maxItems"]
        .iter()
        .find_map(|key| schema.get(key)?.as_u64())
        .unwrap_or(1);
    let items = schema.get("items").unwrap_or(&Value::Null);
    (1..=length)
        .map(|number| instance(items, Some(number), state))
        .collect()
}

/// Without a schema: a verdict for each numbered line of the last message, or a grade where no line has a number.
fn from_prompt(request: &ChatRequest<'_>, state: &mut u64) -> Value {
    let items = request
        .messages
        .last()
        .map_or(0, |message| numbered(&message.content));
    if items == 0 {
        return json!({"reason": "The passage says so.", "grade": integer(1, 5, state)});
    }
    let verdicts: Vec<Value> = (1..=items)
        .map(|item| json!({"item": item, "reason": "The passage says so.", "verdict": integer(0, 1, state)}))
        .collect();
    json!({ "verdicts": verdicts })
}

/// Length of the last list whose lines start with `1.`, `1)`, `1:` or `[1]`.
fn numbered(text: &str) -> u64 {
    let mut count = 0;
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches('[');
        let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = line.split_at(digits);
        match number.parse::<u64>() {
            Ok(number)
                if rest.starts_with(['.', ')', ':', ']'])
                    && (number == 1 || number == count + 1) =>
            {
                count = number;
            }
            _ => {}
        }
    }
    count
}

fn choose(choices: &[Value], state: &mut u64) -> Value {
    let length = choices.len().max(1) as u64;
    usize::try_from(next(state) % length)
        .ok()
        .and_then(|place| choices.get(place).cloned())
        .unwrap_or_default()
}

fn integer(low: i64, high: i64, state: &mut u64) -> Value {
    let width = high.saturating_sub(low).max(0).unsigned_abs() + 1;
    let offset = i64::try_from(next(state) % width).unwrap_or(0);
    json!(low + offset)
}

fn next(state: &mut u64) -> u64 {
    *state = hash::mix(*state);
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(schema: Option<&Value>, prompt: &str) -> Value {
        let mut body = json!({"model": "judge", "messages": [{"role": "user", "content": prompt}]});
        if let Some(schema) = schema {
            body["response_format"] =
                json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
        }
        let body = body.to_string();
        serde_json::from_str(&answer(&serde_json::from_str(&body).unwrap())).unwrap()
    }

    #[test]
    fn a_schema_says_how_many_verdicts() {
        let schema = json!({"type": "object", "properties": {"verdicts": {
            "type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "object", "properties": {
                "item": {"type": "integer"}, "reason": {"type": "string"}, "verdict": {"type": "integer", "enum": [0, 1]}}}}}});
        let answer = ask(Some(&schema), "anything");
        let verdicts = answer["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), 3);
        assert_eq!(verdicts[2]["item"], 3);
        assert!(verdicts[0]["verdict"].as_u64().unwrap() <= 1);
        assert_eq!(answer, ask(Some(&schema), "anything"));
    }

    #[test]
    fn a_grade_is_within_its_scale() {
        let schema = json!({"type": "object", "properties": {"grade": {"type": "integer", "minimum": 2, "maximum": 4}}});
        let grades: std::collections::BTreeSet<i64> = (0..60)
            .map(|n| {
                ask(Some(&schema), &n.to_string())["grade"]
                    .as_i64()
                    .unwrap()
            })
            .collect();
        assert_eq!(grades.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn without_a_schema_the_prompt_says_how_many() {
        let answer = ask(
            None,
            "Passages:\n[1] a\n[2] b\n\nClaims:\n1. x\n2. y\n3. z\n",
        );
        assert_eq!(answer["verdicts"].as_array().unwrap().len(), 3);
        assert!(ask(None, "Is it polite?")["grade"].is_i64());
    }
}
