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
    /// The conversation before the question, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Turn>,
    /// Samples of one cluster count as one for the statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What the sample is filed under; each tag has one value or several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, Vec<String>>,
    /// What else the row says, by the names of the file; kept only where a metric looks for it.
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
