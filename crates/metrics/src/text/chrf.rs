//! chrF and chrF++, as sacrebleu computes them.

use std::hash::Hash;

use super::bleu::{VERSION, number_of_references};
use super::formula::score;
use super::ngrams::{Counts, Numbers};
use super::{info, sides, tokens};
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Corpus, Info, Metric};

/// The longest n-gram of letters.
const LETTERS: u32 = 6;

/// Recall weighs twice as much as precision.
const BETA: f64 = 2.0;

/// F-score of n-grams of letters, and of words where `words` is above 0; the best over the references.
#[derive(Debug)]
pub(super) struct Chrf {
    info: Info,
    /// The longest n-gram of words: 0 in chrF, 2 in chrF++.
    words: u32,
}

impl Chrf {
    pub(super) fn new(name: &str, words: u32) -> Self {
        Chrf {
            info: info(name, false),
            words,
        }
    }
}

impl Metric for Chrf {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        Step::Done(match sides(sample) {
            Ok((answer, references)) => score(best(answer, &references, self.words).1),
            Err(why) => Outcome::NotApplicable(why),
        })
    }

    fn corpus(&self) -> Option<Box<dyn Corpus>> {
        Some(Box::new(CorpusChrf {
            words: self.words,
            sum: vec![Counts::default(); (LETTERS + self.words) as usize],
            references: None,
        }))
    }
}

/// The counts against the reference with the highest score, and that score.
fn best(answer: &str, references: &[&str], words: u32) -> (Vec<Counts>, f64) {
    let scored = references.iter().map(|reference| {
        let counts = counts(answer, reference, words);
        let score = f_score(&counts);
        (counts, score)
    });
    scored
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .unwrap_or_default()
}

fn counts(answer: &str, reference: &str, words: u32) -> Vec<Counts> {
    let letters = |text| tokens::split(text).flat_map(str::chars);
    let mut all = of_sides(letters(answer), letters(reference), LETTERS);
    if words > 0 {
        let marked = |text| without_marks(text).into_iter();
        all.append(&mut of_sides(marked(answer), marked(reference), words));
    }
    // N-grams that the reference is too short for count on no side.
    for counts in &mut all {
        if counts.reference == 0 {
            counts.answer = 0;
        }
    }
    all
}

fn of_sides<T: Eq + Hash>(
    answer: impl Iterator<Item = T>,
    reference: impl Iterator<Item = T>,
    order: u32,
) -> Vec<Counts> {
    let mut numbers = Numbers::default();
    let answer = numbers.of(answer);
    let reference = numbers.of(reference);
    numbers.counts(&answer, &[&reference], order)
}

/// The words, each with the sign of ASCII at its end, or else at its beginning, as a word of its own.
fn without_marks(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in tokens::split(text) {
        let last = word.char_indices().next_back();
        match (last, word.chars().next()) {
            (Some((0, _)) | None, _) => words.push(word),
            (Some((at, last)), _) if last.is_ascii_punctuation() => {
                words.extend([&word[..at], &word[at..]]);
            }
            (_, Some(first)) if first.is_ascii_punctuation() => {
                words.extend([&word[..1], &word[1..]]);
            }
            _ => words.push(word),
        }
    }
    words
}

/// From 0 to 1: the F-score of precision and recall, each averaged over the orders that both sides have (Popović 2015 and
/// 2017).
fn f_score(counts: &[Counts]) -> f64 {
    let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0_u32);
    for of in counts {
        if of.answer > 0 && of.reference > 0 {
            precision += of.shared as f64 / of.answer as f64;
            recall += of.shared as f64 / of.reference as f64;
            orders += 1;
        }
    }
    if orders == 0 || precision + recall <= 0.0 {
        return 0.0;
    }
    let (precision, recall) = (precision / f64::from(orders), recall / f64::from(orders));
    let factor = BETA * BETA;
    ((1.0 + factor) * precision * recall / (factor * precision + recall)).clamp(0.0, 1.0)
}

/// chrF of all samples together.
struct CorpusChrf {
    words: u32,
    sum: Vec<Counts>,
    /// Number of references of each sample; 0 when they differ.
    references: Option<usize>,
}

impl Corpus for CorpusChrf {
    fn add(&mut self, sample: &Sample) {
        let Ok((answer, references)) = sides(sample) else {
            return;
        };
        for (sum, counts) in self
            .sum
            .iter_mut()
            .zip(best(answer, &references, self.words).0)
        {
            sum.add(counts);
        }
        self.references = Some(match self.references {
            None => references.len(),
            Some(known) if known == references.len() => known,
            Some(_) => 0,
        });
    }

    fn value(&self) -> Option<f64> {
        self.references.map(|_| f_score(&self.sum))
    }

    fn signature(&self) -> String {
        format!(
            "nrefs:{}|case:mixed|eff:yes|nc:{LETTERS}|nw:{}|space:no|version:{VERSION}",
            number_of_references(self.references),
            self.words
        )
    }
}
