//! Splits a text into sentences: the claims that a judge gives a verdict on.
//!
//! The boundaries are those of Unicode (UAX 29), which split too much where a full stop ends no sentence: after `e.g.`,
//! before the number of a figure, after the number of a list. There the pieces are joined again. A join that is missing
//! makes a claim that nobody can judge; one too many makes a claim of two parts. The second is the lesser evil.
//!
//! No letter and no digit is lost: what is left out has neither.

use unicode_segmentation::UnicodeSegmentation;

/// The sentences of `text`, trimmed, in their order. A line break ends a sentence unless the next line goes on in lower
/// case; so does the stop of any script. Pieces without a letter or digit are left out.
pub fn split(text: &str) -> Vec<&str> {
    let mut pieces = Pieces {
        text,
        start: 0,
        found: Vec::new(),
    };
    if text.is_ascii() {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            at = ascii_boundary(bytes, at);
            pieces.boundary(at);
        }
    } else {
        for (at, sentence) in text.split_sentence_bound_indices() {
            pieces.boundary(at + sentence.len());
        }
    }
    pieces.found
}

struct Pieces<'a> {
    text: &'a str,
    /// Where the piece under way begins.
    start: usize,
    found: Vec<&'a str>,
}

impl Pieces<'_> {
    fn boundary(&mut self, at: usize) {
        let (left, right) = (&self.text[self.start..at], &self.text[at..]);
        if !right.is_empty() && joins(left, right) {
            return;
        }
        let piece = unbulleted(left.trim());
        if has_content(piece) {
            self.found.push(piece);
        }
        self.start = at;
    }
}

/// True when there is something that a claim could be made of.
pub(crate) fn has_content(piece: &str) -> bool {
    piece.bytes().any(|byte| byte.is_ascii_alphanumeric())
        || (!piece.is_ascii() && piece.chars().any(char::is_alphanumeric))
}

/// The piece without the mark of a list or a heading before it.
fn unbulleted(piece: &str) -> &str {
    let text = piece.trim_start_matches(['-', '*', '#', '>', '•', '–', '·', '◦', '▪', '‣']);
    if text.starts_with(char::is_whitespace) {
        text.trim_start()
    } else {
        piece
    }
}

/// The first sentence boundary after `from`, as UAX 29 has it, for ASCII.
fn ascii_boundary(text: &[u8], from: usize) -> usize {
    let is_stop = |byte: u8| matches!(byte, b'.' | b'!' | b'?');
    let at = |index: usize| text.get(index).copied().unwrap_or(0);
    let mut index = from;
    while index < text.len() {
        let byte = text[index];
        index += 1;
        match byte {
            b'\n' => return index,
            b'\r' => return index + usize::from(at(index) == b'\n'),
            b'.' | b'!' | b'?' => {}
            _ => continue,
        }
        if byte == b'.' {
            let is_number = at(index).is_ascii_digit();
            let is_acronym =
                at(index).is_ascii_uppercase() && index >= 2 && at(index - 2).is_ascii_alphabetic();
            if is_number || is_acronym {
                continue;
            }
        }
        while matches!(
            at(index),
            b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b'{' | b'}'
        ) {
            index += 1;
        }
        while matches!(at(index), b' ' | b'\t' | b'\x0b' | b'\x0c') {
            index += 1;
        }
        if is_stop(at(index)) || matches!(at(index), b',' | b'-' | b':' | b';') {
            continue;
        }
        if byte == b'.' {
            let rest = &text[index..];
            let next = rest.iter().find(|&&byte| {
                byte.is_ascii_alphabetic() || is_stop(byte) || matches!(byte, b'\n' | b'\r')
            });
            if next.is_some_and(u8::is_ascii_lowercase) {
                continue;
            }
        }
        return match at(index) {
            b'\n' => index + 1,
            b'\r' => index + 1 + usize::from(at(index + 1) == b'\n'),
            _ => index,
        };
    }
    text.len()
}

/// Abbreviations that a sentence goes on after, in lower case and without the last full stop.
const ABBREVIATIONS: [&str; 32] = [
    "al", "approx", "bzw", "ca", "cf", "dept", "dott", "dr", "e.g", "eg", "gen", "gov", "hon",
    "i.e", "ie", "messrs", "mme", "mr", "mrs", "ms", "mt", "prof", "rep", "resp", "rev", "sen",
    "sig", "sra", "st", "viz", "vs", "z.b",
];

/// Abbreviations that a number follows, as in `Fig. 3`.
const NUMBERED: [&str; 38] = [
    "abb", "app", "apr", "art", "aug", "ch", "chap", "dec", "ed", "eq", "eqs", "feb", "fig",
    "figs", "jan", "jul", "jun", "mar", "no", "nos", "nov", "nr", "oct", "op", "p", "pag", "pp",
    "ref", "refs", "sec", "sect", "sep", "sept", "tab", "vers", "vol", "vols", "§",
];

/// True when the boundary between the two is none.
fn joins(left: &str, right: &str) -> bool {
    let body = left.trim_end();
    let is_line_end = left[body.len()..].contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
    let next = right.trim_start_matches([' ', '\t']);
    if is_line_end {
        return continues(body, next);
    }
    let goes_on = next
        .trim_start_matches(['"', '\'', '(', '[', '“', '‘', '«'])
        .chars()
        .next();
    let Some(goes_on) = goes_on else {
        return false;
    };
    if !body.ends_with('.') {
        // `"Really?" she said.` and `3) The third`.
        return goes_on.is_lowercase();
    }
    if is_list_number(body) {
        return true;
    }
    let before = &body[..body.len() - 1];
    let word = last_word(before);
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        // An initial, as in `J. Smith`; the one capital letter that is a word ends a sentence.
        (Some(letter), None) if letter.is_uppercase() && letter != 'I' => return true,
        _ => {}
    }
    // An acronym, as in `the U.S. Army`.
    if word.len() >= 3
        && word
            .split('.')
            .all(|part| part.len() == 1 && part.bytes().all(|b| b.is_ascii_uppercase()))
    {
        return true;
    }
    if word.len() > 8 {
        return false;
    }
    let is_one_of = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
    is_one_of(&ABBREVIATIONS) || (goes_on.is_numeric() && is_one_of(&NUMBERED))
}

/// True when a line goes on in the next one, as hard-wrapped text does.
fn continues(line: &str, next: &str) -> bool {
    let mut letters = next.chars();
    let starts_lower = letters.next().is_some_and(char::is_lowercase);
    let is_list = matches!(letters.next(), Some('.' | ')'));
    let is_ended = line.is_empty()
        || line.ends_with([
            '.', '!', '?', ':', ';', '。', '！', '？', '：', '；', '؟', '।', '۔',
        ]);
    starts_lower && !is_list && !is_ended
}

/// True when the piece is the number of a list alone: `1.`, `- 12.`, `a.`
fn is_list_number(body: &str) -> bool {
    if body.len() > 16 {
        return false;
    }
    let mark = body
        .trim_end_matches('.')
        .trim_start_matches(['-', '*', '#', '>', '(', '"', ' ', '\t', '•']);
    let is_number = mark.len() <= 3 && mark.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = mark.len() == 1 && mark.bytes().all(|byte| byte.is_ascii_alphabetic());
    !mark.is_empty() && (is_number || is_letter)
}

/// The run of letters, digits and full stops at the end.
fn last_word(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take(17)
        .find(|(_, letter)| !letter.is_alphanumeric() && !matches!(letter, '.' | '§'))
        .map(|(at, letter)| at + letter.len_utf8());
    match start {
        Some(start) => &text[start..],
        None if text.chars().nth(17).is_none() => text,
        None => "a long word",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, sentences: &[&str]) {
        assert_eq!(split(text), sentences);
    }

    #[test]
    fn a_stop_ends_a_sentence() {
        check("It is red. Is it? Yes!", &["It is red.", "Is it?", "Yes!"]);
        check("None", &["None"]);
        check("38", &["38"]);
        check(
            "Version 3.14 of example.com. Next.",
            &["Version 3.14 of example.com.", "Next."],
        );
    }

    #[test]
    fn nothing_to_claim_is_no_sentence() {
        check("", &[]);
        check(" \n\t ", &[]);
        check("... --- !!!", &[]);
        check("**\n---\nOne.\n\n\n", &["One."]);
    }

    #[test]
    fn an_abbreviation_ends_none() {
        check(
            "Fruit, e.g. Apples, is good. See Fig. 3 and Smith et al. The rest is in Sec. 4.",
            &[
                "Fruit, e.g. Apples, is good.",
                "See Fig. 3 and Smith et al. The rest is in Sec. 4.",
            ],
        );
        check(
            "Dr. Who met J. R. Smith. He left.",
            &["Dr. Who met J. R. Smith.", "He left."],
        );
        check("So do I. You do not.", &["So do I.", "You do not."]);
        check(
            "The answer is no. The reason is money.",
            &["The answer is no.", "The reason is money."],
        );
        check(
            "The U.S. Army and No. 5. Done.",
            &["The U.S. Army and No. 5.", "Done."],
        );
        check(
            "\"Really?\" she said. Yes.",
            &["\"Really?\" she said.", "Yes."],
        );
    }

    #[test]
    fn lists_are_split_by_their_lines_and_keep_their_numbers() {
        check(
            "Two steps:\n1. Open it.\n2. Close it.\n- Lock it\n* keep the key",
            &[
                "Two steps:",
                "1. Open it.",
                "2. Close it.",
                "Lock it",
                "keep the key",
            ],
        );
        check("-5 degrees", &["-5 degrees"]);
    }

    #[test]
    fn a_wrapped_line_goes_on() {
        check(
            "The model is\nfine-tuned on data.\nIt works",
            &["The model is\nfine-tuned on data.", "It works"],
        );
        check("The model\n\nis new", &["The model", "is new"]);
        check("One\r\nTwo", &["One", "Two"]);
    }

    #[test]
    fn other_scripts_have_other_stops() {
        check(
            "他来了。他走了！真的吗？",
            &["他来了。", "他走了！", "真的吗？"],
        );
        check("هل هذا صحيح؟ نعم. شكرا", &["هل هذا صحيح؟", "نعم.", "شكرا"]);
        check("यह सच है। वह गया।", &["यह सच है।", "वह गया।"]);
        check(
            "Er sagte: „Ja.“ Dann ging er, z.B. Heim.",
            &["Er sagte: „Ja.“", "Dann ging er, z.B. Heim."],
        );
    }

    #[test]
    fn a_long_text_of_stops_takes_no_longer_than_another() {
        for text in [
            ". 1 ".repeat(30_000),
            ".".repeat(100_000),
            "a.".repeat(50_000),
            "\n".repeat(100_000),
            "。1".repeat(20_000),
        ] {
            let _ = split(&text);
        }
    }

    fn content(text: &str) -> String {
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .collect()
    }

    proptest! {
        #[test]
        fn no_letter_is_lost(text in "[a-zA-Z0-9 .!?\\n\"()。؟é中-]{0,60}|\\PC{0,40}") {
            let joined: String = split(&text).concat();
            prop_assert_eq!(content(&joined), content(&text));
        }

        /// The fast way for ASCII is a copy of the rules, so that it has to agree with them.
        #[test]
        fn ascii_has_the_boundaries_of_unicode(text in "[aB1 .!?,;:\\n\\r\t\"')(\\[-]{0,30}|[ -~\\n]{0,60}") {
            let bytes = text.as_bytes();
            let mut fast = Vec::new();
            let mut at = 0;
            while at < bytes.len() {
                at = ascii_boundary(bytes, at);
                fast.push(at);
            }
            let slow: Vec<usize> = text.split_sentence_bound_indices().map(|(at, s)| at + s.len()).collect();
            prop_assert_eq!(fast, slow);
        }
    }
}
