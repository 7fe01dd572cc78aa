//! ROUGE, as the Python package `rouge-score` computes it.

use std::borrow::Cow;

use gate::policy::Measure;

use super::formula::{Formula, score};
use super::ngrams::Numbers;
use super::stem;
use super::tokens::RougeTokenizer;
use super::{info, sides};
use crate::Metric;
use crate::outcome::Outcome;
use crate::registry::{Build, BuildError};

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Variant {
    /// N-grams of that order.
    Grams(u32),
    /// The longest common subsequence.
    Subsequence,
}

/// ROUGE-N or ROUGE-L (Lin 2004), the best over the references.
pub(super) fn build(of: &Build<'_>, variant: Variant) -> Result<Box<dyn Metric>, BuildError> {
    let tokenizer = match of.section.tokenizer.as_deref() {
        None => RougeTokenizer::Words,
        Some(name) => RougeTokenizer::named(name).ok_or_else(|| {
            of.bad(
                "tokenizer",
                format!("`{name}` is none of words, ascii, whitespace"),
            )
        })?,
    };
    let stems = of.section.stemmer.unwrap_or(false);
    let measure = of.section.measure.unwrap_or_default();
    let mut info = info(of.name, false);
    info.version = format!(
        "{}, {measure:?}, {tokenizer:?}{}",
        info.version,
        if stems { ", stems" } else { "" }
    );
    Ok(Formula::boxed(info, move |sample| {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Outcome::NotApplicable(why),
        };
        let answer = answer.to_lowercase();
        let answer = cut(&answer, tokenizer, stems);
        let best = references
            .iter()
            .map(|reference| {
                let reference = reference.to_lowercase();
                measured(
                    &answer,
                    &cut(&reference, tokenizer, stems),
                    variant,
                    measure,
                )
            })
            .fold(0.0, f64::max);
        score(best)
    }))
}

fn cut(lower: &str, tokenizer: RougeTokenizer, stems: bool) -> Vec<Cow<'_, str>> {
    let tokens = tokenizer.cut(lower).into_iter();
    tokens
        .map(|token| match stems {
            true => {
                let mut token = token.to_owned();
                stem::stem(&mut token);
                Cow::Owned(token)
            }
            false => Cow::Borrowed(token),
        })
        .collect()
}

fn measured(
    answer: &[Cow<str>],
    reference: &[Cow<str>],
    variant: Variant,
    measure: Measure,
) -> f64 {
    let mut numbers = Numbers::default();
    let answer = numbers.of(answer.iter().map(AsRef::as_ref));
    let reference = numbers.of(reference.iter().map(AsRef::as_ref));
    let (shared, of_answer, of_reference) = match variant {
        Variant::Grams(order) => {
            let counts = numbers.counts(&answer, &[&reference], order);
            counts
                .last()
                .map_or((0, 0, 0), |last| (last.shared, last.answer, last.reference))
        }
        Variant::Subsequence => (
            common_subsequence(&answer, &reference),
            answer.len() as u64,
            reference.len() as u64,
        ),
    };
    if shared == 0 {
        return 0.0;
    }
    let precision = shared as f64 / of_answer as f64;
    let recall = shared as f64 / of_reference as f64;
    match measure {
        Measure::Precision => precision,
        Measure::Recall => recall,
        Measure::F1 => 2.0 * precision * recall / (precision + recall),
    }
}

/// The length of the longest common subsequence, 64 tokens at a time (Hyyrö 2004).
///
/// A bit that is 0 in `state` stands for a token of the answer at which the length grows by one.
fn common_subsequence(answer: &[u32], reference: &[u32]) -> u64 {
    let words = answer.len().div_ceil(64);
    let most = answer
        .iter()
        .chain(reference)
        .max()
        .map_or(0, |most| *most as usize);
    // Where each token stands in the answer; only those that occur have a row.
    let mut rows = vec![usize::MAX; most + 1];
    let mut places: Vec<u64> = Vec::new();
    for (at, token) in answer.iter().enumerate() {
        let row = &mut rows[*token as usize];
        if *row == usize::MAX {
            *row = places.len();
            places.resize(places.len() + words, 0);
        }
        places[*row + at / 64] |= 1 << (at % 64);
    }
    let mut state = vec![u64::MAX; words];
    for token in reference {
        let row = rows[*token as usize];
        if row == usize::MAX {
            continue;
        }
        let mut carry = false;
        for (state, places) in state.iter_mut().zip(&places[row..row + words]) {
            let met = *state & places;
            let (sum, one) = state.overflowing_add(met);
            let (sum, other) = sum.overflowing_add(u64::from(carry));
            carry = one || other;
            *state = sum | (*state & !places);
        }
    }
    let zeros: u64 = state.iter().map(|word| u64::from(word.count_zeros())).sum();
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_subsequence_is_as_long_as_the_plain_table_says() {
        let text = |seed: u64, length: usize| -> Vec<u32> {
            let mut state = seed;
            (0..length)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    u32::try_from(state >> 61).unwrap() + 1
                })
                .collect()
        };
        for (one, other) in [(0, 5), (5, 0), (63, 200), (64, 64), (65, 130), (300, 77)] {
            let (one, other) = (text(1, one), text(2, other));
            let mut row = vec![0_u64; other.len() + 1];
            for a in &one {
                let mut before = 0;
                for (at, b) in other.iter().enumerate() {
                    let above = row[at + 1];
                    row[at + 1] = match a == b {
                        true => before + 1,
                        false => above.max(row[at]),
                    };
                    before = above;
                }
            }
            assert_eq!(common_subsequence(&one, &other), row[other.len()]);
        }
    }
}
