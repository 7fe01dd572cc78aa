//! A job from its start to its end: the runtime, the signals, the meter.

use std::sync::Arc;
use std::time::Duration;

use metrics::Metric;
use runner::cache::Cache;
use runner::control::{Control, Ended};
use runner::dataset::Dataset;
use runner::execute::{Job, Outcomes, execute};
use runner::program::Programs;
use runner::progress::{Progress, Snapshot};

use super::configure::JudgeSetup;
use super::logging::LogFormat;
use super::{meter, signals};
use crate::args::EvaluationArgs;
use crate::error::Error;

/// What is to be computed, and by whom.
pub(crate) struct Work {
    pub(crate) dataset: Dataset,
    pub(crate) metrics: Vec<Box<dyn Metric>>,
    pub(crate) judge: JudgeSetup,
    pub(crate) embeddings: Option<JudgeSetup>,
    pub(crate) programs: Programs,
    pub(crate) cache: Cache,
}

/// How.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    pub(crate) fail_fast: bool,
    pub(crate) quiet: bool,
    pub(crate) log_format: LogFormat,
    /// After so long it ends.
    pub(crate) deadline: Option<Duration>,
}

impl Manner {
    /// As the command line says, of whose time so much is over.
    pub(crate) fn of(args: &EvaluationArgs, over: Duration) -> Manner {
        Manner {
            fail_fast: args.fail_fast,
            quiet: args.quiet,
            log_format: args.log_format,
            deadline: args
                .deadline
                .map(|deadline| deadline.0.saturating_sub(over)),
        }
    }
}

/// What came of it.
pub(crate) struct CarriedOut {
    pub(crate) job: Arc<Job>,
    pub(crate) outcomes: Outcomes,
    pub(crate) counts: Snapshot,
    /// Why it ended early.
    pub(crate) ended: Option<Ended>,
}

/// Goes to the end of the work, or to that which a signal, the deadline or the judge sets.
pub(crate) fn carry_out(work: Work, manner: &Manner) -> Result<CarriedOut, Error> {
    // One thread bears thousands of calls a second, and wakes no other for each of them; what computes has its own threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Refused {
            message: format!("the machine gives no threads to run on: {error}"),
            help: None,
        })?;
    let progress = Arc::new(Progress::default());
    let control = Control::default();
    let cache = Arc::new(work.cache);
    let judge = work.judge.start(&cache, &progress, &control);
    let embeddings = work
        .embeddings
        .map(|embeddings| embeddings.start(&cache, &progress, &control));
    let job = Arc::new(Job {
        dataset: work.dataset,
        metrics: work.metrics,
        judge,
        embeddings,
        programs: work.programs,
        fail_fast: manner.fail_fast,
        progress: Arc::clone(&progress),
        control: control.clone(),
    });
    let meter = meter::start(&progress, manner.quiet, manner.log_format);
    let outcomes = runtime.block_on(async {
        signals::watch(&control);
        if let Some(deadline) = manner.deadline {
            signals::deadline(&control, deadline);
        }
        let outcomes = execute(Arc::clone(&job)).await;
        job.judge.provider().shut_down().await;
        outcomes
    });
    meter.stop();
    // Calls that were given up may still hold a socket; nobody waits for them.
    runtime.shutdown_background();
    Ok(CarriedOut {
        counts: progress.snapshot(),
        ended: control.ended().cloned(),
        job,
        outcomes,
    })
}

/// Why work ended early, as a clause.
pub(crate) fn why(ended: &Ended) -> String {
    match ended {
        Ended::Interrupted => "it was interrupted".to_owned(),
        Ended::Deadline => "the time for the run was up".to_owned(),
        Ended::FailFast {
            sample,
            metric,
            failure,
        } => format!("{metric} of sample `{sample}` failed: {failure}"),
        Ended::Fatal { failure, .. } => failure.message.clone(),
        Ended::Down {
            address, failure, ..
        } => format!("the judge at {address} gives no answers: {failure}"),
    }
}
