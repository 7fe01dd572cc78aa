//! Programs that score: a sample as one line there, an outcome as one line back.
//!
//! Nothing is kept and nothing is tried again: a sample whose program ended, was silent or printed something else has
//! failed, and the next one gets a new process. So have, once the run is over, the samples whose answers may be those of
//! others, since their program printed a line too many.

use std::path::Path;

use metrics::{Answer, FailureKind, Metric, Outcome, Sample};
use serde::Serialize;

use super::{Bad, Pool, Program};
use crate::breaker::Breaker;
use crate::control::{Control, Ended};
use crate::judge::Failure;
use crate::provider::redact::Redactor;
use crate::provider::{CallError, Provider, Scope};

/// The programs of a run's metrics.
#[derive(Debug, Default)]
pub struct Programs {
    /// In the order of the metrics; `None` for a metric that has no program.
    by_metric: Vec<Option<Scorer>>,
}

#[derive(Debug)]
struct Scorer {
    metric: String,
    pool: Pool,
    breaker: Breaker,
}

/// What a program gets: the sample, and for which metric.
#[derive(Serialize)]
struct Line<'a> {
    metric: &'a str,
    #[serde(flatten)]
    sample: &'a Sample,
}

impl Programs {
    /// The programs of these metrics; nothing is started yet.
    ///
    /// They run in `folder`, that of gate.toml, each in at most `workers` processes. What they say is freed from the
    /// secrets of `judges`, which are in their environment too.
    pub fn of<'a>(
        metrics: &[Box<dyn Metric>],
        folder: &Path,
        workers: usize,
        judges: impl IntoIterator<Item = &'a Provider>,
    ) -> Programs {
        let redactor = Redactor::of_all(judges.into_iter().map(Provider::redactor));
        let scorer = |metric: &dyn Metric| {
            let program = metric.program()?;
            Some(Scorer {
                metric: metric.info().name.clone(),
                pool: Pool::new(
                    Program {
                        command: program.command.clone(),
                        folder: folder.to_owned(),
                    },
                    workers,
                    program.timeout,
                    redactor.clone(),
                ),
                breaker: Breaker::new(workers),
            })
        };
        Programs {
            by_metric: metrics
                .iter()
                .map(|metric| scorer(metric.as_ref()))
                .collect(),
        }
    }

    /// What the program of a metric says of a sample, `index` being its place in the dataset.
    ///
    /// A program that cannot be started ends the run, and so does one that is silent again and again.
    pub(crate) async fn run(
        &self,
        metric: usize,
        index: usize,
        sample: &Sample,
        control: &Control,
    ) -> Result<Answer, Failure> {
        let Some(scorer) = self.by_metric.get(metric).and_then(Option::as_ref) else {
            return Err(Failure {
                kind: FailureKind::Refused,
                message: "no program belongs to the metric".to_owned(),
            });
        };
        let answer = tokio::select! {
            biased;
            () = control.aborted() => Err(cancelled()),
            answer = scorer.ask(index, sample, control) => answer,
        };
        match answer {
            Ok(outcome) => {
                scorer.breaker.closes();
                Ok(Answer::Outcome(outcome))
            }
            Err(error) => {
                scorer.ends_what_is_hopeless(&error, control);
                Err(Failure::from(error))
            }
        }
    }

    /// Ends the programs, and waits for them a moment. What comes back are the scores that are none after all: for each
    /// the place of its metric, that of its sample, and what happened.
    pub(crate) async fn end(&self) -> Vec<(usize, usize, Failure)> {
        let ends = self
            .by_metric
            .iter()
            .enumerate()
            .map(async |(metric, scorer)| {
                let Some(scorer) = scorer else {
                    return Vec::new();
                };
                let doubtful = scorer.pool.end().await;
                let failed = doubtful.into_iter().map(|sample| {
                    let failure = Failure {
                        kind: FailureKind::Unparsable,
                        message: scorer.pool.out_of_step(),
                    };
                    (metric, sample, failure)
                });
                failed.collect()
            });
        futures::future::join_all(ends).await.concat()
    }
}

impl Scorer {
    async fn ask(
        &self,
        index: usize,
        sample: &Sample,
        control: &Control,
    ) -> Result<Outcome, CallError> {
        let line = Line {
            metric: &self.metric,
            sample,
        };
        let turn = tokio::select! {
            biased;
            () = control.stopping() => Err(cancelled()),
            turn = self.pool.turn() => turn,
        };
        let read = |answer: &[u8]| read(answer, &sample.id);
        let outcome = self.pool.call_once(&turn?, index, &line, read).await?;
        Ok(match outcome {
            Outcome::Score { score, reason } => Outcome::Score {
                score,
                reason: reason.map(|reason| self.pool.redact(&reason)),
            },
            Outcome::NotApplicable(why) => Outcome::NotApplicable(self.pool.redact(&why)),
            Outcome::Failed { kind, message } => Outcome::Failed {
                kind,
                message: self.pool.redact(&message),
            },
        })
    }

    fn ends_what_is_hopeless(&self, error: &CallError, control: &Control) {
        let message = match error.scope {
            Scope::Run if error.kind != FailureKind::Cancelled => error.message.clone(),
            // A line that is no answer is one all the same: the program is there.
            _ if error.kind == FailureKind::Unparsable => return self.breaker.closes(),
            // Nothing is asked a second time, so each failed attempt is a sample given up.
            _ => match (self.breaker.opens(error)).or_else(|| self.breaker.gave_up(error)) {
                Some(count) => format!(
                    "`{}` gave no answer {count} times in a row; the last time: {}",
                    self.pool.address(),
                    error.message
                ),
                None => return,
            },
        };
        control.end(Ended::Fatal {
            address: self.pool.address(),
            failure: Failure {
                kind: error.kind,
                message: format!("{}: {message}", self.metric),
            },
        });
    }
}

/// The outcome, and whether the line names the sample.
fn read(line: &[u8], sample: &str) -> Result<(Outcome, bool), Bad> {
    let reply = metrics::reply(line).map_err(|why| Bad::unreadable(line, why))?;
    match reply.id {
        Some(id) if id != sample => Err(Bad::Garbage(format!(
            "is for sample `{id}` instead of `{sample}`"
        ))),
        id => Ok((reply.outcome, id.is_some())),
    }
}

fn cancelled() -> CallError {
    CallError::new(FailureKind::Cancelled, Scope::Call, "the run ended first")
}
