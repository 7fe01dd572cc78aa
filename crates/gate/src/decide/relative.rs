//! The change against the baseline over the commonly scored samples, and whether it is more than noise.

use crate::measure::{Measured, SampleScores, Tally};
use crate::number::EPSILON;
use crate::pairing::Pairing;
use crate::policy::Placed;
use crate::policy::{BoundMetric, Direction, Limit, Rule};
use crate::stats::{
    Aggregate, Interval, Paired, Resampling, bootstrap, holm, label_swap, samples_needed,
};

use super::Variant;

/// Fewer clusters than this are few samples, which are no excuse for a collapse.
const FEW_CLUSTERS: usize = 5;

/// A change against the baseline.
#[derive(Debug, Clone)]
pub(crate) struct Relative {
    /// Aggregate now minus aggregate before.
    pub(crate) change: f64,
    /// The change in the bad direction: positive is worse.
    pub(crate) drop: f64,
    /// Aggregates over the common samples.
    pub(crate) now: f64,
    pub(crate) before: f64,
    /// Common samples; `None` when a side has no samples.
    pub(crate) pairs: Option<u64>,
    pub(crate) interval: Option<Interval>,
    pub(crate) stderr: Option<f64>,
    /// The limit in points; infinite without one.
    pub(crate) allowed: f64,
    /// Only under `significant`.
    pub(crate) test: Option<Test>,
    /// One-sided upper bound of the drop; only under `noninferior`.
    pub(crate) bound: Option<f64>,
    pub(crate) confidence: f64,
    pub(crate) direction: Direction,
}

/// The test of "it did not get worse".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    /// One-sided p-value of the permutation test.
    pub(crate) p: f64,
    floor: f64,
    /// Two-sided p-value of the t-test, where the metric got worse.
    t: Option<f64>,
    clusters: usize,
    /// Slices are many: however few their samples, their tests are corrected.
    in_slice: bool,
    /// What decides, and its p-value corrected for the family.
    pub(crate) decided: Decided,
}

impl Test {
    /// The corrected p-value and the number of limits it is corrected for.
    pub(crate) fn corrected(&self) -> Option<(f64, usize)> {
        match self.decided {
            Decided::Permutation { adjusted, family }
            | Decided::CorrectedInterval { adjusted, family } => Some((adjusted, family)),
            Decided::Interval { .. } | Decided::Point => None,
        }
    }
}

/// What decides whether a drop is significant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Decided {
    /// The permutation test, corrected over so many limits.
    Permutation { adjusted: f64, family: usize },
    /// Too few samples differ for the permutation test to reject: the t interval does, corrected likewise.
    CorrectedInterval { adjusted: f64, family: usize },
    /// Fewer than five clusters: the t interval as it is shown.
    Interval { excludes_zero: bool },
    /// A single cluster: the point rule.
    Point,
}

/// The pairs of one metric, in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) before: Vec<f64>,
    pub(crate) now: Vec<f64>,
    pub(crate) clusters: Option<Vec<u32>>,
    /// Samples of the results, as indices.
    pub(crate) units: Vec<u32>,
}

/// What to do with samples that the baseline scored and the results did not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unscored {
    Leave,
    /// Take them for the best value of the range; `gone` are samples that the run did not get to.
    Best {
        value: f64,
        gone: bool,
    },
}

impl Pairs {
    /// The commonly scored samples, of a slice or of all.
    pub(crate) fn gather(
        variant: &Variant<'_>,
        pairing: &Pairing,
        now: &SampleScores<'_>,
        before: &SampleScores<'_>,
        members: Option<&[u32]>,
        unscored: Unscored,
    ) -> Pairs {
        let all = variant.now.as_ref().map_or(0, crate::measure::Units::len);
        let most = members.map_or(all, <[u32]>::len);
        let mut pairs = Pairs {
            before: Vec::with_capacity(most),
            now: Vec::with_capacity(most),
            clusters: None,
            units: Vec::with_capacity(most),
        };
        let mut add = |unit: usize| {
            let Some(partner) = pairing.partner(unit) else {
                return;
            };
            let score = |scores: &[f64], unit: usize| {
                scores.get(unit).copied().filter(|score| score.is_finite())
            };
            let Some(before) = score(&before.scores, partner) else {
                return;
            };
            let now = match (score(&now.scores, unit), unscored, &variant.now) {
                (Some(now), _, _) => now,
                (None, Unscored::Best { value, .. }, Some(units))
                    if !units.is_not_applicable(now.column, unit) =>
                {
                    value
                }
                _ => return,
            };
            pairs.before.push(before);
            pairs.now.push(now);
            pairs.units.push(u32::try_from(unit).unwrap_or(u32::MAX));
        };
        match members {
            Some(members) => members.iter().for_each(|unit| add(*unit as usize)),
            None => (0..all).for_each(add),
        }
        pairs.clusters = clusters_of(variant, pairing, &pairs.units);
        if let (Unscored::Best { value, gone: true }, Some(units), None) =
            (unscored, &variant.before, members)
        {
            for unit in pairing.unpaired(units.len()) {
                if let Some(score) = before.scores.get(unit).filter(|score| score.is_finite()) {
                    pairs.before.push(*score);
                    pairs.now.push(value);
                    if let Some(clusters) = &mut pairs.clusters {
                        let next = clusters.iter().max().map_or(0, |last| last + 1);
                        clusters.push(next);
                    }
                }
            }
        }
        pairs
    }
}

/// Dense cluster numbers: those of the results, else those of the baseline; a sample without one is its own cluster.
fn clusters_of(variant: &Variant<'_>, pairing: &Pairing, units: &[u32]) -> Option<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let (now, before) = (variant.now.as_ref()?, variant.before.as_ref()?);
    let from_results = now.samples.cluster_count() > 0;
    let source = if from_results { now } else { before };
    let count = source.samples.cluster_count();
    if count == 0 {
        return None;
    }
    let mut dense = vec![NONE; count];
    let mut next = 0_u32;
    let clusters = units
        .iter()
        .map(|unit| {
            let unit = *unit as usize;
            let code = match from_results {
                true => now.samples.cluster(now.first_row(unit)),
                false => pairing
                    .partner(unit)
                    .and_then(|partner| before.samples.cluster(before.first_row(partner))),
            };
            let slot = code.and_then(|code| dense.get_mut(code as usize));
            let known = slot
                .as_ref()
                .map(|slot| **slot)
                .filter(|known| *known != NONE);
            known.unwrap_or_else(|| {
                let fresh = next;
                next += 1;
                if let Some(slot) = slot {
                    *slot = fresh;
                }
                fresh
            })
        })
        .collect();
    Some(clusters)
}

/// What a change is judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judgement<'a> {
    pub(crate) metric: &'a BoundMetric,
    pub(crate) limit: Option<Placed<Limit>>,
    pub(crate) rule: Rule,
    pub(crate) confidence: f64,
    pub(crate) in_slice: bool,
}

impl Relative {
    /// Over common samples; `None` when there is none.
    pub(crate) fn of_pairs(judgement: Judgement<'_>, pairs: &Pairs) -> Option<Relative> {
        let Judgement {
            metric,
            limit,
            rule,
            confidence,
            in_slice,
        } = judgement;
        let aggregate = metric.aggregate;
        // A slice that lies within one cluster is a question about that cluster: its samples are what varies.
        let clusters = pairs.clusters.as_deref();
        let clusters =
            clusters.filter(|clusters| !in_slice || clusters.iter().any(|code| *code > 0));
        let paired = Paired::new(&pairs.before, &pairs.now, clusters)?;
        let (estimate, before, now) = if aggregate.is_mean() {
            let estimate = paired.cluster_sums()?.estimate()?;
            let before = crate::stats::mean(pairs.before.iter().copied())?;
            (Some(estimate), before, before + estimate.change)
        } else {
            let before = aggregate.of(&mut pairs.before.clone())?;
            let now = aggregate.of(&mut pairs.now.clone())?;
            (None, before, now)
        };
        let change = estimate.map_or(now - before, |estimate| estimate.change);
        let interval_at = |confidence: f64| match &estimate {
            Some(estimate) => estimate.interval(confidence),
            None => bootstrap(&paired, aggregate, confidence, Resampling::default())
                .map(|drawn| drawn.interval),
        };
        let interval = interval_at(confidence);
        let stderr = match &estimate {
            Some(estimate) => estimate.stderr,
            // Half the width of a normal interval is z standard errors.
            None => interval.map(|interval| (interval.high - interval.low) / (2.0 * 1.96)),
        };
        let drop = worse(metric.direction, change);
        let allowed = limit.map_or(f64::INFINITY, |limit| limit.value.in_points(before));
        Some(Relative {
            change,
            drop,
            now,
            before,
            pairs: Some(pairs.before.len() as u64),
            interval,
            stderr,
            allowed,
            test: match (rule, limit) {
                (Rule::Significant, Some(_)) => test(metric, &paired, drop, interval, in_slice),
                _ => None,
            },
            bound: match rule {
                // The end of a two-sided interval at 2c − 1 is a one-sided bound at c.
                Rule::Noninferior => {
                    interval_at(2.0 * confidence - 1.0).map(|interval| match metric.direction {
                        Direction::Higher => -interval.low,
                        Direction::Lower => interval.high,
                    })
                }
                _ => None,
            },
            confidence,
            direction: metric.direction,
        })
    }

    /// Of two means, when a side has no samples.
    pub(crate) fn of_means(judgement: Judgement<'_>, before: f64, now: f64) -> Relative {
        let change = now - before;
        Relative {
            change,
            drop: worse(judgement.metric.direction, change),
            now,
            before,
            pairs: None,
            interval: None,
            stderr: None,
            allowed: judgement
                .limit
                .map_or(f64::INFINITY, |limit| limit.value.in_points(before)),
            test: None,
            bound: None,
            confidence: judgement.confidence,
            direction: judgement.metric.direction,
        }
    }

    /// True when the drop exceeds the limit; at the limit is inside the limit.
    pub(crate) fn exceeds(&self) -> bool {
        self.drop > self.allowed + EPSILON
    }

    /// True when the upper bound of the drop exceeds the limit.
    pub(crate) fn may_exceed(&self) -> bool {
        self.bound
            .is_some_and(|bound| bound > self.allowed + EPSILON)
    }

    /// True when the drop is no noise; without a test the point rule applies.
    pub(crate) fn is_significant(&self) -> bool {
        let alpha = 1.0 - self.confidence + EPSILON;
        match self.test.map(|test| test.decided) {
            None | Some(Decided::Point) => true,
            Some(Decided::Interval { excludes_zero }) => excludes_zero,
            Some(
                Decided::Permutation { adjusted, .. } | Decided::CorrectedInterval { adjusted, .. },
            ) => adjusted <= alpha,
        }
    }

    /// True when the interval of the change holds the allowed drop.
    pub(crate) fn could_be_within(&self) -> bool {
        self.interval.is_some_and(|interval| {
            interval.contains(match self.direction {
                Direction::Higher => -self.allowed,
                Direction::Lower => self.allowed,
            })
        })
    }

    /// About how many samples would decide whether the drop is real.
    pub(crate) fn samples_needed(&self) -> Option<u64> {
        let pairs = usize::try_from(self.pairs?).ok()?;
        // Holm asks most of the smallest p-value of a family.
        let family = self
            .test
            .and_then(|test| test.corrected())
            .map_or(1, |(_, family)| family);
        let confidence = 1.0 - (1.0 - self.confidence) / family.max(1) as f64;
        samples_needed(pairs, self.drop, self.stderr?, confidence)
    }

    /// About how many samples would show that the drop is within the limit.
    pub(crate) fn samples_needed_to_clear(&self) -> Option<u64> {
        let pairs = usize::try_from(self.pairs?).ok()?;
        samples_needed(
            pairs,
            self.allowed - self.drop,
            self.stderr?,
            self.confidence,
        )
    }
}

pub(crate) fn worse(direction: Direction, change: f64) -> f64 {
    // −0 would be printed.
    match direction {
        Direction::Higher => 0.0 - change,
        Direction::Lower => change,
    }
}

fn test(
    metric: &BoundMetric,
    paired: &Paired<'_>,
    drop: f64,
    interval: Option<Interval>,
    in_slice: bool,
) -> Option<Test> {
    let outcome = label_swap(
        paired,
        metric.aggregate,
        metric.scores,
        Resampling::default(),
    )?;
    let scores = paired.estimate(Aggregate::Mean)?;
    let t = match paired.estimate(metric.aggregate) {
        _ if drop <= 0.0 => Some(1.0),
        Some(estimate) => estimate.p_two_sided(),
        // The test of a quantile's interval is yes or no; a p-value that can be corrected is that of the scores.
        None if interval.is_some_and(|interval| interval.contains(0.0)) => Some(1.0),
        None if worse(metric.scores, scores.change) <= 0.0 => Some(1.0),
        None => scores.p_two_sided(),
    };
    Some(Test {
        p: outcome.p_one_sided,
        floor: outcome.floor,
        t,
        clusters: scores.clusters,
        in_slice,
        decided: Decided::Point,
    })
}

/// Corrects the tests of a family of limits (Holm 1979), after choosing what each of them goes by.
///
/// A permutation test over few differences cannot reject at a corrected level whatever the data: with m of them its
/// smallest p-value is 2^−m. There the t interval decides.
pub(crate) fn correct(family: &mut [&mut Relative]) {
    let size = family.len();
    let p_values: Vec<f64> = family
        .iter_mut()
        .map(|relative| {
            let alpha = 1.0 - relative.confidence + EPSILON;
            let Some(test) = &mut relative.test else {
                return 1.0;
            };
            let (decided, p) = if test.clusters < 2 {
                (Decided::Point, 1.0)
            } else if test.floor * size as f64 <= alpha {
                (
                    Decided::Permutation {
                        adjusted: 1.0,
                        family: size,
                    },
                    test.p,
                )
            } else if test.clusters < FEW_CLUSTERS && !test.in_slice {
                let excludes_zero = test.t.is_some_and(|t| t <= alpha);
                (Decided::Interval { excludes_zero }, 1.0)
            } else {
                let p = test.t.unwrap_or(1.0);
                (
                    Decided::CorrectedInterval {
                        adjusted: 1.0,
                        family: size,
                    },
                    p,
                )
            };
            test.decided = decided;
            p
        })
        .collect();
    for (relative, corrected) in family.iter_mut().zip(holm(&p_values)) {
        if let Some(test) = &mut relative.test {
            match &mut test.decided {
                Decided::Permutation { adjusted, .. }
                | Decided::CorrectedInterval { adjusted, .. } => {
                    *adjusted = corrected;
                }
                Decided::Interval { .. } | Decided::Point => {}
            }
        }
    }
}

/// An aggregate of `values` and so many times `best`, which no value surpasses. The number is a file's claim: nothing is
/// made in its size.
pub(crate) fn aggregate_with(
    aggregate: Aggregate,
    scores: Direction,
    mut values: Vec<f64>,
    best: f64,
    times: u64,
) -> Option<f64> {
    let (n, k) = (values.len() as f64, times as f64);
    let weighted = |value: f64| (value * n + best * k) / (n + k);
    match aggregate {
        Aggregate::Mean => Some(weighted(aggregate.of(&mut values)?)),
        Aggregate::PassRate { .. } => {
            let rate = aggregate.of(&mut values)?;
            Some((rate * n + k) / (n + k))
        }
        Aggregate::Min | Aggregate::Max | Aggregate::Median | Aggregate::Percentile(_) => {
            let share = match aggregate {
                Aggregate::Min => 0.0,
                Aggregate::Max => 1.0,
                Aggregate::Percentile(percent) => f64::from(percent) / 100.0,
                _ => 0.5,
            };
            values.sort_unstable_by(f64::total_cmp);
            let position = (n + k - 1.0) * share;
            let at = |position: f64| {
                let among = match scores {
                    Direction::Higher => position,
                    Direction::Lower => position - k,
                };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked to lie among the values"
                )]
                let value =
                    (among >= 0.0 && among < n).then(|| values.get(among as usize).copied());
                value.flatten().unwrap_or(best)
            };
            let (low, high) = (at(position.floor()), at(position.ceil()));
            Some(low + (high - low) * position.fract())
        }
    }
}

/// The aggregate of one side as a whole.
pub(crate) fn aggregate_of(
    aggregate: Aggregate,
    measured: &Measured<'_>,
    members: Option<&[u32]>,
    tally: &Tally,
) -> Option<f64> {
    match measured {
        Measured::Missing => None,
        _ if aggregate.is_mean() => tally.mean,
        Measured::Mean(_) => None,
        Measured::Samples(scores) => {
            let mut values: Vec<f64> = match members {
                Some(members) => members
                    .iter()
                    .filter_map(|unit| scores.scores.get(*unit as usize).copied())
                    .filter(|score| score.is_finite())
                    .collect(),
                None => scores
                    .scores
                    .iter()
                    .copied()
                    .filter(|score| score.is_finite())
                    .collect(),
            };
            aggregate.of(&mut values)
        }
    }
}
