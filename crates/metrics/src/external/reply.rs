//! The line that a program answers with.
//!
//! What the program means is taken as it is, and what is no number is said to be none. A line that is no answer at all is
//! an error: nobody knows which sample the next one belongs to.

use serde_json::{Map, Value};

use crate::outcome::{FailureKind, Outcome};

/// What can stand in an answer beside `id` and `reason`; one of them.
const MEANINGS: [&str; 3] = ["score", "not_applicable", "error"];

/// An answer of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The sample that it is about, where it says so.
    pub id: Option<String>,
    /// What came of it.
    pub outcome: Outcome,
}

/// Reads a line.
///
/// # Errors
///
/// What is wrong with a line that is no answer, to be put after "the answer".
pub fn reply(line: &[u8]) -> Result<Reply, String> {
    let object = match parse(line)? {
        Parsed::Object(object) => object,
        Parsed::TooLarge => {
            return Ok(Reply {
                id: None,
                outcome: not_a_number("a number of the answer is too large to be read"),
            });
        }
    };
    let has = |key: &&str| match object.get(*key) {
        // A score of null is one that is none, unless the rest says why.
        Some(Value::Null) => *key == "score" && !given(&object, &MEANINGS[1..]),
        value => value.is_some(),
    };
    let found: Vec<&str> = MEANINGS.into_iter().filter(has).collect();
    let outcome = match found[..] {
        ["score"] => score(&object),
        ["not_applicable"] => Outcome::NotApplicable(text(&object, "not_applicable")?),
        ["error"] => failure(&object)?,
        [] => return Err("has neither `score` nor `not_applicable` nor `error`".to_owned()),
        _ => return Err(format!("has both `{}`", found.join("` and `"))),
    };
    let id = match object.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => Some(id.clone()),
        Some(other) => Some(other.to_string()),
    };
    Ok(Reply { id, outcome })
}

fn given(object: &Map<String, Value>, keys: &[&str]) -> bool {
    let is_given = |key: &&str| object.get(*key).is_some_and(|value| !value.is_null());
    keys.iter().any(is_given)
}

enum Parsed {
    Object(Map<String, Value>),
    TooLarge,
}

fn parse(line: &[u8]) -> Result<Parsed, String> {
    let parsed = serde_json::from_slice(line).or_else(|error| {
        // Some languages write NaN and Infinity, which JSON does not have: the score is none, and the rest stands.
        match without_bare_tokens(line) {
            Some(tamed) => serde_json::from_slice(&tamed),
            None => Err(error),
        }
    });
    match parsed {
        Ok(Value::Object(object)) => Ok(Parsed::Object(object)),
        Ok(_) => Err("is no JSON object".to_owned()),
        Err(error) if error.to_string().contains("number out of range") => Ok(Parsed::TooLarge),
        Err(error) => Err(format!("is no JSON: {error}")),
    }
}

/// The line with `null` for each bare `NaN` and `Infinity`; `None` when there is none.
fn without_bare_tokens(line: &[u8]) -> Option<Vec<u8>> {
    let mut tamed = Vec::with_capacity(line.len());
    let (mut rest, mut in_text, mut changed) = (line, false, false);
    while let Some((&first, after)) = rest.split_first() {
        let token = [&b"-Infinity"[..], b"Infinity", b"NaN"]
            .into_iter()
            .find_map(|token| rest.strip_prefix(token));
        match token {
            Some(after) if !in_text => {
                tamed.extend_from_slice(b"null");
                (rest, changed) = (after, true);
                continue;
            }
            _ => {}
        }
        match (first, after) {
            (b'\\', [escaped, after @ ..]) if in_text => {
                tamed.extend_from_slice(&[first, *escaped]);
                rest = after;
                continue;
            }
            (b'"', _) => in_text = !in_text,
            _ => {}
        }
        tamed.push(first);
        rest = after;
    }
    changed.then_some(tamed)
}

fn score(object: &Map<String, Value>) -> Outcome {
    let reason = match object.get("reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => Some(reason.clone()),
        _ => None,
    };
    match object.get("score") {
        Some(Value::Number(number)) => match number.as_f64().filter(|score| score.is_finite()) {
            Some(score) => Outcome::Score { score, reason },
            None => not_a_number(&format!("the score {number} is too large")),
        },
        Some(Value::Bool(holds)) => Outcome::Score {
            score: f64::from(u8::from(*holds)),
            reason,
        },
        Some(Value::Null) | None => not_a_number("the score is null, NaN or infinite"),
        Some(other) => {
            let other = crate::reason::cut(&other.to_string(), 60);
            not_a_number(&format!("the score is {other}, which is no number"))
        }
    }
}

fn not_a_number(message: &str) -> Outcome {
    Outcome::Failed {
        kind: FailureKind::NotANumber,
        message: message.to_owned(),
    }
}

fn text(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    match object.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        _ => Err(format!("has no reason in `{key}`")),
    }
}

/// `{"error": "why"}`, or with a kind: `{"error": {"kind": "timeout", "message": "why"}}`.
fn failure(object: &Map<String, Value>) -> Result<Outcome, String> {
    let Some(Value::Object(error)) = object.get("error") else {
        return Ok(Outcome::Failed {
            kind: FailureKind::Refused,
            message: text(object, "error")?,
        });
    };
    let message = text(error, "message").map_err(|_| "has no `message` in `error`".to_owned())?;
    let kind = error.get("kind").and_then(Value::as_str);
    let kind = [
        FailureKind::Timeout,
        FailureKind::RateLimited,
        FailureKind::Unavailable,
        FailureKind::Auth,
        FailureKind::Unparsable,
        FailureKind::Inconsistent,
        FailureKind::Target,
        FailureKind::NotANumber,
    ]
    .into_iter()
    .find(|known| Some(known.name()) == kind)
    .unwrap_or(FailureKind::Refused);
    Ok(Outcome::Failed { kind, message })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str) -> Reply {
        reply(line.as_bytes()).unwrap_or_else(|why| panic!("{line}: {why}"))
    }

    fn failed(line: &str) -> (FailureKind, String) {
        match read(line).outcome {
            Outcome::Failed { kind, message } => (kind, message),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_score_is_a_number_with_a_reason_or_without() {
        for (line, expected) in [
            (r#"{"score": 0.5, "reason": "so"}"#, (0.5, Some("so"))),
            (r#"{"id": "q-1", "score": 3}"#, (3.0, None)),
            (r#"{"score": -1e3, "reason": " "}"#, (-1000.0, None)),
            (r#"{"score": true, "reason": null}"#, (1.0, None)),
            (r#"{"score": false, "more": [1]}"#, (0.0, None)),
            (r#"{"score": 1, "not_applicable": null}"#, (1.0, None)),
        ] {
            let Outcome::Score { score, reason } = read(line).outcome else {
                panic!("{line}");
            };
            assert_eq!((score, reason.as_deref()), expected, "{line}");
        }
        assert_eq!(
            read(r#"{"id": "q-1", "score": 3}"#).id.as_deref(),
            Some("q-1")
        );
        assert_eq!(read(r#"{"id": 7, "score": 3}"#).id.as_deref(), Some("7"));
    }

    #[test]
    fn what_is_no_number_is_said_to_be_none() {
        for line in [
            r#"{"score": NaN}"#,
            r#"{"id": "NaN", "score": -Infinity, "reason": "Infinity \" NaN"}"#,
            r#"{"score": Infinity}"#,
            r#"{"score": 1e999}"#,
            r#"{"score": "0.5"}"#,
            r#"{"score": "high"}"#,
            r#"{"score": null}"#,
            r#"{"score": [1]}"#,
        ] {
            let (kind, message) = failed(line);
            assert_eq!(kind, FailureKind::NotANumber, "{line}");
            assert!(message.contains("number") || message.contains("NaN"));
        }
        let kept = read(r#"{"id": "NaN", "score": NaN, "reason": "Infinity \" NaN"}"#);
        assert_eq!(kept.id.as_deref(), Some("NaN"));
    }

    #[test]
    fn a_program_may_decline() {
        assert_eq!(
            read(r#"{"score": null, "not_applicable": "no table"}"#).outcome,
            Outcome::NotApplicable("no table".to_owned())
        );
        assert_eq!(
            failed(r#"{"error": "no model"}"#),
            (FailureKind::Refused, "no model".to_owned())
        );
        assert_eq!(
            failed(r#"{"error": {"kind": "timeout", "message": "slow"}}"#),
            (FailureKind::Timeout, "slow".to_owned())
        );
        assert_eq!(
            failed(r#"{"error": {"kind": "cancelled", "message": "x"}}"#).0,
            FailureKind::Refused
        );
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (line, words) in [
            ("", "is no JSON"),
            ("loading model…", "is no JSON"),
            ("0.5", "is no JSON object"),
            ("NaN", "is no JSON object"),
            ("[]", "is no JSON object"),
            ("{}", "has neither"),
            (r#"{"scroe": 1}"#, "has neither"),
            (r#"{"score": 1, "error": "x"}"#, "has both"),
            (r#"{"not_applicable": true}"#, "has no reason"),
            (r#"{"error": {"kind": "timeout"}}"#, "has no `message`"),
            (r#"{"error": ""}"#, "has no reason"),
        ] {
            let why = reply(line.as_bytes()).unwrap_err();
            assert!(why.starts_with(words), "{line}: {why}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_an_answer_or_an_error(line in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(Reply { outcome: Outcome::Score { score, .. }, .. }) = reply(&line) {
                prop_assert!(score.is_finite());
            }
        }

        #[test]
        fn any_number_comes_through(score in any::<f64>()) {
            let line = format!("{{\"score\": {score:?}}}").replace("inf", "Infinity");
            match read(&line).outcome {
                Outcome::Score { score: found, .. } => prop_assert_eq!(found.to_bits(), score.to_bits()),
                outcome => prop_assert!(!score.is_finite(), "{outcome:?}"),
            }
        }
    }
}
