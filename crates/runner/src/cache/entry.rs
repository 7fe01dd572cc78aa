//! One answer as a file: what stands in it, and whether it is whole.

use jiff::Timestamp;
use metrics::Numeral;
use serde::{Deserialize, Serialize};

use super::key::{Key, Object, hex};
use crate::provider::Usage;

/// The value of `schema` in a file of the cache.
pub const SCHEMA: &str = "rag-gate/answer/1";

/// What every file of the cache begins with, as it is written.
const START: &str = "{\n  \"schema\": \"rag-gate/answer/1\"";

/// Largest file that is read as an answer, in bytes.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// An answer that was given once.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What the judge said, not yet read; for embeddings the JSON of the vectors.
    pub answer: String,
    /// The whole numbers of the answer with those likely in their place: what a weighted grade is computed from.
    pub numerals: Vec<Numeral>,
    /// Whether a program or a formula computed it, rather than a language model said it.
    pub is_computed: bool,
    /// The model that answered, in its own words.
    pub model: Option<String>,
    /// What the answer cost.
    pub usage: Usage,
    /// When it was given.
    pub at: Timestamp,
    /// How long it took, in seconds.
    pub latency_s: f64,
}

/// An entry under its key, as it is written; `check` is the SHA-256 of the canonical JSON of all the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    key: String,
    answer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    numerals: Vec<Numeral>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    computed: bool,
    model: Option<String>,
    usage: Usage,
    at: Timestamp,
    latency_s: f64,
    check: String,
}

/// What a file turns out to be.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// An answer, whole, and its key.
    Whole(Key, Entry),
    /// An answer once, and why it is none now.
    Damaged(String),
    /// Something that rag-gate has not written.
    Foreign,
}

/// The entry as a file of its own, a line a value.
pub(super) fn file(key: &Key, entry: &Entry) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(&document(key, entry)?)?;
    text.push(b'\n');
    Ok(text)
}

/// The entry as one line.
pub(super) fn line(key: &Key, entry: &Entry) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(&document(key, entry)?)?;
    text.push(b'\n');
    Ok(text)
}

fn document(key: &Key, entry: &Entry) -> serde_json::Result<Document> {
    // JSON writes them as null, which is no number when it is read.
    if !entry.latency_s.is_finite() {
        return Err(serde::ser::Error::custom("its latency is no finite number"));
    }
    let mut logprobs = entry.numerals.iter().flat_map(|numeral| &numeral.likely);
    if !logprobs.all(|(_, logprob)| logprob.is_finite()) {
        return Err(serde::ser::Error::custom(
            "a log-probability is no finite number",
        ));
    }
    let mut document = Document {
        schema: SCHEMA.to_owned(),
        key: key.to_string(),
        answer: entry.answer.clone(),
        numerals: entry.numerals.clone(),
        computed: entry.is_computed,
        model: entry.model.clone(),
        usage: entry.usage,
        at: entry.at,
        latency_s: entry.latency_s,
        check: String::new(),
    };
    document.check = check(&document);
    Ok(document)
}

/// The check of a document: over everything in it but itself.
fn check(document: &Document) -> String {
    // The names are in the order that the canonical form has them in.
    let mut object = Object::with_capacity(document.answer.len() * 9 / 8 + 512);
    object.plain("answer", &document.answer);
    object.plain("at", &document.at);
    if document.computed {
        object.plain("computed", &document.computed);
    }
    object.plain("key", &document.key);
    object.canonical("latency_s", &document.latency_s);
    object.plain("model", &document.model);
    if !document.numerals.is_empty() {
        object.canonical("numerals", &document.numerals);
    }
    object.plain("schema", &document.schema);
    object.canonical("usage", &document.usage);
    hex(&object.sha256())
}

/// Reads a file or a line.
pub(super) fn read(bytes: &[u8]) -> Found {
    let document: Document = match serde_json::from_slice(bytes) {
        Ok(document) => document,
        Err(_) if !is_ours(bytes) => return Found::Foreign,
        Err(error) => return Found::Damaged(error.to_string()),
    };
    if document.schema != SCHEMA {
        return Found::Foreign;
    }
    if check(&document) != document.check {
        return Found::Damaged("its content does not fit its check".to_owned());
    }
    match document.key.parse() {
        Ok(key) => Found::Whole(
            key,
            Entry {
                answer: document.answer,
                numerals: document.numerals,
                is_computed: document.computed,
                model: document.model,
                usage: document.usage,
                at: document.at,
                latency_s: document.latency_s,
            },
        ),
        Err(error) => Found::Damaged(format!("{error}")),
    }
}

/// Whether a file that cannot be read was an answer once: cut off anywhere, or left as NULs by a crash of the machine.
fn is_ours(bytes: &[u8]) -> bool {
    let start = START.as_bytes();
    let length = bytes.len().min(start.len());
    bytes[..length] == start[..length] || bytes.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::super::tests::{entry, key};
    use super::*;

    fn numerals() -> Vec<Numeral> {
        vec![Numeral {
            said: 7,
            likely: vec![(7, -0.105_360_515_657_826_3), (10, -1e-9)],
        }]
    }

    #[test]
    fn an_answer_keeps_what_its_weight_is_computed_from() {
        let mut entry = entry("7");
        let without = line(&key(1), &entry).unwrap();
        assert!(!String::from_utf8(without).unwrap().contains("numerals"));
        entry.numerals = numerals();
        let bytes = line(&key(1), &entry).unwrap();
        assert_eq!(read(&bytes), Found::Whole(key(1), entry.clone()));
        let changed = String::from_utf8(bytes).unwrap().replace("[10,", "[9,");
        assert!(matches!(read(changed.as_bytes()), Found::Damaged(_)));
        // What JSON has no number for is not stored.
        entry.numerals[0].likely[0].1 = f64::NEG_INFINITY;
        assert!(line(&key(1), &entry).is_err());
    }

    /// Whether a missing quote is forgiven depends on it.
    #[test]
    fn an_answer_keeps_whether_it_was_computed() {
        let mut entry = entry("{}");
        let said = String::from_utf8(line(&key(1), &entry).unwrap()).unwrap();
        assert!(!said.contains("computed"));
        entry.is_computed = true;
        let computed = String::from_utf8(line(&key(1), &entry).unwrap()).unwrap();
        assert_eq!(read(computed.as_bytes()), Found::Whole(key(1), entry));
        let forged = said.replace("\"model\"", "\"computed\":true,\"model\"");
        assert!(matches!(read(forged.as_bytes()), Found::Damaged(_)));
    }

    #[test]
    fn a_file_gives_back_what_was_put_into_it() {
        let mut entry = entry("a \"quoted\"\nanswer 🦦");
        for model in [None, Some("judge-1".to_owned())] {
            entry.model = model;
            for bytes in [
                file(&key(1), &entry).unwrap(),
                line(&key(1), &entry).unwrap(),
            ] {
                assert_eq!(read(&bytes), Found::Whole(key(1), entry.clone()));
            }
        }
    }

    #[test]
    fn the_check_is_the_hash_of_the_canonical_json_of_the_rest() {
        let mut entry = entry("a \"quoted\"\nanswer 🦦\u{1}");
        entry.latency_s = 1e-7;
        entry.usage.completion_tokens = Some(3);
        entry.numerals = numerals();
        entry.is_computed = true;
        let bytes = line(&key(1), &entry).unwrap();
        let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let check = value.as_object_mut().unwrap().remove("check").unwrap();
        let canonical = serde_json_canonicalizer::to_vec(&value).unwrap();
        assert_eq!(check, hex(&Sha256::digest(canonical)));
    }

    #[test]
    fn a_file_that_was_cut_off_anywhere_is_damaged() {
        let bytes = file(&key(1), &entry("answer")).unwrap();
        // Without the line feed at its end it is still whole.
        for length in 0..bytes.len() - 1 {
            assert!(
                matches!(read(&bytes[..length]), Found::Damaged(_)),
                "{length}"
            );
        }
        assert!(matches!(read(&[0; 100]), Found::Damaged(_)));
    }

    #[test]
    fn a_file_that_was_changed_is_damaged() {
        let text = String::from_utf8(file(&key(1), &entry("yes")).unwrap()).unwrap();
        for (from, to) in [
            ("\"yes\"", "\"no\""),
            ("judge-1", "judge-2"),
            ("2026", "2025"),
            ("0.25", "0.5"),
            ("12", "13"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            assert!(
                matches!(read(changed.as_bytes()), Found::Damaged(_)),
                "{from}"
            );
        }
        let other = text.replace(&key(1).to_string(), &key(2).to_string());
        assert!(matches!(read(other.as_bytes()), Found::Damaged(_)));
    }

    #[test]
    fn what_somebody_else_wrote_is_foreign() {
        let newer = String::from_utf8(line(&key(1), &entry("yes")).unwrap())
            .unwrap()
            .replace("answer/1", "answer/2");
        for text in ["{}", "[1]", "hello", "{\"schema\": \"x\"}", newer.as_str()] {
            assert_eq!(read(text.as_bytes()), Found::Foreign, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_stored() {
        let mut entry = entry("yes");
        entry.latency_s = f64::NAN;
        assert!(file(&key(1), &entry).is_err());
    }
}
