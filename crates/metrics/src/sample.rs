//! One row of the dataset.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A question and what belongs to it. What a dataset does not say is `None`; an empty list is a list that is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Unique among the samples of its variant; in Unicode NFC.
    pub id: String,
    /// The configuration of the target that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The answer of the target. Empty is an answer, and so is the word None.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The reference answers; any of them is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<Vec<String>>,
    /// What the target retrieved, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<Context>>,
    /// What it should have retrieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_contexts: Option<Vec<Context>>,
    /// Ids of what the target retrieved, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_ids: Option<Vec<String>>,
    /// Ids of what it should have retrieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_context_ids: Option<Vec<String>>,
    /// How relevant each of `reference_contexts` is, in their order: finite, and from 0 down not relevant. `None` when all
    /// are alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_context_grades: Option<Vec<f64>>,
    /// How relevant each of `reference_context_ids` is, as for `reference_context_grades`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_context_id_grades: Option<Vec<f64>>,
    /// The conversation before the question, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Turn>,
    /// Samples of one cluster count as one for the statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What the sample is filed under; each tag has one value or several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, Vec<String>>,
    /// How long the target took to answer, in seconds; as the dataset has it, be it negative or infinite.
    #[serde(skip_serializing_if = "Option::is_none", with = "any_number")]
    pub latency_s: Option<f64>,
    /// The tokens that the target used, of question and answer together; as the dataset has it.
    #[serde(skip_serializing_if = "Option::is_none", with = "any_number")]
    pub tokens: Option<f64>,
    /// What the answer cost, in US dollars; as the dataset has it.
    #[serde(skip_serializing_if = "Option::is_none", with = "any_number")]
    pub cost_usd: Option<f64>,
    /// The whole row, by the names of the file; empty unless [`Metric::reads_other`](crate::Metric::reads_other). `NaN` and
    /// infinity are texts in it, for JSON has no such numbers.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub other: serde_json::Map<String, serde_json::Value>,
    /// SHA-256 of question, history and reference, in lower-case hexadecimal; never of the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input_sha256: String,
}

/// A passage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Its id, where the dataset has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its text.
    pub text: String,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// `user`, `assistant`, or whatever the dataset says.
    pub role: String,
    /// What was said.
    pub text: String,
}

/// A number, or what JSON has no number for, as a text.
mod any_number {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::ref_option, reason = "serde hands over the field")]
    pub(super) fn serialize<S: Serializer>(
        number: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) if number.is_finite() => serializer.serialize_f64(*number),
            Some(number) => serializer.collect_str(number),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelled {
            Number(f64),
            Text(String),
        }
        Ok(match Option::<Spelled>::deserialize(deserializer)? {
            None => None,
            Some(Spelled::Number(number)) => Some(number),
            Some(Spelled::Text(text)) => Some(text.parse().map_err(de::Error::custom)?),
        })
    }

    #[cfg(test)]
    mod tests {
        use crate::Sample;

        #[test]
        fn what_json_has_no_number_for_is_not_lost() {
            for number in [-1.5, 0.0, 1e300, f64::INFINITY, f64::NEG_INFINITY] {
                let sample = Sample {
                    latency_s: Some(number),
                    ..Sample::default()
                };
                let written = serde_json::to_string(&sample).unwrap();
                assert_eq!(serde_json::from_str::<Sample>(&written).unwrap(), sample);
            }
            let read: Sample = serde_json::from_str(r#"{"id": "a", "cost_usd": "NaN"}"#).unwrap();
            assert!(read.cost_usd.is_some_and(f64::is_nan));
            assert_eq!(read.tokens, None);
        }
    }
}
