//! Metrics that compare the answer with the reference: two formulas, and one by embeddings.

mod exact_match;
mod normalise;
mod punctuation;
mod semantic_similarity;
mod token_f1;

pub(crate) use exact_match::ExactMatch;
pub(crate) use semantic_similarity::SemanticSimilarity;
pub(crate) use token_f1::TokenF1;

use gate::policy::Direction;

use crate::registry::Entry;
use crate::sample::Sample;
use crate::{Column, Info};

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "semantic_similarity",
        about: "the answer means what the reference means, as an embedding model has it",
        definition: "the cosine of the embeddings of answer and reference, negative ones being 0; the best over the references.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(SemanticSimilarity::new(of.name))),
    },
    Entry {
        name: "exact_match",
        about: "the answer is the reference",
        definition: "1 when the answer equals a reference after the normalisation of SQuAD, extended to all scripts; else 0.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(ExactMatch::new(of.name))),
    },
    Entry {
        name: "token_f1",
        about: "shared words of answer and reference",
        definition: "F1 of the tokens, counted with their repetitions, after the normalisation of SQuAD; the best over the \
references.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(TokenF1::new(of.name))),
    },
];

fn info(name: &str, embeds: bool) -> Info {
    Info {
        name: name.to_owned(),
        version: "1".to_owned(),
        prompt_sha256: None,
        direction: Direction::Higher,
        range: Some([0.0, 1.0]),
        judged: false,
        calls: 0,
        embeds,
        needs: vec![Column::Answer, Column::Reference],
    }
}

/// The answer and the references that say something, or why the metric does not apply.
fn sides(sample: &Sample) -> Result<(&str, Vec<&str>), String> {
    let answer = sample.answer.as_deref().ok_or("no answer")?;
    let references: Vec<&str> = sample
        .references
        .iter()
        .flatten()
        .map(String::as_str)
        .filter(|text| !text.trim_start().is_empty())
        .collect();
    if references.is_empty() {
        return Err("no reference".to_owned());
    }
    Ok((answer, references))
}

#[cfg(test)]
mod tests;
