//! One file a subcommand.

mod baseline;
#[cfg(feature = "runner")]
pub(crate) mod cache;
pub(crate) mod check;
#[cfg(feature = "runner")]
mod ci;
#[cfg(feature = "runner")]
mod demo;
#[cfg(feature = "runner")]
mod dry_run;
mod explain;
#[cfg(feature = "generate")]
mod generate;
#[cfg(feature = "runner")]
mod judge;
#[cfg(feature = "runner")]
mod metrics;
#[cfg(feature = "runner")]
mod plan;
#[cfg(feature = "runner")]
mod run;
#[cfg(feature = "runner")]
pub(crate) mod runs;
#[cfg(feature = "generate")]
mod schema;
#[cfg(feature = "runner")]
pub(crate) mod units;
mod update;
mod wrap;

use std::path::{Path, PathBuf};

use gate::policy::Policy;

use crate::args::{Args, BaselineCommand, Command};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::input;

/// The policy's file where nobody names one.
const CONFIG: &str = "gate.toml";

/// Runs the subcommand.
pub(crate) fn dispatch(args: Args) -> Result<ExitCode, Error> {
    match args.command {
        Command::Check(args) => check::run(&args),
        #[cfg(feature = "runner")]
        Command::Run(args) => run::run(&args),
        #[cfg(feature = "runner")]
        Command::Ci(args) => ci::run(&args),
        #[cfg(feature = "runner")]
        Command::Demo { folder } => demo::run(&folder),
        Command::Baseline(BaselineCommand::Update(args)) => update::run(&args),
        Command::Baseline(BaselineCommand::Show { baseline, config }) => {
            baseline::show(&baseline_path(baseline.as_deref(), config.as_deref())?)
        }
        Command::Baseline(BaselineCommand::Diff { before, now }) => baseline::diff(&before, &now),
        Command::Baseline(BaselineCommand::History { baseline, config }) => {
            baseline::history(&baseline_path(baseline.as_deref(), config.as_deref())?)
        }
        #[cfg(feature = "runner")]
        Command::Plan(args) => plan::run(&args),
        #[cfg(feature = "runner")]
        Command::Judge(command) => judge::run(&command),
        #[cfg(feature = "runner")]
        Command::Runs(args) => runs::run(&args),
        #[cfg(feature = "runner")]
        Command::Cache(args) => cache::run(&args),
        #[cfg(feature = "runner")]
        Command::Metrics(args) => metrics::run(&args),
        Command::Explain { code } => explain::run(code.as_deref()),
        #[cfg(feature = "generate")]
        Command::Schema { name } => schema::run(name),
        #[cfg(feature = "generate")]
        Command::Generate(command) => generate::run(command),
    }
}

/// gate.toml: the one that is named, or the one in this folder; `None` when there is none.
pub(crate) fn config_path(named: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    match named {
        Some(path) if !path.exists() => Err(Error::Usage {
            message: format!("the policy {} does not exist", path.display()),
            help: Some(
                "name an existing file with --config, or leave it out to use the defaults"
                    .to_owned(),
            ),
        }),
        Some(path) => Ok(Some(path.to_owned())),
        None => {
            let path = PathBuf::from(CONFIG);
            // A link that leads nowhere was meant to be a policy: without it every limit would be gone.
            match (path.exists(), path.symlink_metadata().is_ok()) {
                (true, _) => Ok(Some(path)),
                (false, true) => Err(Error::Usage {
                    message: format!("{CONFIG} is a link to a file that is not there"),
                    help: Some("bring the file, or remove the link to use the defaults".to_owned()),
                }),
                (false, false) => Ok(None),
            }
        }
    }
}

/// The policy of a path, or the defaults.
pub(crate) fn policy(path: Option<&Path>) -> Result<(Policy, Option<String>), Error> {
    match path {
        Some(path) => input::policy(path).map(|(policy, text)| (policy, Some(text))),
        None => Ok((Policy::default(), None)),
    }
}

/// The baseline that a policy names: relative to gate.toml, not to the current folder.
pub(crate) fn baseline_of(policy: &Policy, config: Option<&Path>) -> Option<PathBuf> {
    Some(beside(config, policy.baseline()?))
}

/// A path of gate.toml, which is relative to it.
pub(crate) fn beside(config: Option<&Path>, named: &str) -> PathBuf {
    let folder = config
        .and_then(Path::parent)
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) => folder.join(named),
        None => PathBuf::from(named),
    }
}

/// The baseline that the command line names, or gate.toml.
fn baseline_path(named: Option<&Path>, config: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let config = config_path(config)?;
    let (policy, _) = policy(config.as_deref())?;
    baseline_of(&policy, config.as_deref()).ok_or_else(no_baseline_named)
}

/// Nobody says where the baseline is.
pub(crate) fn no_baseline_named() -> Error {
    Error::Usage {
        message: "no baseline is named".to_owned(),
        help: Some(
            "name it on the command line, or in gate.toml: baseline = \"baseline/main.json\""
                .to_owned(),
        ),
    }
}
