//! results.json: what a run writes, in the order of its dataset.
//!
//! The summary is computed by the reader of results, from the samples as they stand in the file, so that `check` finds what
//! `run` has written.

use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use gate::results::{
    FailureRecord, JudgeInfo, Keep, MetricInfo, ReadError, Results, RunInfo, SampleRecord,
    TagRecord,
};
use metrics::{FailureKind, Info, Outcome, Sample};

use crate::corpus::Corpora;
use crate::dataset::DatasetError;
use crate::execute::{Job, Outcomes};
use crate::provider::Identity;

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The disk, most likely.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A sample could not be read again.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// The scores make no results file: a bug, or a score outside the range of its metric.
    #[error("{0}")]
    Results(ReadError),
}

/// What a metric is, as results say it.
///
/// The embedding model is a part of the version: with another one it is another metric, whose scores are not compared.
pub fn metric_info(info: &Info, embeddings: Option<&Identity>) -> MetricInfo {
    let version = match embeddings.filter(|_| info.embeds) {
        Some(Identity {
            provider,
            model: Some(model),
            ..
        }) => format!("{}, embeddings {provider} {model}", info.version),
        Some(Identity { provider, .. }) => format!("{}, embeddings {provider}", info.version),
        None => info.version.clone(),
    };
    MetricInfo {
        version: Some(version),
        prompt_sha256: info.prompt_sha256.clone(),
        direction: Some(info.direction),
        range: info.range,
        corpus: Vec::new(),
    }
}

/// Who judges, as results say it; `reported_model` is what the judge calls itself.
pub fn judge_info(identity: &Identity, reported_model: Option<String>) -> JudgeInfo {
    JudgeInfo {
        provider: Some(identity.provider.clone()),
        model: identity.model.clone(),
        reported_model,
        params: Some(identity.params.clone())
            .filter(|params| params.as_object().is_some_and(|params| !params.is_empty())),
        drift: None,
    }
}

/// Writes results.json; gives back what a reader makes of it.
///
/// The samples pass through an unnamed temporary file: memory holds their scores, not their text.
pub fn write(
    job: &Job,
    outcomes: &Outcomes,
    mut run: RunInfo,
    usage: serde_json::Value,
    out: impl Write,
) -> Result<Results, RecordError> {
    let mut spool = tempfile::spooled_tempfile(16 << 20);
    let mut corpora = Corpora::default();
    {
        let mut lines = BufWriter::with_capacity(1 << 16, &mut spool);
        write_samples(job, outcomes, &mut corpora, &mut lines)?;
        lines.flush()?;
    }
    corpora.put_into(&mut run, &job.metrics);
    let length = spool.stream_position()?;
    spool.rewind()?;
    let document = (&b"{\"samples\":["[..])
        .chain(BufReader::new((&mut spool).take(length)))
        .chain(&b"]}"[..]);
    let mut results = gate::results::read(document, Keep::All).map_err(RecordError::Results)?;
    for metric in &job.metrics {
        if let Some(range) = metric.info().range {
            results
                .check_range(&metric.info().name, range)
                .map_err(RecordError::Results)?;
        }
    }
    results.run = run;
    results.usage = Some(usage);
    spool.rewind()?;
    let mut out = BufWriter::with_capacity(1 << 16, out);
    results.write_around(spool, &mut out)?;
    out.flush()?;
    Ok(results)
}

fn write_samples(
    job: &Job,
    outcomes: &Outcomes,
    corpora: &mut Corpora,
    out: &mut impl Write,
) -> Result<(), RecordError> {
    let count = job.dataset.len();
    for index in 0..count {
        let sample = job.dataset.sample(index)?;
        corpora.add(&job.metrics, &sample, outcomes.of(index));
        let record = record(job, &sample, outcomes.of(index));
        out.write_all(b"    ")?;
        serde_json::to_writer(&mut *out, &record).map_err(io::Error::from)?;
        out.write_all(if index + 1 == count { b"\n" } else { b",\n" })?;
    }
    Ok(())
}

fn record<'a>(
    job: &'a Job,
    sample: &'a Sample,
    outcomes: impl Iterator<Item = Option<&'a Outcome>>,
) -> SampleRecord<'a> {
    let mut record = SampleRecord {
        id: &sample.id,
        variant: sample.variant.as_deref(),
        repeat: 0,
        cluster: sample.cluster.as_deref(),
        tags: sample
            .tags
            .iter()
            .map(|(tag, values)| (tag.as_str(), tag_record(values)))
            .collect(),
        input_sha256: Some(sample.input_sha256.as_str()).filter(|hash| !hash.is_empty()),
        scores: BTreeMap::new(),
        failures: BTreeMap::new(),
        not_applicable: BTreeMap::new(),
        reasons: BTreeMap::new(),
    };
    for (metric, outcome) in job.metrics.iter().zip(outcomes) {
        let name = metric.info().name.as_str();
        let score = match outcome {
            Some(Outcome::Score { score, reason }) => {
                if let Some(reason) = reason {
                    record.reasons.insert(name, reason);
                }
                Some(*score)
            }
            Some(Outcome::NotApplicable(why)) => {
                record.not_applicable.insert(name, why);
                None
            }
            Some(Outcome::Failed { kind, message }) => {
                record.failures.insert(name, failure(*kind, message));
                None
            }
            None => {
                let kind = FailureKind::Cancelled;
                record
                    .failures
                    .insert(name, failure(kind, "the run ended first"));
                None
            }
        };
        record.scores.insert(name, score);
    }
    record
}

fn failure(kind: FailureKind, message: &str) -> FailureRecord<'_> {
    FailureRecord {
        kind: kind.name(),
        message: Some(message),
    }
}

fn tag_record(values: &[String]) -> TagRecord<'_> {
    match values {
        [one] => TagRecord::One(one),
        many => TagRecord::Many(many.iter().map(String::as_str).collect()),
    }
}
