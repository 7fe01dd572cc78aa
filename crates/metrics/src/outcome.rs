//! What comes of a metric and a sample.

use crate::request::{Reading, Request};

/// What a metric wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Nothing: this is what came of it.
    Done(Outcome),
    /// The judge's answer.
    Ask(Request),
    /// The embeddings of these texts.
    Embed(Vec<String>),
    /// What the program of a `command` says of the sample.
    Run,
}

/// What a step asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Of [`Step::Ask`].
    Reading(Reading),
    /// Of [`Step::Run`].
    Outcome(Outcome),
    /// Of [`Step::Embed`]: a vector for each text, in their order, all of one length.
    Embeddings(Vec<Vec<f32>>),
}

/// What becomes of one metric on one sample.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A score.
    Score {
        /// A finite number.
        score: f64,
        /// Why, in one sentence.
        reason: Option<String>,
    },
    /// The metric does not apply to the sample, and why.
    NotApplicable(String),
    /// There should be a score, and there is none.
    Failed {
        /// What kind of failure.
        kind: FailureKind,
        /// What happened.
        message: String,
    },
}

/// Kinds of failure, as results name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// No answer in time.
    Timeout,
    /// The server takes no more for now, and did not until the retries ran out.
    RateLimited,
    /// The server is down, or drops the connection.
    Unavailable,
    /// The key is not accepted.
    Auth,
    /// The server does not want this request.
    Refused,
    /// The answer cannot be read.
    Unparsable,
    /// The judge did not answer for what it was asked.
    Inconsistent,
    /// The application under test failed.
    Target,
    /// The run ended first.
    Cancelled,
    /// The answer is not in the cache, and nobody is called.
    NotRecorded,
    /// The score is no finite number.
    NotANumber,
}

impl FailureKind {
    /// The name, as results have it.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Timeout => "timeout",
            FailureKind::RateLimited => "rate-limited",
            FailureKind::Unavailable => "unavailable",
            FailureKind::Auth => "auth",
            FailureKind::Refused => "refused",
            FailureKind::Unparsable => "unparsable",
            FailureKind::Inconsistent => "inconsistent",
            FailureKind::Target => "target",
            FailureKind::Cancelled => "cancelled",
            FailureKind::NotRecorded => "not-recorded",
            FailureKind::NotANumber => "not-a-number",
        }
    }
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
