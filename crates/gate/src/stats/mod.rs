//! The statistics behind the rules; formulas and sources are in docs/statistics.md.
//!
//! ```text
//! Paired ──▶ ClusterSums ──▶ Estimate: change, standard error, t intervals and p-values       (means)
//!   │             └────────▶ sign_flip: did it get worse, or is it chance?                    (means)
//!   ├──▶ label_swap: the same question                                                        (other aggregates)
//!   └──▶ bootstrap: an interval                                                               (other aggregates)
//! Paired ──▶ Agreement, Decisions: does a judge say what people say?
//! p-values ──▶ holm: the family of all limits     Estimate ──▶ samples_needed: how many would decide
//! ```
//!
//! A regression is a difference over the same samples: each is its own control, so that hard questions do not hide
//! small changes. Samples that share a source are no independent witnesses, so that all of it works on clusters.
//!
//! All functions are total and deterministic. What cannot be computed is `None`; NaN never comes out, and nothing
//! panics. Resampling is seeded, and orders clusters by their values before the first draw, so that neither the order of
//! the samples nor the numbering of the clusters changes a p-value or an interval.

mod aggregate;
mod agreement;
mod bootstrap;
mod cluster_sums;
mod correlation;
mod estimate;
mod holm;
mod label_swap;
mod outcome;
mod paired;
mod power;
mod resampling;
mod sign_flip;
mod sign_test;
mod student;
mod sum;

pub use aggregate::Aggregate;
pub use agreement::{Agreement, Confusion, Decisions, kappa};
pub use bootstrap::{Bootstrap, bootstrap};
pub use cluster_sums::ClusterSums;
pub use correlation::{auc, kendall_tau_b, pearson, spearman};
pub use estimate::{Estimate, Interval};
pub use holm::holm;
pub use label_swap::label_swap;
pub use outcome::{Method, Outcome};
pub use paired::Paired;
pub use power::{POWER, minimal_detectable, samples_needed};
pub use resampling::Resampling;
pub use sign_flip::sign_flip;
pub use sign_test::sign_test;
pub(crate) use student::normal_quantile;
pub use sum::{Sum, mean};

/// Seed of every resampling, so that the same input gives the same verdict.
pub const SEED: u64 = 20_240_607;

/// Draws of every resampling; fewer where the input is so large that they would take minutes.
pub const DRAWS: u64 = 10_000;

/// Numbers that differ by this share of their magnitude differ by rounding: some thousand times the precision of `f64`,
/// and far below what any judge resolves.
const ROUNDING: f64 = 1e-12;
