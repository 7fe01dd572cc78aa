//! Is the answer as long as it should be?

use unicode_segmentation::UnicodeSegmentation as _;

use super::formula::{Formula, holds};
use super::info;
use crate::outcome::Outcome;
use crate::registry::{Build, BuildError};
use crate::{Column, Metric, sentences};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Characters as people see them: grapheme clusters.
    Characters,
    /// Words, as Unicode cuts them (UAX 29).
    Words,
    /// Sentences, as judged metrics cut them.
    Sentences,
}

impl Unit {
    /// The unit of a table; characters where it names none.
    pub(crate) fn of(of: &Build<'_>) -> Result<Self, BuildError> {
        match of.section.unit.as_deref() {
            None | Some("characters") => Ok(Unit::Characters),
            Some("words") => Ok(Unit::Words),
            Some("sentences") => Ok(Unit::Sentences),
            Some(other) => Err(of.bad(
                "unit",
                format!("`{other}` is none of characters, words, sentences"),
            )),
        }
    }

    /// How many there are in a text.
    pub(crate) fn count(self, text: &str) -> u64 {
        (match self {
            Unit::Characters if text.is_ascii() => text.len(),
            Unit::Characters => text.graphemes(true).count(),
            Unit::Words => text.unicode_words().count(),
            Unit::Sentences => sentences::split(text).len(),
        }) as u64
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Characters => "characters",
            Unit::Words => "words",
            Unit::Sentences => "sentences",
        }
    }
}

/// 1 when the answer, without white space around it, is from `at_least` to `at_most` long.
pub(super) fn build(of: &Build<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let (least, most) = (of.section.at_least, of.section.at_most);
    if least.is_none() && most.is_none() {
        return Err(of.lacks(
            "at_most",
            "say in it, or in `at_least`, how long an answer may be",
        ));
    }
    let (least, most) = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
    if least > most {
        return Err(of.bad("at_least", "it is above `at_most`"));
    }
    let unit = Unit::of(of)?;
    let mut info = info(of.name, false);
    info.needs = vec![Column::Answer];
    info.version = format!("{}, {least} to {most} {}", info.version, unit.name());
    Ok(Formula::boxed(info, move |sample| {
        let Some(answer) = &sample.answer else {
            return Outcome::NotApplicable("no answer".to_owned());
        };
        let count = unit.count(answer.trim());
        holds((least..=most).contains(&count), || {
            let limit = match count < least {
                true => format!("at least {least}"),
                false => format!("at most {most}"),
            };
            format!("{count} {}, {limit} wanted", unit.name())
        })
    }))
}
