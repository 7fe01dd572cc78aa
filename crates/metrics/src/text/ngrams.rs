//! Counts of n-grams on two sides, of all orders at once.
//!
//! The letters (or tokens) are numbered, and the longest n-gram that begins at each place is packed into one number, the
//! first letter in its highest bits. Sorted, the n-grams of every order stand side by side: one sort counts them all.

use std::hash::Hash;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// How often n-grams of one order occur.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// In the answer.
    pub(super) answer: u64,
    /// In the reference.
    pub(super) reference: u64,
    /// In both, each as often as in the side that has fewer.
    pub(super) shared: u64,
}

impl Counts {
    /// The sum, order by order.
    pub(super) fn add(&mut self, other: Counts) {
        self.answer += other.answer;
        self.reference += other.reference;
        self.shared += other.shared;
    }
}

/// Numbers for what is counted, from 1; 0 stands for the end of a text.
#[derive(Debug)]
pub(super) struct Numbers<T>(FxHashMap<T, u32>);

impl<T: Eq + Hash> Default for Numbers<T> {
    fn default() -> Self {
        // Most sentences have no more letters or tokens that differ.
        Numbers(FxHashMap::with_capacity_and_hasher(56, FxBuildHasher))
    }
}

impl<T: Eq + Hash> Numbers<T> {
    /// The numbers of a text's letters or tokens.
    pub(super) fn of(&mut self, items: impl Iterator<Item = T>) -> Vec<u32> {
        items
            .map(|item| {
                let next = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
                *self.0.entry(item).or_insert(next)
            })
            .collect()
    }

    /// Bits that the largest number takes.
    fn bits(&self) -> u32 {
        usize::BITS - self.0.len().leading_zeros()
    }

    /// Counts of the orders 1 to `order`, which is at most 6; the answer's n-grams count as often as in any one of the
    /// references.
    pub(super) fn counts(&self, answer: &[u32], references: &[&[u32]], order: u32) -> Vec<Counts> {
        let texts = [&[answer], references].concat();
        let layout = Layout {
            letter: self.bits().max(1),
            text: usize::BITS - references.len().leading_zeros(),
            order,
        };
        let shared = match layout.letter * order + layout.text <= u64::BITS {
            // Two texts are the rule: their counts are no list.
            true if texts.len() == 2 => layout.shared::<u64, _>(&texts, &[0; 2]),
            true => layout.shared::<u64, _>(&texts, &vec![0; texts.len()]),
            false => layout.shared::<u128, _>(&texts, &vec![0; texts.len()]),
        };
        let number = |text: &[u32], n: u32| (text.len() as u64).saturating_sub(u64::from(n) - 1);
        (1..=order)
            .zip(shared)
            .map(|(n, shared)| Counts {
                answer: number(answer, n),
                reference: references.iter().map(|text| number(text, n)).sum(),
                shared,
            })
            .collect()
    }
}

/// How an n-gram and the number of its text are packed: the letters from the highest bits on, zeros in place of those that
/// are missing where the text ends, and the number of the text in the lowest bits.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// Bits of a letter.
    letter: u32,
    /// Bits of the number of a text.
    text: u32,
    order: u32,
}

impl Layout {
    /// How many n-grams of each order the first text shares with any one of the others.
    ///
    /// In sorted keys the occurrences of an n-gram are neighbours, for every order. They end where two neighbours have fewer
    /// letters in common.
    fn shared<K: Key, C: Numbered>(self, texts: &[&[u32]], none: &C) -> Vec<u64> {
        let mut keys = Vec::with_capacity(texts.iter().map(|text| text.len()).sum());
        for (number, text) in texts.iter().enumerate() {
            self.pack::<K>(number, text, &mut keys);
        }
        keys.sort_unstable();
        let orders = self.order as usize;
        let mut shared = vec![0; orders];
        // Keys of each text so far, and the same where the n-gram of each order began.
        let mut seen = none.clone();
        let mut began = vec![none.clone(); orders];
        let mut before = None;
        for key in keys {
            if let Some(before) = before {
                self.close(
                    before,
                    self.common(before, key),
                    &seen,
                    &mut began,
                    &mut shared,
                );
            }
            if let Some(count) = seen.as_mut().get_mut(key.low(self.text)) {
                *count += 1;
            }
            before = Some(key);
        }
        if let Some(last) = before {
            self.close(last, 0, &seen, &mut began, &mut shared);
        }
        shared
    }

    /// Adds up what ends behind `key`: the n-grams of more letters than the next one has in common with it.
    fn close<K: Key, C: Numbered>(
        self,
        key: K,
        common: usize,
        seen: &C,
        began: &mut [C],
        shared: &mut [u64],
    ) {
        let length = self.length(key);
        let open = (began.iter_mut().skip(common)).zip(shared.iter_mut().skip(common));
        for (at, (began, shared)) in (common..).zip(open) {
            let both = seen.as_ref().iter().zip(began.as_ref());
            let mut counts = both.map(|(now, then)| now - then);
            // What is cut off by the end of a text is no n-gram.
            if at < length
                && let Some(answer) = counts.next()
            {
                *shared += answer.min(counts.max().unwrap_or(0));
            }
            began.clone_from(seen);
        }
    }

    /// Appends the key of each place of a text.
    fn pack<K: Key>(self, number: usize, text: &[u32], keys: &mut Vec<K>) {
        let mut letters = K::default();
        let start = keys.len();
        for letter in text.iter().rev() {
            letters = letters.after(*letter, self.letter, self.order);
            keys.push(letters.with_low(number, self.text));
        }
        keys[start..].reverse();
    }

    /// How many letters two keys have in common, from the first on.
    fn common<K: Key>(self, one: K, other: K) -> usize {
        let unused = K::BITS - self.letter * self.order - self.text;
        let equal = one.equal_bits(other) - unused;
        (equal / self.letter).min(self.order) as usize
    }

    /// How many letters a key has.
    fn length<K: Key>(self, key: K) -> usize {
        (self.order - key.zeros_above(self.text) / self.letter) as usize
    }
}

/// A number for each text.
trait Numbered: Clone + AsRef<[u64]> + AsMut<[u64]> {}

impl<C: Clone + AsRef<[u64]> + AsMut<[u64]>> Numbered for C {}

/// A number that holds an n-gram.
trait Key: Copy + Default + Ord {
    const BITS: u32;

    /// The letters with one before them; the last one falls out.
    fn after(self, letter: u32, bits: u32, order: u32) -> Self;
    /// Letters, and a number below them.
    fn with_low(self, low: usize, bits: u32) -> Self;
    /// The number below.
    fn low(self, bits: u32) -> usize;
    /// From the highest on, how many bits are equal.
    fn equal_bits(self, other: Self) -> u32;
    /// How many bits are zero above the lowest so many, up to the first that is not.
    fn zeros_above(self, bits: u32) -> u32;
}

macro_rules! key {
    ($number:ty) => {
        impl Key for $number {
            const BITS: u32 = <$number>::BITS;

            fn after(self, letter: u32, bits: u32, order: u32) -> Self {
                (<$number>::from(letter) << (bits * (order - 1))) | (self >> bits)
            }

            fn with_low(self, low: usize, bits: u32) -> Self {
                (self << bits) | low as $number
            }

            fn low(self, bits: u32) -> usize {
                usize::try_from(self & ((1 << bits) - 1)).unwrap_or(usize::MAX)
            }

            fn equal_bits(self, other: Self) -> u32 {
                (self ^ other).leading_zeros()
            }

            fn zeros_above(self, bits: u32) -> u32 {
                (self >> bits).trailing_zeros()
            }
        }
    };
}

key!(u64);
key!(u128);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(answer: &str, references: &[&str], order: u32) -> Vec<[u64; 3]> {
        let mut numbers = Numbers::default();
        let answer = numbers.of(answer.chars());
        let references: Vec<_> = references
            .iter()
            .map(|reference| numbers.of(reference.chars()))
            .collect();
        let references: Vec<&[u32]> = references.iter().map(Vec::as_slice).collect();
        let counts = numbers.counts(&answer, &references, order);
        counts
            .iter()
            .map(|counts| [counts.answer, counts.reference, counts.shared])
            .collect()
    }

    #[test]
    fn each_order_is_counted() {
        assert_eq!(of("abab", &["aba"], 3), [[4, 3, 3], [3, 2, 2], [2, 1, 1]]);
        assert_eq!(of("", &["a"], 2), [[0, 1, 0], [0, 0, 0]]);
        assert_eq!(of("aaa", &["a", "aa"], 2), [[3, 3, 2], [2, 1, 1]]);
    }

    #[test]
    fn many_letters_need_longer_keys_and_give_the_same() {
        let many: String = (0x4e00..0x5e00_u32).filter_map(char::from_u32).collect();
        let all = of(&many, &[&many], 6);
        assert_eq!(all[0], [4096; 3]);
        assert_eq!(all[5], [4091; 3]);
    }
}
