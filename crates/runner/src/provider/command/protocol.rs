//! The lines that are exchanged with a program.

use std::time::Duration;

use metrics::{Expect, FailureKind, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::openai::check_vectors;
use super::super::readable::readable;
use super::super::{
    CallError, Completion, Embeddings, Scope, Usage, name_as_far_as_known, usage_as_far_as_known,
};
use crate::program::Bad;

/// A question to the program.
#[derive(Debug, Serialize)]
pub(super) struct RequestLine<'a> {
    pub(super) id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    pub(super) metric: &'a str,
    pub(super) version: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) expect: Expect,
    pub(super) items: &'a [String],
    pub(super) evidence: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of_answer: Option<usize>,
}

/// Texts that need vectors.
#[derive(Debug, Serialize)]
pub(super) struct EmbedLine<'a> {
    pub(super) id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    pub(super) texts: &'a [String],
}

#[derive(Debug, Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default, deserialize_with = "name_as_far_as_known")]
    model: Option<String>,
    #[serde(default, deserialize_with = "usage_as_far_as_known")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Failure>,
    /// The answer itself.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Failure {
    Text(String),
    Full {
        #[serde(default)]
        kind: Option<String>,
        message: String,
        /// Seconds.
        #[serde(default)]
        retry_after: Option<f64>,
    },
}

fn envelope(line: &[u8], id: u64) -> Result<Envelope, Bad> {
    let envelope: Envelope =
        serde_json::from_slice(line).map_err(|error| Bad::unreadable(line, error))?;
    // Without it, one line too many would make every later answer that of another request.
    match envelope.id {
        Some(answered) if answered == id => {}
        Some(answered) => {
            return Err(Bad::Garbage(format!(
                "is for request {answered} instead of {id}"
            )));
        }
        // A failure is nobody's answer.
        None if envelope.error.is_some() => {}
        None => {
            return Err(Bad::Garbage(
                "has no `id`: repeat that of the request".to_owned(),
            ));
        }
    }
    match envelope.error {
        Some(error) => Err(Bad::Failed(failure(error))),
        None => Ok(envelope),
    }
}

/// `{"content": "…"}`, or the answer as an object of its own.
pub(super) fn completion(line: &[u8], id: u64) -> Result<Completion, Bad> {
    let mut envelope = envelope(line, id)?;
    let (text, is_computed) = match envelope.rest.remove("content") {
        Some(Value::String(text)) => (text, false),
        Some(_) => return Err(Bad::Garbage("has a content that is no text".to_owned())),
        None if envelope.rest.is_empty() => {
            return Err(Bad::Garbage(
                "has neither content nor verdicts nor grade".to_owned(),
            ));
        }
        None => (Value::Object(envelope.rest).to_string(), true),
    };
    Ok(Completion {
        text,
        model: envelope.model,
        usage: envelope.usage.unwrap_or_default(),
        is_cut: false,
        numerals: Vec::new(),
        is_computed,
    })
}

/// `{"vectors": [[…], …]}`
pub(super) fn embeddings(line: &[u8], id: u64, count: usize) -> Result<Embeddings, Bad> {
    let mut envelope = envelope(line, id)?;
    let vectors = envelope.rest.remove("vectors").unwrap_or_default();
    let vectors: Vec<Vec<f32>> = serde_json::from_value(vectors)
        .map_err(|error| Bad::Garbage(format!("has no vectors: {error}")))?;
    check_vectors(&vectors, count).map_err(|why| Bad::Garbage(format!("cannot be used: {why}")))?;
    Ok(Embeddings {
        vectors,
        model: envelope.model,
        usage: envelope.usage.unwrap_or_default(),
    })
}

fn failure(failure: Failure) -> CallError {
    let (kind, message, retry_after) = match failure {
        Failure::Text(message) => (None, message, None),
        Failure::Full {
            kind,
            message,
            retry_after,
        } => (kind, message, retry_after),
    };
    let passing = Scope::Passing {
        retry_after: retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    };
    let (kind, scope) = match kind.as_deref() {
        Some("timeout") => (FailureKind::Timeout, passing),
        Some("rate-limited") => (FailureKind::RateLimited, passing),
        Some("unavailable") => (FailureKind::Unavailable, passing),
        Some("auth") => (FailureKind::Auth, Scope::Run),
        Some("unparsable") => (FailureKind::Unparsable, Scope::Call),
        Some("inconsistent") => (FailureKind::Inconsistent, Scope::Call),
        _ => (FailureKind::Refused, Scope::Call),
    };
    CallError::new(kind, scope, readable(&message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> String {
        completion(line.as_bytes(), 7).unwrap().text
    }

    #[test]
    fn an_answer_is_text_or_the_object_itself() {
        assert_eq!(text(r#"{"id":7,"content":"plain"}"#), "plain");
        assert_eq!(
            text(r#"{"id":7,"grade":3,"reason":"so","model":"m"}"#),
            r#"{"grade":3,"reason":"so"}"#
        );
        let full = completion(
            br#"{"id":7,"verdicts":[],"model":"m","usage":{"prompt_tokens":5}}"#,
            7,
        )
        .unwrap();
        assert_eq!(full.text, r#"{"verdicts":[]}"#);
        assert!(full.is_computed);
        let quoted = completion(br#"{"id":7,"content":"{\"verdicts\":[]}"}"#, 7).unwrap();
        assert_eq!((quoted.text, quoted.is_computed), (full.text, false));
        assert_eq!(
            (full.model.as_deref(), full.usage.prompt_tokens),
            (Some("m"), Some(5))
        );
    }

    #[test]
    fn what_is_no_answer_is_garbage() {
        for line in [
            "hello",
            "[]",
            "{}",
            r#"{"id":8,"grade":1}"#,
            r#"{"id":7,"content":1}"#,
            r#"{"grade":1}"#,
            "",
        ] {
            let outcome = completion(line.as_bytes(), 7);
            assert!(
                matches!(outcome, Err(Bad::Garbage(_))),
                "{line}: {outcome:?}"
            );
        }
    }

    #[test]
    fn a_failure_has_a_kind() {
        let failed = |line: &str| match completion(line.as_bytes(), 7) {
            Err(Bad::Failed(error)) => error,
            other => panic!("{line}: {other:?}"),
        };
        let refused = failed(r#"{"id":7,"error":"no"}"#);
        assert_eq!(
            (refused.kind, refused.scope),
            (FailureKind::Refused, Scope::Call)
        );
        let limited =
            failed(r#"{"error":{"kind":"rate-limited","message":"slow","retry_after":1.5}}"#);
        let wait = Some(Duration::from_millis(1500));
        assert_eq!(limited.scope, Scope::Passing { retry_after: wait });
        assert_eq!(
            failed(r#"{"error":{"kind":"auth","message":"x"}}"#).scope,
            Scope::Run
        );
    }
}
