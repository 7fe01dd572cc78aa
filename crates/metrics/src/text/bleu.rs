//! BLEU, as sacrebleu computes it.

use std::collections::HashMap;

use super::formula::score;
use super::ngrams::{Counts, Numbers};
use super::tokens::{self, BleuTokenizer};
use super::{info, sides};
use crate::outcome::{Answer, Outcome, Step};
use crate::registry::{Build, BuildError};
use crate::sample::Sample;
use crate::script::is_unspaced;
use crate::{Corpus, Info, Metric};

/// The longest n-gram.
const ORDER: u32 = 4;

/// Whose numbers these are, in a signature.
pub(super) const VERSION: &str = "2.6.0";

/// Sentence BLEU with effective order and exponential smoothing, divided by 100; all references count at once.
#[derive(Debug)]
pub(super) struct Bleu {
    info: Info,
    /// `None` takes the one that suits the script of the references.
    tokenizer: Option<BleuTokenizer>,
}

impl Bleu {
    pub(super) fn build(of: &Build<'_>) -> Result<Box<dyn Metric>, BuildError> {
        let named = of.section.tokenizer.as_deref();
        let tokenizer = named
            .map(|name| {
                BleuTokenizer::named(name).ok_or_else(|| {
                    of.bad(
                        "tokenizer",
                        format!("`{name}` is none of 13a, intl, zh, char, none"),
                    )
                })
            })
            .transpose()?;
        let mut info = info(of.name, false);
        if let Some(tokenizer) = tokenizer {
            info.version = format!("{}, tok:{}", info.version, tokenizer.name());
        }
        Ok(Box::new(Bleu { info, tokenizer }))
    }

    fn statistics(&self, answer: &str, references: &[&str]) -> Statistics {
        let tokenizer = self.tokenizer.unwrap_or_else(|| tokenizer_for(references));
        Statistics::of(tokenizer, answer, references)
    }
}

/// `zh` for Chinese, `char` for other scripts without spaces, else `13a`: what sacrebleu's documentation advises.
fn tokenizer_for(references: &[&str]) -> BleuTokenizer {
    let letters = || references.iter().flat_map(|text| text.chars());
    let unspaced = letters().filter(|letter| is_unspaced(*letter)).count();
    if unspaced * 2 < letters().filter(|letter| letter.is_alphabetic()).count() || unspaced == 0 {
        return BleuTokenizer::Mteval13a;
    }
    let is_han = |letter: char| matches!(u32::from(letter), 0x3400..=0x9fff | 0xf900..=0xfaff);
    let is_kana = |letter: char| matches!(u32::from(letter), 0x3041..=0x30ff);
    match letters().any(is_han) && !letters().any(is_kana) {
        true => BleuTokenizer::Chinese,
        false => BleuTokenizer::Letters,
    }
}

impl Metric for Bleu {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        Step::Done(match sides(sample) {
            Ok((answer, references)) => score(self.statistics(answer, &references).score(true)),
            Err(why) => Outcome::NotApplicable(why),
        })
    }

    fn corpus(&self) -> Option<Box<dyn Corpus>> {
        Some(Box::new(CorpusBleu {
            tokenizer: self.tokenizer,
            sum: Statistics::default(),
            tokenizers: HashMap::new(),
            references: None,
        }))
    }
}

/// What BLEU is computed from.
#[derive(Debug, Clone, Copy, Default)]
struct Statistics {
    counts: [Counts; ORDER as usize],
    /// Tokens of the answer.
    answer: u64,
    /// Tokens of the reference that is nearest in length, the shorter of two.
    reference: u64,
}

impl Statistics {
    fn of(tokenizer: BleuTokenizer, answer: &str, references: &[&str]) -> Self {
        let cut = |text: &str| tokenizer.cut(text.trim_end_matches(tokens::is_space));
        let answer = cut(answer);
        let references: Vec<String> = references.iter().map(|text| cut(text)).collect();
        let mut numbers = Numbers::default();
        let answer = numbers.of(tokens::split(&answer));
        let references: Vec<Vec<u32>> = references
            .iter()
            .map(|text| numbers.of(tokens::split(text)))
            .collect();
        let lengths = references.iter().map(|side| side.len() as u64);
        let length = answer.len() as u64;
        let nearest = lengths.min_by_key(|of| (of.abs_diff(length), *of));
        let references: Vec<&[u32]> = references.iter().map(Vec::as_slice).collect();
        let counted = numbers.counts(&answer, &references, ORDER);
        let mut counts = [Counts::default(); ORDER as usize];
        for (place, found) in counts.iter_mut().zip(counted) {
            *place = found;
        }
        Statistics {
            counts,
            answer: length,
            reference: nearest.unwrap_or(0),
        }
    }

    fn add(&mut self, other: &Statistics) {
        for (sum, counts) in self.counts.iter_mut().zip(other.counts) {
            sum.add(counts);
        }
        self.answer += other.answer;
        self.reference += other.reference;
    }

    /// From 0 to 1. Papineni et al. 2002; smoothed as in NIST's mteval, where an order without a match counts as half of
    /// one, a quarter, and so on (Chen and Cherry 2014, method 3).
    fn score(&self, is_effective: bool) -> f64 {
        if self.counts.iter().all(|counts| counts.shared == 0) || self.answer == 0 {
            return 0.0;
        }
        let brevity = match self.answer < self.reference {
            true => (1.0 - self.reference as f64 / self.answer as f64).exp(),
            false => 1.0,
        };
        let (mut smooth, mut orders, mut logarithms) = (1.0, 0_u32, 0.0);
        for counts in self.counts {
            if counts.answer == 0 {
                break;
            }
            orders += 1;
            let precision = match counts.shared {
                0 => {
                    smooth *= 2.0;
                    1.0 / (smooth * counts.answer as f64)
                }
                shared => shared as f64 / counts.answer as f64,
            };
            logarithms += precision.ln();
        }
        if !is_effective && orders < ORDER {
            return 0.0;
        }
        (brevity * (logarithms / f64::from(orders)).exp()).clamp(0.0, 1.0)
    }
}

/// BLEU of all samples together, without effective order.
struct CorpusBleu {
    tokenizer: Option<BleuTokenizer>,
    sum: Statistics,
    /// How many samples were cut by which.
    tokenizers: HashMap<&'static str, u64>,
    /// Number of references of each sample; 0 when they differ.
    references: Option<usize>,
}

impl Corpus for CorpusBleu {
    fn add(&mut self, sample: &Sample) {
        let Ok((answer, references)) = sides(sample) else {
            return;
        };
        let tokenizer = self.tokenizer.unwrap_or_else(|| tokenizer_for(&references));
        *self.tokenizers.entry(tokenizer.name()).or_default() += 1;
        self.sum
            .add(&Statistics::of(tokenizer, answer, &references));
        self.references = Some(match self.references {
            None => references.len(),
            Some(known) if known == references.len() => known,
            Some(_) => 0,
        });
    }

    fn value(&self) -> Option<f64> {
        self.references.map(|_| self.sum.score(false))
    }

    fn signature(&self) -> String {
        let mut names: Vec<&str> = self.tokenizers.keys().copied().collect();
        names.sort_unstable();
        format!(
            "nrefs:{}|case:mixed|eff:no|tok:{}|smooth:exp|version:{VERSION}",
            number_of_references(self.references),
            names.join("+")
        )
    }
}

/// As a signature has it.
pub(super) fn number_of_references(number: Option<usize>) -> String {
    match number {
        Some(0) => "var".to_owned(),
        number => number.unwrap_or(1).to_string(),
    }
}
