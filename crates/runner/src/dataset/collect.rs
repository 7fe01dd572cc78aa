//! From rows to samples: each is taken apart, checked, given its hash, and put on the spool.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use indexmap::IndexSet;
use metrics::{Column, Sample};

use super::error::{DatasetError, Place, one_line};
use super::ids::{self, Ids};
use super::json::Json;
use super::mapping::{Field, Mapping};
use super::names;
use super::options::{Chosen, Options};
use super::row::{Notes, RowReader, listed};
use super::spool::Spool;
use super::value::Cell;
use super::{Dataset, Recognised};

/// Sets of names that are remembered; a file has a few.
const MAPPINGS: usize = 1000;

/// Takes rows, in the order of the file.
pub(super) struct Collector {
    chosen: Vec<Chosen>,
    /// By the hash of their names.
    mappings: HashMap<u64, Vec<Mapping>>,
    last: Option<Mapping>,
    notes: Notes,
    ids: Ids,
    spool: Spool,
    /// Line of each sample; 0 when the file has no lines.
    lines: Vec<u64>,
    sizes: Vec<u32>,
    has: [usize; Column::ALL.len()],
    buffer: Vec<u8>,
    keeps_other: bool,
}

impl Collector {
    pub(super) fn new(options: &Options) -> Result<Self, DatasetError> {
        Ok(Collector {
            chosen: options.chosen()?,
            mappings: HashMap::new(),
            last: None,
            notes: Notes::default(),
            ids: Ids::default(),
            spool: Spool::new(options.memory()),
            lines: Vec::new(),
            sizes: Vec::new(),
            has: [0; Column::ALL.len()],
            buffer: Vec::new(),
            keeps_other: options.keep_other,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spool.len() == 0
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.notes.warnings.insert(warning.into());
    }

    /// Whether the name is that of a question or an answer, by itself or by the options.
    pub(super) fn is_text_column(&self, name: &str) -> bool {
        let is_text = |column| matches!(column, Column::Question | Column::Answer);
        self.chosen
            .iter()
            .any(|chosen| is_text(chosen.column) && chosen.from == name)
            || [Column::Question, Column::Answer]
                .into_iter()
                .flat_map(names::of)
                .any(|known| names::same(name, known.path))
    }

    /// Whether the name means anything, by itself or by the options.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.chosen.iter().any(|chosen| chosen.from == name) || names::is_known(name)
    }

    /// Whether the name is the first step of a path that means something.
    pub(super) fn leads(&self, name: &str) -> bool {
        self.chosen.iter().any(|chosen| {
            chosen
                .steps
                .first()
                .is_some_and(|step| names::same(name, step))
        }) || names::leads(name)
    }

    /// Takes a row.
    pub(super) fn row(&mut self, fields: &[Field], place: &Place) -> Result<(), DatasetError> {
        // The dataset viewer of Hugging Face wraps each row.
        let is_wrapped = fields.iter().any(|(name, _)| name == "row_idx");
        let wrapped = fields.iter().find(|(name, _)| is_wrapped && name == "row");
        if let Some((_, Cell::Json(row))) = wrapped {
            let is_cut = |(name, cell): &Field| {
                name == "truncated_cells" && matches!(cell, Cell::Json(list) if list != "[]")
            };
            if fields.iter().any(is_cut) {
                self.warn(format!(
                    "the server that made the file cut texts short (`truncated_cells` in {place})"
                ));
            }
            let inner = fields_of(Json::scanned(row));
            return self.plain_row(&inner, place);
        }
        self.plain_row(fields, place)
    }

    fn plain_row(&mut self, fields: &[Field], place: &Place) -> Result<(), DatasetError> {
        let mut mapping = self.mapping_of(fields).map_err(|error| error.at(place))?;
        let mut reader = RowReader {
            fields,
            mapping: &mut mapping,
            notes: &mut self.notes,
            place,
            keeps_other: self.keeps_other,
        };
        let read = reader.sample();
        self.last = Some(mapping);
        let (sample, id) = read.map_err(|error| error.at(place))?;
        self.add(sample, id, place)
    }

    /// The mapping for rows with these names; whoever takes it puts it into `last`.
    fn mapping_of(&mut self, fields: &[Field]) -> Result<Mapping, DatasetError> {
        if let Some(last) = self.last.take_if(|last| last.is_for(fields)) {
            return Ok(last);
        }
        if let Some(last) = self.last.take() {
            if self.mappings.len() >= MAPPINGS {
                self.mappings.clear();
            }
            let key = hash(last.names.iter().map(String::as_str));
            self.mappings.entry(key).or_default().push(last);
        }
        let key = hash(fields.iter().map(|(name, _)| name.as_ref()));
        if let Some(found) = self.mappings.get_mut(&key)
            && let Some(at) = found.iter().position(|mapping| mapping.is_for(fields))
        {
            return Ok(found.swap_remove(at));
        }
        let mapping = Mapping::new(fields, &self.chosen)?;
        let notes = &mut self.notes;
        if notes.names.len() < MAPPINGS {
            notes.names.extend(mapping.names.iter().cloned());
            notes.ignored.extend(mapping.ignored().map(str::to_owned));
        }
        Ok(mapping)
    }

    pub(super) fn add(
        &mut self,
        mut sample: Sample,
        id: Option<String>,
        place: &Place,
    ) -> Result<(), DatasetError> {
        let index = self.spool.len();
        if u32::try_from(index).is_err() {
            return Err(DatasetError::new("more than 4 294 967 295 samples"));
        }
        sample.input_sha256 = ids::input_sha256(&sample, &mut self.buffer);
        match id {
            Some(id) => {
                sample.id = ids::nfc(id);
                self.has[Column::Id as usize] += 1;
                self.take_id(&sample, index, place)?;
            }
            None => self.miss(&mut sample, index),
        }
        self.spool
            .add(|out| serde_json::to_writer(out, &sample).map_err(std::io::Error::from))
            .map_err(|error| unwritable(&error))?;
        self.lines.push(place.line.unwrap_or(0));
        self.sizes.push(size(&sample));
        self.count(&sample);
        Ok(())
    }

    /// Notes a sample without an id: what is kept for metrics and what the target reports of itself make no other sample.
    fn miss(&mut self, sample: &mut Sample, index: usize) {
        let aside = (
            std::mem::take(&mut sample.other),
            sample.latency_s.take(),
            sample.tokens.take(),
            sample.cost_usd.take(),
        );
        self.ids.miss(sample, index);
        (
            sample.other,
            sample.latency_s,
            sample.tokens,
            sample.cost_usd,
        ) = aside;
    }

    fn take_id(
        &mut self,
        sample: &Sample,
        index: usize,
        place: &Place,
    ) -> Result<(), DatasetError> {
        let spool = &self.spool;
        let taken = self.ids.take(sample, index, |other| {
            let other = sample_of(spool, other)?;
            Ok::<_, DatasetError>(other.id == sample.id && other.variant == sample.variant)
        })?;
        let Err(other) = taken else { return Ok(()) };
        let (first, second) = match (self.lines[other], place.line) {
            (0, _) | (_, None) => (format!("row {}", other + 1), format!("row {}", index + 1)),
            (first, Some(second)) => (format!("line {first}"), format!("line {second}")),
        };
        let variant = match &sample.variant {
            Some(variant) => format!(" of variant `{variant}`"),
            None => String::new(),
        };
        Err(DatasetError::new(format!(
            "the id `{}`{variant} stands twice: in {first} and in {second}",
            sample.id
        ))
        .at(place)
        .sample(Some(&sample.id))
        .help(
            "ids are unique; where the file has the answers of several systems, say which column tells them apart: \
             variant = \"…\" in [dataset.columns]; id = \"\" there makes ids from the content",
        ))
    }

    fn count(&mut self, sample: &Sample) {
        let present = [
            (Column::Question, sample.question.is_some()),
            (Column::Answer, sample.answer.is_some()),
            (Column::Reference, sample.references.is_some()),
            (Column::Contexts, sample.contexts.is_some()),
            (
                Column::ReferenceContexts,
                sample.reference_contexts.is_some(),
            ),
            (Column::ContextIds, sample.context_ids.is_some()),
            (
                Column::ReferenceContextIds,
                sample.reference_context_ids.is_some(),
            ),
            (Column::History, !sample.history.is_empty()),
            (Column::Cluster, sample.cluster.is_some()),
            (Column::Tags, !sample.tags.is_empty()),
            (Column::Variant, sample.variant.is_some()),
            (
                Column::ReferenceContextGrades,
                sample.reference_context_grades.is_some()
                    || sample.reference_context_id_grades.is_some(),
            ),
            (Column::Latency, sample.latency_s.is_some()),
            (Column::Tokens, sample.tokens.is_some()),
            (Column::Cost, sample.cost_usd.is_some()),
        ];
        for (column, is_present) in present {
            self.has[column as usize] += usize::from(is_present);
        }
    }

    /// All rows were taken.
    pub(super) fn finish(mut self) -> Result<Dataset, DatasetError> {
        if let Some(chosen) = (0..self.chosen.len())
            .find(|number| {
                !self.notes.met.contains(number) && !self.chosen[*number].from.is_empty()
            })
            .map(|number| &self.chosen[number])
        {
            return Err(DatasetError::new(format!(
                "no row has `{}`, which [dataset.columns] names as the {}",
                chosen.from,
                chosen.column.name()
            ))
            .help(format!("the columns are {}", listed(&self.notes.names)))
            .of_options());
        }
        if self.has[Column::Question as usize] == 0 {
            self.warn(
                "no column is known as the question: metrics that ask for it are not applicable; \
                 question = \"…\" in [dataset.columns] names one",
            );
        }
        let is_context = |column, from: &str| {
            self.notes
                .recognised
                .iter()
                .any(|(c, f)| *c == column && names::same(f, from))
        };
        if is_context(Column::Contexts, "context")
            && is_context(Column::ReferenceContexts, "context")
        {
            self.notes.warnings.insert(
                "`context` is what was retrieved in some rows and what should have been in others, as the names beside \
                 it say; contexts = \"context\" in [dataset.columns] makes it one"
                    .to_owned(),
            );
        }
        let ignored = self
            .notes
            .ignored
            .iter()
            .filter(|name| !self.notes.used.contains(*name));
        let ignored: Vec<String> = ignored.cloned().collect();
        let nameless = self.ids.has_given().then(|| self.ids.nameless());
        let mut dataset = Dataset {
            spool: self.spool,
            sizes: self.sizes,
            has: self.has,
            recognised: recognised(self.notes.recognised),
            ignored,
            warnings: self
                .notes
                .warnings
                .iter()
                .map(|warning| one_line(warning))
                .collect(),
            suffixes: HashMap::new(),
        };
        match nameless {
            None => dataset.suffixes = self.ids.suffixes(),
            Some(nameless) => check_made_ids(&mut dataset, self.ids, nameless)?,
        }
        Ok(dataset)
    }
}

/// Some samples have ids and others have made ones: they may not be equal.
fn check_made_ids(
    dataset: &mut Dataset,
    mut ids: Ids,
    nameless: Vec<usize>,
) -> Result<(), DatasetError> {
    let mut taken = ids.given();
    dataset.suffixes = ids.suffixes();
    for index in nameless {
        let sample = dataset.sample(index)?;
        let outcome = taken.take(&sample, index, |other| {
            let other = dataset.sample(other)?;
            Ok::<_, DatasetError>(other.id == sample.id && other.variant == sample.variant)
        })?;
        if let Err(other) = outcome {
            return Err(DatasetError::new(format!(
                "row {} has the id `{}`, which is made for row {}, which has none",
                other + 1,
                sample.id,
                index + 1
            ))
            .help("give all samples an id, or none"));
        }
    }
    Ok(())
}

/// The fields of an object.
pub(super) fn fields_of(json: Json<'_>) -> Vec<Field<'_>> {
    json.entries()
        .into_iter()
        .map(|(name, value)| (name, Cell::Json(Cow::Borrowed(value.spelling()))))
        .collect()
}

/// The sample as it is on the spool.
pub(super) fn sample_of(spool: &Spool, index: usize) -> Result<Sample, DatasetError> {
    let record = spool.get(index).map_err(|error| unreadable(&error))?;
    serde_json::from_slice(&record).map_err(|error| unreadable(&error.into()))
}

fn unreadable(error: &std::io::Error) -> DatasetError {
    DatasetError::new(format!("the temporary file cannot be read: {error}"))
}

fn unwritable(error: &std::io::Error) -> DatasetError {
    DatasetError::new(format!("the temporary file cannot be written: {error}"))
        .help("a large dataset needs room in the folder for temporary files (TMPDIR)")
}

fn recognised(found: IndexSet<(Column, String)>) -> Vec<Recognised> {
    let mut recognised: Vec<Recognised> = found
        .into_iter()
        .map(|(column, from)| Recognised { column, from })
        .collect();
    recognised.sort_by_key(|recognised| recognised.column);
    recognised
}

fn hash<'a>(names: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    names.for_each(|name| name.hash(&mut hasher));
    hasher.finish()
}

fn size(sample: &Sample) -> u32 {
    let contexts = [&sample.contexts, &sample.reference_contexts];
    let contexts = contexts.into_iter().flatten().flatten();
    let texts = [&sample.question, &sample.answer].into_iter().flatten();
    let bytes: usize = texts
        .chain(sample.references.iter().flatten())
        .chain(contexts.map(|context| &context.text))
        .chain(sample.history.iter().map(|turn| &turn.text))
        .map(String::len)
        .sum();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
