//! `runs` and `cache`: what earlier runs left.

use std::path::PathBuf;

use clap::Subcommand;

use crate::commands::units::{Age, Size};

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
