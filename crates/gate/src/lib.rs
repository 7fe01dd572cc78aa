//! The decision: a pure function of policy, results and baseline.
//!
//! ```text
//! results::read ─┐
//! Policy::parse ─┼─▶ Policy::bind ─▶ decide ─▶ Verdict
//! history        ┘
//! ```
//!
//! Nothing here opens a file, reads a clock or the environment, or draws from entropy: `clippy.toml` beside this crate
//! bans it. Incomparable or empty inputs are an outcome, not an error.

pub mod number;
pub mod policy;
pub mod stats;
pub mod verdict;

/// Version of rag-gate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
