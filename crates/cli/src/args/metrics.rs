//! `metrics`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
pub(crate) struct MetricsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MetricsCommand>,
    /// Print all that is known of each as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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
