//! The one place that makes foreign text harmless.
//!
//! Ids, names, judges' reasons and error messages come from datasets and models, and so may anything in a message that
//! quotes them. Every renderer shows them through [`shown`] (one line of text without hidden characters) and, in
//! Markdown, through [`code`] or [`prose`].
//!
//! Three kinds of look-alikes stand for what must not occur even inside a code span: `‹` for `<`, so that no tag
//! survives a renderer that does not know code spans; `∷` for `::` where a line could begin with it, since the runner of
//! GitHub Actions reads `::error::…` from logs even behind spaces; `♯` for the second `#` of `##`, since `##[error]`
//! and `##vso[…]` are read anywhere in a line.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

/// Longest id, in columns.
pub(crate) const ID: usize = 80;
/// Longest name of a metric, variant or slice, in columns.
pub(crate) const NAME: usize = 60;
/// Longest message, in columns.
pub(crate) const MESSAGE: usize = 700;
/// Longest excerpt of what a judge said, in columns.
pub(crate) const EXCERPT: usize = 240;

/// Marks without width that may follow one another: enough for every script, too few to paint over other lines.
const MAX_MARKS: usize = 4;

/// `text` as one line of plain text in which everything is visible, at most `columns` wide.
pub(crate) fn shown(text: &str, columns: usize) -> String {
    if text.trim().is_empty() {
        "(blank)".to_owned()
    } else {
        cut(plain(text).trim(), columns)
    }
}

/// `text` on one line, with every character visible and none that takes effect in a terminal or a log.
fn plain(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut line = String::with_capacity(text.len());
    let mut marks = 0;
    let mut at = 0;
    while let Some(&current) = chars.get(at) {
        let before = at
            .checked_sub(1)
            .and_then(|index| chars.get(index))
            .copied();
        let after = chars.get(at + 1).copied();
        let invisible = current.width() == Some(0);
        marks = if invisible { marks + 1 } else { 0 };
        match current {
            ':' => {
                let run = chars
                    .iter()
                    .skip(at)
                    .take_while(|&&next| next == ':')
                    .count();
                push_colons(&mut line, run, before.is_none_or(char::is_whitespace));
                at += run;
                continue;
            }
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '<' => line.push('‹'),
            '#' if before == Some('#') => line.push('♯'),
            _ if current.is_ascii_control() => {
                let _ = write!(line, "\\x{:02x}", u32::from(current));
            }
            _ if is_hidden(current, before, after) || (invisible && marks > MAX_MARKS) => {
                line.extend(current.escape_unicode());
            }
            _ => line.push(current),
        }
        at += 1;
    }
    line
}

/// Two colons inside a word stay (`tests/a.py::case`); at the start of a word, or in longer runs, they could begin a
/// line after wrapping and become a workflow command.
fn push_colons(line: &mut String, run: usize, starts_word: bool) {
    if run > 2 || (run == 2 && starts_word) {
        line.extend(std::iter::repeat_n('∷', run / 2));
        line.extend(std::iter::repeat_n(':', run % 2));
    } else {
        line.extend(std::iter::repeat_n(':', run));
    }
}

/// Whether a character has no shape of its own: controls, direction marks, fillers, tags, non-characters.
///
/// A joiner between two characters of a script or an emoji belongs to the text (Persian, Hindi, families).
fn is_hidden(current: char, before: Option<char>, after: Option<char>) -> bool {
    if matches!(current, '\u{200c}' | '\u{200d}') {
        let joins =
            |side: Option<char>| side.is_some_and(|near| !near.is_ascii() && !is_ignorable(near));
        return !(joins(before) && joins(after));
    }
    is_ignorable(current)
}

/// Controls, line separators, non-characters, and the default-ignorable characters of Unicode but for the variation
/// selectors that emoji use.
fn is_ignorable(current: char) -> bool {
    let number = u32::from(current);
    current.is_control()
        || number & 0xfffe == 0xfffe
        || matches!(
            current,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Columns that a visible character takes, at most.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// The emoji selector makes the character before it wide.
pub(crate) fn char_columns(current: char) -> usize {
    if current == '\u{fe0f}' {
        1
    } else {
        current.width().unwrap_or(0)
    }
}

/// The start of `text` that fits into `columns`, with `…` where something was cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let start = text.chars().take_while(|&current| {
        used += char_columns(current);
        used <= columns
    });
    let mut start: String = start.collect();
    start.truncate(start.trim_end().len());
    start.push('…');
    start
}

/// `text` as a code span of Markdown, in which no mention, reference, link or markup takes effect.
pub(crate) fn code(text: &str, columns: usize) -> String {
    code_span(&shown(text, columns))
}

fn code_span(shown: &str) -> String {
    let fence = "`".repeat(longest_run(shown, '`') + 1);
    let pad = if shown.starts_with(['`', ' ']) || shown.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|current| current != wanted)
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// `text` as a sentence of Markdown: ordinary words as they are, any word that could take effect as a code span.
///
/// Word by word and by what is allowed, since GitHub looks for mentions, references, commits and emoji in the finished
/// text, where neither a backslash nor an entity hides them.
pub(crate) fn prose(text: &str, columns: usize) -> String {
    let sentence = shown(text, columns);
    let words: Vec<String> = sentence
        .split(' ')
        .filter(|word| !word.is_empty())
        .enumerate()
        .map(|(index, word)| prose_word(word, index == 0))
        .collect();
    words.join(" ")
}

fn prose_word(word: &str, first: bool) -> String {
    if let Some((inner, tail)) = quoted(word) {
        return format!("{}{tail}", code_span(inner));
    }
    if takes_effect(word) || (first && begins_a_block(word)) {
        return code_span(word);
    }
    let chars: Vec<char> = word.chars().collect();
    let mut escaped = String::with_capacity(word.len());
    for (index, &current) in chars.iter().enumerate() {
        match current {
            '&' => escaped.push_str("&amp;"),
            '|' => escaped.push_str("&#124;"),
            '_' if inside_word(&chars, index) => escaped.push('_'),
            '[' | ']' | '*' | '~' | '>' | '_' => escaped.extend(['\\', current]),
            _ => escaped.push(current),
        }
    }
    escaped
}

/// `` `max_drop`, `` as the word and what follows it: our own messages quote keys that way.
fn quoted(word: &str) -> Option<(&str, &str)> {
    let (inner, tail) = word.strip_prefix('`')?.split_once('`')?;
    let plain_tail = tail
        .chars()
        .all(|current| matches!(current, '.' | ',' | ';'));
    (!inner.is_empty() && plain_tail).then_some((inner, tail))
}

fn inside_word(chars: &[char], index: usize) -> bool {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| chars.get(at))
            .is_some_and(char::is_ascii_alphanumeric)
    };
    is_word(index.checked_sub(1)) && is_word(index.checked_add(1))
}

/// Whether GitHub would make something of this word, or it holds a character that is not known to be harmless.
fn takes_effect(word: &str) -> bool {
    const HARMLESS: &str = ".,;:'\"()/-+%=!?−±×≤≥→…–—·‘’“”°[]*~|>&_";
    let lower = word.to_lowercase();
    let is_commit = |part: &str| {
        (7..=64).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_decimal = word.contains('.') && !word.contains(char::is_alphabetic);
    !word
        .chars()
        .all(|current| current.is_alphanumeric() || HARMLESS.contains(current))
        || lower.contains("www.")
        || lower.contains("//")
        || lower.contains("gh-")
        || word.matches(':').count() > 1
        || (!is_decimal
            && word
                .split(|current: char| !current.is_alphanumeric())
                .any(is_commit))
}

/// Whether a paragraph that starts with this word would become a list.
fn begins_a_block(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    number.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        || word
            .chars()
            .all(|current| matches!(current, '-' | '+' | '='))
}

/// Finished Markdown as the content of a table cell: no pipe ends it.
///
/// A pipe behind a backslash gets a look-alike, since parsers disagree on what `\\|` means.
pub(crate) fn cell(markdown: &str) -> String {
    let mut escaped = String::with_capacity(markdown.len());
    let mut before = None;
    for current in markdown.chars() {
        match current {
            '|' if before == Some('\\') => escaped.push('∣'),
            '|' => escaped.push_str("\\|"),
            _ => escaped.push(current),
        }
        before = Some(current);
    }
    escaped
}

/// Finished JSON with everything hidden, and what a log would obey, written as `\u….`; the same value for a parser.
pub(crate) fn json(document: &str) -> String {
    let mut escaped = String::with_capacity(document.len());
    let mut before = None;
    for current in document.chars() {
        let hidden = current != '\n' && is_ignorable(current);
        if hidden || (current == '#' && before == Some('#')) {
            let mut units = [0; 2];
            for unit in current.encode_utf16(&mut units) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(current);
        }
        before = Some(current);
    }
    escaped
}

/// Data of a workflow command.
pub(crate) fn command_data(text: &str) -> String {
    shown(text, MESSAGE).replace('%', "%25")
}

/// Property of a workflow command. `text` is on one line afterwards, so that CR and LF need no code.
pub(crate) fn command_property(text: &str) -> String {
    shown(text, ID)
        .replace('%', "%25")
        .replace(':', "%3A")
        .replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_sentences_stay_as_they_are() {
        for sentence in [
            "faithfulness 0.790 below the minimum 0.80",
            "context_precision fell by 0.258, more than 0.03 (p = 0.0002)",
            "latency_s p95 2.31 above the maximum 2.00",
            "0.7999999 is below 0.80: 5% of 120 samples",
        ] {
            assert_eq!(shown(sentence, MESSAGE), sentence);
            assert_eq!(prose(sentence, MESSAGE), sentence);
        }
    }

    #[test]
    fn what_is_hidden_becomes_visible() {
        assert_eq!(
            shown("a\u{202e}b\x1b[31m\r\n\u{9b}x\x07", 80),
            "a\\u{202e}b\\x1b[31m\\r\\n\\u{9b}x\\x07"
        );
        assert_eq!(
            shown("\u{feff}a\u{200b}\u{2028}\u{e0041}", 80),
            "\\u{feff}a\\u{200b}\\u{2028}\\u{e0041}"
        );
        assert_eq!(
            shown("e\u{301}\u{301}\u{301}\u{301}\u{301}", 80),
            "e\u{301}\u{301}\u{301}\u{301}\\u{301}"
        );
    }

    #[test]
    fn joiners_stay_where_a_script_needs_them() {
        let family = "👩\u{200d}👩\u{200d}👧";
        assert_eq!(shown(family, 80), family);
        assert_eq!(shown("می\u{200c}خواهم", 80), "می\u{200c}خواهم");
        assert_eq!(shown("ad\u{200d}min", 80), "ad\\u{200d}min");
    }

    #[test]
    fn no_word_begins_with_two_colons_but_paths_keep_theirs() {
        assert_eq!(shown("::error::x ::stop", 80), "∷error::x ∷stop");
        assert_eq!(shown("tests/a.py::case", 80), "tests/a.py::case");
        assert_eq!(shown("a:::::b: c", 80), "a∷∷:b: c");
        assert_eq!(shown("##[error]x", 80), "#♯[error]x");
    }

    #[test]
    fn long_text_is_cut_by_columns() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(columns_of(&shown(&"x".repeat(10_000), ID)), ID);
    }

    #[test]
    fn code_spans_outlast_the_backticks_in_them() {
        assert_eq!(code("a", 80), "`a`");
        assert_eq!(code("`a`", 80), "`` `a` ``");
        assert_eq!(code("x```y", 80), "````x```y````");
        assert_eq!(code("", 80), "`(blank)`");
    }

    #[test]
    fn words_that_take_effect_become_code() {
        assert_eq!(prose("ask @octocat or #12", 80), "ask `@octocat` or `#12`");
        assert_eq!(
            prose("see https://x.invalid/a now", 80),
            "see `https://x.invalid/a` now"
        );
        assert_eq!(
            prose("WWW.x.invalid :tada: a1b2c3d $x$", 80),
            "`WWW.x.invalid` `:tada:` `a1b2c3d` `$x$`"
        );
        assert_eq!(prose("1. first", 80), "`1.` first");
        assert_eq!(prose("- first", 80), "`-` first");
        assert_eq!(
            prose("unknown key `max_drp`, sorry", 80),
            "unknown key `max_drp`, sorry"
        );
        assert_eq!(
            prose("**bold** _a_ [x](y) a|b", 80),
            "\\*\\*bold\\*\\* \\_a\\_ \\[x\\](y) a&#124;b"
        );
    }

    #[test]
    fn pipes_do_not_end_a_cell() {
        assert_eq!(cell("`a|b`"), "`a\\|b`");
        assert_eq!(cell("`a\\|b`"), "`a\\∣b`");
    }

    #[test]
    fn json_stays_the_same_value() {
        let text = "\u{202e}\u{9b}\u{e0041}##[error]";
        let document = serde_json::to_string(text).unwrap();
        let escaped = json(&document);
        assert_eq!(escaped, "\"\\u202e\\u009b\\udb40\\udc41#\\u0023[error]\"");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    #[test]
    fn command_properties_cannot_end_early() {
        assert_eq!(command_property("a,b:c%\n"), "a%2Cb%3Ac%25\\n");
        assert_eq!(command_data("100%\n::error::x"), "100%25\\n∷error::x");
    }
}
