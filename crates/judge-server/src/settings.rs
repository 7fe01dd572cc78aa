//! How the server behaves.

use std::time::Duration;

use crate::hash;

/// How the server behaves; by default it answers at once, takes everything and asks for no key.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// How long an answer takes.
    pub latency: Latency,
    /// What goes wrong.
    pub faults: Faults,
    /// Calls that may be in flight; one more gets a 429. `None` takes all.
    pub capacity: Option<usize>,
    /// What a 429 asks for: in `retry-after` when these are whole seconds, in `retry-after-ms` else.
    pub retry_after: Duration,
    /// The key; another one, or none, gets a 401 that repeats it, as some servers do.
    pub key: Option<String>,
    /// The model; another name gets a 404. `None` takes any.
    pub model: Option<String>,
    /// The response formats that the server knows; another one gets a 400.
    pub formats: Formats,
    /// Headers of every answer.
    pub headers: Vec<(String, String)>,
    /// What is written otherwise in every good answer: a text, and what stands in its place.
    pub replacements: Vec<(String, String)>,
    /// Tokens of an answer, as its usage says them.
    pub tokens: u64,
    /// Length of an embedding.
    pub dimensions: usize,
    /// Keeps the bodies of all calls for [`Server::requests`](crate::Server::requests).
    pub recording: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            port: 0,
            latency: Latency::Fixed(Duration::ZERO),
            faults: Faults::default(),
            capacity: None,
            retry_after: Duration::from_secs(1),
            key: None,
            model: None,
            formats: Formats::Schema,
            headers: Vec::new(),
            replacements: Vec::new(),
            tokens: 60,
            dimensions: 32,
            recording: false,
        }
    }
}

/// How long an answer takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Latency {
    /// Always the same.
    Fixed(Duration),
    /// Lognormal; the draw depends on the seed and the number of the call.
    Lognormal {
        /// Half of the calls are faster.
        median: Duration,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Of the draws.
        seed: u64,
    },
    /// Seconds, one call after the other, and from the start again.
    List(Vec<f64>),
}

impl Latency {
    /// Of the call with this number, which counts from 0.
    pub fn of(&self, number: u64) -> Duration {
        match self {
            Latency::Fixed(duration) => *duration,
            Latency::Lognormal {
                median,
                sigma,
                seed,
            } => median.mul_f64((sigma * hash::normal(hash::mix(*seed) ^ number)).exp()),
            Latency::List(seconds) => usize::try_from(number)
                .ok()
                .and_then(|number| seconds.get(number.checked_rem(seconds.len())?))
                .and_then(|seconds| Duration::try_from_secs_f64(*seconds).ok())
                .unwrap_or_default(),
        }
    }
}

/// What goes wrong. Shares are of all calls, from 0 to 1, and exclude each other; which calls they hit depends on the
/// seed and the number of the call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faults {
    /// 429, at once.
    pub share_429: f64,
    /// 500, after the latency.
    pub share_500: f64,
    /// The connection is closed without an answer, after the latency.
    pub share_drop: f64,
    /// The connection is closed in the middle of the answer, after the latency.
    pub share_cut: f64,
    /// The answer is no JSON.
    pub share_garbage: f64,
    /// Numbers of calls, counted from 0, that never get an answer.
    pub never: Vec<u64>,
    /// Of the draws.
    pub seed: u64,
}

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    TooMany,
    Broken,
    Dropped,
    Cut,
    Garbage,
    Never,
}

impl Faults {
    /// Of the call with this number, which counts from 0.
    pub(crate) fn of(&self, number: u64) -> Option<Fault> {
        if self.never.contains(&number) {
            return Some(Fault::Never);
        }
        let mut draw = hash::unit(hash::mix(self.seed ^ 0xfa17) ^ number);
        let shares = [
            (self.share_429, Fault::TooMany),
            (self.share_500, Fault::Broken),
            (self.share_drop, Fault::Dropped),
            (self.share_cut, Fault::Cut),
            (self.share_garbage, Fault::Garbage),
        ];
        for (share, fault) in shares {
            if draw < share {
                return Some(fault);
            }
            draw -= share;
        }
        None
    }
}

/// The response formats that the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Formats {
    /// None.
    Text,
    /// `json_object`.
    Object,
    /// `json_object` and `json_schema`.
    Schema,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_their_median_and_spread() {
        let latency = Latency::Lognormal {
            median: Duration::from_secs(8),
            sigma: 0.4,
            seed: 7,
        };
        let logs: Vec<f64> = (0..20_000)
            .map(|number| latency.of(number).as_secs_f64().ln())
            .collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let sigma = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean.exp() - 8.0).abs() < 0.1, "{}", mean.exp());
        assert!((sigma - 0.4).abs() < 0.01, "{sigma}");
    }

    #[test]
    fn a_list_starts_again() {
        let latency = Latency::List(vec![0.5, 2.0]);
        let seconds: Vec<f64> = (0..3).map(|n| latency.of(n).as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 2.0, 0.5]);
        assert_eq!(Latency::List(Vec::new()).of(3), Duration::ZERO);
    }

    #[test]
    fn faults_have_their_shares_and_exclude_each_other() {
        let faults = Faults {
            share_429: 0.2,
            share_500: 0.1,
            never: vec![3],
            seed: 1,
            ..Faults::default()
        };
        let count = |fault| (0..10_000).filter(|n| faults.of(*n) == Some(fault)).count();
        assert!((1900..2100).contains(&count(Fault::TooMany)));
        assert!((900..1100).contains(&count(Fault::Broken)));
        assert_eq!(count(Fault::Never), 1);
        assert_eq!(count(Fault::Dropped), 0);
    }
}
