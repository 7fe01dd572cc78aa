//! Who answers: one attempt at one call, and what came of it.
//!
//! A provider does not retry, does not wait for a turn and keeps nothing: that is the judge's.

use std::time::Duration;

use metrics::FailureKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
}

/// What the server says about how much it still takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// Nobody should call before so long from now.
    pub wait: Option<Duration>,
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
