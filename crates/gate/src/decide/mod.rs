//! The decision, in three passes: measure every row, correct the tests as a family, judge.
//!
//! ```text
//! (metric, variant, slice) ─▶ Case: counts, absolute limits, Relative ─▶ Holm over all Relatives ─▶ reasons ─▶ Verdict
//! ```

mod case;
mod drift;
mod members;
mod relative;
mod samples;
mod sentence;

use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use serde_json::Value;

use crate::json::sorted;

use crate::comparability::Comparison;
use crate::history::HistoryLine;
use crate::measure::Units;
use crate::number;
use crate::pairing::Pairing;
use crate::policy::{Bound, BoundMetric, OnIncomparable, Policy, Rule, Severity};
use crate::results::{Results, Samples};
use crate::stats;
use crate::verdict::{
    Code, MetricRow, Outcome, PolicySource, Provenance, Reason, SCHEMA, SampleCounts, Status,
    Verdict,
};

use case::{Case, RowLimits, Sides};
use relative::Relative;

/// All that the decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The policy's names, looked up in these results and this baseline.
    pub bound: &'a Bound,
    /// What was measured.
    pub results: &'a Results,
    /// What was accepted; `None` applies the absolute limits alone.
    pub baseline: Option<&'a Results>,
    /// The accepted baselines, oldest first; `None` when there is no history.
    pub history: Option<&'a [HistoryLine]>,
}

/// One variant with its samples on both sides, paired.
pub(crate) struct Variant<'a> {
    pub(crate) name: Option<&'a str>,
    /// False when gate.toml no longer lists it: that it is gone from the results is meant.
    pub(crate) expected: bool,
    /// True when there is a baseline and it does not know the variant.
    pub(crate) is_new: bool,
    pub(crate) now: Option<Units<'a>>,
    pub(crate) before: Option<Units<'a>>,
    pub(crate) pairing: Option<Pairing>,
}

/// So many doubts of a run are repeated.
const RUN_WARNINGS: usize = 50;
/// So many small slices of a tag are warned about one by one.
const SMALL_SLICES: usize = 5;

/// Reasons as they come up; severity decides where each of them goes.
#[derive(Default)]
pub(crate) struct Findings {
    reasons: Vec<Reason>,
    warnings: Vec<Reason>,
    /// Slices with too few scores, by tag: a tag with many values has many of them.
    small: IndexMap<String, Vec<Reason>>,
    blocked: bool,
    undecided: bool,
}

impl Findings {
    pub(crate) fn warn(&mut self, reason: Reason) {
        self.warnings.push(reason);
    }

    /// Files the warning that a slice is too small to be judged.
    pub(crate) fn warn_small(&mut self, reason: Reason) {
        let slice = reason.slice.as_deref().unwrap_or_default();
        let tag = slice.split_once('=').map_or(slice, |(tag, _)| tag);
        self.small.entry(tag.to_owned()).or_default().push(reason);
    }

    /// All warnings, with one for all the small slices of a tag when there are many.
    fn warnings(mut self) -> (Vec<Reason>, Vec<Reason>) {
        for (tag, mut small) in self.small {
            if small.len() > SMALL_SLICES {
                let named: Vec<&str> = small
                    .iter()
                    .filter_map(|reason| reason.slice.as_deref())
                    .take(SMALL_SLICES)
                    .collect();
                let message = format!(
                    "{} rows of slices by {tag} have too few scores: shown, not judged ({}, …)",
                    small.len(),
                    named.join(", ")
                );
                small = vec![reason(Code::SmallSlice, message)];
            }
            self.warnings.extend(small);
        }
        (self.reasons, self.warnings)
    }

    /// Files a reason under its severity, and says which status the row gets from it.
    pub(crate) fn judge(&mut self, reason: Reason, severity: Severity) -> Status {
        match severity {
            Severity::Off => Status::Off,
            Severity::Warn => {
                self.warnings.push(reason);
                Status::Warn
            }
            Severity::Block if blocks(reason.code) => {
                self.blocked = true;
                self.reasons.push(reason);
                Status::Block
            }
            Severity::Block => {
                self.undecided = true;
                self.reasons.push(reason);
                Status::Undecided
            }
        }
    }
}

fn blocks(code: Code) -> bool {
    matches!(
        code,
        Code::BelowMinimum | Code::AboveMaximum | Code::Regression | Code::Drift
    )
}

/// A reason about a metric, or about the run where there is none.
pub(crate) fn reason(code: Code, message: impl Into<String>) -> Reason {
    Reason {
        code,
        metric: None,
        variant: None,
        slice: None,
        message: message.into(),
        pending: false,
        policy_line: None,
        numbers: IndexMap::new(),
    }
}

/// Applies every rule of the policy and collects every reason. Total: whatever the inputs, there is a verdict.
pub fn decide(inputs: Inputs<'_>) -> Verdict {
    let variants = variants_of(&inputs);
    let mut findings = Findings::default();
    about_the_run(&inputs, &variants, &mut findings);
    what_the_run_says(&inputs, &mut findings);
    let comparisons = comparisons(&inputs);
    let mut cases = cases_of(&inputs, &variants, &comparisons, &mut findings);
    correct_as_a_family(&mut cases);
    for case in &mut cases {
        case.judge(&inputs, &mut findings);
    }
    about_names(&inputs, &variants, &comparisons, &mut findings);
    let outcome = match (findings.blocked, findings.undecided) {
        (true, _) => Outcome::Block,
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Pass,
    };
    let worst_samples = samples::worst(&cases);
    let failed_samples = samples::failed(&cases);
    let rows = in_reading_order(cases);
    let (reasons, warnings) = findings.warnings();
    Verdict {
        schema: SCHEMA.to_owned(),
        tool: crate::VERSION.to_owned(),
        gate_id: inputs.policy.id().to_owned(),
        outcome,
        exit_code: outcome.exit_code(),
        summary: sentence::summary(outcome, &rows, &reasons),
        reasons,
        warnings,
        metrics: rows,
        worst_samples,
        failed_samples,
        base: None,
        samples: sample_counts(&variants),
        usage: inputs.results.usage.as_ref().map(sorted),
        policy: PolicySource {
            path: None,
            rule: inputs.policy.rule(),
            confidence: inputs.policy.confidence(),
            seed: stats::SEED,
            draws: stats::DRAWS,
        },
        provenance: provenance(&inputs, &comparisons),
    }
}

/// The variants of both sides, those of the results first.
fn variants_of<'a>(inputs: &Inputs<'a>) -> Vec<Variant<'a>> {
    let mut names = inputs.results.variants();
    let known = names.len();
    for name in inputs
        .baseline
        .iter()
        .flat_map(|baseline| baseline.variants())
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let listed = inputs.policy.variant_names();
    // A variant that gate.toml lists has to be measured; a single one may go without a name.
    for name in listed.iter().flatten() {
        let is_unnamed = listed.as_ref().is_some_and(|listed| listed.len() == 1)
            && inputs.results.variants() == [None];
        if !names.contains(&Some(name)) && !is_unnamed {
            names.push(Some(name));
        }
    }
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            let units = |side: &'a Results| Some(Units::of(side.samples()?, name));
            let now = units(inputs.results);
            let before = inputs.baseline.and_then(units);
            let pairing = match (&now, &before) {
                (Some(now), Some(before)) => Some(Pairing::of(now, before)),
                _ => None,
            };
            Variant {
                name,
                expected: index < known
                    || match (&listed, name) {
                        (Some(listed), Some(name)) => listed.contains(&name),
                        _ => true,
                    },
                is_new: inputs.baseline.is_some_and(|baseline| {
                    let is_empty = baseline.samples().is_some_and(Samples::is_empty);
                    !is_empty && !baseline.variants().contains(&name)
                }),
                now,
                before,
                pairing,
            }
        })
        .collect()
}

/// A case for each gated metric in each variant, then for each slice, in the order of gate.toml.
fn cases_of<'a>(
    inputs: &Inputs<'a>,
    variants: &'a [Variant<'a>],
    comparisons: &[Comparison],
    findings: &mut Findings,
) -> Vec<Case<'a>> {
    let expected: Vec<&Variant<'_>> = variants.iter().filter(|variant| variant.expected).collect();
    // By metric, then variant, so that slices find what the whole row measured.
    let sides: Vec<Vec<Rc<Sides<'_>>>> = inputs
        .bound
        .metrics
        .iter()
        .zip(comparisons)
        .map(|(metric, comparison)| {
            let of =
                |variant: &&'a Variant<'a>| Rc::new(Sides::of(inputs, metric, variant, comparison));
            expected.iter().map(of).collect()
        })
        .collect();
    let whole: Vec<Vec<Case<'_>>> = sides
        .iter()
        .map(|variants| {
            let of = |sides: &Rc<Sides<'a>>| {
                let limits = RowLimits::of_metric(sides.metric);
                Case::measure(inputs, sides, None, limits)
            };
            variants.iter().map(of).collect()
        })
        .collect();
    let mut sliced = Vec::new();
    for slice in &inputs.bound.slices {
        for (index, variant) in expected.iter().enumerate() {
            let values = members::of_slice(slice, variant, findings);
            for (at, limits) in &slice.metrics {
                let row =
                    |at: usize| Some((sides.get(at)?.get(index)?, whole.get(at)?.get(index)?));
                let Some((sides, whole)) = row(*at) else {
                    continue;
                };
                for value in &values {
                    let limits =
                        RowLimits::of_slice(sides.metric, slice, *limits, whole.is_shaky());
                    sliced.push(Case::measure(inputs, sides, Some(value.clone()), limits));
                }
            }
        }
    }
    whole
        .into_iter()
        .flatten()
        .filter(|case| case.sides.metric.overall)
        .chain(sliced)
        .collect()
}

/// Slices stand below the row of their metric.
fn in_reading_order(cases: Vec<Case<'_>>) -> Vec<MetricRow> {
    let mut rows: Vec<MetricRow> = cases.into_iter().map(|case| case.row).collect();
    let order: IndexSet<(String, Option<String>)> = rows
        .iter()
        .map(|row| (row.metric.clone(), row.variant.clone()))
        .collect();
    rows.sort_by_cached_key(|row| order.get_index_of(&(row.metric.clone(), row.variant.clone())));
    rows
}

/// Holm 1979 over all relative limits of severity block: ten metrics at 5 % each would block four of ten reruns.
fn correct_as_a_family(cases: &mut [Case<'_>]) {
    let in_family = |case: &&mut Case<'_>| case.limits.severity == Severity::Block;
    let mut tested: Vec<&mut Relative> = cases
        .iter_mut()
        .filter(in_family)
        .filter_map(|case| case.best.as_mut().or(case.relative.as_mut()))
        .filter(|relative| relative.test.is_some())
        .collect();
    relative::correct(&mut tested);
    let mut tested: Vec<&mut Relative> = cases
        .iter_mut()
        .filter(in_family)
        .filter_map(|case| case.relative.as_mut())
        .filter(|relative| relative.test.is_some())
        .collect();
    relative::correct(&mut tested);
    // What only warns is tested alone: it blocks nobody.
    for case in cases
        .iter_mut()
        .filter(|case| case.limits.severity != Severity::Block)
    {
        if let Some(relative) = &mut case.relative {
            relative::correct(&mut [relative]);
        }
    }
}

/// What concerns the run as a whole.
fn about_the_run(inputs: &Inputs<'_>, variants: &[Variant<'_>], findings: &mut Findings) {
    if inputs.results.run.complete == Some(false) {
        let message = "the run is incomplete: it says that it was interrupted; run it again";
        findings.judge(reason(Code::IncompleteRun, message), Severity::Block);
    }
    if !inputs.policy.is_file() {
        let message = format!(
            "no gate.toml: the defaults apply (every metric, max_drop {}, max_failed {})",
            number::limit(crate::policy::DEFAULT_MAX_DROP),
            number::limit(crate::policy::DEFAULT_MAX_FAILED)
        );
        findings.warn(reason(Code::NoPolicy, message));
    }
    let Some(baseline) = inputs.baseline else {
        let message = "no baseline: the absolute limits alone apply, no regression is gated";
        findings.warn(reason(Code::NoBaseline, message));
        return;
    };
    if inputs.results.samples().is_none() || baseline.samples().is_none() {
        let side = match (inputs.results.samples(), baseline.samples()) {
            (None, None) => "neither side has",
            (None, _) => "the results have no",
            _ => "the baseline has no",
        };
        let what = match inputs.policy.rule() {
            Rule::Noninferior => "nothing can be shown to be within the limit",
            _ => "no interval, and the point rule applies",
        };
        let message = format!("{side} samples, only means: {what}");
        findings.warn(reason(Code::NoInterval, message));
    }
    for variant in variants {
        if variant.is_new {
            let name = variant.name.map_or_else(
                || "the results without a variant are".to_owned(),
                |name| format!("variant {name} is"),
            );
            let message = format!("{name} not in the baseline: its regression is not gated yet");
            let mut new = reason(Code::NotInBaseline, message);
            new.variant = variant.name.map(str::to_owned);
            findings.warn(new);
            continue;
        }
        let Some(pairing) = &variant.pairing else {
            continue;
        };
        if pairing.added + pairing.removed > 0 && variant.expected {
            let mut changed = reason(
                Code::SamplesChanged,
                sentence::samples_changed(variant, pairing),
            );
            changed.variant = variant.name.map(str::to_owned);
            changed.numbers = IndexMap::from([
                ("common".to_owned(), pairing.common as f64),
                ("added".to_owned(), pairing.added as f64),
                ("removed".to_owned(), pairing.removed as f64),
                ("rewritten".to_owned(), pairing.rewritten as f64),
            ]);
            findings.warn(changed);
        }
    }
}

/// What the run found doubtful about its own numbers. Other tools may write there what they like: codes that are none of
/// ours are passed over, and a text has an end.
fn what_the_run_says(inputs: &Inputs<'_>, findings: &mut Findings) {
    let said = inputs.results.run.warnings.iter().flatten();
    let gated = |name: &str| {
        let mut metrics = inputs.bound.metrics.iter();
        metrics.any(|metric| metric.name == name)
    };
    for warning in said
        .filter(|warning| warning.metric.as_deref().is_none_or(gated))
        .filter(|warning| warning.code == Some(Code::UniformScores.name()))
        .take(RUN_WARNINGS)
    {
        let message: String = warning.message.chars().take(samples::TEXT).collect();
        let mut doubt = reason(Code::UniformScores, message);
        doubt.metric.clone_from(&warning.metric);
        findings.warn(doubt);
    }
}

/// What concerns names: assumed directions, metrics and variants that are gone, provenance that one side lacks.
fn about_names(
    inputs: &Inputs<'_>,
    variants: &[Variant<'_>],
    comparisons: &[Comparison],
    findings: &mut Findings,
) {
    for metric in &inputs.bound.assumed {
        let message = format!(
            "nobody says which way {metric} is better: higher is assumed; set `direction` under [metrics.{}]",
            crate::policy::toml_key(metric)
        );
        let mut assumed = reason(Code::Assumed, message);
        assumed.metric = Some(metric.clone());
        findings.warn(assumed);
    }
    for metric in &inputs.bound.gone {
        let message = format!(
            "{metric} is in the baseline and gone from the results; the policy does not name it, so nothing gates it"
        );
        let mut gone = reason(Code::GoneFromResults, message);
        gone.metric = Some(metric.clone());
        findings.warn(gone);
    }
    for variant in variants.iter().filter(|variant| !variant.expected) {
        if let Some(name) = variant.name {
            let message = format!(
                "variant {name} is in the baseline and gone from the results; [[variants]] no longer lists it"
            );
            let mut gone = reason(Code::GoneFromResults, message);
            gone.variant = Some(name.to_owned());
            findings.warn(gone);
        }
    }
    // What one side does not measure is missing, not unknown.
    let measured = |metric: &BoundMetric| {
        let of = |side: &Results| side.metric_names().contains(&metric.name.as_str());
        of(inputs.results) && inputs.baseline.is_some_and(of)
    };
    let compared = || {
        let pairs = inputs.bound.metrics.iter().zip(comparisons);
        pairs
            .filter(|(metric, _)| measured(metric))
            .map(|(_, comparison)| comparison)
    };
    let sides = [
        (
            "the results do",
            each_once(compared().map(|found| &found.unknown_now)),
        ),
        (
            "the baseline does",
            each_once(compared().map(|found| &found.unknown_before)),
        ),
    ];
    for (side, unknown) in sides {
        if !unknown.is_empty() {
            let message = format!(
                "taken as comparable, though {side} not state {}",
                sentence::shortened(&unknown)
            );
            findings.warn(reason(Code::UnknownProvenance, message));
        }
    }
}

/// The two sides of each gated metric, compared.
fn comparisons(inputs: &Inputs<'_>) -> Vec<Comparison> {
    let compare = |metric: &BoundMetric| match inputs.baseline {
        Some(baseline) => crate::comparability::compare(metric, inputs.results, baseline),
        None => Comparison::default(),
    };
    inputs.bound.metrics.iter().map(compare).collect()
}

/// One kind of finding over all metrics, each said once.
fn each_once<'a>(findings: impl Iterator<Item = &'a Vec<String>>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for finding in findings.flatten() {
        if !found.contains(finding) {
            found.push(finding.clone());
        }
    }
    found
}

fn sample_counts(variants: &[Variant<'_>]) -> Option<SampleCounts> {
    let mut counts = SampleCounts::default();
    let mut paired = false;
    for pairing in variants
        .iter()
        .filter_map(|variant| variant.pairing.as_ref())
    {
        paired = true;
        counts.common += pairing.common;
        counts.added += pairing.added;
        counts.removed += pairing.removed;
        counts.rewritten += pairing.rewritten;
    }
    paired.then_some(counts)
}

fn provenance(inputs: &Inputs<'_>, comparisons: &[Comparison]) -> Provenance {
    let value = |results: &Results| {
        let mut entries = serde_json::Map::new();
        if let Ok(run) = serde_json::to_value(&results.run) {
            entries.insert("run".to_owned(), run);
        }
        if let Some(Ok(accepted)) = results.accepted.as_ref().map(serde_json::to_value) {
            entries.insert("accepted".to_owned(), accepted);
        }
        sorted(&Value::Object(entries))
    };
    let mut found = each_once(comparisons.iter().map(|comparison| &comparison.differences));
    if let Some(baseline) = inputs.baseline {
        let hash = |results: &Results| results.run.dataset.as_ref()?.sha256.clone();
        if let (Some(now), Some(before)) = (hash(inputs.results), hash(baseline))
            && now != before
        {
            found.push("the dataset's content differs".to_owned());
        }
    }
    Provenance {
        results: Some(value(inputs.results)),
        baseline: inputs.baseline.map(value),
        differences: found,
    }
}

/// `faithfulness of dense in lang=de`: what a sentence is about.
pub(crate) fn subject(metric: &BoundMetric, variant: Option<&str>, slice: Option<&str>) -> String {
    let mut subject = shortened(&metric.name);
    match metric.aggregate {
        stats::Aggregate::Mean => {}
        aggregate => subject = format!("{aggregate} of {subject}"),
    }
    if let Some(variant) = variant {
        subject = format!("{subject} of {}", shortened(variant));
    }
    if let Some(slice) = slice {
        subject = format!("{subject} in {}", shortened(slice));
    }
    subject
}

/// A name in a sentence: one of thousands of characters would push the numbers out of sight.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 100;
    match name.char_indices().nth(LONGEST) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or(name)),
    }
}

/// True when the policy asks for absolute limits alone where the sides cannot be compared.
pub(crate) fn absolute_alone(policy: &Policy) -> bool {
    policy.on_incomparable() == OnIncomparable::Absolute
}
