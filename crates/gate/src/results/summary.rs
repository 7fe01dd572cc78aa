//! Means without samples: the flat and the summary shape, and the summary that accompanies samples.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::error::{ReadError, pointer_step};
use super::row::{RawScore, Unread, twice};

/// One metric of a file without samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Summary {
    /// Mean score; `None` when nothing was scored.
    pub mean: Option<f64>,
    /// Scored samples; `None` when the file does not say.
    pub n: Option<u64>,
    /// Applicable samples without a score.
    pub failed: Option<u64>,
    /// Samples to which the metric does not apply.
    pub not_applicable: Option<u64>,
    /// Standard error of the mean.
    pub stderr: Option<f64>,
}

/// An object whose keys differ from one another.
pub(super) struct Unique<T>(pub(super) IndexMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Unique<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UniqueVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for UniqueVisitor<T> {
            type Value = Unique<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = IndexMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = map.next_value()?;
                    if entries.contains_key(&name) {
                        return Err(twice(&name));
                    }
                    entries.insert(name, value);
                }
                Ok(Unique(entries))
            }
        }
        deserializer.deserialize_map(UniqueVisitor(std::marker::PhantomData))
    }
}

/// A metric's entry under `metrics`: an object with `mean`, or the mean alone.
pub(super) enum RawSummary {
    Mean(RawScore),
    Object(IndexMap<String, RawScore>),
}

impl<'de> Deserialize<'de> for RawSummary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SummaryVisitor;
        impl<'de> Visitor<'de> for SummaryVisitor {
            type Value = RawSummary;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with `mean`, or a number")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawSummary, A::Error> {
                Unique::<RawScore>::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(|entries| RawSummary::Object(entries.0))
            }
            fn visit_f64<E>(self, number: f64) -> Result<RawSummary, E> {
                // −0 would make equal files print differently.
                Ok(RawSummary::Mean(RawScore::Number(number + 0.0)))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawSummary, E> {
                self.visit_f64(number as f64)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<RawSummary, E> {
                self.visit_f64(number as f64)
            }
            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<RawSummary, E> {
                self.visit_f64(f64::from(u8::from(truth)))
            }
            fn visit_unit<E>(self) -> Result<RawSummary, E> {
                Ok(RawSummary::Mean(RawScore::Null))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<RawSummary, E> {
                RawScore::deserialize(de::value::StrDeserializer::<E>::new(text))
                    .map(RawSummary::Mean)
            }
        }
        deserializer.deserialize_any(SummaryVisitor)
    }
}

/// `{"metrics": …}` of one variant.
pub(super) struct RawVariant(pub(super) IndexMap<String, RawSummary>);

impl<'de> Deserialize<'de> for RawVariant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VariantVisitor;
        impl<'de> Visitor<'de> for VariantVisitor {
            type Value = RawVariant;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with `metrics`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawVariant, A::Error> {
                let mut metrics = None;
                while let Some(name) = map.next_key::<String>()? {
                    if name != "metrics" {
                        map.next_value::<Unread>()?;
                    } else if metrics
                        .replace(map.next_value::<Unique<RawSummary>>()?.0)
                        .is_some()
                    {
                        return Err(twice("metrics"));
                    }
                }
                Ok(RawVariant(metrics.unwrap_or_default()))
            }
        }
        deserializer.deserialize_map(VariantVisitor)
    }
}

/// The summary of each metric, or the first thing that is no number where one belongs.
pub(super) fn summaries(
    raw: IndexMap<String, RawSummary>,
    pointer: &str,
) -> Result<IndexMap<String, Summary>, ReadError> {
    raw.into_iter()
        .map(|(metric, entry)| {
            let pointer = format!("{pointer}{}", pointer_step(&metric));
            let summary = match entry {
                RawSummary::Mean(score) => mean_alone(&metric, &score, &pointer)?,
                RawSummary::Object(entries) => summary_of(&metric, &entries, &pointer)?,
            };
            Ok((metric, summary))
        })
        .collect()
}

/// A mean of which nothing else is known; one that is no number is one failure.
pub(super) fn mean_alone(
    metric: &str,
    score: &RawScore,
    pointer: &str,
) -> Result<Summary, ReadError> {
    Ok(match score {
        RawScore::Number(mean) if is_too_large(*mean) => {
            return Err(too_large(metric, *mean).pointer(pointer));
        }
        RawScore::Number(mean) => Summary {
            mean: Some(*mean),
            ..Summary::default()
        },
        RawScore::Null | RawScore::NotANumber => Summary {
            n: Some(0),
            failed: Some(1),
            ..Summary::default()
        },
        RawScore::Wrong(what) => {
            return Err(no_number(metric, what).pointer(pointer));
        }
    })
}

/// Scores beyond this are no scores, and their squares do not fit into a number.
const LARGEST: f64 = 1e100;

/// True for a number that no sum or variance of scores could hold.
pub fn is_too_large(number: f64) -> bool {
    number.abs() > LARGEST
}

/// The refusal of such a number.
pub(super) fn too_large(metric: &str, number: f64) -> ReadError {
    ReadError::new(format!("`{metric}` is {number:e}: too large to be a score"))
        .help("mend what computes it: a division by nearly zero, usually")
}

/// The refusal of something that stands where a number belongs.
pub(super) fn no_number(metric: &str, what: &str) -> ReadError {
    ReadError::new(format!("`{metric}` is {what}, not a number")).help(
        if what.starts_with("the string") {
            "write the number without quotes, or null with a cause under `failures`"
        } else {
            "a score is a number, true, false or null; a file of metric means alone holds nothing else"
        },
    )
}

fn summary_of(
    metric: &str,
    entries: &IndexMap<String, RawScore>,
    pointer: &str,
) -> Result<Summary, ReadError> {
    let mut summary = Summary::default();
    for (key, score) in entries {
        let pointer = || format!("{pointer}{}", pointer_step(key));
        match (key.as_str(), score) {
            ("mean" | "n" | "failed" | "not_applicable" | "stderr", RawScore::Wrong(what)) => {
                return Err(no_number(&format!("{metric}.{key}"), what).pointer(pointer()));
            }
            ("mean" | "stderr", RawScore::Number(number)) if is_too_large(*number) => {
                return Err(too_large(&format!("{metric}.{key}"), *number).pointer(pointer()));
            }
            ("mean", RawScore::Number(mean)) => summary.mean = Some(*mean),
            ("stderr", RawScore::Number(stderr)) => summary.stderr = Some(*stderr),
            ("n" | "failed" | "not_applicable", RawScore::Number(number)) => {
                let count = count(*number).ok_or_else(|| {
                    ReadError::new(format!("`{metric}.{key}` is {number}, not a count"))
                        .pointer(pointer())
                        .help("a count is a whole number from 0 up")
                })?;
                match key.as_str() {
                    "n" => summary.n = Some(count),
                    "failed" => summary.failed = Some(count),
                    _ => summary.not_applicable = Some(count),
                }
            }
            _ => {}
        }
    }
    if summary.mean.is_none() {
        if summary.n.is_some_and(|n| n > 0) {
            return Err(
                ReadError::new(format!("`{metric}` has scored samples but no mean"))
                    .pointer(pointer)
                    .help("write the mean of the scored samples"),
            );
        }
        // Nothing was scored; without a count that is at least one failure.
        summary.n = Some(0);
        if summary.failed.is_none() && summary.not_applicable.is_none() {
            summary.failed = Some(1);
        }
    } else if summary.n == Some(0) {
        return Err(
            ReadError::new(format!("`{metric}` has a mean of no sample: n is 0"))
                .pointer(pointer)
                .help("write null for the mean of nothing"),
        );
    }
    Ok(summary)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a whole number in range"
)]
fn count(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as u64)
}
