//! Scripts that are written otherwise than with spaces between words.

/// Letters of scripts that put no space between words: Han, kana, Thai, Lao, Burmese, Khmer.
pub(crate) fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0e00..=0x0e4e | 0x0e80..=0x0ece | 0x1000..=0x109f | 0x1780..=0x17d3
        | 0x3005..=0x3007 | 0x3041..=0x309f | 0x30a1..=0x30ff | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
        && letter.is_alphabetic()
}
