//! Whether words stand in texts, by comparing strings: what a judge quotes is held against what it was shown.
//!
//! White space, case, punctuation, quotation marks and the several ways to write a letter (NFKC) do not count. Letters and
//! digits do, in their order.

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
            if !self.0.iter().any(|text| text.contains(part.as_str())) {
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
    let mut normal = String::with_capacity(text.len());
    let mut is_gap = false;
    for letter in text.nfkc().flat_map(char::to_lowercase) {
        if !letter.is_alphanumeric() && !is_combining_mark(letter) {
            // An apostrophe is inside of a word in one edition and left out in another.
            is_gap |= !matches!(letter, '\'' | '’' | '‘' | 'ʼ' | '\u{ad}' | '\u{200b}');
            continue;
        }
        let is_between_words = normal
            .chars()
            .next_back()
            .is_some_and(|before| !(is_unspaced(before) || is_unspaced(letter)));
        if std::mem::take(&mut is_gap) && is_between_words {
            normal.push(' ');
        }
        normal.push(letter);
    }
    normal
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
            // Where a letter is cut from its mark or its ligature, the quote has other letters.
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
