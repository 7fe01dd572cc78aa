//! gate.toml: the evaluation and the policy.

mod types;

pub use types::{Direction, Limit, Rule, Severity};

/// `confidence` where gate.toml does not say it.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;
