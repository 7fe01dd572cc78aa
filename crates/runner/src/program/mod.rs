//! Programs of the user's, as judges or as metrics: JSON lines in, JSON lines out.
//!
//! ```text
//! line ─▶ Pool ─▶ Worker (one process, one line at a time) ─▶ line ─▶ read ─▶ answer
//! ```
//!
//! Each worker is a process that answers one line after the other. A worker is taken out of the pool for the time of
//! a call, and comes back only with a good answer: whatever else happens, also that the call is dropped, ends it.

mod metric;
mod worker;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use metric::Programs;

use metrics::FailureKind;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::provider::readable::readable;
use crate::provider::redact::Redactor;
use crate::provider::{CallError, Scope};
use worker::{Ended, Worker};

/// A program that ended so often before it answered anything will not do better.
const MAX_DEATHS: u32 = 3;
/// How long a worker may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What is started, and where.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The program and its arguments; never empty.
    pub(crate) command: Vec<String>,
    /// Where it runs: the folder of gate.toml.
    pub(crate) folder: PathBuf,
}

/// An answer that is none.
#[derive(Debug)]
pub(crate) enum Bad {
    /// The program says that it cannot, in good form.
    Failed(CallError),
    /// Not of the form that it should have; the sentence begins after "the answer".
    Garbage(String),
}

impl Bad {
    /// A line that is not what it should be, and why.
    pub(crate) fn unreadable(line: &[u8], why: impl std::fmt::Display) -> Bad {
        let line = String::from_utf8_lossy(line.get(..1200).unwrap_or(line)).into_owned();
        Bad::Garbage(format!(
            "is not as it should be ({why}): {}",
            readable(&line)
        ))
    }
}

/// The workers of a program.
#[derive(Debug)]
pub(crate) struct Pool {
    program: Program,
    timeout: Duration,
    redactor: Redactor,
    turns: Semaphore,
    idle: Mutex<Vec<Worker>>,
    /// Workers that ended without an answer.
    deaths: AtomicU32,
    /// True once any worker gave a good answer.
    has_answered: AtomicBool,
}

impl Pool {
    /// Nothing is started yet. At most `workers` run at once, and each has `timeout` for an answer.
    pub(crate) fn new(
        program: Program,
        workers: usize,
        timeout: Duration,
        redactor: Redactor,
    ) -> Pool {
        Pool {
            program,
            timeout,
            redactor,
            turns: Semaphore::new(workers.clamp(1, Semaphore::MAX_PERMITS)),
            idle: Mutex::new(Vec::new()),
            deaths: AtomicU32::new(0),
            has_answered: AtomicBool::new(false),
        }
    }

    /// The command, for messages.
    pub(crate) fn address(&self) -> String {
        self.redactor
            .redact(&self.program.command.join(" "))
            .into_owned()
    }

    /// The text without secrets.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// One line there and one back, by a worker of its own, when it is its turn.
    pub(crate) async fn call<T>(
        &self,
        line: &impl serde::Serialize,
        read: impl Fn(&[u8]) -> Result<T, Bad>,
    ) -> Result<T, CallError> {
        let turn = self.turn().await?;
        self.call_in(&turn, line, read).await
    }

    /// Waits until a worker may be used.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, CallError> {
        self.turns.acquire().await.map_err(|_| closed())
    }

    /// One line there and one back, in a turn that [`Pool::turn`] gave.
    pub(crate) async fn call_in<T>(
        &self,
        _: &SemaphorePermit<'_>,
        line: &impl serde::Serialize,
        read: impl Fn(&[u8]) -> Result<T, Bad>,
    ) -> Result<T, CallError> {
        let mut line = serde_json::to_vec(line).map_err(|error| {
            CallError::new(FailureKind::Refused, Scope::Call, error.to_string())
        })?;
        line.push(b'\n');
        match tokio::time::timeout(self.timeout, self.exchange(&line)).await {
            Ok(Ok((worker, answer))) => self.finish(worker, read(&answer)),
            Ok(Err(error)) => Err(error),
            // The worker is dropped with the exchange, and killed by that.
            Err(_) => Err(CallError::new(
                FailureKind::Timeout,
                Scope::PASSING,
                format!("no answer from `{}` in {:?}", self.address(), self.timeout),
            )),
        }
    }

    fn start(&self) -> Result<Worker, CallError> {
        Worker::start(&self.program, &self.redactor).map_err(|error| {
            // Too many processes or open files pass; a program that is not there stays away.
            let is_missing = matches!(
                error.kind(),
                std::io::ErrorKind::NotFound
                    | std::io::ErrorKind::PermissionDenied
                    | std::io::ErrorKind::NotADirectory
                    | std::io::ErrorKind::InvalidInput
            );
            CallError::new(
                FailureKind::Unavailable,
                if is_missing {
                    Scope::Run
                } else {
                    Scope::PASSING
                },
                format!("cannot start `{}`: {error}", self.address()),
            )
        })
    }

    /// By an idle worker, or else by a new one.
    async fn exchange(&self, line: &[u8]) -> Result<(Worker, Vec<u8>), CallError> {
        if let Some(mut worker) = self.take_idle() {
            match worker.exchange(line).await {
                Ok(answer) => return Ok((worker, answer)),
                Err(Ended::TooLong) => return Err(self.too_long()),
                // Programs may end after some answers, and it may have done so just now: a new one is asked.
                Err(Ended::Exit) => {}
            }
        }
        let mut worker = self.start()?;
        match worker.exchange(line).await {
            Ok(answer) => Ok((worker, answer)),
            Err(Ended::TooLong) => Err(self.too_long()),
            Err(Ended::Exit) => Err(self.died(worker).await),
        }
    }

    fn too_long(&self) -> CallError {
        CallError::new(
            FailureKind::Unparsable,
            Scope::PASSING,
            format!(
                "`{}` answers with a line of more than 16 MiB",
                self.address()
            ),
        )
    }

    /// The program was started for this call and ended instead of answering.
    async fn died(&self, worker: Worker) -> CallError {
        let why = worker.last_words(GRACE).await;
        let deaths = self.deaths.fetch_add(1, Ordering::Relaxed) + 1;
        let mut message = format!("`{}` ended before it answered: {why}", self.address());
        // A program that has answered can do its work: it is one request that it dies of.
        let is_hopeless = deaths >= MAX_DEATHS && !self.has_answered.load(Ordering::Relaxed);
        let scope = match is_hopeless {
            true => {
                message.push_str("; so it did each time");
                Scope::Run
            }
            false => Scope::PASSING,
        };
        CallError::new(FailureKind::Unavailable, scope, message)
    }

    fn finish<T>(&self, worker: Worker, answer: Result<T, Bad>) -> Result<T, CallError> {
        match answer {
            Ok(answer) => {
                self.has_answered.store(true, Ordering::Relaxed);
                self.give_back(worker);
                Ok(answer)
            }
            Err(Bad::Failed(error)) => {
                self.give_back(worker);
                Err(CallError {
                    message: self.redactor.redact(&error.message).into_owned(),
                    ..error
                })
            }
            // What this worker says next may belong to this call: it is dropped, and killed by that.
            Err(Bad::Garbage(why)) => Err(CallError::new(
                FailureKind::Unparsable,
                Scope::PASSING,
                self.redactor
                    .redact(&format!("the answer of `{}` {why}", self.address())),
            )),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker that ended while it was idle is not the fault of the next call: it is passed over.
    fn take_idle(&self) -> Option<Worker> {
        let mut idle = self.idle();
        while let Some(mut worker) = idle.pop() {
            if worker.is_alive() {
                return Some(worker);
            }
        }
        None
    }

    fn give_back(&self, worker: Worker) {
        // Once it is shut down, nobody would take it out again.
        if !self.turns.is_closed() {
            self.idle().push(worker);
        }
    }

    /// No call is taken any more; idle workers may end by themselves, and are killed if they do not.
    pub(crate) async fn shut_down(&self) {
        self.turns.close();
        let workers = std::mem::take(&mut *self.idle());
        futures::future::join_all(workers.into_iter().map(|worker| worker.end(GRACE))).await;
    }
}

fn closed() -> CallError {
    CallError::new(
        FailureKind::Cancelled,
        Scope::Run,
        "the run ended before this call",
    )
}
