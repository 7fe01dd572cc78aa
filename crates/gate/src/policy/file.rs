//! gate.toml as it is written: one type per table, and the source of its JSON Schema.
//!
//! Unknown keys are errors everywhere. What a user wrote keeps its place in the file (`Spanned`), so that errors and
//! violated limits point at it.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::{Direction, Limit, Rule, Severity};

/// gate.toml: the evaluation and the policy.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct GateFile {
    /// Version of the format: 1.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub version: Option<Spanned<i64>>,
    /// Names the gate in comments and checks: letters, digits, `.`, `_` and `-`. Default `rag-gate`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub id: Option<Spanned<String>>,
    /// The baseline, relative to gate.toml.
    pub baseline: Option<String>,
    /// The questions.
    pub dataset: Option<DatasetSection>,
    /// The application under test; left out when the dataset already holds the answers.
    #[cfg_attr(feature = "schema", schemars(with = "Option<TargetSection>"))]
    pub target: Option<Spanned<TargetSection>>,
    /// Configurations of the target.
    pub variants: Vec<VariantSection>,
    /// What scores where no formula can.
    pub judge: Option<JudgeSection>,
    /// The embedding model; left out when no metric needs one.
    pub embeddings: Option<JudgeSection>,
    /// Where answers of the judge are kept.
    pub cache: Option<CacheSection>,
    /// Where the runs are recorded.
    pub runs: Option<RunsSection>,
    /// The policy's defaults.
    pub gate: GateSection,
    /// Limits by metric name; `*` and `?` match, and the most specific name wins.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<IndexMap<String, MetricSection>>")
    )]
    pub metrics: Option<IndexMap<Spanned<String>, MetricSection>>,
    /// Limits for the samples that share a tag.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<SliceSection>"))]
    pub slices: Vec<Spanned<SliceSection>>,
}

/// `[dataset]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DatasetSection {
    /// The file, relative to gate.toml.
    pub path: Option<String>,
    /// Which column holds what, where the names do not say it.
    pub columns: Option<IndexMap<String, String>>,
}

/// `[target]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TargetSection {
    /// A program that answers, one JSON line for one JSON line.
    pub command: Option<Vec<String>>,
    /// A service that answers.
    pub url: Option<String>,
    /// How many questions at once.
    pub concurrency: Option<Concurrency>,
    /// How long an answer may take.
    pub timeout: Option<Duration>,
}

/// `[[variants]]`
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VariantSection {
    /// Its name in results and baseline.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Spanned<String>,
    /// What is passed to the target.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "IndexMap<String, serde_json::Value>")
    )]
    pub params: toml::Table,
}

/// `[judge]` and `[embeddings]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct JudgeSection {
    /// `openai` for any compatible server; `lexical` (default), `simulated`, `command`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub provider: Option<Spanned<String>>,
    /// Address of the API.
    pub base_url: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Name of the environment variable that holds the key; never the key.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub api_key_env: Option<Spanned<String>>,
    /// Headers of every call.
    pub headers: Option<IndexMap<String, String>>,
    /// Headers of every call whose value is secret: the name of the environment variable that holds it.
    pub headers_env: Option<IndexMap<String, String>>,
    /// Certificates to trust beside those of the system: a PEM file, relative to gate.toml.
    pub ca_file: Option<String>,
    /// The program of a `command` judge.
    pub command: Option<Vec<String>>,
    /// Sampling temperature, 0 to 2. Default 0.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub temperature: Option<Spanned<f64>>,
    /// Seed of the sampling, for servers that know it.
    pub seed: Option<i64>,
    /// Most tokens that an answer may have.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub max_tokens: Option<Spanned<u32>>,
    /// How the form of an answer is asked for; `auto` finds the strictest that the server takes. Default `auto`.
    pub response_format: Option<ResponseFormat>,
    /// How many calls at once: a number, or `"auto"`.
    pub concurrency: Option<Concurrency>,
    /// How long one call may take, such as `"60s"`.
    pub timeout: Option<Duration>,
    /// How often a call that failed is tried again.
    pub retries: Option<u32>,
    /// Most calls a minute.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub rpm: Option<Spanned<u32>>,
    /// Most tokens a minute, of questions and answers together.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub tpm: Option<Spanned<u32>>,
    /// What the model costs; unknown when left out.
    pub price: Option<PriceSection>,
    /// Latency of a `simulated` judge: the median.
    pub latency: Option<Duration>,
    /// Spread of a `simulated` judge's latency: sigma of its logarithm. Default 0.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub latency_sigma: Option<Spanned<f64>>,
    /// The answers that the judge is asked about again in every run, relative to gate.toml; `[judge]` alone has them.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub pinned: Option<Spanned<String>>,
}

/// `[judge.price]`, in US dollars for a million tokens
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PriceSection {
    /// A million tokens of questions.
    pub prompt: Option<f64>,
    /// A million tokens of answers.
    pub completion: Option<f64>,
}

/// How the form of an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// The strictest that the server takes, found while running.
    #[default]
    Auto,
    /// By a JSON Schema.
    JsonSchema,
    /// As some JSON object; the prompt says which.
    JsonObject,
    /// By the prompt alone.
    Text,
}

/// `[cache]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CacheSection {
    /// The folder, relative to gate.toml. Default `.rag-gate/cache`.
    pub path: Option<String>,
    /// What it is used for. Default `read-write`.
    pub mode: Option<CacheMode>,
}

/// What the cache is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// Answers are taken from it and put into it.
    #[default]
    ReadWrite,
    /// It is not used.
    Off,
    /// Answers are taken from it; new ones are not put into it.
    ReadOnly,
    /// Every answer is asked for again and put into it.
    Refresh,
    /// Nobody is called: an answer that is not in it is a failure, `not-recorded`.
    Replay,
}

/// `[runs]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RunsSection {
    /// The file that gets a line for each run, relative to gate.toml. Default `.rag-gate/runs.jsonl`.
    pub path: Option<String>,
}

/// `[gate]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct GateSection {
    /// How much worse a metric with range [0, 1] may get. Default 0.03.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_drop: Option<Spanned<Limit>>,
    /// Share of the applicable samples that may end without a score. Default 0.01.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max_failed: Option<Spanned<f64>>,
    /// Fewest scored samples that decide. Default 1.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub min_samples: Option<Spanned<u64>>,
    /// Share of the baseline's samples that have to be scored again. Default 0.5.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min_overlap: Option<Spanned<f64>>,
    /// `point` (default), `significant` or `noninferior`.
    pub rule: Option<Rule>,
    /// Confidence of intervals and tests, above 0.5 and below 1. Default 0.95.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub confidence: Option<Spanned<f64>>,
    /// How much accepted changes may add up to. Off by default.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_drift: Option<Spanned<Limit>>,
    /// How many accepted baselines the drift rule looks back. Default 10.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub drift_window: Option<Spanned<u32>>,
    /// `undecided` (default), or `absolute`: absolute limits alone where the two sides cannot be compared.
    pub on_incomparable: Option<OnIncomparable>,
}

/// `[metrics.NAME]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MetricSection {
    /// What is computed, where the name does not say it: `rubric`, …
    pub kind: Option<String>,
    /// What a `rubric` or `g_eval` grades by, or the question of a `yes_no`.
    pub criteria: Option<String>,
    /// Lowest and highest grade of a `rubric` or `g_eval`, as the judge gives it; the score is its share, from 0 to 1. A
    /// `g_eval` that says nothing has 0 to 10. Default `[1, 5]`.
    #[serde(deserialize_with = "pair")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<[i64; 2]>"))]
    pub scale: Option<Spanned<[i64; 2]>>,
    /// What grades of a `rubric` or `g_eval` mean, in words.
    pub anchors: Option<IndexMap<String, String>>,
    /// How a `rubric` or `g_eval` is to be graded, step by step.
    pub steps: Option<Vec<String>>,
    /// A file with the instructions for the judge, in place of those built in.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub prompt: Option<Spanned<String>>,
    /// The program of a `command`, with its arguments.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
    pub command: Option<Spanned<Vec<String>>>,
    /// How long a `command` may take for one sample. Default 60 s.
    pub timeout: Option<Duration>,
    /// Where a `json_path` finds its number in the row of the dataset: `$.usage.total_tokens`.
    pub path: Option<String>,
    /// Of what measures both ways: `f1` (default), `precision` or `recall`.
    pub measure: Option<Measure>,
    /// Whether `rouge_*` compares English words by their stem. Default `false`.
    pub stemmer: Option<bool>,
    /// How `rouge_*` (`ascii`, `words`) and `bleu` (`13a`, `intl`, `zh`, `char`, `none`) cut text into tokens.
    pub tokenizer: Option<String>,
    /// Of `edit_similarity`: `levenshtein` (default), `indel` or `jaro_winkler`.
    pub similarity: Option<String>,
    /// What `contains` and `starts_with` look for, or else the reference.
    pub values: Option<Vec<String>>,
    /// How many of `values` have to be there: `any` (default) or `all`.
    pub require: Option<Require>,
    /// The regular expression of a `regex`.
    pub pattern: Option<String>,
    /// Whether `contains`, `starts_with` and `regex` take upper and lower case for the same. Default `false`.
    pub ignore_case: Option<bool>,
    /// The file with the JSON Schema of a `json_schema`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub schema: Option<Spanned<String>>,
    /// Shortest answer that a `length` accepts.
    pub at_least: Option<u64>,
    /// Longest answer that a `length` accepts.
    pub at_most: Option<u64>,
    /// What a `length` or `context_length` counts: `characters`, `words` or `sentences`.
    pub unit: Option<String>,
    /// The language that `language` wants, in ISO 639-1; that of the question by default.
    pub language: Option<String>,
    /// How retrieval metrics recognise a passage: by `id`, by its `text`, or by `similarity`. Default: ids where both sides
    /// have them, else texts.
    pub by: Option<MatchBy>,
    /// How alike texts are that count as the same passage under `by = "similarity"`, above 0 and up to 1. Default 0.8.
    pub threshold: Option<f64>,
    /// What `context_precision` holds passages against: `reference` or `answer`. Default: the reference where there is one.
    pub against: Option<Against>,
    /// How many questions `answer_relevancy@ragas` asks for. Default 3.
    pub questions: Option<u32>,
    /// Shares of facts and of similarity in `answer_correctness`. Default `[0.75, 0.25]`.
    #[serde(deserialize_with = "pair")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<[f64; 2]>"))]
    pub weights: Option<Spanned<[f64; 2]>>,
    /// Lowest allowed aggregate.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min: Option<Spanned<f64>>,
    /// Highest allowed aggregate.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max: Option<Spanned<f64>>,
    /// Largest allowed drop against the baseline, in points or percent of it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_drop: Option<Spanned<Limit>>,
    /// Largest allowed rise of a lower-is-better metric.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_rise: Option<Spanned<Limit>>,
    /// How much accepted changes may add up to.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_drift: Option<Spanned<Limit>>,
    /// Share of the applicable samples that may end without a score.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max_failed: Option<Spanned<f64>>,
    /// Fewest scored samples that decide.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub min_samples: Option<Spanned<u64>>,
    /// `mean` (default), `median`, `p5` … `p99`, `min`, `max` or `pass_rate`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub aggregate: Option<Spanned<String>>,
    /// The score from which a sample passes, for `pass_rate`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub pass_at: Option<Spanned<f64>>,
    /// `higher` or `lower` is better.
    pub direction: Option<Direction>,
    /// Lowest and highest possible score.
    #[serde(deserialize_with = "pair")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<[f64; 2]>"))]
    pub range: Option<Spanned<[f64; 2]>>,
    /// `block` (default), `warn` or `off`.
    pub severity: Option<Severity>,
}

/// Which side of an overlap counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Of what the answer says.
    Precision,
    /// Of what the reference says.
    Recall,
    /// Their harmonic mean.
    #[default]
    F1,
}

/// How many of several values are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Require {
    /// One of them.
    #[default]
    Any,
    /// Each of them.
    All,
}

/// What makes two passages the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MatchBy {
    /// Their ids.
    Id,
    /// Their texts, letter for letter.
    Text,
    /// Texts that are alike.
    Similarity,
}

/// What passages are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// The reference answer.
    Reference,
    /// The answer of the target.
    Answer,
}

/// Two values and no third, which the array types of serde pass over.
fn pair<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Spanned<[T; 2]>>, D::Error> {
    let values = Spanned::<Vec<T>>::deserialize(deserializer)?;
    let span = values.span();
    <[T; 2]>::try_from(values.into_inner())
        .map(|pair| Some(Spanned::new(span, pair)))
        .map_err(|values| {
            de::Error::invalid_length(values.len(), &"two numbers, the lower one first")
        })
}

/// `[[slices]]`
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SliceSection {
    /// The tag whose values make the slices.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub tag: Option<Spanned<String>>,
    /// The values that count; all of them by default.
    pub values: Option<Vec<String>>,
    /// The metrics that count, by name or pattern; all gated ones by default.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
    pub metrics: Option<Vec<Spanned<String>>>,
    /// Lowest allowed aggregate.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min: Option<Spanned<f64>>,
    /// Highest allowed aggregate.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max: Option<Spanned<f64>>,
    /// Largest allowed drop against the baseline.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_drop: Option<Spanned<Limit>>,
    /// Largest allowed rise of a lower-is-better metric.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Limit>"))]
    pub max_rise: Option<Spanned<Limit>>,
    /// A slice with fewer scored samples is shown and not judged. Default 5.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub min_samples: Option<Spanned<u64>>,
    /// `block` (default), `warn` or `off`.
    pub severity: Option<Severity>,
}

/// What to do where the two sides cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnIncomparable {
    /// Say that it cannot be decided.
    #[default]
    Undecided,
    /// Hold the results to the absolute limits alone, with a warning.
    Absolute,
}

/// A number of calls at once, or `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Found while running.
    Auto,
    /// At most this many.
    Fixed(u32),
}

impl<'de> Deserialize<'de> for Concurrency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ConcurrencyVisitor;
        impl de::Visitor<'_> for ConcurrencyVisitor {
            type Value = Concurrency;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number from 1 up, or \"auto\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Concurrency, E> {
                u32::try_from(number)
                    .ok()
                    .filter(|number| *number > 0)
                    .map(Concurrency::Fixed)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Concurrency, E> {
                match text {
                    "auto" => Ok(Concurrency::Auto),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(ConcurrencyVisitor)
    }
}

/// A length of time such as `"60s"` or `"2m"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration(pub std::time::Duration);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|span| std::time::Duration::try_from(span).ok())
            .filter(|span| !span.is_zero())
            .map(Duration)
            .ok_or_else(|| {
                de::Error::custom(format!(
                    "`{text}` is no length of time such as \"60s\" or \"2m\""
                ))
            })
    }
}

#[cfg(feature = "schema")]
mod schema {
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    impl JsonSchema for super::Concurrency {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Concurrency".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "auto"}]})
        }
    }

    impl JsonSchema for super::Duration {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Duration".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": "string", "examples": ["60s", "2m"]})
        }
    }
}
