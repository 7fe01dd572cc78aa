//! How far a run is: counters that anybody may look at while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one run. Reading them changes nothing.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    requests: AtomicU64,
    calls: AtomicU64,
    retries: AtomicU64,
    cache_hits: AtomicU64,
    shared: AtomicU64,
    in_flight: AtomicU64,
    peak_in_flight: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
    unknown_usage: AtomicU64,
    nanodollars: AtomicU64,
    unknown_cost: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Scores that the run is to have.
    pub total: u64,
    /// Scores that are settled: there, not applicable, or failed.
    pub done: u64,
    /// Scores that failed.
    pub failed: u64,
    /// Questions to the judge, however they were answered.
    pub requests: u64,
    /// Calls that were made, without their retries.
    pub calls: u64,
    /// Further attempts at a call.
    pub retries: u64,
    /// Questions that the cache answered.
    pub cache_hits: u64,
    /// Questions that were answered by an equal one of this run.
    pub shared: u64,
    /// Calls under way.
    pub in_flight: u64,
    /// Most calls that were under way at once.
    pub peak_in_flight: u64,
    /// Tokens of the questions, as far as the judge says it.
    pub prompt_tokens: u64,
    /// Tokens of the answers, as far as the judge says it.
    pub completion_tokens: u64,
    /// Answers of which the judge did not say how many tokens they cost.
    pub unknown_usage: u64,
    /// What the answers cost, in billionths of a US dollar, as far as prices and tokens are known.
    pub nanodollars: u64,
    /// Answers whose cost is unknown.
    pub unknown_cost: u64,
}

/// A call under way; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight<'a>(&'a Progress);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Snapshot {
    /// With the questions, calls and costs of another run, whose scores are none of this one.
    #[must_use]
    pub fn and_calls_of(self, other: &Snapshot) -> Snapshot {
        Snapshot {
            requests: self.requests + other.requests,
            calls: self.calls + other.calls,
            retries: self.retries + other.retries,
            cache_hits: self.cache_hits + other.cache_hits,
            shared: self.shared + other.shared,
            peak_in_flight: self.peak_in_flight.max(other.peak_in_flight),
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            completion_tokens: self.completion_tokens + other.completion_tokens,
            unknown_usage: self.unknown_usage + other.unknown_usage,
            nanodollars: self.nanodollars + other.nanodollars,
            unknown_cost: self.unknown_cost + other.unknown_cost,
            ..self
        }
    }

    /// US dollars; `None` when a price or the tokens of an answer are unknown.
    pub fn cost_usd(&self) -> Option<f64> {
        (self.unknown_cost == 0).then_some(self.nanodollars as f64 / 1e9)
    }
}

impl Progress {
    /// The counts now.
    pub fn snapshot(&self) -> Snapshot {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            total: get(&self.total),
            done: get(&self.done),
            failed: get(&self.failed),
            requests: get(&self.requests),
            calls: get(&self.calls),
            retries: get(&self.retries),
            cache_hits: get(&self.cache_hits),
            shared: get(&self.shared),
            in_flight: get(&self.in_flight),
            peak_in_flight: get(&self.peak_in_flight),
            prompt_tokens: get(&self.prompt_tokens),
            completion_tokens: get(&self.completion_tokens),
            unknown_usage: get(&self.unknown_usage),
            nanodollars: get(&self.nanodollars),
            unknown_cost: get(&self.unknown_cost),
        }
    }

    pub(crate) fn expect(&self, scores: u64) {
        self.total.store(scores, Ordering::Relaxed);
    }

    pub(crate) fn settled(&self, is_failed: bool) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if is_failed {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A score that was settled is none after all.
    pub(crate) fn revoked(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn requested(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered_by_cache(&self) {
        self.cache_hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered_by_another(&self) {
        self.shared.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn starts(&self) -> InFlight<'_> {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak_in_flight.fetch_max(now, Ordering::Relaxed);
        InFlight(self)
    }

    /// An answer was paid for; `cost` in US dollars.
    pub(crate) fn spent(&self, usage: crate::provider::Usage, cost: Option<f64>) {
        let add = |counter: &AtomicU64, tokens: Option<u64>| {
            counter.fetch_add(tokens.unwrap_or(0), Ordering::Relaxed);
        };
        add(&self.prompt_tokens, usage.prompt_tokens);
        add(&self.completion_tokens, usage.completion_tokens);
        if usage.prompt_tokens.is_none() || usage.completion_tokens.is_none() {
            self.unknown_usage.fetch_add(1, Ordering::Relaxed);
        }
        match cost {
            Some(cost) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "prices are not negative, and no call costs billions"
                )]
                let nano = (cost * 1e9).round() as u64;
                self.nanodollars.fetch_add(nano, Ordering::Relaxed);
            }
            None => drop(self.unknown_cost.fetch_add(1, Ordering::Relaxed)),
        }
    }
}
