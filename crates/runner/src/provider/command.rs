//! A program of the user's that judges.

mod protocol;

use std::sync::atomic::{AtomicU64, Ordering};

use gate::policy::Concurrency;
use metrics::{Message, Request};

use super::config::{Config, Judging};
use super::redact::Redactor;
use super::{CallError, Completion, Embeddings};
use crate::program::Pool;
use protocol::{EmbedLine, RequestLine};

/// A program, and what it is asked with.
pub(super) struct Command {
    pool: Pool,
    model: Option<String>,
    next_id: AtomicU64,
}

impl Command {
    pub(super) fn new(config: &Config, judging: &Judging, redactor: Redactor) -> Command {
        let workers = match config.concurrency() {
            Concurrency::Fixed(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Concurrency::Auto => std::thread::available_parallelism().map_or(1, usize::from),
        };
        Command {
            pool: Pool::new(judging.program.clone(), workers, config.timeout(), redactor),
            model: judging.model.clone(),
            next_id: AtomicU64::new(1),
        }
    }

    /// The command, for messages.
    pub(super) fn address(&self) -> String {
        self.pool.address()
    }

    pub(super) async fn complete(
        &self,
        request: &Request,
        messages: &[Message],
    ) -> Result<Completion, CallError> {
        let id = self.id();
        let line = RequestLine {
            id,
            model: self.model.as_deref(),
            metric: &request.metric,
            version: &request.version,
            messages,
            expect: request.expect,
            items: &request.items,
            evidence: &request.evidence,
            of_answer: request.of_answer,
        };
        self.pool
            .call(&line, |answer| protocol::completion(answer, id))
            .await
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Result<Embeddings, CallError> {
        let id = self.id();
        let line = EmbedLine {
            id,
            model: self.model.as_deref(),
            texts,
        };
        self.pool
            .call(&line, |answer| {
                protocol::embeddings(answer, id, texts.len())
            })
            .await
    }

    fn id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// No call is taken any more.
    pub(super) async fn shut_down(&self) {
        self.pool.shut_down().await;
    }
}
