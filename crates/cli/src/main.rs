//! The command `rag-gate`: stops a merge when the answers got worse.

mod args;
mod base;
mod ci;
mod commands;
mod console;
mod diagnostic;
mod error;
#[cfg(feature = "runner")]
mod evaluation;
mod exit_code;
mod git;
mod input;
mod output;
#[cfg(feature = "runner")]
mod provenance;

use clap::Parser;

/// A fifth of the CPU of a call is spent on memory; this allocator halves that.
#[cfg(feature = "runner")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use args::Args;
use exit_code::ExitCode;

fn main() -> ExitCode {
    console::report_panics();
    let outcome = std::panic::catch_unwind(|| {
        let args = match Args::try_parse() {
            Ok(args) => args,
            Err(error) => return console::usage(&error),
        };
        commands::dispatch(args).unwrap_or_else(|error| {
            console::report(&error);
            error.exit_code()
        })
    });
    outcome.unwrap_or(ExitCode::Internal)
}
