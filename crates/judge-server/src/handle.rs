//! One request and what the server says to it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::answer::{self, ChatRequest, ResponseFormat};
use crate::embed::{self, EmbedRequest};
use crate::settings::{Fault, Formats, Settings};
use crate::stats::Recorder;

/// Larger requests are not read.
const MAX_BODY: usize = 64 << 20;

/// The connection is closed without an answer.
#[derive(Debug)]
pub(crate) struct Dropped;

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("dropped, as it was asked for")
    }
}

impl std::error::Error for Dropped {}

/// What is sent.
pub(crate) enum Reply {
    Whole(Full<Bytes>),
    /// The first part of it; then the connection is closed.
    Cut {
        part: Option<Bytes>,
        length: u64,
        is_sent: bool,
    },
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Dropped;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Dropped>>> {
        match &mut *self {
            Reply::Whole(body) => Pin::new(body)
                .poll_frame(context)
                .map_err(|never: Infallible| match never {}),
            Reply::Cut { part, is_sent, .. } => match part.take() {
                Some(part) => Poll::Ready(Some(Ok(Frame::data(part)))),
                None if *is_sent => Poll::Ready(Some(Err(Dropped))),
                // What was written so far is sent only while nothing more is at hand.
                None => {
                    *is_sent = true;
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            },
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Reply::Whole(body) => body.size_hint(),
            Reply::Cut { length, .. } => SizeHint::with_exact(*length),
        }
    }
}

/// A status, headers of its own, and a body.
struct Said {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Said {
    fn ok(body: String) -> Self {
        Said {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body,
        }
    }

    fn error(status: StatusCode, kind: &str, code: Option<&str>, message: &str) -> Self {
        let error =
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
        Said {
            status,
            headers: HeaderMap::new(),
            body: error.to_string(),
        }
    }

    fn bad_request(message: &str) -> Self {
        Said::error(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            None,
            message,
        )
    }

    fn response(self, settings: &Settings, is_cut: bool) -> Response<Reply> {
        let mut body = self.body;
        if self.status == StatusCode::OK {
            for (from, to) in &settings.replacements {
                body = body.replace(from, to);
            }
        }
        let body = Bytes::from(body);
        let reply = match is_cut {
            true => Reply::Cut {
                length: body.len() as u64,
                part: Some(body.slice(..body.len() / 2)),
                is_sent: false,
            },
            false => Reply::Whole(Full::new(body)),
        };
        let mut response = Response::new(reply);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        *headers = self.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &settings.headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// Answers one request.
pub(crate) async fn handle(
    settings: &Settings,
    recorder: &Recorder,
    request: Request<Incoming>,
) -> Result<Response<Reply>, Dropped> {
    let (parts, body) = request.into_parts();
    let is_chat = match (&parts.method, parts.uri.path()) {
        (&Method::POST, "/v1/chat/completions") => true,
        (&Method::POST, "/v1/embeddings") => false,
        (&Method::GET, "/v1/models") => return Ok(models(settings).response(settings, false)),
        (&Method::GET, "/stats") => {
            let stats = recorder.stats().json().to_string();
            return Ok(Said::ok(stats).response(settings, false));
        }
        (&Method::POST, "/reset") => {
            recorder.reset();
            return Ok(Said::ok("{}".to_owned()).response(settings, false));
        }
        (_, path) => {
            let message = format!("there is no {} {path}", parts.method);
            let said = Said::error(StatusCode::NOT_FOUND, "not_found_error", None, &message);
            return Ok(said.response(settings, false));
        }
    };
    let body = Limited::new(body, MAX_BODY)
        .collect()
        .await
        .map_err(|_| Dropped)?
        .to_bytes();
    let mut call = recorder.call(&body, settings.recording);
    let fault = settings.faults.of(call.number);
    if let Some(said) = turned_away(settings, &parts.headers) {
        call.end(said.status.as_u16());
        return Ok(said.response(settings, false));
    }
    if fault == Some(Fault::TooMany) || !call.enter(settings.capacity) {
        call.end(429);
        return Ok(too_many(settings.retry_after).response(settings, false));
    }
    let latency = settings.latency.of(call.number);
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    let said = match fault {
        Some(Fault::Never) => std::future::pending().await,
        Some(Fault::Dropped) => return Err(Dropped),
        Some(Fault::Broken) => Said::error(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            None,
            "The server had an error while processing your request.",
        ),
        Some(Fault::Garbage) => chat_answer(settings, "", "I would rather not say.", &body),
        _ if is_chat => chat(settings, &body),
        _ => embeddings(settings, &body),
    };
    if fault == Some(Fault::Cut) {
        return Ok(said.response(settings, true));
    }
    call.end(said.status.as_u16());
    Ok(said.response(settings, false))
}

/// A wrong key, repeated as some servers do.
fn turned_away(settings: &Settings, headers: &HeaderMap) -> Option<Said> {
    let key = settings.key.as_deref()?;
    let given = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .map_or("", |value| value.strip_prefix("Bearer ").unwrap_or(value));
    (given != key).then(|| {
        Said::error(
            StatusCode::UNAUTHORIZED,
            "invalid_request_error",
            Some("invalid_api_key"),
            &format!("Incorrect API key provided: {given}."),
        )
    })
}

fn too_many(retry_after: Duration) -> Said {
    let mut said = Said::error(
        StatusCode::TOO_MANY_REQUESTS,
        "requests",
        Some("rate_limit_exceeded"),
        "Rate limit reached: too many requests.",
    );
    let (name, value) = match retry_after.subsec_nanos() {
        0 => ("retry-after", retry_after.as_secs().into()),
        _ => (
            "retry-after-ms",
            u64::try_from(retry_after.as_millis())
                .unwrap_or(u64::MAX)
                .into(),
        ),
    };
    said.headers.insert(name, value);
    said
}

fn models(settings: &Settings) -> Said {
    let id = settings.model.as_deref().unwrap_or("judge");
    Said::ok(
        json!({"object": "list", "data": [{"id": id, "object": "model", "owned_by": "judge-server"}]})
            .to_string(),
    )
}

fn unknown_model(settings: &Settings, model: &str) -> Option<Said> {
    let known = settings.model.as_deref()?;
    (model != known).then(|| {
        Said::error(
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            Some("model_not_found"),
            &format!("The model `{model}` does not exist or you do not have access to it."),
        )
    })
}

fn chat(settings: &Settings, body: &[u8]) -> Said {
    let request: ChatRequest<'_> = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => return Said::bad_request(&error.to_string()),
    };
    if let Some(said) = unknown_model(settings, &request.model) {
        return said;
    }
    let needs = match &request.response_format {
        None | Some(ResponseFormat::Text) => Formats::Text,
        Some(ResponseFormat::JsonObject) => Formats::Object,
        Some(ResponseFormat::JsonSchema { .. }) => Formats::Schema,
    };
    if needs > settings.formats {
        return Said::bad_request("This response_format type is not supported by this model.");
    }
    chat_answer(settings, &request.model, &answer::answer(&request), body)
}

fn chat_answer(settings: &Settings, model: &str, content: &str, body: &[u8]) -> Said {
    let prompt_tokens = body.len() as u64 / 4;
    let value: Value = json!({
        "id": "chatcmpl-0", "object": "chat.completion", "created": 1_796_000_000, "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                     "message": {"role": "assistant", "content": content, "refusal": null}}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": settings.tokens,
                  "total_tokens": prompt_tokens + settings.tokens},
    });
    Said::ok(value.to_string())
}

fn embeddings(settings: &Settings, body: &[u8]) -> Said {
    let request: EmbedRequest<'_> = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => return Said::bad_request(&error.to_string()),
    };
    if let Some(said) = unknown_model(settings, &request.model) {
        return said;
    }
    if request.input.texts().is_empty() {
        return Said::bad_request("'input' must not be empty");
    }
    Said::ok(embed::answer(&request, settings.dimensions).to_string())
}
