//! Does the answer contain, or begin with, what it should?

use gate::policy::Require;

use super::formula::{Formula, holds};
use super::{info, references_of};
use crate::outcome::Outcome;
use crate::reason::cut;
use crate::registry::{Build, BuildError};
use crate::{Column, Metric};

/// Where a text has to stand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Anywhere.
    Within,
    /// At the beginning, after white space.
    First,
}

/// 1 when any or all of `values`, or of the references, stand in their place.
pub(super) fn build(of: &Build<'_>, place: Place) -> Result<Box<dyn Metric>, BuildError> {
    let ignores_case = of.section.ignore_case.unwrap_or(false);
    let require = of.section.require.unwrap_or_default();
    let folded = move |text: &str| match ignores_case {
        true => text.to_lowercase(),
        false => text.to_owned(),
    };
    let values: Option<Vec<String>> = match &of.section.values {
        Some(values) if values.is_empty() || values.iter().any(String::is_empty) => {
            return Err(of.bad("values", "it wants at least one text, and no empty one"));
        }
        values => values.clone(),
    };
    let mut info = info(of.name, false);
    info.needs = match values {
        Some(_) => vec![Column::Answer],
        None => vec![Column::Answer, Column::Reference],
    };
    info.version = format!(
        "{}, {}",
        info.version,
        fingerprint(&format!("{values:?} {require:?} {ignores_case}"))
    );
    Ok(Formula::boxed(info, move |sample| {
        let Some(answer) = &sample.answer else {
            return Outcome::NotApplicable("no answer".to_owned());
        };
        let wanted: Vec<&str> = match &values {
            Some(values) => values.iter().map(String::as_str).collect(),
            None => references_of(sample),
        };
        if wanted.is_empty() {
            return Outcome::NotApplicable("no reference".to_owned());
        }
        let answer = folded(answer);
        let stands = |wanted: &&&str| {
            let wanted = folded(wanted.trim());
            match place {
                Place::Within => answer.contains(&wanted),
                Place::First => answer.trim_start().starts_with(&wanted),
            }
        };
        let missing = wanted.iter().filter(|wanted| !stands(wanted));
        let missing: Vec<&&str> = missing.collect();
        let is_met = match require {
            Require::Any => missing.len() < wanted.len(),
            Require::All => missing.is_empty(),
        };
        holds(is_met, || {
            let named: Vec<String> = missing
                .iter()
                .take(3)
                .map(|text| format!("«{}»", cut(text, 60)))
                .collect();
            format!("not there: {}", named.join(", "))
        })
    }))
}

/// Eight digits that stand for what a metric was told, in its version.
pub(super) fn fingerprint(told: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let hash = Sha256::digest(told.as_bytes());
    hash.iter().take(4).fold(String::new(), |mut hex, byte| {
        use std::fmt::Write as _;
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
