//! Samples as columns: one vector of scores per metric, interned names, one buffer for all ids.
//!
//! A million samples is a supported size, so there is no map per sample. Rows are in canonical order (variant, id in
//! Unicode NFC, repeat), whatever the order of the file.

use indexmap::IndexSet;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::error::{ReadError, pointer_step};
use super::row::{Name, RawScore, Row, Tag};
use super::summary::{is_too_large, no_number, too_large};

/// A code for "none" in a column of interned names.
const NONE: u32 = u32::MAX;

/// So many names are compared one by one before they are hashed.
const FEW_NAMES: usize = 4;

/// Codes of tags from here on name an entry of `lists`.
const FIRST_LIST: u32 = 1 << 31;

/// All samples of one file, a row for each (variant, id, repeat).
#[derive(Debug, Clone, Default)]
pub struct Samples {
    ids: Strings,
    variants: Column,
    repeats: Vec<u32>,
    clusters: Column,
    hashes: Strings,
    tags: Vec<TagColumn>,
    metrics: Vec<ScoreColumn>,
}

/// Names by row, each distinct name stored once.
#[derive(Debug, Clone, Default)]
struct Column {
    names: Interner,
    /// Empty as long as every row is `NONE`.
    codes: Vec<u32>,
}

/// The values of one tag by row.
#[derive(Debug, Clone)]
struct TagColumn {
    tag: String,
    column: Column,
    lists: Vec<Vec<u32>>,
}

/// The scores of one metric by row.
#[derive(Debug, Clone)]
pub struct ScoreColumn {
    metric: String,
    /// NaN where there is no score.
    values: Vec<f64>,
    /// Why there is no score, by row; a NaN without an entry is a missing key.
    causes: Vec<(u32, Cause)>,
    texts: Interner,
    /// What the judge said, by row: start and end in `reason_text`.
    reasons: Vec<(u32, usize, usize)>,
    reason_text: String,
}

/// Why a sample has no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Null,
    NotANumber,
    NotApplicable(u32),
    Failed { kind: u32, message: u32 },
}

/// A score, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score<'a> {
    /// A finite number.
    Number(f64),
    /// The metric does not apply to the sample.
    NotApplicable(Option<&'a str>),
    /// There should be a score.
    Failed {
        /// The kind that the file names; `missing` where it names none.
        kind: &'a str,
        /// What the file says about it.
        message: Option<&'a str>,
    },
}

/// Many strings in one buffer.
#[derive(Debug, Clone, Default)]
struct Strings {
    text: String,
    ends: Vec<u32>,
}

/// Distinct names, numbered in the order of their first appearance.
#[derive(Debug, Clone, Default)]
struct Interner {
    names: IndexSet<String>,
    last: u32,
}

impl Samples {
    /// Number of rows: (variant, id, repeat).
    pub fn len(&self) -> usize {
        self.repeats.len()
    }

    /// True when there is no sample.
    pub fn is_empty(&self) -> bool {
        self.repeats.is_empty()
    }

    /// Id of a row, in Unicode NFC.
    pub fn id(&self, row: usize) -> &str {
        self.ids.get(row)
    }

    /// Which repeat of its sample a row is, from 0.
    pub fn repeat(&self, row: usize) -> u32 {
        self.repeats.get(row).copied().unwrap_or(0)
    }

    /// Variant of a row.
    pub fn variant(&self, row: usize) -> Option<&str> {
        self.variants.get(row)
    }

    /// The variants, in the order of their names; rows without one come first.
    pub fn variants(&self) -> Vec<Option<&str>> {
        let mut found: Vec<Option<&str>> = self
            .variants
            .names
            .names
            .iter()
            .map(|name| Some(name.as_str()))
            .collect();
        if self.variants.codes.is_empty() || self.variants.codes.contains(&NONE) {
            found.push(None);
        }
        found.sort_unstable();
        found
    }

    /// Rows of one variant: rows are sorted by variant first.
    pub fn rows_of(&self, variant: Option<&str>) -> std::ops::Range<usize> {
        if self.variants.codes.is_empty() {
            return if variant.is_none() {
                0..self.len()
            } else {
                0..0
            };
        }
        let codes = &self.variants.codes;
        let name_of = |code: &u32| self.variants.names.get(*code);
        let start = codes.partition_point(|code| name_of(code) < variant);
        let end = codes.partition_point(|code| name_of(code) <= variant);
        start..end
    }

    /// Cluster of a row as a code below [`Samples::cluster_count`]; `None` when it is its own cluster.
    pub fn cluster(&self, row: usize) -> Option<u32> {
        self.clusters
            .codes
            .get(row)
            .copied()
            .filter(|code| *code != NONE)
    }

    /// Name of the cluster of a row.
    pub fn cluster_name(&self, row: usize) -> Option<&str> {
        self.clusters.get(row)
    }

    /// Number of distinct cluster names.
    pub fn cluster_count(&self) -> usize {
        self.clusters.names.names.len()
    }

    /// Hash of question and reference; `None` when the file has none.
    pub fn input_sha256(&self, row: usize) -> Option<&str> {
        Some(self.hashes.get(row)).filter(|hash| !hash.is_empty())
    }

    /// True when no row has a hash of its input.
    pub fn lacks_hashes(&self) -> bool {
        self.hashes.text.is_empty()
    }

    /// Names of the tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(|column| column.tag.as_str())
    }

    /// Values of one tag of a row: none, one or several.
    pub fn tag_values<'a>(&'a self, tag: &str, row: usize) -> impl Iterator<Item = &'a str> {
        let column = self.tags.iter().find(|column| column.tag == tag);
        let codes: &[u32] = column.map_or(&[], |column| column.codes(row));
        codes
            .iter()
            .filter_map(move |code| column.and_then(|column| column.column.names.get(*code)))
    }

    /// The distinct values of one tag, by code, and a function from row to codes; `None` for an unknown tag.
    pub(crate) fn tag_codes<'a>(
        &'a self,
        tag: &str,
    ) -> Option<(&'a IndexSet<String>, impl Fn(usize) -> &'a [u32] + use<'a>)> {
        let column = self.tags.iter().find(|column| column.tag == tag)?;
        Some((&column.column.names.names, move |row: usize| {
            column.codes(row)
        }))
    }

    /// The metrics, in the order of their names.
    pub fn metrics(&self) -> &[ScoreColumn] {
        &self.metrics
    }

    /// One metric by name.
    pub fn metric(&self, name: &str) -> Option<&ScoreColumn> {
        self.metrics.iter().find(|column| column.metric == name)
    }

    /// One row for each (variant, id): the mean of every score that one of `runs` has for it.
    ///
    /// Everything else is that of the first run. The runs have to have the same samples.
    pub(crate) fn average(runs: &[&Samples]) -> Result<Samples, ReadError> {
        use crate::measure::Units;
        let mut builder = Builder::new(false);
        let Some(first) = runs.first() else {
            return builder.finish();
        };
        for variant in first.variants() {
            let units: Vec<Units<'_>> = runs.iter().map(|run| Units::of(run, variant)).collect();
            let Some((head, others)) = units.split_first() else {
                continue;
            };
            for unit in 0..head.len() {
                if let Some(other) = others
                    .iter()
                    .find(|other| other.len() != head.len() || other.id(unit) != head.id(unit))
                {
                    let missing = if other.len() < head.len() {
                        "lacks"
                    } else {
                        "has other samples than"
                    };
                    return Err(ReadError::new(format!(
                        "the runs do not measure the same samples: one {missing} the first"
                    ))
                    .sample(head.id(unit))
                    .help("average runs over the same dataset, each of them complete"));
                }
                builder.push_average(&units, unit)?;
            }
        }
        if runs.iter().any(|run| run.variants() != first.variants()) {
            return Err(ReadError::new("the runs do not measure the same variants")
                .help("average runs of the same evaluation"));
        }
        builder.finish()
    }

    /// Drops the judge's reasons.
    pub fn trim_reasons(&mut self) {
        for column in &mut self.metrics {
            column.reasons = Vec::new();
            column.reason_text = String::new();
        }
    }
}

impl TagColumn {
    fn codes(&self, row: usize) -> &[u32] {
        match self.column.codes.get(row) {
            None | Some(&NONE) => &[],
            Some(code) if *code >= FIRST_LIST => self
                .lists
                .get((code - FIRST_LIST) as usize)
                .map_or(&[], Vec::as_slice),
            Some(code) => std::slice::from_ref(code),
        }
    }
}

impl ScoreColumn {
    /// Name of the metric.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// Scores by row, NaN where there is none.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The score of a row, or why there is none.
    pub fn score(&self, row: usize) -> Score<'_> {
        let value = self.values.get(row).copied().unwrap_or(f64::NAN);
        if value.is_finite() {
            return Score::Number(value);
        }
        match self.cause(row) {
            Some(Cause::NotApplicable(why)) => Score::NotApplicable(self.texts.get(why)),
            Some(Cause::Failed { kind, message }) => Score::Failed {
                kind: self.texts.get(kind).unwrap_or("missing"),
                message: self.texts.get(message),
            },
            Some(Cause::NotANumber) => Score::Failed {
                kind: "not-a-number",
                message: None,
            },
            Some(Cause::Null) => Score::Failed {
                kind: "missing",
                message: Some("null without a cause"),
            },
            None => Score::Failed {
                kind: "missing",
                message: Some("no score in the file"),
            },
        }
    }

    /// True when the sample has no score because the metric does not apply to it.
    pub(crate) fn is_not_applicable(&self, row: usize) -> bool {
        matches!(self.cause(row), Some(Cause::NotApplicable(_)))
    }

    /// True when the file has null for this row and gives no cause.
    pub(super) fn is_bare_null(&self, row: usize) -> bool {
        self.cause(row) == Some(Cause::Null)
    }

    /// True when the file does not even name the metric for this row.
    pub(crate) fn is_absent(&self, row: usize) -> bool {
        self.values.get(row).is_none_or(|value| value.is_nan()) && self.cause(row).is_none()
    }

    /// What the judge said about a row.
    pub fn reason(&self, row: usize) -> Option<&str> {
        let at = self
            .reasons
            .binary_search_by_key(&row, |(at, _, _)| *at as usize)
            .ok()?;
        let (_, start, end) = *self.reasons.get(at)?;
        self.reason_text.get(start..end)
    }

    fn cause(&self, row: usize) -> Option<Cause> {
        self.causes
            .binary_search_by_key(&row, |(at, _)| *at as usize)
            .ok()
            .and_then(|at| self.causes.get(at))
            .map(|(_, cause)| *cause)
    }
}

impl Strings {
    fn push(&mut self, text: &str) -> Result<(), ReadError> {
        self.text.push_str(text);
        let end = u32::try_from(self.text.len())
            .map_err(|_| ReadError::new("the ids of the samples together exceed 4 GiB"))?;
        self.ends.push(end);
        Ok(())
    }

    fn get(&self, index: usize) -> &str {
        let end = self.ends.get(index).map_or(0, |end| *end as usize);
        let start = match index {
            0 => 0,
            _ => self.ends.get(index - 1).map_or(0, |end| *end as usize),
        };
        self.text.get(start..end).unwrap_or("")
    }

    fn reorder(&mut self, order: &[u32]) {
        if self.ends.is_empty() {
            return;
        }
        let mut sorted = Strings {
            text: String::with_capacity(self.text.len()),
            ends: Vec::with_capacity(self.ends.len()),
        };
        for &row in order {
            sorted.text.push_str(self.get(row as usize));
            // The whole fitted into u32, so its parts do.
            sorted
                .ends
                .push(u32::try_from(sorted.text.len()).unwrap_or(u32::MAX));
        }
        *self = sorted;
    }
}

impl Interner {
    fn code(&mut self, name: &str) -> u32 {
        // Clusters come in runs, and tags have few values: most names are found without hashing them.
        if self.get(self.last) == Some(name) {
            return self.last;
        }
        if let Some(code) = self
            .names
            .iter()
            .take(FEW_NAMES)
            .position(|known| known == name)
        {
            self.last = u32::try_from(code).unwrap_or(NONE);
            return self.last;
        }
        // Codes stay below FIRST_LIST: a file with 2^31 distinct names does not fit into memory.
        let at = match self.names.get_index_of(name) {
            Some(at) => at,
            None => self.names.insert_full(name.to_owned()).0,
        };
        let code = u32::try_from(at).unwrap_or(NONE);
        self.last = code;
        code
    }

    fn get(&self, code: u32) -> Option<&str> {
        self.names.get_index(code as usize).map(String::as_str)
    }
}

impl Column {
    fn push(&mut self, row: usize, name: Option<&str>) {
        match name {
            Some(name) => {
                let code = self.names.code(name);
                self.push_code(row, code);
            }
            None if !self.codes.is_empty() => self.codes.push(NONE),
            None => {}
        }
    }

    fn push_code(&mut self, row: usize, code: u32) {
        if self.codes.len() < row {
            self.codes.resize(row, NONE);
        }
        self.codes.push(code);
    }

    fn get(&self, row: usize) -> Option<&str> {
        self.codes.get(row).and_then(|code| self.names.get(*code))
    }
}

/// Takes samples one by one and puts them in canonical order at the end.
#[derive(Default)]
pub(super) struct Builder {
    samples: Samples,
    /// Where the previous row's metrics were, in the order of its keys: rows look alike.
    expected: Vec<usize>,
    with_reasons: bool,
}

impl Builder {
    pub(super) fn new(with_reasons: bool) -> Self {
        Builder {
            with_reasons,
            ..Builder::default()
        }
    }

    /// Adds one sample.
    pub(super) fn push(&mut self, sample: &Row<'_>) -> Result<(), ReadError> {
        let row = self.samples.len();
        let code = u32::try_from(row)
            .ok()
            .filter(|row| *row < NONE)
            .ok_or_else(|| ReadError::new("more than 4 billion samples"))?;
        let Some(id) = sample.id.as_ref().map(|id| id.0.as_ref()) else {
            return Err(ReadError::new("the sample has no `id`")
                .pointer(format!("/samples/{row}"))
                .help("samples of two runs are paired by their id: give each question one"));
        };
        if id.is_empty() {
            return Err(ReadError::new("the sample's `id` is empty")
                .pointer(format!("/samples/{row}"))
                .help("samples of two runs are paired by their id: give each question one"));
        }
        let place = |error: ReadError| {
            let pointer = format!("/samples/{row}{}", error.pointer.as_deref().unwrap_or(""));
            error.pointer(pointer).sample(id)
        };
        if id.is_ascii() || is_nfc(id) {
            self.samples.ids.push(id)?;
        } else {
            self.samples.ids.push(&id.nfc().collect::<String>())?;
        }
        self.samples.repeats.push(sample.repeat.unwrap_or(0));
        self.samples
            .variants
            .push(row, sample.variant.as_ref().map(|text| text.0.as_ref()));
        self.samples
            .clusters
            .push(row, sample.cluster.as_ref().map(|text| text.0.as_ref()));
        match &sample.input_sha256 {
            Some(hash) => {
                while self.samples.hashes.ends.len() < row {
                    self.samples.hashes.push("")?;
                }
                self.samples.hashes.push(&hash.0)?;
            }
            None if !self.samples.hashes.ends.is_empty() => self.samples.hashes.push("")?,
            None => {}
        }
        self.push_tags(row, sample);
        self.push_scores(row, code, sample).map_err(place)
    }

    fn push_tags(&mut self, row: usize, sample: &Row<'_>) {
        for (tag, value) in &sample.tags {
            let at = match self
                .samples
                .tags
                .iter()
                .position(|known| tag.is(&known.tag))
            {
                Some(at) => at,
                None => {
                    self.samples.tags.push(TagColumn {
                        tag: tag.text().into_owned(),
                        column: Column::default(),
                        lists: Vec::new(),
                    });
                    self.samples.tags.len() - 1
                }
            };
            let Some(known) = self.samples.tags.get_mut(at) else {
                continue;
            };
            match value {
                Tag::None => {}
                Tag::One(name) => known.column.push(row, Some(&name.0)),
                Tag::Many(names) => {
                    let mut codes: Vec<u32> = names
                        .iter()
                        .map(|name| known.column.names.code(&name.0))
                        .collect();
                    codes.sort_unstable();
                    codes.dedup();
                    let list = FIRST_LIST + u32::try_from(known.lists.len()).unwrap_or(0);
                    known.lists.push(codes);
                    known.column.push_code(row, list);
                }
            }
        }
        for known in &mut self.samples.tags {
            if !known.column.codes.is_empty() && known.column.codes.len() <= row {
                known.column.codes.resize(row + 1, NONE);
            }
        }
    }

    fn push_scores(&mut self, row: usize, code: u32, sample: &Row<'_>) -> Result<(), ReadError> {
        for (position, (metric, score)) in sample.scores.iter().enumerate() {
            let at = self.column_at(position, metric, row);
            let Some(column) = self.samples.metrics.get_mut(at) else {
                continue;
            };
            match score {
                RawScore::Number(number) if is_too_large(*number) => {
                    return Err(too_large(&metric.text(), *number)
                        .pointer(format!("/scores{}", pointer_step(&metric.text()))));
                }
                RawScore::Number(number) => column.values.push(*number),
                RawScore::Null => column.values.push(f64::NAN),
                RawScore::NotANumber => {
                    column.values.push(f64::NAN);
                    column.causes.push((code, Cause::NotANumber));
                }
                RawScore::Wrong(what) => {
                    return Err(no_number(&metric.text(), what)
                        .pointer(format!("/scores{}", pointer_step(&metric.text()))));
                }
            }
        }
        for (metric, why) in &sample.not_applicable {
            let at = self.column_at(usize::MAX, metric, row);
            if let Some(column) = self.samples.metrics.get_mut(at) {
                let why = why.0.as_deref().unwrap_or("");
                let cause = Cause::NotApplicable(column.texts.code(why));
                column.explain(row, code, cause, "not_applicable")?;
            }
        }
        for (metric, failure) in &sample.failures {
            let at = self.column_at(usize::MAX, metric, row);
            if let Some(column) = self.samples.metrics.get_mut(at) {
                let kind = failure.kind.as_deref().unwrap_or("missing");
                let cause = Cause::Failed {
                    kind: column.texts.code(kind),
                    message: match &failure.message {
                        Some(message) => column.texts.code(message),
                        None => NONE,
                    },
                };
                column.explain(row, code, cause, "failures")?;
            }
        }
        for (metric, score) in &sample.scores {
            let at = self.column_at(usize::MAX, metric, row);
            if let (RawScore::Null, Some(column)) = (score, self.samples.metrics.get_mut(at))
                && column.causes.last().is_none_or(|(at, _)| *at != code)
            {
                column.causes.push((code, Cause::Null));
            }
        }
        if self.with_reasons {
            for (metric, reason) in &sample.reasons {
                // A comment makes no metric.
                let metrics = &mut self.samples.metrics;
                let column = metrics.iter_mut().find(|column| metric.is(&column.metric));
                if let (Some(reason), Some(column)) = (&reason.0, column) {
                    let start = column.reason_text.len();
                    column.reason_text.push_str(reason);
                    column.reasons.push((code, start, column.reason_text.len()));
                }
            }
        }
        for column in &mut self.samples.metrics {
            if column.values.len() <= row {
                column.values.resize(row + 1, f64::NAN);
            }
        }
        Ok(())
    }

    /// Adds a sample with the mean of what each of the runs scored; `units` are the same samples in each run.
    fn push_average(
        &mut self,
        units: &[crate::measure::Units<'_>],
        unit: usize,
    ) -> Result<(), ReadError> {
        use super::row::Text;
        use std::borrow::Cow;
        let Some(head) = units.first() else {
            return Ok(());
        };
        let row = head.first_row(unit);
        let first = head.samples;
        let text = |text: &'_ str| Text(Cow::Owned(text.to_owned()));
        let mut sample = Row {
            id: Some(text(first.id(row))),
            variant: first.variant(row).map(text),
            cluster: first.cluster_name(row).map(text),
            input_sha256: first.input_sha256(row).map(text),
            ..Row::default()
        };
        for tag in first.tags() {
            let mut values: Vec<Text<'_>> = first.tag_values(tag, row).map(text).collect();
            let value = match (values.len(), values.pop()) {
                (_, None) => continue,
                (1, Some(one)) => Tag::One(one),
                (_, Some(last)) => {
                    values.push(last);
                    Tag::Many(values)
                }
            };
            sample.tags.push((Name::of(tag), value));
        }
        for column in first.metrics() {
            let name = column.metric();
            let scores = units
                .iter()
                .filter_map(|units| Some((units, units.samples.metric(name)?)));
            let numbers = scores.clone().flat_map(|(units, column)| {
                units
                    .rows(unit)
                    .filter_map(|row| column.values().get(row).copied())
                    .filter(|score| score.is_finite())
            });
            if let Some(mean) = crate::stats::mean(numbers) {
                sample.scores.push((Name::of(name), RawScore::Number(mean)));
                continue;
            }
            if head.rows(unit).all(|row| column.is_absent(row)) {
                continue;
            }
            sample.scores.push((Name::of(name), RawScore::Null));
            let failure = scores
                .clone()
                .find_map(|(units, column)| units.failure(column, unit));
            match failure {
                Some((kind, message)) => sample.failures.push((
                    Name::of(name),
                    super::row::RawFailure {
                        kind: Some(Cow::Owned(kind.to_owned())),
                        message: message.map(|message| Cow::Owned(message.to_owned())),
                    },
                )),
                None => sample.not_applicable.push((
                    Name::of(name),
                    super::row::Note(match column.score(row) {
                        Score::NotApplicable(why) => why.map(|why| Cow::Owned(why.to_owned())),
                        Score::Number(_) | Score::Failed { .. } => None,
                    }),
                )),
            }
        }
        self.push(&sample)
    }

    /// Index of a metric's column, which is made on first sight.
    fn column_at(&mut self, position: usize, metric: &Name<'_>, row: usize) -> usize {
        let metrics = &mut self.samples.metrics;
        let guess = self.expected.get(position).copied();
        if let Some(guess) = guess
            && metrics
                .get(guess)
                .is_some_and(|column| metric.is(&column.metric))
        {
            return guess;
        }
        let at = match metrics.iter().position(|column| metric.is(&column.metric)) {
            Some(at) => at,
            None => {
                metrics.push(ScoreColumn {
                    metric: metric.text().into_owned(),
                    values: vec![f64::NAN; row],
                    causes: Vec::new(),
                    texts: Interner::default(),
                    reasons: Vec::new(),
                    reason_text: String::new(),
                });
                metrics.len() - 1
            }
        };
        if position != usize::MAX {
            self.expected
                .resize(self.expected.len().max(position + 1), at);
            if let Some(expected) = self.expected.get_mut(position) {
                *expected = at;
            }
        }
        at
    }

    /// The samples in canonical order; a sample that stands twice is an error.
    pub(super) fn finish(self) -> Result<Samples, ReadError> {
        let mut samples = self.samples;
        for tag in &mut samples.tags {
            tag.column.codes.resize(samples.repeats.len(), NONE);
        }
        if let Some(order) = canonical_order(&samples)? {
            samples.reorder(&order);
        }
        // The order of samples, and of keys in a sample, changes nothing.
        samples.metrics.sort_by(|a, b| a.metric.cmp(&b.metric));
        samples.tags.sort_by(|a, b| a.tag.cmp(&b.tag));
        Ok(samples)
    }
}

impl ScoreColumn {
    fn explain(
        &mut self,
        row: usize,
        code: u32,
        cause: Cause,
        section: &str,
    ) -> Result<(), ReadError> {
        let refused = |problem: String| {
            Err(ReadError::new(problem)
                .pointer(format!("/{section}{}", pointer_step(&self.metric))))
        };
        if self.values.get(row).is_some_and(|value| value.is_finite()) {
            return refused(format!(
                "`{}` has a score and stands under `{section}` too",
                self.metric
            ));
        }
        match self.causes.last() {
            Some((at, Cause::NotANumber)) if *at == code => {
                self.causes.pop();
            }
            Some((at, _)) if *at == code => {
                return refused(format!(
                    "`{}` stands under `failures` and `not_applicable`",
                    self.metric
                ));
            }
            _ => {}
        }
        self.causes.push((code, cause));
        Ok(())
    }
}

/// The order of rows by (variant, id, repeat); `None` when they have it already.
fn canonical_order(samples: &Samples) -> Result<Option<Vec<u32>>, ReadError> {
    use std::cmp::Ordering;
    let rows = samples.len();
    let compare = |a: usize, b: usize| {
        samples
            .variant(a)
            .cmp(&samples.variant(b))
            .then_with(|| samples.id(a).cmp(samples.id(b)))
            .then_with(|| samples.repeat(a).cmp(&samples.repeat(b)))
    };
    let mut sorted = true;
    for row in 1..rows {
        match compare(row - 1, row) {
            Ordering::Less => {}
            Ordering::Equal => return Err(stands_twice(samples, row - 1, row)),
            Ordering::Greater => {
                sorted = false;
                break;
            }
        }
    }
    if sorted {
        return Ok(None);
    }
    // Ids often share a long beginning; the eight bytes behind it decide nearly every comparison without a look at the
    // ids themselves, which lie all over memory.
    let shared = (1..rows).fold(samples.id(0).len(), |shared, row| {
        let (first, id) = (samples.id(0).as_bytes(), samples.id(row).as_bytes());
        (0..shared.min(id.len()))
            .find(|&at| first.get(at) != id.get(at))
            .unwrap_or(shared.min(id.len()))
    });
    let prefix = |row: usize| {
        let mut bytes = [0; 8];
        let id = samples.id(row).as_bytes().get(shared..).unwrap_or(&[]);
        for (byte, from) in bytes.iter_mut().zip(id) {
            *byte = *from;
        }
        u64::from_be_bytes(bytes)
    };
    let mut by_name: Vec<u32> =
        (0..u32::try_from(samples.variants.names.names.len()).unwrap_or(NONE)).collect();
    by_name.sort_unstable_by_key(|code| samples.variants.names.get(*code));
    let mut ranks = vec![0_u32; by_name.len()];
    for (rank, code) in by_name.iter().enumerate() {
        if let Some(slot) = ranks.get_mut(*code as usize) {
            *slot = u32::try_from(rank + 1).unwrap_or(NONE);
        }
    }
    let rank = |row: usize| match samples.variants.codes.get(row) {
        None | Some(&NONE) => 0,
        Some(code) => ranks.get(*code as usize).copied().unwrap_or(0),
    };
    let mut keys: Vec<(u32, u64, u32)> = (0..rows)
        .map(|row| (rank(row), prefix(row), u32::try_from(row).unwrap_or(NONE)))
        .collect();
    keys.sort_unstable_by(|a, b| {
        (a.0, a.1)
            .cmp(&(b.0, b.1))
            .then_with(|| compare(a.2 as usize, b.2 as usize))
            .then_with(|| a.2.cmp(&b.2))
    });
    let order: Vec<u32> = keys.into_iter().map(|(_, _, row)| row).collect();
    for pair in order.windows(2) {
        let (first, second) = (pair[0] as usize, pair[1] as usize);
        if compare(first, second) == Ordering::Equal {
            return Err(stands_twice(samples, first, second));
        }
    }
    Ok(Some(order))
}

fn stands_twice(samples: &Samples, first: usize, second: usize) -> ReadError {
    let variant = samples
        .variant(first)
        .map_or(String::new(), |variant| format!(" of variant `{variant}`"));
    ReadError::new(format!(
        "the sample stands twice{variant}: /samples/{first} and /samples/{second}"
    ))
    .pointer(format!("/samples/{second}"))
    .sample(samples.id(second))
    .help(
        "remove one; if they are repeats of the same question, number them with `repeat`: 0, 1, …",
    )
}

impl Samples {
    fn reorder(&mut self, order: &[u32]) {
        self.ids.reorder(order);
        self.hashes.reorder(order);
        reorder(&mut self.repeats, order, 0);
        reorder(&mut self.variants.codes, order, NONE);
        reorder(&mut self.clusters.codes, order, NONE);
        for tag in &mut self.tags {
            reorder(&mut tag.column.codes, order, NONE);
        }
        let needs_inverse = self
            .metrics
            .iter()
            .any(|column| !column.causes.is_empty() || !column.reasons.is_empty());
        let mut inverse = Vec::new();
        if needs_inverse {
            inverse = vec![0_u32; order.len()];
            for (new, old) in order.iter().enumerate() {
                if let Some(slot) = inverse.get_mut(*old as usize) {
                    *slot = u32::try_from(new).unwrap_or(NONE);
                }
            }
        }
        let moved = |row: u32| inverse.get(row as usize).copied().unwrap_or(row);
        for column in &mut self.metrics {
            reorder(&mut column.values, order, f64::NAN);
            for (row, _) in &mut column.causes {
                *row = moved(*row);
            }
            column.causes.sort_unstable_by_key(|(row, _)| *row);
            for (row, _, _) in &mut column.reasons {
                *row = moved(*row);
            }
            column.reasons.sort_unstable_by_key(|(row, _, _)| *row);
        }
    }
}

fn reorder<T: Copy>(values: &mut Vec<T>, order: &[u32], default: T) {
    if !values.is_empty() {
        *values = order
            .iter()
            .map(|row| values.get(*row as usize).copied().unwrap_or(default))
            .collect();
    }
}
