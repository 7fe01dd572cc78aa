//! When a judge is plainly down, a run stops instead of failing sample by sample.

use std::sync::atomic::{AtomicU64, Ordering};

use metrics::FailureKind;

use crate::provider::CallError;

/// Counts attempts that failed one after the other.
#[derive(Debug)]
pub(crate) struct Breaker {
    in_a_row: AtomicU64,
    limit: u64,
}

impl Breaker {
    /// Opens after twenty failures in a row, or four for each call at once, whichever is more: fewer can be one bad moment.
    pub(crate) fn new(concurrency: usize) -> Self {
        Breaker {
            in_a_row: AtomicU64::new(0),
            limit: (4 * concurrency as u64).max(20),
        }
    }

    /// An answer came.
    pub(crate) fn closes(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
    }

    /// An attempt failed; the number of failures in a row, when there are so many that the judge is down.
    pub(crate) fn opens(&self, error: &CallError) -> Option<u64> {
        match error.kind {
            // A server that says "not now" or "not this" is up.
            FailureKind::RateLimited | FailureKind::Cancelled => return None,
            _ => {}
        }
        let failures = self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        (failures >= self.limit).then_some(failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Scope;

    fn error(kind: FailureKind) -> CallError {
        CallError {
            kind,
            message: String::new(),
            scope: Scope::Passing { retry_after: None },
        }
    }

    #[test]
    fn opens_after_a_row_of_failures_and_closes_with_an_answer() {
        let breaker = Breaker::new(1);
        let down = error(FailureKind::Unavailable);
        assert!((0..19).all(|_| breaker.opens(&down).is_none()));
        breaker.closes();
        assert!((0..19).all(|_| breaker.opens(&down).is_none()));
        assert_eq!(breaker.opens(&down), Some(20));
    }

    #[test]
    fn a_server_that_is_only_busy_is_not_down() {
        let breaker = Breaker::new(1);
        let busy = error(FailureKind::RateLimited);
        assert!((0..100).all(|_| breaker.opens(&busy).is_none()));
    }
}
