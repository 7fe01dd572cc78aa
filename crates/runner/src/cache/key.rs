//! What names an answer: a hash over all that could change it.

use std::fmt;
use std::str::FromStr;

use metrics::{Message, Request, Role};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::provider::Identity;

/// Integers up to here are told apart as JSON numbers, which are doubles: 2^53.
const EXACT: u64 = 1 << 53;

/// SHA-256 of the canonical JSON (RFC 8785) of a question. Its text is lower-case hexadecimal.
///
/// Two questions have the same key when everything is the same that could change the answer. The time, the run, the
/// address of the server and what it is asked for next do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

/// What a key is made of.
#[derive(Debug, Clone, Copy)]
pub struct KeyParts<'a> {
    /// Who is asked.
    pub identity: &'a Identity,
    /// What is asked.
    pub request: &'a Request,
    /// Which of several answers to the same question, from 0: repeats are asked one by one.
    pub repeat: u32,
}

impl Key {
    /// The key of a question to a judge.
    pub fn of(parts: &KeyParts<'_>) -> Key {
        let request = parts.request;
        let length: usize = request
            .messages
            .iter()
            .map(|message| message.content.len())
            .chain(request.items.iter().map(String::len))
            .chain(request.evidence.iter().map(String::len))
            .sum();
        let messages: Vec<CanonicalMessage<'_>> =
            request.messages.iter().map(CanonicalMessage::of).collect();
        // The names are in the order that the canonical form has them in.
        let mut object = Object::with_capacity(length + length / 8 + 512);
        object.plain("evidence", &request.evidence);
        object.canonical("expect", &request.expect);
        object.plain("items", &request.items);
        object.plain("kind", "judge");
        object.plain("messages", &messages);
        object.plain("metric", &request.metric);
        object.identity(parts.identity);
        object.plain("repeat", &parts.repeat);
        object.plain("version", &request.version);
        Key(object.sha256())
    }

    /// The key of the embeddings of some texts.
    pub fn of_embeddings(identity: &Identity, texts: &[String], repeat: u32) -> Key {
        let length: usize = texts.iter().map(String::len).sum();
        let mut object = Object::with_capacity(length + length / 8 + 512);
        object.plain("kind", "embeddings");
        object.identity(identity);
        object.plain("repeat", &repeat);
        object.plain("texts", texts);
        Key(object.sha256())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key: a key has 64 lower-case hexadecimal digits")]
pub struct NoKey(String);

impl FromStr for Key {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let no_key = || NoKey(text.chars().take(80).collect());
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(no_key()),
        };
        if text.len() != 64 {
            return Err(no_key());
        }
        let mut key = [0; 32];
        for (byte, pair) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Ok(Key(key))
    }
}

/// Bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// A message with its names in canonical order.
#[derive(Debug, Serialize)]
struct CanonicalMessage<'a> {
    content: &'a str,
    role: Role,
}

impl<'a> CanonicalMessage<'a> {
    fn of(message: &'a Message) -> Self {
        CanonicalMessage {
            content: &message.content,
            role: message.role,
        }
    }
}

/// A canonical object, written from its first name to its last.
///
/// The long texts take serde's own way, which writes strings and integers as RFC 8785 does and needs no sorting.
pub(super) struct Object(Vec<u8>);

impl Object {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Object(Vec::with_capacity(bytes))
    }

    /// A value that holds only strings, small integers, lists, and objects whose names are sorted.
    pub(super) fn plain(&mut self, name: &str, value: &(impl Serialize + fmt::Debug + ?Sized)) {
        self.name(name);
        let written = serde_json::to_writer(&mut self.0, value);
        self.or_debug(&written, value);
    }

    /// Any value.
    pub(super) fn canonical(&mut self, name: &str, value: &(impl Serialize + fmt::Debug)) {
        self.name(name);
        let written = serde_json_canonicalizer::to_writer(value, &mut self.0);
        self.or_debug(&written, value);
    }

    fn identity(&mut self, identity: &Identity) {
        self.plain("model", &identity.model);
        if is_exact(&identity.params) {
            self.canonical("params", &identity.params);
        } else {
            self.canonical("params", &exact(&identity.params));
        }
        self.plain("provider", &identity.provider);
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// What has no form in JSON still has to change the key. None of our types is such.
    fn or_debug(&mut self, written: &serde_json::Result<()>, value: &(impl fmt::Debug + ?Sized)) {
        if written.is_err() {
            self.0.extend_from_slice(format!("{value:?}").as_bytes());
        }
    }

    pub(super) fn sha256(mut self) -> [u8; 32] {
        self.0.push(b'}');
        Sha256::digest(&self.0).into()
    }
}

/// Whether every integer stays what it is as a double.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number <= EXACT,
            (None, Some(number)) => number.unsigned_abs() <= EXACT,
            (None, None) => true,
        },
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(entries) => entries.values().all(is_exact),
        _ => true,
    }
}

/// The value with large integers as strings, as RFC 8785 advises: two seeds beyond 2^53 are two seeds.
fn exact(value: &Value) -> Value {
    match value {
        Value::Number(number) if !is_exact(value) => Value::String(number.to_string()),
        Value::Array(items) => items.iter().map(exact).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(name, value)| (name.clone(), exact(value)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metrics::Expect;
    use serde_json::json;

    use super::*;

    fn identity() -> Identity {
        Identity {
            provider: "openai".to_owned(),
            model: Some("judge-1".to_owned()),
            params: json!({"temperature": 0.0, "seed": 7}),
        }
    }

    fn request() -> Request {
        Request {
            metric: "faithfulness".to_owned(),
            version: "1".to_owned(),
            messages: vec![
                Message {
                    role: Role::System,
                    content: "Say for each claim whether it holds.".to_owned(),
                },
                Message {
                    role: Role::User,
                    content: "1. \"Größe\"\u{1}\\ \n\t/ \u{2028} 🦦 \u{7f}".to_owned(),
                },
            ],
            expect: Expect::Grade { low: 1, high: 5 },
            items: vec!["Größe".to_owned()],
            evidence: vec!["a".to_owned(), String::new()],
            of_answer: None,
        }
    }

    fn key(identity: &Identity, request: &Request, repeat: u32) -> String {
        Key::of(&KeyParts {
            identity,
            request,
            repeat,
        })
        .to_string()
    }

    fn sha256(value: &Value) -> String {
        hex(&Sha256::digest(
            serde_json_canonicalizer::to_vec(value).unwrap(),
        ))
    }

    #[test]
    fn a_key_is_the_hash_of_the_canonical_json() {
        let request = request();
        let expected = json!({
            "kind": "judge", "provider": "openai", "model": "judge-1",
            "params": {"seed": 7, "temperature": 0},
            "messages": request.messages, "metric": "faithfulness", "version": "1",
            "expect": {"grade": {"low": 1, "high": 5}}, "repeat": 3,
            "items": ["Größe"], "evidence": ["a", ""],
        });
        assert_eq!(key(&identity(), &request, 3), sha256(&expected));

        let texts = ["a\"".to_owned(), "ü".to_owned()];
        let expected = json!({
            "kind": "embeddings", "provider": "lexical", "model": null, "params": {}, "texts": texts, "repeat": 0,
        });
        let identity = Identity {
            provider: "lexical".to_owned(),
            model: None,
            params: json!({}),
        };
        assert_eq!(
            Key::of_embeddings(&identity, &texts, 0).to_string(),
            sha256(&expected)
        );
    }

    /// Should this ever fail, every cache in the world is cold: it had better be worth it.
    #[test]
    fn keys_stay_what_they_are() {
        assert_eq!(
            key(&identity(), &request(), 0),
            "be55b582aedbfd4bb3d4dbc911358265e56fc4ea93194e5753910b7b472d854b"
        );
    }

    #[test]
    fn every_part_changes_the_key() {
        let mut keys = BTreeSet::new();
        let mut count = 0;
        let mut add = |identity: &Identity, request: &Request, repeat| {
            keys.insert(key(identity, request, repeat));
            count += 1;
        };
        add(&identity(), &request(), 0);
        add(&identity(), &request(), 1);
        let identities: [fn(&mut Identity); 6] = [
            |identity| identity.provider = "command".to_owned(),
            |identity| identity.model = Some("judge-2".to_owned()),
            |identity| identity.model = None,
            |identity| identity.params["temperature"] = json!(0.1),
            // As doubles these two are the same number.
            |identity| identity.params["seed"] = json!(9_007_199_254_740_993_i64),
            |identity| identity.params["seed"] = json!(9_007_199_254_740_992_i64),
        ];
        for change in identities {
            let mut identity = identity();
            change(&mut identity);
            add(&identity, &request(), 0);
        }
        let requests: [fn(&mut Request); 10] = [
            |request| request.metric = "context_precision".to_owned(),
            |request| request.version = "2".to_owned(),
            |request| request.messages[1].content.push(' '),
            |request| request.messages[1].role = Role::Assistant,
            |request| request.messages.reverse(),
            |request| request.expect = Expect::Verdicts { items: 1 },
            |request| request.expect = Expect::Grade { low: 1, high: 10 },
            |request| request.items.push(String::new()),
            |request| request.evidence[0].push('b'),
            |request| request.evidence = vec!["a".to_owned()],
        ];
        for change in requests {
            let mut request = request();
            change(&mut request);
            add(&identity(), &request, 0);
        }
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn the_order_and_the_spelling_of_parameters_change_nothing() {
        let mut other = identity();
        other.params = json!({"seed": 7.0, "temperature": 0});
        assert_eq!(key(&other, &request(), 0), key(&identity(), &request(), 0));
    }

    #[test]
    fn a_key_reads_its_own_text_and_no_other() {
        let text = key(&identity(), &request(), 0);
        assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        for wrong in [
            "",
            &text[1..],
            &text.to_uppercase(),
            &"g".repeat(64),
            &"ü".repeat(32),
        ] {
            assert!(wrong.parse::<Key>().is_err(), "{wrong}");
        }
    }
}
