//! What a status that is not 200 means: what kind of failure, and how far it reaches.

use std::time::Duration;

use metrics::FailureKind;
use reqwest::StatusCode;
use serde_json::Value;

use super::super::readable::readable;
use super::super::redact::Redactor;
use super::super::{CallError, Scope};
use super::transport::PROXY_ADVICE;

/// Whom was asked, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The address of the call.
    pub(super) url: &'a str,
    /// The model that was asked for.
    pub(super) model: &'a str,
    /// The variable that holds the key; `None` when none was sent.
    pub(super) key_env: Option<&'a str>,
}

/// What the server says of its refusal. Servers have several forms for it.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// For people; the beginning of the body where nothing better was found.
    message: String,
    /// `type` and `code` of the error, in lower case.
    code: String,
    /// All of the body, in lower case.
    all: String,
}

impl Said {
    /// Reads the body of an error.
    pub(super) fn of(body: &[u8]) -> Said {
        let text = String::from_utf8_lossy(body);
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        // Google wraps its error into a list.
        let value = value.get(0).unwrap_or(&value);
        let error = value.get("error").unwrap_or(value);
        let message = [
            Some(error),
            error.get("message"),
            value.get("message"),
            value.get("detail"),
            error.pointer("/detail/0/msg"),
            value.pointer("/detail/0/msg"),
        ]
        .into_iter()
        .flatten()
        .find_map(Value::as_str);
        let word = |key: &str| match error.get(key) {
            Some(Value::String(word)) => word.to_lowercase(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let message = match message {
            Some(message) => message.to_owned(),
            None if value.is_null() && text.trim_start().starts_with('<') => {
                "the body is a web page".to_owned()
            }
            None => text.clone().into_owned(),
        };
        Said {
            message,
            code: format!("{} {} {}", word("type"), word("code"), word("status")),
            all: text.to_lowercase(),
        }
    }

    pub(super) fn without_secrets(mut self, redactor: &Redactor) -> Said {
        self.message = redactor.redact(&self.message).into_owned();
        self
    }

    /// True when the server does not know the response format, so that a simpler one may do.
    pub(super) fn refuses_format(&self, status: StatusCode) -> bool {
        matches!(status.as_u16(), 400 | 404 | 422 | 501)
            && self.mentions(&[
                "response_format",
                "json_schema",
                "json_object",
                "schema",
                "grammar",
            ])
            && !self.refuses_model()
    }

    /// True when the server wants `max_completion_tokens` instead of `max_tokens`.
    pub(super) fn asks_for_completion_tokens(&self) -> bool {
        self.mentions(&["max_completion_tokens"])
    }

    /// True when the server does not give log-probabilities, so that it has to be asked without.
    pub(super) fn refuses_logprobs(&self, status: StatusCode) -> bool {
        matches!(status.as_u16(), 400 | 404 | 422 | 501)
            && self.mentions(&["logprobs", "log probabilities", "logits"])
            && !self.refuses_model()
    }

    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.all.contains(word))
    }

    fn refuses_model(&self) -> bool {
        let message = self.message.to_lowercase();
        self.code.contains("model_not_found")
            || (message.contains("model")
                && [
                    "does not exist",
                    "not exist",
                    "not found",
                    "unknown model",
                    "invalid model",
                    "no such model",
                    "not a valid model",
                    "is not available",
                ]
                .iter()
                .any(|words| message.contains(words)))
    }

    /// True when no waiting helps: the money is used up, and not a share of a minute.
    fn is_out_of_money(&self) -> bool {
        let codes = [
            "insufficient_quota",
            "insufficient_balance",
            "insufficient_credits",
            "billing_hard_limit_reached",
            "billing_not_active",
            "account_deactivated",
        ];
        if codes.iter().any(|code| self.code.contains(code)) {
            return true;
        }
        // Gemini speaks of the billing plan also when a minute's share is used up, and then says when to come back.
        let comes_back = self.mentions(&["retrydelay", "retry in", "try again in", "per minute"]);
        !comes_back
            && self.mentions(&[
                "check your plan and billing",
                "billing hard limit",
                "insufficient balance",
                "insufficient credits",
            ])
    }

    fn is_filter(&self) -> bool {
        self.code.contains("content_filter")
            || self.mentions(&[
                "content_policy",
                "content management policy",
                "requires moderation",
                "flagged",
            ])
    }

    /// The key of gate.toml that the server does not take, if it is one that can be removed.
    fn unsupported_key(&self) -> Option<&'static str> {
        let refused = self.mentions(&[
            "unsupported",
            "not support",
            "unknown",
            "unrecognized",
            "unexpected",
            "not permitted",
            "extra",
            "deprecated",
        ]);
        refused
            .then(|| {
                ["temperature", "seed"]
                    .into_iter()
                    .find(|key| self.quotes(key))
            })
            .flatten()
    }

    /// True when the key is named as such, and not only a word of a sentence.
    fn quotes(&self, key: &str) -> bool {
        ["'", "\"", "`"]
            .iter()
            .any(|quote| self.all.contains(&format!("{quote}{key}")))
            || self.all.contains(&format!("parameter: {key}"))
            || self.all.contains(&format!("argument {key}"))
    }
}

/// What a refusal means. `wait` is how long the server asks to wait.
pub(super) fn of(
    status: StatusCode,
    said: &Said,
    wait: Option<Duration>,
    place: Place<'_>,
) -> CallError {
    let passing = Scope::Passing { retry_after: wait };
    let code = status.as_u16();
    let is_unknown = match code {
        400 | 422 => said.refuses_model(),
        404 | 405 | 410 | 501 | 505 => true,
        _ => false,
    };
    let (kind, scope, advice) = match code {
        401 | 403 if code == 401 || !said.is_filter() => {
            (FailureKind::Auth, Scope::Run, Some(key_advice(place)))
        }
        402 | 429 if code == 402 || said.is_out_of_money() => {
            (FailureKind::RateLimited, Scope::Run, Some(money_advice()))
        }
        407 => (FailureKind::Auth, Scope::Run, Some(PROXY_ADVICE.to_owned())),
        429 => (FailureKind::RateLimited, passing, None),
        200..300 | 408 | 409 | 425 | 500 | 502..=504 | 506..=599 => {
            (FailureKind::Unavailable, passing, None)
        }
        300..400 => (
            FailureKind::Refused,
            Scope::Run,
            Some("set base_url to where the server redirects to".to_owned()),
        ),
        _ if is_unknown => (FailureKind::Refused, Scope::Run, Some(model_advice(place))),
        400 | 422 if let Some(key) = said.unsupported_key() => {
            (FailureKind::Refused, Scope::Run, Some(key_to_remove(key)))
        }
        _ => (FailureKind::Refused, Scope::Call, None),
    };
    let words = readable(&said.message);
    let mut message = format!("{} answers {code}", place.url);
    if !words.is_empty() {
        message.push_str(": ");
        message.push_str(&words);
    }
    if let Some(advice) = advice {
        message.push_str(" (");
        message.push_str(&advice);
        message.push(')');
    }
    CallError::new(kind, scope, message)
}

fn key_advice(place: Place<'_>) -> String {
    match place.key_env {
        Some(name) => format!("check the key in the environment variable {name}"),
        None => "no key was sent: name the variable that holds it in api_key_env".to_owned(),
    }
}

fn money_advice() -> String {
    "the account has no credit left; waiting does not help".to_owned()
}

fn model_advice(place: Place<'_>) -> String {
    format!("check model = \"{}\" and base_url", place.model)
}

fn key_to_remove(key: &str) -> String {
    match key {
        // It is sent even when gate.toml does not have it.
        "temperature" => "this model takes no temperature but its own: set temperature = 1, or take another model".to_owned(),
        key => format!("remove `{key}` from gate.toml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(status: u16, body: &str) -> CallError {
        let place = Place {
            url: "http://h/v1/chat/completions",
            model: "m-1",
            key_env: Some("MY_KEY"),
        };
        let status = StatusCode::from_u16(status).unwrap();
        of(status, &Said::of(body.as_bytes()), None, place)
    }

    fn error(message: &str, code: &str) -> String {
        serde_json::json!({"error": {"message": message, "code": code, "type": null}}).to_string()
    }

    #[test]
    fn what_can_pass_is_tried_again() {
        for status in [408, 409, 425, 500, 502, 503, 504, 520, 529] {
            let failure = fail(status, "");
            assert_eq!(failure.kind, FailureKind::Unavailable, "{status}");
            assert_eq!(failure.scope, Scope::PASSING, "{status}");
        }
        let loading = fail(
            503,
            r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
        );
        assert_eq!(
            loading.message,
            "http://h/v1/chat/completions answers 503: Loading model"
        );
    }

    #[test]
    fn a_limit_passes_and_an_empty_account_does_not() {
        let scope = |status, body: &str| {
            let failure = fail(status, body);
            assert_eq!(failure.kind, FailureKind::RateLimited);
            failure.scope
        };
        assert_eq!(
            scope(
                429,
                &error("Rate limit reached for gpt-4o", "rate_limit_exceeded")
            ),
            Scope::PASSING
        );
        let plan = "You exceeded your current quota, please check your plan and billing details.";
        assert_eq!(scope(429, &error(plan, "insufficient_quota")), Scope::Run);
        assert_eq!(scope(429, &error(plan, "")), Scope::Run);
        let gemini = format!(
            r#"[{{"error":{{"code":429,"message":"{plan} Please retry in 33.2s.","status":"RESOURCE_EXHAUSTED"}}}}]"#
        );
        assert_eq!(scope(429, &gemini), Scope::PASSING);
        assert_eq!(scope(402, r#"{"error":"payment required"}"#), Scope::Run);
    }

    #[test]
    fn a_wrong_key_names_the_variable_and_the_address() {
        for status in [401, 403] {
            let failure = fail(status, &error("Invalid API Key", "401"));
            assert_eq!(
                (failure.kind, failure.scope),
                (FailureKind::Auth, Scope::Run)
            );
            assert!(failure.message.contains("MY_KEY"), "{failure}");
            assert!(failure.message.contains("http://h/v1"), "{failure}");
        }
        let flagged = fail(403, &error("Your input was flagged", "403"));
        assert_eq!(
            (flagged.kind, flagged.scope),
            (FailureKind::Refused, Scope::Call)
        );
    }

    #[test]
    fn an_unknown_model_ends_the_run_and_a_long_prompt_does_not() {
        for (status, body) in [
            (
                404,
                error("The model `m-1` does not exist", "model_not_found"),
            ),
            (404, r#"{"detail":"Not Found"}"#.to_owned()),
            (400, error("m-1 is not a valid model ID", "400")),
            (
                400,
                r#"{"object":"error","message":"The model `m-1` does not exist."}"#.to_owned(),
            ),
            (
                501,
                error("This server does not support embeddings.", "501"),
            ),
        ] {
            let failure = fail(status, &body);
            assert_eq!(
                (failure.kind, failure.scope),
                (FailureKind::Refused, Scope::Run),
                "{body}"
            );
            assert!(failure.message.contains("model = \"m-1\""), "{failure}");
        }
        for (status, body) in [
            (
                400,
                error("the request exceeds the available context size", "400"),
            ),
            (400, error("The response was filtered", "content_filter")),
            (413, "too large".to_owned()),
            (
                422,
                r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#.to_owned(),
            ),
        ] {
            let failure = fail(status, &body);
            assert_eq!(
                (failure.kind, failure.scope),
                (FailureKind::Refused, Scope::Call),
                "{body}"
            );
        }
        assert!(
            fail(422, r#"{"detail":[{"msg":"field required"}]}"#)
                .message
                .ends_with(": field required")
        );
    }

    #[test]
    fn a_parameter_that_is_not_taken_is_named() {
        let body = error(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
            "unsupported_value",
        );
        let failure = fail(400, &body);
        assert_eq!(failure.scope, Scope::Run);
        assert!(failure.message.contains("set temperature = 1"), "{failure}");
        let failure = fail(
            400,
            &error("Unknown parameter: 'seed'.", "unknown_parameter"),
        );
        assert!(
            failure.message.contains("remove `seed` from gate.toml"),
            "{failure}"
        );
    }

    #[test]
    fn a_format_is_refused_only_by_words_about_it() {
        let refuses = |status, body: &str| {
            Said::of(body.as_bytes()).refuses_format(StatusCode::from_u16(status).unwrap())
        };
        assert!(refuses(
            400,
            &error(
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
                ""
            )
        ));
        assert!(refuses(
            400,
            &error(
                "Automatic parser generation failed: JSON schema error at #: unrecognized type",
                ""
            )
        ));
        assert!(refuses(
            422,
            r#"{"detail":"response_format: extra fields not permitted"}"#
        ));
        assert!(!refuses(400, &error("context length exceeded", "")));
        assert!(!refuses(500, &error("json_schema", "")));
    }

    #[test]
    fn words_of_a_server_are_cut_and_shown_as_text() {
        let failure = fail(400, &error(&format!("\u{1b}[31m{}", "x".repeat(900)), ""));
        assert!(failure.message.contains("\\u{1b}[31m"), "{failure}");
        assert!(failure.message.chars().count() < 400);
        assert!(
            fail(502, "<html><body>Bad gateway</body></html>")
                .message
                .ends_with("the body is a web page")
        );
    }
}
