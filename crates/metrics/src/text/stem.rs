//! English stems, as `rouge-score` takes them: Porter's algorithm (1980) with the extensions of NLTK.

/// Irregular words, and their stems.
const IRREGULAR: [(&str, &str); 14] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
];

/// Words that stay as they are.
const FIXED: [&str; 2] = ["exceed", "succeed"];

/// What a suffix of step 2 becomes where something measurable is before it; the first that fits counts.
const STEP_2: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

const STEP_3: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Suffixes that go where two measures are before them.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// Puts the stem in the place of a word of more than three letters of ASCII, in lower case; other words stay.
pub(super) fn stem(word: &mut String) {
    if word.len() <= 3 || !word.is_ascii() {
        return;
    }
    if let Some((_, stem)) = IRREGULAR.iter().find(|(known, _)| known == word) {
        *word = (*stem).to_owned();
        return;
    }
    if FIXED.contains(&word.as_str()) {
        return;
    }
    plural(word);
    past(word);
    ending_y(word);
    step_2(word);
    replace_first(word, &STEP_3);
    step_4(word);
    ending_e(word);
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
}

fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

/// How often a vowel is followed by a consonant.
fn measure(stem: &str) -> usize {
    let bytes = stem.as_bytes();
    (1..bytes.len())
        .filter(|at| is_consonant(bytes, *at) && !is_consonant(bytes, at - 1))
        .count()
}

fn has_vowel(stem: &str) -> bool {
    let bytes = stem.as_bytes();
    (0..bytes.len()).any(|at| !is_consonant(bytes, at))
}

fn ends_in_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    let last = bytes.len().wrapping_sub(1);
    bytes.len() >= 2 && bytes[last] == bytes[last - 1] && is_consonant(bytes, last)
}

/// Consonant, vowel, consonant, the last one no w, x or y.
fn ends_short(word: &str) -> bool {
    let bytes = word.as_bytes();
    let count = bytes.len();
    match count {
        0 | 1 => false,
        2 => !is_consonant(bytes, 0) && is_consonant(bytes, 1),
        _ => {
            is_consonant(bytes, count - 3)
                && !is_consonant(bytes, count - 2)
                && is_consonant(bytes, count - 1)
                && !matches!(bytes[count - 1], b'w' | b'x' | b'y')
        }
    }
}

fn replace_end(word: &mut String, suffix: usize, by: &str) {
    word.truncate(word.len() - suffix);
    word.push_str(by);
}

fn plural(word: &mut String) {
    if word.ends_with("ies") {
        let by = if word.len() == 4 { "ie" } else { "i" };
        replace_end(word, 3, by);
    } else if word.ends_with("sses") {
        replace_end(word, 2, "");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

fn past(word: &mut String) {
    if word.ends_with("ied") {
        let by = if word.len() == 4 { "ie" } else { "i" };
        return replace_end(word, 3, by);
    }
    if let Some(stem) = word.strip_suffix("eed") {
        if measure(stem) > 0 {
            word.pop();
        }
        return;
    }
    let stem = ["ed", "ing"]
        .iter()
        .find_map(|suffix| word.strip_suffix(suffix).filter(|stem| has_vowel(stem)));
    let Some(length) = stem.map(str::len) else {
        return;
    };
    word.truncate(length);
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if ends_in_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn ending_y(word: &mut String) {
    if let Some(stem) = word.strip_suffix('y')
        && stem.len() > 1
        && is_consonant(stem.as_bytes(), stem.len() - 1)
    {
        replace_end(word, 1, "i");
    }
}

fn step_2(word: &mut String) {
    if let Some(stem) = word.strip_suffix("alli")
        && measure(stem) > 0
    {
        replace_end(word, 2, "");
        return step_2(word);
    }
    if replace_first(word, &STEP_2) {
        return;
    }
    if word.ends_with("logi") && measure(&word[..word.len() - 3]) > 0 {
        word.pop();
    }
}

/// True when a suffix fits, also where nothing measurable is before it and the word stays.
fn replace_first(word: &mut String, rules: &[(&str, &str)]) -> bool {
    let Some((suffix, by)) = rules.iter().find(|(suffix, _)| word.ends_with(suffix)) else {
        return false;
    };
    if measure(&word[..word.len() - suffix.len()]) > 0 {
        replace_end(word, suffix.len(), by);
    }
    true
}

fn step_4(word: &mut String) {
    let Some(suffix) = STEP_4.iter().find(|suffix| word.ends_with(**suffix)) else {
        return;
    };
    let stem = &word[..word.len() - suffix.len()];
    if measure(stem) > 1 && (*suffix != "ion" || stem.ends_with(['s', 't'])) {
        word.truncate(stem.len());
    }
}

fn ending_e(word: &mut String) {
    if let Some(stem) = word.strip_suffix('e') {
        let measure = measure(stem);
        if measure > 1 || (measure == 1 && !ends_short(stem)) {
            word.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NLTK 3.9 gives them.
    #[test]
    fn stems_are_those_of_nltk() {
        for (word, expected) in [
            ("running", "run"),
            ("flies", "fli"),
            ("dies", "die"),
            ("dying", "die"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("generalization", "gener"),
            ("agreed", "agre"),
            ("feed", "feed"),
            ("hopping", "hop"),
            ("hoping", "hope"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("enjoy", "enjoy"),
            ("adoption", "adopt"),
            ("controlled", "control"),
            ("rate", "rate"),
            ("geology", "geolog"),
            ("hopefully", "hope"),
            ("the", "the"),
            ("école", "école"),
        ] {
            let mut word = word.to_owned();
            stem(&mut word);
            assert_eq!(word, expected);
        }
    }
}
