//! The parts of a results file that are not samples, as types: read, written, and the source of the JSON Schema.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::policy::Direction;

/// The value of `schema` in the results that this version writes.
pub const SCHEMA: &str = "rag-gate/results/1";

/// `run`: what must be known three months later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RunInfo {
    /// Unique id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Of how many runs the scores are the average, in a baseline made of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_of: Option<u64>,
    /// When it started, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// How long it took, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// False when the run was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// What wrote the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolInfo>,
    /// Git commit of the code that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// True when the working tree had changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// The dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetInfo>,
    /// The judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeInfo>,
    /// What each metric is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<BTreeMap<String, MetricInfo>>,
    /// The variants that were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variants: Option<Vec<VariantInfo>>,
    /// Present when only part of the dataset was meant to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subset: Option<SubsetInfo>,
    /// SHA-256 of the evaluation's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_sha256: Option<String>,
    /// Seed of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<serde_json::Value>,
    /// The CI job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci: Option<CiInfo>,
    /// What the run itself found doubtful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<RunWarning>>,
}

/// Something that a run found doubtful about its own numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RunWarning {
    /// A code of the verdict's warnings, such as `uniform-scores`; others are passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The metric it is about; null when it is about the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The sentence, in plain text.
    pub message: String,
}

/// What wrote a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ToolInfo {
    /// Its name.
    pub name: Option<String>,
    /// Its version.
    #[serde(deserialize_with = "text_or_number")]
    pub version: Option<String>,
}

/// The dataset of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DatasetInfo {
    /// Where it is.
    pub path: Option<String>,
    /// SHA-256 of its content.
    pub sha256: Option<String>,
    /// How many samples it has.
    pub samples: Option<u64>,
}

/// The judge of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct JudgeInfo {
    /// `openai`, `lexical`, `command`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that answered, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_model: Option<String>,
    /// Temperature and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Value>,
    /// Whether it still scores its pinned answers as it did; absent where nobody asked it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<JudgeDrift>,
}

/// What came of asking a judge about its pinned answers again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct JudgeDrift {
    /// The file with the pinned answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// SHA-256 of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_sha256: Option<String>,
    /// When they were pinned, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_at: Option<String>,
    /// How many answers are pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Calls that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Why nothing can be said of any metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// By metric.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricDrift>,
}

impl JudgeDrift {
    /// Whether the judge moved on any metric; `None` where it did on none, but cannot be told of each.
    pub fn moved(&self) -> Option<bool> {
        let mut all = self.metrics.values().map(|metric| metric.moved);
        if all.clone().any(|moved| moved == Some(true)) {
            return Some(true);
        }
        (all.len() > 0 && all.all(|moved| moved.is_some())).then_some(false)
    }
}

/// How one metric changed on the pinned answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MetricDrift {
    /// Whether the judge moved; null where it cannot be told.
    pub moved: Option<bool>,
    /// Answers that have a score from then and from now.
    pub n: u64,
    /// How many of these scores differ.
    pub changed: u64,
    /// Answers that had a score and have none now.
    pub lost: u64,
    /// Mean then, over these answers.
    pub before: Option<f64>,
    /// Mean now.
    pub now: Option<f64>,
    /// Mean change, now minus then.
    pub change: Option<f64>,
    /// Its interval, at 95 % for all metrics together.
    pub ci: Option<[f64; 2]>,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What one metric is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MetricInfo {
    /// Version of its definition.
    #[serde(
        deserialize_with = "text_or_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub version: Option<String>,
    /// SHA-256 of its prompt; null for a formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<String>,
    /// Which way is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Lowest and highest possible score; null when unbounded or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Values of all samples together, for metrics that have one that is no mean; the gate passes over them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corpus: Vec<CorpusValue>,
}

/// A value of all samples together that is no mean of their scores, as corpus BLEU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CorpusValue {
    /// Of which variant; null in results without variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The value, in the range of the metric.
    pub value: f64,
    /// How it was computed, in the notation of the reference implementation.
    pub signature: String,
}

/// One variant of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct VariantInfo {
    /// Its name.
    pub name: Option<String>,
    /// What sets it apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Value>,
}

/// Which part of the dataset a run was meant to cover.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SubsetInfo {
    /// Samples of the whole dataset.
    pub of: Option<u64>,
    /// Seed of the choice.
    pub seed: Option<serde_json::Value>,
}

/// The CI job of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CiInfo {
    /// `github`, `gitlab`, …
    pub provider: Option<String>,
    /// Its page.
    pub run_url: Option<String>,
    /// Which attempt it was.
    pub attempt: Option<serde_json::Value>,
}

/// `accepted`: what made a results file the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Accepted {
    /// When, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The commit that was merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The pull request.
    #[serde(
        deserialize_with = "text_or_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub pull_request: Option<String>,
    /// Who accepted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why, where something got worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Metrics whose loss was accepted with a reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reset: Vec<String>,
}

/// Reads `"1"` and `1` alike: versions and pull requests are written both ways.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<serde_json::Value>::deserialize(deserializer)? {
        None => Ok(None),
        Some(serde_json::Value::String(text)) => Ok(Some(text)),
        Some(serde_json::Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(serde::de::Error::custom("expected a string or a number")),
    }
}
