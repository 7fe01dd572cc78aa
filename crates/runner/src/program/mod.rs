//! Programs of the user's, as judges or as metrics: JSON lines in, JSON lines out.
//!
//! ```text
//! line ─▶ Pool ─▶ Worker (one process, one line at a time) ─▶ line ─▶ read ─▶ answer
//! ```
//!
//! Each worker is a process that answers one line after the other. A worker is taken out of the pool for the time of
//! a call, and comes back only with a good answer: whatever else happens, also that the call is dropped, ends it.
//!
//! A judge repeats the number of its request. A metric need not: its answers are told apart by their order, so that a line
//! too many makes each later one that of another sample. Such a line is looked for whenever the worker has nothing to do.

mod metric;
mod worker;

use std::collections::BTreeSet;
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
use worker::{Answered, Ended, Worker};

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
    /// Samples whose answers may be those of others.
    doubtful: Mutex<BTreeSet<usize>>,
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
            doubtful: Mutex::default(),
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
    ///
    /// The answer says what it is for, so that the line may be sent again where a worker ended before it answered.
    pub(crate) async fn call<T>(
        &self,
        line: &impl serde::Serialize,
        read: impl Fn(&[u8]) -> Result<T, Bad>,
    ) -> Result<T, CallError> {
        let _turn = self.turn().await?;
        let line = written(line)?;
        let (worker, answer) = self.in_time(self.exchange(&line)).await?;
        self.finish(worker, read(&answer))
    }

    /// Waits until a worker may be used.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, CallError> {
        self.turns.acquire().await.map_err(|_| closed())
    }

    /// One line there and one back about a sample, in a turn that [`Pool::turn`] gave. `read` says too whether the answer
    /// names the sample.
    ///
    /// The line reaches one worker at most. Whether the answer is for it may turn out only later: see [`Pool::end`].
    pub(crate) async fn call_once<T>(
        &self,
        _: &SemaphorePermit<'_>,
        sample: usize,
        line: &impl serde::Serialize,
        read: impl Fn(&[u8]) -> Result<(T, bool), Bad>,
    ) -> Result<T, CallError> {
        let line = written(line)?;
        let idle = self.take_in_step().await;
        let (mut worker, answer) = self.in_time(self.exchange_once(idle, &line)).await?;
        let answer = read(&answer).map(|(answer, is_named)| {
            worker.answered.last = Some(sample);
            if !is_named {
                worker.answered.unnamed.push(sample);
            }
            answer
        });
        if answer.is_ok() && self.is_out_of_step(&mut worker).await {
            let why = self.out_of_step();
            return Err(CallError::new(FailureKind::Unparsable, Scope::PASSING, why));
        }
        self.finish(worker, answer)
    }

    async fn in_time<T>(
        &self,
        exchange: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(outcome) => outcome,
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
                Err(Ended::Before | Ended::Exit) => {}
            }
        }
        self.exchange_with(self.start()?, line).await
    }

    /// By an idle worker, or by a new one: also when the idle one had ended before it was sent anything, but by no second
    /// one when it may have got the line.
    async fn exchange_once(
        &self,
        idle: Option<Worker>,
        line: &[u8],
    ) -> Result<(Worker, Vec<u8>), CallError> {
        let Some(mut worker) = idle else {
            return self.exchange_with(self.start()?, line).await;
        };
        match worker.exchange(line).await {
            Ok(answer) => Ok((worker, answer)),
            Err(Ended::TooLong) => Err(self.too_long()),
            Err(Ended::Before) => self.exchange_with(self.start()?, line).await,
            Err(Ended::Exit) => Err(self.died(worker).await),
        }
    }

    async fn exchange_with(
        &self,
        mut worker: Worker,
        line: &[u8],
    ) -> Result<(Worker, Vec<u8>), CallError> {
        match worker.exchange(line).await {
            Ok(answer) => Ok((worker, answer)),
            Err(Ended::TooLong) => Err(self.too_long()),
            Err(Ended::Before | Ended::Exit) => Err(self.died(worker).await),
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

    /// The program ended instead of answering.
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

    /// An idle worker that has printed nothing since its last answer; the others are dropped, and killed by that.
    async fn take_in_step(&self) -> Option<Worker> {
        while let Some(mut worker) = self.take_idle() {
            if !self.is_out_of_step(&mut worker).await {
                return Some(worker);
            }
        }
        None
    }

    /// Whether a worker has printed a line that nobody asked for. What it has answered is doubtful then.
    async fn is_out_of_step(&self, worker: &mut Worker) -> bool {
        let unread = worker.unread().await;
        if unread.is_empty() {
            return false;
        }
        // One that is not whole yet may become an answer.
        let whole = unread.strip_suffix(b"\n");
        let is_answer = whole.is_none_or(has_answer);
        self.doubts(std::mem::take(&mut worker.answered), is_answer);
        true
    }

    /// An answer too many makes a doubt of all that do not name their sample: any of them may be that of the sample before.
    /// Any other line is one too many for the last sample alone.
    fn doubts(&self, answered: Answered, is_answer: bool) {
        let mut doubtful = self.doubtful.lock().unwrap_or_else(PoisonError::into_inner);
        doubtful.extend(answered.last);
        if is_answer {
            doubtful.extend(answered.unnamed);
        }
    }

    /// What is said of samples that [`Pool::end`] names.
    pub(crate) fn out_of_step(&self) -> String {
        format!(
            "`{}` printed more lines than it was asked for, and which of them is for which sample cannot be told: let it \
             repeat `id` in each answer and print nothing else",
            self.address()
        )
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

    /// The same for workers whose answers are told apart by their order: the samples whose answers may be those of others.
    ///
    /// A program that is late by one line from the start is found out only here: its last answer is left.
    pub(crate) async fn end(&self) -> BTreeSet<usize> {
        self.turns.close();
        let workers = std::mem::take(&mut *self.idle());
        let ends = workers.into_iter().map(async |mut worker| {
            if self.is_out_of_step(&mut worker).await {
                return worker.end(GRACE).await;
            }
            let answered = std::mem::take(&mut worker.answered);
            // It may say farewell once its input has ended, as long as that is no answer.
            if has_answer(&worker.rest(GRACE).await) {
                self.doubts(answered, true);
            }
        });
        futures::future::join_all(ends).await;
        std::mem::take(&mut self.doubtful.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether one of these lines is an answer of a metric.
fn has_answer(lines: &[u8]) -> bool {
    lines
        .split(|byte| *byte == b'\n')
        .any(|line| metrics::reply(line).is_ok())
}

/// The line as it is sent.
fn written(line: &impl serde::Serialize) -> Result<Vec<u8>, CallError> {
    let mut line = serde_json::to_vec(line)
        .map_err(|error| CallError::new(FailureKind::Refused, Scope::Call, error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}

fn closed() -> CallError {
    CallError::new(
        FailureKind::Cancelled,
        Scope::Run,
        "the run ended before this call",
    )
}
