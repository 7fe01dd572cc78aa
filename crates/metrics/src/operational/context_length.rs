//! How much the target's model had to read.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{info, score};
use crate::outcome::{Answer, Outcome, Step};
use crate::registry::{Build, BuildError};
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

/// `context_length`: the lengths of all passages, added up.
#[derive(Debug)]
pub(super) struct ContextLength {
    info: Info,
    length: fn(&str) -> usize,
}

impl ContextLength {
    pub(super) fn new(of: &Build<'_>) -> Result<Self, BuildError> {
        let mut info = info(of.name, vec![Column::Contexts]);
        let unit = of.section.unit.as_deref().unwrap_or("characters");
        let length = match unit {
            "characters" => characters,
            "words" => words,
            "sentences" => |text: &str| sentences::split(text).len(),
            _ => {
                return Err(of.bad("unit", "one of `characters`, `words` and `sentences`"));
            }
        };
        info.version = format!("1, in {unit}");
        Ok(ContextLength { info, length })
    }
}

impl Metric for ContextLength {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let Some(contexts) = &sample.contexts else {
            return Step::Done(Outcome::NotApplicable("no contexts".to_owned()));
        };
        let lengths = contexts.iter().map(|context| (self.length)(&context.text));
        score(lengths.sum::<usize>() as f64)
    }
}

/// As a reader counts them: an accent is a part of its letter, and a family is one emoji.
fn characters(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len() - text.matches("\r\n").count(),
        false => text.graphemes(true).count(),
    }
}

fn words(text: &str) -> usize {
    text.unicode_words().count()
}
