//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[cfg(feature = "runner")]
use gate::policy::CacheMode;

#[cfg(feature = "runner")]
use crate::commands::units::{Age, Share, Size, Span};
#[cfg(feature = "runner")]
use crate::evaluation::LogFormat;
use crate::output::Output;

/// Exit codes, as every help page shows them.
const EXIT_CODES: &str = "\
Exit codes:
  0  pass (warnings allowed)
  1  blocked: a rule of the policy is violated
  2  wrong usage or configuration
  3  cannot judge: input missing, corrupt, incomparable or incomplete
  4  internal error: a bug
  130  interrupted";

/// A CI quality gate for RAG and LLM applications: stops a merge when the answers got worse
#[derive(Debug, Parser)]
#[command(name = "rag-gate", version, propagate_version = true, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge results against a baseline
    #[command(after_help = EXIT_CODES, after_long_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Score a dataset and write results
    #[cfg(feature = "runner")]
    #[command(after_help = EXIT_CODES, after_long_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Score a dataset and judge the results: run and check in one
    #[cfg(feature = "runner")]
    #[command(after_help = EXIT_CODES, after_long_help = CI_EXAMPLES)]
    Ci(CiArgs),
    /// See the gate block a real regression, in a new folder
    #[cfg(feature = "runner")]
    Demo {
        /// The folder to make
        #[arg(default_value = "rag-gate-demo")]
        folder: PathBuf,
    },
    /// Update, show and compare baselines
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Say how long a run will take and what it will cost, before it does
    #[cfg(feature = "runner")]
    #[command(after_help = EXIT_CODES)]
    Plan(PlanArgs),
    /// See how far the judge can be trusted: against people, and against its own past
    #[cfg(feature = "runner")]
    #[command(subcommand)]
    Judge(JudgeCommand),
    /// List the runs that were recorded
    #[cfg(feature = "runner")]
    Runs(RunsArgs),
    /// Look after the answers that were paid for
    #[cfg(feature = "runner")]
    Cache(CacheArgs),
    /// List the metrics that can be computed
    #[cfg(feature = "runner")]
    Metrics(MetricsArgs),
    /// Say what a reason code means and what to do
    Explain {
        /// The code, such as `regression`; without one, all codes are listed
        code: Option<String>,
    },
    /// Print the JSON Schema of a file
    #[cfg(feature = "generate")]
    Schema {
        /// The file
        name: SchemaName,
    },
    /// Write shell completions or man pages
    #[cfg(feature = "generate")]
    #[command(subcommand)]
    Generate(GenerateCommand),
}

/// What `check --help` ends with.
const CHECK_EXAMPLES: &str = "\
Examples:
  rag-gate check results.json baseline.json
      with the limits of gate.toml, or the defaults where there is none
  rag-gate check results.json
      with the baseline that gate.toml names
  rag-gate check results.json --base auto --output github --output json=verdict.json
      on a pull request: policy and baseline come from the base, not from the change
  my-eval | rag-gate check - baseline.json.gz
      from standard input; .gz and .zst are read

Exit codes:
  0  pass (warnings allowed)
  1  blocked: a rule of the policy is violated
  2  wrong usage or configuration
  3  cannot judge: input missing, corrupt, incomparable or incomplete
  4  internal error: a bug
  130  interrupted";

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Results to judge: a JSON file (also .gz or .zst), or - for standard input
    pub(crate) results: PathBuf,
    /// Baseline to judge against [default: `baseline` of gate.toml]
    pub(crate) baseline: Option<PathBuf>,
    /// The policy [default: gate.toml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

/// What `check` and `ci` have in common.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct JudgingArgs {
    /// Take policy, baseline and history from this git ref, so that a change cannot judge itself; `auto` finds it
    #[arg(long, value_name = "REF")]
    pub(crate) base: Option<String>,
    /// Apply the absolute limits alone when there is no baseline yet
    #[arg(long)]
    pub(crate) allow_missing_baseline: bool,
    /// Write a rendering: text, markdown, json, junit or github (annotations); repeatable
    #[arg(short, long, value_name = "FORMAT[=FILE]")]
    pub(crate) output: Vec<Output>,
    /// Leave out what judges and targets said about single samples (JSON keeps it)
    #[arg(long)]
    pub(crate) hide_text: bool,
}

/// What `run --help` ends with.
#[cfg(feature = "runner")]
const RUN_EXAMPLES: &str = "\
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
#[cfg(feature = "runner")]
const CI_EXAMPLES: &str = "\
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

#[cfg(feature = "runner")]
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
#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
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

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Make accepted results the baseline, after a merge
    #[command(after_help = EXIT_CODES)]
    Update(UpdateArgs),
    /// Show what a baseline holds and what accepted it
    Show {
        /// The baseline [default: `baseline` of gate.toml]
        baseline: Option<PathBuf>,
        /// The policy that names it
        #[arg(short, long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Compare two results files or baselines, without judging
    Diff {
        /// The older one
        before: PathBuf,
        /// The newer one
        now: PathBuf,
    },
    /// Show how the accepted baselines went, a line a metric
    History {
        /// The baseline beside which history.jsonl lies [default: `baseline` of gate.toml]
        baseline: Option<PathBuf>,
        /// The policy that names it
        #[arg(short, long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// Results of the accepted code; several runs of the same code become their average
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// The baseline to write; history.jsonl lies beside it [default: `baseline` of gate.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// The policy [default: gate.toml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Accept the loss of a metric (a name, or a pattern such as `retrieval.*`); needs --reason
    #[arg(long, value_name = "METRIC", requires = "reason")]
    pub(crate) accept: Vec<String>,
    /// Why the loss is accepted; kept in the baseline and its history
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The commit that was merged [default: the run's commit]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
    /// The pull request that was merged
    #[arg(long, value_name = "NUMBER")]
    pub(crate) pull_request: Option<String>,
    /// Who accepted it
    #[arg(long, value_name = "NAME", env = "GITHUB_ACTOR")]
    pub(crate) by: Option<String>,
    /// When it was accepted, RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
}

#[cfg(feature = "runner")]
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
#[cfg(feature = "runner")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlanOutput {
    /// A table
    Text,
    /// All numbers, in seconds and US dollars
    Json,
}

/// What `judge agreement --help` ends with.
#[cfg(feature = "runner")]
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
#[cfg(feature = "runner")]
const DRIFT_CODES: &str = "\
Exit codes:
  0  the judge did not move
  2  wrong usage or configuration
  3  the judge moved, or it cannot be told
  4  internal error: a bug
  130  interrupted";

#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("`{text}` is no number"))
}

#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
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
#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
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

#[cfg(feature = "runner")]
#[derive(Debug, clap::Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    /// How many runs are listed, the last ones
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) last: usize,
    /// The record [default: `runs.path` of gate.toml, else .rag-gate/runs.jsonl beside it]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) path: Option<PathBuf>,
    /// The policy that names it
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}

#[cfg(feature = "runner")]
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Show all that is recorded of a run, and what differs from the run before it
    Show {
        /// Its name, its id, or the beginning of its id [default: the last run]
        run: Option<String>,
    },
    /// Record results that another tool wrote
    Add {
        /// The results
        results: PathBuf,
    },
    /// Remove old runs from the record; their results stay
    Prune {
        /// Keep this many, the last ones
        #[arg(long, value_name = "N", required_unless_present = "older_than")]
        keep: Option<usize>,
        /// Remove those that started longer ago, such as 90d
        #[arg(long, value_name = "AGE")]
        older_than: Option<Age>,
    },
}

#[cfg(feature = "runner")]
#[derive(Debug, clap::Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
    /// The cache [default: `cache.path` of gate.toml, else .rag-gate/cache beside it]
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) path: Option<PathBuf>,
    /// The policy that names it
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}

#[cfg(feature = "runner")]
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Say how many answers there are, how large and how old
    Stats,
    /// Remove old answers, and what is damaged
    Prune {
        /// Remove answers that were given longer ago, such as 30d
        #[arg(long, value_name = "AGE")]
        older_than: Option<Age>,
        /// Remove the oldest answers until the rest fits, such as 500MB
        #[arg(long, value_name = "SIZE")]
        max_size: Option<Size>,
    },
    /// Remove all answers
    Clear,
    /// Write all answers into one file, to commit or to carry to another machine
    Pack {
        /// The file, or - for standard output
        file: PathBuf,
    },
    /// Add the answers of a packed file
    Unpack {
        /// The file, or - for standard input
        file: PathBuf,
    },
}

#[cfg(feature = "runner")]
#[derive(Debug, clap::Args)]
pub(crate) struct MetricsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MetricsCommand>,
    /// Print all that is known of each as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "runner")]
#[derive(Debug, Subcommand)]
pub(crate) enum MetricsCommand {
    /// Show how a metric is defined, what it asks a judge, and what it takes from gate.toml
    Show {
        /// Its name, such as `faithfulness` or `recall@5`, or that of a metric of gate.toml
        name: String,
        /// The configuration [default: gate.toml, if there is one]
        #[arg(short, long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// Files that have a schema.
#[cfg(feature = "generate")]
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum SchemaName {
    /// results.json
    Results,
    /// baseline.json
    Baseline,
    /// verdict.json
    Verdict,
    /// gate.toml
    Gate,
    /// history.jsonl, one line
    History,
}

#[cfg(feature = "generate")]
#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one a command into a folder
    Man {
        /// The folder
        folder: Option<PathBuf>,
    },
}
