//! What was retrieved, in its order, and what is relevant, under names that can be compared.

use std::borrow::Cow;
use std::collections::BTreeSet;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::sample::{Context, Sample};

/// Both sides of a query.
#[derive(Debug)]
pub(super) struct Ranking<'a> {
    /// Best first; the first of equal ones counts, the others keep their ranks.
    pub(super) retrieved: Vec<Cow<'a, str>>,
    /// Not empty.
    pub(super) relevant: BTreeSet<Cow<'a, str>>,
}

impl<'a> Ranking<'a> {
    /// By ids where both sides have them, else by the exact texts; or why neither can be.
    pub(super) fn of(sample: &'a Sample) -> Result<Self, &'static str> {
        let by_id = (
            ids(sample.context_ids.as_deref(), sample.contexts.as_deref()),
            ids(
                sample.reference_context_ids.as_deref(),
                sample.reference_contexts.as_deref(),
            ),
        );
        let (retrieved, relevant) = match by_id {
            (Some(retrieved), Some(relevant)) => (retrieved, relevant),
            (retrieved, relevant) => {
                let texts = (
                    texts(sample.contexts.as_deref()),
                    texts(sample.reference_contexts.as_deref()),
                );
                match texts {
                    (Some(retrieved), Some(relevant)) => (retrieved, relevant),
                    (_, None) if relevant.is_none() => return Err("no reference contexts"),
                    (None, _) if retrieved.is_none() => return Err("no contexts"),
                    _ => return Err("ids on one side only"),
                }
            }
        };
        let relevant: BTreeSet<_> = relevant
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect();
        if relevant.is_empty() {
            return Err("nothing is relevant to the question");
        }
        Ok(Ranking {
            retrieved,
            relevant,
        })
    }

    /// How many relevant passages are among the first `k`.
    pub(super) fn found(&self, k: usize) -> usize {
        let first = self.retrieved.iter().take(k);
        let found: BTreeSet<_> = first.filter(|name| self.relevant.contains(*name)).collect();
        found.len()
    }
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
