//! What is sent and what comes back.

use std::borrow::Cow;
use std::fmt;

use metrics::{Expect, Message, Numeral};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::de::{self, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::super::config::Server;
use super::super::readable::readable;
use super::super::{Completion, Embeddings, Usage, name_as_far_as_known, usage_as_far_as_known};
use super::Format;
use metrics::{schema, schema_name};

/// How many tokens are asked for at each place: the most that the protocol knows, and what `DeepEval` asks for.
const TOP_LOGPROBS: u8 = 20;

/// True where an answer is weighted by its probability.
pub(super) fn wants_logprobs(expect: Expect) -> bool {
    matches!(expect, Expect::WeightedGrade { .. })
}

/// The body of a chat completion.
#[derive(Debug, Serialize)]
pub(super) struct ChatBody<'a> {
    model: &'a str,
    messages: &'a [Message],
    temperature: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<FormatBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FormatBody {
    JsonObject,
    JsonSchema { json_schema: SchemaBody },
}

#[derive(Debug, Serialize)]
struct SchemaBody {
    name: &'static str,
    strict: bool,
    schema: Value,
}

impl<'a> ChatBody<'a> {
    pub(super) fn new(
        server: &'a Server,
        messages: &'a [Message],
        expect: Expect,
        format: Format,
        says_completion_tokens: bool,
        knows_logprobs: bool,
    ) -> Self {
        let (max_tokens, max_completion_tokens) = match says_completion_tokens {
            true => (None, server.max_tokens),
            false => (server.max_tokens, None),
        };
        let logprobs = (wants_logprobs(expect) && knows_logprobs).then_some(true);
        ChatBody {
            logprobs,
            top_logprobs: logprobs.map(|_| TOP_LOGPROBS),
            model: &server.model,
            messages,
            temperature: server.temperature,
            seed: server.seed,
            max_tokens,
            max_completion_tokens,
            response_format: match format {
                Format::Schema => Some(FormatBody::JsonSchema {
                    json_schema: SchemaBody {
                        name: schema_name(expect),
                        strict: true,
                        schema: schema(expect),
                    },
                }),
                Format::Object => Some(FormatBody::JsonObject),
                Format::Text => None,
            },
        }
    }
}

/// The body of an embedding.
#[derive(Debug, Serialize)]
pub(super) struct EmbedBody<'a> {
    pub(super) model: &'a str,
    pub(super) input: &'a [String],
    pub(super) encoding_format: &'static str,
}

/// An answer with status 200 that is none.
#[derive(Debug, PartialEq)]
pub(super) enum BadAnswer {
    /// An error under a wrong status.
    Failed(StatusCode, Vec<u8>),
    /// The model, or a filter before it, does not want to answer.
    Refused(String),
    /// It does not have the form that it should have.
    Unreadable(String),
}

#[derive(Debug, Deserialize)]
struct ChatAnswer<'a> {
    #[serde(default, deserialize_with = "name_as_far_as_known")]
    model: Option<String>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, deserialize_with = "usage_as_far_as_known")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    message: Option<Said<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "numerals_as_far_as_known")]
    logprobs: Vec<Numeral>,
}

#[derive(Debug, Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(default)]
    refusal: Option<String>,
}

/// Reads log-probabilities that may be anything: what has not their form is left out, and spoils no answer.
fn numerals_as_far_as_known<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Numeral>, D::Error> {
    let found = Option::<Value>::deserialize(deserializer)?.unwrap_or_default();
    let tokens = found.get("content").and_then(Value::as_array);
    let numeral = |token: &Value| {
        let likely = token.get("top_logprobs").and_then(Value::as_array);
        let likely = likely.into_iter().flatten().filter_map(|other| {
            Some((
                other.get("token")?.as_str()?,
                other.get("logprob")?.as_f64()?,
            ))
        });
        Numeral::of(token.get("token")?.as_str()?, likely)
    };
    Ok(tokens.into_iter().flatten().filter_map(numeral).collect())
}

/// What the judge said, or that it said nothing.
pub(super) fn completion(body: &[u8]) -> Result<Completion, BadAnswer> {
    let answer: ChatAnswer<'_> =
        serde_json::from_slice(body).map_err(|error| BadAnswer::Unreadable(error.to_string()))?;
    let Some(choice) = answer
        .choices
        .and_then(|choices| choices.into_iter().next())
    else {
        return Err(match answer.error {
            Some(_) => failed(body),
            None => BadAnswer::Unreadable("it has no choices".to_owned()),
        });
    };
    let numerals = choice.logprobs;
    let (content, refusal) = match choice.message {
        Some(said) => (said.content.0, said.refusal),
        None => (None, None),
    };
    let finish = choice.finish_reason.as_deref().unwrap_or_default();
    if finish == "content_filter" {
        return Err(BadAnswer::Refused(
            "the content filter of the server stopped the answer".to_owned(),
        ));
    }
    let is_cut = finish == "length";
    let content = content.filter(|content| !content.is_empty() || refusal.is_none());
    let text = match (content, refusal) {
        (None, Some(refusal)) => {
            return Err(BadAnswer::Refused(format!(
                "the model refuses: {}",
                readable(&refusal)
            )));
        }
        (Some(content), _) => content.into_owned(),
        // A model that thinks first may use up all its tokens before it says something.
        (None, None) if is_cut => String::new(),
        (None, None) => return Err(BadAnswer::Unreadable("it has no content".to_owned())),
    };
    Ok(Completion {
        text,
        model: answer.model,
        usage: answer.usage.unwrap_or_default(),
        is_cut,
        numerals,
        is_computed: false,
    })
}

/// An error that came with status 200; its code may be a status.
fn failed(body: &[u8]) -> BadAnswer {
    let code = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|value| value.pointer("/error/code")?.as_u64())
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| *code >= 400)
        .and_then(|code| StatusCode::from_u16(code).ok());
    BadAnswer::Failed(code.unwrap_or(StatusCode::BAD_GATEWAY), body.to_vec())
}

/// A text, nothing, or a list of parts of which those with text count.
#[derive(Debug, Default)]
struct Content<'a>(Option<Cow<'a, str>>);

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, null, or a list of parts")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Content<'de>, E> {
                Ok(Content(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content<'de>, E> {
                Ok(Content(Some(Cow::Owned(text.to_owned()))))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Content<'de>, E> {
                Ok(Content(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content<'de>, A::Error> {
                let mut text: Option<String> = None;
                while let Some(part) = parts.next_element::<Part>()? {
                    if let Some(part) = part.text {
                        text.get_or_insert_default().push_str(&part);
                    }
                }
                Ok(Content(text.map(Cow::Owned)))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}

#[derive(Debug, Deserialize)]
struct EmbedAnswer {
    #[serde(default, deserialize_with = "name_as_far_as_known")]
    model: Option<String>,
    #[serde(default)]
    data: Option<Vec<Embedding>>,
    #[serde(default, deserialize_with = "usage_as_far_as_known")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Embedding {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of `count` texts.
pub(super) fn embeddings(body: &[u8], count: usize) -> Result<Embeddings, BadAnswer> {
    let answer: EmbedAnswer =
        serde_json::from_slice(body).map_err(|error| BadAnswer::Unreadable(error.to_string()))?;
    let mut data = match answer.data {
        Some(data) => data,
        None if answer.error.is_some() => return Err(failed(body)),
        None => return Err(BadAnswer::Unreadable("it has no data".to_owned())),
    };
    if data.iter().all(|item| item.index.is_some()) {
        data.sort_by_key(|item| item.index);
    }
    let vectors: Vec<Vec<f32>> = data.into_iter().map(|item| item.embedding).collect();
    check_vectors(&vectors, count).map_err(BadAnswer::Unreadable)?;
    Ok(Embeddings {
        vectors,
        model: answer.model,
        usage: answer.usage.unwrap_or_default(),
    })
}

/// A vector for each text, all of one length, of finite numbers.
pub(in super::super) fn check_vectors(vectors: &[Vec<f32>], count: usize) -> Result<(), String> {
    if vectors.len() != count {
        return Err(format!(
            "it has {} vectors for {count} texts",
            vectors.len()
        ));
    }
    let length = vectors.first().map_or(1, Vec::len);
    if length == 0 || vectors.iter().any(|vector| vector.len() != length) {
        return Err("its vectors are empty, or not of one length".to_owned());
    }
    match vectors.iter().flatten().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err("a number of a vector is not finite".to_owned()),
    }
}

/// Begins as JSON does that could be an answer.
pub(super) fn is_json(body: &[u8]) -> bool {
    matches!(body.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// What the server says that it sent.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(readable(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str, finish: &str) -> Result<Completion, BadAnswer> {
        completion(
            format!(
                r#"{{"model":"m-1","choices":[{{"message":{message},"finish_reason":{finish}}}]}}"#
            )
            .as_bytes(),
        )
    }

    #[test]
    fn content_is_a_text_or_parts() {
        let text = |message: &str| said(message, "\"stop\"").unwrap().text;
        assert_eq!(text(r#"{"role":"assistant","content":"plain"}"#), "plain");
        assert_eq!(text(r#"{"content":"a \"b\"\n"}"#), "a \"b\"\n");
        assert_eq!(
            text(
                r#"{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}"#
            ),
            "ab"
        );
    }

    #[test]
    fn a_refusal_and_a_filter_are_no_answers() {
        let refusal = said(r#"{"content":null,"refusal":"I'm sorry"}"#, "\"stop\"");
        assert_eq!(
            refusal,
            Err(BadAnswer::Refused(
                "the model refuses: I'm sorry".to_owned()
            ))
        );
        assert_eq!(
            said(r#"{"content":"","refusal":"I'm sorry"}"#, "\"stop\""),
            refusal
        );
        assert_eq!(
            said(r#"{"content":"x","refusal":null}"#, "\"stop\"")
                .unwrap()
                .text,
            "x"
        );
        let filtered = said(r#"{"content":"half"}"#, "\"content_filter\"");
        assert!(matches!(filtered, Err(BadAnswer::Refused(_))));
    }

    #[test]
    fn an_answer_that_was_cut_off_says_so_even_when_it_is_empty() {
        assert!(
            said(r#"{"content":"{\"gra"}"#, "\"length\"")
                .unwrap()
                .is_cut
        );
        let empty = said(r#"{"content":null,"reasoning_content":"hm"}"#, "\"length\"").unwrap();
        assert_eq!((empty.text.as_str(), empty.is_cut), ("", true));
        let nothing = said(r#"{"content":null}"#, "null");
        assert_eq!(
            nothing,
            Err(BadAnswer::Unreadable("it has no content".to_owned()))
        );
    }

    #[test]
    fn an_error_under_a_good_status_is_an_error() {
        let body = br#"{"error":{"message":"slow down","code":429}}"#;
        assert_eq!(
            completion(body),
            Err(BadAnswer::Failed(
                StatusCode::TOO_MANY_REQUESTS,
                body.to_vec()
            ))
        );
        let body = br#"{"error":{"message":"oops","code":"x"},"choices":[]}"#;
        assert!(matches!(
            completion(body),
            Err(BadAnswer::Failed(StatusCode::BAD_GATEWAY, _))
        ));
    }

    #[test]
    fn usage_may_be_missing_or_partly_null() {
        let answer = completion(
            br#"{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":3,"completion_tokens":null,"cost":1.5}}"#,
        )
        .unwrap();
        assert_eq!(answer.usage.prompt_tokens, Some(3));
        assert_eq!(answer.usage.completion_tokens, None);
        assert_eq!(answer.model, None);
    }

    #[test]
    fn whole_numbers_come_with_what_was_likely_in_their_place() {
        let numerals = |logprobs: &str| {
            let body =
                format!(r#"{{"choices":[{{"message":{{"content":"7"}},"logprobs":{logprobs}}}]}}"#);
            completion(body.as_bytes()).unwrap().numerals
        };
        let whole = r#"{"content":[
            {"token":"grade","logprob":0,"top_logprobs":[{"token":"7","logprob":-1}]},
            {"token":" 7","logprob":-0.5,"bytes":[55],
             "top_logprobs":[{"token":" 7","logprob":-0.5,"bytes":null},{"token":"8","logprob":-1},{"token":"x","logprob":-2},
                             {"token":"6"},{"logprob":-3},4]},
            {"token":"9","logprob":0},{"token":5},7]}"#;
        let numeral = |said, likely: &[(i64, f64)]| Numeral {
            said,
            likely: likely.to_vec(),
        };
        assert_eq!(
            numerals(whole),
            [numeral(7, &[(7, -0.5), (8, -1.0)]), numeral(9, &[])]
        );
        for none in [
            "null",
            "7",
            "[]",
            "{}",
            r#"{"content":null}"#,
            r#"{"content":[[]]}"#,
        ] {
            assert_eq!(numerals(none), [], "{none}");
        }
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer = embeddings(
            br#"{"data":[{"index":1,"embedding":[0.5]},{"index":0,"embedding":[1]}],"model":"e"}"#,
            2,
        )
        .unwrap();
        assert_eq!(answer.vectors, [[1.0], [0.5]]);
        for bad in [
            r#"{"data":[{"embedding":[1]}]}"#,
            r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#,
            r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#,
            r#"{"data":[{"embedding":[1e300]},{"embedding":[1]}]}"#,
            r#"{"data":[{"embedding":[null]},{"embedding":[1]}]}"#,
        ] {
            let outcome = embeddings(bad.as_bytes(), 2);
            assert!(matches!(outcome, Err(BadAnswer::Unreadable(_))), "{bad}");
        }
    }
}
