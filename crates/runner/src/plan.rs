//! How long a run will take and what it will cost, before it costs anything.
//!
//! ```text
//! latencies, cached share, workers, limits, price ─▶ Plan::of ─▶ a row for each number of workers
//! ```
//!
//! Calls are started in order, each by the first worker that is free, as the runner does it. All times are in seconds.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

/// Tokens of a price.
const MILLION: f64 = 1e6;
/// Seconds of a minute.
const MINUTE: f64 = 60.0;

/// What is to be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// How long each call takes, in the order of the calls; finite and not negative.
    pub latencies: Vec<f64>,
    /// Tokens of the question of one call; unknown is `None`.
    pub prompt_tokens: Option<f64>,
    /// Tokens of the answer of one call; unknown is `None`.
    pub completion_tokens: Option<f64>,
    /// What a million tokens of questions cost, in US dollars; unknown is `None`.
    pub prompt_price: Option<f64>,
    /// What a million tokens of answers cost, in US dollars; unknown is `None`.
    pub completion_price: Option<f64>,
    /// Most calls a minute.
    pub rpm: Option<NonZeroU32>,
    /// Most tokens a minute, of questions and answers together.
    pub tpm: Option<NonZeroU32>,
}

/// What comes of a workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Calls, were nothing cached.
    pub calls: u64,
    /// All of them, one after the other.
    pub sum_s: f64,
    /// The longest of them.
    pub longest_s: f64,
    /// One for each cached share, in the order that was asked for.
    pub shares: Vec<Share>,
}

/// What comes of a workload when part of the answers is cached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The part that is cached, from 0 to 1.
    pub cached: f64,
    /// Calls that are left.
    pub calls: u64,
    /// Tokens of their questions; unknown is `None`.
    pub prompt_tokens: Option<f64>,
    /// Tokens of their answers; unknown is `None`.
    pub completion_tokens: Option<f64>,
    /// What they cost, in US dollars; unknown is `None`.
    pub cost_usd: Option<f64>,
    /// The least that the rate limits allow; `None` where there are none, or the tokens are unknown.
    pub limits_s: Option<f64>,
    /// One for each number of workers, in the order that was asked for.
    pub times: Vec<Time>,
}

/// How long so many workers need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Time {
    /// Calls in flight at once, at most.
    pub workers: u32,
    /// How long it takes: no less than the rate limits allow.
    pub time_s: f64,
    /// How long the workers need where nothing limits them.
    pub makespan_s: f64,
    /// What no schedule can beat: the sum shared evenly, or the longest call.
    pub ideal_s: f64,
}

impl Plan {
    /// Plans a workload for some cached shares (from 0 to 1) and numbers of workers.
    pub fn of(workload: &Workload, cached: &[f64], workers: &[NonZeroU32]) -> Plan {
        let all = &workload.latencies;
        Plan {
            calls: all.len() as u64,
            sum_s: all.iter().sum(),
            longest_s: longest(all),
            shares: cached
                .iter()
                .map(|cached| workload.share(*cached, workers))
                .collect(),
        }
    }
}

impl Workload {
    fn share(&self, cached: f64, workers: &[NonZeroU32]) -> Share {
        let latencies = uncached(&self.latencies, cached);
        let calls = latencies.len() as f64;
        let prompt_tokens = self.prompt_tokens.map(|tokens| tokens * calls);
        let completion_tokens = self.completion_tokens.map(|tokens| tokens * calls);
        let limits_s = self.limits(calls, prompt_tokens, completion_tokens);
        let times = workers
            .iter()
            .map(|workers| {
                let makespan_s = makespan(latencies, *workers);
                Time {
                    workers: workers.get(),
                    time_s: limits_s.map_or(makespan_s, |limit| makespan_s.max(limit)),
                    makespan_s,
                    ideal_s: ideal(latencies, *workers),
                }
            })
            .collect();
        Share {
            cached,
            calls: latencies.len() as u64,
            prompt_tokens,
            completion_tokens,
            cost_usd: self.cost(prompt_tokens, completion_tokens),
            limits_s,
            times,
        }
    }

    /// Unknown unless both prices and both numbers of tokens are known.
    fn cost(&self, prompt_tokens: Option<f64>, completion_tokens: Option<f64>) -> Option<f64> {
        let prompt = prompt_tokens? * self.prompt_price?;
        let completion = completion_tokens? * self.completion_price?;
        Some((prompt + completion) / MILLION)
    }

    fn limits(
        &self,
        calls: f64,
        prompt_tokens: Option<f64>,
        completion_tokens: Option<f64>,
    ) -> Option<f64> {
        let minutes = |amount: f64, a_minute: NonZeroU32| amount / f64::from(a_minute.get());
        let by_calls = self.rpm.map(|rpm| minutes(calls, rpm));
        let by_tokens = prompt_tokens
            .zip(completion_tokens)
            .zip(self.tpm)
            .map(|((prompt, completion), tpm)| minutes(prompt + completion, tpm));
        let bounds = [by_calls, by_tokens].into_iter().flatten();
        bounds.reduce(f64::max).map(|bound| bound * MINUTE)
    }
}

/// When the last call ends: each starts as soon as a worker is free, in order.
///
/// ```
/// # use std::num::NonZeroU32;
/// let two = NonZeroU32::new(2).unwrap();
/// assert_eq!(runner::plan::makespan(&[3.0, 1.0, 1.0, 2.0], two), 4.0);
/// ```
pub fn makespan(latencies: &[f64], workers: NonZeroU32) -> f64 {
    let workers = workers.get() as usize;
    // When each busy worker will be free, the first one on top.
    let mut busy: BinaryHeap<Reverse<Moment>> =
        BinaryHeap::with_capacity(workers.min(latencies.len()));
    let mut end: f64 = 0.0;
    for latency in latencies {
        let start = match busy.peek() {
            Some(Reverse(free)) if busy.len() == workers => free.0,
            _ => 0.0,
        };
        if busy.len() == workers {
            busy.pop();
        }
        let done = start + latency;
        busy.push(Reverse(Moment(done)));
        end = end.max(done);
    }
    end
}

/// What no schedule can beat: the sum shared evenly among the workers, or the longest call.
pub fn ideal(latencies: &[f64], workers: NonZeroU32) -> f64 {
    let shared = latencies.iter().sum::<f64>() / f64::from(workers.get());
    shared.max(longest(latencies))
}

/// The calls that are left when a share of them, the first ones, is cached.
pub fn uncached(latencies: &[f64], share: f64) -> &[f64] {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share lies between 0 and 1, so its part of a length is one"
    )]
    let saved = (latencies.len() as f64 * share.clamp(0.0, 1.0)).round() as usize;
    &latencies[saved.min(latencies.len())..]
}

/// Latencies as servers have them: lognormal, by their median and the standard deviation of their logarithm.
///
/// The same seed draws the same latencies.
pub fn draw(count: usize, median: f64, sigma: f64, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| median * (sigma * normal(&mut random)).exp())
        .collect()
}

/// So many latencies out of those that were measured, drawn with replacement.
///
/// The same seed draws the same latencies; out of none, none are drawn.
pub fn redraw(measured: &[f64], count: usize, seed: u64) -> Vec<f64> {
    if measured.is_empty() {
        return Vec::new();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| measured[random.random_range(0..measured.len())])
        .collect()
}

/// A standard normal number (Box and Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    // In (0, 1], for the logarithm of 0 is no number.
    let radius = 1.0 - random.random::<f64>();
    let angle = std::f64::consts::TAU * random.random::<f64>();
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

fn longest(latencies: &[f64]) -> f64 {
    latencies.iter().copied().fold(0.0, f64::max)
}

/// A time that can be ordered; latencies are finite.
#[derive(Debug, Clone, Copy)]
struct Moment(f64);

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LATENCIES: &str = include_str!("../../../fixtures/latencies.json");

    fn workers(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn workload(latencies: Vec<f64>) -> Workload {
        Workload {
            latencies,
            prompt_tokens: None,
            completion_tokens: None,
            prompt_price: None,
            completion_price: None,
            rpm: None,
            tpm: None,
        }
    }

    fn minutes(seconds: f64) -> String {
        format!("{:.1}", seconds / MINUTE)
    }

    #[test]
    fn three_thousand_calls_take_what_they_took_elsewhere() {
        let measured = workload(serde_json::from_str(LATENCIES).unwrap());
        let numbers = [1, 3, 5, 10].map(workers);
        let plan = Plan::of(&measured, &[0.0, 0.2, 0.4], &numbers);
        assert_eq!(plan.calls, 3000);
        assert_eq!(format!("{:.2}", plan.sum_s / 3600.0), "7.13");
        let all = &plan.shares[0].times;
        let times: Vec<String> = all.iter().map(|time| minutes(time.time_s)).collect();
        assert_eq!(times, ["427.7", "142.7", "85.7", "43.0"]);
        let ideals: Vec<String> = all.iter().map(|time| minutes(time.ideal_s)).collect();
        assert_eq!(ideals, ["427.7", "142.6", "85.5", "42.8"]);
        let of_five: Vec<String> = plan
            .shares
            .iter()
            .map(|share| minutes(share.times[2].time_s))
            .collect();
        assert_eq!(of_five, ["85.7", "69.5", "52.3"]);
        let calls: Vec<u64> = plan.shares.iter().map(|share| share.calls).collect();
        assert_eq!(calls, [3000, 2400, 1800]);
    }

    #[test]
    fn the_first_free_worker_takes_the_next_call() {
        let latencies = [3.0, 1.0, 1.0, 2.0, 4.0];
        for (number, expected) in [(1, 11.0), (2, 7.0), (3, 5.0), (4, 5.0), (5, 4.0), (9, 4.0)] {
            let time = makespan(&latencies, workers(number));
            assert!((time - expected).abs() < 1e-12, "{number}: {time}");
        }
        assert!(makespan(&[], workers(3)).abs() < 1e-12);
        assert!(ideal(&[], workers(3)).abs() < 1e-12);
    }

    #[test]
    fn what_is_unknown_is_not_free() {
        let mut load = workload(vec![1.0; 1000]);
        load.prompt_tokens = Some(2000.0);
        load.prompt_price = Some(0.15);
        let cost = |load: &Workload| Plan::of(load, &[0.25], &[]).shares[0].cost_usd;
        assert_eq!(cost(&load), None);
        load.completion_price = Some(0.6);
        assert_eq!(cost(&load), None);
        load.completion_tokens = Some(500.0);
        // 750 calls: 1.5 million tokens of questions and 0.375 of answers.
        let expected = 1.5 * 0.15 + 0.375 * 0.6;
        assert!((cost(&load).unwrap() - expected).abs() < 1e-12);
        load.prompt_price = None;
        assert_eq!(cost(&load), None);
    }

    #[test]
    fn the_stricter_rate_limit_holds() {
        let mut load = workload(vec![1.0; 600]);
        let share = |load: &Workload| Plan::of(load, &[0.0], &[workers(600)]).shares[0].clone();
        assert_eq!(share(&load).limits_s, None);
        load.tpm = NonZeroU32::new(30_000);
        // Tokens that are unknown bound nothing.
        assert_eq!(share(&load).limits_s, None);
        load.rpm = NonZeroU32::new(60);
        assert_eq!(share(&load).limits_s, Some(600.0));
        load.prompt_tokens = Some(900.0);
        load.completion_tokens = Some(100.0);
        let limited = share(&load);
        assert_eq!(limited.limits_s, Some(1200.0));
        assert!((limited.times[0].time_s - 1200.0).abs() < 1e-9);
        assert!((limited.times[0].makespan_s - 1.0).abs() < 1e-9);
    }

    #[test]
    fn drawn_latencies_have_their_median_and_spread() {
        let drawn = draw(20_001, 8.0, 0.4, 7);
        assert_eq!(drawn, draw(20_001, 8.0, 0.4, 7));
        assert_ne!(drawn, draw(20_001, 8.0, 0.4, 8));
        let mut logs: Vec<f64> = drawn.iter().map(|latency| latency.ln()).collect();
        logs.sort_by(f64::total_cmp);
        assert!((logs[10_000].exp() - 8.0).abs() < 0.15);
        let mean = logs.iter().sum::<f64>() / 20_001.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((variance.sqrt() - 0.4).abs() < 0.01);
        assert_eq!(draw(3, 8.0, 0.0, 1), [8.0; 3]);
    }

    #[test]
    fn measured_latencies_are_drawn_again() {
        let measured = [1.0, 2.0, 4.0];
        let drawn = redraw(&measured, 3000, 7);
        assert_eq!(drawn, redraw(&measured, 3000, 7));
        let mean = drawn.iter().sum::<f64>() / 3000.0;
        assert!((mean - 7.0 / 3.0).abs() < 0.1);
        assert!(redraw(&[], 5, 7).is_empty());
    }

    proptest! {
        #[test]
        fn no_schedule_beats_the_ideal_and_none_is_twice_as_long(
            latencies in prop::collection::vec(0.0..100.0_f64, 0..80),
            number in 1..12_u32,
        ) {
            let (time, bound) = (makespan(&latencies, workers(number)), ideal(&latencies, workers(number)));
            prop_assert!(time >= bound - 1e-9);
            // Graham's bound for list scheduling.
            prop_assert!(time <= bound * (2.0 - 1.0 / f64::from(number)) + 1e-9);
            prop_assert!(number > 1 || (time - latencies.iter().sum::<f64>()).abs() < 1e-9);
        }
    }
}
