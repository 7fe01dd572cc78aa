//! The statistics behind the rules; formulas and sources are in docs/statistics.md.

/// Seed of every resampling, so that the same input gives the same verdict.
pub const SEED: u64 = 20_240_607;

/// Draws of every resampling; fewer where the input is so large that they would take minutes.
pub const DRAWS: u64 = 10_000;
