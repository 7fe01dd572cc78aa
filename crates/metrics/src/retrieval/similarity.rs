//! Texts that are nearly the same.

use std::borrow::Cow;

use rapidfuzz::distance::levenshtein::{Args, BatchComparator};

/// What a similarity may fall short by: 0.8 is no binary fraction.
const ROUNDING: f64 = 1e-9;

/// Texts to find the likeness of another among.
pub(super) struct Alike {
    texts: Vec<BatchComparator<char>>,
    threshold: f64,
}

impl Alike {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a Cow<'a, str>>, threshold: f64) -> Self {
        Alike {
            texts: texts
                .map(|text| BatchComparator::new(text.chars()))
                .collect(),
            threshold,
        }
    }

    /// The text that is most like `text`, if its similarity reaches the threshold; the first of several.
    ///
    /// The similarity is 1 less the Levenshtein distance over the length of the longer text, in code points.
    pub(super) fn best(&self, text: &str) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (index, known) in self.texts.iter().enumerate() {
            let least = best.map_or(self.threshold - ROUNDING, |(_, similarity)| similarity);
            let wanted = Args::default().score_cutoff(least.max(0.0));
            let found = known.normalized_similarity_with_args(text.chars(), &wanted);
            if let Some(similarity) = found
                && best.is_none_or(|(_, before)| similarity > before)
            {
                best = Some((index, similarity));
            }
        }
        best.map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best(texts: &[&str], threshold: f64, text: &str) -> Option<usize> {
        let texts: Vec<Cow<str>> = texts.iter().map(|&text| Cow::Borrowed(text)).collect();
        Alike::new(texts.iter(), threshold).best(text)
    }

    #[test]
    fn the_threshold_itself_is_enough() {
        // One letter of five, of ten, of three.
        for (text, threshold) in [("abcde", 0.8), ("abcdefghij", 0.9), ("塔🗼é", 2.0 / 3.0)] {
            let last = text.chars().last().unwrap();
            let other = text.replace(last, "x");
            assert_eq!(best(&[text], threshold, &other), Some(0), "{text}");
            assert_eq!(best(&[text], threshold + 1e-6, &other), None, "{text}");
        }
    }

    #[test]
    fn the_most_alike_is_taken_and_the_first_of_equals() {
        let texts = ["abcdefghxx", "abcdefghix", "abcdefghiy"];
        assert_eq!(best(&texts, 0.5, "abcdefghij"), Some(1));
        assert_eq!(best(&texts, 0.5, "abcdefghxy"), Some(0));
        assert_eq!(best(&[], 0.5, "a"), None);
    }

    proptest! {
        #[test]
        fn it_is_the_levenshtein_similarity(
            texts in prop::collection::vec("[ab塔🗼]{1,9}|[a-c]{60,140}", 1..4),
            text in "[ab塔🗼]{0,9}|[a-c]{60,140}",
            threshold in 0.05..=1.0_f64,
        ) {
            let similarity = |known: &str| strsim::normalized_levenshtein(known, &text);
            let highest = texts.iter().map(|known| similarity(known)).fold(0.0, f64::max);
            let texts: Vec<Cow<str>> = texts.iter().map(|text| Cow::Borrowed(text.as_str())).collect();
            match Alike::new(texts.iter(), threshold).best(&text) {
                Some(index) => {
                    prop_assert!((similarity(&texts[index]) - highest).abs() < 1e-12);
                    prop_assert!(highest > threshold - 1e-8);
                }
                None => prop_assert!(highest < threshold),
            }
        }
    }
}
