//! Counts of n-grams on two sides, of all orders at once.
//!
//! The letters (or tokens) are numbered, and the longest n-gram that begins at each place is packed into one number, the
//! first letter in its highest bits. Sorted, the n-grams of every order stand side by side: one sort counts them all.

use std::collections::HashMap;
use std::hash::Hash;

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
pub(super) struct Numbers<T>(HashMap<T, u32>);

impl<T: Eq + Hash> Default for Numbers<T> {
    fn default() -> Self {
        Numbers(HashMap::new())
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

    /// The n-grams of 1 to `order` of a text, sorted; `order` is at most 6.
    pub(super) fn sorted(&self, numbers: &[u32], order: u32) -> Sorted {
        let bits = self.bits().max(1);
        if bits * order <= u64::BITS {
            Sorted::Short(packed(numbers, order, bits, |key, next| {
                (key << bits) | u64::from(next)
            }))
        } else {
            Sorted::Long(packed(numbers, order, bits, |key, next| {
                (key << bits) | u128::from(next)
            }))
        }
    }

    /// Counts of the orders 1 to `order`; the answer's n-grams count as often as in any one of the references.
    pub(super) fn counts(&self, answer: &Sorted, references: &[Sorted], order: u32) -> Vec<Counts> {
        let bits = self.bits().max(1);
        (1..=order)
            .map(|n| {
                let shift = bits * (order - n);
                match answer {
                    Sorted::Short(answer) => {
                        let references = references.iter().map(|side| match side {
                            Sorted::Short(side) => side.as_slice(),
                            Sorted::Long(_) => &[],
                        });
                        count(answer, references, |key| {
                            (key >> shift, (key >> shift) & mask64(bits))
                        })
                    }
                    Sorted::Long(answer) => {
                        let references = references.iter().map(|side| match side {
                            Sorted::Long(side) => side.as_slice(),
                            Sorted::Short(_) => &[],
                        });
                        count(answer, references, |key| {
                            (key >> shift, (key >> shift) & mask128(bits))
                        })
                    }
                }
            })
            .collect()
    }
}

fn mask64(bits: u32) -> u64 {
    u64::MAX >> (u64::BITS - bits)
}

fn mask128(bits: u32) -> u128 {
    u128::MAX >> (u128::BITS - bits)
}

/// N-grams of one text, those of lower orders as beginnings of those of the highest.
#[derive(Debug)]
pub(super) enum Sorted {
    /// That fit into 64 bits, which is what most texts need.
    Short(Vec<u64>),
    /// That need more.
    Long(Vec<u128>),
}

fn packed<K: Copy + Default + Ord>(
    numbers: &[u32],
    order: u32,
    _bits: u32,
    push: impl Fn(K, u32) -> K,
) -> Vec<K> {
    let order = order as usize;
    let mut keys: Vec<K> = (0..numbers.len())
        .map(|start| {
            (start..start + order).fold(K::default(), |key, at| {
                push(key, numbers.get(at).copied().unwrap_or(0))
            })
        })
        .collect();
    keys.sort_unstable();
    keys
}

/// The counts of one order. `part` gives the n-gram of a key, and its last letter, which is 0 where the text ends before.
fn count<'a, K: Copy + Default + Ord + 'a>(
    answer: &[K],
    references: impl Iterator<Item = &'a [K]>,
    part: impl Fn(K) -> (K, K),
) -> Counts {
    let answer = groups(answer, &part);
    let mut best: Vec<(K, u64)> = Vec::new();
    let mut total = 0;
    for side in references {
        let side = groups(side, &part);
        total += side.iter().map(|(_, count)| count).sum::<u64>();
        best = if best.is_empty() {
            side
        } else {
            most(&best, &side)
        };
    }
    Counts {
        answer: answer.iter().map(|(_, count)| count).sum(),
        reference: total,
        shared: shared(&answer, &best),
    }
}

/// Each n-gram once, with how often it occurs.
fn groups<K: Copy + Default + Ord>(keys: &[K], part: &impl Fn(K) -> (K, K)) -> Vec<(K, u64)> {
    let mut groups: Vec<(K, u64)> = Vec::with_capacity(keys.len());
    for &key in keys {
        let (gram, last) = part(key);
        if last == K::default() {
            continue;
        }
        match groups.last_mut() {
            Some((known, count)) if *known == gram => *count += 1,
            _ => groups.push((gram, 1)),
        }
    }
    groups
}

fn shared<K: Copy + Ord>(one: &[(K, u64)], other: &[(K, u64)]) -> u64 {
    let (mut at, mut shared) = (0, 0);
    for (gram, count) in one {
        while other.get(at).is_some_and(|(known, _)| known < gram) {
            at += 1;
        }
        if let Some((known, theirs)) = other.get(at)
            && known == gram
        {
            shared += count.min(theirs);
        }
    }
    shared
}

/// The higher count of each n-gram.
fn most<K: Copy + Ord>(one: &[(K, u64)], other: &[(K, u64)]) -> Vec<(K, u64)> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    let mut best: Vec<(K, u64)> = Vec::with_capacity(all.len());
    for (gram, count) in all {
        match best.last_mut() {
            Some((known, most)) if *known == gram => *most = (*most).max(count),
            _ => best.push((gram, count)),
        }
    }
    best
}

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
        let references: Vec<_> = references
            .iter()
            .map(|reference| numbers.sorted(reference, order))
            .collect();
        let answer = numbers.sorted(&answer, order);
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
