//! Answers that decline to answer.

/// What an answer that declines says near its beginning, in lower case.
const PHRASES: [&str; 22] = [
    "i don't know",
    "i do not know",
    "i'm not sure",
    "i am not sure",
    "i cannot answer",
    "i can't answer",
    "i'm sorry, but",
    "i am sorry, but",
    "i apologize",
    "unable to answer",
    "unable to provide",
    "cannot be answered",
    "cannot provide",
    "can't provide",
    "don't have enough information",
    "do not have enough information",
    "don't have information",
    "do not have information",
    "no information",
    "not enough information",
    "does not provide information",
    "i don't have",
];

/// How much of the answer is looked at, in bytes.
const LOOKED_AT: usize = 160;

/// True when the answer says nothing but that there is none.
pub(crate) fn is_refusal(answer: &str) -> bool {
    let answer = answer.trim();
    let bare = answer.trim_end_matches(['.', '!']);
    if ["none", "n/a", "unknown", "no answer", "unanswerable"]
        .iter()
        .any(|word| bare.eq_ignore_ascii_case(word))
    {
        return true;
    }
    let start = &answer[..answer.floor_char_boundary(LOOKED_AT)];
    let start = start.to_lowercase().replace('’', "'");
    PHRASES.iter().any(|phrase| start.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_declines() {
        for answer in [
            "None.",
            "N/A",
            "I’m sorry, but I can't help.",
            "Based on the passages, I do not know.",
        ] {
            assert!(is_refusal(answer), "{answer}");
        }
        for answer in [
            "None of them.",
            "Paris",
            "",
            "He said so. ".repeat(20).as_str(),
        ] {
            assert!(!is_refusal(answer), "{answer}");
        }
    }
}
