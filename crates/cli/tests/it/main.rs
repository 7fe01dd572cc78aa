//! Runs the real binary on real files.

#![expect(
    clippy::too_many_lines,
    clippy::format_collect,
    reason = "tables of cases are as long as they are, and short tests read better than fast ones"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]

mod docs;
mod drift;
mod runs;
