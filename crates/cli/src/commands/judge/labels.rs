//! Human labels, in the shapes in which people keep them.
//!
//! ```text
//! {"id": "q-1", "faithful": 1}                       a line, or a list of them
//! {"id": "q-1", "labels": {"faithful": 0.67}}        apart from what else the row has
//! id,variant,faithful                                CSV, also with ; or tabs
//! {"samples": [{"id": "q-1", "scores": {…}}]}        results whose scores are human
//! ```

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use gate::results::{Keep, ReadError, Score};
use gate::stats::mean;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization as _;

use crate::error::Error;
use crate::input;

/// A larger file is something else.
const MAX_BYTES: u64 = 1 << 30;

/// Names of the id; a row has one of them.
const IDS: [&str; 5] = ["id", "_id", "sample_id", "question_id", "qid"];

/// The table of labels of a row, where there is one.
const NESTED: &str = "labels";

/// Variant and id.
pub(super) type Answer = (Option<String>, String);

/// All labels of a file.
#[derive(Debug, Default)]
pub(super) struct Labels {
    rows: Vec<Row>,
    /// Those that are a number somewhere, in the order in which they were met.
    names: IndexSet<String>,
}

/// The labels of one answer by one person, or by all.
#[derive(Debug)]
struct Row {
    answer: Answer,
    place: Place,
    labels: IndexMap<String, Label>,
}

/// Line of a row, or its number in a list.
#[derive(Debug, Clone, Copy)]
enum Place {
    Line(u64),
    Item(u64),
}

/// What stands under a name.
#[derive(Debug, Clone, PartialEq)]
enum Label {
    Number(f64),
    /// Nothing, or null.
    Missing,
    /// No number, as it is written.
    Other(String),
}

/// One label of every answer; several of the same answer are averaged.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// `None` where the file has the answer and no number.
    pub(super) by_answer: HashMap<Answer, Option<f64>>,
    /// Answers that have several.
    pub(super) averaged: usize,
}

impl Labels {
    /// Reads a file of any of these shapes, also compressed; told apart by its content.
    pub(super) fn read(path: &Path) -> Result<Labels, Error> {
        let unreadable = |error| Error::Unreadable {
            path: input::name(path),
            error,
        };
        let (reader, _) = input::dataset(path)?;
        let mut text = String::new();
        let read = reader.take(MAX_BYTES + 1).read_to_string(&mut text);
        read.map_err(unreadable)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(unreadable(std::io::Error::other("it is larger than 1 GiB")));
        }
        Labels::parse(&text).map_err(|error| Error::Input {
            path: input::name(path),
            error,
        })
    }

    fn parse(text: &str) -> Result<Labels, ReadError> {
        let labels = match text.trim_start().chars().next() {
            None => return Err(refused("the file is empty")),
            Some('{') => of_objects(text)?,
            Some('[') => of_list(&document(text)?)?,
            Some(_) => of_csv(text)?,
        };
        match labels.names.is_empty() {
            true => Err(refused("the file has no label that is a number").help(
                "labels are numbers, or true and false, beside the id or in a table `labels`",
            )),
            false => Ok(labels),
        }
    }

    /// Labels that are a number somewhere.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The variants of the answers; `None` is the unnamed one.
    pub(super) fn variants(&self) -> IndexSet<Option<&str>> {
        self.rows
            .iter()
            .map(|row| row.answer.0.as_deref())
            .collect()
    }

    /// One label. Refuses a value that is no number: a label that was misspelt is not a label that is missing.
    pub(super) fn choose(&self, name: &str) -> Result<Chosen, ReadError> {
        let mut gathered: HashMap<&Answer, Vec<f64>> = HashMap::new();
        for row in &self.rows {
            let numbers = gathered.entry(&row.answer).or_default();
            match row.labels.get(name) {
                Some(Label::Number(number)) => numbers.push(*number),
                Some(Label::Missing) | None => {}
                Some(Label::Other(text)) => {
                    let text: String = text.chars().take(40).collect();
                    return Err(refused(format!("the label `{name}` is `{text}`, no number"))
                        .at(row.place)
                        .sample(&row.answer.1)
                        .help("write labels as numbers: 1 for yes, 0 for no; leave out what nobody labelled"));
                }
            }
        }
        let averaged = gathered
            .values()
            .filter(|numbers| numbers.len() > 1)
            .count();
        let by_answer = gathered
            .into_iter()
            .map(|(answer, numbers)| (answer.clone(), mean(numbers)))
            .collect();
        Ok(Chosen {
            by_answer,
            averaged,
        })
    }

    fn add(&mut self, answer: Answer, place: Place, labels: IndexMap<String, Label>) {
        let numbers = labels
            .iter()
            .filter(|(_, label)| matches!(label, Label::Number(_)));
        for (name, _) in numbers {
            if !self.names.contains(name) {
                self.names.insert(name.clone());
            }
        }
        self.rows.push(Row {
            answer,
            place,
            labels,
        });
    }

    fn add_object(&mut self, row: &Map<String, Value>, place: Place) -> Result<(), ReadError> {
        let id = IDS.iter().find_map(|name| row.get(*name).and_then(id));
        let Some(id) = id else {
            return Err(refused("a row has no `id`")
                .at(place)
                .help("labels and scores are matched by the id of the sample"));
        };
        let variant = match row.get("variant") {
            Some(Value::String(variant)) => Some(variant.clone()),
            _ => None,
        };
        let is_label = |name: &&String| name.as_str() != "variant" && !IDS.contains(&name.as_str());
        let labels = match row.get(NESTED) {
            Some(Value::Object(labels)) => labels.iter().map(named).collect(),
            _ => {
                let labels = row.iter().filter(|(name, _)| is_label(name));
                labels.map(named).collect()
            }
        };
        self.add((variant, nfc(&id)), place, labels);
        Ok(())
    }
}

fn named((name, value): (&String, &Value)) -> (String, Label) {
    let label = match value {
        Value::Null => Label::Missing,
        Value::Bool(yes) => Label::Number(f64::from(u8::from(*yes))),
        Value::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Label::Number(number),
            None => Label::Other(number.to_string()),
        },
        Value::String(text) => Label::Other(text.clone()),
        Value::Array(_) | Value::Object(_) => Label::Other("[…]".to_owned()),
    };
    (name.clone(), label)
}

fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn nfc(id: &str) -> String {
    id.nfc().collect()
}

/// Objects one after the other, each on a line or on several; or one that holds all.
fn of_objects(text: &str) -> Result<Labels, ReadError> {
    let mut labels = Labels::default();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (mut line, mut counted) = (1_u64, 0);
    while let Some(value) = stream.next() {
        let value = value.map_err(|error| invalid(&error))?;
        let Value::Object(row) = value else {
            return Err(refused("a row is no object").at(Place::Line(line)));
        };
        let has_id = IDS.iter().any(|name| row.contains_key(*name));
        if labels.rows.is_empty() && !has_id {
            return of_document(text, &row);
        }
        labels.add_object(&row, Place::Line(line))?;
        // The next row begins after the white space that follows this one.
        let rest = text.get(stream.byte_offset()..).unwrap_or_default();
        let begins = text.len() - rest.trim_start().len();
        let passed = text.get(counted..begins).unwrap_or_default();
        line += passed.bytes().filter(|byte| *byte == b'\n').count() as u64;
        counted = begins;
    }
    Ok(labels)
}

/// Results, or a list of rows under some name.
fn of_document(text: &str, document: &Map<String, Value>) -> Result<Labels, ReadError> {
    let is_results = document.contains_key("samples")
        || document.get("schema").and_then(Value::as_str) == Some(gate::results::SCHEMA);
    if is_results {
        return of_results(text);
    }
    let lists: Vec<&Value> = document
        .values()
        .filter(|value| {
            value
                .as_array()
                .is_some_and(|list| list.iter().any(Value::is_object))
        })
        .collect();
    match lists.as_slice() {
        [list] => of_list(list),
        _ => Err(
            refused("the file has neither rows with an `id` nor samples")
                .help("labels are JSON Lines, a JSON list or CSV with `id`, or a results file"),
        ),
    }
}

fn of_results(text: &str) -> Result<Labels, ReadError> {
    let results = gate::results::read(text.as_bytes(), Keep::Scores)?;
    let mut rows: IndexMap<Answer, IndexMap<String, Label>> = IndexMap::new();
    for metric in results.metric_names() {
        for sample in results.by_sample(metric) {
            let answer = (sample.variant.map(str::to_owned), sample.id.to_owned());
            let label = match sample.score {
                Score::Number(score) => Label::Number(score),
                Score::NotApplicable(_) | Score::Failed { .. } => Label::Missing,
            };
            rows.entry(answer)
                .or_default()
                .insert(metric.to_owned(), label);
        }
    }
    let mut labels = Labels::default();
    for ((answer, row), number) in rows.into_iter().zip(0..) {
        labels.add(answer, Place::Item(number), row);
    }
    Ok(labels)
}

fn document(text: &str) -> Result<Value, ReadError> {
    serde_json::from_str(text).map_err(|error| invalid(&error))
}

fn of_list(list: &Value) -> Result<Labels, ReadError> {
    let mut labels = Labels::default();
    for (row, number) in list.as_array().into_iter().flatten().zip(0..) {
        match row {
            Value::Object(row) => labels.add_object(row, Place::Item(number))?,
            _ => return Err(refused("a row is no object").at(Place::Item(number))),
        }
    }
    Ok(labels)
}

fn of_csv(text: &str) -> Result<Labels, ReadError> {
    let head = text.trim_start().lines().next().unwrap_or_default();
    let count = |delimiter: u8| head.bytes().filter(|byte| *byte == delimiter).count();
    let delimiter = [b',', b';', b'\t']
        .into_iter()
        .rev()
        .max_by_key(|delimiter| count(*delimiter))
        .unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let broken = |error: &csv::Error| {
        let refusal = refused(format!("not valid CSV: {error}"));
        match error.position() {
            Some(position) => refusal.at(Place::Line(position.line())),
            None => refusal,
        }
    };
    let headers = reader.headers().map_err(|error| broken(&error))?.clone();
    let place_of = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| headers.iter().position(|header| header == *name))
    };
    let Some(id_at) = place_of(&IDS) else {
        return Err(refused("the file has no column `id`")
            .at(Place::Line(1))
            .help("labels are JSON Lines, a JSON list or CSV with `id`, or a results file"));
    };
    let variant_at = place_of(&["variant"]);
    let mut labels = Labels::default();
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let place = Place::Line(record.position().map_or(0, csv::Position::line));
        let cell = |at: usize| record.get(at).unwrap_or_default();
        if cell(id_at).is_empty() {
            return Err(refused("a row has no `id`")
                .at(place)
                .help("labels and scores are matched by the id of the sample"));
        }
        let variant = variant_at
            .map(cell)
            .filter(|variant| !variant.is_empty())
            .map(str::to_owned);
        let row = headers
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != id_at && Some(*at) != variant_at)
            .map(|(at, name)| (name.to_owned(), of_cell(cell(at))))
            .collect();
        labels.add((variant, nfc(cell(id_at))), place, row);
    }
    Ok(labels)
}

fn of_cell(cell: &str) -> Label {
    match cell.to_ascii_lowercase().as_str() {
        "" | "null" | "none" | "nan" | "na" | "n/a" => Label::Missing,
        "true" => Label::Number(1.0),
        "false" => Label::Number(0.0),
        _ => match cell.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => Label::Number(number),
            None => Label::Other(cell.to_owned()),
        },
    }
}

fn invalid(error: &serde_json::Error) -> ReadError {
    let mut refusal = refused(format!("not valid JSON: {error}"));
    refusal.help = Some("labels are JSON Lines, a JSON list or CSV with `id`".to_owned());
    refusal
}

fn refused(problem: impl Into<String>) -> ReadError {
    ReadError {
        problem: problem.into(),
        line: None,
        column: None,
        pointer: None,
        sample: None,
        help: None,
    }
}

/// What belongs to an error of a file.
trait Refusal {
    fn at(self, place: Place) -> Self;
    fn help(self, help: &str) -> Self;
    fn sample(self, id: &str) -> Self;
}

impl Refusal for ReadError {
    fn at(mut self, place: Place) -> Self {
        match place {
            Place::Line(line) => self.line = Some(line),
            Place::Item(number) => self.pointer = Some(format!("/{number}")),
        }
        self
    }

    fn help(mut self, help: &str) -> Self {
        self.help = Some(help.to_owned());
        self
    }

    fn sample(mut self, id: &str) -> Self {
        self.sample = Some(id.to_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str, name: &str) -> Vec<(Option<String>, String, Option<f64>)> {
        let labels = Labels::parse(text).unwrap();
        let chosen = labels.choose(name).unwrap();
        let mut rows: Vec<_> = chosen
            .by_answer
            .into_iter()
            .map(|((variant, id), label)| (variant, id, label))
            .collect();
        rows.sort_by(|one, other| one.1.cmp(&other.1));
        rows
    }

    fn row(id: &str, label: Option<f64>) -> (Option<String>, String, Option<f64>) {
        (None, id.to_owned(), label)
    }

    #[test]
    fn every_shape_says_the_same() {
        let expected = vec![row("a", Some(1.0)), row("b", Some(0.5)), row("c", None)];
        for text in [
            "{\"id\": \"a\", \"good\": true}\n{\"id\": \"b\", \"good\": 0.5, \"note\": \"x\"}\n\n{\"id\": \"c\", \"good\": null}\n",
            "[{\"id\": \"a\", \"good\": 1}, {\"_id\": \"b\", \"good\": 0.5}, {\"id\": \"c\"}]",
            "{\"rows\": [{\"id\": \"a\", \"good\": 1}, {\"id\": \"b\", \"good\": 0.5}, {\"id\": \"c\"}]}",
            "{\"id\": \"a\", \"turn\": 3, \"labels\": {\"good\": 1}} {\"id\": \"b\", \"labels\": {\"good\": 0.5}}\n{\"id\": \"c\", \"labels\": {}}",
            "id,good\na,1\nb,0.5\nc,\n",
            "question;good;id\r\nWhy, then?;TRUE;a\r\n\"a; b\";0.5;b\r\nx;n/a;c\r\n",
            "id\tgood\na\t1\nb\t0.5\nc\tnone\n",
            "{\"samples\": [{\"id\": \"a\", \"scores\": {\"good\": 1}}, {\"id\": \"b\", \"repeat\": 0, \"scores\": {\"good\": 0.25}}, {\"id\": \"b\", \"repeat\": 1, \"scores\": {\"good\": 0.75}}, {\"id\": \"c\", \"scores\": {\"good\": null}}]}",
        ] {
            assert_eq!(chosen(text, "good"), expected, "{text}");
            assert_eq!(Labels::parse(text).unwrap().names().next(), Some("good"));
        }
    }

    #[test]
    fn several_people_are_averaged_and_variants_are_apart() {
        let text = "id,variant,good\na,x,1\na,x,0\na,y,1\ne\u{301},x,1\n";
        let labels = Labels::parse(text).unwrap();
        assert_eq!(labels.variants().len(), 2);
        let chosen = labels.choose("good").unwrap();
        assert_eq!(chosen.averaged, 1);
        let of =
            |variant: &str, id: &str| chosen.by_answer[&(Some(variant.to_owned()), id.to_owned())];
        assert_eq!(of("x", "a"), Some(0.5));
        assert_eq!(of("y", "a"), Some(1.0));
        // Ids are compared in NFC.
        assert_eq!(of("x", "\u{e9}"), Some(1.0));
    }

    #[test]
    fn what_is_no_label_is_refused_with_its_place() {
        let refusal = |text: &str| Labels::parse(text).unwrap_err();
        assert!(refusal("  \n").problem.contains("empty"));
        assert!(
            refusal("question,good\nx,1\n")
                .problem
                .contains("no column `id`")
        );
        assert_eq!(refusal("id,good\n,1\n").line, Some(2));
        assert_eq!(
            refusal("{\"id\": \"a\", \"g\": 1}\n\n{\"g\": 1}").line,
            Some(3)
        );
        assert_eq!(
            refusal("[{\"id\": \"a\"}, 3]").pointer.as_deref(),
            Some("/1")
        );
        assert!(
            refusal("{\"id\": \"a\", \"g\": 1}\n{\"id\"")
                .problem
                .contains("line 2")
        );
        assert!(
            refusal("{\"id\": \"a\", \"note\": \"x\"}")
                .problem
                .contains("no label")
        );
        assert!(refusal("{\"faithfulness\": 0.5}").help.is_some());
        let text = "{\"id\": \"a\", \"g\": 1}\n{\"id\": \"b\", \"g\": \"good\"}\n";
        let error = Labels::parse(text).unwrap().choose("g").unwrap_err();
        assert_eq!((error.line, error.sample.as_deref()), (Some(2), Some("b")));
        assert!(error.problem.contains("`good`, no number"));
    }
}
