//! What a cell means: texts, passages, ids, turns and tags.

use std::borrow::Cow;
use std::collections::BTreeMap;

use metrics::{Context, Turn};
use serde_json::Value;

use super::json::{Json, Kind};
use super::literal::{self, Literal};
use super::names::same;

/// What a row has in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    /// A value of a JSON file, as it is spelled there.
    Json(Cow<'a, str>),
    /// A cell of a CSV file.
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// As JSON: a CSV cell too, when it holds a list or an object.
    pub(super) fn structure(&self) -> Result<Option<Cow<'_, str>>, String> {
        match self {
            Cell::Json(text) => Ok(Some(Cow::Borrowed(text))),
            Cell::Text(text) => match literal::read(text) {
                Literal::Json(json) => Ok(Some(Cow::Owned(json))),
                Literal::Text => Ok(None),
                Literal::Shortened => Err("is a list that numpy shortened with `...`".to_owned()),
            },
        }
    }

    /// As a value, down to `depth` levels.
    pub(super) fn value(&self, depth: usize) -> Value {
        match (self, self.structure()) {
            (_, Ok(Some(json))) => Json::scanned(&json).value(depth),
            (Cell::Json(text) | Cell::Text(text), _) => Value::String(text.clone().into_owned()),
        }
    }

    /// `null`, `NaN`, and a CSV cell without a text.
    pub(super) fn is_absent(&self) -> bool {
        match self {
            Cell::Json(text) => Json::scanned(text).is_null(),
            Cell::Text(text) => text.is_empty(),
        }
    }
}

/// The cell as one text; `Err` says what it is instead.
pub(super) fn text(cell: &Cell) -> Result<String, Kind> {
    match cell {
        Cell::Text(text) => Ok(text.clone().into_owned()),
        Cell::Json(json) => {
            let json = Json::scanned(json);
            // lm-evaluation-harness and others write a list of one.
            let mut items = json.items();
            let only = match (items.next(), items.next()) {
                (Some(item), None) => item,
                _ => json,
            };
            match only.text() {
                Some(text) => Ok(text.into_owned()),
                None => Err(json.kind()),
            }
        }
    }
}

/// The cell as answers any of which is right. `is_list`: the text of a CSV cell may be a list of them.
pub(super) fn texts(cell: &Cell, is_list: bool) -> Result<Vec<String>, Kind> {
    let json = match cell {
        Cell::Json(json) => Cow::Borrowed(json.as_ref()),
        Cell::Text(text) if is_list => match literal::read(text) {
            Literal::Json(json) => Cow::Owned(json),
            Literal::Shortened | Literal::Text => return Ok(vec![text.clone().into_owned()]),
        },
        Cell::Text(text) => return Ok(vec![text.clone().into_owned()]),
    };
    let json = Json::scanned(&json);
    if let Some(text) = json.text() {
        return Ok(vec![text.into_owned()]);
    }
    if json.kind() == Kind::Object {
        return Err(Kind::Object);
    }
    flat(json)
        .filter(|item| !item.is_null())
        .map(|item| passage_text(item).ok_or(Kind::List))
        .collect()
}

/// The items of a list, those of lists within it in their place.
fn flat(json: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    json.items().flat_map(|item| {
        let inner = item.items();
        let itself = (item.kind() != Kind::List).then_some(item);
        itself.into_iter().chain(inner)
    })
}

/// Where the objects of other tools hold the text of a passage.
const TEXT_KEYS: [&str; 6] = [
    "text",
    "content",
    "page_content",
    "passage",
    "chunk",
    "body",
];

/// Where they hold its id.
const ID_KEYS: [&str; 7] = [
    "id",
    "doc_id",
    "doc_uri",
    "_id",
    "chunk_id",
    "document_id",
    "source",
];

fn first<'a>(entries: &[(Cow<'a, str>, Json<'a>)], keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter().find_map(|known| {
        let found = entries.iter().find(|(key, _)| same(key, known));
        found.and_then(|(_, value)| value.text())
    })
}

/// Where they hold how relevant it is.
const GRADE_KEYS: [&str; 4] = ["grade", "relevance", "rel", "score"];

/// What is in a cell, and how relevant each of it is, in the same order; without grades when none has one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Graded<T> {
    pub(super) items: Vec<T>,
    pub(super) grades: Option<Vec<f64>>,
}

impl<T> Graded<T> {
    fn ungraded(items: impl IntoIterator<Item = T>) -> Self {
        Graded {
            items: items.into_iter().collect(),
            grades: None,
        }
    }

    /// Where some have grades, one without is relevant like any other: 1.
    fn of(items: impl IntoIterator<Item = (T, Option<f64>)>) -> Self {
        let (items, grades): (Vec<T>, Vec<Option<f64>>) = items.into_iter().unzip();
        let has_some = grades.iter().any(Option::is_some);
        let grades = grades.into_iter().map(|grade| grade.unwrap_or(1.0));
        Graded {
            items,
            grades: has_some.then(|| grades.collect()),
        }
    }
}

/// A finite number, or a text that is one; true and false are 1 and 0.
fn number(json: Json) -> Option<f64> {
    let text = json.text()?;
    let number = match json.kind() {
        Kind::Bool => f64::from(u8::from(text == "true")),
        _ => text.trim().parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// The grade of an object; `None` when it has none.
fn grade_within(entries: &[(Cow<str>, Json)]) -> Result<Option<f64>, String> {
    let found = GRADE_KEYS.iter().find_map(|known| {
        let mut entries = entries.iter();
        entries.find(|(key, value)| same(key, known) && !value.is_null())
    });
    let Some((key, value)) = found else {
        return Ok(None);
    };
    match number(*value) {
        Some(grade) => Ok(Some(grade)),
        None => Err(format!("an object whose `{key}` is no number")),
    }
}

fn passage_text(item: Json) -> Option<String> {
    match item.kind() {
        Kind::Object => first(&item.entries(), &TEXT_KEYS).map(Cow::into_owned),
        _ => item.text().map(Cow::into_owned),
    }
}

fn passage(item: Json) -> Result<Context, String> {
    match item.kind() {
        Kind::Text => Ok(Context {
            id: None,
            text: item.text().unwrap_or_default().into_owned(),
        }),
        Kind::Object => passage_of_object(item),
        kind => Err(kind.name().to_owned()),
    }
}

fn passage_of_object(item: Json) -> Result<Context, String> {
    let entries = item.entries();
    let Some(text) = first(&entries, &TEXT_KEYS) else {
        return Err(format!(
            "an object without a text (looked for {})",
            TEXT_KEYS.join(", ")
        ));
    };
    let metadata = entries
        .iter()
        .find(|(key, _)| key == "metadata" || key == "meta");
    let id = first(&entries, &ID_KEYS)
        .or_else(|| first(&metadata?.1.entries(), &ID_KEYS))
        .filter(|id| !id.is_empty());
    let text = match first(&entries, &["title"]).filter(|title| !title.is_empty()) {
        Some(title) => format!("{title}\n{text}"),
        None => text.into_owned(),
    };
    Ok(Context {
        id: id.map(Cow::into_owned),
        text,
    })
}

/// How a CSV cell without brackets may hold several passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bars {
    /// `DeepEval` joins them with `|`.
    Always,
    /// A `|` with white space beside it is a part of the text: a table, a formula.
    Tight,
}

/// The passages of the cell, with the grades within unless those are another column's.
pub(super) fn contexts(
    cell: &Cell,
    bars: Bars,
    is_graded: bool,
) -> Result<Graded<Context>, String> {
    let structure = cell.structure()?;
    let Some(json) = structure else {
        let Cell::Text(text) = cell else {
            return Ok(Graded::ungraded([]));
        };
        return Ok(Graded::ungraded(split(text, bars).map(|text| Context {
            id: None,
            text: text.to_owned(),
        })));
    };
    let json = Json::scanned(&json);
    let graded = |item: Json| {
        let grade = match is_graded {
            true => grade_within(&item.entries())?,
            false => None,
        };
        Ok::<_, String>((passage(item)?, grade))
    };
    match json.kind() {
        Kind::Text if json.spelling() == "\"\"" => Ok(Graded::ungraded([])),
        Kind::Text | Kind::Object => Ok(Graded::of([graded(json).map_err(is)?])),
        Kind::List => {
            let passages = flat(json).enumerate().map(|(index, item)| {
                graded(item).map_err(|what| format!("has {what} as passage {}", index + 1))
            });
            Ok(Graded::of(passages.collect::<Result<Vec<_>, _>>()?))
        }
        kind => Err(is(kind.name().to_owned())),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
fn is(what: String) -> String {
    format!("is {what}")
}

fn split(text: &str, bars: Bars) -> impl Iterator<Item = &str> {
    let parts: Vec<&str> = text.split('|').collect();
    let is_tight = parts
        .iter()
        .all(|part| !part.is_empty() && part.trim() == *part);
    match bars == Bars::Always || is_tight {
        true => parts.into_iter(),
        false => vec![text].into_iter(),
    }
}

/// Whether a CSV cell is taken apart at its bars.
pub(super) fn is_split(cell: &Cell, bars: Bars) -> bool {
    matches!(cell, Cell::Text(text) if text.contains('|') && literal::read(text) == Literal::Text && split(text, bars).count() > 1)
}

/// The ids in the cell; with grades, where they are looked for: those of an object from ids to grades, or of objects with an
/// id and a grade.
pub(super) fn ids(cell: &Cell, is_graded: bool) -> Result<Graded<String>, String> {
    let Some(json) = cell.structure()? else {
        let Cell::Text(text) = cell else {
            return Ok(Graded::ungraded([]));
        };
        return Ok(Graded::ungraded(
            split(text, Bars::Tight).map(str::to_owned),
        ));
    };
    let json = Json::scanned(&json);
    if let Some(id) = json.text() {
        return Ok(Graded::ungraded([id.into_owned()]));
    }
    match json.kind() {
        Kind::List => (),
        Kind::Object if is_graded => return judgements(json),
        kind => return Err(is(kind.name().to_owned())),
    }
    let ids = flat(json).enumerate().map(|(index, item)| {
        let place = index + 1;
        let no_id = || format!("has no id in place {place}");
        if item.kind() != Kind::Object {
            return Ok((item.text().ok_or_else(no_id)?.into_owned(), None));
        }
        let entries = item.entries();
        let id = first(&entries, &ID_KEYS).ok_or_else(no_id)?.into_owned();
        let grade = match is_graded {
            true => {
                grade_within(&entries).map_err(|what| format!("has {what} in place {place}"))?
            }
            false => None,
        };
        Ok((id, grade))
    });
    Ok(Graded::of(ids.collect::<Result<Vec<_>, String>>()?))
}

/// An object from ids to grades, as judgements for retrieval are written; or a single id with its grade.
fn judgements(json: Json) -> Result<Graded<String>, String> {
    let entries = json.entries();
    if let (Some(id), Some(grade)) = (first(&entries, &ID_KEYS), grade_within(&entries)?) {
        return Ok(Graded::of([(id.into_owned(), Some(grade))]));
    }
    let judged = entries.into_iter().map(|(id, value)| match number(value) {
        Some(grade) => Ok((id.into_owned(), Some(grade))),
        None => Err(format!("has no number as the grade of `{id}`")),
    });
    Ok(Graded::of(judged.collect::<Result<Vec<_>, String>>()?))
}

/// The grades in the cell.
pub(super) fn grades(cell: &Cell) -> Result<Vec<f64>, String> {
    let no_number = |index: usize| format!("has no number in place {}", index + 1);
    let Some(json) = cell.structure()? else {
        let Cell::Text(text) = cell else {
            return Ok(Vec::new());
        };
        let parts = split(text, Bars::Tight).enumerate();
        return parts
            .map(|(index, part)| {
                let grade = part.trim().parse().ok();
                let grade = grade.filter(|grade: &f64| grade.is_finite());
                grade.ok_or_else(|| no_number(index))
            })
            .collect();
    };
    let json = Json::scanned(&json);
    match json.kind() {
        Kind::List => flat(json)
            .enumerate()
            .map(|(index, item)| number(item).ok_or_else(|| no_number(index)))
            .collect(),
        kind => match number(json) {
            Some(grade) => Ok(vec![grade]),
            None => Err(is(kind.name().to_owned())),
        },
    }
}

/// The conversation in the cell; `None` when it holds none.
///
/// Turns are objects with the text in `content` or `text` and the speaker in `role`, `type` or `speaker`, pairs of
/// texts, or texts of user and assistant in turn. A text may hold the JSON of such a list.
pub(super) fn turns(cell: &Cell) -> Option<Vec<Turn>> {
    let structure = cell.structure().ok()??;
    let json = Json::scanned(&structure);
    match json.kind() {
        Kind::Text => {
            let text = json.text()?;
            if text.is_empty() {
                return Some(Vec::new());
            }
            match literal::read(&text) {
                Literal::Json(inner) => turns_of_list(Json::scanned(&inner)),
                Literal::Shortened | Literal::Text => None,
            }
        }
        _ => turns_of_list(json),
    }
}

fn turns_of_list(json: Json) -> Option<Vec<Turn>> {
    if json.kind() != Kind::List {
        return None;
    }
    let mut turns = Vec::new();
    for item in flat(json) {
        turns.push(match item.kind() {
            Kind::Object => turn(item)?,
            _ => Turn {
                role: ["user", "assistant"][turns.len() % 2].to_owned(),
                text: item.text()?.into_owned(),
            },
        });
    }
    Some(turns)
}

/// Whether the cell is a list of messages rather than of texts.
pub(super) fn is_conversation(cell: &Cell) -> bool {
    let structure = cell.structure().ok().flatten();
    structure.is_some_and(|json| {
        let mut items = Json::scanned(&json).items().peekable();
        items.peek().is_some() && items.all(|item| turn(item).is_some())
    })
}

fn turn(item: Json) -> Option<Turn> {
    let entries = item.entries();
    let role = first(&entries, &["role", "type", "speaker"])?;
    let role = match role.to_ascii_lowercase().as_str() {
        "human" | "user" => "user".to_owned(),
        "ai" | "agent" | "bot" | "assistant" => "assistant".to_owned(),
        _ => role.into_owned(),
    };
    let content = entries
        .iter()
        .find(|(key, _)| key == "content" || key == "text")?;
    let text = match content.1.kind() {
        // Parts of a message: {"type": "text", "text": …}.
        Kind::List => content
            .1
            .items()
            .filter_map(passage_text)
            .collect::<Vec<_>>()
            .join("\n"),
        // A message that calls a tool says nothing.
        Kind::Null => String::new(),
        _ => content.1.text()?.into_owned(),
    };
    Some(Turn { role, text })
}

/// The tags in the cell: an object's scalars and lists of scalars by their keys, a list or a scalar under `name`.
pub(super) fn tags(
    cell: &Cell,
    name: &str,
    tags: &mut BTreeMap<String, Vec<String>>,
) -> Result<(), String> {
    let structure = cell.structure()?;
    let Some(json) = structure else {
        if let Cell::Text(text) = cell {
            let values = split(text, Bars::Tight).map(str::to_owned).collect();
            tags.insert(name.to_owned(), values);
        }
        return Ok(());
    };
    let json = Json::scanned(&json);
    if json.kind() != Kind::Object {
        tags.insert(name.to_owned(), scalars(json));
        return Ok(());
    }
    for (key, value) in json.entries() {
        let values = scalars(value);
        if !values.is_empty() {
            tags.insert(key.into_owned(), values);
        }
    }
    Ok(())
}

fn scalars(json: Json) -> Vec<String> {
    match json.text() {
        Some(text) => vec![text.into_owned()],
        None => json
            .items()
            .filter_map(Json::text)
            .map(Cow::into_owned)
            .collect(),
    }
}
