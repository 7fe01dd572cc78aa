//! The form of an answer, as the instructions ask for it and as a judge that missed it is told again.

use crate::request::Expect;

const JSON: &str = "Answer with one JSON object and nothing else, in this form:\n";

/// A verdict on each item.
pub(crate) fn verdicts() -> String {
    format!(
        "{JSON}\
         {{\"verdicts\": [{{\"id\": 1, \"reason\": \"\", \"verdict\": true}}, {{\"id\": 2, \"reason\": \"why not\", \"verdict\": \
         false}}]}}\n\
         Give exactly one entry for each number, in their order. Leave `reason` empty when `verdict` is true, else give it \
         in English in at most 15 words."
    )
}

/// A verdict on each item, with the words that it rests on.
pub(crate) fn quotes() -> String {
    format!(
        "{JSON}\
         {{\"verdicts\": [{{\"id\": 1, \"quote\": \"words of a passage\", \"reason\": \"\", \"verdict\": true}}, {{\"id\": 2, \
         \"quote\": \"\", \"reason\": \"why not\", \"verdict\": false}}]}}\n\
         Give exactly one entry for each number, in their order. When `verdict` is true, `quote` holds the words of the \
         passages that support the claim, copied letter by letter, at most 30 words; `…` joins two places. For what claims \
         no fact, `quote` is \"no fact\". Leave `reason` empty when `verdict` is true, else give it in English in at most \
         15 words."
    )
}

/// The sources that hold each item.
pub(crate) fn sources() -> String {
    format!(
        "{JSON}\
         {{\"items\": [{{\"id\": 1, \"sources\": [1, 3]}}, {{\"id\": 2, \"sources\": []}}]}}\n\
         Give exactly one entry for each number of a claim, in their order. `sources` has the numbers of all sources that \
         hold the claim; none when no source does."
    )
}

/// Texts, at most so many.
pub(crate) fn texts(what: &str) -> String {
    format!(
        "{JSON}\
         {{\"texts\": [\"…\", \"…\"]}}\n\
         {what}"
    )
}

/// A grade on a scale, and why.
pub(crate) fn grade([low, high]: [i64; 2]) -> String {
    format!(
        "{JSON}\
         {{\"grade\": {high}, \"reason\": \"why\"}}\n\
         `grade` is a whole number from {low} to {high}. Give `reason` in English in at most 25 words."
    )
}

/// Why, and then a grade: what is weighted comes last, when the judge has made up its mind.
pub(crate) fn weighted_grade([low, high]: [i64; 2]) -> String {
    format!(
        "{JSON}\
         {{\"explanation\": \"why\", \"grade\": {high}}}\n\
         `grade` is a whole number from {low} to {high}. Give `explanation` in English in at most 40 words."
    )
}

/// One verdict, and why.
pub(crate) fn yes_no() -> String {
    format!(
        "{JSON}\
         {{\"verdicts\": [{{\"id\": 1, \"reason\": \"why\", \"verdict\": true}}]}}\n\
         `verdict` is true for yes and false for no. Give `reason` in English in at most 25 words."
    )
}

/// For a judge that missed it.
pub(crate) fn again(expect: Expect) -> String {
    match expect {
        Expect::Verdicts { items } => format!(
            "one JSON object and nothing else: {{\"verdicts\": [{{\"id\": 1, \"reason\": \"\", \"verdict\": true}}, …]}}, \
             with exactly one entry for each number from 1 to {items}, and `verdict` true or false"
        ),
        Expect::Quotes { items } => format!(
            "one JSON object and nothing else: {{\"verdicts\": [{{\"id\": 1, \"quote\": \"…\", \"reason\": \"\", \"verdict\": \
             true}}, …]}}, with exactly one entry for each number from 1 to {items}, and `verdict` true or false"
        ),
        Expect::Sources { items, sources } => format!(
            "one JSON object and nothing else: {{\"items\": [{{\"id\": 1, \"sources\": [1, 2]}}, …]}}, with exactly one entry \
             for each number from 1 to {items}, and in `sources` numbers from 1 to {sources}, or none"
        ),
        Expect::Texts { least, most } if least == most => format!(
            "one JSON object and nothing else: {{\"texts\": [\"…\", \"…\"]}}, with exactly {most} texts, or none"
        ),
        Expect::Texts { most, .. } => format!(
            "one JSON object and nothing else: {{\"texts\": [\"…\", \"…\"]}}, with at most {most} texts"
        ),
        Expect::Grade { low, high } => format!(
            "one JSON object and nothing else: {{\"grade\": {high}, \"reason\": \"why\"}}, with `grade` a whole number \
             from {low} to {high}"
        ),
        Expect::WeightedGrade { low, high } => format!(
            "one JSON object and nothing else: {{\"explanation\": \"why\", \"grade\": {high}}}, with `grade` a whole number \
             from {low} to {high}"
        ),
    }
}
