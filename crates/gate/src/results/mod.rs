//! Results: reading the three shapes of the file, and the columns they become.
//!
//! ```text
//! bytes ─▶ Stream ─▶ Row (one sample, borrowed) ─▶ Builder ─▶ Samples (columns, canonical order)
//!              └───▶ RunInfo, Summary, Accepted
//! ```

mod by_sample;
mod columns;
mod document;
mod error;
mod row;
mod stream;
mod summary;
mod write;

use std::io::Read;

use indexmap::IndexMap;

pub use by_sample::SampleScore;
pub use columns::{Samples, Score, ScoreColumn};
pub use document::{
    Accepted, CiInfo, CorpusValue, DatasetInfo, JudgeDrift, JudgeInfo, MetricDrift, MetricInfo,
    RunInfo, RunWarning, SCHEMA, SubsetInfo, ToolInfo, VariantInfo,
};
pub use error::ReadError;
pub use summary::Summary;
pub use summary::is_too_large;
pub use write::{
    FailureRecord, ResultsFile, SampleRecord, SummaryRecord, TagRecord, VariantRecord,
};

use crate::number::EPSILON;
use columns::Builder;
use row::{RawScore, Unread};
use stream::Stream;
use summary::{RawSummary, RawVariant, Unique, mean_alone, summaries};

/// A summary may differ from its samples by this much: means are often written with three digits.
const SUMMARY_ROUNDING: f64 = 5e-4;

/// A results file, read and checked.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// `run`; everything in it may be unknown.
    pub run: RunInfo,
    /// `accepted`, in a baseline.
    pub accepted: Option<Accepted>,
    /// `usage`, passed on as it is.
    pub usage: Option<serde_json::Value>,
    /// Samples or means.
    pub scores: Scores,
}

/// What a file measures.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are two of them in a process"
)]
pub enum Scores {
    /// Means alone, by variant and metric; files without variants have the one key `None`.
    Means(IndexMap<Option<String>, IndexMap<String, Summary>>),
    /// Every sample.
    Samples(Samples),
}

impl Default for Scores {
    fn default() -> Self {
        Scores::Means(IndexMap::new())
    }
}

/// What a reader keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Everything.
    All,
    /// Everything but the judge's reasons, which a baseline does not need.
    Scores,
}

/// Reads a results file from UTF-8 text without a byte order mark.
///
/// The shape is told by the content. Samples go straight into columns, so that memory does not hold the text.
pub fn read(input: impl Read, keep: Keep) -> Result<Results, ReadError> {
    let mut stream = Stream::new(input);
    open_document(&mut stream)?;
    let mut parts = Parts::default();
    let mut seen: Vec<String> = Vec::new();
    if stream.peek()? == Some(b'}') {
        stream.take();
    } else {
        loop {
            read_entry(&mut stream, &mut parts, &mut seen, keep)?;
            match stream.peek()? {
                Some(b',') => stream.take(),
                Some(b'}') => {
                    stream.take();
                    break;
                }
                None => return Err(stream.cut_off()),
                Some(_) => {
                    return Err(
                        ReadError::new("not valid JSON: expected `,` or `}`").at(stream.position())
                    );
                }
            }
        }
    }
    match stream.peek()? {
        None => parts.finish(),
        Some(0) => Err(ReadError::new(
            "NUL bytes follow the JSON document: a write was interrupted",
        )
        .at(stream.position())
        .help("write the file again")),
        Some(_) => Err(ReadError::new("something follows the JSON document")
            .at(stream.position())
            .help("a results file is one JSON object; JSON Lines are not results")),
    }
}

/// Takes the opening brace, or says what stands there instead.
fn open_document(stream: &mut Stream<impl Read>) -> Result<(), ReadError> {
    let first = stream.peek()?;
    let refusal = match first {
        Some(b'{') => {
            stream.take();
            return Ok(());
        }
        None => ReadError::new("the file is empty")
            .help("whatever should have written it failed, or did not run"),
        Some(b'<') => ReadError::new("this is an HTML or XML page, not JSON").help(
            "a download saved an error page, most likely: look at the URL, and use `curl --fail`",
        ),
        Some(b'[') => ReadError::new("the file holds a list, not results")
            .help("put the list of samples under a key: {\"samples\": [ … ]}"),
        Some(b'n') => ReadError::new("the file holds `null`, not results")
            .help("whatever should have written it had nothing to write"),
        Some(0) => ReadError::new("the file begins with NUL bytes: a write was interrupted")
            .help("write the file again"),
        Some(b'"' | b'-' | b't' | b'f' | b'0'..=b'9') => {
            ReadError::new("the file holds a single value, not results")
                .help("the smallest results file is {\"faithfulness\": 0.85}")
        }
        Some(_) => ReadError::new("this is not JSON")
            .help("results are a JSON object; is this the right file?"),
    };
    Err(refusal.at(stream.position()))
}

fn read_entry(
    stream: &mut Stream<impl Read>,
    parts: &mut Parts,
    seen: &mut Vec<String>,
    keep: Keep,
) -> Result<(), ReadError> {
    match stream.peek()? {
        Some(b'"') => {}
        None => return Err(stream.cut_off()),
        Some(_) => {
            return Err(
                ReadError::new("not valid JSON: expected a key in double quotes")
                    .at(stream.position()),
            );
        }
    }
    let at = stream.position();
    let key: String = stream.value()?;
    match stream.peek()? {
        Some(b':') => stream.take(),
        None => return Err(stream.cut_off()),
        Some(_) => {
            return Err(ReadError::new("not valid JSON: expected `:`").at(stream.position()));
        }
    }
    if seen.contains(&key) {
        return Err(
            ReadError::new(format!("the key `{key}` stands twice in the file"))
                .at(at)
                .help("keep one: it cannot be told which is meant"),
        );
    }
    seen.push(key.clone());
    let first = stream.peek()?;
    let section = |error: ReadError| match error.pointer {
        None => error.pointer(error::pointer_step(&key)),
        Some(_) => error,
    };
    match (key.as_str(), first) {
        (_, None) => return Err(stream.cut_off()),
        ("samples", Some(b'[')) => parts.samples = Some(read_samples(stream, keep)?),
        ("samples", Some(b'n')) => {
            stream.value::<Unread>()?;
        }
        ("samples", Some(_)) => {
            return Err(ReadError::new("`samples` is not a list")
                .at(stream.position())
                .pointer("/samples")
                .help("`samples` is a list of objects with `id` and `scores`"));
        }
        ("schema", _) => {
            let schema: Option<String> = stream.value().map_err(section)?;
            check_schema(schema.as_deref()).map_err(|error| error.at(at))?;
            parts.has_schema = schema.is_some_and(|schema| schema == SCHEMA);
        }
        ("run", _) => {
            let run: Option<RunInfo> = stream.value().map_err(section)?;
            parts.run = run.unwrap_or_default();
            check_ranges(&parts.run)?;
        }
        ("accepted", _) => parts.accepted = stream.value().map_err(section)?,
        ("usage", _) => parts.usage = stream.value().map_err(section)?,
        ("metrics", Some(b'{')) => {
            let raw: Unique<RawSummary> = stream.value().map_err(section)?;
            parts.metrics = Some(summaries(raw.0, "/metrics")?);
        }
        ("variants", Some(b'{')) => {
            let raw: Unique<RawVariant> = stream.value().map_err(section)?;
            parts.variants = raw
                .0
                .into_iter()
                .map(|(name, variant)| {
                    let pointer = format!("/variants{}/metrics", error::pointer_step(&name));
                    Ok((Some(name), summaries(variant.0, &pointer)?))
                })
                .collect::<Result<_, ReadError>>()?;
        }
        _ => {
            let value: RawScore = stream.value().map_err(section)?;
            parts.others.push((key, value, at));
        }
    }
    Ok(())
}

fn read_samples(stream: &mut Stream<impl Read>, keep: Keep) -> Result<Samples, ReadError> {
    stream.take();
    let mut builder = Builder::new(keep == Keep::All);
    if stream.peek()? == Some(b']') {
        stream.take();
        return builder.finish();
    }
    let mut index = 0_u64;
    loop {
        match stream.peek()? {
            None => return Err(stream.cut_off()),
            Some(b'{') => {}
            Some(_) => {
                return Err(ReadError::new("a sample is not an object")
                    .at(stream.position())
                    .pointer(format!("/samples/{index}"))
                    .help("a sample is an object with `id` and `scores`"));
            }
        }
        stream
            .row(|row| builder.push(row))
            .map_err(|error| match error.pointer {
                None => error.pointer(format!("/samples/{index}")),
                Some(_) => error,
            })?;
        index += 1;
        match stream.peek()? {
            Some(b',') => stream.take(),
            Some(b']') => {
                stream.take();
                return builder.finish();
            }
            None => return Err(stream.cut_off()),
            Some(_) => {
                return Err(
                    ReadError::new("not valid JSON: expected `,` or `]` after a sample")
                        .at(stream.position()),
                );
            }
        }
    }
}

/// Refuses files of ours that are something else; the schemas of other tools say nothing to us.
fn check_schema(schema: Option<&str>) -> Result<(), ReadError> {
    match schema {
        Some(schema) if schema.starts_with("rag-gate/results/") && schema != SCHEMA => {
            Err(ReadError::new(format!(
                "the file has the schema `{schema}`, not `{SCHEMA}`"
            ))
            .help("a newer rag-gate wrote it: use that version or a later one"))
        }
        Some(schema) if schema.starts_with("rag-gate/") && schema != SCHEMA => Err(ReadError::new(
            format!("the file has the schema `{schema}`, it is no results file"),
        )
        .help("name the file that the evaluation wrote")),
        _ => Ok(()),
    }
}

fn check_ranges(run: &RunInfo) -> Result<(), ReadError> {
    for (name, info) in run.metrics.iter().flatten() {
        if let Some([low, high]) = info.range
            && low >= high
        {
            return Err(ReadError::new(format!(
                "the range of `{name}` is [{low}, {high}]: the first has to be the lower"
            ))
            .pointer(format!("/run/metrics{}/range", error::pointer_step(name))));
        }
    }
    Ok(())
}

/// The top-level entries, until it is clear which shape they make.
#[derive(Default)]
struct Parts {
    has_schema: bool,
    run: RunInfo,
    accepted: Option<Accepted>,
    usage: Option<serde_json::Value>,
    samples: Option<Samples>,
    metrics: Option<IndexMap<String, Summary>>,
    variants: IndexMap<Option<String>, IndexMap<String, Summary>>,
    others: Vec<(String, RawScore, (u64, u64))>,
}

impl Parts {
    fn finish(self) -> Result<Results, ReadError> {
        let mut means = self.variants;
        if let Some(metrics) = self.metrics {
            means.insert(None, metrics);
        }
        let scores = if let Some(samples) = self.samples {
            check_summaries(&samples, &means)?;
            Scores::Samples(samples)
        } else if !means.is_empty() {
            Scores::Means(means)
        } else if self.has_schema {
            return Err(
                ReadError::new("the file has neither `samples` nor `metrics`")
                    .help("whatever wrote it measured nothing"),
            );
        } else {
            let flat = self
                .others
                .iter()
                .map(|(metric, score, at)| {
                    let pointer = error::pointer_step(metric);
                    let summary =
                        mean_alone(metric, score, &pointer).map_err(|error| error.at(*at))?;
                    Ok((metric.clone(), summary))
                })
                .collect::<Result<IndexMap<_, _>, ReadError>>()?;
            if flat.is_empty() {
                return Err(ReadError::new("the file holds no metric")
                    .help("the smallest results file is {\"faithfulness\": 0.85}"));
            }
            Scores::Means(IndexMap::from([(None, flat)]))
        };
        let mut run = self.run;
        // The order of keys in a file changes nothing, also in what is only passed on.
        let params = run
            .judge
            .iter_mut()
            .filter_map(|judge| judge.params.as_mut());
        let variants = run.variants.iter_mut().flatten();
        for value in params.chain(variants.filter_map(|variant| variant.params.as_mut())) {
            *value = crate::json::sorted(value);
        }
        let results = Results {
            run,
            accepted: self.accepted,
            usage: self.usage.as_ref().map(crate::json::sorted),
            scores,
        };
        for (metric, info) in results.run.metrics.iter().flatten() {
            if let Some(range) = info.range {
                results.check_range(metric, range)?;
            }
        }
        Ok(results)
    }
}

impl Results {
    /// The samples, when the file has them.
    pub fn samples(&self) -> Option<&Samples> {
        match &self.scores {
            Scores::Samples(samples) => Some(samples),
            Scores::Means(_) => None,
        }
    }

    /// Names of the metrics that the file measures, sorted.
    pub fn metric_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = match &self.scores {
            Scores::Samples(samples) => samples.metrics().iter().map(ScoreColumn::metric).collect(),
            Scores::Means(means) => means
                .values()
                .flat_map(IndexMap::keys)
                .map(String::as_str)
                .collect(),
        };
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The variants that the file measures; `None` is the unnamed one.
    pub fn variants(&self) -> Vec<Option<&str>> {
        match &self.scores {
            Scores::Samples(samples) => samples.variants(),
            Scores::Means(means) => {
                let mut names: Vec<Option<&str>> = means.keys().map(Option::as_deref).collect();
                names.sort_unstable();
                names
            }
        }
    }

    /// What `run` says about a metric.
    pub fn metric_info(&self, metric: &str) -> Option<&MetricInfo> {
        self.run.metrics.as_ref()?.get(metric)
    }

    /// Refuses a score outside the metric's range: one 1.7 in a metric from 0 to 1 lifts a mean enough to hide a
    /// regression.
    pub fn check_range(&self, metric: &str, range: [f64; 2]) -> Result<(), ReadError> {
        let [low, high] = range;
        let outside = |score: f64| score < low - EPSILON || score > high + EPSILON;
        let refuse = |score: f64, what: &str| {
            ReadError::new(format!(
                "the {what} {score} of `{metric}` is outside its range [{low}, {high}]"
            ))
            .help(format!(
                "mend what computes it; if {metric} has another scale, say so: `range` under [metrics.{}] in gate.toml or run.metrics in the file",
                crate::policy::toml_key(metric)
            ))
        };
        match &self.scores {
            Scores::Means(means) => {
                for (variant, metrics) in means {
                    if let Some(mean) = metrics.get(metric).and_then(|summary| summary.mean)
                        && outside(mean)
                    {
                        let error = refuse(mean, "mean");
                        return Err(match variant {
                            Some(variant) => {
                                error.pointer(format!("/variants{}", error::pointer_step(variant)))
                            }
                            None => error,
                        });
                    }
                }
            }
            Scores::Samples(samples) => {
                let Some(column) = samples.metric(metric) else {
                    return Ok(());
                };
                if let Some(row) = column.values().iter().position(|score| outside(*score)) {
                    let score = column.values().get(row).copied().unwrap_or(f64::NAN);
                    return Err(refuse(score, "score").sample(samples.id(row)));
                }
            }
        }
        Ok(())
    }

    /// The lowest and highest score of a metric; `None` when there is none.
    pub(crate) fn extremes(&self, metric: &str) -> Option<[f64; 2]> {
        let mut found: Option<[f64; 2]> = None;
        let mut add = |score: f64| {
            let [low, high] = found.unwrap_or([score, score]);
            found = Some([low.min(score), high.max(score)]);
        };
        match &self.scores {
            Scores::Means(means) => means
                .values()
                .filter_map(|metrics| metrics.get(metric)?.mean)
                .for_each(&mut add),
            Scores::Samples(samples) => {
                if let Some(column) = samples.metric(metric) {
                    column
                        .values()
                        .iter()
                        .filter(|score| score.is_finite())
                        .for_each(|score| add(*score));
                }
            }
        }
        found
    }
}

/// Refuses a file whose summary says something else than its samples: one of the two was edited.
fn check_summaries(
    samples: &Samples,
    means: &IndexMap<Option<String>, IndexMap<String, Summary>>,
) -> Result<(), ReadError> {
    for (variant, metrics) in means {
        let rows = samples.rows_of(variant.as_deref());
        for (metric, stated) in metrics {
            let checked = check_summary(samples, variant.as_deref(), rows.clone(), metric, stated);
            match variant {
                // Beside variants, a summary without one may as well be that of everything.
                None if checked.is_err() => {
                    check_summary(samples, None, 0..samples.len(), metric, stated)?;
                }
                _ => checked?,
            }
        }
    }
    Ok(())
}

fn check_summary(
    samples: &Samples,
    variant: Option<&str>,
    rows: std::ops::Range<usize>,
    metric: &str,
    stated: &Summary,
) -> Result<(), ReadError> {
    let Some(column) = samples.metric(metric) else {
        return match stated.mean {
            None => Ok(()),
            Some(_) => Err(contradiction(
                variant,
                metric,
                "states a mean, but no sample has a score",
            )),
        };
    };
    let by_row = crate::measure::Tally::of_rows(column, rows.clone());
    let by_sample = crate::measure::Tally::of_samples(samples, column, rows);
    let tallies = [by_sample, by_row];
    if let Some(mean) = stated.mean {
        // Both the mean of the samples and that of all repeats are a fair summary.
        let close = |tally: &crate::measure::Tally| {
            tally.mean.is_some_and(|computed| {
                (computed - mean).abs() <= SUMMARY_ROUNDING * mean.abs().max(1.0)
            })
        };
        if !tallies.iter().any(close) {
            let computed = by_sample
                .mean
                .map_or_else(|| "nothing".to_owned(), crate::number::value);
            return Err(contradiction(
                variant,
                metric,
                &format!(
                    "states the mean {}, but the samples make {computed}",
                    crate::number::value(mean)
                ),
            ));
        }
    }
    if stated.mean.is_none() {
        return Ok(());
    }
    let counts = [
        ("n", stated.n, tallies.map(|tally| tally.n)),
        ("failed", stated.failed, tallies.map(|tally| tally.failed)),
    ];
    for (name, stated, computed) in counts {
        // A summary whose n counts nothing else states a failure that has no sample; only real counts are compared.
        if let Some(stated) = stated
            && !computed.contains(&stated)
        {
            return Err(contradiction(
                variant,
                metric,
                &format!(
                    "states {name} = {stated}, but the samples make {}",
                    computed[0]
                ),
            ));
        }
    }
    Ok(())
}

fn contradiction(variant: Option<&str>, metric: &str, what: &str) -> ReadError {
    let pointer = match variant {
        Some(variant) => format!(
            "/variants{}/metrics{}",
            error::pointer_step(variant),
            error::pointer_step(metric)
        ),
        None => format!("/metrics{}", error::pointer_step(metric)),
    };
    ReadError::new(format!(
        "the summary of `{metric}` contradicts the samples: it {what}"
    ))
    .pointer(pointer)
    .help("one of the two was edited: write the file again, or leave the summary out")
}
