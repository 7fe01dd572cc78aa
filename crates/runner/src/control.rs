//! How a run is told to end, and why it did.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::judge::Failure;

/// Why a run ended before it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Ctrl-C, SIGTERM or SIGHUP.
    Interrupted,
    /// The time for the run was up.
    Deadline,
    /// A score failed, and that was to end the run.
    FailFast {
        /// The sample.
        sample: String,
        /// The metric.
        metric: String,
        /// What happened.
        failure: Failure,
    },
    /// No call will work: a wrong key, an unknown model.
    Fatal {
        /// Who was called.
        address: String,
        /// What it said.
        failure: Failure,
    },
    /// The judge is down.
    Down {
        /// Who was called.
        address: String,
        /// Attempts that failed in a row.
        attempts: u64,
        /// The last failure.
        failure: Failure,
    },
}

/// A handle on a run; clones control the same run.
#[derive(Debug, Clone, Default)]
pub struct Control {
    stop: CancellationToken,
    abort: CancellationToken,
    ended: Arc<OnceLock<Ended>>,
}

impl Control {
    /// Ends the run early: no further call is started. The first reason counts.
    ///
    /// Calls under way go on until [`Control::abort`], but where nothing can come of them.
    pub fn end(&self, why: Ended) {
        let is_hopeless = matches!(
            why,
            Ended::Fatal { .. } | Ended::Down { .. } | Ended::FailFast { .. }
        );
        // Whoever comes second is told the first reason.
        let _ = self.ended.set(why);
        self.stop.cancel();
        if is_hopeless {
            self.abort.cancel();
        }
    }

    /// Gives up the calls under way.
    pub fn abort(&self) {
        self.stop.cancel();
        self.abort.cancel();
    }

    /// Why the run ended early; `None` when it did not.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.get()
    }

    /// True when no further call is to be started.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    pub(crate) async fn aborted(&self) {
        self.abort.cancelled().await;
    }
}
