//! The normalisation of SQuAD, right for more than English.
//!
//! SQuAD: lower case, no punctuation, no `a`, `an`, `the`, single spaces. It knows ASCII's punctuation alone and takes
//! what stands between spaces for a word. Here punctuation is that of Unicode, compatible forms are one (NFKC: `ﬁ` is
//! `fi`, a full-width digit a digit), and a letter of a script without spaces is a token of its own, as MLQA has it.

use unicode_normalization::{UnicodeNormalization as _, is_nfkc};

use super::punctuation::is_punctuation;
use crate::script::is_unspaced;

/// The tokens of `text`, with a space between them.
pub(super) fn normalised(text: &str) -> String {
    let mut tokens = Tokens {
        text: String::with_capacity(text.len()),
        start: 0,
    };
    if text.is_ascii() {
        text.bytes().for_each(|byte| tokens.see_ascii(byte));
    } else {
        let lower = text.to_lowercase();
        if is_nfkc(&lower) {
            lower.chars().for_each(|letter| tokens.see(letter));
        } else {
            // Lower case once more: a compatible form may hide a capital letter.
            lower
                .nfkc()
                .flat_map(char::to_lowercase)
                .for_each(|letter| tokens.see(letter));
        }
    }
    tokens.end();
    tokens.text.truncate(tokens.text.trim_end().len());
    tokens.text
}

#[derive(Debug)]
struct Tokens {
    /// Finished tokens, each with a space behind it, and the one under way.
    text: String,
    /// Where the one under way begins.
    start: usize,
}

impl Tokens {
    /// As [`Tokens::see`], for nearly all of English.
    fn see_ascii(&mut self, letter: u8) {
        match char::from(letter.to_ascii_lowercase()) {
            // A vertical tab is white space too.
            ' ' | '\t'..='\r' => self.end(),
            letter if letter.is_ascii_punctuation() => {}
            letter => self.text.push(letter),
        }
    }

    fn see(&mut self, letter: char) {
        if letter.is_whitespace() {
            self.end();
        } else if is_unspaced(letter) {
            self.end();
            self.text.push(letter);
            self.end();
        } else if !is_punctuation(letter) {
            self.text.push(letter);
        }
    }

    fn end(&mut self) {
        match &self.text[self.start..] {
            "" => return,
            "a" | "an" | "the" => self.text.truncate(self.start),
            _ => self.text.push(' '),
        }
        self.start = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(normalised(text), expected.join(" "));
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
