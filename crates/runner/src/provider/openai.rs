//! Any server that speaks `OpenAI`'s protocol: chat completions and embeddings.

mod client;
mod failure;
mod limits;
mod transport;
mod wire;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use gate::policy::{Concurrency, ResponseFormat};
use metrics::{FailureKind, Message, Request};
use reqwest::header::HeaderMap;
use reqwest::{Client, StatusCode, Url};
use tokio::time::Instant;

use super::config::{Config, ConfigError, Server};
use super::redact::Redactor;
use super::{CallError, Completion, Embeddings, Scope};
use failure::Place;
pub(super) use wire::check_vectors;
use wire::{ChatBody, EmbedBody};

/// No answer of a judge is larger.
const MAX_BODY: usize = 16 << 20;

/// One server, and what was learned of it.
pub(super) struct OpenAi {
    client: Client,
    server: Server,
    timeout: Duration,
    chat_url: Url,
    embed_url: Url,
    address: String,
    redactor: Redactor,
    /// How the form of an answer is asked for: the strictest format that the server did not refuse.
    format: AtomicU8,
    /// True when the server knows `max_completion_tokens` and not `max_tokens`.
    says_completion_tokens: AtomicBool,
    /// False when the server refuses to give log-probabilities.
    knows_logprobs: AtomicBool,
    pause: Mutex<Option<Instant>>,
}

/// Ways to ask for the form of an answer, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Schema,
    Object,
    Text,
}

impl Format {
    const ALL: [Format; 3] = [Format::Schema, Format::Object, Format::Text];

    fn of(level: u8) -> Format {
        Format::ALL
            .get(usize::from(level))
            .copied()
            .unwrap_or(Format::Text)
    }
}

/// A status that is not 200, and what came with it.
struct Refusal {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl OpenAi {
    pub(super) fn new(
        config: &Config,
        server: &Server,
        redactor: Redactor,
    ) -> Result<OpenAi, ConfigError> {
        let connections = match config.concurrency() {
            Concurrency::Fixed(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Concurrency::Auto => usize::MAX,
        };
        let client = client::build(server, config.timeout(), connections)?;
        let address = address(&server.base_url);
        if server.key_env.is_some()
            && server.base_url.scheme() == "http"
            && !client::is_local(&server.base_url)
        {
            tracing::warn!("the key is sent to {address} without encryption: use https");
        }
        let format = match server.response_format {
            ResponseFormat::Auto | ResponseFormat::JsonSchema => 0,
            ResponseFormat::JsonObject => 1,
            ResponseFormat::Text => 2,
        };
        Ok(OpenAi {
            client,
            timeout: config.timeout(),
            chat_url: endpoint(&server.base_url, "chat/completions"),
            embed_url: endpoint(&server.base_url, "embeddings"),
            server: server.clone(),
            address,
            redactor,
            format: AtomicU8::new(format),
            says_completion_tokens: AtomicBool::new(false),
            knows_logprobs: AtomicBool::new(true),
            pause: Mutex::new(None),
        })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn pause(&self) -> Option<Instant> {
        let pause = *self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        pause.filter(|until| *until > Instant::now())
    }

    pub(super) async fn complete(
        &self,
        request: &Request,
        messages: &[Message],
    ) -> Result<Completion, CallError> {
        self.in_time(self.ask(request, messages)).await
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Result<Embeddings, CallError> {
        self.in_time(async {
            let body = EmbedBody {
                model: &self.server.model,
                input: texts,
                encoding_format: "float",
            };
            match self.post(&self.embed_url, &body).await? {
                Ok(answer) => {
                    wire::embeddings(&answer, texts.len()).map_err(|bad| self.bad_answer(bad))
                }
                Err(refusal) => Err(self.refused(&self.embed_url, &refusal)),
            }
        })
        .await
    }

    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        match tokio::time::timeout(self.timeout, call).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CallError::new(
                FailureKind::Timeout,
                Scope::PASSING,
                format!("no answer from {} in {:?}", self.address, self.timeout),
            )),
        }
    }

    /// Asks, and asks again with less where the server does not know a parameter; what it does not know is remembered.
    async fn ask(&self, request: &Request, messages: &[Message]) -> Result<Completion, CallError> {
        loop {
            let level = self.format.load(Ordering::Relaxed);
            let says_completion_tokens = self.says_completion_tokens.load(Ordering::Relaxed);
            let knows_logprobs = self.knows_logprobs.load(Ordering::Relaxed);
            let body = ChatBody::new(
                &self.server,
                messages,
                request.expect,
                Format::of(level),
                says_completion_tokens,
                knows_logprobs,
            );
            let refusal = match self.post(&self.chat_url, &body).await? {
                Ok(answer) => return wire::completion(&answer).map_err(|bad| self.bad_answer(bad)),
                Err(refusal) => refusal,
            };
            let said = failure::Said::of(&refusal.body);
            if knows_logprobs
                && wire::wants_logprobs(request.expect)
                && said.refuses_logprobs(refusal.status)
            {
                self.knows_logprobs.store(false, Ordering::Relaxed);
                tracing::debug!("{} gives no log-probabilities", self.address);
                continue;
            }
            let may_step_down = self.server.response_format == ResponseFormat::Auto
                && Format::of(level) != Format::Text
                && said.refuses_format(refusal.status);
            if may_step_down {
                // Of several calls that learn it at the same time, one steps down.
                let stepped = self.format.compare_exchange(
                    level,
                    level + 1,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                if stepped.is_ok() {
                    tracing::debug!(
                        "{} does not take a response format of {:?}: asking for {:?}",
                        self.address,
                        Format::of(level),
                        Format::of(level + 1)
                    );
                }
                continue;
            }
            if !says_completion_tokens
                && self.server.max_tokens.is_some()
                && said.asks_for_completion_tokens()
            {
                self.says_completion_tokens.store(true, Ordering::Relaxed);
                continue;
            }
            return Err(self.refused(&self.chat_url, &refusal));
        }
    }

    /// One request. The inner error is an answer whose status is not 200.
    async fn post(
        &self,
        url: &Url,
        body: &(impl serde::Serialize + ?Sized),
    ) -> Result<Result<Vec<u8>, Refusal>, CallError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            CallError::new(FailureKind::Refused, Scope::Call, error.to_string())
        })?;
        let sent = self.client.post(url.clone()).body(body).send().await;
        let mut response = sent.map_err(|error| self.not_sent(&error))?;
        let status = response.status();
        let content_type = wire::content_type(response.headers());
        let headers = std::mem::take(response.headers_mut());
        self.remember_pause(status, &headers);
        let body = self.read(response).await?;
        if status != StatusCode::OK {
            return Ok(Err(Refusal {
                status,
                headers,
                body,
            }));
        }
        if !wire::is_json(&body) {
            let content_type = content_type.unwrap_or_else(|| "no content type".to_owned());
            return Err(self.error(
                FailureKind::Unavailable,
                Scope::PASSING,
                &format!(
                    "{} answers with something else than JSON ({content_type}): is a proxy or a login page in between?",
                    self.address
                ),
            ));
        }
        Ok(Ok(body))
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Vec<u8>, CallError> {
        let expected = response
            .content_length()
            .and_then(|length| usize::try_from(length).ok())
            .unwrap_or(0);
        let mut body = Vec::with_capacity(expected.min(64 << 10));
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.not_sent(&error))?
        {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(self.error(
                    FailureKind::Unavailable,
                    Scope::Call,
                    &format!("{} answers with more than 16 MiB", self.address),
                ));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn remember_pause(&self, status: StatusCode, headers: &HeaderMap) {
        let Some(wait) = limits::pause(status, headers) else {
            return;
        };
        let Some(until) = Instant::now().checked_add(wait) else {
            return;
        };
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        *pause = Some(pause.map_or(until, |earlier| earlier.max(until)));
    }

    fn place<'a>(&'a self, url: &'a str) -> Place<'a> {
        Place {
            url,
            model: &self.server.model,
            key_env: self.server.key_env.as_deref(),
        }
    }

    fn refused(&self, url: &Url, refusal: &Refusal) -> CallError {
        let url = address(url);
        let wait = limits::retry_after(refusal.status, &refusal.headers);
        // Secrets go first: what is cut off later must not leave the half of one.
        let said = failure::Said::of(&refusal.body).without_secrets(&self.redactor);
        let error = failure::of(refusal.status, &said, wait, self.place(&url));
        self.error(error.kind, error.scope, &error.message)
    }

    fn bad_answer(&self, bad: wire::BadAnswer) -> CallError {
        match bad {
            wire::BadAnswer::Failed(status, body) => self.refused(
                &self.chat_url,
                &Refusal {
                    status,
                    headers: HeaderMap::new(),
                    body,
                },
            ),
            wire::BadAnswer::Refused(why) => {
                let why = super::readable::readable(&self.redactor.redact(&why));
                self.error(FailureKind::Refused, Scope::Call, &why)
            }
            wire::BadAnswer::Unreadable(why) => self.error(
                FailureKind::Unparsable,
                Scope::PASSING,
                &format!("the answer of {} cannot be read: {why}", self.address),
            ),
        }
    }

    fn not_sent(&self, error: &reqwest::Error) -> CallError {
        let error = transport::of(error, &self.address);
        self.error(error.kind, error.scope, &error.message)
    }

    fn error(&self, kind: FailureKind, scope: Scope, message: &str) -> CallError {
        CallError::new(kind, scope, self.redactor.redact(message))
    }
}

/// The address of one call; the query stays, since some services put their version there.
fn endpoint(base_url: &Url, path: &str) -> Url {
    let mut url = base_url.clone();
    url.set_path(&format!("{}/{path}", base_url.path().trim_end_matches('/')));
    url
}

/// For messages: without query, which may hold a key.
fn address(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}
