//! One row taken apart: which value goes into which field of the sample.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use metrics::{Column, Context, Sample, Turn};

use super::error::{DatasetError, Place, one_line};
use super::ids;
use super::json::{Json, Kind};
use super::mapping::{self, Field, Mapping, Source};
use super::measured;
use super::value::{self, Bars, Cell, Graded};

/// Names that an error lists.
const LISTED: usize = 20;

/// Values within values that are kept: a reader of the temporary file goes no deeper than 128 with what is around them.
const MAX_KEPT_DEPTH: usize = 100;

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
    /// The row is kept as it stands.
    pub(super) keeps_other: bool,
}

impl RowReader<'_, '_> {
    /// The sample, without id and hash, and its id.
    pub(super) fn sample(&mut self) -> Result<(Sample, Option<String>), DatasetError> {
        let mut sample = Sample::default();
        let id = self.text(Column::Id)?.filter(|id| !id.is_empty());
        self.read(&mut sample)
            .map_err(|error| error.sample(id.as_deref()))?;
        if self.keeps_other {
            sample.other = self.whole();
        }
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
        self.passages(sample)?;
        sample.cluster = self.text(Column::Cluster)?.map(ids::nfc);
        sample.variant = self.text(Column::Variant)?.map(ids::nfc);
        sample.tags = self.tags()?;
        sample.latency_s = self.measured(Column::Latency)?;
        sample.tokens = self.measured(Column::Tokens)?;
        sample.cost_usd = self.measured(Column::Cost)?;
        Ok(())
    }

    /// What was retrieved and what should have been, with the grades of that.
    fn passages(&mut self, sample: &mut Sample) -> Result<(), DatasetError> {
        let retrieved = self.contexts(Column::Contexts)?;
        let retrieved_ids = self.ids(Column::ContextIds, Column::Contexts, retrieved.as_ref())?;
        let relevant = self.contexts(Column::ReferenceContexts)?;
        let relevant_ids = self.ids(
            Column::ReferenceContextIds,
            Column::ReferenceContexts,
            relevant.as_ref(),
        )?;
        sample.contexts = retrieved.map(|graded| graded.items);
        sample.context_ids = retrieved_ids.map(|graded| graded.items);
        if let Some(graded) = relevant {
            sample.reference_contexts = Some(graded.items);
            sample.reference_context_grades = graded.grades;
        }
        if let Some(graded) = relevant_ids {
            sample.reference_context_ids = Some(graded.items);
            sample.reference_context_id_grades = graded.grades;
        }
        self.grades(sample)
    }

    /// A column of grades is that of the passages or of the ids, whichever are as many.
    fn grades(&mut self, sample: &mut Sample) -> Result<(), DatasetError> {
        let grades = self.pick(Column::ReferenceContextGrades, |cell, _| {
            value::grades(cell).map_err(Refusal::Wrong)
        })?;
        let Some(grades) = grades else { return Ok(()) };
        let counts = [
            sample.reference_contexts.as_ref().map(Vec::len),
            sample.reference_context_ids.as_ref().map(Vec::len),
        ];
        let [for_passages, for_ids] = counts.map(|count| count == Some(grades.len()));
        if !for_passages && !for_ids {
            let count = counts.into_iter().flatten().next().unwrap_or(0);
            return Err(DatasetError::new(format!(
                "the row has {} grades, and {count} passages that should have been retrieved",
                grades.len()
            ))
            .help("write a grade for each of them, in their order"));
        }
        if for_ids {
            sample.reference_context_id_grades = Some(grades.clone());
        }
        if for_passages {
            sample.reference_context_grades = Some(grades);
        }
        Ok(())
    }

    /// What the target reports of itself.
    fn measured(&mut self, column: Column) -> Result<Option<f64>, DatasetError> {
        self.pick(column, |cell, source| {
            let number = measured::number(cell).map_err(Refusal::Other)?;
            Ok(match column {
                Column::Latency => measured::seconds(number, measured::last_name(source)),
                _ => number,
            })
        })
    }

    /// The row as it stands, a cell with a list or an object as that.
    fn whole(&self) -> serde_json::Map<String, serde_json::Value> {
        let fields = self.fields.iter();
        fields
            .map(|(name, cell)| (name.clone().into_owned(), cell.value(MAX_KEPT_DEPTH)))
            .collect()
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
        if let (None, Some((kind, source))) = (&taken, other)
            && !measured::is_measured(column)
        {
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

    fn contexts(&mut self, column: Column) -> Result<Option<Graded<Context>>, DatasetError> {
        let bars = match self.mapping.is_deepeval {
            true => Bars::Always,
            false => Bars::Tight,
        };
        let is_graded = column == Column::ReferenceContexts && self.mapping.has_grades_within;
        let is_split = std::cell::RefCell::new(None);
        let contexts = self.pick(column, |cell, source| {
            if value::is_split(cell, bars) {
                *is_split.borrow_mut() = Some(source.from.clone());
            }
            value::contexts(cell, bars, is_graded).map_err(Refusal::Wrong)
        })?;
        if let Some(from) = is_split.into_inner().filter(|_| bars == Bars::Tight) {
            self.notes.warnings.insert(format!(
                "cells of `{from}` are taken apart at `|`; write them as JSON lists to say what is one passage"
            ));
        }
        self.note_grades_within(column, contexts.as_ref());
        Ok(contexts)
    }

    /// The column of ids; without it, the ids of the passages when all have one.
    fn ids(
        &mut self,
        column: Column,
        of: Column,
        contexts: Option<&Graded<Context>>,
    ) -> Result<Option<Graded<String>>, DatasetError> {
        let is_graded = column == Column::ReferenceContextIds && self.mapping.has_grades_within;
        let ids = self.pick(column, |cell, _| {
            value::ids(cell, is_graded).map_err(Refusal::Wrong)
        })?;
        if ids.is_some() {
            self.note_grades_within(column, ids.as_ref());
            return Ok(ids);
        }
        let Some(contexts) = contexts.filter(|contexts| !contexts.items.is_empty()) else {
            return Ok(None);
        };
        let passages = contexts.items.iter();
        let Some(items) = passages.map(|context| context.id.clone()).collect() else {
            return Ok(None);
        };
        let key = (column, format!("{} (ids within)", of.name()));
        self.notes.recognised.insert(key);
        Ok(Some(Graded {
            items,
            grades: contexts.grades.clone(),
        }))
    }

    fn note_grades_within<T>(&mut self, column: Column, found: Option<&Graded<T>>) {
        if found.is_some_and(|found| found.grades.is_some()) {
            let from = format!("{} (grades within)", column.name());
            let key = (Column::ReferenceContextGrades, from);
            self.notes.recognised.insert(key);
        }
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
        Column::ContextIds => "ids are a list of texts or numbers",
        Column::ReferenceContextIds => {
            "ids are a list of texts or numbers, or an object from ids to grades"
        }
        Column::ReferenceContextGrades => "grades are a list of numbers",
        Column::Latency | Column::Tokens | Column::Cost => "a number is expected",
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
