//! A whole cache as one file: JSON Lines, an answer a line, in the order of the keys.
//!
//! The same answers give the same bytes, whatever machine packs them, so that a pack can be committed and compared.

use std::io::{BufRead, BufReader, Read, Seek, Write};

use super::entry::{self, Found, MAX_BYTES};
use super::upkeep::Kind;
use super::{Cache, CacheError, Entry, Key, read};

/// What was packed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packed {
    /// Answers.
    pub entries: u64,
    /// Bytes of the pack.
    pub bytes: u64,
    /// Answers that were left out because they are damaged.
    pub damaged: u64,
    /// Files that were left out because rag-gate has not written them.
    pub foreign: u64,
}

/// What was unpacked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Answers that the cache did not have.
    pub added: u64,
    /// Answers that it had.
    pub known: u64,
    /// Answers of which it has another one, given by the same judge to the same question; its own stays.
    pub differing: u64,
}

impl Cache {
    /// Writes all answers into one file.
    pub fn pack(&self, mut out: impl Write) -> Result<Packed, CacheError> {
        let of_pack = |source| CacheError::Pack { source };
        let mut packed = Packed::default();
        let mut answers = Vec::new();
        self.walk(&mut |item| {
            match item.kind {
                Kind::Answer { key, .. } => answers.push(key),
                Kind::Damaged => packed.damaged += 1,
                Kind::Foreign => packed.foreign += 1,
                Kind::Temporary { .. } => {}
            }
            Ok(())
        })?;
        answers.sort_unstable();
        for key in answers {
            let path = self.path(&key);
            // Read again, so that memory holds one answer at a time.
            let Ok(Found::Whole(_, entry)) = read(&path) else {
                continue;
            };
            let line = entry::line(&key, &entry)
                .map_err(|source| CacheError::NotStorable { key, source })?;
            out.write_all(&line).map_err(of_pack)?;
            packed.entries += 1;
            packed.bytes += line.len() as u64;
        }
        out.flush().map_err(of_pack)?;
        Ok(packed)
    }

    /// Adds the answers of a pack to those that are here.
    ///
    /// Every line is checked before the first one is added: a file that is damaged anywhere changes nothing.
    pub fn unpack(&self, input: impl Read) -> Result<Unpacked, CacheError> {
        let of_pack = |source| CacheError::Pack { source };
        // Standard input is read once, and the pack may be larger than memory.
        let mut checked = tempfile::tempfile().map_err(of_pack)?;
        for_each(input, |line, _, _| checked.write_all(line).map_err(of_pack))?;
        checked.rewind().map_err(of_pack)?;
        let mut unpacked = Unpacked::default();
        for_each(checked, |_, key, entry| {
            let path = self.path(&key);
            match read(&path) {
                Ok(Found::Whole(found, ours)) if found == key => {
                    if ours.answer == entry.answer {
                        unpacked.known += 1;
                    } else {
                        unpacked.differing += 1;
                    }
                }
                _ => {
                    let bytes = entry::file(&key, &entry)
                        .map_err(|source| CacheError::NotStorable { key, source })?;
                    self.write(&key, &bytes)
                        .map_err(|source| CacheError::Unwritable { path, source })?;
                    unpacked.added += 1;
                }
            }
            Ok(())
        })?;
        Ok(unpacked)
    }
}

/// Reads a pack line by line.
fn for_each(
    input: impl Read,
    mut visit: impl FnMut(&[u8], Key, Entry) -> Result<(), CacheError>,
) -> Result<(), CacheError> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let length = (&mut input)
            .take(MAX_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(|source| CacheError::Pack { source })?;
        if length == 0 {
            return Ok(());
        }
        number += 1;
        let problem = match entry::read(&line) {
            // The last line of a file that was cut off is seldom a whole answer, and never has its end.
            Found::Whole(..) if !line.ends_with(b"\n") => {
                "the file was cut off after it".to_owned()
            }
            Found::Whole(key, entry) => {
                visit(&line, key, entry)?;
                continue;
            }
            Found::Damaged(problem) => problem,
            Found::Foreign => "rag-gate has not packed it, or it was cut off".to_owned(),
        };
        return Err(CacheError::NotAPack {
            line: number,
            problem,
        });
    }
}

#[cfg(test)]
mod tests {
    use gate::policy::CacheMode;

    use super::super::tests::{entry, key};
    use super::*;

    fn filled(numbers: impl Iterator<Item = u32>) -> (tempfile::TempDir, Cache) {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), CacheMode::ReadWrite).unwrap();
        for number in numbers {
            cache
                .put(&key(number), &entry(&format!("answer {number}")))
                .unwrap();
        }
        (root, cache)
    }

    fn packed(cache: &Cache) -> Vec<u8> {
        let mut bytes = Vec::new();
        cache.pack(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_answers_give_the_same_pack_and_come_back() {
        let (_one, one) = filled(0..20);
        let (_other, other) = filled((0..20).rev());
        let bytes = packed(&one);
        assert_eq!(bytes, packed(&other));

        let (_new, new) = filled(0..5);
        let unpacked = new.unpack(&bytes[..]).unwrap();
        let expected = Unpacked {
            added: 15,
            known: 5,
            differing: 0,
        };
        assert_eq!(unpacked, expected);
        assert_eq!(packed(&new), bytes);
        assert_eq!(new.get(&key(13)), Some(entry("answer 13")));
    }

    #[test]
    fn an_answer_that_is_here_stays_and_a_damaged_one_is_mended() {
        let (_one, one) = filled(0..3);
        let bytes = packed(&one);
        one.put(&key(0), &entry("ours")).unwrap();
        std::fs::write(one.path(&key(1)), "torn").unwrap();
        let unpacked = one.unpack(&bytes[..]).unwrap();
        let expected = Unpacked {
            added: 1,
            known: 1,
            differing: 1,
        };
        assert_eq!(unpacked, expected);
        assert_eq!(one.get(&key(0)).unwrap().answer, "ours");
        assert_eq!(one.get(&key(1)), Some(entry("answer 1")));
    }

    #[test]
    fn a_file_that_is_wrong_anywhere_changes_nothing() {
        let (_one, one) = filled(0..5);
        let bytes = packed(&one);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let cases = [
            bytes[..bytes.len() - 1].to_vec(),
            bytes[..bytes.len() - 40].to_vec(),
            text.replace("answer 3", "answer 4").into_bytes(),
            format!("{text}{{\"faithfulness\": 0.8}}\n").into_bytes(),
            format!("{text}\n").into_bytes(),
            b"hello".to_vec(),
        ];
        for wrong in cases {
            let (_new, new) = filled(0..0);
            let error = new.unpack(&wrong[..]).unwrap_err();
            assert!(matches!(error, CacheError::NotAPack { .. }), "{error}");
            assert_eq!(new.stats().unwrap().files, 0);
        }
    }

    #[test]
    fn nothing_packs_to_nothing() {
        let (_root, cache) = filled(0..0);
        assert_eq!(packed(&cache), b"");
        assert_eq!(cache.unpack(&b""[..]).unwrap(), Unpacked::default());
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_counted() {
        let (root, cache) = filled(0..3);
        std::fs::write(cache.path(&key(1)), "").unwrap();
        std::fs::write(root.path().join("notes"), "").unwrap();
        let mut bytes = Vec::new();
        let packed = cache.pack(&mut bytes).unwrap();
        assert_eq!((packed.entries, packed.damaged, packed.foreign), (2, 1, 1));
        assert_eq!(packed.bytes, bytes.len() as u64);
    }
}
