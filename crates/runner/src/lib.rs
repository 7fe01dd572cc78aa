//! The runner: a dataset in, results out.
//!
//! ```text
//! Dataset ─▶ plan ─▶ execute ─▶ Judge ─▶ single flight ─▶ cache ─▶ limits ─▶ Provider
//!                       └─▶ results, in the order of the dataset
//! ```

pub mod cache;
pub mod dataset;
pub mod plan;
pub mod provider;
pub mod runs;
