//! When a judge is plainly down, a run stops instead of failing sample by sample.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::FailureKind;
use tokio::time::Instant;

use crate::provider::CallError;

/// Counts attempts that failed one after the other.
#[derive(Debug)]
pub(crate) struct Breaker {
    row: Mutex<Row>,
    limit: u64,
}

/// Failures without an answer between them.
#[derive(Debug, Default)]
struct Row {
    attempts: u64,
    /// Calls of which the last retry failed.
    given_up: u64,
    since: Option<Instant>,
}

/// A server that restarts answers for a moment that it cannot: that long, retries are left to do their work.
const MOMENT: Duration = Duration::from_secs(5);

impl Breaker {
    /// Opens after twenty failures in a row, or four for each call at once, whichever is more: fewer can be one bad moment.
    pub(crate) fn new(concurrency: usize) -> Self {
        Breaker {
            row: Mutex::default(),
            limit: (4 * concurrency as u64).max(20),
        }
    }

    /// An answer came.
    pub(crate) fn closes(&self) {
        *self.row() = Row::default();
    }

    /// An attempt failed; the number of failures in a row, when there are so many, for so long, that the judge is down.
    pub(crate) fn opens(&self, error: &CallError) -> Option<u64> {
        if !counts(error) {
            return None;
        }
        let mut row = self.row();
        row.attempts += 1;
        let since = *row.since.get_or_insert_with(Instant::now);
        (row.attempts >= self.limit && since.elapsed() >= MOMENT).then_some(row.attempts)
    }

    /// A call failed for good; the number of failed attempts, when so many calls did that the judge is down.
    pub(crate) fn gave_up(&self, error: &CallError) -> Option<u64> {
        if !counts(error) {
            return None;
        }
        let mut row = self.row();
        row.given_up += 1;
        (row.given_up >= self.limit).then_some(row.attempts)
    }

    fn row(&self) -> MutexGuard<'_, Row> {
        // Nothing under this lock can panic half way.
        self.row.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that says "not now" or "not this" is up.
fn counts(error: &CallError) -> bool {
    !matches!(
        error.kind,
        FailureKind::RateLimited | FailureKind::Cancelled
    )
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

    #[tokio::test(start_paused = true)]
    async fn opens_after_a_row_of_failures_and_closes_with_an_answer() {
        let breaker = Breaker::new(1);
        let down = error(FailureKind::Unavailable);
        assert!((0..19).all(|_| breaker.opens(&down).is_none()));
        tokio::time::sleep(MOMENT).await;
        breaker.closes();
        assert!((0..30).all(|_| breaker.opens(&down).is_none()));
        tokio::time::sleep(MOMENT).await;
        assert_eq!(breaker.opens(&down), Some(31));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_failed_for_good_need_no_moment() {
        let breaker = Breaker::new(1);
        let down = error(FailureKind::Unavailable);
        for _ in 0..19 {
            assert_eq!((breaker.opens(&down), breaker.gave_up(&down)), (None, None));
        }
        assert_eq!(breaker.opens(&down), None);
        assert_eq!(breaker.gave_up(&down), Some(20));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_only_busy_is_not_down() {
        let breaker = Breaker::new(1);
        let busy = error(FailureKind::RateLimited);
        assert!((0..100).all(|_| breaker.opens(&busy).is_none()));
        tokio::time::sleep(MOMENT).await;
        assert!(
            (0..100).all(|_| breaker.opens(&busy).is_none() && breaker.gave_up(&busy).is_none())
        );
    }
}
