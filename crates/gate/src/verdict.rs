//! What the gate says: an outcome, its reasons, and every number behind them.
//!
//! A [`Verdict`] is all that a renderer gets. It holds finished sentences and finished numbers, so that no renderer has
//! to compute anything, and it serialises to `verdict.json` as it is.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::policy::{Direction, Limit, Rule, Severity};

/// The value of `schema` in the verdicts that this version writes.
pub const SCHEMA: &str = "rag-gate/verdict/1";

/// The gate's answer, with all that is needed to explain it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// `rag-gate/verdict/1`.
    pub schema: String,
    /// Version of rag-gate that decided.
    pub tool: String,
    /// `id` of gate.toml: names the gate in comments and checks.
    pub gate_id: String,
    /// Pass, block, or cannot decide.
    pub outcome: Outcome,
    /// 0 pass, 1 block, 2 policy invalid, 3 undecided.
    pub exit_code: u8,
    /// One sentence: what was decided, and over how much.
    pub summary: String,
    /// Why it blocks or cannot decide, in the order of gate.toml; empty for a pass.
    pub reasons: Vec<Reason>,
    /// What a reader should know and what does not change the outcome.
    pub warnings: Vec<Reason>,
    /// One row for each gated metric, variant and slice.
    pub metrics: Vec<MetricRow>,
    /// The samples that fell most in the metrics that got worse.
    pub worst_samples: Vec<WorstSample>,
    /// The first samples without a score; the counts are in `metrics`.
    pub failed_samples: Vec<FailedSample>,
    /// The trusted base, when the policy was taken from a git ref.
    pub base: Option<Base>,
    /// How the samples of the two sides pair; null when a side has no samples.
    pub samples: Option<SampleCounts>,
    /// What the run consumed, as the results file says it.
    pub usage: Option<serde_json::Value>,
    /// Which policy decided.
    pub policy: PolicySource,
    /// Where both sides come from.
    pub provenance: Provenance,
}

/// What the gate decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// No rule is violated.
    Pass,
    /// A rule is violated for certain.
    Block,
    /// The inputs do not allow a decision.
    Undecided,
}

/// One sentence with a stable code and the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// What kind of reason; `rag-gate explain CODE` says what to do.
    pub code: Code,
    /// The metric it is about; null when it is about the run.
    pub metric: Option<String>,
    /// The variant it is about; null when there is only one.
    pub variant: Option<String>,
    /// The slice it is about, as `tag=value`.
    pub slice: Option<String>,
    /// The sentence, in plain text.
    pub message: String,
    /// True when the rule is violated on what was measured, but too much is missing to block for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// Line of gate.toml that asks for this, counted from 1.
    pub policy_line: Option<usize>,
    /// The numbers in the sentence and those behind it, by name.
    pub numbers: IndexMap<String, f64>,
}

/// The kind of a reason or warning. Codes are stable: scripts may test for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The aggregate is below `min`.
    BelowMinimum,
    /// The aggregate is above `max`.
    AboveMaximum,
    /// Worse than the baseline by more than the policy allows.
    Regression,
    /// Accepted changes and this one add up to more than `max_drift`.
    Drift,
    /// A gated metric is not in the results.
    MissingMetric,
    /// No sample, or no score at all.
    NothingMeasured,
    /// More samples than `max_failed` allows have no score.
    TooManyFailures,
    /// Fewer scored samples than the policy or the rule needs.
    TooFewSamples,
    /// The run says that it was interrupted.
    IncompleteRun,
    /// The two sides differ so that a difference means nothing.
    Incomparable,
    /// A file could not be read or is not what it should be.
    UnreadableInput,
    /// gate.toml or the command line is wrong.
    InvalidPolicy,
    /// Worse, but within what chance does.
    CouldBeNoise,
    /// A metric or variant that the baseline does not know.
    NotInBaseline,
    /// A metric or variant of the baseline that is gone and that the policy does not name.
    GoneFromResults,
    /// A metric whose regression no limit gates.
    RegressionNotGated,
    /// A direction or range that nobody stated.
    Assumed,
    /// Provenance that only one side states.
    UnknownProvenance,
    /// Samples were added, removed or rewritten.
    SamplesChanged,
    /// A side without samples: no interval, the point rule applies.
    NoInterval,
    /// A slice with too few samples to judge, or without any.
    SmallSlice,
    /// A judge gave nearly everything the same score.
    UniformScores,
    /// There is no baseline; absolute limits alone apply.
    NoBaseline,
    /// There is no gate.toml; the defaults apply.
    NoPolicy,
    /// The chain of accepted baselines is broken or missing.
    DriftChain,
    /// The change under test brings the gate itself.
    Adoption,
}

/// One metric of one variant, overall or in one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricRow {
    /// Name of the metric.
    pub metric: String,
    /// The variant; null when there is only one.
    pub variant: Option<String>,
    /// `tag=value`; null for all samples.
    pub slice: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// `mean`, `median`, `p95`, `min`, `max` or `pass_rate`.
    pub aggregate: String,
    /// Aggregate of all scored samples of the results.
    pub now: Option<f64>,
    /// Scored samples behind `now`; null when the file does not say.
    pub n: Option<u64>,
    /// Applicable samples without a score.
    pub failed: Option<u64>,
    /// Samples to which the metric does not apply.
    pub not_applicable: Option<u64>,
    /// Aggregate of all scored samples of the baseline.
    pub before: Option<f64>,
    /// Scored samples behind `before`.
    pub before_n: Option<u64>,
    /// Applicable samples of the baseline without a score.
    pub before_failed: Option<u64>,
    /// Samples scored on both sides.
    pub pairs: Option<u64>,
    /// Aggregate now minus aggregate before, over the pairs; negative is a drop whatever the direction.
    pub change: Option<f64>,
    /// Two-sided interval of `change` at the policy's confidence.
    pub ci: Option<[f64; 2]>,
    /// Standard error of `change`, over clusters.
    pub change_stderr: Option<f64>,
    /// One-sided p-value of "it did not get worse", before correction; only under `significant`.
    pub p_value: Option<f64>,
    /// The limits that apply.
    pub limits: Limits,
    /// What a violation does.
    pub severity: Severity,
    /// What came of it.
    pub status: Status,
}

/// The limits of one row; what is null does not limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// Lowest allowed aggregate.
    pub min: Option<f64>,
    /// Highest allowed aggregate.
    pub max: Option<f64>,
    /// Largest allowed drop against the baseline.
    pub max_drop: Option<Limit>,
    /// Largest allowed rise against the baseline.
    pub max_rise: Option<Limit>,
    /// Largest allowed sum of accepted changes.
    pub max_drift: Option<Limit>,
}

/// What came of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every rule holds.
    Pass,
    /// A rule is violated that only warns, or something is worth knowing.
    Warn,
    /// A rule is violated.
    Block,
    /// Not enough was measured.
    Undecided,
    /// Shown, not judged.
    Off,
}

/// A sample that fell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstSample {
    /// Id of the sample.
    pub id: String,
    /// Its variant.
    pub variant: Option<String>,
    /// The metric in which it fell.
    pub metric: String,
    /// Score in the baseline.
    pub before: f64,
    /// Score in the results.
    pub now: f64,
    /// What the judge said about it, cut to a few hundred characters.
    pub reason: Option<String>,
}

/// A sample without a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedSample {
    /// Id of the sample.
    pub id: String,
    /// Its variant.
    pub variant: Option<String>,
    /// The metric that has no score.
    pub metric: String,
    /// Kind of failure; `missing` when the file gives no cause.
    pub kind: String,
    /// What the file says about it.
    pub message: Option<String>,
}

/// The git ref whose policy and baseline decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Base {
    /// The ref as it was asked for or found.
    pub r#ref: String,
    /// The commit it names.
    pub commit: String,
    /// How it was found, for `--base auto`.
    pub found_by: Option<String>,
    /// Days between the acceptance of the baseline and this run.
    pub baseline_age_days: Option<i64>,
    /// What the change under test does to policy, baseline, history and dataset.
    pub changes: Vec<Change>,
}

/// One thing that the change under test changes about its own judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The file.
    pub file: String,
    /// The key in it; null for the file as a whole.
    pub key: Option<String>,
    /// What the base says.
    pub base: Option<String>,
    /// What the change says.
    pub head: Option<String>,
    /// The headline, in plain text.
    pub message: String,
}

/// How the samples of the two sides pair, over all variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleCounts {
    /// In both.
    pub common: u64,
    /// Only in the results.
    pub added: u64,
    /// Only in the baseline.
    pub removed: u64,
    /// Same id, other question or reference; counted as added and removed too.
    pub rewritten: u64,
}

/// Which policy decided, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicySource {
    /// The file as it was named; null when the defaults applied.
    pub path: Option<String>,
    /// The rule for regressions.
    pub rule: Rule,
    /// Confidence of intervals and tests.
    pub confidence: f64,
    /// Seed of every resampling.
    pub seed: u64,
    /// Resampling draws (fewer for very large inputs).
    pub draws: u64,
}

/// Where both sides come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// `run` of the results.
    pub results: Option<serde_json::Value>,
    /// `run` and `accepted` of the baseline.
    pub baseline: Option<serde_json::Value>,
    /// What differs between the two, in plain text.
    pub differences: Vec<String>,
}

impl Outcome {
    /// The process exit code that this outcome stands for.
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Pass => 0,
            Outcome::Block => 1,
            Outcome::Undecided => 3,
        }
    }
}

impl Verdict {
    /// Puts a warning about the run before all others.
    pub fn warn_first(&mut self, code: Code, message: &str) {
        self.warnings
            .insert(0, crate::decide::reason(code, message));
    }

    /// A verdict for inputs that could not be judged at all: one reason, nothing measured.
    ///
    /// Written to the machine-readable outputs, so that no older verdict is taken for this one's.
    pub fn refused(gate_id: &str, code: Code, message: String, exit_code: u8) -> Self {
        Verdict {
            schema: SCHEMA.to_owned(),
            tool: crate::VERSION.to_owned(),
            gate_id: gate_id.to_owned(),
            outcome: Outcome::Undecided,
            exit_code,
            summary: "cannot judge".to_owned(),
            reasons: vec![crate::decide::reason(code, message)],
            warnings: Vec::new(),
            metrics: Vec::new(),
            worst_samples: Vec::new(),
            failed_samples: Vec::new(),
            base: None,
            samples: None,
            usage: None,
            policy: PolicySource {
                path: None,
                rule: Rule::Point,
                confidence: crate::policy::DEFAULT_CONFIDENCE,
                seed: crate::stats::SEED,
                draws: crate::stats::DRAWS,
            },
            provenance: Provenance::default(),
        }
    }
}
