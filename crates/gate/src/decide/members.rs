//! Which samples are in which slice.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::measure::Units;
use crate::policy::{BoundSlice, Severity};
use crate::verdict::Code;

use super::{Findings, Variant, reason};

/// The samples of one slice: those whose tag has one value.
#[derive(Debug, Clone)]
pub(crate) struct Slice {
    /// `tag=value`.
    pub(crate) name: String,
    /// Samples of the results, in order.
    pub(crate) now: Rc<[u32]>,
    /// Samples of the baseline, in order.
    pub(crate) before: Rc<[u32]>,
}

/// The slices that an entry of gate.toml makes of a variant, in the order of its `values`, or of their names.
pub(crate) fn of_slice(
    slice: &BoundSlice,
    variant: &Variant<'_>,
    findings: &mut Findings,
) -> Vec<Slice> {
    let Some(units) = &variant.now else {
        let message = format!(
            "the slices by {} cannot be judged: the results have no samples",
            slice.tag
        );
        let mut unmeasured = reason(Code::NothingMeasured, message);
        unmeasured.policy_line = slice.line;
        findings.judge(unmeasured, slice.severity);
        return Vec::new();
    };
    let mut now = grouped(units, &slice.tag);
    let mut before = variant
        .before
        .as_ref()
        .map(|units| grouped(units, &slice.tag))
        .unwrap_or_default();
    let values: Vec<String> = match &slice.values {
        Some(values) => values.clone(),
        None => {
            let mut values: Vec<String> = now.keys().chain(before.keys()).cloned().collect();
            values.sort_unstable();
            values.dedup();
            values
        }
    };
    let mut slices = Vec::new();
    for value in values {
        let name = format!("{}={value}", slice.tag);
        let now = now.remove(&value).unwrap_or_default();
        let before = before.remove(&value).unwrap_or_default();
        if now.is_empty() {
            gone(slice, variant, &name, before.len(), findings);
            continue;
        }
        slices.push(Slice {
            name,
            now: now.into(),
            before: before.into(),
        });
    }
    slices
}

/// A slice that the policy lists by value has to be there; one that only the baseline has is worth a warning.
fn gone(
    slice: &BoundSlice,
    variant: &Variant<'_>,
    name: &str,
    before: usize,
    findings: &mut Findings,
) {
    let of = variant
        .name
        .map_or(String::new(), |name| format!(" of {name}"));
    let (code, message) = if slice.values.is_some() {
        (
            Code::NothingMeasured,
            format!("no sample{of} has {name}, which the policy lists"),
        )
    } else {
        (
            Code::SmallSlice,
            format!("{name}{of} has no sample any more; the baseline has {before}"),
        )
    };
    let mut finding = reason(code, message);
    finding.variant = variant.name.map(str::to_owned);
    finding.slice = Some(name.to_owned());
    finding.policy_line = slice.line;
    if code == Code::NothingMeasured {
        findings.judge(finding, slice.severity);
    } else if slice.severity != Severity::Off {
        findings.warn(finding);
    }
}

/// Samples by value of a tag; a sample with several values is in each.
fn grouped(units: &Units<'_>, tag: &str) -> BTreeMap<String, Vec<u32>> {
    let Some((names, codes)) = units.samples.tag_codes(tag) else {
        return BTreeMap::new();
    };
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
    for unit in 0..units.len() {
        for code in codes(units.first_row(unit)) {
            if let (Some(group), Ok(unit)) = (groups.get_mut(*code as usize), u32::try_from(unit)) {
                group.push(unit);
            }
        }
    }
    names
        .iter()
        .cloned()
        .zip(groups)
        .filter(|(_, group)| !group.is_empty())
        .collect()
}
