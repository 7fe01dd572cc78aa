//! What kind of file it is, told by its content, and its rows one after the other.

use std::borrow::Cow;
use std::io::Read;

use super::collect::{Collector, fields_of};
use super::csv;
use super::error::{DatasetError, Place};
use super::json::{self, Json, Kind};
use super::mapping::Field;
use super::names::{OUTER, WRAPPERS, same};
use super::row::{no_question, results_file};
use super::scan::{self, Stop};
use super::stream::{self, AfterFirst, Stream};
use super::value::Cell;

/// A first value that is longer is no row of a file with an object a line.
const FIRST_VALUE: usize = 4 << 20;

/// Objects around the rows, at most.
const MAX_OUTER: usize = 4;

/// Reads all rows.
pub(super) fn read(input: impl Read, rows: &mut Collector) -> Result<(), DatasetError> {
    let mut stream = Stream::new(input);
    let head = stream.head()?;
    refuse_other_files(head)?;
    if head.starts_with("\u{feff}".as_bytes()) {
        stream.advance(3);
    }
    // In a table, white space may be an empty cell: it is looked past and not taken.
    let head = stream.head()?;
    match head.get(scan::blank(head, 0)).copied() {
        None => {
            return Err(DatasetError::new("the file is empty")
                .help("a dataset has at least one question: JSONL, a JSON array or CSV"));
        }
        Some(b'[') => {
            stream.peek()?;
            stream.advance(1);
            array(&mut stream, rows, "")?;
            if stream.peek()?.is_some() {
                return Err(DatasetError::new(
                    "the array with the rows ends, and the file goes on",
                )
                .line(stream.line())
                .help("write one JSON value, or one object a line"));
            }
        }
        Some(b'{') => objects(&mut stream, rows)?,
        Some(_) => table(&mut stream, rows)?,
    }
    if rows.is_empty() {
        return Err(
            DatasetError::new("the file has no rows").help("a dataset has at least one question")
        );
    }
    Ok(())
}

/// Files that are no text, or another text.
fn refuse_other_files(head: &[u8]) -> Result<(), DatasetError> {
    let binary: [(&[u8], &str); 7] = [
        (b"PAR1", "a Parquet file"),
        (b"PK\x03\x04", "a ZIP archive (a spreadsheet, perhaps)"),
        (b"\x1f\x8b", "a gzip file within the file"),
        (b"SQLite format 3", "an SQLite database"),
        (b"ARROW1", "an Arrow file"),
        (b"%PDF", "a PDF"),
        (b"\x80\x04\x95", "a Python pickle"),
    ];
    if let Some((_, what)) = binary.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(DatasetError::new(format!("this is {what}"))
            .help("write the dataset as JSONL, a JSON array or CSV; pandas: to_json(path, orient=\"records\", lines=True)"));
    }
    let text = head.trim_ascii_start();
    if text.starts_with(b"<") {
        let is_html = text.len() > 4
            && [&b"<!doc"[..], b"<html", b"<head", b"<body"]
                .iter()
                .any(|tag| text[..5.min(text.len())].eq_ignore_ascii_case(tag));
        return Err(match is_html {
            true => DatasetError::new("this is a web page (HTML), no dataset").help(
                "download the file itself: on GitHub the address behind \"Raw\", and with a login where it takes one",
            ),
            false => DatasetError::new("this is XML, no dataset")
                .help("write the dataset as JSONL, a JSON array or CSV"),
        });
    }
    let first_line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
    if first_line.starts_with(b"version https://git-lfs") {
        return Err(
            DatasetError::new("this is a pointer of Git LFS, not the file")
                .help("run `git lfs pull`; in CI, check out with `lfs: true`"),
        );
    }
    match head.iter().position(|&byte| byte == 0) {
        Some(at) => Err(stream::nul(1 + stream::newlines(&head[..at]))),
        None => Ok(()),
    }
}

/// The elements of an array, after its bracket; `prefix` is the pointer to it.
fn array<R: Read>(
    stream: &mut Stream<R>,
    rows: &mut Collector,
    prefix: &str,
) -> Result<(), DatasetError> {
    let mut index = 0;
    if stream.peek()? == Some(b']') {
        stream.advance(1);
        return Ok(());
    }
    loop {
        object_row(stream, rows, Some((prefix, index)))?;
        index += 1;
        match stream.peek()? {
            Some(b',') => stream.advance(1),
            Some(b']') => {
                stream.advance(1);
                return Ok(());
            }
            Some(_) => {
                return Err(
                    DatasetError::new("not valid JSON: expected `,` or `]` after a row")
                        .line(stream.line())
                        .help("write the file with a JSON library"),
                );
            }
            None => {
                return Err(DatasetError::new(format!(
                    "the file ends after row {index}, before the `]` that ends the array"
                ))
                .line(stream.line())
                .help("the file was cut off while it was written or copied: make it again"));
            }
        }
    }
}

/// The next row, which has to be an object; `at` is its place in an array.
fn object_row<R: Read>(
    stream: &mut Stream<R>,
    rows: &mut Collector,
    at: Option<(&str, usize)>,
) -> Result<(), DatasetError> {
    let first = stream.peek()?;
    let place = |line| Place {
        line: Some(line),
        pointer: at.map(|(prefix, index)| format!("{prefix}/{index}")),
    };
    if first != Some(b'{') {
        let (text, line) = stream.scanned(|input, _| scan::value(input, 0))?;
        let kind = Json::scanned(text).kind();
        return Err(
            DatasetError::new(format!("the row is {}, not an object", kind.name()))
                .at(&place(line))
                .help("each row is an object: {\"question\": \"…\", …}"),
        );
    }
    let mut entries = Vec::new();
    let (text, line) = stream
        .scanned(|input, _| scan::object(input, 0, &mut entries))
        .map_err(|error| match at {
            Some(_) => error.at(&Place {
                line: None,
                pointer: place(0).pointer,
            }),
            None => error,
        })?;
    let slice = |(start, end): (usize, usize)| &text[start..end];
    let fields: Vec<Field> = entries
        .iter()
        .map(|entry| {
            let value = Cell::Json(Cow::Borrowed(slice(entry.value)));
            (json::unescape(slice(entry.key)), value)
        })
        .collect();
    rows.row(&fields, &place(line))
}

/// A file that begins with an object: one a line, or one that holds the rows.
fn objects<R: Read>(stream: &mut Stream<R>, rows: &mut Collector) -> Result<(), DatasetError> {
    stream.peek()?;
    let after = stream.after_first_value(FIRST_VALUE)?;
    if after != AfterFirst::More {
        single(stream, rows, "", 0)?;
    }
    while let Some(byte) = stream.peek()? {
        if byte == b',' && !rows.is_empty() {
            return Err(
                DatasetError::new("a comma between rows, and no brackets around them")
                    .line(stream.line())
                    .help("write one object a line without commas, or all of them as a JSON array"),
            );
        }
        object_row(stream, rows, None)?;
    }
    Ok(())
}

/// The one object that holds everything; `prefix` is the pointer to it.
///
/// Rows that stand under a known key are taken as they come; what else there is, is held until it is clear what it is.
/// True when rows were found.
fn single<R: Read>(
    stream: &mut Stream<R>,
    rows: &mut Collector,
    prefix: &str,
    depth: usize,
) -> Result<bool, DatasetError> {
    let line = stream.line();
    stream.advance(1);
    let mut held: Vec<(String, String)> = Vec::new();
    let mut from: Option<String> = None;
    let mut is_first = true;
    loop {
        match stream.peek()? {
            Some(b'}') if is_first => break stream.advance(1),
            Some(_) => (),
            None => return Err(cut_off(stream.line())),
        }
        is_first = false;
        let mut entry = ((0, 0), 0);
        let (text, _) = stream.scanned(|input, _| {
            entry = scan::key(input, 0)?;
            // The value starts within the buffer, so that it can be looked at.
            if entry.1 < input.len() {
                Ok(entry.1)
            } else {
                Err(Stop::Incomplete)
            }
        })?;
        let key = json::unescape(&text[entry.0.0..entry.0.1]).into_owned();
        let pointer = format!("{prefix}{}", step(&key));
        let is_row = held.iter().any(|(key, value)| {
            rows.is_text_column(key) && Json::scanned(value).kind() == Kind::Text
        });
        let first = stream.peek()?;
        let is_rows =
            first == Some(b'[') && is_one_of(&key, WRAPPERS) && stream.peek_after()? == Some(b'{');
        let is_outer = first == Some(b'{') && is_one_of(&key, OUTER) && depth < MAX_OUTER;
        match from {
            None if is_rows && !is_row => {
                stream.advance(1);
                array(stream, rows, &pointer)?;
                from = Some(pointer);
            }
            None if is_outer && !is_row && stream.peek_after()? == Some(b'"') => {
                if single(stream, rows, &pointer, depth + 1)? {
                    from = Some(pointer);
                }
            }
            _ => {
                let (text, _) = stream.scanned(|input, _| scan::value(input, 0))?;
                match &from {
                    None => held.push((key, text.to_owned())),
                    Some(from) if is_rows => rows.warn(format!(
                        "the rows are those under `{from}`; those under `{pointer}` are passed over"
                    )),
                    Some(_) => (),
                }
            }
        }
        match stream.peek()? {
            Some(b',') => {
                stream.advance(1);
                if stream.peek()? == Some(b'}') {
                    return Err(
                        DatasetError::new("not valid JSON: a comma before `}`").line(stream.line())
                    );
                }
            }
            Some(b'}') => break stream.advance(1),
            Some(_) => {
                return Err(
                    DatasetError::new("not valid JSON: expected `,` or `}`").line(stream.line())
                );
            }
            None => return Err(cut_off(stream.line())),
        }
    }
    match from {
        Some(_) => Ok(true),
        // What is held of an object within is no row of its own: Inspect's `results.scores`.
        None if depth > 0 => Ok(false),
        None => whole(&held, rows, line).map(|()| true),
    }
}

/// One step of a JSON pointer.
fn step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn cut_off(line: u64) -> DatasetError {
    DatasetError::new("the file ends within its object")
        .line(line)
        .help("the file was cut off while it was written or copied: make it again")
}

fn is_one_of(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| same(key, name))
}

/// Rows in the only list of objects there is. False when there is none, or more than one.
fn held_rows(held: &[(String, String)], rows: &mut Collector) -> Result<bool, DatasetError> {
    let mut lists = held.iter().filter(|(_, value)| {
        Json::scanned(value)
            .items()
            .next()
            .is_some_and(|item| item.kind() == Kind::Object)
    });
    let (Some((key, list)), None) = (lists.next(), lists.next()) else {
        return Ok(false);
    };
    for (index, item) in Json::scanned(list).items().enumerate() {
        let place = Place {
            line: None,
            pointer: Some(format!("{}/{index}", step(key))),
        };
        if item.kind() != Kind::Object {
            return Err(DatasetError::new(format!(
                "the row is {}, not an object",
                item.kind().name()
            ))
            .at(&place));
        }
        rows.row(&fields_of(item), &place)?;
    }
    Ok(true)
}

/// An object without rows under a known key: a single row, columns, a list under another name, or no dataset.
fn whole(held: &[(String, String)], rows: &mut Collector, line: u64) -> Result<(), DatasetError> {
    let value = |(_, value): &(String, String)| Json::scanned(value).kind();
    let is_results = held
        .iter()
        .any(|(key, value)| key == "schema" && value.starts_with("\"rag-gate/"));
    let is_flat = !held.is_empty() && held.iter().all(|entry| value(entry) == Kind::Number);
    if is_results || is_flat {
        return Err(results_file());
    }
    let columns = columns(held, rows);
    if !columns.is_empty() {
        return column_rows(&columns, rows);
    }
    let is_row = held.iter().any(|(key, _)| rows.is_text_column(key));
    if !is_row {
        if held_rows(held, rows)? {
            return Ok(());
        }
        if held
            .iter()
            .any(|entry| entry.0 == "metrics" && value(entry) == Kind::Object)
        {
            return Err(results_file());
        }
        if let Some((key, _)) = held
            .iter()
            .find(|(key, value)| is_one_of(key, WRAPPERS) && value == "[]")
        {
            return Err(
                DatasetError::new(format!("the file has no rows: `{key}` is empty"))
                    .help("a dataset has at least one question"),
            );
        }
    }
    let fields: Vec<Field> = held
        .iter()
        .map(|(key, value)| {
            (
                Cow::Borrowed(key.as_str()),
                Cell::Json(Cow::Borrowed(value.as_str())),
            )
        })
        .collect();
    let place = Place {
        line: Some(line),
        pointer: None,
    };
    rows.row(&fields, &place)
}

/// A column of a file that is written column by column.
struct Columns<'a> {
    name: &'a str,
    /// pandas labels the values.
    labels: Vec<Cow<'a, str>>,
    values: Vec<Json<'a>>,
}

/// The columns, when the questions or the answers are one.
fn columns<'a>(held: &'a [(String, String)], rows: &Collector) -> Vec<Columns<'a>> {
    let all: Vec<Columns> = held
        .iter()
        .filter_map(|(name, value)| {
            let value = Json::scanned(value);
            let (labels, values) = match value.kind() {
                Kind::List => (Vec::new(), value.items().collect()),
                Kind::Object => value.entries().into_iter().unzip(),
                _ => return None,
            };
            Some(Columns {
                name,
                labels,
                values,
            })
        })
        .collect();
    let is_number = |label: &Cow<str>| label.bytes().all(|byte| byte.is_ascii_digit());
    let is_column = |column: &Columns| {
        let is_labelled = !column.labels.is_empty() && column.labels.iter().all(is_number);
        let is_list = column.labels.is_empty()
            && column
                .values
                .iter()
                .all(|value| matches!(value.kind(), Kind::Text | Kind::Number | Kind::Null));
        rows.is_text_column(column.name) && !column.values.is_empty() && (is_labelled || is_list)
    };
    match all.iter().any(is_column) {
        true => all,
        false => Vec::new(),
    }
}

fn column_rows(columns: &[Columns], rows: &mut Collector) -> Result<(), DatasetError> {
    let is_measure =
        |column: &&Columns| rows.is_text_column(column.name) && !column.values.is_empty();
    let Some(measure) = columns.iter().find(is_measure) else {
        return Ok(());
    };
    for column in columns {
        if column.values.len() != measure.values.len() {
            return Err(DatasetError::new(format!(
                "the column `{}` has {} values, and `{}` has {}",
                column.name,
                column.values.len(),
                measure.name,
                measure.values.len()
            ))
            .help("each column has one value for each sample, in the same order"));
        }
        if column.labels != measure.labels {
            return Err(DatasetError::new(format!(
                "the labels of the column `{}` are not those of `{}`",
                column.name, measure.name
            ))
            .help("write the rows: pandas: to_json(path, orient=\"records\", lines=True)"));
        }
    }
    for index in 0..measure.values.len() {
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| {
                let value = column.values[index].spelling();
                (Cow::Borrowed(column.name), Cell::Json(Cow::Borrowed(value)))
            })
            .collect();
        let label = match measure.labels.get(index) {
            Some(label) => label.to_string(),
            None => index.to_string(),
        };
        let place = Place {
            line: None,
            pointer: Some(format!("{}/{label}", step(measure.name))),
        };
        rows.row(&fields, &place)?;
    }
    Ok(())
}

/// CSV, with a header.
fn table<R: Read>(stream: &mut Stream<R>, rows: &mut Collector) -> Result<(), DatasetError> {
    // Excel's own line, which says the separator.
    let head = stream.head()?;
    let said = match head {
        [b's', b'e', b'p', b'=', separator, b'\n', ..] => Some((*separator, 6)),
        [b's', b'e', b'p', b'=', separator, b'\r', b'\n', ..] => Some((*separator, 7)),
        _ => None,
    };
    let separator = match said {
        Some((separator, length)) => {
            stream.advance(length);
            separator
        }
        None => csv::separator(head, true, |name| rows.is_known(name)),
    };
    let mut cells = Vec::new();
    let (text, line) = stream
        .scanned(|input, exhausted| csv::record(input, separator, exhausted, &mut cells))
        .map_err(of_csv)?;
    let header: Vec<String> = cells
        .iter()
        .map(|cell| cell.text(text).trim().to_owned())
        .collect();
    if !header
        .iter()
        .any(|name| rows.is_known(name) || rows.leads(name))
    {
        return Err(no_question(&header).line(line));
    }
    loop {
        // A line break alone is no row, and nor is what follows the last one.
        while matches!(stream.first()?, Some(b'\n' | b'\r')) {
            stream.advance(1);
        }
        if stream.first()?.is_none() {
            return Ok(());
        }
        let (text, line) = stream
            .scanned(|input, exhausted| csv::record(input, separator, exhausted, &mut cells))
            .map_err(of_csv)?;
        if cells.len() != header.len() {
            return Err(DatasetError::new(format!(
                "the row has {}, and the header has {}",
                cells_counted(cells.len()),
                cells_counted(header.len())
            ))
            .line(line)
            .help(format!(
                "cells are separated by {}; a cell that has one within, a quote or a line break stands in double \
                 quotes",
                csv::separator_name(separator)
            )));
        }
        let fields: Vec<Field> = header
            .iter()
            .zip(&cells)
            .map(|(name, cell)| (Cow::Borrowed(name.as_str()), Cell::Text(cell.text(text))))
            .collect();
        let place = Place {
            line: Some(line),
            pointer: None,
        };
        rows.row(&fields, &place)?;
    }
}

fn cells_counted(count: usize) -> String {
    match count {
        1 => "1 cell".to_owned(),
        _ => format!("{count} cells"),
    }
}

/// The stream's words are those of JSON.
fn of_csv(mut error: DatasetError) -> DatasetError {
    if let Some(what) = error.problem.strip_prefix("not valid JSON: ") {
        let what = what.replace(", in the value that begins", ", in the row that begins");
        error.problem = format!("not valid CSV: {what}");
        return error.help("a cell that has a separator, a quote or a line break within stands in double quotes, and quotes within are doubled");
    }
    if error.problem.starts_with("the file ends ") {
        error.problem = String::from(
            "the file ends within a cell in double quotes, in the row that begins here",
        );
        return error.help("a quote is opened and not closed, or the file was cut off");
    }
    error
}
