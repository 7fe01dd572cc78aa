//! The schedule: every metric on every sample, as fast as the judge allows.
//!
//! What needs no waiting (formulas, judges in place, cached answers) is computed on a few threads of its own. What needs a
//! call becomes a task, and only so many tasks exist at a time: memory does not grow with samples × metrics. The longest
//! expected call goes first, since the tail of a schedule is the long call that started last.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gate::results::is_too_large;
use metrics::{Answer, FailureKind, Metric, Outcome, Request, Sample, Step};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::cache::Key;
use crate::control::{Control, Ended};
use crate::dataset::Dataset;
use crate::judge::{Failure, Judge};
use crate::program::Programs;
use crate::progress::Progress;

/// Tasks beyond the calls under way, so that the next call is ready when one ends.
const READY: usize = 64;
/// Tasks that only wait for the call of an equal question.
const WAITERS: usize = 4096;
/// How long calls that were given up may take to end.
const LEAVE: Duration = Duration::from_secs(1);
/// A metric that asks more often than this goes round in circles.
pub(crate) const MOST_STEPS: usize = 64;

/// What a run computes.
#[derive(Debug)]
pub struct Job {
    /// The samples.
    pub dataset: Dataset,
    /// The metrics, in the order of the policy.
    pub metrics: Vec<Box<dyn Metric>>,
    /// Who judges.
    pub judge: Judge,
    /// Who embeds.
    pub embeddings: Option<Judge>,
    /// The programs that score.
    pub programs: Programs,
    /// Whether the first failed score ends the run.
    pub fail_fast: bool,
    /// Counts what happens.
    pub progress: Arc<Progress>,
    /// Ends the run early.
    pub control: Control,
}

/// What became of every metric on every sample.
#[derive(Debug)]
pub struct Outcomes {
    slots: Vec<OnceLock<Outcome>>,
    metrics: usize,
}

impl Outcomes {
    fn new(samples: usize, metrics: usize) -> Self {
        Outcomes {
            slots: std::iter::repeat_with(OnceLock::new)
                .take(samples * metrics)
                .collect(),
            metrics,
        }
    }

    /// The outcomes of one sample, in the order of the metrics; `None` where the run ended first.
    pub fn of(&self, sample: usize) -> impl Iterator<Item = Option<&Outcome>> {
        let start = sample * self.metrics;
        self.slots
            .iter()
            .skip(start)
            .take(self.metrics)
            .map(OnceLock::get)
    }

    /// True when nothing is missing.
    pub fn are_complete(&self) -> bool {
        self.slots.iter().all(|slot| slot.get().is_some())
    }

    /// How many scores there are.
    pub fn scores(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| matches!(slot.get(), Some(Outcome::Score { .. })))
            .count()
    }

    /// Puts a failure in the place of what was no failure; false when there is nothing to be replaced.
    fn revoke(&mut self, unit: Unit, failure: Outcome) -> bool {
        let slot = self.slots.get_mut(unit.sample * self.metrics + unit.metric);
        match slot.and_then(OnceLock::get_mut) {
            None | Some(Outcome::Failed { .. }) => false,
            Some(outcome) => {
                *outcome = failure;
                true
            }
        }
    }

    fn settle(&self, unit: Unit, outcome: Outcome) {
        if let Some(slot) = self.slots.get(unit.sample * self.metrics + unit.metric) {
            // Each unit is settled once.
            let _ = slot.set(outcome);
        }
    }
}

/// One metric on one sample.
#[derive(Debug, Clone, Copy)]
struct Unit {
    sample: usize,
    metric: usize,
}

/// Runs the job to its end, or to the end that its control sets.
///
/// Every unit has an outcome afterwards, unless the run ended early.
pub async fn execute(job: Arc<Job>) -> Outcomes {
    let samples = job.dataset.len();
    let metrics = job.metrics.len();
    job.progress.expect((samples * metrics) as u64);
    let outcomes = Arc::new(Outcomes::new(samples, metrics));
    let order = Arc::new(order(&job));
    let next = Arc::new(AtomicUsize::new(0));
    let window = Arc::new(Semaphore::new(job.judge.concurrency() + READY));
    let waiters = Arc::new(Semaphore::new(WAITERS.max(job.judge.concurrency() + READY)));
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let pullers: Vec<_> = (0..threads.min(8))
        .map(|_| {
            let puller = Puller {
                job: Arc::clone(&job),
                outcomes: Arc::clone(&outcomes),
                order: Arc::clone(&order),
                next: Arc::clone(&next),
                window: Arc::clone(&window),
                waiters: Arc::clone(&waiters),
            };
            let runtime = tokio::runtime::Handle::current();
            tokio::task::spawn_blocking(move || puller.pull(&runtime))
        })
        .collect();
    let all = async {
        for puller in pullers {
            match puller.await {
                Ok(mut tasks) => {
                    while let Some(ended) = tasks.join_next().await {
                        propagate(ended.map(drop));
                    }
                }
                Err(error) => propagate(Err(error)),
            }
        }
    };
    tokio::select! {
        () = all => {}
        // A formula on a long text looks at no signal; nobody waits for it.
        () = given_up(&job.control) => {}
    }
    let mut outcomes = Arc::try_unwrap(outcomes).unwrap_or_else(|shared| Outcomes {
        slots: shared.slots.clone(),
        metrics: shared.metrics,
    });
    revoke(&job, &mut outcomes, job.programs.end().await);
    outcomes
}

/// Makes failures of what turned out to be no scores.
fn revoke(job: &Job, outcomes: &mut Outcomes, scores: Vec<(usize, usize, Failure)>) {
    for (metric, sample, failure) in scores {
        if outcomes.revoke(Unit { sample, metric }, failed(failure.clone())) {
            job.progress.revoked();
            let sample = job.dataset.sample(sample);
            let id = sample.map_or_else(|_| String::new(), |sample| sample.id);
            ends_at_the_first(job, metric, &id, failure);
        }
    }
}

/// Waits until calls are given up, and a moment more for what they leave behind.
async fn given_up(control: &Control) {
    control.aborted().await;
    tokio::time::sleep(LEAVE).await;
}

/// A panic in a task is a bug, and must not become a missing score.
fn propagate(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

/// Samples in the order in which they are taken up: the longest expected call first.
///
/// What a call took earlier says more than the length of its sample; where only some are known, they say what a byte takes.
fn order(job: &Job) -> Vec<u32> {
    let samples = u32::try_from(job.dataset.len()).unwrap_or(u32::MAX);
    let mut order: Vec<u32> = (0..samples).collect();
    if job.judge.provider().in_place() {
        return order;
    }
    let size = |sample: u32| f64::from(job.dataset.size(sample as usize));
    let earlier: Vec<Option<f64>> = match job.judge.has_earlier_latencies() {
        true => order
            .iter()
            .map(|sample| earlier_latency(job, *sample))
            .collect(),
        false => Vec::new(),
    };
    let known = || {
        order
            .iter()
            .zip(&earlier)
            .filter_map(|(sample, latency)| Some((*sample, (*latency)?)))
    };
    let seconds: f64 = known().map(|(_, latency)| latency).sum();
    let bytes: f64 = known().map(|(sample, _)| size(sample)).sum();
    let a_byte = if seconds > 0.0 && bytes > 0.0 {
        seconds / bytes
    } else {
        1.0
    };
    let expected: Vec<f64> = order
        .iter()
        .map(|sample| {
            let latency = earlier.get(*sample as usize).copied().flatten();
            latency.unwrap_or_else(|| size(*sample) * a_byte)
        })
        .collect();
    let of = |sample: u32| expected.get(sample as usize).copied().unwrap_or(0.0);
    order.sort_by(|one, other| of(*other).total_cmp(&of(*one)));
    order
}

/// The longest that any first question about a sample took earlier.
fn earlier_latency(job: &Job, sample: u32) -> Option<f64> {
    let sample = job.dataset.sample(sample as usize).ok()?;
    let latencies = job
        .metrics
        .iter()
        .filter_map(|metric| match metric.step(&sample, &[]) {
            Step::Ask(request) => job.judge.earlier_latency(&request, 0),
            Step::Done(_) | Step::Embed(_) | Step::Run => None,
        });
    latencies.max_by(f64::total_cmp)
}

/// Takes up one sample after the other, on a thread that may block.
struct Puller {
    job: Arc<Job>,
    outcomes: Arc<Outcomes>,
    order: Arc<Vec<u32>>,
    next: Arc<AtomicUsize>,
    window: Arc<Semaphore>,
    waiters: Arc<Semaphore>,
}

impl Puller {
    fn pull(&self, runtime: &tokio::runtime::Handle) -> JoinSet<()> {
        let mut calls = Calls::new(runtime);
        while !self.job.control.is_stopping() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&sample) = self.order.get(at) else {
                break;
            };
            self.take_up(sample as usize, &mut calls);
        }
        calls.start();
        calls.tasks
    }

    fn take_up(&self, index: usize, calls: &mut Calls) {
        let sample = match self.job.dataset.sample(index) {
            Ok(sample) => Arc::new(sample),
            Err(error) => {
                let outcome = Outcome::Failed {
                    kind: FailureKind::Cancelled,
                    message: format!("the sample could not be read again: {error}"),
                };
                for metric in 0..self.job.metrics.len() {
                    let unit = Unit {
                        sample: index,
                        metric,
                    };
                    settle(&self.job, &self.outcomes, unit, "", outcome.clone());
                }
                return;
            }
        };
        for metric in 0..self.job.metrics.len() {
            if self.job.control.is_stopping() {
                return;
            }
            let unit = Unit {
                sample: index,
                metric,
            };
            let mut work = Work {
                job: Arc::clone(&self.job),
                outcomes: Arc::clone(&self.outcomes),
                sample: Arc::clone(&sample),
                unit,
                answers: Vec::new(),
            };
            let Some(call) = work.at_once() else {
                // Nobody knows when the next call comes.
                calls.start();
                continue;
            };
            let Some((waiter, slot)) = calls.places(&self.waiters, &self.window) else {
                return;
            };
            if self.job.control.is_stopping() {
                return;
            }
            calls.add(Ready {
                work,
                call,
                slot,
                waiter,
            });
        }
    }
}

/// A unit that needs a call and has its places.
struct Ready {
    work: Work,
    call: Call,
    slot: OwnedSemaphorePermit,
    waiter: OwnedSemaphorePermit,
}

/// The calls of one puller. They start a few at a time: each start wakes the thread that all of them run on.
struct Calls<'a> {
    runtime: &'a tokio::runtime::Handle,
    waiters: Places,
    slots: Places,
    ready: Vec<Ready>,
    tasks: JoinSet<()>,
}

impl<'a> Calls<'a> {
    /// How many start at once: few, since another puller's later and shorter ones overtake them meanwhile.
    const TOGETHER: usize = 4;

    fn new(runtime: &'a tokio::runtime::Handle) -> Self {
        Calls {
            runtime,
            waiters: Places::default(),
            slots: Places::default(),
            ready: Vec::new(),
            tasks: JoinSet::new(),
        }
    }

    /// A place among those who wait and one among those who call; waits where all are taken.
    fn places(
        &mut self,
        waiters: &Arc<Semaphore>,
        window: &Arc<Semaphore>,
    ) -> Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        if !(self.waiters.has_spare() && self.slots.has_spare()) {
            // Whoever is ready does not wait for the place of another.
            self.start();
        }
        self.runtime.block_on(async {
            let waiter = self.waiters.one(waiters).await?;
            Some((waiter, self.slots.one(window).await?))
        })
    }

    fn add(&mut self, ready: Ready) {
        self.ready.push(ready);
        if self.ready.len() >= Self::TOGETHER {
            self.start();
        }
    }

    /// Starts what is ready.
    fn start(&mut self) {
        if !self.ready.is_empty() {
            let batch = std::mem::take(&mut self.ready);
            self.tasks.spawn_on(run_all(batch), self.runtime);
        }
        while let Some(ended) = self.tasks.try_join_next() {
            propagate(ended);
        }
    }
}

/// Goes to the end of each.
async fn run_all(batch: Vec<Ready>) {
    let mut tasks = JoinSet::new();
    for ready in batch {
        tasks.spawn(ready.work.with_calls(ready.call, ready.slot, ready.waiter));
    }
    while let Some(ended) = tasks.join_next().await {
        propagate(ended);
    }
}

/// Places that were taken in advance: whoever waits for a few at a time is woken less often.
#[derive(Default)]
struct Places(Option<OwnedSemaphorePermit>);

impl Places {
    /// How many are taken at a time.
    const BATCH: u32 = 16;

    /// Whether [`Places::one`] would not wait.
    fn has_spare(&self) -> bool {
        self.0.as_ref().is_some_and(|spare| spare.num_permits() > 0)
    }

    /// One place; waits where all are taken. `None` never happens as long as the semaphore is open.
    async fn one(&mut self, of: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        if let Some(one) = self.0.as_mut().and_then(|spare| spare.split(1)) {
            return Some(one);
        }
        let mut batch = Arc::clone(of).acquire_many_owned(Self::BATCH).await.ok()?;
        let one = batch.split(1);
        self.0 = Some(batch);
        one
    }
}

/// One unit on its way to an outcome.
struct Work {
    job: Arc<Job>,
    outcomes: Arc<Outcomes>,
    sample: Arc<Sample>,
    unit: Unit,
    answers: Vec<Answer>,
}

/// What a unit has to wait for.
enum Call {
    /// The judge's answer to the question of a key.
    Ask(Key, Request),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// What a program says of the sample.
    Run,
}

impl Work {
    /// Goes as far as it can without waiting: the call that it needs then, where it does not come to its end.
    fn at_once(&mut self) -> Option<Call> {
        let job = Arc::clone(&self.job);
        let metric = job.metrics.get(self.unit.metric)?;
        while self.answers.len() < MOST_STEPS {
            match metric.step(&self.sample, &self.answers) {
                Step::Done(outcome) => {
                    self.settle(outcome);
                    return None;
                }
                Step::Ask(request) => match job.judge.answer_at_once(&request, 0) {
                    Ok(Ok(answer)) => self.answers.push(answer),
                    Ok(Err(failure)) => {
                        self.settle(failed(failure));
                        return None;
                    }
                    Err(key) => return Some(Call::Ask(key, request)),
                },
                Step::Embed(texts) => return Some(Call::Embed(texts)),
                Step::Run => return Some(Call::Run),
            }
        }
        self.settle(endless(metric.as_ref()));
        None
    }

    /// Goes to its end, call by call.
    async fn with_calls(
        mut self,
        mut call: Call,
        slot: OwnedSemaphorePermit,
        waiter: OwnedSemaphorePermit,
    ) {
        let job = Arc::clone(&self.job);
        let mut slot = Some(slot);
        loop {
            // Whoever waits for an equal question leaves his place to a call.
            let mut becomes_waiter = || drop(slot.take());
            let answer = match &call {
                Call::Ask(key, request) => {
                    Box::pin(job.judge.ask(*key, request, becomes_waiter)).await
                }
                Call::Run => {
                    // A program has turns of its own: whoever waits for one takes no place from the judge.
                    becomes_waiter();
                    let Unit { sample, metric } = self.unit;
                    job.programs
                        .run(metric, sample, &self.sample, &job.control)
                        .await
                }
                Call::Embed(texts) => match &job.embeddings {
                    Some(embeddings) => Box::pin(embeddings.embed(texts, becomes_waiter)).await,
                    None => Err(Failure {
                        kind: FailureKind::Refused,
                        message: "the metric needs [embeddings] in gate.toml".to_owned(),
                    }),
                },
            };
            match answer {
                Ok(answer) => self.answers.push(answer),
                Err(failure) => {
                    self.settle(failed(failure));
                    break;
                }
            }
            match self.at_once() {
                Some(next) => call = next,
                None => break,
            }
        }
        drop(waiter);
    }

    fn settle(&self, outcome: Outcome) {
        settle(
            &self.job,
            &self.outcomes,
            self.unit,
            &self.sample.id,
            outcome,
        );
    }
}

fn settle(job: &Job, outcomes: &Outcomes, unit: Unit, sample: &str, outcome: Outcome) {
    let outcome = match outcome {
        Outcome::Score { score, .. } if !score.is_finite() => Outcome::Failed {
            kind: FailureKind::NotANumber,
            message: format!("the score is {score}"),
        },
        // Results with it would be refused, all other scores with them.
        Outcome::Score { score, .. } if is_too_large(score) => Outcome::Failed {
            kind: FailureKind::NotANumber,
            message: format!("the score is {score:e}: too large to be one"),
        },
        other => other,
    };
    // What the end of the run took away is missing, not failed: the next run asks for it.
    if let Outcome::Failed {
        kind: FailureKind::Cancelled,
        ..
    } = outcome
        && job.control.is_stopping()
    {
        return;
    }
    let is_failed = matches!(outcome, Outcome::Failed { .. });
    if let Outcome::Failed { kind, message } = &outcome {
        let (kind, message) = (*kind, message.clone());
        ends_at_the_first(job, unit.metric, sample, Failure { kind, message });
    }
    outcomes.settle(unit, outcome);
    job.progress.settled(is_failed);
}

/// Ends the run at a failure, where it is to end at the first.
fn ends_at_the_first(job: &Job, metric: usize, sample: &str, failure: Failure) {
    if job.fail_fast {
        let metric = job.metrics.get(metric);
        job.control.end(Ended::FailFast {
            sample: sample.to_owned(),
            metric: metric.map_or_else(String::new, |metric| metric.info().name.clone()),
            failure,
        });
    }
}

fn failed(failure: Failure) -> Outcome {
    Outcome::Failed {
        kind: failure.kind,
        message: failure.message,
    }
}

fn endless(metric: &dyn Metric) -> Outcome {
    Outcome::Failed {
        kind: FailureKind::Inconsistent,
        message: format!(
            "{} asked {MOST_STEPS} times without an end",
            metric.info().name
        ),
    }
}
