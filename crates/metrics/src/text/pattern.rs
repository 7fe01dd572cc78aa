//! Does the answer match a regular expression?

use regex::RegexBuilder;

use super::formula::{Formula, holds};
use super::info;
use super::presence::fingerprint;
use crate::outcome::Outcome;
use crate::registry::{Build, BuildError};
use crate::{Column, Metric};

/// Most memory that a compiled pattern may take, in bytes.
const LARGEST: usize = 1 << 20;

/// 1 when `pattern` matches anywhere in the answer. Matching takes time linear in the answer, whatever the pattern.
pub(super) fn build(of: &Build<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let Some(pattern) = &of.section.pattern else {
        return Err(of.lacks(
            "pattern",
            "the regular expression that a good answer matches",
        ));
    };
    let ignores_case = of.section.ignore_case.unwrap_or(false);
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .size_limit(LARGEST)
        .build()
        .map_err(|error| of.bad("pattern", error))?;
    let mut info = info(of.name, false);
    info.needs = vec![Column::Answer];
    info.version = format!(
        "{}, {}",
        info.version,
        fingerprint(&format!("{pattern} {ignores_case}"))
    );
    Ok(Formula::boxed(info, move |sample| match &sample.answer {
        Some(answer) => holds(regex.is_match(answer), || {
            format!("the answer does not match `{}`", regex.as_str())
        }),
        None => Outcome::NotApplicable("no answer".to_owned()),
    }))
}
