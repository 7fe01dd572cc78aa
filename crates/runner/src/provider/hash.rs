//! A hash that is quick, and the same on every machine; no secret depends on it.

/// Hashes texts one after the other; each is closed off, so that moving a letter from one to the next changes the hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hasher(u64);

const FIRST: u64 = 0x2d35_8dcc_aa6c_78a5;
const SECOND: u64 = 0x8bb8_4b93_962e_acc9;

impl Hasher {
    pub(super) fn new(seed: u64) -> Self {
        Hasher(fold(seed ^ FIRST, SECOND))
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        // Four products at a time, which do not wait for each other.
        let (blocks, rest) = text.as_bytes().as_chunks::<32>();
        let mut lanes = [self.0, !self.0, self.0 ^ FIRST, self.0 ^ SECOND];
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            for (lane, word) in std::iter::zip(&mut lanes, words) {
                *lane = fold(*lane ^ u64::from_le_bytes(*word), SECOND);
            }
        }
        for lane in lanes {
            self = self.number(lane);
        }
        let (words, rest) = rest.as_chunks::<8>();
        for word in words {
            self.0 = fold(self.0 ^ u64::from_le_bytes(*word), SECOND);
        }
        let mut last = [0; 8];
        for (place, byte) in std::iter::zip(&mut last, rest) {
            *place = *byte;
        }
        self.0 = fold(self.0 ^ u64::from_le_bytes(last), SECOND);
        self.number(text.len() as u64)
    }

    pub(super) fn number(self, number: u64) -> Self {
        Hasher(fold(self.0 ^ number ^ FIRST, SECOND))
    }

    pub(super) fn finish(self) -> u64 {
        mix(self.0)
    }
}

/// Both halves of the product, one upon the other.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    let low = product as u64;
    low ^ u64::try_from(product >> 64).unwrap_or_default()
}

/// The finish of `SplitMix64`: each bit of the input moves half of the bits of the output.
pub(super) fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// From 0 to below 1.
pub(super) fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        // Simulated scores are compared with baselines of other machines and earlier versions.
        let long = "abcdefgh".repeat(9);
        let hash = Hasher::new(0)
            .text("faithfulness")
            .text("")
            .text(&long)
            .number(3);
        assert_eq!(hash.finish(), 14_267_172_980_072_215_297);
    }

    #[test]
    fn a_letter_that_moves_changes_it() {
        let hash = |a: &str, b: &str| Hasher::new(1).text(a).text(b).finish();
        assert_ne!(hash("ab", "c"), hash("a", "bc"));
        assert_ne!(hash("", "a"), hash("a", ""));
        assert_ne!(hash("12345678", ""), hash("12345678\0", ""));
        let long = "abcdefgh".repeat(20);
        for place in 0..long.len() {
            let mut other = long.clone();
            other.replace_range(place..=place, "X");
            assert_ne!(hash(&long, ""), hash(&other, ""), "{place}");
        }
        assert_ne!(
            hash(&format!("{}{}", "a".repeat(8), "b".repeat(24)), ""),
            hash(&format!("{}{}", "b".repeat(8), "a".repeat(24)), "")
        );
    }
}
