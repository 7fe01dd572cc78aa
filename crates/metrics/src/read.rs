//! Reads what a judge answered.
//!
//! Lenient about form: code fences and prose around the JSON, other names of keys, `"yes"` for `true`. Strict about
//! meaning: a verdict for each item exactly once, a grade within its scale, and nothing that could be read in two ways.
//! A judge that left out the hard claims must not raise the score.

mod weighting;

use serde_json::{Value, json};

pub use weighting::{Numeral, weigh};

use crate::json::Json;
use crate::outcome::FailureKind;
use crate::prompts::form;
use crate::reason::cut;
use crate::request::{Expect, Message, Reading, Request, Role, Verdict};

/// Longest answer that is read, in bytes, without the white space around it: thousands of verdicts.
const LONGEST: usize = 1 << 20;

/// How many braces of prose are passed over before the JSON.
const MOST_STARTS: usize = 256;

/// How many JSON values an answer may have side by side: a verdict on a line each.
const MOST_VALUES: usize = 10_000;

/// How much of an answer is shown to the judge that gave it, in characters.
const SHOWN: usize = 4000;

/// How deep an answer may be wrapped, as in `{"result": {"verdicts": …}}`.
const MOST_WRAPS: usize = 3;

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// [`FailureKind::Unparsable`] when it has not the form, [`FailureKind::Inconsistent`] when it has the form and
    /// does not answer what was asked.
    pub kind: FailureKind,
    /// What is wrong, in lower case.
    pub message: String,
}

fn unparsable(message: impl Into<String>) -> Unreadable {
    Unreadable {
        kind: FailureKind::Unparsable,
        message: message.into(),
    }
}

fn inconsistent(message: impl Into<String>) -> Unreadable {
    Unreadable {
        kind: FailureKind::Inconsistent,
        message: message.into(),
    }
}

/// The answer in `raw`, which has the form `expect` asks for.
///
/// # Errors
///
/// [`Unreadable`] when there is no such answer, when it is incomplete, or when there is more than one.
pub fn read(expect: Expect, raw: &str) -> Result<Reading, Unreadable> {
    let text = raw.trim();
    if text.len() > LONGEST {
        let message = format!("an answer of {} bytes; {LONGEST} are read", text.len());
        return Err(unparsable(message));
    }
    let text = without_thoughts(text)?;
    if text.is_empty() {
        return Err(unparsable("the answer is empty"));
    }
    let values = values(text, matches!(expect, Expect::Texts { .. }))?;
    match expect {
        Expect::Verdicts { items } | Expect::Quotes { items } => verdicts(&values, items),
        Expect::Sources {
            items,
            sources: most,
        } => sources(&values, items, most),
        Expect::Texts { least, most } => texts(&values, least, most),
        Expect::Grade { low, high } | Expect::WeightedGrade { low, high } => {
            if values.is_empty()
                && let Ok(grade) = text.parse::<f64>()
            {
                return within_scale(grade, String::new(), low, high);
            }
            grade(&values, low, high)
        }
    }
}

/// The reading of a language model's answer, for what it was asked: a quote that it left out is an empty one. Only programs
/// and formulas may know no quotes.
pub fn of_model(expect: Expect, mut reading: Reading) -> Reading {
    if let (Expect::Quotes { .. }, Reading::Verdicts(verdicts)) = (expect, &mut reading) {
        for verdict in verdicts {
            verdict.quote.get_or_insert_default();
        }
    }
    reading
}

/// What follows the thoughts that some models write before they answer.
fn without_thoughts(text: &str) -> Result<&str, Unreadable> {
    match text.rfind("</think>") {
        Some(end) => Ok(text[end + "</think>".len()..].trim_start()),
        None if text.starts_with("<think>") => {
            Err(unparsable("the judge was cut off while it was thinking"))
        }
        None => Ok(text),
    }
}

/// The JSON objects and lists of the text, without those inside of others; lists of texts where they are asked for.
fn values(text: &str, takes_texts: bool) -> Result<Vec<Json>, Unreadable> {
    let mut values = Vec::new();
    let mut starts = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']) {
        at += start;
        let rest = &text[at..];
        if !looks_like_json(rest, takes_texts) {
            starts += 1;
            if starts > MOST_STARTS {
                return Err(unparsable("no JSON among all its braces"));
            }
            at += 1;
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
        match stream.next() {
            Some(Ok(value)) => {
                at += stream.byte_offset();
                values.push(value);
                if values.len() > MOST_VALUES {
                    return Err(unparsable("too many answers"));
                }
            }
            Some(Err(error)) if error.is_eof() => {
                return Err(unparsable(
                    "the JSON ends in its middle; the answer was cut off",
                ));
            }
            // Parts of broken JSON are not the answer.
            Some(Err(_)) if has_bare_nan(rest) => {
                return Err(inconsistent("NaN is no verdict and no grade"));
            }
            Some(Err(error)) => return Err(unparsable(format!("broken JSON: {error}"))),
            None => break,
        }
    }
    Ok(values)
}

/// True when what begins here is meant as JSON: a brace of prose is followed by something else.
fn looks_like_json(text: &str, takes_texts: bool) -> bool {
    let mut letters = text.bytes();
    let open = letters.next();
    let next = letters.find(|byte| !byte.is_ascii_whitespace());
    match open {
        Some(b'{') => matches!(next, Some(b'"' | b'}') | None),
        _ if takes_texts && next == Some(b'"') => true,
        _ => matches!(next, Some(b'{' | b'[' | b']') | None),
    }
}

fn has_bare_nan(text: &str) -> bool {
    ["NaN", "nan", "Infinity", "-Infinity"].iter().any(|token| {
        text.match_indices(token)
            .take(MOST_STARTS)
            .any(|(at, _)| text[..at].trim_end().ends_with(':'))
    })
}

/// What one JSON value says.
#[derive(Debug, PartialEq)]
enum Said {
    /// A list of verdicts.
    All(Vec<Entry>),
    /// One verdict on its own.
    One(Entry),
}

#[derive(Debug, PartialEq)]
struct Entry {
    id: Option<u64>,
    verdict: Verdict,
}

fn verdicts(values: &[Json], items: usize) -> Result<Reading, Unreadable> {
    let mut lists = Vec::new();
    let mut ones = Vec::new();
    for value in values {
        match said(value, 0)? {
            Some(Said::All(list)) => lists.push(list),
            Some(Said::One(entry)) => ones.push(entry),
            None => {}
        }
    }
    let entries = match (lists.pop(), ones.is_empty()) {
        (None, true) => return Err(unparsable("no verdicts in the answer")),
        (None, false) => ones,
        (Some(list), true) if lists.iter().all(|other| *other == list) => list,
        _ => return Err(unparsable("several answers that differ")),
    };
    in_order(entries, items)
}

/// The verdicts, ordered by their ids, when they are 1 to `items`, each once.
fn in_order(entries: Vec<Entry>, items: usize) -> Result<Reading, Unreadable> {
    let count = entries.len();
    // A single verdict on a single item needs no number.
    let is_single = items == 1 && count == 1;
    let mut slots: Vec<Option<Verdict>> = Vec::new();
    slots.resize_with(items, || None);
    for Entry { id, verdict } in entries {
        let id = match id {
            Some(id) => id,
            None if is_single => 1,
            None => return Err(inconsistent("a verdict without the id of its item")),
        };
        let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        let Some(slot) = index.and_then(|index| slots.get_mut(index)) else {
            return Err(inconsistent(format!(
                "a verdict on {id}, but the items are 1 to {items}"
            )));
        };
        if slot.replace(verdict).is_some() {
            return Err(inconsistent(format!("two verdicts on {id}")));
        }
    }
    let missing = slots.iter().position(Option::is_none);
    if let Some(missing) = missing {
        let message = format!(
            "no verdict on {}: {count} verdicts on {items} items",
            missing + 1
        );
        return Err(inconsistent(message));
    }
    Ok(Reading::Verdicts(slots.into_iter().flatten().collect()))
}

const STRONG: [&str; 7] = [
    "verdict",
    "supported",
    "useful",
    "attributed",
    "attributable",
    "holds",
    "is_supported",
];
const WEAK: [&str; 6] = ["relevant", "answer", "label", "value", "score", "result"];
const IDS: [&str; 8] = [
    "id",
    "number",
    "index",
    "no",
    "claim_id",
    "passage_id",
    "item",
    "n",
];
const REASONS: [&str; 5] = ["reason", "explanation", "why", "rationale", "reasoning"];
const QUOTES: [&str; 5] = ["quote", "quotes", "evidence", "citation", "source_text"];
const SOURCES: [&str; 4] = ["sources", "source", "passages", "source_ids"];
const GRADES: [&str; 4] = ["grade", "score", "rating", "value"];
const SCORES: [&str; 4] = ["score", "overall_score", "final_score", "mean"];

/// The verdicts that a value holds; `None` when it holds something else.
fn said(value: &Json, depth: usize) -> Result<Option<Said>, Unreadable> {
    if let Json::List(list) = value {
        let is_verdicts = list.iter().all(has_verdict);
        return if is_verdicts {
            all(list).map(Some)
        } else {
            Ok(None)
        };
    }
    let members = value.members();
    let mut lists = members.iter().filter_map(|(key, value)| match value {
        Json::List(list) if list.iter().all(has_verdict) => Some((key, list)),
        _ => None,
    });
    let named = value.member(&["verdicts"]);
    if let Some(Json::List(list)) = named {
        return all_with_score(list, value).map(Some);
    }
    match (lists.next(), lists.next()) {
        (Some((_, list)), None) => return all_with_score(list, value).map(Some),
        (Some((one, _)), Some((other, _))) => {
            let message = format!(
                "two lists of verdicts, `{}` and `{}`",
                cut(one, 40),
                cut(other, 40)
            );
            return Err(inconsistent(message));
        }
        _ => {}
    }
    if has_verdict(value) {
        return entry(value).map(|entry| Some(Said::One(entry)));
    }
    let is_number = |key: &str| key.trim().parse::<u64>().is_ok();
    if !members.is_empty() && members.iter().all(|(key, _)| is_number(key)) {
        return by_number(members).map(|entries| Some(Said::All(entries)));
    }
    let mut inner = members
        .iter()
        .map(|(_, value)| value)
        .filter(|value| matches!(value, Json::Object(_)));
    match (inner.next(), inner.next()) {
        (Some(inner), None) if depth < MOST_WRAPS => said(inner, depth + 1),
        _ => Ok(None),
    }
}

fn has_verdict(value: &Json) -> bool {
    value.member(&STRONG).is_some()
        || value
            .member(&WEAK)
            .is_some_and(|value| !matches!(value, Json::List(_) | Json::Object(_)))
}

fn all(list: &[Json]) -> Result<Said, Unreadable> {
    list.iter()
        .map(entry)
        .collect::<Result<_, _>>()
        .map(Said::All)
}

/// The verdicts, when a score beside them says the same.
fn all_with_score(list: &[Json], beside: &Json) -> Result<Said, Unreadable> {
    let said = all(list)?;
    let score = beside.member(&SCORES).and_then(Json::number);
    if let (Some(score), Said::All(entries)) = (score, &said)
        && !entries.is_empty()
    {
        let sum: f64 = entries.iter().map(|entry| entry.verdict.holds).sum();
        let mean = sum / entries.len() as f64;
        // However few decimals the judge took.
        let agrees = (1..=6).any(|decimals| {
            let shift = 10_f64.powi(decimals);
            ((mean * shift).round() / shift - score).abs() < 1e-9
        });
        if !agrees && (mean - score).abs() > 1e-6 {
            return Err(inconsistent(format!(
                "a score of {score} beside verdicts whose mean is {mean:.3}"
            )));
        }
    }
    Ok(said)
}

/// `{"1": true, "2": {"verdict": false, "reason": "…"}}`
fn by_number(members: &[(String, Json)]) -> Result<Vec<Entry>, Unreadable> {
    members
        .iter()
        .map(|(key, value)| {
            let id = key.trim().parse().ok();
            let verdict = match value {
                Json::Object(_) => entry(value)?.verdict,
                _ => Verdict::new(holds(value)?, ""),
            };
            Ok(Entry { id, verdict })
        })
        .collect()
}

fn entry(value: &Json) -> Result<Entry, Unreadable> {
    let id = match value.member(&IDS) {
        Some(id) => Some(whole(id).ok_or_else(|| inconsistent("an id that is no whole number"))?),
        None => None,
    };
    let mut found = None;
    for name in STRONG {
        let Some(value) = value.member(&[name]) else {
            continue;
        };
        let holds = holds(value)?;
        #[expect(
            clippy::float_cmp,
            reason = "two names of one verdict are the same number or a contradiction"
        )]
        if found.is_some_and(|found| found != holds) {
            return Err(inconsistent("a verdict that contradicts itself"));
        }
        found = Some(holds);
    }
    let holds = match (found, value.member(&WEAK)) {
        (Some(found), _) => found,
        (None, Some(value)) => holds(value)?,
        (None, None) => return Err(inconsistent("an entry without a verdict")),
    };
    Ok(Entry {
        id,
        verdict: Verdict {
            holds,
            reason: reason(value),
            quote: quote(value),
        },
    })
}

fn whole(value: &Json) -> Option<u64> {
    let number = value.number()?;
    let is_whole = number.fract() == 0.0 && (0.0..=9e15).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a small whole number"
    )]
    is_whole.then_some(number as u64)
}

/// From 0 to 1.
fn holds(value: &Json) -> Result<f64, Unreadable> {
    match value {
        Json::Bool(holds) => return Ok(f64::from(u8::from(*holds))),
        Json::Text(text) => {
            let text = text.trim().trim_end_matches('.').to_lowercase();
            match text.as_str() {
                "yes" | "true" | "supported" | "useful" | "attributed" | "relevant" => {
                    return Ok(1.0);
                }
                "no" | "false" | "unsupported" | "not supported" | "not useful"
                | "not attributed" | "irrelevant" | "not relevant" => return Ok(0.0),
                _ => {}
            }
        }
        _ => {}
    }
    match value.number() {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Some(number) => Err(inconsistent(format!(
            "a verdict of {number}, which is not from 0 to 1"
        ))),
        None => Err(inconsistent(format!(
            "a verdict that is neither true nor false: {}",
            shown(value)
        ))),
    }
}

fn reason(value: &Json) -> String {
    match value.member(&REASONS) {
        Some(Json::Text(reason)) => reason.clone(),
        _ => String::new(),
    }
}

/// A text, or the texts of a list; `None` when there is none. Something else is no quote that could be looked for: an empty
/// one, since it was not left out.
fn quote(value: &Json) -> Option<String> {
    let part = |part: &Json| match part {
        Json::Text(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let quote = match value.member(&QUOTES)? {
        Json::Null => return None,
        Json::List(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(part).collect();
            parts.map(|parts| parts.join(" … "))
        }
        other => part(other),
    };
    Some(quote.unwrap_or_default())
}

/// `{"items": [{"id": 1, "sources": [1, 3]}, …]}`: for each item the sources that hold it.
fn sources(values: &[Json], items: usize, sources: usize) -> Result<Reading, Unreadable> {
    let mut slots: Vec<Option<Vec<usize>>> = vec![None; items];
    let is_entry = |entry: &Json| entry.member(&SOURCES).is_some();
    let list = the_list(
        values,
        &["items"],
        is_entry,
        "no list of items in the answer",
    )?;
    for entry in list {
        let id = match entry.member(&IDS) {
            Some(id) => whole(id).ok_or_else(|| inconsistent("an id that is no whole number"))?,
            // A single entry on a single item needs no number.
            None if items == 1 && list.len() == 1 => 1,
            None => return Err(inconsistent("an item without its id")),
        };
        let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        let Some(slot) = index.and_then(|index| slots.get_mut(index)) else {
            return Err(inconsistent(format!(
                "an entry on {id}, but the items are 1 to {items}"
            )));
        };
        let Some(Json::List(numbers)) = entry.member(&SOURCES) else {
            return Err(inconsistent(format!("no list of sources on {id}")));
        };
        if slot.replace(held(id, numbers, sources)?).is_some() {
            return Err(inconsistent(format!("two entries on {id}")));
        }
    }
    if let Some(missing) = slots.iter().position(Option::is_none) {
        return Err(inconsistent(format!(
            "no entry on {}: {} entries on {items} items",
            missing + 1,
            list.len()
        )));
    }
    Ok(Reading::Sources(slots.into_iter().flatten().collect()))
}

/// The sources of one item, ascending, each once.
fn held(id: u64, numbers: &[Json], sources: usize) -> Result<Vec<usize>, Unreadable> {
    let mut held = Vec::with_capacity(numbers.len().min(sources));
    for number in numbers {
        let number = whole(number).and_then(|number| usize::try_from(number).ok());
        match number.filter(|number| (1..=sources).contains(number)) {
            Some(number) => held.push(number),
            None => {
                return Err(inconsistent(format!(
                    "a source of {id} that is none of 1 to {sources}"
                )));
            }
        }
    }
    held.sort_unstable();
    held.dedup();
    Ok(held)
}

/// `{"texts": ["…", …]}`: texts without the blank ones.
fn texts(values: &[Json], least: usize, most: usize) -> Result<Reading, Unreadable> {
    let mut texts: Vec<String> = Vec::new();
    let is_text = |entry: &Json| text_of(entry).is_some();
    let list = the_list(
        values,
        &["texts"],
        is_text,
        "no list of texts in the answer",
    )?;
    for entry in list {
        let text = text_of(entry).ok_or_else(|| inconsistent("a text that is none"))?;
        let text = text.trim();
        if !text.is_empty() {
            texts.push(text.to_owned());
        }
    }
    if texts.len() > most {
        let message = format!("{} texts; at most {most} were asked for", texts.len());
        return Err(inconsistent(message));
    }
    if !texts.is_empty() && texts.len() < least {
        let message = format!(
            "{} texts; at least {least} were asked for, or none",
            texts.len()
        );
        return Err(inconsistent(message));
    }
    Ok(Reading::Texts(texts))
}

fn text_of(entry: &Json) -> Option<&str> {
    match entry {
        Json::Text(text) => Some(text),
        other => match other.member(&["text", "question", "claim", "name", "entity"]) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        },
    }
}

/// The one list of the answer, bare or in an object: the one of that name, else the only one with such entries.
fn the_list<'a>(
    values: &'a [Json],
    names: &[&str],
    is_entry: impl Fn(&Json) -> bool,
    none: &str,
) -> Result<&'a [Json], Unreadable> {
    let mut found: Option<&[Json]> = None;
    for value in values {
        let Some(list) = a_list(value, names, &is_entry, 0) else {
            continue;
        };
        if found.is_some_and(|found| found != list) {
            return Err(unparsable("several answers that differ"));
        }
        found = Some(list);
    }
    found.ok_or_else(|| unparsable(none))
}

fn a_list<'a>(
    value: &'a Json,
    names: &[&str],
    is_entry: &impl Fn(&Json) -> bool,
    depth: usize,
) -> Option<&'a [Json]> {
    if let Json::List(list) = value {
        return list.iter().all(is_entry).then_some(list);
    }
    if let Some(Json::List(list)) = value.member(names) {
        return Some(list);
    }
    let members = value.members().iter().map(|(_, value)| value);
    let mut lists = members.clone().filter_map(|value| match value {
        Json::List(list) if list.iter().all(is_entry) => Some(list),
        _ => None,
    });
    let mut inner = members.filter(|value| matches!(value, Json::Object(_)));
    match (lists.next(), lists.next(), inner.next(), inner.next()) {
        (Some(list), None, _, _) => Some(list),
        (None, _, Some(inner), None) if depth < MOST_WRAPS => {
            a_list(inner, names, is_entry, depth + 1)
        }
        _ => None,
    }
}

fn grade(values: &[Json], low: i64, high: i64) -> Result<Reading, Unreadable> {
    let mut readings = Vec::new();
    for value in values {
        if let Some(graded) = graded(value, 0) {
            readings.push(one_grade(graded, low, high)?);
        }
    }
    let Some(reading) = readings.pop() else {
        return Err(unparsable("no grade in the answer"));
    };
    if readings.iter().any(|other| *other != reading) {
        return Err(unparsable("several answers that differ"));
    }
    Ok(reading)
}

/// The object that holds the grade.
fn graded(value: &Json, depth: usize) -> Option<&Json> {
    if value
        .member(&GRADES)
        .is_some_and(|grade| !matches!(grade, Json::Object(_)))
    {
        return Some(value);
    }
    let mut inner = value
        .members()
        .iter()
        .map(|(_, value)| value)
        .filter(|value| matches!(value, Json::Object(_)));
    match (inner.next(), inner.next()) {
        (Some(inner), None) if depth < MOST_WRAPS => graded(inner, depth + 1),
        _ => None,
    }
}

fn one_grade(value: &Json, low: i64, high: i64) -> Result<Reading, Unreadable> {
    let mut found: Option<f64> = None;
    for name in GRADES {
        let Some(grade) = value.member(&[name]) else {
            continue;
        };
        let number = grade.number().or_else(|| of_highest(grade, high));
        let number = number
            .ok_or_else(|| inconsistent(format!("a grade that is no number: {}", shown(grade))))?;
        #[expect(
            clippy::float_cmp,
            reason = "two names of one grade are the same number or a contradiction"
        )]
        if found.is_some_and(|found| found != number) {
            return Err(inconsistent("two grades that differ"));
        }
        found = Some(number);
    }
    let grade = found.ok_or_else(|| unparsable("no grade in the answer"))?;
    within_scale(grade, reason(value), low, high)
}

/// The 4 of `"4/5"`, on a scale that ends at 5.
fn of_highest(grade: &Json, high: i64) -> Option<f64> {
    let Json::Text(text) = grade else {
        return None;
    };
    let (grade, of) = text.split_once('/')?;
    (of.trim().parse() == Ok(high)).then(|| grade.trim().parse().ok())?
}

fn within_scale(grade: f64, reason: String, low: i64, high: i64) -> Result<Reading, Unreadable> {
    if (low as f64..=high as f64).contains(&grade) {
        Ok(Reading::Grade {
            grade,
            weighted: None,
            reason,
        })
    } else {
        Err(inconsistent(format!(
            "a grade of {grade}, which is not from {low} to {high}"
        )))
    }
}

/// A value in a message.
fn shown(value: &Json) -> String {
    match value {
        Json::Text(text) => format!("`{}`", cut(text, 40)),
        Json::Null => "null".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::Bool(value) => value.to_string(),
        Json::List(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// The JSON Schema of the answer, as strict structured output takes it: no other keys, all keys required.
///
/// It does not depend on the number of items: a server compiles each new schema anew.
pub fn schema(expect: Expect) -> Value {
    let object = |properties: Value, required: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    match expect {
        Expect::Verdicts { .. } => {
            let verdict = object(
                json!({"id": {"type": "integer"}, "reason": {"type": "string"}, "verdict": {"type": "boolean"}}),
                json!(["id", "reason", "verdict"]),
            );
            object(
                json!({"verdicts": {"type": "array", "items": verdict}}),
                json!(["verdicts"]),
            )
        }
        Expect::Quotes { .. } => {
            let verdict = object(
                json!({
                    "id": {"type": "integer"}, "quote": {"type": "string"}, "reason": {"type": "string"},
                    "verdict": {"type": "boolean"},
                }),
                json!(["id", "quote", "reason", "verdict"]),
            );
            object(
                json!({"verdicts": {"type": "array", "items": verdict}}),
                json!(["verdicts"]),
            )
        }
        Expect::Sources { .. } => {
            let item = object(
                json!({"id": {"type": "integer"}, "sources": {"type": "array", "items": {"type": "integer"}}}),
                json!(["id", "sources"]),
            );
            object(
                json!({"items": {"type": "array", "items": item}}),
                json!(["items"]),
            )
        }
        Expect::Texts { .. } => object(
            json!({"texts": {"type": "array", "items": {"type": "string"}}}),
            json!(["texts"]),
        ),
        Expect::Grade { low, high } => object(
            json!({"grade": whole_from(low, high), "reason": {"type": "string"}}),
            json!(["grade", "reason"]),
        ),
        // In the order of the alphabet, which servers keep: the grade comes when the reason is given.
        Expect::WeightedGrade { low, high } => object(
            json!({"explanation": {"type": "string"}, "grade": whole_from(low, high)}),
            json!(["explanation", "grade"]),
        ),
    }
}

/// The schema of a grade; a scale with many grades is not listed.
fn whole_from(low: i64, high: i64) -> Value {
    let is_short = high
        .checked_sub(low)
        .is_some_and(|length| (0..=100).contains(&length));
    if is_short {
        json!({"type": "integer", "enum": (low..=high).collect::<Vec<_>>()})
    } else {
        json!({"type": "integer"})
    }
}

/// The name of the schema, as `response_format` asks for one.
pub fn schema_name(expect: Expect) -> &'static str {
    match expect {
        Expect::Verdicts { .. } => "verdicts",
        Expect::Quotes { .. } => "quotes",
        Expect::Sources { .. } => "sources",
        Expect::Texts { .. } => "texts",
        Expect::Grade { .. } => "grade",
        Expect::WeightedGrade { .. } => "weighted_grade",
    }
}

/// The messages that ask again, showing the judge its answer, cut to 4000 characters, and what is wrong with it.
pub fn repair(request: &Request, raw: &str, why: &Unreadable) -> Vec<Message> {
    let end = raw
        .char_indices()
        .nth(SHOWN)
        .map_or(raw.len(), |(at, _)| at);
    let mut messages = request.messages.clone();
    messages.push(Message {
        role: Role::Assistant,
        content: raw[..end].to_owned(),
    });
    messages.push(Message {
        role: Role::User,
        content: format!(
            "Your answer cannot be used: {}. Answer again, with {}.",
            why.message,
            form::again(request.expect)
        ),
    });
    messages
}

#[cfg(test)]
mod tests;
