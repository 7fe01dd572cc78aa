//! CSV as RFC 4180 has it, one record at a time, strict about quotes.
//!
//! A lenient reader takes a stray quote for the start of a cell that goes on to the end of the file, and drops the rows
//! within without a word. This one says where the quote stands.

use std::borrow::Cow;

use super::scan::Stop;

/// A cell, as a range of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: usize,
    end: usize,
    /// Quotes within are doubled.
    doubled: bool,
}

impl Span {
    pub(super) fn text(self, input: &str) -> Cow<'_, str> {
        let text = &input[self.start..self.end];
        match self.doubled {
            true => Cow::Owned(text.replace("\"\"", "\"")),
            false => Cow::Borrowed(text),
        }
    }
}

/// The cells of the record that starts with the input, and where the next one starts.
pub(super) fn record(
    input: &[u8],
    separator: u8,
    exhausted: bool,
    cells: &mut Vec<Span>,
) -> Result<usize, Stop> {
    cells.clear();
    let mut at = 0;
    loop {
        let (cell, end) = match input.get(at) {
            Some(b'"') => quoted(input, at)?,
            _ => bare(input, at, separator)?,
        };
        cells.push(cell);
        match input.get(end) {
            Some(&byte) if byte == separator => at = end + 1,
            Some(b'\n') => return Ok(end + 1),
            Some(b'\r') if input.get(end + 1) == Some(&b'\n') => return Ok(end + 2),
            Some(b'\r') if end + 1 == input.len() && exhausted => return Ok(end + 1),
            None if exhausted => return Ok(end),
            Some(b'\r') if end + 1 == input.len() => return Err(Stop::Incomplete),
            None => return Err(Stop::Incomplete),
            Some(_) => return Err(Stop::Invalid(end, "text after a closing quote")),
        }
    }
}

fn bare(input: &[u8], start: usize, separator: u8) -> Result<(Span, usize), Stop> {
    let mut end = start;
    while let Some(&byte) = input.get(end) {
        let is_line_end =
            byte == b'\n' || byte == b'\r' && matches!(input.get(end + 1), None | Some(b'\n'));
        if byte == separator || is_line_end {
            break;
        }
        if byte == 0 {
            return Err(Stop::Invalid(end, "a NUL byte"));
        }
        end += 1;
    }
    let cell = Span {
        start,
        end,
        doubled: false,
    };
    Ok((cell, end))
}

fn quoted(input: &[u8], quote: usize) -> Result<(Span, usize), Stop> {
    let start = quote + 1;
    let mut end = start;
    let mut doubled = false;
    loop {
        match input.get(end) {
            Some(b'"') if input.get(end + 1) == Some(&b'"') => {
                doubled = true;
                end += 2;
            }
            // Whether the quote is doubled shows in the next byte.
            Some(b'"') => {
                let cell = Span {
                    start,
                    end,
                    doubled,
                };
                return Ok((cell, end + 1));
            }
            Some(0) => return Err(Stop::Invalid(end, "a NUL byte")),
            Some(_) => end += 1,
            None => return Err(Stop::Incomplete),
        }
    }
}

/// What may stand between cells, the likeliest first.
pub(super) const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// How a separator is called in messages.
pub(super) fn separator_name(separator: u8) -> &'static str {
    match separator {
        b',' => "a comma",
        b';' => "a semicolon",
        _ => "a tab",
    }
}

/// The separator of a file that begins like this: the one whose header has the most names that `is_known` knows, then
/// the one that makes the most cells.
pub(super) fn separator(head: &[u8], exhausted: bool, is_known: impl Fn(&str) -> bool) -> u8 {
    let mut best = (b',', (0, 0));
    let mut cells = Vec::new();
    for separator in SEPARATORS {
        if record(head, separator, exhausted, &mut cells).is_err() {
            continue;
        }
        let names = cells
            .iter()
            .filter_map(|cell| Some((std::str::from_utf8(head).ok()?, cell)))
            .filter(|(head, cell)| is_known(cell.text(head).trim()))
            .count();
        if (names, cells.len()) > best.1 {
            best = (separator, (names, cells.len()));
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records(text: &str, separator: u8) -> Result<Vec<Vec<String>>, Stop> {
        let (mut at, mut spans, mut all) = (0, Vec::new(), Vec::new());
        while at < text.len() {
            let rest = &text[at..];
            at += record(rest.as_bytes(), separator, true, &mut spans)?;
            all.push(
                spans
                    .iter()
                    .map(|span| span.text(rest).into_owned())
                    .collect(),
            );
        }
        Ok(all)
    }

    #[test]
    fn quotes_hold_separators_line_breaks_and_quotes() {
        assert_eq!(
            records("a,\"b\r\n,\"\"c\"\"\"\r\n,\n\"\",x", b','),
            Ok(vec![
                vec!["a".to_owned(), "b\r\n,\"c\"".to_owned()],
                vec![String::new(), String::new()],
                vec![String::new(), "x".to_owned()],
            ])
        );
    }

    #[test]
    fn a_quote_that_is_never_closed_is_no_cell() {
        assert_eq!(records("a,\"b\nc,d\n", b','), Err(Stop::Incomplete));
        assert_eq!(
            records("\"a\"b,c\n", b','),
            Err(Stop::Invalid(3, "text after a closing quote"))
        );
    }

    #[test]
    fn the_separator_is_the_one_that_makes_sense_of_the_header() {
        let known = |name: &str| ["question", "answer"].contains(&name);
        let told = |head: &str| separator(head.as_bytes(), true, known);
        assert_eq!(told("question,answer\n"), b',');
        assert_eq!(told("question;answer, or not\n"), b';');
        assert_eq!(told("question\tanswer\n"), b'\t');
        assert_eq!(told("question\n"), b',');
        assert_eq!(told("x;y;z\n"), b';');
    }

    proptest! {
        #[test]
        fn reads_what_the_csv_crate_writes(
            rows in prop::collection::vec(prop::collection::vec("[a,;\"\r\n é]{0,6}", 3), 1..5)
        ) {
            // A lone carriage return ends a line for the crate's reader; its writer quotes it, and so it is a cell here.
            let mut writer = ::csv::WriterBuilder::new().from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            prop_assert_eq!(records(&text, b','), Ok(rows));
        }
    }
}
