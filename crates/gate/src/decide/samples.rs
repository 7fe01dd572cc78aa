//! The samples that a reader should look at: those that fell most, and those without a score.

use crate::measure::Measured;
use crate::policy::Direction;
use crate::verdict::{FailedSample, Status, WorstSample};

use super::case::Case;
use super::relative::{Pairs, Unscored};

/// So many for each metric that got worse, and so many in all.
const WORST_PER_ROW: usize = 5;
const WORST: usize = 20;
const FAILED: usize = 10;

/// Longest text of a judge or a provider that a verdict repeats, in characters.
pub(crate) const TEXT: usize = 400;

/// The samples that fell most in the rows that are not fine.
pub(crate) fn worst(cases: &[Case<'_>]) -> Vec<WorstSample> {
    let mut worst: Vec<WorstSample> = Vec::new();
    for case in cases {
        let fell = case
            .relative
            .as_ref()
            .is_some_and(|relative| relative.drop > 0.0);
        if !fell
            || !matches!(
                case.row.status,
                Status::Block | Status::Warn | Status::Undecided
            )
        {
            continue;
        }
        for sample in of_case(case) {
            let known = worst.iter().any(|known| {
                known.id == sample.id
                    && known.metric == sample.metric
                    && known.variant == sample.variant
            });
            if !known && worst.len() < WORST {
                worst.push(sample);
            }
        }
    }
    worst
}

fn of_case(case: &Case<'_>) -> Vec<WorstSample> {
    let sides = &case.sides;
    let (Measured::Samples(now), Measured::Samples(before), Some(pairing), Some(units)) = (
        &sides.now,
        &sides.before,
        &sides.variant.pairing,
        &sides.variant.now,
    ) else {
        return Vec::new();
    };
    let pairs = Pairs::gather(
        sides.variant,
        pairing,
        now,
        before,
        case.members(),
        Unscored::Leave,
    );
    let fall = |at: usize| {
        let difference = |(before, now): (&f64, &f64)| match sides.metric.scores {
            Direction::Higher => before - now,
            Direction::Lower => now - before,
        };
        pairs
            .before
            .get(at)
            .zip(pairs.now.get(at))
            .map_or(0.0, difference)
    };
    let mut order: Vec<usize> = (0..pairs.units.len())
        .filter(|at| fall(*at) > 0.0)
        .collect();
    let by_fall = |a: &usize, b: &usize| fall(*b).total_cmp(&fall(*a)).then_with(|| a.cmp(b));
    if order.len() > WORST_PER_ROW {
        order.select_nth_unstable_by(WORST_PER_ROW, by_fall);
        order.truncate(WORST_PER_ROW);
    }
    order.sort_unstable_by(by_fall);
    order
        .into_iter()
        .filter_map(|at| {
            let unit = *pairs.units.get(at)? as usize;
            Some(WorstSample {
                id: units.id(unit).to_owned(),
                variant: sides.variant.name.map(str::to_owned),
                metric: sides.metric.name.clone(),
                before: *pairs.before.get(at)?,
                now: *pairs.now.get(at)?,
                reason: units
                    .rows(unit)
                    .find_map(|row| now.column.reason(row))
                    .map(cut),
            })
        })
        .collect()
}

/// The first samples without a score, over all rows that count them.
pub(crate) fn failed(cases: &[Case<'_>]) -> Vec<FailedSample> {
    let mut failed = Vec::new();
    for case in cases.iter().filter(|case| case.slice.is_none()) {
        let sides = &case.sides;
        let (Measured::Samples(scores), Some(units)) = (&sides.now, &sides.variant.now) else {
            continue;
        };
        if case.row.failed == Some(0) {
            continue;
        }
        for unit in 0..units.len() {
            if failed.len() >= FAILED {
                return failed;
            }
            let scored = scores
                .scores
                .get(unit)
                .is_some_and(|score| score.is_finite());
            if scored || units.is_not_applicable(scores.column, unit) {
                continue;
            }
            if let Some((kind, message)) = units.failure(scores.column, unit) {
                failed.push(FailedSample {
                    id: units.id(unit).to_owned(),
                    variant: sides.variant.name.map(str::to_owned),
                    metric: sides.metric.name.clone(),
                    kind: kind.to_owned(),
                    message: message.map(cut),
                });
            }
        }
    }
    failed
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
    }
}
