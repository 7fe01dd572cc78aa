//! The sentences of a verdict: what a reader sees of each reason.

use crate::measure::Tally;
use crate::number::{self, denominator};
use crate::pairing::Pairing;
use crate::policy::{BoundMetric, Direction, Limit};
use crate::verdict::{MetricRow, Outcome, Reason, Status};

use super::Variant;
use super::relative::{Decided, Relative};

/// One sentence for the whole verdict: how many of the gated metrics it is about.
pub(crate) fn summary(outcome: Outcome, rows: &[MetricRow], reasons: &[Reason]) -> String {
    let named = |rows: &mut dyn Iterator<Item = &str>| {
        let mut names: Vec<&str> = rows.collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let gated = named(
        &mut rows
            .iter()
            .filter(|row| row.status != Status::Off)
            .map(|row| row.metric.as_str()),
    );
    let with = |status: Status| {
        named(
            &mut rows
                .iter()
                .filter(|row| row.status == status)
                .map(|row| row.metric.as_str()),
        )
    };
    let samples = rows.iter().filter_map(|row| row.n).max();
    let over = samples.map_or_else(String::new, |n| {
        format!(", over {}", plural(count(n), "sample", "samples"))
    });
    let of = plural(gated, "metric", "metrics");
    match outcome {
        Outcome::Pass => format!("no metric got worse than the policy allows ({of}{over})"),
        Outcome::Block => {
            let (worse, verb) = match with(Status::Block) {
                1 => (1, "is"),
                more => (more, "are"),
            };
            format!("{worse} of {of} {verb} worse than the policy allows{over}")
        }
        Outcome::Undecided => match (with(Status::Undecided), reasons.first()) {
            (0, Some(first)) => first.message.clone(),
            (undecided, _) => format!("{undecided} of {of} cannot be decided{over}"),
        },
    }
}

/// `faithfulness 0.790 below the minimum 0.80 (118/120)`
pub(crate) fn beyond_limit(subject: &str, now: f64, limit: f64, is_min: bool, of: &str) -> String {
    let side = if is_min {
        "below the minimum"
    } else {
        "above the maximum"
    };
    format!(
        "{subject} {} {side} {}{of}",
        number::apart(now, limit),
        number::limit(limit)
    )
}

/// ` (118/120)`, or nothing when no count is known.
pub(crate) fn of_samples(tally: &Tally, counted: bool) -> String {
    if counted {
        format!(" ({})", denominator(Some(tally.n), Some(tally.failed)))
    } else {
        String::new()
    }
}

/// `faithfulness dropped by 0.070 against the baseline, from 0.860 to 0.790; 0.03 is allowed`
pub(crate) fn regression(
    subject: &str,
    metric: &BoundMetric,
    relative: &Relative,
    limit: Limit,
) -> String {
    let verb = match metric.direction {
        Direction::Higher => "dropped",
        Direction::Lower => "rose",
    };
    let (before, now) = number::pair(relative.before, relative.now);
    let allowed = match limit {
        Limit::Points(points) => number::limit(points),
        Limit::Percent(_) => format!("{limit}, here {},", number::value(relative.allowed)),
    };
    format!(
        "{subject} {verb} by {} against the baseline, from {before} to {now}{}; {allowed} is allowed",
        number::apart(relative.drop, relative.allowed),
        over(relative)
    )
}

/// ` over 106 common samples (95% interval -0.334 to -0.182)`
fn over(relative: &Relative) -> String {
    let Some(pairs) = relative.pairs else {
        return String::new();
    };
    let interval = relative.interval.map_or_else(String::new, |interval| {
        format!(
            " ({} interval {} to {})",
            number::percent(relative.confidence),
            number::signed(interval.low),
            number::signed(interval.high)
        )
    });
    format!(
        " over {}{interval}",
        plural(count(pairs), "common sample", "common samples")
    )
}

/// What is added to a regression under the point rule when the interval holds the limit.
pub(crate) fn noise_note(relative: &Relative) -> String {
    let needed = relative.samples_needed().map_or(String::new(), |needed| {
        format!(" (about {needed} samples would decide)")
    });
    format!("; this could be noise: rule = \"significant\" tells the two apart{needed}")
}

/// What is added under `significant`: what the drop was tested by.
pub(crate) fn tested(relative: &Relative) -> String {
    let over = |family: usize| match family {
        0 | 1 => String::new(),
        more => format!(", corrected for {more} limits"),
    };
    match relative.test.map(|test| (test.decided, test.p)) {
        Some((Decided::Permutation { adjusted, family }, _)) => {
            format!("; p {}{}", p_value(adjusted), over(family))
        }
        Some((Decided::CorrectedInterval { adjusted, family }, _)) => format!(
            "; too few samples differ for the permutation test, so the t interval decides: p {}{}",
            p_value(adjusted),
            over(family)
        ),
        Some((Decided::Interval { excludes_zero }, _)) => format!(
            "; too few samples for the permutation test, so the t interval decides: it {} 0",
            if excludes_zero {
                "excludes"
            } else {
                "contains"
            }
        ),
        Some((Decided::Point, _)) => {
            "; a single cluster has no interval, so the point rule decides".to_owned()
        }
        None => String::new(),
    }
}

/// What is added under `significant` when the drop is not significant.
pub(crate) fn could_be_noise(relative: &Relative) -> String {
    match relative.samples_needed() {
        Some(needed) => format!("; this could be noise, about {needed} samples would decide"),
        None => "; this could be noise".to_owned(),
    }
}

/// The violation of `noninferior`: the bound, not the drop.
pub(crate) fn not_shown(
    subject: &str,
    metric: &BoundMetric,
    relative: &Relative,
    bound: f64,
) -> String {
    let verb = match metric.direction {
        Direction::Higher => "dropped",
        Direction::Lower => "risen",
    };
    let needed = relative
        .samples_needed_to_clear()
        .map_or(String::new(), |needed| {
            format!("; about {needed} samples would show that it has not")
        });
    format!(
        "{subject} may have {verb} by {} against the baseline (upper bound at {}); {} is allowed; measured is a change of {}{}{needed}",
        number::apart(bound, relative.allowed),
        number::percent(relative.confidence),
        number::limit(relative.allowed),
        number::signed(relative.change),
        over(relative)
    )
}

/// `3 samples were added, 2 removed; 95 are in both and are compared`
pub(crate) fn samples_changed(variant: &Variant<'_>, pairing: &Pairing) -> String {
    let of = variant
        .name
        .map_or(String::new(), |name| format!(" of {name}"));
    let rewritten = match pairing.rewritten {
        0 => String::new(),
        some => format!(
            ", {} of them the same id with another question or reference",
            count(some)
        ),
    };
    format!(
        "the samples{of} changed: {} added, {} removed{rewritten}; the {} compared",
        pairing.added,
        pairing.removed,
        match pairing.common {
            1 => "one in both is".to_owned(),
            common => format!("{common} in both are"),
        }
    )
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// As [`list`], with the first few of many.
pub(crate) fn shortened(items: &[String]) -> String {
    const SHOWN: usize = 5;
    match items.get(..SHOWN) {
        Some(few) if items.len() > SHOWN + 1 => {
            format!("{} and {} more", few.join(", "), items.len() - SHOWN)
        }
        _ => list(items),
    }
}

/// `1 sample`, `2 samples`
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn p_value(p: f64) -> String {
    if p < 0.001 {
        "under 0.001".to_owned()
    } else {
        format!("= {p:.3}")
    }
}
