//! Whether words stand in texts, by comparing strings: what a judge quotes is held against what it was shown.
//!
//! White space, case, punctuation, quotation marks and the several ways to write a letter (NFKC) do not count. Letters and
//! digits do, in their order, and what belongs to a number: a sign before it, a point or comma within.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::script::is_unspaced;

/// Fewest letters and digits of a quote; a letter of a script without spaces counts for two.
const FEWEST: usize = 4;

/// Texts that are looked at.
#[derive(Debug)]
pub(super) struct Texts(Vec<String>);

/// What is wrong with a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It has no letter and no digit.
    Empty,
    /// Too little for anybody to tell where it stands.
    Short,
    /// It stands in none of the texts.
    Invented,
}

impl Texts {
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Texts {
        Texts(texts.into_iter().map(normalised).collect())
    }

    /// Whether each part of a quote stands in one of the texts; `…` and `...` end a part.
    pub(super) fn check(&self, quote: &str) -> Result<(), Fault> {
        let quote = quote.replace("...", "…");
        let parts: Vec<String> = quote
            .split('…')
            .map(normalised)
            .filter(|part| !part.is_empty())
            .collect();
        if parts.is_empty() {
            return Err(Fault::Empty);
        }
        for part in &parts {
            if !self.0.iter().any(|text| has_part(text, part)) {
                return Err(Fault::Invented);
            }
            // A passage that is itself that short may be quoted as a whole.
            let is_whole = self.0.iter().any(|text| text == part);
            if letters(part) < FEWEST && !is_whole {
                return Err(Fault::Short);
            }
        }
        Ok(())
    }

    /// Whether the name stands in one of the texts, as whole words where its script has words.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let name = normalised(name);
        !name.is_empty() && self.0.iter().any(|text| has_words(text, &name))
    }
}

/// The name as it is compared; empty when it has no letter and no digit.
pub(super) fn normalised(text: &str) -> String {
    let letters: Vec<char> = apart(text).nfkc().flat_map(char::to_lowercase).collect();
    let mut normal = String::with_capacity(text.len());
    let mut is_gap = false;
    for (at, &letter) in letters.iter().enumerate() {
        let around = (letters.get(..at), letters.get(at + 1..));
        let (Some(before), Some(after)) = around else {
            continue;
        };
        let sign = sign(before, letter, after);
        let is_part = letter.is_alphanumeric() || is_combining_mark(letter);
        if sign.is_none() && !is_part && !is_within_number(before, letter, after) {
            // An apostrophe is inside of a word in one edition and left out in another.
            is_gap |= !matches!(letter, '\'' | '’' | '‘' | 'ʼ' | '\u{ad}' | '\u{200b}');
            continue;
        }
        let is_between_words = normal.chars().next_back().is_some_and(|before| {
            !(is_unspaced(before) || is_unspaced(letter) || SIGNS.contains(&before))
        });
        if (std::mem::take(&mut is_gap) || sign.is_some()) && is_between_words {
            normal.push(' ');
        }
        normal.push(sign.unwrap_or(letter));
    }
    normal
}

/// What makes another number of the one behind it.
const SIGNS: [char; 8] = ['-', '+', '±', '<', '>', '≤', '≥', '≠'];

/// The sign of a number, if this is one.
fn sign(before: &[char], letter: char, after: &[char]) -> Option<char> {
    let letter = if letter == '−' { '-' } else { letter };
    if !SIGNS.contains(&letter) {
        return None;
    }
    let is_digit = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_numeric());
    let is_sign = match letter {
        // Between words and numbers it is a hyphen or a range, and before a space a bullet.
        '-' | '+' | '±' => {
            let is_behind_word = before.last().is_some_and(|before| before.is_alphanumeric());
            !is_behind_word && is_digit(after.first())
        }
        // At the beginning of a line it marks a quotation.
        '>' => {
            let is_first = before.iter().rev().find(|letter| **letter != ' ');
            is_first.is_some_and(|before| *before != '\n') && is_digit(after_spaces(after))
        }
        _ => is_digit(after_spaces(after)),
    };
    is_sign.then_some(letter)
}

fn after_spaces(letters: &[char]) -> Option<&char> {
    letters.iter().find(|letter| **letter != ' ')
}

/// A point, comma or colon between two digits, without which they would be another number.
fn is_within_number(before: &[char], letter: char, after: &[char]) -> bool {
    let is_digit = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_numeric());
    matches!(letter, '.' | ',' | ':') && is_digit(before.last()) && is_digit(after.first())
}

/// The text with raised and lowered digits apart from what stands before them: 10⁶ is not 106.
fn apart(text: &str) -> Cow<'_, str> {
    let is_small = |letter: char| matches!(letter, '²' | '³' | '¹' | '⁰'..='₎');
    if !text.contains(is_small) {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len() + 8);
    let mut is_behind_small = false;
    for letter in text.chars() {
        if is_small(letter) && !is_behind_small {
            apart.push(' ');
        }
        is_behind_small = is_small(letter);
        apart.push(letter);
    }
    Cow::Owned(apart)
}

/// Whether the part stands in the text, and cuts no number.
fn has_part(text: &str, part: &str) -> bool {
    let belongs = |letter: Option<char>| {
        letter.is_some_and(|letter| {
            letter.is_numeric() || SIGNS.contains(&letter) || matches!(letter, '.' | ',' | ':')
        })
    };
    text.match_indices(part).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + part.len()..].chars().next();
        let cuts_first = belongs(before) && belongs(part.chars().next());
        let cuts_last = belongs(part.chars().next_back()) && belongs(after);
        !cuts_first && !cuts_last
    })
}

fn letters(part: &str) -> usize {
    part.chars()
        .filter(|letter| *letter != ' ')
        .map(|letter| 1 + usize::from(is_unspaced(letter)))
        .sum()
}

fn has_words(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        is_edge(before, name.chars().next()) && is_edge(name.chars().next_back(), after)
    })
}

/// Whether a word ends between these two letters.
fn is_edge(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return true;
    };
    before == ' ' || after == ' ' || is_unspaced(before) || is_unspaced(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passages() -> Texts {
        Texts::new([
            "The tower, built by “Gustave  Eiffel”,\nis 330 m high.",
            "埃菲尔铁塔\n在巴黎。",
            "برج إيفل في باريس",
            "Yes.",
        ])
    }

    #[test]
    fn a_quote_stands_in_a_passage() {
        for quote in [
            "built by \"Gustave Eiffel\", is 330 m high",
            "THE TOWER … 330 m",
            "the tower ... gustave eiffel",
            "Gustave Eiffel [...] 埃菲尔",
            "铁塔在巴黎",
            "在巴",
            "إيفل في",
            "ｔｏｗｅｒ",
            "yes",
            "… is 330 m high …",
        ] {
            assert_eq!(passages().check(quote), Ok(()), "{quote}");
        }
    }

    #[test]
    fn what_stands_in_no_passage_is_invented() {
        for (quote, fault) in [
            ("is 331 m high", Fault::Invented),
            ("high is 330 m", Fault::Invented),
            ("The tower … 900 m", Fault::Invented),
            ("巴黎铁塔", Fault::Invented),
            ("", Fault::Empty),
            (" … — !", Fault::Empty),
            ("m", Fault::Short),
            ("the tower … is", Fault::Short),
            ("塔", Fault::Short),
        ] {
            assert_eq!(passages().check(quote), Err(fault), "{quote}");
        }
        assert_eq!(Texts::new([]).check("tower"), Err(Fault::Invented));
    }

    #[test]
    fn a_number_is_quoted_whole_and_with_its_sign() {
        let texts = Texts::new([
            "The fine is 5000 euros, 1.5 million at most; -5 percent in 2020.",
            "Sell when the price is < 100 units, at 10⁶ in all (10-15 pieces).\n> 7 items are quoted",
        ]);
        for quote in [
            "the fine is 5000",
            "1.5 million at most",
            "-5 percent in 2020",
            "−5 percent",
            "price is <100 units",
            "at 10⁶ in all",
            "10-15 pieces",
            "7 items are quoted",
        ] {
            assert_eq!(texts.check(quote), Ok(()), "{quote}");
        }
        for quote in [
            "The fine is 50",
            "000 euros",
            "15 million at most",
            "5 million at most",
            "5 percent in 2020",
            "5 percent in 202",
            "price is > 100 units",
            "price is 100 units",
            "at 106 in all",
        ] {
            assert_eq!(texts.check(quote), Err(Fault::Invented), "{quote}");
        }
    }

    #[test]
    fn a_name_is_whole_words() {
        for (name, expected) in [
            ("gustave eiffel", true),
            ("Gustave", true),
            ("Eiff", false),
            ("330 m", true),
            ("33", false),
            ("巴黎", true),
            ("باريس", true),
            ("🗼", false),
        ] {
            assert_eq!(passages().has_name(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_part_of_a_passage_is_never_invented(text in "\\PC{0,40}", from in 0_usize..40, length in 0_usize..40) {
            let quote: String = text.chars().skip(from).take(length).collect();
            // Where a number is cut, or a letter from its mark or its ligature, the quote says something else.
            prop_assume!(!text.contains(char::is_numeric));
            prop_assume!(normalised(&text).replace(' ', "").contains(&normalised(&quote).replace(' ', "")));
            let found = Texts::new([text.as_str()]).check(&quote.replace('…', " ").replace("...", " "));
            if text.is_ascii() && !text.contains("...") {
                prop_assert_ne!(found, Err(Fault::Invented));
            }
        }

        #[test]
        fn any_quote_is_checked(text in "\\PC{0,40}", quote in "\\PC{0,40}") {
            let texts = Texts::new([text.as_str()]);
            let _ = texts.has_name(&quote);
            prop_assert_eq!(texts.check(&quote), texts.check(&quote));
        }
    }
}
