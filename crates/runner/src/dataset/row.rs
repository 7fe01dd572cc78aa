//! One row taken apart: which value goes into which field of the sample.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use metrics::{Column, Context, Sample, Turn};

use super::error::{DatasetError, Place, one_line};
use super::ids;
use super::json::{Json, Kind};
use super::mapping::{self, Field, Mapping, Source};
use super::value::{self, Bars, Cell};

/// Names that an error lists.
const LISTED: usize = 20;

/// Characters of a name that an error shows.
const LENGTH: usize = 60;

/// What there is to say.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) recognised: IndexSet<(Column, String)>,
    pub(super) ignored: IndexSet<String>,
    pub(super) warnings: IndexSet<String>,
    /// Names of `[dataset.columns]` that were met.
    pub(super) met: IndexSet<usize>,
    /// Names in which something was found.
    pub(super) used: IndexSet<String>,
    /// Names met in any row.
    pub(super) names: IndexSet<String>,
}

/// Why a value is not taken.
enum Refusal {
    /// It is of another kind; the column may be found elsewhere.
    Other(Kind),
    /// It is meant, and it is wrong.
    Wrong(String),
}

/// What is found under a name of the question.
#[derive(PartialEq)]
enum Question {
    Text(String),
    /// A conversation, and the name under which it is.
    Talk(Vec<Turn>, String),
}

/// Reads one row.
pub(super) struct RowReader<'a, 'b> {
    pub(super) fields: &'b [Field<'a>],
    pub(super) mapping: &'b mut Mapping,
    pub(super) notes: &'b mut Notes,
    pub(super) place: &'b Place,
}

impl RowReader<'_, '_> {
    /// The sample, without id and hash, and its id.
    pub(super) fn sample(&mut self) -> Result<(Sample, Option<String>), DatasetError> {
        let mut sample = Sample::default();
        let id = self.text(Column::Id)?.filter(|id| !id.is_empty());
        self.read(&mut sample)
            .map_err(|error| error.sample(id.as_deref()))?;
        Ok((sample, id))
    }

    fn read(&mut self, sample: &mut Sample) -> Result<(), DatasetError> {
        sample.answer = self.text(Column::Answer)?;
        self.question(sample)?;
        if sample.question.is_none() && sample.answer.is_none() {
            return Err(self.neither());
        }
        sample.references = self.pick(Column::Reference, |cell, source| {
            value::texts(cell, source.is_list).map_err(Refusal::Other)
        })?;
        sample.contexts = self.contexts(Column::Contexts)?;
        sample.reference_contexts = self.contexts(Column::ReferenceContexts)?;
        sample.context_ids = self.ids(
            Column::ContextIds,
            Column::Contexts,
            sample.contexts.as_ref(),
        )?;
        sample.reference_context_ids = self.ids(
            Column::ReferenceContextIds,
            Column::ReferenceContexts,
            sample.reference_contexts.as_ref(),
        )?;
        sample.cluster = self.text(Column::Cluster)?.map(ids::nfc);
        sample.variant = self.text(Column::Variant)?.map(ids::nfc);
        sample.tags = self.tags()?;
        Ok(())
    }

    /// What the first source has that has something; says so when another has something else.
    fn pick<T: PartialEq>(
        &mut self,
        column: Column,
        convert: impl Fn(&Cell, &Source) -> Result<T, Refusal>,
    ) -> Result<Option<T>, DatasetError> {
        let mut taken: Option<(T, &Source)> = None;
        let mut other: Option<(Kind, &Source)> = None;
        let mut is_said = self.mapping.is_said[column as usize];
        let mut noted = self.mapping.noted[column as usize];
        for (number, source) in self.mapping.sources(column).iter().enumerate() {
            let bit = 1_u64
                .checked_shl(u32::try_from(number).unwrap_or(0))
                .unwrap_or(0);
            if let Some(number) = source.chosen
                && (source.path.is_empty() || !self.notes.met.contains(&number))
            {
                let is_there =
                    source.path.is_empty() || mapping::get(self.fields, source).is_some();
                if is_there {
                    self.notes.met.insert(number);
                }
            }
            let Some(cell) = mapping::get(self.fields, source) else {
                continue;
            };
            match (convert(&cell, source), &taken) {
                (Ok(value), None) => {
                    if noted & bit == 0 {
                        noted |= bit;
                        let key = (column, source.from.clone());
                        self.notes.recognised.insert(key);
                        let name = self.mapping.names.get(source.index);
                        self.notes.used.extend(name.cloned());
                    }
                    taken = Some((value, source));
                    if is_said {
                        break;
                    }
                }
                (Ok(value), Some((same, _))) if value == *same => (),
                (Ok(_), Some((_, first))) => {
                    let (name, first, second) = (column.name(), &first.from, &source.from);
                    self.notes.warnings.insert(format!(
                        "`{first}` and `{second}` both could be the {name}: `{first}` is taken; \
                         {name} = \"{second}\" in [dataset.columns] takes the other"
                    ));
                    is_said = true;
                    break;
                }
                (Err(_), Some(_)) => (),
                (Err(Refusal::Other(kind)), None) if source.chosen.is_none() => {
                    other = other.or(Some((kind, source)));
                }
                (Err(Refusal::Other(kind)), None) => {
                    return Err(wrong(column, source, &format!("is {}", kind.name())));
                }
                (Err(Refusal::Wrong(what)), None) => return Err(wrong(column, source, &what)),
            }
        }
        if let (None, Some((kind, source))) = (&taken, other) {
            let (name, from) = (column.name(), &source.from);
            let within = match kind {
                Kind::Object | Kind::List => {
                    format!("; {name} = \"{from}.…\" in [dataset.columns] names the place within")
                }
                _ => String::new(),
            };
            self.notes.warnings.insert(format!(
                "`{from}` is {} and not taken as the {name}{within}",
                kind.name()
            ));
        }
        let taken = taken.map(|(value, _)| value);
        self.mapping.is_said[column as usize] = is_said;
        self.mapping.noted[column as usize] = noted;
        Ok(taken)
    }

    fn text(&mut self, column: Column) -> Result<Option<String>, DatasetError> {
        self.pick(column, |cell, _| value::text(cell).map_err(Refusal::Other))
    }

    /// Question and history; a conversation that ends with an answer has that too.
    fn question(&mut self, sample: &mut Sample) -> Result<(), DatasetError> {
        let question = self.pick(Column::Question, |cell, source| {
            if !value::is_conversation(cell) {
                return value::text(cell)
                    .map(Question::Text)
                    .map_err(Refusal::Other);
            }
            value::turns(cell)
                .filter(|turns| turns.iter().any(|turn| turn.role == "user"))
                .map(|turns| Question::Talk(turns, source.from.clone()))
                .ok_or_else(|| {
                    Refusal::Wrong("is a conversation without a turn of the user".to_owned())
                })
        })?;
        let history = self.pick(Column::History, |cell, _| {
            value::turns(cell).ok_or(Refusal::Other(match cell {
                Cell::Json(json) => Json::scanned(json).kind(),
                Cell::Text(_) => Kind::Text,
            }))
        })?;
        sample.history = history.unwrap_or_default();
        match question {
            None => (),
            Some(Question::Text(question)) => {
                let is_asked = |turn: &mut Turn| turn.role == "user" && turn.text == question;
                sample.history.pop_if(is_asked);
                sample.question = Some(question).filter(|question| !question.trim().is_empty());
            }
            Some(Question::Talk(turns, from)) => self.talk(sample, turns, from),
        }
        Ok(())
    }

    /// The last turn of the user is the question, what is before it the history unless a column has that; what the
    /// assistant says after it is the answer, unless a column has that.
    fn talk(&mut self, sample: &mut Sample, mut turns: Vec<Turn>, from: String) {
        let Some(last) = turns.iter().rposition(|turn| turn.role == "user") else {
            return;
        };
        let after = turns.split_off(last + 1);
        sample.question = turns.pop().map(|turn| turn.text);
        let answer = after.into_iter().rfind(|turn| turn.role == "assistant");
        if let (None, Some(answer)) = (&sample.answer, answer) {
            sample.answer = Some(answer.text);
            let key = (Column::Answer, format!("{from} (last turn)"));
            self.notes.recognised.insert(key);
        }
        if sample.history.is_empty() && !turns.is_empty() {
            sample.history = turns;
            self.notes.recognised.insert((Column::History, from));
        }
    }

    fn contexts(&mut self, column: Column) -> Result<Option<Vec<Context>>, DatasetError> {
        let bars = match self.mapping.is_deepeval {
            true => Bars::Always,
            false => Bars::Tight,
        };
        let is_split = std::cell::RefCell::new(None);
        let contexts = self.pick(column, |cell, source| {
            if value::is_split(cell, bars) {
                *is_split.borrow_mut() = Some(source.from.clone());
            }
            value::contexts(cell, bars).map_err(Refusal::Wrong)
        })?;
        if let Some(from) = is_split.into_inner().filter(|_| bars == Bars::Tight) {
            self.notes.warnings.insert(format!(
                "cells of `{from}` are taken apart at `|`; write them as JSON lists to say what is one passage"
            ));
        }
        Ok(contexts)
    }

    /// The column of ids; without it, the ids of the passages when all have one.
    fn ids(
        &mut self,
        column: Column,
        of: Column,
        contexts: Option<&Vec<Context>>,
    ) -> Result<Option<Vec<String>>, DatasetError> {
        let ids = self.pick(column, |cell, _| value::ids(cell).map_err(Refusal::Wrong))?;
        let Some(contexts) = contexts.filter(|contexts| ids.is_none() && !contexts.is_empty())
        else {
            return Ok(ids);
        };
        let ids: Option<Vec<String>> = contexts.iter().map(|context| context.id.clone()).collect();
        if ids.is_some() {
            let key = (column, format!("{} (ids within)", of.name()));
            self.notes.recognised.insert(key);
        }
        Ok(ids)
    }

    fn tags(&mut self) -> Result<BTreeMap<String, Vec<String>>, DatasetError> {
        let picked = self.pick(Column::Tags, |cell, source| {
            let mut tags = BTreeMap::new();
            let name = source.path.last().map_or("tags", String::as_str);
            let name = match source.chosen {
                Some(_) if source.path.is_empty() => source.from.as_str(),
                _ => name,
            };
            value::tags(cell, name, &mut tags).map_err(Refusal::Wrong)?;
            Ok(tags)
        })?;
        let mut tags = picked.unwrap_or_default();
        for tag in &self.mapping.tag_columns {
            let Some((name, cell)) = self.fields.get(tag.index) else {
                continue;
            };
            let Ok(text) = value::text(cell) else {
                continue;
            };
            if text.is_empty() {
                continue;
            }
            let values = match tag.is_list {
                true => comma_separated(&text),
                false => vec![text],
            };
            tags.insert(tag.key.clone(), values);
            let key = (Column::Tags, name.clone().into_owned());
            self.notes.recognised.insert(key);
        }
        Ok(tags)
    }

    fn neither(&self) -> DatasetError {
        let names = &self.mapping.names;
        let is_scores = |(name, cell): &Field| {
            name == "scores" && matches!(cell, Cell::Json(json) if json.starts_with('{'))
        };
        if self.fields.iter().any(is_scores) {
            return results_file();
        }
        let is_known = [Column::Question, Column::Answer]
            .iter()
            .any(|&column| !self.mapping.sources(column).is_empty());
        if is_known {
            return DatasetError::new("the row has neither a question nor an answer")
                .at(self.place)
                .help(
                    "fill it in, or take the row out; where another column has the question, say which: \
                     question = \"vars.topic\" in [dataset.columns], for example",
                );
        }
        if names.is_empty() {
            return DatasetError::new("the row is empty").help("take it out");
        }
        no_question(names)
    }
}

/// No name of the row is known: shows what to write.
pub(super) fn no_question(names: &[String]) -> DatasetError {
    DatasetError::new(format!(
        "no column is known as the question; the columns are {}",
        listed(names)
    ))
    .help(
        "say in gate.toml which is which (an answer is needed only without a target):\n\n\
         [dataset.columns]\nquestion = \"…\"\nanswer = \"…\"\nreference = \"…\"\ncontexts = \"…\"",
    )
}

pub(super) fn results_file() -> DatasetError {
    DatasetError::new("this is a results file: it has scores, and no questions").help(
        "a dataset has the questions (and answers) that are to be scored; results are for `rag-gate check`",
    )
}

fn wrong(column: Column, source: &Source, what: &str) -> DatasetError {
    let (from, name) = (&source.from, column.name());
    let expected = match column {
        Column::Contexts | Column::ReferenceContexts => {
            "passages are a list of texts, or of objects with a `text`"
        }
        Column::ContextIds | Column::ReferenceContextIds => "ids are a list of texts or numbers",
        Column::History => "write [{\"role\": \"user\", \"content\": \"…\"}, …]",
        Column::Tags => "tags are an object of texts, or of lists of texts",
        _ => "a text is expected; a dotted path leads into an object",
    };
    let meant = match from == name {
        true => String::new(),
        false => format!(", taken as the {name},"),
    };
    DatasetError::new(format!("`{from}`{meant} {what}")).help(format!(
        "{expected}; {name} = \"…\" in [dataset.columns] names another place, and an empty one none"
    ))
}

/// promptfoo separates with commas, and writes a comma within as `\,`.
fn comma_separated(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next_if_eq(&',').is_some() => value.push(','),
            ',' => values.push(std::mem::take(&mut value)),
            _ => value.push(character),
        }
    }
    values.push(value);
    values.iter().map(|value| value.trim().to_owned()).collect()
}

/// The names for a message: the first of them, and no more of each than tells it apart.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let mut names: Vec<String> = names
        .into_iter()
        .map(|name| match name.char_indices().nth(LENGTH) {
            Some((end, _)) => format!("`{}…`", one_line(&name[..end])),
            None => format!("`{}`", one_line(name)),
        })
        .collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    match more {
        0 => names.join(", "),
        _ => format!("{} and {more} more", names.join(", ")),
    }
}
