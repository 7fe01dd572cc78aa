//! Ids and hashes: which sample is the same as which.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use metrics::{Sample, Turn};
use serde::Serialize;
use sha2::{Digest, Sha256};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// In Unicode NFC.
pub(super) fn nfc(text: String) -> String {
    match is_nfc(&text) {
        true => text,
        false => text.nfc().collect(),
    }
}

/// Surely so; a text of which it takes a longer look to say is normalised again, which changes nothing.
fn is_nfc(text: &str) -> bool {
    text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// What `input_sha256` is the hash of. The order of the fields is that of canonical JSON.
#[derive(Serialize)]
struct Input<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    history: &'a [Turn],
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<&'a [String]>,
}

/// SHA-256 of the canonical JSON (RFC 8785) of history, question and references, all texts in NFC.
pub(super) fn input_sha256(sample: &Sample, buffer: &mut Vec<u8>) -> String {
    let normal = normal(sample);
    let sample = normal.as_ref().unwrap_or(sample);
    let input = Input {
        history: &sample.history,
        question: sample.question.as_deref(),
        references: sample.references.as_deref(),
    };
    sha256(&input, buffer)
}

/// SHA-256 of the whole sample, which tells apart those that ask the same.
pub(super) fn sample_sha256(sample: &Sample, buffer: &mut Vec<u8>) -> String {
    sha256(sample, buffer)
}

/// The sample with history, question and references in NFC; `None` when they are.
fn normal(sample: &Sample) -> Option<Sample> {
    let references = sample.references.iter().flatten();
    let turns = sample
        .history
        .iter()
        .flat_map(|turn| [&turn.role, &turn.text]);
    let mut texts = sample.question.iter().chain(references).chain(turns);
    if texts.all(|text| is_nfc(text)) {
        return None;
    }
    let turn = |turn: &Turn| Turn {
        role: nfc(turn.role.clone()),
        text: nfc(turn.text.clone()),
    };
    Some(Sample {
        question: sample.question.clone().map(nfc),
        references: sample
            .references
            .as_ref()
            .map(|texts| texts.iter().cloned().map(nfc).collect()),
        history: sample.history.iter().map(turn).collect(),
        ..Sample::default()
    })
}

fn sha256(value: &impl Serialize, buffer: &mut Vec<u8>) -> String {
    buffer.clear();
    // Writing plain structs to memory cannot fail. Of texts and lists, serde_json writes the canonical form.
    let _ = serde_json::to_writer(&mut *buffer, value);
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(buffer) {
        for digit in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    hex
}

/// The id of a sample that has none.
pub(super) fn made(sample: &Sample) -> String {
    let hash = &sample.input_sha256;
    format!("s-{}", hash.get(..12).unwrap_or(hash))
}

/// A sample without an id.
#[derive(Debug)]
struct Nameless {
    /// Hash of the variant and of the id that is to be made.
    group: u64,
    /// First 32 bits of the hash of the whole sample.
    content: u32,
    index: usize,
}

/// The ids met so far, as hashes.
#[derive(Debug, Default)]
pub(super) struct Ids {
    seen: HashMap<u64, u32>,
    nameless: Vec<Nameless>,
    buffer: Vec<u8>,
}

impl Ids {
    /// Takes the id of a sample; `Err` is the index of the sample that has it already.
    ///
    /// `is_same` compares with the sample of an index: two ids may have one hash.
    pub(super) fn take<E>(
        &mut self,
        sample: &Sample,
        index: usize,
        mut is_same: impl FnMut(usize) -> Result<bool, E>,
    ) -> Result<Result<(), usize>, E> {
        let mut key = hash(sample.variant.as_deref(), &sample.id);
        while let Some(&other) = self.seen.get(&key) {
            if is_same(other as usize)? {
                return Ok(Err(other as usize));
            }
            key = key.wrapping_add(1);
        }
        self.seen
            .insert(key, u32::try_from(index).unwrap_or(u32::MAX));
        Ok(Ok(()))
    }

    /// Notes a sample that has no id.
    pub(super) fn miss(&mut self, sample: &Sample, index: usize) {
        let content = sample_sha256(sample, &mut self.buffer);
        self.nameless.push(Nameless {
            group: hash(sample.variant.as_deref(), &made(sample)),
            content: u32::from_str_radix(&content[..8], 16).unwrap_or_default(),
            index,
        });
    }

    /// What is added to the made ids of samples that ask the same: the hash of the whole sample, and a number where
    /// that is equal too.
    pub(super) fn suffixes(mut self) -> HashMap<usize, String> {
        self.nameless
            .sort_unstable_by_key(|n| (n.group, n.content, n.index));
        let mut suffixes = HashMap::new();
        for group in self.nameless.chunk_by(|a, b| a.group == b.group) {
            let is_equal = |a: &Nameless, b: &Nameless| a.content == b.content;
            let is_one = group.chunk_by(is_equal).count() == 1;
            for equal in group.chunk_by(is_equal) {
                for (number, nameless) in (1..).zip(equal) {
                    let content = match is_one {
                        true => String::new(),
                        false => format!("-{:08x}", nameless.content),
                    };
                    let order = match number {
                        1 => String::new(),
                        _ => format!("-{number}"),
                    };
                    if !content.is_empty() || !order.is_empty() {
                        suffixes.insert(nameless.index, content + &order);
                    }
                }
            }
        }
        suffixes
    }

    /// The samples that have no id.
    pub(super) fn nameless(&self) -> Vec<usize> {
        self.nameless
            .iter()
            .map(|nameless| nameless.index)
            .collect()
    }

    /// The ids that were given, apart from those that are to be made.
    pub(super) fn given(&mut self) -> Ids {
        Ids {
            seen: std::mem::take(&mut self.seen),
            ..Ids::default()
        }
    }

    /// Whether any sample has an id.
    pub(super) fn has_given(&self) -> bool {
        !self.seen.is_empty()
    }
}

fn hash(variant: Option<&str>, id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (variant, id).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn asking(question: &str) -> Sample {
        Sample {
            question: Some(question.to_owned()),
            ..Sample::default()
        }
    }

    fn sha256_of(sample: &Sample) -> String {
        input_sha256(sample, &mut Vec::new())
    }

    #[test]
    fn the_input_hash_is_that_of_canonical_json() {
        let mut sample = asking("Is \"é\"\n\u{1f} there?");
        sample.references = Some(vec!["yes".to_owned(), "/".to_owned()]);
        sample.history = vec![Turn {
            role: "user".to_owned(),
            text: "Hi\u{7f}\u{2028}".to_owned(),
        }];
        sample.answer = Some("is no part of it".to_owned());
        let value = serde_json::json!({
            "question": sample.question, "references": sample.references, "history": sample.history,
        });
        let canonical = serde_json_canonicalizer::to_vec(&value).unwrap();
        let mut expected = String::new();
        for byte in Sha256::digest(canonical) {
            write!(expected, "{byte:02x}").unwrap();
        }
        assert_eq!(sha256_of(&sample), expected);
    }

    #[test]
    fn composed_and_decomposed_letters_are_one() {
        assert_eq!(
            sha256_of(&asking("caf\u{e9}")),
            sha256_of(&asking("cafe\u{301}"))
        );
        // The tilde is that of a line break, not of the n that writes it in JSON.
        assert_ne!(
            sha256_of(&asking("a\n\u{303}")),
            sha256_of(&asking("a\\\u{f1}"))
        );
        assert_ne!(sha256_of(&asking("cafe")), sha256_of(&asking("café")));
        assert_eq!(nfc("cafe\u{301}".to_owned()), "café");
    }

    /// The hash as any other program computes it.
    #[test]
    fn the_input_hash_of_the_documentation() {
        assert_eq!(
            sha256_of(&asking("What is a sample?")),
            "4621d5d30cb9e50a7c047e676555609eef2b2647a6d6b4002937db4c4cac5650"
        );
    }

    #[test]
    fn two_ids_with_one_hash_are_two() {
        let mut ids = Ids::default();
        let sample = asking("x");
        assert_eq!(ids.take(&sample, 0, |_| Ok::<_, ()>(true)), Ok(Ok(())));
        assert_eq!(ids.take(&sample, 1, |_| Ok::<_, ()>(false)), Ok(Ok(())));
        assert_eq!(
            ids.take(&sample, 2, |index| Ok::<_, ()>(index == 1)),
            Ok(Err(1))
        );
    }
}
