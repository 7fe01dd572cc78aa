//! Which column of the file is which, worked out once for each set of names that rows have.

use std::borrow::Cow;

use metrics::Column;

use super::error::DatasetError;
use super::json::{Json, Kind};
use super::literal::{self, Literal};
use super::measured;
use super::names::{self, DEEPEVAL, LISTS, When, same};
use super::options::Chosen;
use super::value::Cell;

/// A name and what the row has under it.
pub(super) type Field<'a> = (Cow<'a, str>, Cell<'a>);

/// Where a column may be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// The field.
    pub(super) index: usize,
    /// The way within it.
    pub(super) path: Vec<String>,
    /// As the file spells it, for messages.
    pub(super) from: String,
    /// Which of the options says so.
    pub(super) chosen: Option<usize>,
    /// A CSV cell may hold a list of texts.
    pub(super) is_list: bool,
}

/// A promptfoo column `__metadata:KEY` or `__metadata:KEY[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TagColumn {
    pub(super) index: usize,
    pub(super) key: String,
    pub(super) is_list: bool,
}

/// The columns of rows with these names.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) names: Vec<String>,
    sources: [Vec<Source>; Column::ALL.len()],
    pub(super) tag_columns: Vec<TagColumn>,
    /// `DeepEval` wrote the file.
    pub(super) is_deepeval: bool,
    /// Grades within the passages and ids count: no column is said to have them, or to be none.
    pub(super) has_grades_within: bool,
    /// Columns for which several sources were met, which has been said.
    pub(super) is_said: [bool; Column::ALL.len()],
    /// Sources that were taken, which has been noted: a bit for each.
    pub(super) noted: [u64; Column::ALL.len()],
}

impl Mapping {
    pub(super) fn new(fields: &[Field], chosen: &[Chosen]) -> Result<Mapping, DatasetError> {
        let names: Vec<String> = fields
            .iter()
            .map(|(name, _)| name.clone().into_owned())
            .collect();
        let mut sources =
            Column::ALL.map(|column| match chosen.iter().any(|c| c.column == column) {
                true => chosen_sources(&names, chosen, column),
                false => known_sources(&names, chosen, column),
            });
        let tag_columns = tag_columns(&names);
        let is_used = |index| {
            sources.iter().flatten().any(|source| source.index == index)
                || tag_columns.iter().any(|tag| tag.index == index)
        };
        if let Some(name) = twice(&names, fields, is_used) {
            return Err(DatasetError::new(format!("the name `{name}` stands twice"))
                .help("keep one: it cannot be told which is meant"));
        }
        // Two ways to one place are one source.
        for found in &mut sources {
            let mut at = 0;
            while at < found.len() {
                let place = (found[at].index, found[at].path.clone());
                let is_again = found[..at]
                    .iter()
                    .any(|before| (before.index, &before.path) == (place.0, &place.1));
                match is_again {
                    true => drop(found.remove(at)),
                    false => at += 1,
                }
            }
        }
        Ok(Mapping {
            is_deepeval: is_beside(&names, DEEPEVAL),
            has_grades_within: !chosen
                .iter()
                .any(|chosen| chosen.column == Column::ReferenceContextGrades),
            names,
            sources,
            tag_columns,
            // A target may report one time in several ways: the first will do.
            is_said: Column::ALL.map(measured::is_measured),
            noted: [0; Column::ALL.len()],
        })
    }

    pub(super) fn is_for(&self, fields: &[Field]) -> bool {
        self.names.len() == fields.len()
            && self
                .names
                .iter()
                .zip(fields)
                .all(|(name, (there, _))| name == there)
    }

    pub(super) fn sources(&self, column: Column) -> &[Source] {
        &self.sources[column as usize]
    }

    /// The names that mean nothing to us, but perhaps for what lies within.
    pub(super) fn ignored(&self) -> impl Iterator<Item = &str> {
        self.names.iter().enumerate().filter_map(|(index, name)| {
            let is_source = self
                .sources
                .iter()
                .flatten()
                .any(|source| source.index == index && source.path.is_empty());
            let is_tag = self.tag_columns.iter().any(|tag| tag.index == index);
            (!is_source && !is_tag && !name.is_empty()).then_some(name.as_str())
        })
    }
}

/// A name that is there twice: in CSV, only where it matters.
fn twice<'a>(
    names: &'a [String],
    fields: &[Field],
    is_used: impl Fn(usize) -> bool,
) -> Option<&'a str> {
    let mut sorted: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(0..).collect();
    sorted.sort_unstable();
    sorted
        .windows(2)
        .find(|pair| {
            let is_csv = matches!(fields[pair[0].1].1, Cell::Text(_));
            pair[0].0 == pair[1].0 && (!is_csv || is_used(pair[0].1) || is_used(pair[1].1))
        })
        .map(|pair| pair[0].0)
}

fn position(names: &[String], wanted: &str) -> Option<usize> {
    let exact = names.iter().position(|name| name == wanted);
    exact.or_else(|| names.iter().position(|name| same(name, wanted)))
}

fn is_beside(names: &[String], others: &[&str]) -> bool {
    others.iter().any(|other| position(names, other).is_some())
}

fn chosen_sources(names: &[String], chosen: &[Chosen], column: Column) -> Vec<Source> {
    let mine = chosen
        .iter()
        .enumerate()
        .filter(|(_, c)| c.column == column);
    mine.filter_map(|(number, chosen)| {
        let (index, path) = match names.iter().position(|name| *name == chosen.from) {
            Some(index) => (index, &[][..]),
            None => {
                let (first, rest) = chosen.steps.split_first()?;
                (position(names, first)?, rest)
            }
        };
        Some(Source {
            index,
            path: path.to_vec(),
            from: chosen.from.clone(),
            chosen: Some(number),
            is_list: true,
        })
    })
    .collect()
}

fn known_sources(names: &[String], chosen: &[Chosen], column: Column) -> Vec<Source> {
    let mut sources = Vec::new();
    for known in names::of(column) {
        let applies = match known.when {
            When::Always => true,
            When::Beside(others) => is_beside(names, others),
            When::Without(others) => !is_beside(names, others),
        };
        if !applies {
            continue;
        }
        let mut steps = known.path.split('.').map(str::to_owned);
        let first = steps.next().unwrap_or_default();
        let whole = names.iter().enumerate();
        // A CSV file has `inputs.question` as the name of a column.
        sources.extend(
            whole
                .filter(|(_, name)| same(name, known.path))
                .map(|(index, name)| Source {
                    index,
                    path: Vec::new(),
                    from: name.clone(),
                    chosen: None,
                    is_list: LISTS.contains(&known.path),
                }),
        );
        let path: Vec<String> = steps.collect();
        if let Some(index) = position(names, &first).filter(|_| !path.is_empty()) {
            sources.push(Source {
                index,
                from: format!("{}.{}", names[index], path.join(".")),
                path,
                chosen: None,
                is_list: LISTS.contains(&known.path),
            });
        }
    }
    // What the options give to another column is not taken by its name as well.
    sources.retain(|source| {
        !chosen
            .iter()
            .any(|c| c.from == source.from || c.steps.join(".") == source.from)
    });
    sources
}

fn tag_columns(names: &[String]) -> Vec<TagColumn> {
    let tags = names.iter().enumerate().filter_map(|(index, name)| {
        let key = name.strip_prefix("__metadata:")?;
        let (key, is_list) = match key.strip_suffix("[]") {
            Some(key) => (key, true),
            None => (key, false),
        };
        Some(TagColumn {
            index,
            key: key.to_owned(),
            is_list,
        })
    });
    tags.collect()
}

/// What the row has there; `None` when nothing, or `null`.
pub(super) fn get<'a>(fields: &[Field<'a>], source: &Source) -> Option<Cell<'a>> {
    let cell = &fields.get(source.index)?.1;
    if source.path.is_empty() {
        return (!cell.is_absent()).then(|| cell.clone());
    }
    let found = match cell {
        Cell::Json(Cow::Borrowed(json)) => walk(Json::scanned(json), &source.path)?,
        Cell::Json(Cow::Owned(json)) => own(walk(Json::scanned(json), &source.path)?),
        Cell::Text(text) => match literal::read(text) {
            Literal::Json(json) => own(walk(Json::scanned(&json), &source.path)?),
            Literal::Shortened | Literal::Text => return None,
        },
    };
    let found = Cell::Json(found);
    (!found.is_absent()).then_some(found)
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// What lies at the end of the path. A list on the way is entered by a number, else its elements' finds make a list.
fn walk<'a>(json: Json<'a>, path: &[String]) -> Option<Cow<'a, str>> {
    let Some((step, rest)) = path.split_first() else {
        return Some(Cow::Borrowed(json.spelling()));
    };
    match json.kind() {
        Kind::Object => {
            let entries = json.entries();
            let exact = entries.iter().find(|(key, _)| key == step);
            let found = exact.or_else(|| entries.iter().find(|(key, _)| same(key, step)));
            walk(found?.1, rest)
        }
        Kind::List => match step.parse::<usize>() {
            Ok(index) => walk(json.items().nth(index)?, rest),
            Err(_) => {
                let found: Vec<_> = json.items().filter_map(|item| walk(item, path)).collect();
                (!found.is_empty()).then(|| Cow::Owned(format!("[{}]", found.join(","))))
            }
        },
        _ => None,
    }
}
