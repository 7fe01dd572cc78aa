//! The command line.

#[cfg(feature = "runner")]
mod evaluation;
#[cfg(feature = "runner")]
mod judge;
#[cfg(feature = "runner")]
mod metrics;
#[cfg(feature = "runner")]
mod plan;
#[cfg(feature = "runner")]
mod records;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[cfg(feature = "runner")]
pub(crate) use self::{
    evaluation::{CiArgs, EvaluationArgs, RunArgs},
    judge::{AgreementArgs, DriftArgs, JudgeCommand, PinArgs},
    metrics::{MetricsArgs, MetricsCommand},
    plan::{PlanArgs, PlanOutput},
    records::{CacheArgs, CacheCommand, RunsArgs, RunsCommand},
};
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
    #[command(after_help = EXIT_CODES, after_long_help = evaluation::RUN_EXAMPLES)]
    Run(RunArgs),
    /// Score a dataset and judge the results: run and check in one
    #[cfg(feature = "runner")]
    #[command(after_help = EXIT_CODES, after_long_help = evaluation::CI_EXAMPLES)]
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
