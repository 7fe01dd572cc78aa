//! How texts are cut into tokens.

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

    /// The tokens, in their order.
    pub(super) fn cut(self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        match self {
            RougeTokenizer::Ascii => lower
                .split(|letter: char| !matches!(letter, 'a'..='z' | '0'..='9'))
                .filter(|token| !token.is_empty())
                .map(str::to_owned)
                .collect(),
            RougeTokenizer::WhiteSpace => lower.split_whitespace().map(str::to_owned).collect(),
            RougeTokenizer::Words => words(&lower),
        }
    }
}

fn words(lower: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in lower.chars() {
        let is_alone = is_unspaced(letter);
        // Marks belong to the letter before them.
        let is_part = letter.is_alphanumeric() || (!word.is_empty() && is_mark(letter));
        if (is_alone || !is_part) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_alone {
            words.push(letter.to_string());
        } else if is_part {
            word.push(letter);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
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
                for letter in text.trim().chars() {
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

/// As mteval takes them out of its files.
fn unescaped(text: &str) -> String {
    let text = text
        .replace("<skipped>", "")
        .replace("-\n", "")
        .replace('\n', " ");
    if text.contains('&') {
        text.replace("&quot;", "\"")
            .replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
    } else {
        text
    }
}

/// Signs of ASCII are tokens; a point or comma is none between two digits, nor a hyphen but after a digit.
///
/// The substitutions of mteval work one after the other on the whole text; here one pass looks at the letters before and
/// after.
fn western(text: &str) -> String {
    let spaced = spaced(
        text,
        |letter| matches!(letter, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/'),
    );
    let split = pairs(&spaced, |one| !one.is_ascii_digit(), is_stop, false);
    let split = pairs(&split, is_stop, |other| !other.is_ascii_digit(), true);
    pairs(
        &split,
        |one| one.is_ascii_digit(),
        |other| other == '-',
        false,
    )
}

fn is_stop(letter: char) -> bool {
    matches!(letter, '.' | ',')
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
