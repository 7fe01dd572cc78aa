//! The exit codes, made here and nowhere else.
//!
//! 1 stands for a violated rule alone: no accident may look like a block, and none like a pass.

use std::process::Termination;

use gate::verdict::Outcome;

/// How a run of the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitCode {
    /// Pass, warnings allowed; or the command did what it was asked.
    Pass = 0,
    /// A rule of the policy is violated.
    Blocked = 1,
    /// Wrong usage or configuration.
    Usage = 2,
    /// Cannot judge: input missing, corrupt, incomparable, incomplete; or output that could not be written.
    CannotJudge = 3,
    /// A bug in rag-gate.
    Internal = 4,
    /// Ctrl-C, SIGTERM or SIGHUP.
    #[cfg(feature = "runner")]
    Interrupted = 130,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => ExitCode::Pass,
            Outcome::Block => ExitCode::Blocked,
            Outcome::Undecided => ExitCode::CannotJudge,
        }
    }
}

impl Termination for ExitCode {
    fn report(self) -> std::process::ExitCode {
        std::process::ExitCode::from(self as u8)
    }
}
