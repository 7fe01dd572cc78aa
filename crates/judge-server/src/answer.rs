//! What the judge says: an answer of the form that was asked for, which depends on the question alone.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

use crate::hash;

const REASON: &str = "The passage says so.";

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
    let state = request.messages.iter().fold(0, |hash, message| {
        hash::mix(hash ^ hash::fnv(message.content.as_bytes()))
    });
    let items = request
        .messages
        .last()
        .map_or(0, |message| items(&message.content));
    let prompt: Vec<&str> = request
        .messages
        .iter()
        .map(|message| message.content.as_ref())
        .collect();
    let mut draw = Draw {
        items,
        state,
        quote: quote(&prompt),
        sources: sources(&prompt),
        texts: texts(&prompt),
    };
    let value = match &request.response_format {
        Some(ResponseFormat::JsonSchema { json_schema }) => {
            draw.instance(&json_schema.schema, None)
        }
        _ => {
            let scale = request
                .messages
                .iter()
                .find_map(|message| scale(&message.content));
            draw.without_schema(scale)
        }
    };
    value.to_string()
}

/// An answer in the making.
struct Draw<'a> {
    /// How many things the prompt numbers; 0 when it asks for a grade.
    items: u64,
    state: u64,
    /// Words that a passage of the prompt has.
    quote: &'a str,
    /// How many sources the prompt numbers.
    sources: u64,
    /// How many texts it asks for.
    texts: u64,
}

impl Draw<'_> {
    /// Something that the schema allows. `number` is the place in the list, from 1.
    fn instance(&mut self, schema: &Value, number: Option<u64>) -> Value {
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.choose(choices);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
            kind => kind.and_then(Value::as_str),
        };
        match kind {
            Some("object") => self.object(schema, number),
            Some("array") => self.array(schema),
            Some("integer" | "number") => {
                let low = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
                let high = schema
                    .get("maximum")
                    .and_then(Value::as_i64)
                    .unwrap_or(low + 1);
                self.integer(low, high)
            }
            Some("boolean") => self.boolean(),
            _ => json!(REASON),
        }
    }

    fn object(&mut self, schema: &Value, number: Option<u64>) -> Value {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return json!({});
        };
        let mut fields = Map::new();
        for (name, property) in properties {
            let value = match (number, name.as_str()) {
                (Some(number), name) if is_place(name) => json!(number),
                (_, "quote") => json!(self.quote),
                (_, "sources") => self.held(),
                (_, "texts") if self.texts == 1 => json!([self.quote]),
                (_, "texts") => (1..=self.texts)
                    .map(|number| json!(format!("{} {number}?", self.quote)))
                    .collect(),
                _ => self.instance(property, None),
            };
            fields.insert(name.clone(), value);
        }
        Value::Object(fields)
    }

    /// Some of the sources, ascending.
    fn held(&mut self) -> Value {
        (1..=self.sources)
            .filter(|_| !self.next().is_multiple_of(5))
            .map(Value::from)
            .collect()
    }

    /// As long as the schema says, or else as the prompt does.
    fn array(&mut self, schema: &Value) -> Value {
        let length = ["minItems", "maxItems"]
            .iter()
            .find_map(|key| schema.get(key)?.as_u64())
            .unwrap_or(self.items.max(1));
        let items = schema.get("items").unwrap_or(&Value::Null);
        (1..=length)
            .map(|number| self.instance(items, Some(number)))
            .collect()
    }

    /// A grade where the prompt has a scale or numbers nothing, else a verdict for each thing that it numbers.
    fn without_schema(&mut self, scale: Option<(i64, i64)>) -> Value {
        if scale.is_some() || self.items == 0 {
            let (low, high) = scale.unwrap_or((1, 5));
            return json!({"reason": REASON, "grade": self.integer(low, high)});
        }
        let verdicts: Vec<Value> = (1..=self.items)
            .map(|id| json!({"id": id, "quote": self.quote, "reason": REASON, "verdict": self.boolean()}))
            .collect();
        json!({ "verdicts": verdicts })
    }

    fn choose(&mut self, choices: &[Value]) -> Value {
        let length = choices.len().max(1) as u64;
        usize::try_from(self.next() % length)
            .ok()
            .and_then(|place| choices.get(place).cloned())
            .unwrap_or_default()
    }

    fn integer(&mut self, low: i64, high: i64) -> Value {
        let width = high.saturating_sub(low).max(0).unsigned_abs() + 1;
        let offset = i64::try_from(self.next() % width).unwrap_or(0);
        json!(low + offset)
    }

    /// Four of five say yes.
    fn boolean(&mut self) -> Value {
        json!(!self.next().is_multiple_of(5))
    }

    fn next(&mut self) -> u64 {
        self.state = hash::mix(self.state);
        self.state
    }
}

/// The key that says which item of a list is meant.
fn is_place(name: &str) -> bool {
    matches!(name, "item" | "number" | "index" | "id" | "n")
}

/// The first words of the first passage or text; there is nothing to be quoted without one.
fn quote<'a>(prompt: &[&'a str]) -> &'a str {
    let first = prompt.iter().find_map(|text| {
        let passage = text.split_once("\nPASSAGE 1\n");
        let (_, rest) = passage.or_else(|| text.split_once("\nTEXT 1\n"))?;
        rest.lines().skip(1).find(|line| !line.trim().is_empty())
    });
    let line = first.unwrap_or("no fact").trim();
    &line[..line.floor_char_boundary(40)]
}

/// The highest number of a source.
fn sources(prompt: &[&str]) -> u64 {
    let lines = prompt.iter().flat_map(|text| text.lines());
    let numbers = lines.filter_map(|line| line.strip_prefix("SOURCE "));
    numbers.map(leading_number).max().unwrap_or(0)
}

/// As in `Give exactly 3 questions`; else one.
fn texts(prompt: &[&str]) -> u64 {
    let asked = prompt
        .iter()
        .find_map(|text| text.split_once("Give exactly "));
    asked.map_or(1, |(_, rest)| leading_number(rest).max(1))
}

/// How many things the prompt numbers.
///
/// A repair says `from 1 to N`, and the task of a prompt `Claims 1 to N`. A prompt ends with a part between two lines of equals signs: `PASSAGE N` above it says
/// that there are N; else the lines in it are counted. A prompt without parts is one part.
fn items(text: &str) -> u64 {
    if let Some((_, rest)) = text.rsplit_once("each number from 1 to ") {
        return leading_number(rest);
    }
    let task = text.lines().next().unwrap_or_default();
    if let Some((_, rest)) = task.split_once("s 1 to ") {
        return leading_number(rest);
    }
    let text = text.trim_end();
    let fence = text.lines().next_back().unwrap_or_default();
    if fence.len() < 5 || fence.bytes().any(|byte| byte != b'=') {
        return numbered(text);
    }
    let mut parts = text.trim_end_matches(fence).rsplitn(2, fence);
    let (part, before) = (parts.next(), parts.next());
    let title = before.and_then(|before| before.trim_end().lines().next_back());
    let number = title
        .and_then(|title| title.rsplit_once(' '))
        .map_or(0, |(_, number)| leading_number(number));
    match number {
        0 => numbered(part.unwrap_or_default()),
        number => number,
    }
}

/// The scale of a grade, as in `a whole number from 1 to 5`.
fn scale(text: &str) -> Option<(i64, i64)> {
    let (_, rest) = text.split_once("whole number from ")?;
    let (low, rest) = rest.split_once(" to ")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(rest.len());
    let (high, _) = rest.split_at(digits);
    Some((low.parse().ok()?, high.parse().ok()?))
}

fn leading_number(text: &str) -> u64 {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text.get(..digits)
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

/// Length of the last list whose lines start with `1.`, `1)`, `1:` or `[1]`.
fn numbered(text: &str) -> u64 {
    let mut count = 0;
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches('[');
        let number = leading_number(line);
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.starts_with(['.', ')', ':', ']'])
            && number > 0
            && (number == 1 || number == count + 1)
        {
            count = number;
        }
    }
    count
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
        let graded = ask(
            None,
            "Passages:\n1. a\n`grade` is a whole number from -2 to -1.",
        );
        assert!(
            (-2..=-1).contains(&graded["grade"].as_i64().unwrap()),
            "{graded}"
        );
    }

    #[test]
    fn the_last_part_of_a_prompt_says_how_many() {
        let claims = "Judge.\n\nPASSAGE 1\n=====\n7. is no claim\n=====\n\nCLAIMS\n=====\n1. a\n2. b\n=====\n";
        assert_eq!(items(claims), 2);
        let passages = "Judge.\n\nANSWER\n======\n1. x\n=====\n======\n\nPASSAGE 1\n======\na\n======\n\nPASSAGE 2\n======\n1. y\n======\n";
        assert_eq!(items(passages), 2);
        assert_eq!(items("Judge.\n\nANSWER\n=====\nIt is.\n=====\n"), 0);
        assert_eq!(
            items("Answer again, with exactly one entry for each number from 1 to 12, and so on"),
            12
        );
    }

    #[test]
    fn what_is_quoted_stands_in_a_passage_and_sources_are_those_of_the_prompt() {
        let schema = json!({"properties": {"items": {"type": "array", "items": {"type": "object", "properties": {
            "id": {"type": "integer"}, "sources": {"type": "array", "items": {"type": "integer"}}, "quote": {"type": "string"}}}}},
            "type": "object"});
        let prompt = "Claims 1 to 3: which?\n\nPASSAGE 1\n=====\nIt is a tower of iron, and stands in Paris near a river.\n=====\n\n\
                      SOURCE 1\n=====\na\n=====\n\nSOURCE 2\n=====\nb\n=====\n\nCLAIMS\n=====\n3. x\n=====\n";
        let answer = ask(Some(&schema), prompt);
        let items = answer["items"].as_array().unwrap();
        assert_eq!(items.len(), 3);
        for item in items {
            assert_eq!(item["quote"], "It is a tower of iron, and stands in Par");
            let sources = item["sources"].as_array().unwrap();
            assert!(
                sources
                    .iter()
                    .all(|source| (1..=2).contains(&source.as_u64().unwrap()))
            );
        }
        let schema = json!({"type": "object", "properties": {"texts": {"type": "array", "items": {"type": "string"}}}});
        let texts = |prompt| {
            ask(Some(&schema), prompt)["texts"]
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!(
            (texts("Give exactly 3 questions"), texts("Which names?")),
            (3, 1)
        );
    }

    #[test]
    fn a_schema_without_a_length_takes_that_of_the_prompt() {
        let schema = json!({"type": "object", "properties": {"verdicts": {"type": "array", "items": {
            "type": "object", "properties": {"id": {"type": "integer"}, "verdict": {"type": "boolean"}}}}}});
        let answer = ask(Some(&schema), "1. a\n2. b");
        assert_eq!(answer["verdicts"].as_array().unwrap().len(), 2);
        assert!(answer["verdicts"][1]["verdict"].is_boolean());
        assert_eq!(answer["verdicts"][1]["id"], 2);
    }
}
