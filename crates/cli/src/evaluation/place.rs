//! The place in gate.toml that an error points at.

use std::path::Path;

use gate::policy::PolicyError;
use runner::provider::ConfigError;

use crate::error::Error;
use crate::input;

/// gate.toml, as it was named and as it is written; `None` where there is none.
pub(crate) struct Place<'a> {
    pub(crate) config: Option<&'a Path>,
    pub(crate) text: Option<&'a str>,
}

impl Place<'_> {
    /// An error of gate.toml, or of the command line where there is none.
    pub(crate) fn error(
        &self,
        message: String,
        help: Option<String>,
        span: Option<std::ops::Range<usize>>,
    ) -> Error {
        match (self.config, self.text) {
            (Some(path), Some(text)) => {
                let mut error = PolicyError {
                    message,
                    span,
                    help,
                };
                if error
                    .span
                    .as_ref()
                    .is_some_and(|span| text.get(span.clone()).is_none())
                {
                    error.span = None;
                }
                Error::Policy {
                    name: input::name(path),
                    text: text.to_owned(),
                    error,
                }
            }
            _ => Error::Usage { message, help },
        }
    }

    /// An error of `[judge]` or `[embeddings]`.
    pub(crate) fn config(&self, error: ConfigError) -> Error {
        self.error(error.message, error.help, error.span)
    }
}
