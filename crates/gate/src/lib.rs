//! The decision: a pure function of policy, results and baseline.
//!
//! ```text
//! results::read ─┐
//! Policy::parse ─┼─▶ Policy::bind ─▶ decide ─▶ Verdict
//! history::parse ┘
//! ```
//!
//! Nothing here opens a file, reads a clock or the environment, or draws from entropy: `clippy.toml` beside this crate
//! bans it. Incomparable or empty inputs are an outcome, not an error.

pub mod baseline;
mod comparability;
mod decide;
pub mod explain;
pub mod history;
pub mod json;
pub mod judge_drift;
pub mod known;
mod measure;
pub mod number;
mod pairing;
pub mod policy;
pub mod results;
pub mod stats;
pub mod verdict;

pub use decide::{Inputs, decide};

/// Version of rag-gate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
