//! `run` and `ci`.

use std::path::PathBuf;

use gate::policy::CacheMode;

use super::JudgingArgs;
use crate::commands::units::Span;
use crate::evaluation::LogFormat;

/// What `run --help` ends with.
pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  rag-gate run
      what gate.toml describes; results go to .rag-gate/results.json
  rag-gate run --dataset eval/golden.jsonl
      without a gate.toml: the offline judge, and the metrics that the columns allow
  rag-gate run --check-only
      checks dataset, configuration and environment, and calls nobody
  rag-gate run --dry-run
      what it would call, what of that is cached, and what it would cost

Exit codes:
  0  every score is settled
  2  wrong usage or configuration
  3  the evaluation failed or is incomplete
  4  internal error: a bug
  130  interrupted";

/// What `ci --help` ends with.
pub(super) const CI_EXAMPLES: &str = "\
Examples:
  rag-gate ci
      with the dataset, the metrics, the limits and the baseline of gate.toml
  rag-gate ci --base auto --output github --output json=verdict.json
      on a pull request: policy and baseline come from the base, not from the change
  rag-gate ci --cache replay
      from recorded answers, without a key: what is not recorded fails

Exit codes:
  0  pass (warnings allowed)
  1  blocked: a rule of the policy is violated
  2  wrong usage or configuration
  3  cannot judge: input missing, corrupt, incomparable or incomplete
  4  internal error: a bug
  130  interrupted";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) evaluation: EvaluationArgs,
    /// Check dataset, configuration and environment, and call nobody
    #[arg(long)]
    pub(crate) check_only: bool,
    /// Print what would be called, and what it would cost
    #[arg(long, conflicts_with = "check_only")]
    pub(crate) dry_run: bool,
}

/// What `run` and `ci` have in common.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct EvaluationArgs {
    /// The configuration [default: gate.toml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The dataset, also .gz or .zst [default: `dataset.path` of gate.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) dataset: Option<PathBuf>,
    /// Where results are written [default: .rag-gate/results.json]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// What the cache is used for [default: `cache.mode` of gate.toml, or read-write]
    #[arg(long, value_name = "MODE", value_parser = cache_mode())]
    pub(crate) cache: Option<CacheMode>,
    /// Most calls at once [default: `judge.concurrency` of gate.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) concurrency: Option<u32>,
    /// End the run after so long, such as 30m; what is missing then is incomplete
    #[arg(long, value_name = "TIME")]
    pub(crate) deadline: Option<Span>,
    /// End at the first failed score, with its full cause
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How log lines on standard error look
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) log_format: LogFormat,
}

fn cache_mode() -> impl clap::builder::TypedValueParser<Value = CacheMode> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(["read-write", "off", "read-only", "refresh", "replay"]).map(|name| {
        match name.as_str() {
            "off" => CacheMode::Off,
            "read-only" => CacheMode::ReadOnly,
            "refresh" => CacheMode::Refresh,
            "replay" => CacheMode::Replay,
            _ => CacheMode::ReadWrite,
        }
    })
}

#[derive(Debug, clap::Args)]
pub(crate) struct CiArgs {
    #[command(flatten)]
    pub(crate) evaluation: EvaluationArgs,
    /// Baseline to judge against [default: `baseline` of gate.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}
