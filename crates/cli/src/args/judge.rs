//! `judge`.

use std::path::PathBuf;

use clap::Subcommand;
use gate::policy::CacheMode;

use super::{EXIT_CODES, EvaluationArgs};
use crate::evaluation::LogFormat;

/// What `judge agreement --help` ends with.
const AGREEMENT_EXAMPLES: &str = "\
Examples:
  rag-gate judge agreement labels.csv results.json
      with the one label and the one metric that the files have, or those of one name
  rag-gate judge agreement labels.jsonl results.json --metric faithfulness --label human
      where they have several
  rag-gate judge agreement labels.jsonl results.json --human-threshold 4 --judge-threshold 0.8
      where people give 1 to 5, and the judge 0 to 1

Exit codes:
  0  compared
  2  wrong usage
  3  nothing to compare: a file is missing or corrupt, or no answer has both
  4  internal error: a bug";

/// What `judge drift --help` ends with.
const DRIFT_CODES: &str = "\
Exit codes:
  0  the judge did not move
  2  wrong usage or configuration
  3  the judge moved, or it cannot be told
  4  internal error: a bug
  130  interrupted";

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Compare a judge's scores with human labels
    #[command(after_help = AGREEMENT_EXAMPLES)]
    Agreement(AgreementArgs),
    /// Pin a handful of answers with the judge's scores, to ask it about again
    #[command(after_help = EXIT_CODES)]
    Pin(PinArgs),
    /// Ask the judge about its pinned answers again, past the cache: did the judge itself move?
    #[command(after_help = DRIFT_CODES)]
    Drift(DriftArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgreementArgs {
    /// Human labels: JSONL, JSON or CSV with `id` and a column a label, or results whose scores are human
    pub(crate) labels: PathBuf,
    /// Results with the judge's scores
    pub(crate) results: PathBuf,
    /// The judge's metric [default: the only one, or the one that is called as the label]
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// The human label [default: the only one, or the one that is called as the metric]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// The label from which a human says yes [default: 0.5, for labels from 0 to 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    pub(crate) human_threshold: Option<f64>,
    /// The score from which the judge says yes [default: 0.5, for scores from 0 to 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    pub(crate) judge_threshold: Option<f64>,
    /// Print all numbers as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("`{text}` is no number"))
}

#[derive(Debug, clap::Args)]
pub(crate) struct PinArgs {
    /// How many answers
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(5..=1000))]
    pub(crate) samples: u32,
    /// The file to write [default: `judge.pinned` of gate.toml, else judge.jsonl beside the baseline]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// The dataset, also .gz or .zst [default: `dataset.path` of gate.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) dataset: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DriftArgs {
    /// The pinned answers [default: `judge.pinned` of gate.toml, else judge.jsonl beside the baseline]
    #[arg(long, value_name = "FILE")]
    pub(crate) pinned: Option<PathBuf>,
    /// Print all numbers as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// What `judge pin` and `judge drift` have in common.
#[derive(Debug, clap::Args)]
pub(crate) struct AskingArgs {
    /// The configuration [default: gate.toml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Most calls at once [default: `judge.concurrency` of gate.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) concurrency: Option<u32>,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How log lines on standard error look
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) log_format: LogFormat,
}

impl AskingArgs {
    /// As an evaluation without a cache.
    pub(crate) fn evaluation(&self, dataset: Option<PathBuf>) -> EvaluationArgs {
        EvaluationArgs {
            config: self.config.clone(),
            dataset,
            cache: Some(CacheMode::Off),
            concurrency: self.concurrency,
            quiet: self.quiet,
            log_format: self.log_format,
            ..EvaluationArgs::default()
        }
    }
}
