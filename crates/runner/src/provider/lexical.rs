//! The lexical judge: a formula over the words, which needs neither network nor key.

use metrics::{FailureKind, Reading, Request};

use super::{CallError, Completion, Scope, Usage, simulated};

/// The answer, already read.
pub(super) fn read(request: &Request) -> Result<Reading, CallError> {
    metrics::lexical::answer(request).ok_or_else(|| {
        CallError::new(
            FailureKind::Refused,
            Scope::Call,
            format!(
                "the lexical judge compares words and cannot score `{}`: set another provider in [judge]",
                request.metric
            ),
        )
    })
}

/// The answer as a language model would write it.
pub(super) fn complete(request: &Request) -> Result<Completion, CallError> {
    Ok(Completion {
        text: simulated::written(&read(request)?),
        model: None,
        usage: Usage::default(),
        is_cut: false,
        numerals: Vec::new(),
        is_computed: true,
    })
}
