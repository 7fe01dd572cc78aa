//! Who answers: one attempt at one call, and what came of it.
//!
//! A provider does not retry, does not wait for a turn and keeps nothing: that is the judge's.
//!
//! ```text
//! [judge] ─▶ Config ─▶ Provider ─▶ openai     any server that speaks `OpenAI`'s protocol
//!                              ├─▶ command    a program of the user's
//!                              ├─▶ lexical    a formula over the words
//!                              └─▶ simulated  numbers from a hash, for dry runs
//! ```

mod command;
mod config;
mod hash;
mod lexical;
mod openai;
pub(crate) mod readable;
pub(crate) mod redact;
mod simulated;
mod vectors;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use metrics::{FailureKind, Message, Numeral, Reading, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

pub use config::{Config, ConfigError};

use redact::Redactor;

/// What identifies a judge: all of it is part of the cache key and of the provenance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Identity {
    /// `openai`, `command`, …
    pub provider: String,
    /// The model that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What else could change an answer: temperature, seed, …; an object.
    pub params: Value,
}

/// What an answer cost, as the server says it; unknown is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
}

/// Reads a name that may be anything: what is no text is unknown, and spoils no answer.
fn name_as_far_as_known<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    match Option::<Value>::deserialize(deserializer)? {
        Some(Value::String(name)) => Ok(Some(name)),
        _ => Ok(None),
    }
}

/// Reads a usage that may be anything: what is no number of tokens is unknown, and spoils no answer.
fn usage_as_far_as_known<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Usage>, D::Error> {
    let found = Option::<Value>::deserialize(deserializer)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and below 2^53"
    )]
    let whole = |number: f64| {
        let is_count = (0.0..9e15).contains(&number) && number.fract() == 0.0;
        is_count.then_some(number as u64)
    };
    let tokens = |key: &str| whole(found.as_ref()?.get(key)?.as_f64()?);
    Ok(Some(Usage {
        prompt_tokens: tokens("prompt_tokens"),
        completion_tokens: tokens("completion_tokens"),
    }))
}

/// An answer, not yet read.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// What the judge said.
    pub text: String,
    /// The model that answered, in its own words.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Usage,
    /// True when the answer was cut off at `max_tokens`.
    pub is_cut: bool,
    /// Its whole numbers with those likely in their place, where log-probabilities were asked for and the server gives them.
    pub numerals: Vec<Numeral>,
    /// True when a program or a formula computed it, which may know no quotes; false when a language model said it.
    pub is_computed: bool,
}

/// Vectors of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// One for each text, in their order, all of one length; every number is finite.
    pub vectors: Vec<Vec<f32>>,
    /// The model that answered, in its own words.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Usage,
}

/// How far a failure reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// It can pass: the same call may work later, not before `retry_after` when the server says so.
    Passing {
        /// From now.
        retry_after: Option<Duration>,
    },
    /// This call will never work; others may.
    Call,
    /// No call will work: a wrong key, an unknown model, an exhausted quota.
    Run,
}

impl Scope {
    /// It can pass, and the server does not say when.
    pub(crate) const PASSING: Scope = Scope::Passing { retry_after: None };
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// As results name it.
    pub kind: FailureKind,
    /// What happened, without secrets and cut to a readable length.
    pub message: String,
    /// How far it reaches.
    pub scope: Scope,
}

impl CallError {
    pub(crate) fn new(kind: FailureKind, scope: Scope, message: impl Into<String>) -> Self {
        CallError {
            kind,
            message: message.into(),
            scope,
        }
    }
}

/// Who answers. Dropping a call in the middle of it leaves nothing behind.
pub struct Provider {
    identity: Identity,
    redactor: Redactor,
    kind: Kind,
}

enum Kind {
    OpenAi(Box<openai::OpenAi>),
    Command(command::Command),
    Simulated(simulated::Simulated),
    Lexical,
}

impl Provider {
    /// Makes ready to call; nothing is called and nothing is started yet.
    pub fn new(config: &Config) -> Result<Provider, ConfigError> {
        let redactor = config.redactor();
        let kind = match config.kind() {
            config::Kind::OpenAi(server) => {
                let client = openai::OpenAi::new(config, server, redactor.clone())?;
                Kind::OpenAi(Box::new(client))
            }
            config::Kind::Command(judging) => {
                Kind::Command(command::Command::new(config, judging, redactor.clone()))
            }
            config::Kind::Simulated(simulation) => {
                Kind::Simulated(simulated::Simulated::new(simulation.clone()))
            }
            config::Kind::Lexical => Kind::Lexical,
        };
        Ok(Provider {
            identity: config.identity(),
            redactor,
            kind,
        })
    }

    /// What identifies it: no address, no secret, and not the response format, which is a way of asking.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Where it is, for messages: an address without credentials and query, a command, or a name.
    pub fn address(&self) -> String {
        match &self.kind {
            Kind::OpenAi(server) => server.address().to_owned(),
            Kind::Command(program) => program.address(),
            Kind::Simulated(_) | Kind::Lexical => self.identity.provider.clone(),
        }
    }

    /// True when it answers by computing, so that [`Provider::read_in_place`] does.
    pub fn in_place(&self) -> bool {
        match &self.kind {
            Kind::OpenAi(_) | Kind::Command(_) => false,
            Kind::Simulated(judge) => judge.is_in_place(),
            Kind::Lexical => true,
        }
    }

    /// The answer of a provider that is [in place](Provider::in_place), already read; `None` for the others.
    pub fn read_in_place(&self, request: &Request) -> Option<Result<Reading, CallError>> {
        match &self.kind {
            Kind::Lexical => Some(lexical::read(request)),
            Kind::Simulated(judge) if judge.is_in_place() => Some(Ok(judge.read(request))),
            _ => None,
        }
    }

    /// One attempt at an answer. `messages` are those of the request, or those of an attempt to repair an answer.
    pub async fn complete(
        &self,
        request: &Request,
        messages: &[Message],
    ) -> Result<Completion, CallError> {
        match &self.kind {
            Kind::OpenAi(server) => server.complete(request, messages).await,
            Kind::Command(program) => program.complete(request, messages).await,
            Kind::Simulated(judge) => Ok(judge.complete(request, messages).await),
            Kind::Lexical => lexical::complete(request),
        }
    }

    /// One attempt at the vectors of these texts.
    pub async fn embed(&self, texts: &[String]) -> Result<Embeddings, CallError> {
        match &self.kind {
            Kind::OpenAi(server) if !texts.is_empty() => server.embed(texts).await,
            Kind::Command(program) if !texts.is_empty() => program.embed(texts).await,
            Kind::Simulated(judge) => Ok(judge.embed(texts).await),
            _ => Ok(Embeddings {
                vectors: vectors::of(texts),
                model: None,
                usage: Usage::default(),
            }),
        }
    }

    /// Until when the server asked everybody to wait; `None` when it did not, or that time is over.
    pub fn pause(&self) -> Option<Instant> {
        match &self.kind {
            Kind::OpenAi(server) => server.pause(),
            _ => None,
        }
    }

    /// The text without the key and the other secrets, in whatever form they are quoted.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.redact(text)
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Ends the programs that it started, and waits for them a moment.
    pub async fn shut_down(&self) {
        if let Kind::Command(program) = &self.kind {
            program.shut_down().await;
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("identity", &self.identity)
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}
