//! The runner: a dataset in, results out.
//!
//! ```text
//! Dataset ─▶ plan ─▶ execute ─▶ Judge ─▶ single flight ─▶ cache ─▶ limits ─▶ Provider
//!                       └─▶ results, in the order of the dataset
//! ```

mod breaker;
pub mod cache;
pub mod control;
mod corpus;
pub mod dataset;
pub mod execute;
pub mod judge;
mod limits;
pub mod pinned;
pub mod plan;
pub mod program;
pub mod progress;
pub mod provider;
pub mod record;
pub mod runs;
pub mod survey;
pub mod uniform;
