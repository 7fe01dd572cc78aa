//! The content words of a text, as keys that are equal when the words are.

use unicode_normalization::UnicodeNormalization as _;

use crate::script::is_unspaced;

/// A content word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// Equal for equal words, whatever their case; of different words hardly ever.
    pub(super) key: u64,
    /// True when it has a digit.
    pub(super) is_number: bool,
    /// Where it begins in the text.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Words that are in every text, in lower case.
const STOP: [&str; 140] = [
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "ll",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "re",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "ve",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
    "yours",
    "however",
    "therefore",
    "thus",
    "additionally",
    "overall",
    "doesn",
    "didn",
    "isn",
    "wasn",
    "aren",
    "couldn",
    "wouldn",
    "shouldn",
    "hasn",
    "yes",
];

/// The content words of `text`: no stop words and no single letters. A number is a word, `5,000` being `5000`; scripts
/// without spaces give pairs of letters.
pub(super) fn words(text: &str, see: &mut impl FnMut(Word)) {
    all_words(text, &mut |word: Word| {
        if word.is_number || !is_stop(word.key) {
            see(word);
        }
    });
}

/// The words of `text`, stop words too: enough, and faster, where they are looked up among content words.
pub(super) fn all_words(text: &str, see: &mut impl FnMut(Word)) {
    if text.is_ascii() {
        ascii_words(text.as_bytes(), see);
    } else {
        unicode_words(text, see);
    }
}

/// What a byte is: 0 no part of a word, 1 a digit, else its lower-case letter.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_digit() {
            class[byte as usize] = 1;
        } else if byte.is_ascii_alphabetic() {
            class[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    class
};

fn ascii_words(text: &[u8], see: &mut impl FnMut(Word)) {
    let class = |at: usize| text.get(at).map_or(0, |&byte| CLASS[usize::from(byte)]);
    let mut at = 0;
    while at < text.len() {
        let first = class(at);
        if first == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let mut key = Key::default();
        loop {
            let letter = class(at);
            if letter > 1 {
                key.push(u64::from(letter));
            } else if letter == 1 {
                key.is_number = true;
                key.push(u64::from(text[at]));
            } else if key.is_number && class(at - 1) == 1 && class(at + 1) == 1 {
                // Within a number, as in `5,000` and `3.14`.
                match text[at] {
                    b',' => {}
                    b'.' => key.push(u64::from(b'.')),
                    _ => break,
                }
            } else {
                break;
            }
            at += 1;
        }
        key.end(start, at, see);
    }
}

fn unicode_words(text: &str, see: &mut impl FnMut(Word)) {
    let mut key = Key::default();
    // The word under way, and the unspaced letter before it with its place.
    let mut start = 0;
    let mut before: Option<(u64, usize)> = None;
    let mut is_pair = false;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        if is_unspaced(letter) {
            std::mem::take(&mut key).end(start, at, see);
            let code = u64::from(u32::from(letter));
            if let Some((first, first_at)) = before {
                let mut pair = Key::default();
                pair.push(first);
                pair.push(code);
                pair.end(first_at, end, see);
                is_pair = true;
            }
            before = Some((code, at));
            continue;
        }
        end_of_run(before.take(), std::mem::take(&mut is_pair), see);
        let is_next_digit = letters
            .peek()
            .is_some_and(|(_, next)| next.is_ascii_digit());
        match letter {
            ',' if key.is_after_digit && is_next_digit => {}
            '.' if key.is_after_digit && is_next_digit => key.push(u64::from(b'.')),
            _ if letter.is_alphanumeric() => {
                if key.length == 0 {
                    start = at;
                }
                push_letter(&mut key, letter);
            }
            // A combining mark is a part of its letter.
            _ if key.length > 0 && is_mark(letter) => push_letter(&mut key, letter),
            _ => std::mem::take(&mut key).end(start, at, see),
        }
    }
    end_of_run(before, is_pair, see);
    key.end(start, text.len(), see);
}

/// A single letter of a script without spaces is a word.
fn end_of_run(before: Option<(u64, usize)>, is_pair: bool, see: &mut impl FnMut(Word)) {
    if let Some((code, start)) = before
        && !is_pair
    {
        let mut single = Key::default();
        single.push(code);
        single.push(0);
        let end = start
            + u32::try_from(code)
                .ok()
                .and_then(char::from_u32)
                .map_or(1, char::len_utf8);
        single.end(start, end, see);
    }
}

fn push_letter(key: &mut Key, letter: char) {
    if letter.is_ascii() {
        key.is_after_digit = letter.is_ascii_digit();
        key.is_number |= key.is_after_digit;
        key.push(u64::from(u32::from(letter.to_ascii_lowercase())));
        return;
    }
    // Decomposed, so that an accent is the same however it was typed.
    let lower = std::iter::once(letter).nfkd().flat_map(char::to_lowercase);
    for letter in lower {
        let is_digit = letter.is_numeric();
        key.is_after_digit = is_digit;
        key.is_number |= is_digit;
        key.push(u64::from(u32::from(letter)));
    }
}

fn is_mark(letter: char) -> bool {
    unicode_normalization::char::is_combining_mark(letter)
}

/// A key under way.
#[derive(Debug, Default, Clone, Copy)]
struct Key {
    bits: u64,
    length: u32,
    is_number: bool,
    is_after_digit: bool,
}

impl Key {
    /// Each ASCII letter has bits of its own for the first nine: short words cannot collide.
    const fn push(&mut self, letter: u64) {
        self.bits = self.bits.rotate_left(7) ^ letter;
        self.length += 1;
    }

    /// Shows the word, unless it says nothing.
    fn end(self, start: usize, end: usize, see: &mut impl FnMut(Word)) {
        if self.length == 0 || (self.length == 1 && !self.is_number) {
            return;
        }
        see(Word {
            key: self.hash(),
            is_number: self.is_number,
            start,
            end,
        });
    }

    /// Never 0.
    const fn hash(self) -> u64 {
        mix(self.bits ^ ((self.length as u64) << 58)) | 1
    }
}

const fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^ (bits >> 29)
}

const STOP_SLOTS: usize = 512;

/// The keys of the stop words, by open addressing.
const STOP_TABLE: [u64; STOP_SLOTS] = {
    let mut table = [0; STOP_SLOTS];
    let mut index = 0;
    while index < STOP.len() {
        let bytes = STOP[index].as_bytes();
        let mut key = Key {
            bits: 0,
            length: 0,
            is_number: false,
            is_after_digit: false,
        };
        let mut at = 0;
        while at < bytes.len() {
            key.push(bytes[at] as u64);
            at += 1;
        }
        let hash = key.hash();
        let mut slot = slot(hash, STOP_SLOTS);
        while table[slot] != 0 {
            slot = (slot + 1) % STOP_SLOTS;
        }
        table[slot] = hash;
        index += 1;
    }
    table
};

const fn slot(hash: u64, slots: usize) -> usize {
    (hash >> 1) as usize & (slots - 1)
}

fn is_stop(key: u64) -> bool {
    let mut at = slot(key, STOP_SLOTS);
    while STOP_TABLE[at] != 0 {
        if STOP_TABLE[at] == key {
            return true;
        }
        at = (at + 1) % STOP_SLOTS;
    }
    false
}

/// A set of words, numbered in the order they came.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Key and number by open addressing, a power of two of them and never more than half full; 0 is no key.
    slots: Vec<(u64, u32)>,
    count: u32,
}

impl Words {
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// The number of the word.
    pub(super) fn insert(&mut self, key: u64) -> u32 {
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let at = self.place(key);
        if self.slots[at].0 == 0 {
            self.slots[at] = (key, self.count);
            self.count += 1;
        }
        self.slots[at].1
    }

    pub(super) fn find(&self, key: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, number) = self.slots[self.place(key)];
        (found == key).then_some(number)
    }

    /// Where the key is, or where it would be.
    fn place(&self, key: u64) -> usize {
        let mut at = slot(key, self.slots.len());
        while self.slots[at].0 != 0 && self.slots[at].0 != key {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    fn grow(&mut self) {
        let slots = vec![(0, 0); (4 * self.slots.len()).max(64)];
        for entry in std::mem::replace(&mut self.slots, slots) {
            if entry.0 != 0 {
                let at = self.place(entry.0);
                self.slots[at] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        words(text, &mut |word: Word| {
            all.push(&text[word.start..word.end]);
        });
        all
    }

    fn keys(text: &str) -> Vec<u64> {
        let mut all = Vec::new();
        words(text, &mut |word: Word| all.push(word.key));
        all
    }

    #[test]
    fn content_words() {
        assert_eq!(
            texts("The cat's 5,000 toys (in 3.14 s)."),
            ["cat", "5,000", "toys", "3.14"]
        );
        assert_eq!(
            texts("Überall gibt's 7 Äpfel. a"),
            ["Überall", "gibt", "7", "Äpfel"]
        );
        assert_eq!(texts("北京是 X1 茶"), ["北京", "京是", "X1", "茶"]);
        assert_eq!(texts(""), Vec::<&str>::new());
    }

    #[test]
    fn equal_words_have_equal_keys() {
        for (one, other) in [
            ("PARIS 5,000", "paris 5000"),
            ("ﬁne Café", "FINE cafe\u{301}"),
            ("１２", "12"),
            ("naive é", "NAIVE É"),
        ] {
            assert_eq!(keys(one), keys(other), "{one}");
        }
        assert_ne!(keys("Paris"), keys("Pairs"));
        assert_ne!(keys("5.0"), keys("50"));
    }

    #[test]
    fn all_stop_words_are_known() {
        for word in STOP {
            assert_eq!(texts(word), Vec::<&str>::new(), "{word}");
        }
    }

    #[test]
    fn a_set_numbers_its_words() {
        let mut words = Words::default();
        for key in 0..1000_u64 {
            assert_eq!(u64::from(words.insert(mix(key) | 1)), key);
        }
        for key in 0..1000_u64 {
            assert_eq!(words.find(mix(key) | 1).map(u64::from), Some(key));
        }
        assert_eq!(words.find(mix(5000) | 1), None);
        assert_eq!(Words::default().find(7), None);
    }

    proptest! {
        #[test]
        fn both_ways_see_the_same_words(text in "[a-zA-C0-9 .,'\n-]{0,40}") {
            let mut slow = Vec::new();
            unicode_words(&text, &mut |word: Word| slow.push((word.key, word.is_number, word.start, word.end)));
            let mut fast = Vec::new();
            ascii_words(text.as_bytes(), &mut |word: Word| fast.push((word.key, word.is_number, word.start, word.end)));
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn places_are_within_the_text(text in "\\PC{0,40}|[京都 áe\u{301}a1.,]{0,20}") {
            words(&text, &mut |word: Word| assert!(text.get(word.start..word.end).is_some_and(|word| !word.is_empty())));
        }
    }
}
