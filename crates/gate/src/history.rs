//! history.jsonl: one line for each accepted baseline, enough for trends and for the drift rule.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::results::{Accepted, ReadError, is_too_large};

/// One accepted baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HistoryLine {
    /// What accepted it.
    pub accepted: Accepted,
    /// SHA-256 of the baseline file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// SHA-256 of the dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_sha256: Option<String>,
    /// Model of the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_model: Option<String>,
    /// Metrics whose loss was accepted with a reason: their chain begins anew here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reset: Vec<String>,
    /// The metrics, when there is one unnamed variant.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub metrics: IndexMap<String, HistoryMetric>,
    /// The metrics by variant, when there are several.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub variants: IndexMap<String, HistoryVariant>,
}

/// One variant of an accepted baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HistoryVariant {
    /// Its metrics.
    pub metrics: IndexMap<String, HistoryMetric>,
}

/// One metric of an accepted baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HistoryMetric {
    /// Mean score.
    pub mean: Option<f64>,
    /// Scored samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Applicable samples without a score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Standard error of the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<f64>,
    /// Version of the metric's definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Which aggregate `change` is of, when it is not the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<String>,
    /// Change of the aggregate against the baseline before, over the common samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// Standard error of `change`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_stderr: Option<f64>,
    /// Samples behind `change`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
}

impl HistoryLine {
    /// One metric of one variant.
    pub fn metric(&self, metric: &str, variant: Option<&str>) -> Option<&HistoryMetric> {
        match variant {
            None => self.metrics.get(metric),
            Some(variant) => self.variants.get(variant)?.metrics.get(metric),
        }
    }
}

/// Reads history.jsonl, oldest line first. Empty lines are passed over.
pub fn parse(text: &str) -> Result<Vec<HistoryLine>, ReadError> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let number = index as u64 + 1;
            let line: HistoryLine = serde_json::from_str(line).map_err(|error| {
                let text = error.to_string();
                let problem = text
                    .rsplit_once(" at line ")
                    .map_or(text.as_str(), |(problem, _)| problem);
                refused(problem).at((number, error.column() as u64))
            })?;
            let metrics = line
                .variants
                .values()
                .flat_map(|variant| variant.metrics.values());
            for metric in line.metrics.values().chain(metrics) {
                let numbers = [
                    metric.mean,
                    metric.stderr,
                    metric.change,
                    metric.change_stderr,
                ];
                if let Some(large) = numbers
                    .into_iter()
                    .flatten()
                    .find(|number| is_too_large(*number))
                {
                    return Err(refused(&format!("{large:e} is too large")).at((number, 1)));
                }
            }
            Ok(line)
        })
        .collect()
}

fn refused(problem: &str) -> ReadError {
    ReadError::new(format!(
        "the history has a line that is not what it should be: {problem}"
    ))
    .help("each line is one JSON object that `rag-gate baseline update` wrote; restore the file from git")
}
