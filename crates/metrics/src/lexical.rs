//! A judge without a model: how far the words of each item occur in the evidence.
//!
//! It needs no key, no network and microseconds, and gives the same answer everywhere. It sees words, not meaning: it
//! finds claims made of words and numbers that the passages do not have, and neither a wrong negation nor a paraphrase.
//! How far it agrees with people is in docs/metrics-judged.md; the numbers below were chosen on half of those data.

mod refusal;
mod words;

use crate::reason::cut;
use crate::request::{Expect, Reading, Request, Verdict};
pub(crate) use refusal::is_refusal;

use crate::sentences;
use words::{Word, Words, all_words, words};

/// What is left of a claim's share when one of its numbers is not in the evidence.
const WRONG_NUMBER: f64 = 0.5;

/// How far a claim without content words holds, such as a mere `Yes.`: nobody can tell.
const NO_WORDS: f64 = 0.5;

/// Share of the reference's words that makes a passage useful.
const USEFUL: f64 = 0.2;

/// Missing words that a reason names.
const NAMED: usize = 3;

/// Share of a claim that makes one source hold it.
const HELD: f64 = 0.5;

/// What the words say; `None` when words cannot say it: of criteria, of contradictions, of names and questions to be made up,
/// and of metrics that are not built in. A metric is known by what it asks, so that those of peers are answered with ours.
///
/// - `faithfulness`, `context_recall`, `answer_completeness`: the share of a claim's content words that are in the evidence,
///   halved when one of its numbers is not there; 0.5 for a claim without content words. There are no quotes.
/// - `factual_correctness`: the same, of the answer's claims in each reference, the best of them, and of the references'
///   claims in the answer.
/// - `claim_sources`: a source holds a claim that has half of its words there, by the same count.
/// - `context_precision`: 1 when a passage has at least a fifth of the content words of the reference, else 0.
/// - `context_relevance`, `context_sentences`: the share of the question's content words that are in the passage or sentence.
/// - `answer_relevancy`: the share of the question's content words that are in the answer, on the scale of the grade; a
///   refusal has the lowest grade.
pub fn answer(request: &Request) -> Option<Reading> {
    let (items, evidence) = (&request.items, &request.evidence);
    let asked = match request.expect {
        Expect::Verdicts { items } | Expect::Quotes { items } | Expect::Sources { items, .. } => {
            items
        }
        _ => items.len(),
    };
    if asked != items.len() {
        return None;
    }
    match (request.metric.as_str(), request.expect) {
        ("faithfulness", Expect::Quotes { .. })
        | ("context_recall" | "answer_completeness", Expect::Verdicts { .. }) => {
            Some(Reading::Verdicts(support(items, evidence)))
        }
        ("factual_correctness", Expect::Verdicts { .. }) => {
            both_ways(items, evidence).map(Reading::Verdicts)
        }
        ("claim_sources", Expect::Sources { sources, .. }) if sources == evidence.len() => {
            Some(Reading::Sources(holders(items, evidence)))
        }
        ("context_precision", Expect::Verdicts { .. }) => {
            Some(Reading::Verdicts(usefulness(items, evidence)))
        }
        ("context_relevance" | "context_sentences", Expect::Verdicts { .. }) => {
            Some(Reading::Verdicts(bearing(items, evidence.first()?)))
        }
        ("answer_relevancy", Expect::Grade { low, high }) => {
            let (share, reason) = relevancy(items.first()?, evidence.first()?);
            Some(Reading::Grade {
                grade: low as f64 + share * (high as f64 - low as f64),
                weighted: None,
                reason,
            })
        }
        _ => None,
    }
}

/// The verdicts on the answer's claims, then on those of the references. The answer is the first of the evidence, and its
/// claims are its sentences.
fn both_ways(claims: &[String], evidence: &[String]) -> Option<Vec<Verdict>> {
    let (answer, references) = evidence.split_first()?;
    let of_answer = sentences::split(answer).len();
    let (said, wanted) = claims.split_at_checked(of_answer)?;
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(claims.len());
    for reference in references {
        let next = support(said, std::slice::from_ref(reference));
        if verdicts.is_empty() {
            verdicts = next;
            continue;
        }
        for (best, next) in verdicts.iter_mut().zip(next) {
            if next.holds > best.holds {
                *best = next;
            }
        }
    }
    verdicts.append(&mut support(wanted, std::slice::from_ref(answer)));
    (verdicts.len() == claims.len()).then_some(verdicts)
}

/// For each claim the numbers of the sources that hold it.
fn holders(claims: &[String], sources: &[String]) -> Vec<Vec<usize>> {
    let mut held = vec![Vec::new(); claims.len()];
    for (number, source) in (1..).zip(sources) {
        let verdicts = support(claims, std::slice::from_ref(source));
        for (held, verdict) in held.iter_mut().zip(verdicts) {
            if verdict.holds >= HELD {
                held.push(number);
            }
        }
    }
    held
}

/// A verdict for each text: how many of the question's words it has.
fn bearing(texts: &[String], question: &str) -> Vec<Verdict> {
    let verdicts = texts.iter().map(|text| match share_of(question, text) {
        None => verdict(NO_WORDS, String::new()),
        Some((count, of)) => {
            let reason = match 2 * count < of {
                true => format!("has {count} of {of} words of the question"),
                false => String::new(),
            };
            verdict(count as f64 / of as f64, reason)
        }
    });
    verdicts.collect()
}

/// A verdict for each claim: how much of it the passages say.
fn support(claims: &[String], passages: &[String]) -> Vec<Verdict> {
    // The words of the claims are few and the passages are long: look up the words of the passages among those of the
    // claims, and nothing of the passages has to be kept.
    let mut known = Words::default();
    let mut of_claims: Vec<(u32, bool)> = Vec::new();
    let mut ends = Vec::with_capacity(claims.len());
    for claim in claims {
        words(claim, &mut |word: Word| {
            of_claims.push((known.insert(word.key), word.is_number));
        });
        ends.push(of_claims.len());
    }
    let mut found = vec![false; known.len()];
    for passage in passages {
        all_words(passage, &mut |word: Word| {
            if let Some(index) = known.find(word.key) {
                found[index as usize] = true;
            }
        });
    }
    let mut start = 0;
    let verdicts = claims.iter().zip(ends).map(|(claim, end)| {
        let own = &of_claims[std::mem::replace(&mut start, end)..end];
        let is_found = |index: u32| found[index as usize];
        let count = own.iter().filter(|(index, _)| is_found(*index)).count();
        if own.is_empty() {
            return verdict(NO_WORDS, String::new());
        }
        if count == own.len() {
            return verdict(1.0, String::new());
        }
        let share = count as f64 / own.len() as f64;
        let is_number_missing = own
            .iter()
            .any(|&(index, is_number)| is_number && !is_found(index));
        let holds = if is_number_missing {
            share * WRONG_NUMBER
        } else {
            share
        };
        let reason = if holds < 0.5 {
            missing(claim, |word| known.find(word.key).is_some_and(is_found))
        } else {
            String::new()
        };
        verdict(holds, reason)
    });
    verdicts.collect()
}

/// A verdict for each passage: does it have enough of the words of a reference?
fn usefulness(passages: &[String], references: &[String]) -> Vec<Verdict> {
    let references: Vec<Words> = references
        .iter()
        .map(|reference| {
            let mut known = Words::default();
            words(reference, &mut |word: Word| {
                known.insert(word.key);
            });
            known
        })
        .collect();
    let mut seen = Vec::new();
    let verdicts = passages.iter().map(|passage| {
        let mut best: f64 = 0.0;
        for known in references.iter().filter(|known| known.len() > 0) {
            seen.clear();
            seen.resize(known.len(), false);
            let mut count = 0_u32;
            all_words(passage, &mut |word: Word| {
                if let Some(index) = known.find(word.key)
                    && !std::mem::replace(&mut seen[index as usize], true)
                {
                    count += 1;
                }
            });
            best = best.max(f64::from(count) / known.len() as f64);
        }
        if best >= USEFUL {
            verdict(1.0, String::new())
        } else {
            verdict(
                0.0,
                format!("has {:.0} % of the words of the answer", best * 100.0),
            )
        }
    });
    verdicts.collect()
}

/// The share of the question's words in the answer, and why.
fn relevancy(question: &str, answer: &str) -> (f64, String) {
    if refusal::is_refusal(answer) {
        return (0.0, "declines to answer".to_owned());
    }
    let Some((count, of)) = share_of(question, answer) else {
        return (0.5, "the question has no words to compare".to_owned());
    };
    let reason = format!("has {count} of {of} words of the question");
    (count as f64 / of as f64, reason)
}

/// How many of the content words of the question the text has, and of how many; `None` for a question without any.
fn share_of(question: &str, text: &str) -> Option<(usize, usize)> {
    let mut asked = Words::default();
    words(question, &mut |word: Word| {
        asked.insert(word.key);
    });
    if asked.len() == 0 {
        return None;
    }
    let mut seen = vec![false; asked.len()];
    all_words(text, &mut |word: Word| {
        if let Some(index) = asked.find(word.key) {
            seen[index as usize] = true;
        }
    });
    let count = seen.iter().filter(|&&seen| seen).count();
    Some((count, asked.len()))
}

fn verdict(holds: f64, reason: String) -> Verdict {
    Verdict::new(holds, reason)
}

/// The first words of the claim that are not in the evidence.
fn missing(claim: &str, is_found: impl Fn(Word) -> bool) -> String {
    let mut named: Vec<&str> = Vec::with_capacity(NAMED);
    let mut more = false;
    words(claim, &mut |word: Word| {
        let text = &claim[word.start..word.end];
        if is_found(word) || named.contains(&text) {
        } else if named.len() < NAMED {
            named.push(text);
        } else {
            more = true;
        }
    });
    let mut reason = "not found: ".to_owned();
    for (index, text) in named.iter().enumerate() {
        if index > 0 {
            reason.push_str(", ");
        }
        reason.push_str(&cut(text, 30));
    }
    if more {
        reason.push_str(", …");
    }
    reason
}

#[cfg(test)]
mod tests;
