//! The small types that policy, results and verdict share.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Higher is better.
    #[default]
    Higher,
    /// Lower is better.
    Lower,
}

/// What a violation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It decides the outcome.
    #[default]
    Block,
    /// It is shown as a warning.
    Warn,
    /// It is computed and shown without judging.
    Off,
}

/// How a drop against the baseline is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Block when the drop exceeds the limit.
    #[default]
    Point,
    /// Block when the drop exceeds the limit and is no noise.
    Significant,
    /// Block unless the drop is shown to be within the limit.
    Noninferior,
}

/// How much worse is allowed: in points of the metric, or as a share of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Points of the metric.
    Points(f64),
    /// A percentage of the baseline's aggregate: 5.0 is five percent.
    Percent(f64),
}

impl Limit {
    /// The limit in points of the metric, given the baseline's aggregate.
    pub fn in_points(self, baseline: f64) -> f64 {
        match self {
            Limit::Points(points) => points,
            Limit::Percent(percent) => percent / 100.0 * baseline.abs(),
        }
    }

    /// The number as it is written, without the percent sign.
    pub fn amount(self) -> f64 {
        match self {
            Limit::Points(amount) | Limit::Percent(amount) => amount,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Points(points) => f.write_str(&crate::number::limit(*points)),
            Limit::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
        })
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Limit::Points(points) => serializer.serialize_f64(*points),
            Limit::Percent(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor)
    }
}

struct LimitVisitor;

impl de::Visitor<'_> for LimitVisitor {
    type Value = Limit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as 0.03 or a percentage such as \"5%\"")
    }

    fn visit_f64<E: de::Error>(self, points: f64) -> Result<Limit, E> {
        if points.is_finite() && points >= 0.0 {
            Ok(Limit::Points(points))
        } else {
            Err(E::custom(format!(
                "an allowed change is a number from 0 up, not {points}"
            )))
        }
    }

    fn visit_i64<E: de::Error>(self, points: i64) -> Result<Limit, E> {
        self.visit_f64(points as f64)
    }

    fn visit_u64<E: de::Error>(self, points: u64) -> Result<Limit, E> {
        self.visit_f64(points as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
        text.strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok())
            .filter(|percent| percent.is_finite() && *percent >= 0.0)
            .map(Limit::Percent)
            .ok_or_else(|| {
                E::custom(format!(
                    "`{text}` is neither a number such as 0.03 nor a percentage such as \"5%\""
                ))
            })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Limit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Points of the metric, or a percentage of the baseline such as \"5%\".",
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?%$"}
            ]
        })
    }
}
