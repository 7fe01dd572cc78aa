//! What was called so far.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::hash;

/// What was called so far: chat completions and embeddings, whatever came of them.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Calls that arrived.
    pub calls: u64,
    /// Calls that got their answer, with status 200 and whole.
    pub completed: u64,
    /// Calls that are being answered.
    pub in_flight: usize,
    /// Most calls that were being answered at the same time; those that are turned away at once do not count.
    pub peak_in_flight: usize,
    /// Calls whose equal is being answered or has been, with success: calls that one could have done without.
    pub duplicates: u64,
    /// When the first call arrived.
    pub first_start: Option<Instant>,
    /// When the last answer was ready.
    pub last_end: Option<Instant>,
    /// How many answers of each HTTP status; a dropped connection is none.
    pub statuses: BTreeMap<u16, u64>,
}

impl Stats {
    /// From the first call to the last answer.
    pub fn makespan(&self) -> Duration {
        match (self.first_start, self.last_end) {
            (Some(start), Some(end)) => end.saturating_duration_since(start),
            _ => Duration::ZERO,
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "calls": self.calls,
            "completed": self.completed,
            "in_flight": self.in_flight,
            "peak_in_flight": self.peak_in_flight,
            "duplicates": self.duplicates,
            "makespan_s": self.makespan().as_secs_f64(),
            "statuses": self.statuses,
        })
    }
}

/// Where the calls are counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    stats: Stats,
    /// Of calls before the last reset nothing is counted any more.
    generation: u64,
    bodies: HashSet<u64>,
    requests: Vec<String>,
}

impl Recorder {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stats(&self) -> Stats {
        self.state().stats.clone()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.state().requests.clone()
    }

    pub(crate) fn reset(&self) {
        let mut state = self.state();
        *state = State {
            generation: state.generation + 1,
            ..State::default()
        };
    }

    /// A call arrives.
    pub(crate) fn call(&self, body: &[u8], recording: bool) -> Call {
        let mut state = self.state();
        let number = state.stats.calls;
        state.stats.calls += 1;
        state.stats.first_start.get_or_insert_with(Instant::now);
        let body_hash = hash::fnv(body);
        let is_first = state.bodies.insert(body_hash);
        state.stats.duplicates += u64::from(!is_first);
        if recording {
            state
                .requests
                .push(String::from_utf8_lossy(body).into_owned());
        }
        Call {
            recorder: self.clone(),
            generation: state.generation,
            number,
            body: is_first.then_some(body_hash),
            is_in_flight: false,
            status: None,
        }
    }
}

/// A call on its way; counted when it is dropped, also when the client went away.
#[derive(Debug)]
pub(crate) struct Call {
    recorder: Recorder,
    generation: u64,
    /// From 0.
    pub(crate) number: u64,
    /// Its hash, when it was the first of its kind.
    body: Option<u64>,
    is_in_flight: bool,
    status: Option<u16>,
}

impl Call {
    /// It is taken, unless so many are in flight already.
    pub(crate) fn enter(&mut self, capacity: Option<usize>) -> bool {
        let mut state = self.recorder.state();
        if capacity.is_some_and(|capacity| state.stats.in_flight >= capacity) {
            return false;
        }
        if state.generation == self.generation {
            state.stats.in_flight += 1;
            state.stats.peak_in_flight = state.stats.peak_in_flight.max(state.stats.in_flight);
            self.is_in_flight = true;
        }
        true
    }

    /// Its answer is ready.
    pub(crate) fn end(mut self, status: u16) {
        self.status = Some(status);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut state = self.recorder.state();
        if state.generation != self.generation {
            return;
        }
        state.stats.in_flight -= usize::from(self.is_in_flight);
        state.stats.last_end = Some(Instant::now());
        if let Some(status) = self.status {
            *state.stats.statuses.entry(status).or_default() += 1;
        }
        if self.status == Some(200) {
            state.stats.completed += 1;
        } else if let Some(body) = self.body {
            // Asking again after a failure is no waste.
            state.bodies.remove(&body);
        }
    }
}
