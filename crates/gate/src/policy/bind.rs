//! Looks the names of the policy up in results and baseline: which metrics are gated, by what.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use wildmatch::WildMatch;

use super::file::MetricSection;
use super::{
    DEFAULT_MAX_DROP, DEFAULT_MAX_FAILED, DEFAULT_MIN_SAMPLES, DEFAULT_SLICE_MIN_SAMPLES,
    Direction, Limit, Policy, PolicyError, Severity, SlicePolicy, aggregate_of, number, suggestion,
};
use crate::known;
use crate::results::{ReadError, Results, Samples};
use crate::stats::Aggregate;

/// The policy, applied to the names in results and baseline.
#[derive(Debug, Clone, Default)]
pub struct Bound {
    /// The gated metrics, in the order of gate.toml.
    pub metrics: Vec<BoundMetric>,
    /// The slices, in the order of gate.toml.
    pub slices: Vec<BoundSlice>,
    /// Metrics whose direction nobody states.
    pub assumed: Vec<String>,
    /// Metrics of the baseline that are gone from the results and that the policy does not name.
    pub gone: Vec<String>,
}

impl Bound {
    /// Refuses a file with a score outside the metric's range, where the file does not state a range itself.
    pub fn check_ranges(&self, results: &Results) -> Result<(), ReadError> {
        for metric in &self.metrics {
            let states_one = results
                .metric_info(&metric.name)
                .is_some_and(|info| info.range.is_some());
            let range = metric
                .policy_range
                .or(metric.known_range.filter(|_| !states_one));
            if let Some(range) = range {
                results.check_range(&metric.name, range)?;
            }
        }
        Ok(())
    }
}

/// A value of the policy and its line in gate.toml.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its line; `None` for a default.
    pub line: Option<usize>,
}

/// How much worse than the baseline is allowed.
pub type Worse = Option<Placed<Limit>>;

/// One gated metric.
#[derive(Debug, Clone)]
pub struct BoundMetric {
    /// Its name.
    pub name: String,
    /// Which way its aggregate is better.
    pub direction: Direction,
    /// Which way its scores are better: another one than `direction` only for the pass rate of a lower-is-better metric.
    pub scores: Direction,
    /// Lowest and highest score, when known.
    pub range: Option<[f64; 2]>,
    /// The range by gate.toml, which no score of any file may leave.
    pub policy_range: Option<[f64; 2]>,
    /// The range by the metric's name, which no score may leave in a file that does not state a range itself.
    pub known_range: Option<[f64; 2]>,
    /// How its scores become one number.
    pub aggregate: Aggregate,
    /// Lowest allowed aggregate.
    pub min: Option<Placed<f64>>,
    /// Highest allowed aggregate.
    pub max: Option<Placed<f64>>,
    /// Largest allowed drop or rise.
    pub worse: Worse,
    /// Largest allowed sum of accepted changes.
    pub drift: Worse,
    /// Share of the applicable samples that may end without a score.
    pub max_failed: f64,
    /// Fewest scored samples that decide.
    pub min_samples: u64,
    /// What a violation does.
    pub severity: Severity,
    /// True when a judge scores it.
    pub judged: bool,
    /// False for a metric that only a slice names.
    pub overall: bool,
    /// Line of its entry.
    pub line: Option<usize>,
}

/// One `[[slices]]` entry.
#[derive(Debug, Clone)]
pub struct BoundSlice {
    /// The tag.
    pub tag: String,
    /// The values that count; `None` for all.
    pub values: Option<Vec<String>>,
    /// Its metrics, as indices of [`Bound::metrics`], with the limits that apply to each.
    pub metrics: Vec<(usize, SliceLimits)>,
    /// Fewest scored samples that decide.
    pub min_samples: u64,
    /// What a violation does.
    pub severity: Severity,
    /// Line of its entry.
    pub line: Option<usize>,
}

/// The limits of one metric in a slice.
#[derive(Debug, Clone, Copy, Default)]
pub struct SliceLimits {
    /// Lowest allowed aggregate.
    pub min: Option<Placed<f64>>,
    /// Highest allowed aggregate.
    pub max: Option<Placed<f64>>,
    /// Largest allowed drop or rise.
    pub worse: Worse,
}

/// The range for which the default limits hold.
const UNIT: Option<[f64; 2]> = Some([0.0, 1.0]);

/// An entry of `[metrics]`, as far as it decides which names it means.
struct Entry<'a> {
    name: &'a Spanned<String>,
    section: &'a MetricSection,
    pattern: Option<WildMatch>,
}

impl Entry<'_> {
    fn matches(&self, metric: &str) -> bool {
        match &self.pattern {
            None => self.name.get_ref() == metric,
            Some(pattern) => pattern.matches(metric),
        }
    }

    /// An exact name beats every pattern, more literal characters beat fewer.
    fn specificity(&self) -> usize {
        match self.pattern {
            None => usize::MAX,
            Some(_) => self
                .name
                .get_ref()
                .chars()
                .filter(|c| !matches!(c, '*' | '?'))
                .count(),
        }
    }
}

impl Policy {
    /// Looks the policy's names up.
    ///
    /// A name that is in neither file and that rag-gate does not know is a typing error; so is a limit that contradicts
    /// the metric's direction or range, and a policy that gates nothing.
    pub fn bind(
        &self,
        results: &Results,
        baseline: Option<&Results>,
    ) -> Result<Bound, PolicyError> {
        let binder = Binder {
            policy: self,
            results,
            baseline,
            names: names_of(results, baseline),
        };
        let bound = binder.bind()?;
        binder.gates_something(&bound)?;
        Ok(bound)
    }

    /// As [`Policy::bind`], for a comparison that gates nothing.
    pub fn bind_all(
        &self,
        results: &Results,
        baseline: Option<&Results>,
    ) -> Result<Bound, PolicyError> {
        Binder {
            policy: self,
            results,
            baseline,
            names: names_of(results, baseline),
        }
        .bind()
    }
}

/// True when a name or pattern of a policy means a metric.
pub fn matches(pattern: &str, metric: &str) -> bool {
    WildMatch::new(pattern).matches(metric)
}

struct Binder<'a> {
    policy: &'a Policy,
    results: &'a Results,
    baseline: Option<&'a Results>,
    /// Metrics of results and baseline.
    names: Vec<String>,
}

impl Binder<'_> {
    fn bind(&self) -> Result<Bound, PolicyError> {
        let mut bound = Bound::default();
        match self.policy.metrics() {
            None => {
                let default = MetricSection::default();
                for name in &self.names {
                    let metric = self.metric(&mut bound, name, &default, None)?;
                    bound.metrics.push(metric);
                }
            }
            Some(metrics) => {
                let entries: Vec<Entry<'_>> = metrics
                    .iter()
                    .map(|(name, section)| Entry {
                        name,
                        section,
                        pattern: name
                            .get_ref()
                            .contains(['*', '?'])
                            .then(|| WildMatch::new(name.get_ref())),
                    })
                    .collect();
                for entry in &entries {
                    self.entry(&mut bound, entry, &entries)?;
                }
                for name in &self.names {
                    let in_results = self.results.metric_names().contains(&name.as_str());
                    if !in_results && !bound.metrics.iter().any(|metric| metric.name == *name) {
                        bound.gone.push(name.clone());
                    }
                }
            }
        }
        for slice in self.policy.slices() {
            let slice = self.slice(&mut bound, &slice)?;
            bound.slices.push(slice);
        }
        Ok(bound)
    }

    /// The metrics that one entry of `[metrics]` means.
    fn entry(
        &self,
        bound: &mut Bound,
        entry: &Entry<'_>,
        entries: &[Entry<'_>],
    ) -> Result<(), PolicyError> {
        let name = entry.name.get_ref();
        if entry.pattern.is_none() {
            let known = self.names.contains(name)
                || known::find(name).is_some()
                || entry.section.kind.is_some();
            if !known {
                return Err(self.unknown(entry.name));
            }
            let metric = self.metric(bound, name, entry.section, Some(entry.name.span()))?;
            bound.metrics.push(metric);
            return Ok(());
        }
        let matching: Vec<&String> = self
            .names
            .iter()
            .filter(|metric| entry.matches(metric))
            .collect();
        if matching.is_empty() && !known::KNOWN.iter().any(|known| entry.matches(known.name)) {
            return Err(self.unknown(entry.name));
        }
        for metric in matching {
            let best = entries
                .iter()
                .filter(|other| other.matches(metric))
                .max_by(|a, b| {
                    // Of two equally specific ones the first in the file counts.
                    a.specificity()
                        .cmp(&b.specificity())
                        .then(std::cmp::Ordering::Greater)
                });
            if best.is_some_and(|best| best.name.get_ref() == name) {
                let metric = self.metric(bound, metric, entry.section, Some(entry.name.span()))?;
                bound.metrics.push(metric);
            }
        }
        Ok(())
    }

    fn unknown(&self, name: &Spanned<String>) -> PolicyError {
        let candidates: Vec<&str> = self
            .names
            .iter()
            .map(String::as_str)
            .chain(known::KNOWN.iter().map(|known| known.name))
            .collect();
        let help = match super::nearest(name.get_ref(), candidates.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the files measure {}", self.names.join(", ")),
        };
        PolicyError::new(format!(
            "no metric `{}` in results, baseline or the list of known metrics",
            name.get_ref()
        ))
        .at(name.span())
        .help(help)
    }

    fn metric(
        &self,
        bound: &mut Bound,
        name: &str,
        section: &MetricSection,
        span: Option<Range<usize>>,
    ) -> Result<BoundMetric, PolicyError> {
        let gate = &self.policy.file().gate;
        let info = self.results.metric_info(name);
        let before = self
            .baseline
            .and_then(|baseline| baseline.metric_info(name));
        let known = known::find(name);
        let stated = section
            .direction
            .or_else(|| info?.direction)
            .or_else(|| before?.direction)
            .or_else(|| known.map(|known| known.direction));
        if stated.is_none() {
            bound.assumed.push(name.to_owned());
        }
        let stated = stated.unwrap_or_default();
        let (aggregate, direction, range) = match aggregate_of(section)? {
            // A share of samples that pass: higher is better, whatever the metric.
            Aggregate::PassRate { at, .. } => (
                Aggregate::PassRate {
                    at,
                    direction: stated,
                },
                Direction::Higher,
                Some([0.0, 1.0]),
            ),
            aggregate => (
                aggregate,
                stated,
                section
                    .range
                    .as_ref()
                    .map(|range| *range.get_ref())
                    .or_else(|| info?.range)
                    .or_else(|| known?.range)
                    .or_else(|| before?.range),
            ),
        };
        // Results on another scale than the baseline's are incomparable; they must not switch the limit off.
        let was_unit = section.range.is_none() && before.and_then(|info| info.range) == UNIT;
        let is_unit = range == UNIT || was_unit;
        let default = |limit: Option<&Spanned<Limit>>| {
            limit
                .map(|limit| self.placed_limit(limit))
                .filter(|_| is_unit)
        };
        let worse = match (direction, &section.max_drop, &section.max_rise) {
            (Direction::Lower, Some(drop), _) => {
                return Err(wrong_way(drop, "max_drop", "max_rise", name, direction));
            }
            (Direction::Higher, _, Some(rise)) => {
                return Err(wrong_way(rise, "max_rise", "max_drop", name, direction));
            }
            (_, Some(limit), _) | (_, _, Some(limit)) => Some(self.placed_limit(limit)),
            (_, None, None) => default(gate.max_drop.as_ref()).or_else(|| {
                (is_unit && gate.max_drop.is_none()).then_some(Placed {
                    value: Limit::Points(DEFAULT_MAX_DROP),
                    line: None,
                })
            }),
        };
        let metric = BoundMetric {
            name: name.to_owned(),
            direction,
            scores: stated,
            range,
            policy_range: section.range.as_ref().map(|range| *range.get_ref()),
            known_range: known.and_then(|known| known.range),
            aggregate,
            min: section.min.as_ref().map(|min| self.placed(min)),
            max: section.max.as_ref().map(|max| self.placed(max)),
            worse,
            drift: match &section.max_drift {
                Some(limit) => Some(self.placed_limit(limit)),
                None => default(gate.max_drift.as_ref()),
            },
            max_failed: number(
                section.max_failed.as_ref().or(gate.max_failed.as_ref()),
                DEFAULT_MAX_FAILED,
            ),
            min_samples: number(
                section.min_samples.as_ref().or(gate.min_samples.as_ref()),
                DEFAULT_MIN_SAMPLES,
            ),
            severity: section.severity.unwrap_or_default(),
            judged: self.is_judged(name, section),
            overall: true,
            line: span.and_then(|span| self.policy.line(&span)),
        };
        satisfiable(&metric, section.min.as_ref(), section.max.as_ref())?;
        let relative = [
            ("max_drop", &section.max_drop),
            ("max_rise", &section.max_rise),
            ("max_drift", &section.max_drift),
        ];
        for (key, limit) in relative {
            exceedable(&metric, key, limit.as_ref())?;
        }
        Ok(metric)
    }

    /// True when another judge would make another metric; what nobody knows is taken for judged.
    fn is_judged(&self, name: &str, section: &MetricSection) -> bool {
        let has_prompt = |results: &Results| {
            results
                .metric_info(name)
                .is_some_and(|info| info.prompt_sha256.is_some())
        };
        section.kind.is_some()
            || has_prompt(self.results)
            || self.baseline.is_some_and(has_prompt)
            || known::find(name).is_none_or(|known| known.judged)
    }

    fn slice(&self, bound: &mut Bound, slice: &SlicePolicy<'_>) -> Result<BoundSlice, PolicyError> {
        let section = slice.section;
        let Some(tag) = &section.tag else {
            return Err(PolicyError::new("the slice has no `tag`").at(slice.span.clone()));
        };
        self.check_tag(tag)?;
        let mut metrics = Vec::new();
        match &section.metrics {
            None => {
                for (at, metric) in bound.metrics.iter().enumerate() {
                    if metric.overall && metric.severity != Severity::Off {
                        let higher = metric.direction == Direction::Higher;
                        let limits = SliceLimits {
                            min: section
                                .min
                                .as_ref()
                                .filter(|_| higher)
                                .map(|min| self.placed(min)),
                            max: section
                                .max
                                .as_ref()
                                .filter(|_| !higher)
                                .map(|max| self.placed(max)),
                            worse: if higher {
                                &section.max_drop
                            } else {
                                &section.max_rise
                            }
                            .as_ref()
                            .map(|limit| self.placed_limit(limit)),
                        };
                        if limits.min.is_some() || limits.max.is_some() || limits.worse.is_some() {
                            satisfiable(metric, section.min.as_ref(), section.max.as_ref())?;
                            exceedable(metric, "max_drop", section.max_drop.as_ref())?;
                            exceedable(metric, "max_rise", section.max_rise.as_ref())?;
                            metrics.push((at, limits));
                        }
                    }
                }
            }
            Some(names) => {
                for name in names {
                    for at in self.slice_metrics(bound, name)? {
                        let limits = self.slice_limits(bound.metrics.get(at), section)?;
                        if !metrics.iter().any(|(known, _)| *known == at) {
                            metrics.push((at, limits));
                        }
                    }
                }
            }
        }
        Ok(BoundSlice {
            tag: tag.get_ref().clone(),
            values: section.values.clone(),
            metrics,
            min_samples: number(section.min_samples.as_ref(), DEFAULT_SLICE_MIN_SAMPLES),
            severity: section.severity.unwrap_or_default(),
            line: self.policy.line(&slice.span),
        })
    }

    /// A tag that no sample has is a typing error; files without samples have no tags to know.
    fn check_tag(&self, tag: &Spanned<String>) -> Result<(), PolicyError> {
        let sides = [Some(self.results), self.baseline];
        let samples = || sides.into_iter().flatten().filter_map(Results::samples);
        let tags: Vec<&str> = samples().flat_map(Samples::tags).collect();
        let known = tags.contains(&tag.get_ref().as_str());
        if known || samples().all(Samples::is_empty) {
            return Ok(());
        }
        let help = match tags.is_empty() {
            true => "the samples have no `tags`".to_owned(),
            false => suggestion(tag.get_ref(), tags.iter().copied(), "the samples have"),
        };
        Err(
            PolicyError::new(format!("no sample has the tag `{}`", tag.get_ref()))
                .at(tag.span())
                .help(help),
        )
    }

    /// The metrics that a slice's name or pattern means; one that is not gated overall is added for the slice alone.
    fn slice_metrics(
        &self,
        bound: &mut Bound,
        name: &Spanned<String>,
    ) -> Result<Vec<usize>, PolicyError> {
        let pattern = WildMatch::new(name.get_ref());
        let found: Vec<usize> = bound
            .metrics
            .iter()
            .enumerate()
            .filter(|(_, metric)| pattern.matches(&metric.name))
            .map(|(at, _)| at)
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut added = Vec::new();
        for metric in self.names.iter().filter(|metric| pattern.matches(metric)) {
            let mut metric = self.metric(bound, metric, &MetricSection::default(), None)?;
            metric.overall = false;
            added.push(bound.metrics.len());
            bound.metrics.push(metric);
        }
        if added.is_empty() && known::find(name.get_ref()).is_none() {
            return Err(self.unknown(name));
        }
        Ok(added)
    }

    fn slice_limits(
        &self,
        metric: Option<&BoundMetric>,
        section: &super::SliceSection,
    ) -> Result<SliceLimits, PolicyError> {
        let Some(metric) = metric else {
            return Ok(SliceLimits::default());
        };
        satisfiable(metric, section.min.as_ref(), section.max.as_ref())?;
        exceedable(metric, "max_drop", section.max_drop.as_ref())?;
        exceedable(metric, "max_rise", section.max_rise.as_ref())?;
        let worse = match (metric.direction, &section.max_drop, &section.max_rise) {
            (Direction::Lower, Some(drop), None) => {
                return Err(wrong_way(
                    drop,
                    "max_drop",
                    "max_rise",
                    &metric.name,
                    metric.direction,
                ));
            }
            (Direction::Higher, None, Some(rise)) => {
                return Err(wrong_way(
                    rise,
                    "max_rise",
                    "max_drop",
                    &metric.name,
                    metric.direction,
                ));
            }
            (Direction::Higher, drop, _) => drop,
            (Direction::Lower, _, rise) => rise,
        };
        Ok(SliceLimits {
            min: section.min.as_ref().map(|min| self.placed(min)),
            max: section.max.as_ref().map(|max| self.placed(max)),
            worse: worse.as_ref().map(|limit| self.placed_limit(limit)),
        })
    }

    fn gates_something(&self, bound: &Bound) -> Result<(), PolicyError> {
        let limits = |metric: &BoundMetric| {
            metric.overall
                && metric.severity != Severity::Off
                && (metric.min.is_some()
                    || metric.max.is_some()
                    || metric.worse.is_some()
                    || metric.drift.is_some())
        };
        if bound.metrics.iter().any(limits) || !bound.slices.is_empty() || self.names.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = bound
            .metrics
            .iter()
            .map(|metric| metric.name.as_str())
            .collect();
        let first = names.first().copied().unwrap_or("faithfulness");
        Err(PolicyError::new(format!(
            "the policy gates nothing: no limit applies to {}",
            names.join(", ")
        ))
        .help(format!(
            "the default max_drop holds for metrics with range [0, 1]; give a limit or the range in gate.toml: [metrics.{}] range = [0, 1]",
            super::toml_key(first)
        )))
    }

    fn placed<T: Copy>(&self, value: &Spanned<T>) -> Placed<T> {
        Placed {
            value: *value.get_ref(),
            line: self.policy.line(&value.span()),
        }
    }

    fn placed_limit(&self, limit: &Spanned<Limit>) -> Placed<Limit> {
        self.placed(limit)
    }
}

/// Names of all metrics that a file measures or declares, sorted: the order of a file changes nothing.
fn names_of(results: &Results, baseline: Option<&Results>) -> Vec<String> {
    let names: BTreeSet<&str> = [Some(results), baseline]
        .into_iter()
        .flatten()
        .flat_map(|side| {
            let declared = side.run.metrics.iter().flatten();
            let declared = declared.map(|(name, _)| name.as_str());
            side.metric_names().into_iter().chain(declared)
        })
        .collect();
    names.into_iter().map(str::to_owned).collect()
}

fn wrong_way(
    limit: &Spanned<Limit>,
    key: &str,
    instead: &str,
    metric: &str,
    direction: Direction,
) -> PolicyError {
    PolicyError::new(format!(
        "`{key}` on `{metric}`, for which {direction} is better"
    ))
    .at(limit.span())
    .help(format!(
        "write `{instead}`, or set `direction` if the metric is better the other way"
    ))
}

/// Refuses an allowed change that is larger than the metric's range, such as `max_drop = 3`: it could never block.
fn exceedable(
    metric: &BoundMetric,
    key: &str,
    limit: Option<&Spanned<Limit>>,
) -> Result<(), PolicyError> {
    let (Some([low, high]), Some(limit)) = (metric.range, limit) else {
        return Ok(());
    };
    match limit.get_ref() {
        Limit::Points(points) if *points > high - low => Err(PolicyError::new(format!(
            "`{key} = {points}` on `{}`, whose range is [{low}, {high}]: nothing could exceed it",
            metric.name
        ))
        .at(limit.span())
        .help(format!(
            "points are those of the metric: {}; or a share of the baseline: \"{points}%\"",
            points / 100.0
        ))),
        _ => Ok(()),
    }
}

/// Refuses a limit that no score can meet, such as `min = 80` for a metric from 0 to 1.
fn satisfiable(
    metric: &BoundMetric,
    min: Option<&Spanned<f64>>,
    max: Option<&Spanned<f64>>,
) -> Result<(), PolicyError> {
    let Some([low, high]) = metric.range else {
        return Ok(());
    };
    let beyond = |limit: &Spanned<f64>, key: &str| {
        PolicyError::new(format!(
            "`{key} = {}` on `{}`, whose range is [{low}, {high}]: nothing can pass",
            limit.get_ref(),
            metric.name
        ))
        .at(limit.span())
        .help("write the limit on the metric's own scale, or its `range` if it has another")
    };
    match (min, max) {
        (Some(min), _) if *min.get_ref() > high => Err(beyond(min, "min")),
        (_, Some(max)) if *max.get_ref() < low => Err(beyond(max, "max")),
        _ => Ok(()),
    }
}
