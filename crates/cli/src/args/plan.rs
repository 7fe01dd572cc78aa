//! `plan`.

use std::path::PathBuf;

use crate::commands::units::{Share, Span};

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Samples of the dataset [default: those of gate.toml's dataset]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// Variants of the target [default: those of gate.toml, else 1]
    #[arg(long, value_name = "N")]
    pub(crate) variants: Option<u32>,
    /// Metrics that ask the judge [default: those of gate.toml, else 1]
    #[arg(long, value_name = "N")]
    pub(crate) metrics: Option<u32>,
    /// How often each question is asked
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeats: u32,
    /// Calls that a metric makes for one sample [default: those of gate.toml's metrics, else 1]
    #[arg(long, value_name = "N")]
    pub(crate) calls_per_score: Option<u32>,
    /// Median latency of a call [default: `latency` of gate.toml, else 8s]
    #[arg(long, value_name = "TIME", conflicts_with_all = ["latencies", "from_cache"])]
    pub(crate) latency: Option<Span>,
    /// Spread of the latency: standard deviation of its logarithm [default: `latency_sigma` of gate.toml, else 0.4]
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["latencies", "from_cache"])]
    pub(crate) sigma: Option<f64>,
    /// Latencies that were measured: a JSON list of seconds, results that have `latency_s`, or the folder of a cache
    #[arg(long, value_name = "PATH", conflicts_with = "from_cache")]
    pub(crate) latencies: Option<PathBuf>,
    /// Latencies of the answers in the cache of gate.toml
    #[arg(long)]
    pub(crate) from_cache: bool,
    /// Calls at once; several are compared [default: `concurrency` of gate.toml, else 1,2,4,8]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) concurrency: Vec<std::num::NonZeroU32>,
    /// Percentage of the answers that the cache has; several are compared
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        default_value = "0"
    )]
    pub(crate) cached: Vec<Share>,
    /// Tokens of a question, on average
    #[arg(long, value_name = "N")]
    pub(crate) prompt_tokens: Option<f64>,
    /// Tokens of an answer, on average
    #[arg(long, value_name = "N")]
    pub(crate) completion_tokens: Option<f64>,
    /// US dollars for a million tokens of questions [default: `price.prompt` of gate.toml]
    #[arg(long, value_name = "USD")]
    pub(crate) price_prompt: Option<f64>,
    /// US dollars for a million tokens of answers [default: `price.completion` of gate.toml]
    #[arg(long, value_name = "USD")]
    pub(crate) price_completion: Option<f64>,
    /// Most calls a minute [default: `rpm` of gate.toml]
    #[arg(long, value_name = "N")]
    pub(crate) rpm: Option<std::num::NonZeroU32>,
    /// Most tokens a minute [default: `tpm` of gate.toml]
    #[arg(long, value_name = "N")]
    pub(crate) tpm: Option<std::num::NonZeroU32>,
    /// Draws the latencies
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) seed: u64,
    /// How the plan is written
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: PlanOutput,
    /// The policy [default: gate.toml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// How a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlanOutput {
    /// A table
    Text,
    /// All numbers, in seconds and US dollars
    Json,
}
