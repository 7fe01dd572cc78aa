//! Which samples of the results and of the baseline are the same question.
//!
//! The join happens once, here; after it nobody looks for an id again.

use std::cmp::Ordering;

use crate::measure::Units;

/// No partner.
const NONE: u32 = u32::MAX;

/// The samples of one variant, paired by id and input hash.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairing {
    /// By sample of the results: its sample in the baseline.
    partners: Vec<u32>,
    pub(crate) common: u64,
    /// Only in the results.
    pub(crate) added: u64,
    /// Only in the baseline.
    pub(crate) removed: u64,
    /// Same id, other question or reference; in `added` and `removed` too.
    pub(crate) rewritten: u64,
}

impl Pairing {
    /// Both sides are in the order of their ids, so that one walk over both is enough.
    pub(crate) fn of(now: &Units<'_>, before: &Units<'_>) -> Pairing {
        let mut pairing = Pairing {
            partners: vec![NONE; now.len()],
            ..Pairing::default()
        };
        let (mut left, mut right) = (0, 0);
        while left < now.len() && right < before.len() {
            match now.id(left).cmp(before.id(right)) {
                Ordering::Less => left += 1,
                Ordering::Greater => right += 1,
                Ordering::Equal => {
                    let same_input = match (now.input_sha256(left), before.input_sha256(right)) {
                        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
                        _ => true,
                    };
                    if same_input {
                        if let Some(partner) = pairing.partners.get_mut(left) {
                            *partner = u32::try_from(right).unwrap_or(NONE);
                        }
                        pairing.common += 1;
                    } else {
                        pairing.rewritten += 1;
                    }
                    left += 1;
                    right += 1;
                }
            }
        }
        pairing.added = now.len() as u64 - pairing.common;
        pairing.removed = before.len() as u64 - pairing.common;
        pairing
    }

    /// The sample of the baseline that a sample of the results is paired with.
    pub(crate) fn partner(&self, unit: usize) -> Option<usize> {
        self.partners
            .get(unit)
            .filter(|partner| **partner != NONE)
            .map(|partner| *partner as usize)
    }

    /// How many pairs have a score on both sides.
    pub(crate) fn commonly_scored(&self, now: &[f64], before: &[f64]) -> u64 {
        let is_scored =
            |scores: &[f64], unit: usize| scores.get(unit).is_some_and(|score| score.is_finite());
        (0..now.len())
            .filter(|unit| is_scored(now, *unit))
            .filter_map(|unit| self.partner(unit))
            .filter(|partner| is_scored(before, *partner))
            .count() as u64
    }

    /// Samples of the baseline that nothing is paired with.
    pub(crate) fn unpaired(&self, before: usize) -> Vec<usize> {
        let mut paired = vec![false; before];
        for partner in &self.partners {
            if let Some(slot) = paired.get_mut(*partner as usize) {
                *slot = true;
            }
        }
        (0..before)
            .filter(|unit| !paired.get(*unit).copied().unwrap_or(true))
            .collect()
    }
}
