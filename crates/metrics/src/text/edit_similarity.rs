//! How few letters have to be changed?

use rapidfuzz::distance::{indel, jaro_winkler, levenshtein};

use super::formula::{Formula, score};
use super::{info, sides};
use crate::Metric;
use crate::outcome::Outcome;
use crate::registry::{Build, BuildError};

/// 1 minus the normalised distance on code points, the best over the references.
pub(super) fn build(of: &Build<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let similarity: fn(&str, &str) -> f64 = match of.section.similarity.as_deref() {
        None | Some("levenshtein") => {
            |one, other| levenshtein::normalized_similarity(one.chars(), other.chars())
        }
        Some("indel") => |one, other| indel::normalized_similarity(one.chars(), other.chars()),
        Some("jaro_winkler") => {
            |one, other| jaro_winkler::normalized_similarity(one.chars(), other.chars())
        }
        Some(other) => {
            return Err(of.bad(
                "similarity",
                format!("`{other}` is none of levenshtein, indel, jaro_winkler"),
            ));
        }
    };
    let mut info = info(of.name, false);
    if let Some(named) = &of.section.similarity {
        info.version = format!("{}, {named}", info.version);
    }
    Ok(Formula::boxed(info, move |sample| match sides(sample) {
        Ok((answer, references)) => score(
            references
                .iter()
                .map(|reference| similarity(answer, reference))
                .fold(0.0, f64::max)
                .clamp(0.0, 1.0),
        ),
        Err(why) => Outcome::NotApplicable(why),
    }))
}
