//! What can go wrong around a decision, and which exit code it has.

use std::io;
use std::path::PathBuf;

use gate::policy::PolicyError;
use gate::results::ReadError;

use crate::exit_code::ExitCode;

/// Anything that ends the command early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line asks for something that makes no sense.
    #[error("{message}")]
    Usage {
        message: String,
        help: Option<String>,
    },
    /// gate.toml is wrong.
    #[error("{}", error.message)]
    Policy {
        name: String,
        text: String,
        error: PolicyError,
    },
    /// A file is not there.
    #[error("{what} {path} does not exist")]
    Missing {
        what: &'static str,
        path: String,
        help: String,
    },
    /// A file cannot be opened or read.
    #[error("could not read {path}: {error}")]
    Unreadable { path: String, error: io::Error },
    /// A file is not what it should be.
    #[error("{path}: {error}")]
    Input { path: String, error: ReadError },
    /// A dataset is not what it should be.
    #[cfg(feature = "runner")]
    #[error("{path}: {error}")]
    Dataset {
        path: String,
        error: runner::dataset::DatasetError,
    },
    /// git does not give what is needed.
    #[error("{message}")]
    Git {
        message: String,
        help: Option<String>,
    },
    /// A file cannot be written.
    #[error("could not write {}: {error}", path.display())]
    Output { path: PathBuf, error: io::Error },
    /// The inputs do not allow what was asked.
    #[error("{message}")]
    Refused {
        message: String,
        help: Option<String>,
    },
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::Usage {
            message: message.into(),
            help: None,
        }
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> Option<&str> {
        match self {
            Error::Usage { help, .. } | Error::Git { help, .. } | Error::Refused { help, .. } => {
                help.as_deref()
            }
            Error::Policy { error, .. } => error.help.as_deref(),
            Error::Missing { help, .. } => Some(help),
            Error::Input { error, .. } => error.help.as_deref(),
            #[cfg(feature = "runner")]
            Error::Dataset { error, .. } => error.help.as_deref(),
            Error::Unreadable { .. } | Error::Output { .. } => None,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Error::Usage { .. } | Error::Policy { .. } => ExitCode::Usage,
            #[cfg(feature = "runner")]
            Error::Dataset { error, .. } if error.is_of_options => ExitCode::Usage,
            #[cfg(feature = "runner")]
            Error::Dataset { .. } => ExitCode::CannotJudge,
            Error::Missing { .. }
            | Error::Unreadable { .. }
            | Error::Input { .. }
            | Error::Git { .. }
            | Error::Output { .. }
            | Error::Refused { .. } => ExitCode::CannotJudge,
        }
    }
}
