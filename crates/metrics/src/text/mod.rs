//! Metrics that look at the answer alone, or compare it with the reference: formulas, and one by embeddings.
//!
//! With several references the best counts. An empty answer is a wrong answer; a missing one is missing.

mod bleu;
mod chrf;
mod edit_similarity;
mod exact_match;
mod formula;
mod grounding;
mod language;
pub(crate) mod length;
mod ngrams;
mod normalise;
mod pattern;
mod presence;
mod punctuation;
mod refusal;
mod rouge;
mod semantic_similarity;
mod stem;
mod structure;
mod token_f1;
mod tokens;

pub(crate) use exact_match::ExactMatch;
pub(crate) use semantic_similarity::SemanticSimilarity;
pub(crate) use token_f1::TokenF1;

use gate::policy::Direction;

use crate::registry::Entry;
use crate::sample::Sample;
use crate::{Column, Info};

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "semantic_similarity",
        about: "the answer means what the reference means, as an embedding model has it",
        definition: r"```text
score = max(0, cos(embedding of the answer, embedding of the reference))
```

An empty answer scores 0. *Not applicable* without an answer or a reference.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(SemanticSimilarity::new(of.name))),
    },
    Entry {
        name: "exact_match",
        about: "the answer is the reference",
        definition: r"1 when the answer equals a reference after normalisation, else 0. Normalisation is that of SQuAD 1.1 (lower case, no punctuation, no
`a`, `an`, `the`, single spaces), extended to the punctuation and the compatible forms of Unicode and to scripts without
spaces.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(ExactMatch::new(of.name))),
    },
    Entry {
        name: "exact_match_strict",
        about: "the answer is the reference, letter for letter",
        definition: r"1 when the answer equals a reference after trimming and Unicode NFC, else 0: for codes, numbers and names.",
        keys: &[],
        example: "",
        build: |of| Ok(exact_match::strict(of.name)),
    },
    Entry {
        name: "token_f1",
        about: "shared words of answer and reference",
        definition: r"```text
precision = shared tokens / tokens of the answer
recall    = shared tokens / tokens of the reference
f1        = 2 · precision · recall / (precision + recall)
```

Tokens as in `exact_match`, counted with their repetitions. Where a side has none: 1 when both have none, else 0 (SQuAD 2.0).
`measure` takes one of the three.",
        keys: &["measure"],
        example: "",
        build: |of| {
            Ok(Box::new(TokenF1::new(
                of.name,
                of.section.measure.unwrap_or_default(),
            )))
        },
    },
    Entry {
        name: "rouge_1",
        about: "shared words of answer and reference",
        definition: r#"ROUGE (Lin 2004) as the package `rouge-score` computes it: F1, or the `measure` asked for, of single tokens. Its own tokenizer keeps
`a` to `z` and digits alone and gives 0 to every other script: that is `tokenizer = "ascii"`. The default, `words`, is the
same on English and takes letters of all scripts; `whitespace` takes what stands between spaces. `stemmer = true` compares
stems of English words of more than three letters (Porter, with the extensions of NLTK). 0 where a side has no token."#,
        keys: &["measure", "stemmer", "tokenizer"],
        example: "",
        build: |of| rouge::build(of, rouge::Variant::Grams(1)),
    },
    Entry {
        name: "rouge_2",
        about: "shared pairs of words of answer and reference",
        definition: r#"ROUGE (Lin 2004) as the package `rouge-score` computes it: F1, or the `measure` asked for, of pairs of neighbouring tokens. Its own tokenizer keeps
`a` to `z` and digits alone and gives 0 to every other script: that is `tokenizer = "ascii"`. The default, `words`, is the
same on English and takes letters of all scripts; `whitespace` takes what stands between spaces. `stemmer = true` compares
stems of English words of more than three letters (Porter, with the extensions of NLTK). 0 where a side has no token."#,
        keys: &["measure", "stemmer", "tokenizer"],
        example: "",
        build: |of| rouge::build(of, rouge::Variant::Grams(2)),
    },
    Entry {
        name: "rouge_l",
        about: "the longest common sequence of words of answer and reference",
        definition: r#"ROUGE (Lin 2004) as the package `rouge-score` computes it: F1, or the `measure` asked for, of the longest common subsequence of tokens. Its own tokenizer keeps
`a` to `z` and digits alone and gives 0 to every other script: that is `tokenizer = "ascii"`. The default, `words`, is the
same on English and takes letters of all scripts; `whitespace` takes what stands between spaces. `stemmer = true` compares
stems of English words of more than three letters (Porter, with the extensions of NLTK). 0 where a side has no token."#,
        keys: &["measure", "stemmer", "tokenizer"],
        example: "",
        build: |of| rouge::build(of, rouge::Variant::Subsequence),
    },
    Entry {
        name: "bleu",
        about: "n-grams of the answer that the reference has",
        definition: r"Sentence BLEU (Papineni et al. 2002) as sacrebleu computes it, divided by 100: orders 1 to 4, brevity penalty, effective
order, exponential smoothing; all references count at once.

```text
score   = brevity · exp(mean of ln precision_n)
brevity = min(1, exp(1 − reference tokens / answer tokens))
```

`tokenizer` is one of sacrebleu's `13a`, `intl`, `zh`, `char`, `none`; where none is named, `zh` for Chinese references, `char`
for other scripts without spaces, else `13a`. The BLEU of all samples together, which is no mean of theirs, stands with its
signature in `run.metrics` of the results.",
        keys: &["tokenizer"],
        example: "",
        build: |of| bleu::Bleu::build(of),
    },
    Entry {
        name: "chrf",
        about: "n-grams of letters that answer and reference share",
        definition: r"chrF (Popović 2015) as sacrebleu computes it, divided by 100: n-grams of 1 to 6 letters without white space, β = 2; the best
over the references. The chrF of all samples together stands with its signature in `run.metrics` of the results.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(chrf::Chrf::new(of.name, 0))),
    },
    Entry {
        name: "chrf++",
        about: "n-grams of letters and words that answer and reference share",
        definition: r"chrF++ (Popović 2017) as sacrebleu computes it, divided by 100: chrF with n-grams of 1 and 2 words; the best over the references.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(chrf::Chrf::new(of.name, 2))),
    },
    Entry {
        name: "edit_similarity",
        about: "how few letters have to be changed",
        definition: r#"`similarity = "levenshtein"`: 1 − distance / length of the longer side; `"indel"`: 1 − insertions and deletions / sum of the
lengths, the `ratio` of the package Levenshtein; `"jaro_winkler"`. On code points, the best over the references."#,
        keys: &["similarity"],
        example: "",
        build: |of| edit_similarity::build(of),
    },
    Entry {
        name: "contains",
        about: "the answer contains what it should",
        definition: r#"1 when any of `values` (with `require = "all"` each of them) stands in the answer, else 0; without `values` the references are looked
for. `ignore_case = true` takes upper and lower case for the same."#,
        keys: &["values", "require", "ignore_case"],
        example: "",
        build: |of| presence::build(of, presence::Place::Within),
    },
    Entry {
        name: "starts_with",
        about: "the answer begins with what it should",
        definition: r"1 when the answer, after white space, begins with any of `values`, or else of the references; else 0.",
        keys: &["values", "require", "ignore_case"],
        example: "",
        build: |of| presence::build(of, presence::Place::First),
    },
    Entry {
        name: "regex",
        about: "the answer matches a pattern",
        definition: r"1 when `pattern` matches anywhere in the answer, else 0; `^` and `$` tie it to the ends. The syntax is that of the Rust crate `regex`:
no look-around and no back-references, and time linear in the answer.",
        keys: &["pattern", "ignore_case"],
        example: "pattern = '^Yes|^No'",
        build: |of| pattern::build(of),
    },
    Entry {
        name: "json_schema",
        about: "the answer is JSON that a schema accepts",
        definition: r"1 when the answer, or what stands in its code fence, is JSON that the file `schema` accepts, else 0 with the first violations. The
drafts 4 to 2020-12 are known; a `$ref` to another document is refused.",
        keys: &["schema"],
        example: "schema = 'answer.schema.json'",
        build: |of| structure::schema(of),
    },
    Entry {
        name: "json_equal",
        about: "the answer is the JSON of the reference",
        definition: r"1 when the answer, or what stands in its code fence, is the same JSON as a reference: numbers by value, whole ones of up to 64 bits exactly; members in any order,
lists in theirs. *Not applicable* where no reference is JSON.",
        keys: &[],
        example: "",
        build: |of| Ok(structure::equal(of)),
    },
    Entry {
        name: "length",
        about: "the answer is as long as it should be",
        definition: r#"1 when the answer, without white space around it, has from `at_least` to `at_most` characters as people see them (grapheme
clusters), or `unit = "words"` or `"sentences"`; else 0."#,
        keys: &["at_least", "at_most", "unit"],
        example: "at_most = 400",
        build: |of| length::build(of),
    },
    Entry {
        name: "refusal",
        about: "the answer declines to answer",
        definition: r#"1 when the answer says at its beginning, in one of ten languages, that it does not know or will not answer, else 0. Lower is
better: where the dataset asks what cannot be answered, gate it by `direction = "higher"` on those samples. Phrases are
looked for, so a refusal in other words is not found."#,
        keys: &[],
        example: "",
        build: |of| Ok(refusal::build(of.name)),
    },
    Entry {
        name: "citation_validity",
        about: "citations lead to a context",
        definition: r"The share of citations such as `[2]`, `[1, 3]` or `[1-3]` whose number is that of a context, counted from 1. Numbers of more than
three digits are none. *Not applicable* without a citation.",
        keys: &[],
        example: "",
        build: |of| Ok(grounding::citations(of.name)),
    },
    Entry {
        name: "quote_validity",
        about: "quotations stand in a context",
        definition: r#"The share of quotations of three words or more, between “…”, „…“, «…», 「…」 or "…", that stand in one of the contexts; white space,
case and punctuation do not count. *Not applicable* without such a quotation."#,
        keys: &[],
        example: "",
        build: |of| Ok(grounding::quotations(of.name)),
    },
    Entry {
        name: "language",
        about: "the answer is in the right language",
        definition: r"1 when the answer is in `language` (ISO 639-1), or else in that of the question; else 0. Languages are told by trigrams (crate
`whatlang`). *Not applicable* where a text is too short or too mixed to tell.",
        keys: &["language"],
        example: "",
        build: |of| language::build(of),
    },
];

fn info(name: &str, embeds: bool) -> Info {
    Info {
        name: name.to_owned(),
        version: "1".to_owned(),
        prompt_sha256: None,
        direction: Direction::Higher,
        range: Some([0.0, 1.0]),
        judged: false,
        calls: 0,
        embeds,
        needs: vec![Column::Answer, Column::Reference],
    }
}

/// The answer and the references that say something, or why the metric does not apply.
fn sides(sample: &Sample) -> Result<(&str, Vec<&str>), String> {
    let answer = sample.answer.as_deref().ok_or("no answer")?;
    let references = references_of(sample);
    match references.is_empty() {
        true => Err("no reference".to_owned()),
        false => Ok((answer, references)),
    }
}

fn references_of(sample: &Sample) -> Vec<&str> {
    let references = sample.references.iter().flatten();
    references
        .map(String::as_str)
        .filter(|text| !text.trim_start().is_empty())
        .collect()
}

#[cfg(test)]
mod tests;
