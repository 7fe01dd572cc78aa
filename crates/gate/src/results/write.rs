//! Writing a baseline: the format of results, so that a diff shows what changed and nothing else.
//!
//! Samples stand one a line in canonical order, metrics and tags in the order of their names, numbers in their shortest
//! exact form.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{Accepted, Results, RunInfo, SCHEMA, Samples, Score, Scores, Summary};
use crate::measure::{SampleScores, Units};
use crate::stats::ClusterSums;

/// A results file of the summary or the full shape; any results file serves as a baseline.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultsFile<'a> {
    /// `rag-gate/results/1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<&'a str>,
    /// Where the numbers come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<&'a RunInfo>,
    /// In a baseline: what accepted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<&'a Accepted>,
    /// The metrics, when there is one unnamed variant. Recomputed when there are samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<BTreeMap<&'a str, SummaryRecord>>,
    /// The metrics by variant, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variants: Option<BTreeMap<&'a str, VariantRecord<'a>>>,
    /// What the run consumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<&'a serde_json::Value>,
    /// Every sample of every variant in every repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<SampleRecord<'a>>>,
}

/// One variant without its samples.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VariantRecord<'a> {
    /// Its metrics.
    pub metrics: BTreeMap<&'a str, SummaryRecord>,
}

/// The summary of one metric.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryRecord {
    /// Mean score; null when nothing was scored.
    pub mean: Option<f64>,
    /// Scored samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Applicable samples without a score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Samples to which the metric does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<u64>,
    /// Standard error of the mean, over clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<f64>,
}

/// One sample of one variant in one repeat.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleRecord<'a> {
    /// Its id; the same question has the same id in every run.
    pub id: &'a str,
    /// Its variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'a str>,
    /// Which repeat it is, from 0.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub repeat: u32,
    /// Samples that are not independent share a cluster: a document, a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<&'a str>,
    /// Tags: a value, or a list of values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub tags: BTreeMap<&'a str, TagRecord<'a>>,
    /// Hash of question and reference, not of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<&'a str>,
    /// A number, true or false, or null, by metric.
    pub scores: BTreeMap<&'a str, Option<f64>>,
    /// Why a score is null.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub failures: BTreeMap<&'a str, FailureRecord<'a>>,
    /// Why a metric does not apply.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub not_applicable: BTreeMap<&'a str, &'a str>,
    /// What the judge said.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub reasons: BTreeMap<&'a str, &'a str>,
}

/// The value of a tag.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TagRecord<'a> {
    /// One value.
    One(&'a str),
    /// Several: the sample is in each slice.
    Many(Vec<&'a str>),
}

/// Why a score is null.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureRecord<'a> {
    /// `timeout`, `rate-limited`, `unavailable`, `auth`, `refused`, `unparsable`, `inconsistent`, `target`, `cancelled`,
    /// `not-recorded` or `not-a-number`.
    pub kind: &'a str,
    /// What happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Results {
    /// Means and counts of one variant, by metric name.
    pub fn summaries_of(&self, variant: Option<&str>) -> BTreeMap<&str, Summary> {
        match &self.scores {
            Scores::Means(means) => means
                .get(&variant.map(str::to_owned))
                .into_iter()
                .flatten()
                .map(|(metric, summary)| (metric.as_str(), *summary))
                .collect(),
            Scores::Samples(samples) => {
                let units = Units::of(samples, variant);
                samples
                    .metrics()
                    .iter()
                    .map(|column| {
                        let scores = SampleScores {
                            column,
                            scores: units.scores(column),
                        };
                        (column, summary(&units, &scores))
                    })
                    .filter(|(column, summary)| {
                        // A metric that this variant does not even name is none of its metrics.
                        summary.n != Some(0)
                            || samples.rows_of(variant).any(|row| !column.is_absent(row))
                    })
                    .map(|(column, summary)| (column.metric(), summary))
                    .collect()
            }
        }
    }

    /// Everything but the samples, as a JSON object over several lines.
    fn head(&self) -> io::Result<String> {
        let variants = self.variants();
        let named: Vec<&str> = variants.iter().copied().flatten().collect();
        let records = |variant| -> BTreeMap<&str, SummaryRecord> {
            self.summaries_of(variant)
                .into_iter()
                .map(|(metric, summary)| (metric, SummaryRecord::from(summary)))
                .collect()
        };
        let head = ResultsFile {
            schema: Some(SCHEMA),
            run: Some(&self.run),
            accepted: self.accepted.as_ref(),
            metrics: (variants.contains(&None) || named.is_empty()).then(|| records(None)),
            variants: (!named.is_empty()).then(|| {
                named
                    .iter()
                    .map(|name| {
                        let metrics = records(Some(name));
                        (*name, VariantRecord { metrics })
                    })
                    .collect()
            }),
            usage: self.usage.as_ref(),
            samples: None,
        };
        Ok(serde_json::to_string_pretty(&head)?)
    }

    /// Writes the file with the samples as somebody else has written them: one [`SampleRecord`] a line, each but the last
    /// with a comma. What writes results keeps the order of its dataset that way; the summary is still that of `self`.
    pub fn write_around(&self, mut samples: impl io::Read, mut out: impl Write) -> io::Result<()> {
        let head = self.head()?;
        let open = head.strip_suffix("\n}").unwrap_or(&head);
        write!(out, "{open},\n  \"samples\": [\n")?;
        io::copy(&mut samples, &mut out)?;
        out.write_all(b"  ]\n}\n")
    }

    /// Writes the file, ending with a line feed.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let head = self.head()?;
        let Some(samples) = self.samples() else {
            return writeln!(out, "{head}");
        };
        let open = head.strip_suffix("\n}").unwrap_or(&head);
        write!(out, "{open},\n  \"samples\": [")?;
        for row in 0..samples.len() {
            out.write_all(if row == 0 { b"\n    " } else { b",\n    " })?;
            serde_json::to_writer(&mut out, &record(samples, row))?;
        }
        out.write_all(if samples.is_empty() {
            b"]\n}\n"
        } else {
            b"\n  ]\n}\n"
        })
    }
}

fn summary(units: &Units<'_>, scores: &SampleScores<'_>) -> Summary {
    let tally = units.tally(scores, None);
    let scored: Vec<usize> = (0..units.len())
        .filter(|unit| {
            scores
                .scores
                .get(*unit)
                .is_some_and(|score| score.is_finite())
        })
        .collect();
    let values: Vec<f64> = scored
        .iter()
        .filter_map(|unit| scores.scores.get(*unit).copied())
        .collect();
    let mut codes: BTreeMap<u32, u32> = BTreeMap::new();
    let mut next = 0;
    let clusters: Vec<u32> = scored
        .iter()
        .map(|unit| {
            let code = units.samples.cluster(units.first_row(*unit));
            let known = code.and_then(|code| codes.get(&code).copied());
            known.unwrap_or_else(|| {
                let fresh = next;
                next += 1;
                if let Some(code) = code {
                    codes.insert(code, fresh);
                }
                fresh
            })
        })
        .collect();
    Summary {
        mean: tally.mean,
        n: Some(tally.n),
        failed: Some(tally.failed),
        not_applicable: Some(tally.not_applicable),
        stderr: ClusterSums::of(&values, Some(&clusters)).and_then(|sums| sums.estimate()?.stderr),
    }
}

impl From<Summary> for SummaryRecord {
    fn from(summary: Summary) -> Self {
        SummaryRecord {
            mean: summary.mean,
            n: summary.n,
            failed: summary.failed,
            not_applicable: summary.not_applicable,
            stderr: summary.stderr,
        }
    }
}

fn record(samples: &Samples, row: usize) -> SampleRecord<'_> {
    let mut record = SampleRecord {
        id: samples.id(row),
        variant: samples.variant(row),
        repeat: samples.repeat(row),
        cluster: samples.cluster_name(row),
        tags: BTreeMap::new(),
        input_sha256: samples.input_sha256(row),
        scores: BTreeMap::new(),
        failures: BTreeMap::new(),
        not_applicable: BTreeMap::new(),
        reasons: BTreeMap::new(),
    };
    for tag in samples.tags() {
        let mut values: Vec<&str> = samples.tag_values(tag, row).collect();
        values.sort_unstable();
        match values.as_slice() {
            [] => {}
            [one] => drop(record.tags.insert(tag, TagRecord::One(one))),
            _ => drop(record.tags.insert(tag, TagRecord::Many(values))),
        }
    }
    for column in samples.metrics() {
        let metric = column.metric();
        if column.is_absent(row) {
            continue;
        }
        match column.score(row) {
            Score::Number(score) => drop(record.scores.insert(metric, Some(score))),
            Score::NotApplicable(why) => {
                record.scores.insert(metric, None);
                record.not_applicable.insert(metric, why.unwrap_or(""));
            }
            Score::Failed { kind, message } => {
                record.scores.insert(metric, None);
                if !column.is_bare_null(row) {
                    record
                        .failures
                        .insert(metric, FailureRecord { kind, message });
                }
            }
        }
        if let Some(reason) = column.reason(row) {
            record.reasons.insert(metric, reason);
        }
    }
    record
}
