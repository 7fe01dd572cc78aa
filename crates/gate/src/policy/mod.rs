//! gate.toml: the evaluation and the policy.
//!
//! [`Policy::parse`] reads the file and checks what can be checked without results; [`Policy::bind`] looks its names up
//! in results and baseline. Both point at the place in the file.

mod bind;
mod file;
mod types;

use std::ops::Range;

use indexmap::IndexMap;
use toml::Spanned;

pub use bind::{Bound, BoundMetric, BoundSlice, Placed, SliceLimits, Worse, matches};
pub use file::{
    Against, CacheMode, CacheSection, Concurrency, DatasetSection, Duration, GateFile, GateSection,
    JudgeSection, MatchBy, Measure, MetricSection, OnIncomparable, PriceSection, Require,
    ResponseFormat, RunsSection, SliceSection, TargetSection, VariantSection,
};
pub use types::{Direction, Limit, Rule, Severity};

use crate::stats::Aggregate;

/// `id` where gate.toml does not say it.
pub const DEFAULT_ID: &str = "rag-gate";
/// `max_drop` where gate.toml does not say it, for metrics with range [0, 1].
pub const DEFAULT_MAX_DROP: f64 = 0.03;
/// `max_failed` where gate.toml does not say it.
pub const DEFAULT_MAX_FAILED: f64 = 0.01;
/// `min_samples` where gate.toml does not say it.
pub const DEFAULT_MIN_SAMPLES: u64 = 1;
/// `min_samples` of a slice where gate.toml does not say it.
pub const DEFAULT_SLICE_MIN_SAMPLES: u64 = 5;
/// `min_overlap` where gate.toml does not say it.
pub const DEFAULT_MIN_OVERLAP: f64 = 0.5;
/// `confidence` where gate.toml does not say it.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;
/// `drift_window` where gate.toml does not say it.
pub const DEFAULT_DRIFT_WINDOW: u32 = 10;

/// gate.toml, read and checked.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    file: GateFile,
    /// Where the lines of the file begin, for the place of a limit.
    line_starts: Vec<usize>,
    /// False when there is no file and the defaults apply.
    is_file: bool,
}

/// What is wrong with gate.toml, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// What is wrong, in lower case.
    pub message: String,
    /// The bytes of the file that are wrong.
    pub span: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<String>,
}

impl std::fmt::Display for PolicyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PolicyError {}

impl PolicyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        PolicyError {
            message: message.into(),
            span: None,
            help: None,
        }
    }

    pub(crate) fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A slice's entry, checked.
#[derive(Debug, Clone)]
pub(crate) struct SlicePolicy<'a> {
    pub(crate) section: &'a SliceSection,
    pub(crate) span: Range<usize>,
}

impl Policy {
    /// Reads gate.toml.
    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        let file: GateFile = toml::from_str(text).map_err(|error| of_toml(&error))?;
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let policy = Policy {
            file,
            line_starts,
            is_file: true,
        };
        policy.check()?;
        Ok(policy)
    }

    /// The whole file.
    pub fn file(&self) -> &GateFile {
        &self.file
    }

    /// False when there is no gate.toml and the defaults apply.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Replaces the evaluation sections by another file's: the policy of a trusted base judges the evaluation of the
    /// change under test.
    #[must_use]
    pub fn with_evaluation_of(mut self, other: &Policy) -> Policy {
        let evaluation = other.file.clone();
        self.file.dataset = evaluation.dataset;
        self.file.target = evaluation.target;
        self.file.variants = evaluation.variants;
        self.file.judge = evaluation.judge;
        self.file.embeddings = evaluation.embeddings;
        self.file.cache = evaluation.cache;
        self.file.runs = evaluation.runs;
        self
    }

    /// Name of the gate.
    pub fn id(&self) -> &str {
        self.file
            .id
            .as_ref()
            .map_or(DEFAULT_ID, |id| id.get_ref().as_str())
    }

    /// The baseline's path as it is written.
    pub fn baseline(&self) -> Option<&str> {
        self.file.baseline.as_deref()
    }

    /// How a drop is judged.
    pub fn rule(&self) -> Rule {
        self.file.gate.rule.unwrap_or_default()
    }

    /// Confidence of intervals and tests.
    pub fn confidence(&self) -> f64 {
        number(self.file.gate.confidence.as_ref(), DEFAULT_CONFIDENCE)
    }

    /// Share of the baseline's samples that have to be scored again.
    pub fn min_overlap(&self) -> f64 {
        number(self.file.gate.min_overlap.as_ref(), DEFAULT_MIN_OVERLAP)
    }

    /// How many accepted baselines the drift rule looks back.
    pub fn drift_window(&self) -> u32 {
        number(self.file.gate.drift_window.as_ref(), DEFAULT_DRIFT_WINDOW)
    }

    /// What to do where the two sides cannot be compared.
    pub fn on_incomparable(&self) -> OnIncomparable {
        self.file.gate.on_incomparable.unwrap_or_default()
    }

    /// Names of the variants that `[[variants]]` lists; `None` when it lists none.
    pub(crate) fn variant_names(&self) -> Option<Vec<&str>> {
        let names: Vec<&str> = self
            .file
            .variants
            .iter()
            .map(|variant| variant.name.get_ref().as_str())
            .collect();
        (!names.is_empty()).then_some(names)
    }

    pub(crate) fn slices(&self) -> impl Iterator<Item = SlicePolicy<'_>> {
        self.file.slices.iter().map(|slice| SlicePolicy {
            section: slice.get_ref(),
            span: slice.span(),
        })
    }

    pub(crate) fn metrics(&self) -> Option<&IndexMap<Spanned<String>, MetricSection>> {
        self.file.metrics.as_ref()
    }

    /// Line of a place in the file, counted from 1.
    pub(crate) fn line(&self, span: &Range<usize>) -> Option<usize> {
        self.is_file.then(|| {
            self.line_starts
                .partition_point(|start| *start <= span.start)
        })
    }

    fn check(&self) -> Result<(), PolicyError> {
        let file = &self.file;
        if let Some(version) = &file.version
            && *version.get_ref() != 1
        {
            return Err(PolicyError::new(format!(
                "version {} of gate.toml is not known",
                version.get_ref()
            ))
            .at(version.span())
            .help("this rag-gate reads version 1; a newer one may read it"));
        }
        if let Some(id) = &file.id {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            if id.get_ref().is_empty()
                || id.get_ref().len() > 64
                || !id.get_ref().chars().all(is_name)
            {
                return Err(PolicyError::new(
                    "the id of a gate is 1 to 64 letters, digits, `.`, `_` or `-`",
                )
                .at(id.span()));
            }
        }
        self.check_evaluation()?;
        self.check_gate()?;
        match &file.metrics {
            Some(metrics) if metrics.is_empty() && file.slices.is_empty() => {
                return Err(PolicyError::new("[metrics] is empty: the policy gates nothing")
                    .help("name a metric, as in [metrics.faithfulness], or leave [metrics] out to gate all"));
            }
            Some(metrics)
                if file.slices.is_empty()
                    && metrics
                        .values()
                        .all(|metric| metric.severity == Some(Severity::Off)) =>
            {
                return Err(PolicyError::new(
                    "every metric has severity \"off\": the policy gates nothing",
                )
                .help("severity \"warn\" shows without blocking"));
            }
            _ => {}
        }
        for (name, metric) in file.metrics.iter().flatten() {
            check_metric(name, metric)?;
        }
        for slice in self.slices() {
            check_slice(&slice)?;
        }
        Ok(())
    }

    fn check_evaluation(&self) -> Result<(), PolicyError> {
        let file = &self.file;
        if let Some(target) = &file.target {
            let section = target.get_ref();
            if section.command.is_some() == section.url.is_some() {
                return Err(
                    PolicyError::new("[target] needs either `command` or `url`").at(target.span())
                );
            }
        }
        for judge in [&file.judge, &file.embeddings].into_iter().flatten() {
            if let Some(name) = &judge.api_key_env {
                let is_variable = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if name.get_ref().is_empty() || !name.get_ref().chars().all(is_variable) {
                    return Err(PolicyError::new("this is no name of an environment variable")
                        .at(name.span())
                        .help("api_key_env holds the variable's name, never the key: api_key_env = \"OPENAI_API_KEY\""));
                }
            }
            if let Some(temperature) = &judge.temperature
                && !(0.0..=2.0).contains(temperature.get_ref())
            {
                return Err(PolicyError::new("a temperature is a number from 0 to 2")
                    .at(temperature.span()));
            }
            check_judge(judge)?;
        }
        if let Some(pinned) = file
            .embeddings
            .as_ref()
            .and_then(|model| model.pinned.as_ref())
        {
            return Err(PolicyError::new("[embeddings] has no pinned answers")
                .at(pinned.span())
                .help("`pinned` stands in [judge]: an embedding model is a part of the metric's version"));
        }
        let mut names: Vec<&str> = Vec::new();
        for variant in &file.variants {
            let name = variant.name.get_ref().as_str();
            if name.is_empty() || names.contains(&name) {
                return Err(PolicyError::new(format!("two variants are named `{name}`"))
                    .at(variant.name.span())
                    .help("variants are told apart by their names"));
            }
            names.push(name);
        }
        Ok(())
    }

    fn check_gate(&self) -> Result<(), PolicyError> {
        let gate = &self.file.gate;
        share("max_failed", gate.max_failed.as_ref())?;
        share("min_overlap", gate.min_overlap.as_ref())?;
        if let Some(confidence) = &gate.confidence
            && !(*confidence.get_ref() > 0.5 && *confidence.get_ref() < 1.0)
        {
            return Err(
                PolicyError::new("confidence lies between 0.5 and 1, both excluded")
                    .at(confidence.span())
                    .help("0.95 blocks an unchanged rerun at most once in twenty"),
            );
        }
        if let Some(window) = &gate.drift_window
            && *window.get_ref() == 0
        {
            return Err(
                PolicyError::new("drift_window counts accepted baselines, from 1 up")
                    .at(window.span()),
            );
        }
        Ok(())
    }
}

fn check_metric(name: &Spanned<String>, metric: &MetricSection) -> Result<(), PolicyError> {
    if name.get_ref().is_empty() {
        return Err(PolicyError::new("a metric has no name").at(name.span()));
    }
    share("max_failed", metric.max_failed.as_ref())?;
    finite("min", metric.min.as_ref())?;
    finite("max", metric.max.as_ref())?;
    finite("pass_at", metric.pass_at.as_ref())?;
    contradiction(metric.min.as_ref(), metric.max.as_ref())?;
    if let (Some(_), Some(rise)) = (&metric.max_drop, &metric.max_rise) {
        return Err(PolicyError::new(
            "max_drop and max_rise contradict each other: a metric gets worse one way",
        )
        .at(rise.span())
        .help("max_drop for higher is better, max_rise for lower is better"));
    }
    if let Some(range) = &metric.range {
        let [low, high] = *range.get_ref();
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(
                PolicyError::new("a range is two numbers, the lower one first").at(range.span()),
            );
        }
    }
    if let Some(weights) = &metric.weights {
        let of = *weights.get_ref();
        if of.iter().any(|weight| !(0.0..=1.0).contains(weight)) || of.iter().sum::<f64>() <= 0.0 {
            return Err(
                PolicyError::new("weights are two numbers from 0 to 1, not both 0")
                    .at(weights.span()),
            );
        }
    }
    if let Some(command) = &metric.command
        && command
            .get_ref()
            .first()
            .is_none_or(|program| program.trim().is_empty())
    {
        return Err(PolicyError::new("the command is empty")
            .at(command.span())
            .help("a program and its arguments: command = [\"python\", \"metric.py\"]"));
    }
    if let Some(scale) = &metric.scale {
        let [low, high] = *scale.get_ref();
        if low >= high {
            return Err(
                PolicyError::new("a scale is two integers, the lower one first").at(scale.span()),
            );
        }
    }
    let aggregate = aggregate_of(metric)?;
    if let (Some(pass_at), false) = (
        &metric.pass_at,
        matches!(aggregate, Aggregate::PassRate { .. }),
    ) {
        return Err(
            PolicyError::new("pass_at is only for aggregate = \"pass_rate\"").at(pass_at.span()),
        );
    }
    Ok(())
}

fn check_judge(judge: &JudgeSection) -> Result<(), PolicyError> {
    for (key, number) in [
        ("max_tokens", &judge.max_tokens),
        ("rpm", &judge.rpm),
        ("tpm", &judge.tpm),
    ] {
        if let Some(number) = number
            && *number.get_ref() == 0
        {
            return Err(PolicyError::new(format!("{key} is a number from 1 up")).at(number.span()));
        }
    }
    if let Some(sigma) = &judge.latency_sigma
        && !(0.0..=10.0).contains(sigma.get_ref())
    {
        return Err(PolicyError::new("latency_sigma is a number from 0 to 10").at(sigma.span()));
    }
    let prices = judge
        .price
        .iter()
        .flat_map(|price| [price.prompt, price.completion]);
    if let Some(price) = prices
        .flatten()
        .find(|price| !(price.is_finite() && *price >= 0.0))
    {
        return Err(
            PolicyError::new(format!("a price is a number from 0 up, not {price}"))
                .help("[judge.price] has US dollars for a million tokens"),
        );
    }
    Ok(())
}

fn check_slice(slice: &SlicePolicy<'_>) -> Result<(), PolicyError> {
    let section = slice.section;
    match &section.tag {
        None => {
            return Err(PolicyError::new("the slice has no `tag`")
                .at(slice.span.clone())
                .help("tag = \"lang\" makes a slice of each language"));
        }
        Some(tag) if tag.get_ref().is_empty() => {
            return Err(PolicyError::new("the slice's tag is empty").at(tag.span()));
        }
        Some(_) => {}
    }
    finite("min", section.min.as_ref())?;
    finite("max", section.max.as_ref())?;
    contradiction(section.min.as_ref(), section.max.as_ref())?;
    let limits = [
        section.min.is_some(),
        section.max.is_some(),
        section.max_drop.is_some(),
        section.max_rise.is_some(),
    ];
    if !limits.contains(&true) {
        return Err(PolicyError::new("the slice has no limit: it gates nothing")
            .at(slice.span.clone())
            .help(
                "slices have the limits of their own entry alone: min, max, max_drop or max_rise",
            ));
    }
    Ok(())
}

/// The aggregate that a metric's entry asks for.
pub(crate) fn aggregate_of(metric: &MetricSection) -> Result<Aggregate, PolicyError> {
    const NAMES: [&str; 13] = [
        "mean",
        "median",
        "p5",
        "p10",
        "p25",
        "p75",
        "p90",
        "p95",
        "p99",
        "min",
        "max",
        "pass_rate",
        "p50",
    ];
    let Some(name) = &metric.aggregate else {
        return Ok(Aggregate::Mean);
    };
    Ok(match name.get_ref().as_str() {
        "mean" => Aggregate::Mean,
        "median" | "p50" => Aggregate::Median,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        "pass_rate" => match &metric.pass_at {
            Some(at) => Aggregate::PassRate {
                at: *at.get_ref(),
                direction: metric.direction.unwrap_or_default(),
            },
            None => {
                return Err(
                    PolicyError::new("aggregate = \"pass_rate\" needs `pass_at`")
                        .at(name.span())
                        .help("pass_at = 0.5 counts the samples that score 0.5 or better"),
                );
            }
        },
        other => {
            let percent = other
                .strip_prefix('p')
                .and_then(|percent| percent.parse::<u8>().ok())
                .filter(|percent| [5, 10, 25, 75, 90, 95, 99].contains(percent));
            match percent {
                Some(percent) => Aggregate::Percentile(percent),
                None => {
                    return Err(PolicyError::new(format!("`{other}` is no aggregate"))
                        .at(name.span())
                        .help(suggestion(other, NAMES[..12].iter().copied(), "one of")));
                }
            }
        }
    })
}

fn share(key: &str, value: Option<&Spanned<f64>>) -> Result<(), PolicyError> {
    match value {
        Some(share) if !(0.0..=1.0).contains(share.get_ref()) => {
            Err(PolicyError::new(format!("{key} is a share from 0 to 1")).at(share.span()))
        }
        _ => Ok(()),
    }
}

fn finite(key: &str, value: Option<&Spanned<f64>>) -> Result<(), PolicyError> {
    match value {
        Some(number) if !number.get_ref().is_finite() => {
            Err(PolicyError::new(format!("{key} is not a finite number")).at(number.span()))
        }
        _ => Ok(()),
    }
}

fn contradiction(
    min: Option<&Spanned<f64>>,
    max: Option<&Spanned<f64>>,
) -> Result<(), PolicyError> {
    match (min, max) {
        (Some(min), Some(max)) if min.get_ref() > max.get_ref() => Err(PolicyError::new(format!(
            "min {} is above max {}: nothing can pass",
            min.get_ref(),
            max.get_ref()
        ))
        .at(min.span())),
        _ => Ok(()),
    }
}

fn number<T: Copy>(value: Option<&Spanned<T>>, default: T) -> T {
    value.map_or(default, |value| *value.get_ref())
}

/// "did you mean `…`?" for the nearest of `names`, or the list of them.
pub(crate) fn suggestion<'a>(
    wrong: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    list_as: &str,
) -> String {
    match nearest(wrong, names.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("{list_as} {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// The name that a person most likely meant; `None` when none is near.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (likeness(wrong, name), name))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

/// How alike two names are, from 0 to 1. Short names with two letters exchanged are alike, whatever their beginning.
fn likeness(wrong: &str, name: &str) -> f64 {
    match strsim::osa_distance(wrong, name) {
        0 | 1 => 1.0,
        _ => strsim::jaro_winkler(wrong, name),
    }
}

/// A metric's name as a key of gate.toml: quoted where TOML asks for it.
pub fn toml_key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        toml::Value::String(name.to_owned()).to_string()
    }
}

/// serde's words for a type, in those of a person.
fn of_type(words: &str) -> &str {
    match words {
        "f64" => "a number",
        "u32" | "u64" | "i64" => "a whole number",
        "a boolean" => "true or false",
        "a map" => "a table",
        "a sequence" => "a list",
        "an array of length 2" => "a list of two numbers",
        words if words.starts_with("struct ") => "a table",
        words => words,
    }
}

/// toml's error in the words of this file; serde lists the valid names in backticks.
fn of_toml(error: &toml::de::Error) -> PolicyError {
    let message = error.message().trim_end_matches('\n');
    let mut result = PolicyError::new(message);
    result.span = error.span();
    if let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        result.message = format!("expected {}, found {found}", of_type(expected));
        if found.starts_with("string") && of_type(expected).ends_with("number") {
            result.help = Some("write the number without quotes".to_owned());
        }
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    for (found, said) in [
        ("unknown field ", "unknown key"),
        ("unknown variant ", "unknown value"),
    ] {
        if message.starts_with(found) {
            if let Some(wrong) = quoted.next() {
                result.message = format!("{said} `{wrong}`");
                let names: Vec<&str> = quoted.collect();
                result.help = Some(suggestion(wrong, names.iter().copied(), "known are"));
            }
            break;
        }
    }
    result
}
