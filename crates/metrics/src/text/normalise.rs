//! The normalisation of SQuAD, right for more than English.
//!
//! SQuAD: lower case, no punctuation, no `a`, `an`, `the`, single spaces. It knows ASCII's punctuation alone and takes
//! what stands between spaces for a word. Here punctuation is that of Unicode, compatible forms are one (NFKC: `ﬁ` is
//! `fi`, a full-width digit a digit), and a letter of a script without spaces is a token of its own, as MLQA has it.

use unicode_normalization::{UnicodeNormalization as _, is_nfkc};

use super::punctuation::is_punctuation;
use crate::script::is_unspaced;

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            let token = std::mem::take(word);
            if !matches!(token.as_str(), "a" | "an" | "the") {
                tokens.push(token);
            }
        }
    };
    let mut see = |letter: char| {
        if letter.is_whitespace() {
            end(&mut word);
        } else if is_unspaced(letter) {
            end(&mut word);
            word.push(letter);
            end(&mut word);
        } else if !is_punctuation(letter) {
            word.push(letter);
        }
    };
    if text.is_ascii() {
        text.chars()
            .map(|letter| letter.to_ascii_lowercase())
            .for_each(&mut see);
    } else {
        let lower = text.to_lowercase();
        if is_nfkc(&lower) {
            lower.chars().for_each(&mut see);
        } else {
            // Lower case once more: a compatible form may hide a capital letter.
            lower.nfkc().flat_map(char::to_lowercase).for_each(&mut see);
        }
    }
    see(' ');
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn english_is_as_in_squad() {
        check(
            "The  Quick-brown fox, a dog!",
            &["quickbrown", "fox", "dog"],
        );
        check("U.S.A. costs $5.00", &["usa", "costs", "500"]);
        check("the, a; an!", &[]);
    }

    #[test]
    fn other_scripts_are_text_too() {
        check("„Ein Weg“", &["ein", "weg"]);
        check("六次。", &["六", "次"]);
        check("ﬁne １２", &["fine", "12"]);
        check("Ἀθῆναι;", &["ἀθῆναι"]);
        check("BERT模型", &["bert", "模", "型"]);
    }
}
