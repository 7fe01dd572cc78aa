//! What a metric asks a judge, and what it gets.

use serde::{Deserialize, Serialize};

/// One question to a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// The metric that asks: what it computes, whatever its name in gate.toml, so that equal questions are one call.
    pub metric: String,
    /// The version of its definition, a part of the cache key.
    pub version: String,
    /// The rendered prompt, for a judge that is a language model.
    pub messages: Vec<Message>,
    /// The form of the answer.
    pub expect: Expect,
    /// What a verdict is asked for, for a judge that is no language model: claims or passages.
    pub items: Vec<String>,
    /// What the items are held against.
    pub evidence: Vec<String>,
    /// How many of the items, from the first, are claims of the answer, where those after them are of its references. The
    /// prompt says it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_answer: Option<usize>,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions.
    System,
    /// The data.
    User,
    /// An earlier answer of the judge.
    Assistant,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// A verdict for each of so many items, which are numbered from 1.
    Verdicts {
        /// Number of items.
        items: usize,
    },
    /// The same, each that holds with the words of the evidence that it rests on.
    Quotes {
        /// Number of items.
        items: usize,
    },
    /// For each of so many items the sources that hold it; both are numbered from 1.
    Sources {
        /// Number of items.
        items: usize,
        /// Number of sources.
        sources: usize,
    },
    /// Texts: questions, names. None at all, or within these numbers.
    Texts {
        /// Fewest texts, where there are any.
        least: usize,
        /// Most texts.
        most: usize,
    },
    /// A grade on a scale.
    Grade {
        /// Lowest grade.
        low: i64,
        /// Highest grade.
        high: i64,
    },
    /// The same, and how likely the judge held the other grades for, where it can tell.
    WeightedGrade {
        /// Lowest grade.
        low: i64,
        /// Highest grade.
        high: i64,
    },
}

/// An answer that has the form that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// One verdict for each item, in the order of the items.
    Verdicts(Vec<Verdict>),
    /// For each item, in their order, the numbers of the sources that hold it, from 1, ascending.
    Sources(Vec<Vec<usize>>),
    /// Texts, none of them blank, as often as they were said.
    Texts(Vec<String>),
    /// A grade within its scale.
    Grade {
        /// The grade.
        grade: f64,
        /// The mean of the grades by their probability, where the judge could tell it; see [`weigh`](crate::weigh).
        weighted: Option<f64>,
        /// Why.
        reason: String,
    },
}

/// What the judge says of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// How far it holds, from 0 to 1; a language model says 0 or 1.
    pub holds: f64,
    /// Why; may be empty.
    pub reason: String,
    /// The words of the evidence that it rests on, where they were asked for.
    pub quote: Option<String>,
}

impl Verdict {
    /// A verdict without a quote.
    pub fn new(holds: f64, reason: impl Into<String>) -> Self {
        Verdict {
            holds,
            reason: reason.into(),
            quote: None,
        }
    }
}
