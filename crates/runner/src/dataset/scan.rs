//! Where a JSON value ends: a strict scanner that builds nothing and does not recurse.
//!
//! A row has many columns that mean nothing to us; the scanner passes over them without making values of them, and keeps
//! the spelling of those that matter. Beyond JSON it knows the bare `NaN`, `Infinity` and `-Infinity` that Python writes.

/// Values within values, at most; a file that nests deeper is an attack or an accident.
pub(super) const MAX_DEPTH: usize = 128;

/// Why no value ends here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The input ends within the value.
    Incomplete,
    /// This is no JSON: the offset, and what is wrong.
    Invalid(usize, &'static str),
}

/// The key and the value of an entry, as ranges of the input; the key is without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: (usize, usize),
    pub(super) value: (usize, usize),
}

/// The offset of the next byte that is no white space.
pub(super) fn blank(input: &[u8], mut at: usize) -> usize {
    while matches!(input.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of the value that starts at `at`.
///
/// A number that ends with the input counts as ended: whoever has more input asks again.
pub(super) fn value(input: &[u8], at: usize) -> Result<usize, Stop> {
    match input.get(at) {
        Some(b'{' | b'[') => nested(input, at),
        _ => scalar(input, at),
    }
}

/// The entries of the object that starts at `at`, put into `entries`, and its end.
pub(super) fn object(input: &[u8], at: usize, entries: &mut Vec<Entry>) -> Result<usize, Stop> {
    entries.clear();
    let mut at = blank(input, at + 1);
    if input.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        let (key, start) = key(input, at)?;
        let end = value(input, start)?;
        entries.push(Entry {
            key,
            value: (start, end),
        });
        at = blank(input, end);
        match input.get(at) {
            Some(b',') => at = blank(input, at + 1),
            Some(b'}') => return Ok(at + 1),
            Some(_) => return Err(Stop::Invalid(at, "expected `,` or `}`")),
            None => return Err(Stop::Incomplete),
        }
    }
}

/// The key that starts at `at`, without its quotes, and the start of its value.
pub(super) fn key(input: &[u8], at: usize) -> Result<((usize, usize), usize), Stop> {
    match input.get(at) {
        Some(b'"') => (),
        Some(b'}') => return Err(Stop::Invalid(at, "a comma before `}`")),
        Some(_) => return Err(Stop::Invalid(at, "expected a key in double quotes")),
        None => return Err(Stop::Incomplete),
    }
    let end = string(input, at)?;
    let colon = blank(input, end);
    match input.get(colon) {
        Some(b':') => Ok(((at + 1, end - 1), blank(input, colon + 1))),
        Some(_) => Err(Stop::Invalid(colon, "expected `:`")),
        None => Err(Stop::Incomplete),
    }
}

fn nested(input: &[u8], start: usize) -> Result<usize, Stop> {
    // One bit for each open bracket: 1 is an object.
    let mut open: u128 = 0;
    let mut depth = 0;
    let mut at = start;
    loop {
        // A value starts here.
        match input.get(at) {
            Some(&bracket @ (b'{' | b'[')) => {
                if depth == MAX_DEPTH {
                    return Err(Stop::Invalid(at, "nested deeper than 128 levels"));
                }
                depth += 1;
                let is_object = bracket == b'{';
                open = open << 1 | u128::from(is_object);
                at = blank(input, at + 1);
                let close = if is_object { b'}' } else { b']' };
                if input.get(at) != Some(&close) {
                    if is_object {
                        at = key(input, at)?.1;
                    }
                    continue;
                }
                at += 1;
                depth -= 1;
                open >>= 1;
            }
            _ => at = scalar(input, at)?,
        }
        // A value ended here.
        loop {
            if depth == 0 {
                return Ok(at);
            }
            let is_object = open & 1 == 1;
            at = blank(input, at);
            match input.get(at) {
                Some(b',') => {
                    at = blank(input, at + 1);
                    if is_object {
                        at = key(input, at)?.1;
                    }
                    break;
                }
                Some(b'}') if is_object => (),
                Some(b']') if !is_object => (),
                Some(_) if is_object => return Err(Stop::Invalid(at, "expected `,` or `}`")),
                Some(_) => return Err(Stop::Invalid(at, "expected `,` or `]`")),
                None => return Err(Stop::Incomplete),
            }
            at += 1;
            depth -= 1;
            open >>= 1;
        }
    }
}

fn scalar(input: &[u8], at: usize) -> Result<usize, Stop> {
    match input.get(at) {
        Some(b'"') => string(input, at),
        Some(b'-') if input.get(at + 1) == Some(&b'I') => word(input, at, b"-Infinity"),
        Some(b'-' | b'0'..=b'9') => number(input, at),
        Some(b't') => word(input, at, b"true"),
        Some(b'f') => word(input, at, b"false"),
        Some(b'n') => word(input, at, b"null"),
        Some(b'N') => word(input, at, b"NaN"),
        Some(b'I') => word(input, at, b"Infinity"),
        Some(b'\'') => Err(Stop::Invalid(
            at,
            "expected a value; text stands in double quotes",
        )),
        Some(_) => Err(Stop::Invalid(at, "expected a value")),
        None => Err(Stop::Incomplete),
    }
}

fn word(input: &[u8], at: usize, word: &[u8]) -> Result<usize, Stop> {
    let there = &input[at..input.len().min(at + word.len())];
    if there == word {
        Ok(at + word.len())
    } else if word.starts_with(there) {
        Err(Stop::Incomplete)
    } else {
        Err(Stop::Invalid(at, "expected a value"))
    }
}

fn digits(input: &[u8], mut at: usize) -> Result<usize, Stop> {
    let start = at;
    while input.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    match input.get(at) {
        _ if at > start => Ok(at),
        Some(_) => Err(Stop::Invalid(at, "expected a digit")),
        None => Err(Stop::Incomplete),
    }
}

fn number(input: &[u8], start: usize) -> Result<usize, Stop> {
    let mut at = start + usize::from(input[start] == b'-');
    let first = at;
    at = digits(input, at)?;
    if input[first] == b'0' && at - first > 1 {
        return Err(Stop::Invalid(first, "a number with a leading zero"));
    }
    if input.get(at) == Some(&b'.') {
        at = digits(input, at + 1)?;
    }
    if matches!(input.get(at), Some(b'e' | b'E')) {
        let signed = matches!(input.get(at + 1), Some(b'+' | b'-'));
        at = digits(input, at + 1 + usize::from(signed))?;
    }
    Ok(at)
}

/// The end of the string whose opening quote is at `start`.
fn string(input: &[u8], start: usize) -> Result<usize, Stop> {
    let mut at = start + 1;
    loop {
        match input.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape(input, at)?,
            Some(0) => return Err(Stop::Invalid(at, "a NUL byte")),
            Some(b'\n') => return Err(Stop::Invalid(at, "a line break within a text")),
            Some(0..0x20) => return Err(Stop::Invalid(at, "a control character within a text")),
            Some(_) => at = plain(input, at + 1),
            None => return Err(Stop::Incomplete),
        }
    }
}

/// The offset, from `at` on, near before the next byte that ends or interrupts a string.
///
/// Eight bytes at a time: most of a dataset is text, and most of the time goes into looking for the end of it.
fn plain(input: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    while let Some(word) = input
        .get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok())
    {
        let word = u64::from_le_bytes(word);
        let quote = zero(word ^ (ONES * u64::from(b'"')));
        let backslash = zero(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = quote | backslash | control;
        if found != 0 {
            // The lowest bit is exact: a borrow reaches only the bytes above it.
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}

fn escape(input: &[u8], at: usize) -> Result<usize, Stop> {
    match input.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match unit(input, at)? {
            0xD800..0xDC00 => {
                for (offset, expected) in [(6, b'\\'), (7, b'u')] {
                    match input.get(at + offset) {
                        Some(&byte) if byte == expected => (),
                        Some(_) => return Err(Stop::Invalid(at, "half a surrogate pair")),
                        None => return Err(Stop::Incomplete),
                    }
                }
                match unit(input, at + 6)? {
                    0xDC00..0xE000 => Ok(at + 12),
                    _ => Err(Stop::Invalid(at, "half a surrogate pair")),
                }
            }
            0xDC00..0xE000 => Err(Stop::Invalid(at, "half a surrogate pair")),
            _ => Ok(at + 6),
        },
        Some(_) => Err(Stop::Invalid(at, "an unknown escape")),
        None => Err(Stop::Incomplete),
    }
}

/// The code unit of the `\uXXXX` at `at`.
pub(super) fn unit(input: &[u8], at: usize) -> Result<u32, Stop> {
    let mut unit = 0;
    for offset in 2..6 {
        let digit = match input.get(at + offset) {
            Some(&byte) => char::from(byte).to_digit(16),
            None => return Err(Stop::Incomplete),
        };
        let Some(digit) = digit else {
            return Err(Stop::Invalid(at, "an unknown escape"));
        };
        unit = unit << 4 | digit;
    }
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(text: &str) -> Result<usize, Stop> {
        value(text.as_bytes(), 0)
    }

    #[test]
    fn what_python_writes_beyond_json_is_a_value() {
        for text in ["NaN", "Infinity", "-Infinity", "[NaN, -Infinity]"] {
            assert_eq!(ends(text), Ok(text.len()), "{text}");
        }
    }

    #[test]
    fn every_prefix_of_a_value_is_incomplete() {
        let text = r#"{"a": ["\ud83d\ude00 x", true, -1.5e+3, {"b": null}], "c": {}}"#;
        assert_eq!(ends(text), Ok(text.len()));
        for end in 0..text.len() {
            assert_eq!(
                ends(&text[..end]),
                Err(Stop::Incomplete),
                "{}",
                &text[..end]
            );
        }
    }

    #[test]
    fn a_depth_bomb_is_refused_where_it_gets_too_deep() {
        let bomb = "[".repeat(1_000_000);
        assert_eq!(
            ends(&bomb),
            Err(Stop::Invalid(128, "nested deeper than 128 levels"))
        );
        let fits = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(ends(&fits), Ok(256));
    }

    /// A parser of JSON that knows no more than JSON, as the measure of what is valid.
    fn is_json(text: &str) -> bool {
        serde_json::from_str::<serde_json::Value>(text).is_ok()
    }

    proptest! {
        #[test]
        fn takes_what_serde_json_takes(text in r#"[\[\]{}:,"\\u0-9a-ftrlsn. eE+-]{0,24}"#) {
            let all = blank(text.as_bytes(), 0);
            let whole = value(text.as_bytes(), all)
                .is_ok_and(|end| blank(text.as_bytes(), end) == text.len());
            // A number beyond f64 is a text to us.
            prop_assume!(!text.contains(['e', 'E']) || whole == is_json(&text));
            prop_assert_eq!(whole, is_json(&text), "{}", text);
        }
    }
}
