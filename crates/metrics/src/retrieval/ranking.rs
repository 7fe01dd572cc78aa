//! What was retrieved, in its order, held against what is relevant.

use std::borrow::Cow;
use std::cell::OnceCell;

use indexmap::IndexMap;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use super::similarity::Alike;
use crate::sample::{Context, Sample};

/// What makes two passages the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum By {
    /// Their ids where both sides have them, else their texts.
    Either,
    /// Their ids.
    Id,
    /// Their texts.
    Text,
    /// Texts at least so alike, from 0 to 1.
    Similarity(f64),
}

/// What a query found.
#[derive(Debug, PartialEq)]
pub(super) struct Ranking {
    /// What each rank adds, the best rank first: the grade of its passage; 0 when that is not relevant, or was found at a
    /// better rank.
    pub(super) gains: Vec<f64>,
    /// The grades of all that is relevant, the highest first; not empty, and above 0.
    pub(super) relevant: Vec<f64>,
}

impl Ranking {
    /// The ranking of a sample, or why there is none.
    pub(super) fn of(sample: &Sample, by: By) -> Result<Self, &'static str> {
        let (retrieved, judged) = sides(sample, by)?;
        let judged = Judged::new(judged);
        let mut relevant: Vec<f64> = judged.grades().filter(|grade| *grade > 0.0).collect();
        if relevant.is_empty() {
            return Err("nothing is relevant to the question");
        }
        relevant.sort_by(|a, b| b.total_cmp(a));
        let threshold = match by {
            By::Similarity(threshold) => Some(threshold),
            By::Either | By::Id | By::Text => None,
        };
        Ok(Ranking {
            gains: judged.gains(&retrieved, threshold),
            relevant,
        })
    }

    /// How many relevant passages are among the first `k`.
    pub(super) fn found(&self, k: usize) -> usize {
        self.ranks(k).count()
    }

    /// The ranks of the relevant passages among the first `k`, counted from 1.
    pub(super) fn ranks(&self, k: usize) -> impl Iterator<Item = usize> {
        let gains = self.gains.iter().take(k).zip(1..);
        gains.filter_map(|(gain, rank)| (*gain > 0.0).then_some(rank))
    }
}

/// A passage that was judged, and its grade.
type Graded<'a> = (Cow<'a, str>, f64);

/// What is known of the passages that a query should find, each once.
struct Judged<'a>(IndexMap<Cow<'a, str>, f64>);

impl<'a> Judged<'a> {
    /// Of passages that come twice, the higher grade counts; one without a name is none.
    fn new(all: Vec<Graded<'a>>) -> Self {
        let mut judged = IndexMap::with_capacity(all.len());
        for (name, grade) in all {
            if !name.is_empty() {
                let known = judged.entry(name).or_insert(grade);
                *known = known.max(grade);
            }
        }
        Judged(judged)
    }

    fn grades(&self) -> impl Iterator<Item = f64> {
        self.0.values().copied()
    }

    fn gains(&self, retrieved: &[Cow<'a, str>], threshold: Option<f64>) -> Vec<f64> {
        // Most passages are the same to the letter, or nobody asks for more.
        let all = OnceCell::new();
        let alike = |name: &str| {
            let threshold = threshold?;
            let all = all.get_or_init(|| Alike::new(self.0.keys(), threshold));
            all.best(name)
        };
        let mut is_found = vec![false; self.0.len()];
        let mut gain = |name: &Cow<'a, str>| {
            let same = self.0.get_index_of(name);
            let index = same.or_else(|| alike(name))?;
            let grade = self.0.get_index(index)?.1.max(0.0);
            (!std::mem::replace(&mut is_found[index], true)).then_some(grade)
        };
        retrieved
            .iter()
            .map(|name| gain(name).unwrap_or(0.0))
            .collect()
    }
}

/// What was retrieved, and what was judged, under names that can be compared.
fn sides(sample: &Sample, by: By) -> Result<(Vec<Cow<'_, str>>, Vec<Graded<'_>>), &'static str> {
    let retrieved = ids(sample.context_ids.as_deref(), sample.contexts.as_deref());
    let judged = judged_ids(sample);
    match (by, retrieved, judged) {
        (By::Either | By::Id, Some(retrieved), Some(judged)) => Ok((retrieved, judged)),
        (By::Id, _, None) => Err("no ids of the reference contexts"),
        (By::Id, None, _) => Err("no ids of the contexts"),
        (by, retrieved, judged) => {
            match (texts(sample.contexts.as_deref()), judged_texts(sample)) {
                (Some(retrieved), Some(judged)) => Ok((retrieved, judged)),
                (_, None) if by != By::Either => Err("no texts of the reference contexts"),
                (None, _) if by != By::Either => Err("no texts of the contexts"),
                (_, None) if judged.is_none() => Err("no reference contexts"),
                (None, _) if retrieved.is_none() => Err("no contexts"),
                _ => Err("ids on one side only"),
            }
        }
    }
}

fn judged_ids(sample: &Sample) -> Option<Vec<Graded<'_>>> {
    let contexts = sample.reference_contexts.as_deref();
    let names = ids(sample.reference_context_ids.as_deref(), contexts)?;
    let grades = match sample.reference_context_ids {
        Some(_) => &sample.reference_context_id_grades,
        None => &sample.reference_context_grades,
    };
    Some(graded(names, grades.as_deref()))
}

fn judged_texts(sample: &Sample) -> Option<Vec<Graded<'_>>> {
    let names = texts(sample.reference_contexts.as_deref())?;
    Some(graded(names, sample.reference_context_grades.as_deref()))
}

/// Without a grade, what should have been retrieved is relevant.
fn graded<'a>(names: Vec<Cow<'a, str>>, grades: Option<&[f64]>) -> Vec<Graded<'a>> {
    let grade = |index| grades.and_then(|grades| grades.get(index).copied());
    let names = names.into_iter().enumerate();
    names
        .map(|(index, name)| (name, grade(index).unwrap_or(1.0)))
        .collect()
}

/// The ids of one side: those of their own column, else those within the passages, when each has one.
fn ids<'a>(
    ids: Option<&'a [String]>,
    contexts: Option<&'a [Context]>,
) -> Option<Vec<Cow<'a, str>>> {
    if let Some(ids) = ids {
        return Some(ids.iter().map(|id| name(id)).collect());
    }
    let contexts = contexts?;
    let ids = contexts
        .iter()
        .map(|context| context.id.as_deref().map(name));
    ids.collect()
}

fn texts(contexts: Option<&[Context]>) -> Option<Vec<Cow<'_, str>>> {
    Some(
        contexts?
            .iter()
            .map(|context| name(&context.text))
            .collect(),
    )
}

/// Trimmed and in NFC, so that the same name is equal however it was typed.
fn name(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.is_ascii() || is_nfc(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}
