//! Metrics: a sample in, a score out.
//!
//! A metric asks nobody. It says what it needs next ([`Step`]), gets the answer, and is asked again, until it has an
//! [`Outcome`]; whoever runs it talks to the judge. The same sample and the same answers give the same outcome.
//!
//! ```text
//! Sample ─▶ Metric::step ─▶ Ask(Request) ─▶ judge ─▶ read(expect, raw) ─▶ Answer ─▶ Metric::step ─▶ Done(Outcome)
//! ```

mod cosine;
#[cfg(test)]
mod every;
mod json;
mod judged;
pub mod lexical;
mod operational;
mod outcome;
mod prompts;
pub mod read;
mod reason;
pub mod registry;
mod request;
mod retrieval;
mod sample;
mod script;
pub mod sentences;
mod text;

pub use outcome::{Answer, FailureKind, Outcome, Step};
pub use read::{Numeral, Unreadable, of_model, read, repair, schema, schema_name, weigh};
pub use registry::{BuildError, Entry, Files, Spec, build, by_name, entries, find};
pub use request::{Expect, Message, Reading, Request, Role, Verdict};
pub use sample::{Context, Sample, Turn};

use gate::policy::Direction;

/// What a metric is.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Its name in results and gate.toml.
    pub name: String,
    /// Version of its definition: scores of two versions are not compared.
    pub version: String,
    /// SHA-256 of the prompt's template, in lower-case hexadecimal; `None` for a formula.
    pub prompt_sha256: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// Lowest and highest score; `None` when unbounded.
    pub range: Option<[f64; 2]>,
    /// True when a judge is asked.
    pub judged: bool,
    /// Most questions to the judge about one sample.
    pub calls: u32,
    /// True when an embedding model is asked.
    pub embeds: bool,
    /// The columns that it cannot do without.
    pub needs: Vec<Column>,
}

/// A column of the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// Id of the sample.
    Id,
    /// The question.
    Question,
    /// The answer of the target.
    Answer,
    /// The reference answer.
    Reference,
    /// The passages that the target retrieved.
    Contexts,
    /// The passages that it should have retrieved.
    ReferenceContexts,
    /// Ids of the passages that the target retrieved.
    ContextIds,
    /// Ids of the passages that it should have retrieved.
    ReferenceContextIds,
    /// The conversation before the question.
    History,
    /// Samples that rise and fall together.
    Cluster,
    /// Tags.
    Tags,
    /// The configuration of the target that answered.
    Variant,
    /// How relevant the passages are that the target should have retrieved.
    ReferenceContextGrades,
    /// How long the target took to answer.
    Latency,
    /// The tokens that the target used to answer.
    Tokens,
    /// What the answer cost.
    Cost,
}

impl Column {
    /// All columns.
    pub const ALL: [Column; 16] = [
        Column::Id,
        Column::Question,
        Column::Answer,
        Column::Reference,
        Column::Contexts,
        Column::ReferenceContexts,
        Column::ContextIds,
        Column::ReferenceContextIds,
        Column::History,
        Column::Cluster,
        Column::Tags,
        Column::Variant,
        Column::ReferenceContextGrades,
        Column::Latency,
        Column::Tokens,
        Column::Cost,
    ];

    /// The name, as `[dataset.columns]` and messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Column::Id => "id",
            Column::Question => "question",
            Column::Answer => "answer",
            Column::Reference => "reference",
            Column::Contexts => "contexts",
            Column::ReferenceContexts => "reference_contexts",
            Column::ContextIds => "context_ids",
            Column::ReferenceContextIds => "reference_context_ids",
            Column::History => "history",
            Column::Cluster => "cluster",
            Column::Tags => "tags",
            Column::Variant => "variant",
            Column::ReferenceContextGrades => "reference_context_grades",
            Column::Latency => "latency",
            Column::Tokens => "tokens",
            Column::Cost => "cost",
        }
    }
}

/// A named number per sample.
pub trait Metric: std::fmt::Debug + Send + Sync {
    /// What it is.
    fn info(&self) -> &Info;

    /// What to do next for this sample; `answers` has what earlier steps asked for, in their order.
    ///
    /// A pure function: the same sample and answers give the same step.
    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step;

    /// The instructions that a judge gets; `None` where no judge is asked.
    fn prompt(&self) -> Option<&str> {
        None
    }

    /// True when it looks into [`Sample::other`], which is empty unless a metric does.
    fn reads_other(&self) -> bool {
        false
    }

    /// What all samples have together, where that is no mean of theirs; `None` for most metrics.
    fn corpus(&self) -> Option<Box<dyn Corpus>> {
        None
    }
}

/// A value of all samples together that is no mean of their scores, as corpus BLEU.
pub trait Corpus: Send {
    /// Takes up a sample; one that the metric does not apply to changes nothing.
    fn add(&mut self, sample: &Sample);

    /// The value; `None` without samples that the metric applies to.
    fn value(&self) -> Option<f64>;

    /// How it was computed, in the notation of the reference implementation.
    fn signature(&self) -> String;
}
