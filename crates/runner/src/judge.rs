//! The judge: one question in, one answer out, paid once.
//!
//! ```text
//! Request ─▶ answered here? ─▶ in the cache? ─▶ under way? ─▶ turn (permit, rpm, tpm, pause) ─▶ Provider
//!                                                  └─ waits for the flight of its equal        └─ retries, one repair
//! ```
//!
//! Whatever fails is said as a [`Failure`] and never kept: the same question is asked again in the next run.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder, Retryable};
use futures::future::BoxFuture;
use gate::policy::CacheMode;
use metrics::{Answer, FailureKind, Message, Request};
use tokio::sync::Semaphore;

use crate::breaker::Breaker;
use crate::cache::{Cache, Entry, Key, KeyParts};
use crate::control::{Control, Ended};
use crate::limits::Limits;
use crate::progress::Progress;
use crate::provider::{CallError, Completion, Embeddings, Identity, Provider, Scope, Usage};

/// Answers that are kept in memory for their equals, in bytes.
const MEMORY: u64 = 64 << 20;

/// So much of a model's name is kept, in characters.
const LONGEST_NAME: usize = 200;

/// So much of an answer that cannot be read stands in its failure, in characters.
const SHOWN_ANSWER: usize = 300;

/// Shorter waits need no word.
const WORTH_SAYING: Duration = Duration::from_secs(5);

/// How a judge is used.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Most calls under way at once, from 1 up.
    pub concurrency: usize,
    /// How often a call that failed is tried again.
    pub retries: u32,
    /// The wait before the first retry; each further one doubles it, with jitter.
    pub backoff: Duration,
    /// The longest wait that a server may ask for.
    pub patience: Duration,
    /// Most calls a minute.
    pub rpm: Option<u32>,
    /// Most tokens a minute.
    pub tpm: Option<u32>,
    /// What tokens cost.
    pub price: Option<gate::policy::PriceSection>,
    /// Whether equal questions share an answer while they are asked. Off only to measure what it saves.
    pub single_flight: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            concurrency: 8,
            retries: 4,
            backoff: Duration::from_millis(500),
            patience: Duration::from_mins(10),
            rpm: None,
            tpm: None,
            price: None,
            single_flight: true,
        }
    }
}

/// A question that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// As results name it.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
}

/// A provider with everything that makes its answers cheap and its failures bearable.
#[derive(Debug)]
pub struct Judge {
    provider: Provider,
    settings: Settings,
    cache: Arc<Cache>,
    permits: Semaphore,
    limits: Limits,
    /// Answers of this run, and the flights that will bring one.
    flights: moka::future::Cache<Key, Arc<Answer>>,
    /// Keys of the calls under way: whoever finds his here only waits.
    under_way: Mutex<HashSet<Key>>,
    breaker: Breaker,
    reported_model: Mutex<Option<String>>,
    /// Until when everybody waits, as far as it was said.
    said_until: Mutex<Option<tokio::time::Instant>>,
    progress: Arc<Progress>,
    control: Control,
}

impl Judge {
    /// A judge that counts into `progress` and stops with `control`.
    pub fn new(
        provider: Provider,
        settings: Settings,
        cache: Arc<Cache>,
        progress: Arc<Progress>,
        control: Control,
    ) -> Judge {
        let flights = moka::future::Cache::builder()
            .max_capacity(MEMORY)
            .weigher(|_, answer: &Arc<Answer>| weight(answer))
            .build();
        Judge {
            permits: Semaphore::new(settings.concurrency.max(1)),
            limits: Limits::new(settings.rpm, settings.tpm),
            breaker: Breaker::new(settings.concurrency),
            flights,
            under_way: Mutex::default(),
            reported_model: Mutex::default(),
            said_until: Mutex::default(),
            provider,
            settings,
            cache,
            progress,
            control,
        }
    }

    /// Who answers.
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Provider, model and parameters.
    pub fn identity(&self) -> &Identity {
        self.provider.identity()
    }

    /// Most calls under way at once.
    pub fn concurrency(&self) -> usize {
        self.settings.concurrency.max(1)
    }

    /// The model that answered, in its own words; `None` as long as nobody said it.
    pub fn reported_model(&self) -> Option<String> {
        locked(&self.reported_model).clone()
    }

    /// The answer, where it takes no waiting: computed in place, or in the cache. Else the key to [`Judge::ask`] with.
    pub fn answer_at_once(
        &self,
        request: &Request,
        repeat: u32,
    ) -> Result<Result<Answer, Failure>, Key> {
        if self.provider.in_place() {
            let flight = self.progress.starts();
            if let Some(reading) = self.provider.read_in_place(request) {
                drop(flight);
                self.progress.requested();
                self.progress.called();
                return Ok(reading.map(Answer::Reading).map_err(Failure::from));
            }
        }
        let key = self.key(request, repeat);
        let read = |entry: &Entry| read(request, entry);
        let answer = self.recorded(&key, read).ok_or(key)?;
        self.progress.requested();
        Ok(Ok(answer))
    }

    /// Asks the question of a key. `becomes_waiter` is called when an equal question is under way and this one will only
    /// wait for its answer.
    pub async fn ask(
        &self,
        key: Key,
        request: &Request,
        becomes_waiter: impl FnOnce(),
    ) -> Result<Answer, Failure> {
        let read = |entry: &Entry| read(request, entry);
        let outcome = self
            .fly(key, becomes_waiter, async {
                if let Some(answer) = self.recorded(&key, read) {
                    return Ok(answer);
                }
                self.refuse_in_replay()?;
                self.judged(&key, request).await
            })
            .await;
        self.counts(&outcome);
        outcome
    }

    /// Asks for embeddings.
    pub async fn embed(
        &self,
        texts: &[String],
        becomes_waiter: impl FnOnce(),
    ) -> Result<Answer, Failure> {
        let key = Key::of_embeddings(self.identity(), texts, 0);
        let read = |entry: &Entry| read_vectors(&entry.answer, texts.len());
        let outcome = self
            .fly(key, becomes_waiter, async {
                if let Some(answer) = self.recorded(&key, read) {
                    return Ok(answer);
                }
                self.refuse_in_replay()?;
                self.embedded(&key, texts).await
            })
            .await;
        self.counts(&outcome);
        outcome
    }

    /// A question that the end of the run took away was none.
    fn counts(&self, outcome: &Result<Answer, Failure>) {
        if !matches!(outcome, Err(failure) if failure.kind == FailureKind::Cancelled) {
            self.progress.requested();
        }
    }

    /// How long an equal question took earlier, in seconds, when it is to be asked again all the same.
    pub(crate) fn earlier_latency(&self, request: &Request, repeat: u32) -> Option<f64> {
        match self.cache.mode() {
            CacheMode::Refresh => self.cache.earlier_latency(&self.key(request, repeat)),
            _ => None,
        }
    }

    /// Whether earlier latencies may be known.
    pub(crate) fn has_earlier_latencies(&self) -> bool {
        self.cache.mode() == CacheMode::Refresh && !self.provider.in_place()
    }

    /// Joins the flight of an equal question, or makes one.
    async fn fly(
        &self,
        key: Key,
        becomes_waiter: impl FnOnce(),
        flight: impl Future<Output = Result<Answer, Failure>>,
    ) -> Result<Answer, Failure> {
        if !self.settings.single_flight {
            return flight.await;
        }
        if !locked(&self.under_way).insert(key) {
            becomes_waiter();
        }
        let mut flew = false;
        let outcome = self
            .flights
            .try_get_with(key, async {
                flew = true;
                flight.await.map(Arc::new)
            })
            .await;
        if flew {
            locked(&self.under_way).remove(&key);
        } else if outcome.is_ok() {
            self.progress.answered_by_another();
        }
        match outcome {
            Ok(answer) => Ok(Arc::unwrap_or_clone(answer)),
            Err(failure) => Err(Arc::unwrap_or_clone(failure)),
        }
    }

    /// The answer of the cache, when there is one that can be read.
    fn recorded(
        &self,
        key: &Key,
        read: impl FnOnce(&Entry) -> Result<Answer, Failure>,
    ) -> Option<Answer> {
        let entry = self.cache.get(key)?;
        match read(&entry) {
            Ok(answer) => {
                self.progress.answered_by_cache();
                self.reports(entry.model);
                Some(answer)
            }
            Err(failure) => {
                tracing::warn!(%key, %failure, "an answer in the cache cannot be read: it is asked for again");
                None
            }
        }
    }

    fn refuse_in_replay(&self) -> Result<(), Failure> {
        if self.cache.is_replay() {
            return Err(Failure {
                kind: FailureKind::NotRecorded,
                message: "the answer is not in the cache, and nobody is called in replay mode"
                    .to_owned(),
            });
        }
        Ok(())
    }

    /// Calls the judge and reads its answer; one that cannot be read gets one chance to be repaired.
    async fn judged(&self, key: &Key, request: &Request) -> Result<Answer, Failure> {
        let (first, mut latency) = self.call(request, &request.messages).await?;
        let (completion, reading) = match metrics::read(request.expect, &first.text) {
            Ok(reading) => (first, reading),
            Err(why) => {
                tracing::debug!(metric = %request.metric, reason = %why.message, "an answer cannot be read: asking once more");
                let messages = metrics::repair(request, &first.text, &why);
                let (mut second, longer) = self.call(request, &messages).await?;
                latency += longer;
                second.usage = plus(first.usage, second.usage);
                match metrics::read(request.expect, &second.text) {
                    Ok(reading) => (second, reading),
                    Err(why) => return Err(Self::unreadable(&second, &why)),
                }
            }
        };
        let entry = Entry {
            answer: completion.text,
            numerals: completion.numerals,
            is_computed: completion.is_computed,
            model: completion.model,
            usage: completion.usage,
            at: jiff::Timestamp::now(),
            latency_s: latency.as_secs_f64(),
        };
        self.record(key, &entry);
        Ok(understood(request, reading, &entry))
    }

    async fn embedded(&self, key: &Key, texts: &[String]) -> Result<Answer, Failure> {
        let tokens = estimate(texts.iter().map(String::len).sum(), 0);
        let (mut embeddings, latency): (Embeddings, _) = self
            .call_with(
                tokens,
                || self.provider.embed(texts),
                |embeddings| embedding_usage(embeddings.usage),
            )
            .await?;
        embeddings.model = embeddings.model.map(|model| self.clean(&model));
        self.reports(embeddings.model.clone());
        let raw = serde_json::to_string(&embeddings.vectors).map_err(|error| Failure {
            kind: FailureKind::Unparsable,
            message: format!("the embeddings cannot be kept: {error}"),
        })?;
        let answer = read_vectors(&raw, texts.len())?;
        self.record(
            key,
            &Entry {
                answer: raw,
                numerals: Vec::new(),
                is_computed: false,
                model: embeddings.model,
                usage: embedding_usage(embeddings.usage),
                at: jiff::Timestamp::now(),
                latency_s: latency.as_secs_f64(),
            },
        );
        Ok(answer)
    }

    /// Keeps an answer. Written where it stands: handing it to another thread costs more than the file.
    fn record(&self, key: &Key, entry: &Entry) {
        if let Err(error) = self.cache.put(key, entry) {
            tracing::warn!(%error, "an answer could not be kept");
        }
    }

    async fn call(
        &self,
        request: &Request,
        messages: &[Message],
    ) -> Result<(Completion, Duration), Failure> {
        let length = messages.iter().map(|message| message.content.len()).sum();
        let tokens = estimate(length, request.items.len());
        let (mut completion, latency) = self
            .call_with(
                tokens,
                || self.provider.complete(request, messages),
                |completion| completion.usage,
            )
            .await?;
        // Whatever a judge says is kept and shown, and some servers repeat what they were sent.
        if let Cow::Owned(clean) = self.provider.redact(&completion.text) {
            completion.text = clean;
        }
        completion.model = completion.model.map(|model| self.clean(&model));
        self.reports(completion.model.clone());
        Ok((completion, latency))
    }

    /// One call with its retries; the answer, and how long it took without waiting for its turn.
    async fn call_with<T, F: Future<Output = Result<T, CallError>>>(
        &self,
        tokens: u32,
        call: impl Fn() -> F,
        cost: impl Fn(&T) -> Usage,
    ) -> Result<(T, Duration), Failure> {
        let attempts = AtomicU32::new(0);
        let attempt = || self.attempt(tokens, &attempts, &call);
        let outcome = attempt
            .retry(self.backoff())
            .sleep(sleeper(self.control.clone()))
            .when(|error: &CallError| {
                matches!(error.scope, Scope::Passing { .. }) && !self.control.is_stopping()
            })
            .adjust(|error, delay| self.delay(error, delay))
            .notify(|error, delay| {
                tracing::debug!(kind = %error.kind, ?delay, "a call failed, trying again: {}", error.message);
            })
            .await;
        match outcome {
            Ok((answer, latency)) => {
                let usage = cost(&answer);
                self.progress.spent(usage, self.cost(usage));
                Ok((answer, latency))
            }
            Err(mut error) => {
                if let Some(wait) = self.asked_too_much(error.scope) {
                    error.message = format!(
                        "{} asks to wait {} s, longer than the {} s that a run waits: {}",
                        self.provider.address(),
                        wait.as_secs(),
                        self.settings.patience.as_secs(),
                        error.message
                    );
                    error.scope = Scope::Run;
                }
                self.ends_when_down(self.breaker.gave_up(&error), &error);
                if error.scope == Scope::Run {
                    self.control.end(Ended::Fatal {
                        address: self.provider.address(),
                        failure: Failure::from(error.clone()),
                    });
                }
                Err(Failure {
                    kind: error.kind,
                    message: match attempts.load(Ordering::Relaxed) {
                        0 | 1 => error.message,
                        attempts => format!("{}, {attempts} attempts", error.message),
                    },
                })
            }
        }
    }

    /// Whether a server wants to be left alone for longer than anybody waits.
    fn asked_too_much(&self, scope: Scope) -> Option<Duration> {
        match scope {
            Scope::Passing { retry_after } => {
                retry_after.filter(|after| *after > self.settings.patience)
            }
            _ => None,
        }
    }

    /// The run ends where the breaker says after how many attempts the judge is down.
    fn ends_when_down(&self, attempts: Option<u64>, error: &CallError) {
        if let Some(attempts) = attempts {
            self.control.end(Ended::Down {
                address: self.provider.address(),
                attempts,
                failure: Failure::from(error.clone()),
            });
        }
    }

    /// One attempt, when it is its turn.
    async fn attempt<T, F: Future<Output = Result<T, CallError>>>(
        &self,
        tokens: u32,
        attempts: &AtomicU32,
        call: impl Fn() -> F,
    ) -> Result<(T, Duration), CallError> {
        let permit = self.turn(tokens).await?;
        match attempts.fetch_add(1, Ordering::Relaxed) {
            0 => self.progress.called(),
            _ => self.progress.retried(),
        }
        let in_flight = self.progress.starts();
        let started = Instant::now();
        let outcome = tokio::select! {
            biased;
            outcome = call() => outcome,
            () = self.control.aborted() => Err(cancelled()),
        };
        drop(in_flight);
        drop(permit);
        match &outcome {
            Ok(_) => self.breaker.closes(),
            Err(error) => self.ends_when_down(self.breaker.opens(error), error),
        }
        outcome.map(|answer| (answer, started.elapsed()))
    }

    /// Waits until a call may start.
    async fn turn(&self, tokens: u32) -> Result<tokio::sync::SemaphorePermit<'_>, CallError> {
        let ready = async {
            loop {
                self.limits.ready(tokens).await;
                let permit = self.permits.acquire().await;
                match self.provider.pause() {
                    // Whoever waits for the server holds up nobody.
                    Some(until) if until > tokio::time::Instant::now() => {
                        drop(permit);
                        self.says_that_it_waits(until)?;
                        tokio::time::sleep_until(until).await;
                    }
                    _ => return permit.map_err(|_| cancelled()),
                }
            }
        };
        tokio::select! {
            biased;
            () = self.control.stopping() => Err(cancelled()),
            permit = ready => permit,
        }
    }

    /// A run that stands still says why; one that would stand still for too long ends.
    fn says_that_it_waits(&self, until: tokio::time::Instant) -> Result<(), CallError> {
        let wait = until.saturating_duration_since(tokio::time::Instant::now());
        let address = self.provider.address();
        if wait > self.settings.patience {
            return Err(CallError {
                kind: FailureKind::RateLimited,
                message: format!(
                    "{address} asks everybody to wait for {} s, longer than the {} s that a run waits",
                    wait.as_secs(),
                    self.settings.patience.as_secs()
                ),
                scope: Scope::Run,
            });
        }
        let mut said = locked(&self.said_until);
        if wait >= WORTH_SAYING && said.is_none_or(|before| until > before + WORTH_SAYING) {
            *said = Some(until);
            tracing::warn!(seconds = wait.as_secs(), %address, "the server asks everybody to wait");
        }
        Ok(())
    }

    fn backoff(&self) -> impl BackoffBuilder {
        ExponentialBuilder::default()
            .with_min_delay(self.settings.backoff)
            .with_max_delay(Duration::from_secs(30).max(self.settings.backoff))
            .with_max_times(self.settings.retries as usize)
            .with_jitter()
    }

    /// The server's own wish goes before ours; `None` gives up.
    fn delay(&self, error: &CallError, delay: Option<Duration>) -> Option<Duration> {
        let delay = delay?;
        match error.scope {
            Scope::Passing {
                retry_after: Some(after),
            } if after > self.settings.patience => None,
            Scope::Passing {
                retry_after: Some(after),
            } => Some(after),
            _ => Some(delay),
        }
    }

    /// US dollars; `None` when a price or the tokens are unknown.
    fn cost(&self, usage: Usage) -> Option<f64> {
        let price = self.settings.price?;
        let part = |tokens: Option<u64>, price: Option<f64>| match tokens? {
            0 => Some(0.0),
            tokens => Some(tokens as f64 * price? / 1e6),
        };
        Some(
            part(usage.prompt_tokens, price.prompt)?
                + part(usage.completion_tokens, price.completion)?,
        )
    }

    fn unreadable(completion: &Completion, why: &metrics::Unreadable) -> Failure {
        let shown: String = completion.text.chars().take(SHOWN_ANSWER).collect();
        let rest = match completion.text.len() > shown.len() {
            true => "…",
            false => "",
        };
        let cut = match completion.is_cut {
            true => " (the answer was cut off: raise max_tokens)",
            false => "",
        };
        Failure {
            kind: why.kind,
            message: format!("{}{cut}; the judge said: {shown}{rest}", why.message),
        }
    }

    /// A name as a server gives it, without secrets and not longer than a name.
    fn clean(&self, name: &str) -> String {
        let clean = self.provider.redact(name);
        clean.chars().take(LONGEST_NAME).collect()
    }

    fn reports(&self, model: Option<String>) {
        let Some(model) = model else { return };
        let mut reported = locked(&self.reported_model);
        match reported.as_deref() {
            None => *reported = Some(model),
            Some(known) if known != model && !known.split(", ").any(|one| one == model) => {
                // Sorted, so that the order of answers changes nothing.
                let mut all: Vec<&str> = known.split(", ").chain([model.as_str()]).collect();
                all.sort_unstable();
                *reported = Some(all.join(", "));
            }
            Some(_) => {}
        }
    }

    fn key(&self, request: &Request, repeat: u32) -> Key {
        Key::of(&KeyParts {
            identity: self.identity(),
            request,
            repeat,
        })
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Failure {
            kind: error.kind,
            message: error.message,
        }
    }
}

/// Sleeps, but not longer than the run goes on.
fn sleeper(control: Control) -> impl Fn(Duration) -> BoxFuture<'static, ()> {
    move |delay| {
        let control = control.clone();
        Box::pin(async move {
            tokio::select! {
                () = control.stopping() => {}
                () = tokio::time::sleep(delay) => {}
            }
        })
    }
}

/// What an answer says, for what was asked.
fn read(request: &Request, entry: &Entry) -> Result<Answer, Failure> {
    metrics::read(request.expect, &entry.answer)
        .map(|reading| understood(request, reading, entry))
        .map_err(|why| Failure {
            kind: why.kind,
            message: why.message,
        })
}

/// A reading with what is known of who gave it.
fn understood(request: &Request, reading: metrics::Reading, entry: &Entry) -> Answer {
    let reading = match entry.is_computed {
        true => reading,
        false => metrics::of_model(request.expect, reading),
    };
    Answer::Reading(metrics::weigh(request.expect, reading, &entry.numerals))
}

/// Vectors of one length, one for each text.
pub(crate) fn read_vectors(raw: &str, texts: usize) -> Result<Answer, Failure> {
    let failure = |kind, message| Failure { kind, message };
    let vectors: Vec<Vec<f32>> = serde_json::from_str(raw).map_err(|error| {
        failure(
            FailureKind::Unparsable,
            format!("the embeddings cannot be read: {error}"),
        )
    })?;
    if vectors.len() != texts {
        return Err(failure(
            FailureKind::Inconsistent,
            format!("{} embeddings for {texts} texts", vectors.len()),
        ));
    }
    let length = vectors.first().map_or(0, Vec::len);
    if length == 0
        || vectors
            .iter()
            .any(|vector| vector.len() != length || vector.iter().any(|x| !x.is_finite()))
    {
        return Err(failure(
            FailureKind::Inconsistent,
            "the embeddings are not vectors of one length".to_owned(),
        ));
    }
    Ok(Answer::Embeddings(vectors))
}

/// Roughly the tokens of a call, for the limit on tokens a minute: four bytes each, and forty for each verdict.
fn estimate(bytes: usize, items: usize) -> u32 {
    u32::try_from(bytes / 4 + 40 * (items + 1)).unwrap_or(u32::MAX)
}

/// An embedding has no tokens of its own.
fn embedding_usage(usage: Usage) -> Usage {
    Usage {
        completion_tokens: usage.completion_tokens.or(Some(0)),
        ..usage
    }
}

fn plus(one: Usage, other: Usage) -> Usage {
    let sum = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    Usage {
        prompt_tokens: sum(one.prompt_tokens, other.prompt_tokens),
        completion_tokens: sum(one.completion_tokens, other.completion_tokens),
    }
}

fn cancelled() -> CallError {
    CallError {
        kind: FailureKind::Cancelled,
        message: "the run ended first".to_owned(),
        scope: Scope::Call,
    }
}

fn weight(answer: &Answer) -> u32 {
    let bytes = match answer {
        Answer::Reading(metrics::Reading::Sources(held)) => {
            held.iter().map(|sources| 8 * sources.len() + 24).sum()
        }
        Answer::Reading(metrics::Reading::Texts(texts)) => {
            texts.iter().map(|text| text.len() + 24).sum()
        }
        Answer::Outcome(_) => 0,
        Answer::Reading(metrics::Reading::Verdicts(verdicts)) => verdicts
            .iter()
            .map(|verdict| {
                verdict.reason.len() + verdict.quote.as_ref().map_or(0, String::len) + 64
            })
            .sum(),
        Answer::Reading(metrics::Reading::Grade { reason, .. }) => reason.len(),
        Answer::Embeddings(vectors) => vectors.iter().map(|vector| 4 * vector.len() + 24).sum(),
    };
    u32::try_from(bytes + 150).unwrap_or(u32::MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing under these locks can panic half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
