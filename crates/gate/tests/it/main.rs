//! Integration tests of the gate: one binary, one module a subject.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod agreement;
mod expected;
mod fixtures;
mod fuzz_findings;
mod properties_gate;
mod properties_stats;
#[expect(dead_code, reason = "the benchmark uses the rest")]
mod scenario;
mod simulation;
