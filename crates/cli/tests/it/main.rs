//! Runs the real binary on real files.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]

mod docs;
mod drift;
mod evaluation;
#[cfg(feature = "runner")]
mod judge_agreement;
mod runs;
#[cfg(feature = "runner")]
mod upkeep;
