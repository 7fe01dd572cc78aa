//! One row of the verdict: one metric of one variant, overall or in one slice.

use std::rc::Rc;

use crate::comparability::Comparison;
use crate::measure::{Measured, Tally};
use crate::number::{self, EPSILON, denominator};
use crate::policy::{
    BoundMetric, BoundSlice, Direction, Limit, Placed, Rule, Severity, SliceLimits, Worse,
};
use crate::results::{Results, Samples};
use crate::verdict::{Code, Limits, MetricRow, Reason, Status};

use super::members::Slice;
use super::relative::{self, Judgement, Pairs, Relative, Unscored, aggregate_of};
use super::{Findings, Inputs, Variant, absolute_alone, drift, reason, sentence, subject};

/// One metric of one variant on both sides, and whether the two can be compared.
pub(crate) struct Sides<'a> {
    pub(crate) metric: &'a BoundMetric,
    pub(crate) variant: &'a Variant<'a>,
    pub(crate) now: Measured<'a>,
    pub(crate) before: Measured<'a>,
    /// Why the two cannot be compared, as clauses.
    pub(crate) incomparable: Vec<String>,
}

/// The limits that apply to a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimits {
    pub(crate) min: Option<Placed<f64>>,
    pub(crate) max: Option<Placed<f64>>,
    pub(crate) worse: Worse,
    pub(crate) drift: Worse,
    /// `None` in a slice: the whole metric answers for its failures.
    pub(crate) max_failed: Option<f64>,
    pub(crate) min_samples: u64,
    pub(crate) severity: Severity,
    pub(crate) line: Option<usize>,
    /// True in a slice of a metric that has too few scores as a whole.
    pub(crate) shaky: bool,
}

/// One row, measured and then judged.
pub(crate) struct Case<'a> {
    pub(crate) sides: Rc<Sides<'a>>,
    pub(crate) slice: Option<Slice>,
    pub(crate) limits: RowLimits,
    pub(crate) row: MetricRow,
    pub(crate) relative: Option<Relative>,
    /// The change if every unscored sample had the best score; only where too much is unscored.
    pub(crate) best: Option<Relative>,
    tally: Tally,
    /// False when the file states a mean and no count.
    counted: bool,
    shaky: bool,
}

impl RowLimits {
    pub(crate) fn of_metric(metric: &BoundMetric) -> Self {
        RowLimits {
            min: metric.min,
            max: metric.max,
            worse: metric.worse,
            drift: metric.drift,
            max_failed: Some(metric.max_failed),
            min_samples: metric.min_samples,
            severity: metric.severity,
            line: metric.line,
            shaky: false,
        }
    }

    pub(crate) fn of_slice(
        metric: &BoundMetric,
        slice: &BoundSlice,
        limits: SliceLimits,
        shaky: bool,
    ) -> Self {
        RowLimits {
            min: limits.min,
            max: limits.max,
            worse: limits.worse,
            drift: None,
            max_failed: None,
            min_samples: slice.min_samples,
            // A metric that only warns does not block by way of a slice.
            severity: match (metric.severity, slice.severity) {
                (Severity::Off, _) | (_, Severity::Off) => Severity::Off,
                (Severity::Warn, _) | (_, Severity::Warn) => Severity::Warn,
                (Severity::Block, Severity::Block) => Severity::Block,
            },
            line: slice.line,
            shaky,
        }
    }
}

impl<'a> Sides<'a> {
    pub(crate) fn of(
        inputs: &Inputs<'a>,
        metric: &'a BoundMetric,
        variant: &'a Variant<'a>,
        comparison: &Comparison,
    ) -> Self {
        let now = Measured::of(
            inputs.results,
            variant.now.as_ref(),
            &metric.name,
            variant.name,
        );
        let before = inputs.baseline.map_or(Measured::Missing, |baseline| {
            Measured::of(
                baseline,
                variant.before.as_ref(),
                &metric.name,
                variant.name,
            )
        });
        let mut sides = Sides {
            metric,
            variant,
            now,
            before,
            incomparable: Vec::new(),
        };
        let has_no_sample = |baseline: &Results| baseline.samples().is_some_and(Samples::is_empty);
        if inputs.baseline.is_some_and(has_no_sample) {
            sides
                .incomparable
                .push("the baseline has no sample".to_owned());
            return sides;
        }
        if let (Some(baseline), false) =
            (inputs.baseline, matches!(sides.before, Measured::Missing))
        {
            sides.incomparable = sides.compare(inputs, baseline, comparison);
        }
        sides
    }

    fn compare(
        &self,
        inputs: &Inputs<'_>,
        baseline: &Results,
        comparison: &Comparison,
    ) -> Vec<String> {
        let mut found = comparison.differences.clone();
        found.extend(self.rewritten(inputs.results, baseline));
        found.extend(self.too_little_overlap(inputs));
        found
    }

    /// Same ids under another dataset hash, and no hashes of the inputs: the questions were rewritten.
    fn rewritten(&self, results: &Results, baseline: &Results) -> Option<String> {
        let pairing = self.variant.pairing.as_ref()?;
        let (now, before) = (results.samples()?, baseline.samples()?);
        let hash = |results: &Results| results.run.dataset.as_ref()?.sha256.clone();
        let same_ids = pairing.common > 0 && pairing.added == 0 && pairing.removed == 0;
        let unhashed = now.lacks_hashes() || before.lacks_hashes();
        (same_ids && unhashed && hash(results)? != hash(baseline)?).then(|| {
            "the dataset has another content under the same ids, and without `input_sha256` it cannot be told which questions were rewritten".to_owned()
        })
    }

    /// A difference over a small part of the baseline's samples measures the choice of the part.
    fn too_little_overlap(&self, inputs: &Inputs<'_>) -> Option<String> {
        let needed = inputs.policy.min_overlap();
        let short = |common: u64, of: u64| (common as f64) < needed * of as f64 - EPSILON;
        let message = |common: u64, of: u64| {
            format!(
                "only {common} of the baseline's {} scored in both ({} are needed)",
                sentence::plural(
                    usize::try_from(of).unwrap_or(usize::MAX),
                    "sample is",
                    "samples are"
                ),
                number::percent(needed)
            )
        };
        match (&self.now, &self.before) {
            (Measured::Samples(now), Measured::Samples(before)) => {
                let pairing = self.variant.pairing.as_ref()?;
                let tally = self.variant.before.as_ref()?.tally(before, None);
                if tally.n == 0 {
                    return Some("the baseline has no score".to_owned());
                }
                let applicable = tally.n + tally.failed;
                let common = pairing.commonly_scored(&now.scores, &before.scores);
                let is_subset = inputs.results.run.subset.is_some()
                    && pairing.added == 0
                    && common >= self.metric.min_samples;
                (!is_subset && short(common, applicable)).then(|| message(common, applicable))
            }
            (_, Measured::Mean(before)) if before.mean.is_none() => {
                Some("the baseline has no score".to_owned())
            }
            (Measured::Mean(now), Measured::Mean(before)) => {
                let (now, of) = (now.n?, before.n? + before.failed.unwrap_or(0));
                // No more samples than the smaller side has can be in both.
                short(now, of).then(|| message(now, of))
            }
            _ => None,
        }
    }
}

impl<'a> Case<'a> {
    /// Counts, aggregates and the change of one row.
    pub(crate) fn measure(
        inputs: &Inputs<'a>,
        sides: &Rc<Sides<'a>>,
        slice: Option<Slice>,
        limits: RowLimits,
    ) -> Self {
        let metric = sides.metric;
        let (tally, counted) = tally_of(
            &sides.now,
            sides.variant.now.as_ref(),
            slice.as_ref().map(|slice| &*slice.now),
        );
        let (tally_before, counted_before) = tally_of(
            &sides.before,
            sides.variant.before.as_ref(),
            slice.as_ref().map(|slice| &*slice.before),
        );
        let exists = !matches!(sides.now, Measured::Missing);
        let mut case = Case {
            row: MetricRow {
                metric: metric.name.clone(),
                variant: sides.variant.name.map(str::to_owned),
                slice: slice.as_ref().map(|slice| slice.name.clone()),
                direction: metric.direction,
                aggregate: metric.aggregate.to_string(),
                now: aggregate_of(
                    metric.aggregate,
                    &sides.now,
                    slice.as_ref().map(|slice| &*slice.now),
                    &tally,
                ),
                n: (exists && counted).then_some(tally.n),
                failed: (exists && counted).then_some(tally.failed),
                not_applicable: (exists && counted).then_some(tally.not_applicable),
                before: aggregate_of(
                    metric.aggregate,
                    &sides.before,
                    slice.as_ref().map(|slice| &*slice.before),
                    &tally_before,
                ),
                before_n: (counted_before && tally_before.n > 0).then_some(tally_before.n),
                before_failed: (counted_before && tally_before.n > 0)
                    .then_some(tally_before.failed),
                pairs: None,
                change: None,
                ci: None,
                change_stderr: None,
                p_value: None,
                limits: shown(metric, &limits),
                severity: limits.severity,
                status: match limits.severity {
                    Severity::Off => Status::Off,
                    _ => Status::Pass,
                },
            },
            sides: Rc::clone(sides),
            slice,
            limits,
            relative: None,
            best: None,
            tally,
            counted,
            shaky: false,
        };
        case.shaky = limits.shaky
            || inputs.results.run.complete == Some(false)
            || case.too_many_failures().is_some()
            || case.too_few_samples();
        if case.sides.incomparable.is_empty() && case.row.now.is_some() {
            case.relative = case.relative_with(inputs, Unscored::Leave);
            if case.shaky {
                case.best = case.best_value().and_then(|value| {
                    let gone = inputs.results.run.complete == Some(false);
                    case.relative_with(inputs, Unscored::Best { value, gone })
                });
            }
        }
        if let Some(relative) = &case.relative {
            case.row.pairs = relative.pairs;
            case.row.change = Some(relative.change);
            case.row.ci = relative
                .interval
                .map(|interval| [interval.low, interval.high]);
            case.row.change_stderr = relative.stderr;
            case.row.p_value = relative.test.map(|test| test.p);
        }
        case
    }

    /// True when this is the whole-metric row of a metric that has too few scores to be certain.
    pub(crate) fn is_shaky(&self) -> bool {
        self.shaky
    }

    /// Samples of the results in this row; `None` for all.
    pub(crate) fn members(&self) -> Option<&[u32]> {
        self.slice.as_ref().map(|slice| &*slice.now)
    }

    fn relative_with(&self, inputs: &Inputs<'_>, unscored: Unscored) -> Option<Relative> {
        let judgement = Judgement {
            metric: self.sides.metric,
            limit: self.limits.worse,
            rule: inputs.policy.rule(),
            confidence: inputs.policy.confidence(),
            in_slice: self.slice.is_some(),
        };
        let sides = &self.sides;
        match (&sides.now, &sides.before, &sides.variant.pairing) {
            (Measured::Samples(now), Measured::Samples(before), Some(pairing)) => {
                let pairs = Pairs::gather(
                    sides.variant,
                    pairing,
                    now,
                    before,
                    self.members(),
                    unscored,
                );
                Relative::of_pairs(judgement, &pairs)
            }
            _ => {
                let (before, now) = (self.row.before?, self.row.now?);
                let now = match unscored {
                    Unscored::Leave => now,
                    Unscored::Best { .. } => self.at_best(inputs)?,
                };
                Some(Relative::of_means(judgement, before, now))
            }
        }
    }

    /// Applies the rules and files the reasons.
    pub(crate) fn judge(&mut self, inputs: &Inputs<'_>, findings: &mut Findings) {
        let is_overall = self.slice.is_none();
        if !self.is_measured(inputs, findings) {
            return;
        }
        if !is_overall && self.tally.n < self.limits.min_samples {
            let message = format!(
                "{} has {}, fewer than the {} that a slice needs: shown, not judged",
                self.subject(),
                sentence::plural(count(self.tally.n), "score", "scores"),
                self.limits.min_samples
            );
            self.warn_small(findings, message);
            return;
        }
        self.count_failures(findings);
        self.absolute(inputs, findings);
        self.compare(inputs, findings);
    }

    /// False when there is nothing to judge, which silences every other rule of the row.
    fn is_measured(&mut self, inputs: &Inputs<'_>, findings: &mut Findings) -> bool {
        let is_overall = self.slice.is_none();
        let aggregate = self.sides.metric.aggregate;
        let subject = self.subject();
        let has_samples = inputs
            .results
            .samples()
            .is_none_or(|samples| !samples.is_empty());
        let (code, message) = match &self.sides.now {
            Measured::Missing if has_samples => (
                Code::MissingMetric,
                format!("{subject} is gated and not in the results"),
            ),
            Measured::Mean(summary) if !aggregate.is_mean() && summary.mean.is_some() => (
                Code::NothingMeasured,
                format!("{subject} needs samples, and the results have means alone"),
            ),
            Measured::Missing => (
                Code::NothingMeasured,
                format!("{subject} has no score: the results have no sample"),
            ),
            _ if self.row.now.is_none() && is_overall => (
                Code::NothingMeasured,
                match (self.tally.failed, self.tally.not_applicable) {
                    (0, _) => format!("{subject} has no score: it applies to no sample"),
                    (failed, _) => format!(
                        "{subject} has no score: {} failed ({})",
                        if failed == 1 {
                            "the only applicable sample".to_owned()
                        } else {
                            format!("all {failed} applicable samples")
                        },
                        denominator(Some(0), Some(failed))
                    ),
                },
            ),
            _ => return true,
        };
        if is_overall || !self.sides.metric.overall {
            self.file(findings, code, message, &[]);
        }
        false
    }

    fn count_failures(&mut self, findings: &mut Findings) {
        if self.slice.is_some() {
            return;
        }
        if let Some(share) = self.too_many_failures() {
            let allowed = self.limits.max_failed.unwrap_or_default();
            let message = format!(
                "{}: {} of {} have no score ({} scored), {} against the {} that max_failed allows",
                self.subject(),
                self.tally.failed,
                sentence::plural(
                    count(self.tally.n + self.tally.failed),
                    "applicable sample",
                    "applicable samples"
                ),
                denominator(Some(self.tally.n), Some(self.tally.failed)),
                number::percent(share),
                number::percent(allowed)
            );
            let numbers = [
                ("failed", self.tally.failed as f64),
                ("n", self.tally.n as f64),
                ("share", share),
                ("max_failed", allowed),
            ];
            self.file(findings, Code::TooManyFailures, message, &numbers);
        }
        if self.too_few_samples() {
            let message = match self.counted {
                true => format!(
                    "{} has {}, fewer than min_samples = {}",
                    self.subject(),
                    sentence::plural(count(self.tally.n), "scored sample", "scored samples"),
                    self.limits.min_samples
                ),
                false => format!(
                    "{}: the file does not say how many samples its mean is of, and min_samples is {}",
                    self.subject(),
                    self.limits.min_samples
                ),
            };
            let numbers = [
                ("n", self.tally.n as f64),
                ("min_samples", self.limits.min_samples as f64),
            ];
            self.file(findings, Code::TooFewSamples, message, &numbers);
        }
    }

    fn absolute(&mut self, inputs: &Inputs<'_>, findings: &mut Findings) {
        let Some(now) = self.row.now else {
            return;
        };
        let limits = [
            (self.limits.min, true, Code::BelowMinimum),
            (self.limits.max, false, Code::AboveMaximum),
        ];
        for (limit, is_min, code) in limits {
            let Some(limit) = limit else {
                continue;
            };
            let beyond = |value: f64| {
                if is_min {
                    value < limit.value - EPSILON
                } else {
                    value > limit.value + EPSILON
                }
            };
            if !beyond(now) {
                continue;
            }
            let message = sentence::beyond_limit(
                &self.subject(),
                now,
                limit.value,
                is_min,
                &sentence::of_samples(&self.tally, self.counted),
            );
            let certain = !self.shaky || self.at_best(inputs).is_some_and(beyond);
            let numbers = [
                ("now", now),
                (if is_min { "min" } else { "max" }, limit.value),
            ];
            self.violation(findings, code, message, limit.line, certain, &numbers);
        }
    }

    /// Regression and drift.
    fn compare(&mut self, inputs: &Inputs<'_>, findings: &mut Findings) {
        let asks = self.limits.worse.is_some() || self.limits.drift.is_some();
        let is_overall = self.slice.is_none();
        if inputs.baseline.is_none() || self.limits.severity == Severity::Off {
            return;
        }
        if matches!(self.sides.before, Measured::Missing) && self.sides.incomparable.is_empty() {
            if is_overall && asks && !self.sides.variant.is_new {
                let message = format!(
                    "{} is not in the baseline: its regression is not gated yet",
                    self.subject()
                );
                self.warn(findings, Code::NotInBaseline, message);
            }
            return;
        }
        if !asks {
            if is_overall {
                let message = format!(
                    "the regression of {} is not gated: it has no {} (the default holds for metrics with range [0, 1])",
                    self.subject(),
                    match self.sides.metric.direction {
                        Direction::Higher => "max_drop",
                        Direction::Lower => "max_rise",
                    }
                );
                self.warn(findings, Code::RegressionNotGated, message);
            }
            return;
        }
        if !self.sides.incomparable.is_empty() {
            if is_overall || !self.sides.metric.overall {
                self.incomparable(inputs, findings);
            }
            return;
        }
        let Some(relative) = self.relative.clone() else {
            if is_overall {
                let why = match &self.sides.before {
                    Measured::Mean(_) if !self.sides.metric.aggregate.is_mean() => {
                        "the baseline has means alone, of which it cannot be computed"
                    }
                    _ => "no sample is scored in both",
                };
                let message = format!(
                    "{} cannot be compared with the baseline: {why}",
                    self.subject()
                );
                self.file(findings, Code::Incomparable, message, &[]);
            }
            return;
        };
        if !is_overall
            && relative
                .pairs
                .is_some_and(|pairs| pairs < self.limits.min_samples)
        {
            let message = format!(
                "{}: only {} in both, fewer than {}: its regression is not judged",
                self.subject(),
                sentence::plural(count(relative.pairs.unwrap_or(0)), "score is", "scores are"),
                self.limits.min_samples
            );
            self.warn_small(findings, message);
            return;
        }
        self.regression(inputs, &relative, findings);
        if let Some(limit) = self.limits.drift {
            drift::judge(self, inputs, &relative, limit, findings);
        }
    }

    fn incomparable(&mut self, inputs: &Inputs<'_>, findings: &mut Findings) {
        let message = format!(
            "{} cannot be compared with the baseline: {}",
            self.subject(),
            sentence::list(&self.sides.incomparable)
        );
        if absolute_alone(inputs.policy) {
            let message = format!("{message}; held to its absolute limits alone");
            self.warn(findings, Code::Incomparable, message);
        } else {
            self.file(findings, Code::Incomparable, message, &[]);
        }
    }

    fn regression(&mut self, inputs: &Inputs<'_>, relative: &Relative, findings: &mut Findings) {
        let Some(limit) = self.limits.worse else {
            return;
        };
        let numbers = numbers_of(relative);
        let subject = self.subject();
        let metric = self.sides.metric;
        let rule = inputs.policy.rule();
        if rule == Rule::Noninferior {
            let Some(bound) = relative.bound else {
                let message = format!(
                    "{subject}: without an interval it cannot be shown that it dropped by less than {}; samples in at least two clusters are needed on both sides",
                    number::limit(relative.allowed)
                );
                self.file(findings, Code::TooFewSamples, message, &numbers);
                return;
            };
            if relative.may_exceed() {
                let message = sentence::not_shown(&subject, metric, relative, bound);
                let certain = !self.shaky || self.best.as_ref().is_some_and(Relative::may_exceed);
                self.violation(
                    findings,
                    Code::Regression,
                    message,
                    limit.line,
                    certain,
                    &numbers,
                );
            }
            return;
        }
        if !relative.exceeds() {
            return;
        }
        let mut message = sentence::regression(&subject, metric, relative, limit.value);
        if rule == Rule::Significant && relative.test.is_some() {
            message.push_str(&sentence::tested(relative));
            if !relative.is_significant() {
                message.push_str(&sentence::could_be_noise(relative));
                self.warn_with(findings, Code::CouldBeNoise, message, limit.line, &numbers);
                return;
            }
        } else if relative.could_be_within() {
            message.push_str(&sentence::noise_note(relative));
        }
        let certain = !self.shaky
            || self
                .best
                .as_ref()
                .is_some_and(|best| best.exceeds() && best.is_significant());
        self.violation(
            findings,
            Code::Regression,
            message,
            limit.line,
            certain,
            &numbers,
        );
    }

    /// The aggregate if every unscored sample had the best score of the range; `None` when that is unbounded or when
    /// nobody knows how many are unscored.
    fn at_best(&self, inputs: &Inputs<'_>) -> Option<f64> {
        let unscored = self.tally.failed + self.never_run(inputs)?;
        if unscored == 0 {
            return self.row.now;
        }
        let best = self.best_value()?;
        match &self.sides.now {
            Measured::Mean(summary) => {
                let (mean, n) = (summary.mean?, summary.n? as f64);
                Some((mean * n + best * unscored as f64) / (n + unscored as f64))
            }
            Measured::Samples(scores) => {
                let mut values: Vec<f64> = match self.members() {
                    Some(members) => members
                        .iter()
                        .filter_map(|unit| scores.scores.get(*unit as usize).copied())
                        .collect(),
                    None => scores.scores.to_vec(),
                };
                values.retain(|score| score.is_finite());
                relative::aggregate_with(
                    self.sides.metric.aggregate,
                    self.sides.metric.scores,
                    values,
                    best,
                    unscored,
                )
            }
            Measured::Missing => None,
        }
    }

    /// The best score of the metric.
    fn best_value(&self) -> Option<f64> {
        use crate::stats::Aggregate;
        let metric = self.sides.metric;
        match (metric.aggregate, metric.range, metric.scores) {
            // What passes passes, however good it is.
            (Aggregate::PassRate { at, .. }, ..) => Some(at),
            (_, Some([_, high]), Direction::Higher) => Some(high),
            (_, Some([low, _]), Direction::Lower) => Some(low),
            (_, None, _) => None,
        }
    }

    /// Samples that an interrupted run did not get to; `None` when nobody knows how many.
    fn never_run(&self, inputs: &Inputs<'_>) -> Option<u64> {
        if inputs.results.run.complete != Some(false) {
            return Some(0);
        }
        let meant = inputs.results.run.dataset.as_ref()?.samples?;
        let ran = self.sides.variant.now.as_ref()?.len() as u64;
        // In a slice nobody knows which of them would have been in it.
        Some(meant.saturating_sub(ran))
    }

    fn too_many_failures(&self) -> Option<f64> {
        let applicable = self.tally.n + self.tally.failed;
        let allowed = self.limits.max_failed?;
        if applicable == 0 {
            return None;
        }
        let share = self.tally.failed as f64 / applicable as f64;
        (share > allowed + EPSILON).then_some(share)
    }

    fn too_few_samples(&self) -> bool {
        // A mean without a count is of one sample at least.
        let n = if self.counted { self.tally.n } else { 1 };
        self.slice.is_none() && n < self.limits.min_samples
    }

    pub(crate) fn subject(&self) -> String {
        subject(
            self.sides.metric,
            self.sides.variant.name,
            self.slice.as_ref().map(|slice| slice.name.as_str()),
        )
    }

    fn about(
        &self,
        code: Code,
        message: String,
        line: Option<usize>,
        numbers: &[(&str, f64)],
    ) -> Reason {
        let mut about = reason(code, message);
        about.metric = Some(self.sides.metric.name.clone());
        about.variant = self.sides.variant.name.map(str::to_owned);
        about.slice = self.slice.as_ref().map(|slice| slice.name.clone());
        about.policy_line = line.or(self.limits.line);
        about.numbers = numbers
            .iter()
            .filter(|(_, number)| number.is_finite())
            .map(|(name, number)| ((*name).to_owned(), *number))
            .collect();
        about
    }

    /// Files something that the policy's severity decides about.
    pub(crate) fn file(
        &mut self,
        findings: &mut Findings,
        code: Code,
        message: String,
        numbers: &[(&str, f64)],
    ) {
        let about = self.about(code, message, None, numbers);
        let status = findings.judge(about, self.limits.severity);
        self.lower(status);
    }

    /// Files a violated limit; one that is not certain is shown as pending.
    pub(crate) fn violation(
        &mut self,
        findings: &mut Findings,
        code: Code,
        message: String,
        line: Option<usize>,
        certain: bool,
        numbers: &[(&str, f64)],
    ) {
        let mut about = self.about(code, message, line, numbers);
        if certain {
            let status = findings.judge(about, self.limits.severity);
            self.lower(status);
        } else if self.limits.severity != Severity::Off {
            about.pending = true;
            about.message = format!(
                "pending, for too much is unscored to block for it: {}",
                about.message
            );
            findings.warn(about);
            self.lower(Status::Warn);
        }
    }

    pub(crate) fn warn(&mut self, findings: &mut Findings, code: Code, message: String) {
        self.warn_with(findings, code, message, None, &[]);
    }

    fn warn_small(&mut self, findings: &mut Findings, message: String) {
        if self.limits.severity != Severity::Off {
            findings.warn_small(self.about(Code::SmallSlice, message, None, &[]));
            self.lower(Status::Warn);
        }
    }

    fn warn_with(
        &mut self,
        findings: &mut Findings,
        code: Code,
        message: String,
        line: Option<usize>,
        numbers: &[(&str, f64)],
    ) {
        if self.limits.severity != Severity::Off {
            findings.warn(self.about(code, message, line, numbers));
            self.lower(Status::Warn);
        }
    }

    /// A row has the gravest status of what was found.
    fn lower(&mut self, status: Status) {
        let gravity = |status: Status| match status {
            Status::Off => 0,
            Status::Pass => 1,
            Status::Warn => 2,
            Status::Undecided => 3,
            Status::Block => 4,
        };
        if gravity(status) > gravity(self.row.status) {
            self.row.status = status;
        }
    }
}

fn tally_of(
    measured: &Measured<'_>,
    units: Option<&crate::measure::Units<'_>>,
    members: Option<&[u32]>,
) -> (Tally, bool) {
    match (measured, units) {
        (Measured::Samples(scores), Some(units)) => (units.tally(scores, members), true),
        (Measured::Mean(summary), _) => (
            Tally {
                n: summary.n.unwrap_or(0),
                failed: summary.failed.unwrap_or(0),
                not_applicable: summary.not_applicable.unwrap_or(0),
                mean: summary.mean,
            },
            summary.n.is_some(),
        ),
        _ => (Tally::default(), true),
    }
}

fn shown(metric: &BoundMetric, limits: &RowLimits) -> Limits {
    let worse: Option<Limit> = limits.worse.map(|limit| limit.value);
    let (max_drop, max_rise) = match metric.direction {
        Direction::Higher => (worse, None),
        Direction::Lower => (None, worse),
    };
    Limits {
        min: limits.min.map(|limit| limit.value),
        max: limits.max.map(|limit| limit.value),
        max_drop,
        max_rise,
        max_drift: limits.drift.map(|limit| limit.value),
    }
}

fn numbers_of(relative: &Relative) -> Vec<(&'static str, f64)> {
    let mut numbers = vec![
        ("now", relative.now),
        ("before", relative.before),
        ("change", relative.change),
        ("drop", relative.drop),
        ("allowed", relative.allowed),
    ];
    if let Some(pairs) = relative.pairs {
        numbers.push(("pairs", pairs as f64));
    }
    if let Some(test) = relative.test {
        numbers.push(("p_value", test.p));
        if let Some((adjusted, family)) = test.corrected() {
            numbers.push(("p_adjusted", adjusted));
            numbers.push(("family", family as f64));
        }
    }
    if let Some(bound) = relative.bound {
        numbers.push(("upper_bound", bound));
    }
    let needed = match relative.bound {
        Some(_) => relative.samples_needed_to_clear(),
        None => relative.samples_needed(),
    };
    if let Some(needed) = needed {
        numbers.push(("samples_needed", needed as f64));
    }
    numbers
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
