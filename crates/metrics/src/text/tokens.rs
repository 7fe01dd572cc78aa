//! How texts are cut into tokens.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::script::is_unspaced;

/// How ROUGE cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RougeTokenizer {
    /// Runs of letters and digits of any script, in lower case; letters of scripts without spaces are tokens of their own.
    /// On English as [`RougeTokenizer::Ascii`].
    Words,
    /// Runs of `a` to `z` and digits, in lower case: that of the Python package `rouge-score`.
    Ascii,
    /// What stands between white space, in lower case.
    WhiteSpace,
}

impl RougeTokenizer {
    /// By its name in gate.toml.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "words" => Some(RougeTokenizer::Words),
            "ascii" => Some(RougeTokenizer::Ascii),
            "whitespace" => Some(RougeTokenizer::WhiteSpace),
            _ => None,
        }
    }

    /// The tokens of a text in lower case, in their order.
    pub(super) fn cut(self, lower: &str) -> Vec<&str> {
        match self {
            RougeTokenizer::Ascii => lower
                .split(|letter: char| !matches!(letter, 'a'..='z' | '0'..='9'))
                .filter(|token| !token.is_empty())
                .collect(),
            RougeTokenizer::WhiteSpace => lower.split_whitespace().collect(),
            RougeTokenizer::Words => words(lower),
        }
    }
}

fn words(lower: &str) -> Vec<&str> {
    let mut words = Vec::new();
    // Where the word under way begins.
    let mut start = None;
    for (at, letter) in lower.char_indices() {
        let is_alone = is_unspaced(letter);
        // Marks belong to the letter before them.
        let is_part = letter.is_alphanumeric() || (start.is_some() && is_mark(letter));
        if is_alone || !is_part {
            words.extend(start.take().map(|start| &lower[start..at]));
        }
        if is_alone {
            words.push(&lower[at..at + letter.len_utf8()]);
        } else if is_part {
            start.get_or_insert(at);
        }
    }
    words.extend(start.map(|start| &lower[start..]));
    words
}

fn is_mark(letter: char) -> bool {
    unicode_normalization::char::is_combining_mark(letter)
}

/// How BLEU cuts: the tokenisers of sacrebleu, by their names there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BleuTokenizer {
    /// `13a`, that of mteval-v13a.
    Mteval13a,
    /// `intl`, that of mteval-v14.
    International,
    /// `zh`: Chinese letters are tokens of their own.
    Chinese,
    /// `char`: every letter is.
    Letters,
    /// `none`: what stands between white space.
    None,
}

impl BleuTokenizer {
    /// By its name in gate.toml and in a signature.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "13a" => Some(BleuTokenizer::Mteval13a),
            "intl" => Some(BleuTokenizer::International),
            "zh" => Some(BleuTokenizer::Chinese),
            "char" => Some(BleuTokenizer::Letters),
            "none" => Some(BleuTokenizer::None),
            _ => None,
        }
    }

    /// The name.
    pub(super) fn name(self) -> &'static str {
        match self {
            BleuTokenizer::Mteval13a => "13a",
            BleuTokenizer::International => "intl",
            BleuTokenizer::Chinese => "zh",
            BleuTokenizer::Letters => "char",
            BleuTokenizer::None => "none",
        }
    }

    /// The text with single white space between its tokens.
    pub(super) fn cut(self, text: &str) -> String {
        match self {
            BleuTokenizer::Mteval13a => western(&format!(" {} ", unescaped(text))),
            BleuTokenizer::Chinese => {
                let mut spaced = String::with_capacity(text.len() * 2);
                for letter in text.trim_matches(is_space).chars() {
                    if is_chinese(letter) {
                        spaced.extend([' ', letter, ' ']);
                    } else {
                        spaced.push(letter);
                    }
                }
                western(&spaced)
            }
            BleuTokenizer::International => international(text),
            BleuTokenizer::Letters => {
                let mut spaced = String::with_capacity(text.len() * 2);
                for letter in text.chars() {
                    spaced.extend([letter, ' ']);
                }
                spaced
            }
            BleuTokenizer::None => text.to_owned(),
        }
    }
}

/// What stands between white space, which for Python are the separators of ASCII (U+001C to U+001F) too.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|part| !part.is_empty())
}

/// White space as Python has it.
pub(super) fn is_space(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{1c}'..='\u{1f}')
}

/// As mteval takes them out of its files.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '\n', '&']) {
        return Cow::Borrowed(text);
    }
    let text = text
        .replace("<skipped>", "")
        .replace("-\n", "")
        .replace('\n', " ");
    Cow::Owned(
        text.replace("&quot;", "\"")
            .replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">"),
    )
}

/// Signs of ASCII are tokens; a point or comma is none between two digits, nor a hyphen but after a digit.
///
/// The substitutions of mteval work one after the other on the whole text; here one pass looks at the letters before and
/// after.
fn western(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() * 5 / 4);
    let mut copied = 0;
    for (at, letter) in text.bytes().enumerate() {
        if matches!(letter, b'{'..=b'~' | b'['..=b'`' | b' '..=b'&' | b'('..=b'+' | b':'..=b'@' | b'/')
        {
            spaced.push_str(&text[copied..at]);
            spaced.extend([' ', char::from(letter), ' ']);
            copied = at + 1;
        }
    }
    spaced.push_str(&text[copied..]);
    let is_stop = |letter| matches!(letter, b'.' | b',');
    let no_digit = |letter: u8| !letter.is_ascii_digit();
    let split = detached(&spaced, is_stop, &Beside::Behind(no_digit));
    let split = detached(&split, is_stop, &Beside::Before(no_digit));
    let is_digit = |letter: u8| letter.is_ascii_digit();
    detached(&split, |letter| letter == b'-', &Beside::Behind(is_digit))
}

/// Where a sign has to stand: behind such a letter, or before one.
enum Beside<F> {
    Behind(F),
    Before(F),
}

/// Substitutes a sign of ASCII and the letter beside it, from the left and without overlap: `a.` becomes `a . `, and `.a`
/// becomes ` . a`.
fn detached(
    text: &str,
    is_sign: impl Fn(u8) -> bool,
    beside: &Beside<impl Fn(u8) -> bool>,
) -> String {
    let bytes = text.as_bytes();
    let mut split = String::with_capacity(text.len() * 5 / 4);
    // What is copied, and where the next pair may begin.
    let (mut copied, mut free) = (0, 0);
    for (at, sign) in text.bytes().enumerate() {
        if !is_sign(sign) {
            continue;
        }
        let pair = match beside {
            Beside::Behind(fits) => at
                .checked_sub(1)
                .filter(|before| bytes.get(*before).is_some_and(|letter| fits(*letter))),
            Beside::Before(fits) => bytes
                .get(at + 1)
                .is_some_and(|letter| fits(*letter))
                .then_some(at),
        };
        if let Some(pair) = pair.filter(|pair| *pair >= free) {
            split.push_str(&text[copied..at]);
            split.extend([' ', char::from(sign), ' ']);
            copied = at + 1;
            free = pair + 2;
        }
    }
    split.push_str(&text[copied..]);
    split
}

/// Spaces around each such letter.
fn spaced(text: &str, is_alone: impl Fn(char) -> bool) -> String {
    let mut spaced = String::with_capacity(text.len() * 5 / 4);
    for letter in text.chars() {
        if is_alone(letter) {
            spaced.extend([' ', letter, ' ']);
        } else {
            spaced.push(letter);
        }
    }
    spaced
}

/// Substitutes pairs of letters, from the left and without overlap: `ab` becomes `a b ` or, with `before`, ` a b`.
fn pairs(
    text: &str,
    one: impl Fn(char) -> bool,
    other: impl Fn(char) -> bool,
    before: bool,
) -> String {
    let mut split = String::with_capacity(text.len() * 5 / 4);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters
            .peek()
            .copied()
            .filter(|next| one(letter) && other(*next))
        {
            Some(next) => {
                letters.next();
                if before {
                    split.extend([' ', letter, ' ', next]);
                } else {
                    split.extend([letter, ' ', next, ' ']);
                }
            }
            None => split.push(letter),
        }
    }
    split
}

fn international(text: &str) -> String {
    let split = pairs(text, |one| !one.is_numeric(), is_punctuation, false);
    let split = pairs(&split, is_punctuation, |other| !other.is_numeric(), true);
    spaced(&split, is_symbol)
}

fn is_punctuation(letter: char) -> bool {
    use GeneralCategory as Category;
    matches!(
        get_general_category(letter),
        Category::ConnectorPunctuation
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::OtherPunctuation
    )
}

fn is_symbol(letter: char) -> bool {
    use GeneralCategory as Category;
    matches!(
        get_general_category(letter),
        Category::MathSymbol
            | Category::CurrencySymbol
            | Category::ModifierSymbol
            | Category::OtherSymbol
    )
}

/// As sacrebleu has it. Two of its ranges are written with five digits, which Python reads as a letter and a digit, so
/// that all from U+2001 to U+2A6D is in them.
fn is_chinese(letter: char) -> bool {
    matches!(u32::from(letter),
        0x2001..=0x2fff | 0x3000..=0x303f | 0x3100..=0x312f | 0x31a0..=0x31bf | 0x31c0..=0x31ef
        | 0x3200..=0x33ff | 0x3400..=0x4db5 | 0x4e00..=0x9fbb | 0xf900..=0xfa2d | 0xfa30..=0xfa6a
        | 0xfa70..=0xfad9 | 0xfe10..=0xfe1f | 0xfe30..=0xfe4f | 0xff00..=0xffef)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn one_sign_at_a_time_is_what_the_substitutions_of_mteval_do(text in "[ab1é塔 .,;!-]{0,24}") {
            let is_sign = |letter: char| letter.is_ascii_punctuation() && !matches!(letter, '.' | ',' | '-' | '\'');
            let is_stop = |letter| matches!(letter, '.' | ',');
            let split = spaced(&text, |letter| letter == ' ' || is_sign(letter));
            let split = pairs(&split, |one| !one.is_ascii_digit(), is_stop, false);
            let split = pairs(&split, is_stop, |other| !other.is_ascii_digit(), true);
            let split = pairs(&split, |one| one.is_ascii_digit(), |other| other == '-', false);
            prop_assert_eq!(western(&text), split);
        }
    }
}
