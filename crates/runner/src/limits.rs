//! Caps on calls and tokens a minute.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

/// `rpm` and `tpm` of one judge.
#[derive(Debug)]
pub(crate) struct Limits {
    calls: Option<DefaultDirectRateLimiter>,
    tokens: Option<(DefaultDirectRateLimiter, NonZeroU32)>,
    tpm: u32,
    /// Whether it was said that calls are larger than a minute's tokens.
    said: AtomicBool,
}

impl Limits {
    pub(crate) fn new(rpm: Option<u32>, tpm: Option<u32>) -> Self {
        // A bucket that starts full lets twice the limit through in the first minute: it holds one second's worth.
        let calls = rpm
            .and_then(NonZeroU32::new)
            .map(|rpm| RateLimiter::direct(Quota::per_minute(rpm).allow_burst(part(rpm, 60))));
        // A call may need more tokens than a second brings.
        let tokens = tpm.and_then(NonZeroU32::new).map(|tpm| {
            let burst = part(tpm, 10);
            let limiter = RateLimiter::direct(Quota::per_minute(tpm).allow_burst(burst));
            (limiter, burst)
        });
        Limits {
            calls,
            tokens,
            tpm: tpm.unwrap_or(u32::MAX),
            said: AtomicBool::new(false),
        }
    }

    /// Waits until one more call with so many tokens is within the caps.
    pub(crate) async fn ready(&self, tokens: u32) {
        if let Some(calls) = &self.calls {
            calls.until_ready().await;
        }
        if let Some((limiter, burst)) = &self.tokens {
            if tokens > self.tpm && !self.said.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    "tpm = {} is less than one call of about {tokens} tokens: each such call waits for {} s",
                    self.tpm,
                    u64::from(tokens) * 60 / u64::from(self.tpm)
                );
            }
            // A call that is larger than the bucket takes the bucket several times.
            let mut left = tokens;
            while let Some(take) = NonZeroU32::new(left.min(burst.get())) {
                // A part is never larger than the bucket, so there is nothing to refuse.
                let _ = limiter.until_n_ready(take).await;
                left -= take.get();
            }
        }
    }
}

fn part(whole: NonZeroU32, parts: u32) -> NonZeroU32 {
    NonZeroU32::new(whole.get() / parts).unwrap_or(NonZeroU32::MIN)
}
