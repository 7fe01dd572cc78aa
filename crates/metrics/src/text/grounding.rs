//! Do citations and quotations of the answer lead somewhere?

use unicode_segmentation::UnicodeSegmentation as _;

use super::formula::Formula;
use super::info;
use crate::outcome::Outcome;
use crate::reason::{cut, short};
use crate::sample::{Context, Sample};
use crate::{Column, Metric};

/// Shorter quotations, in words, are names and titles, and prove nothing.
const SHORTEST_QUOTE: usize = 3;

/// Marks that open a quotation, and those that close it.
const MARKS: [(char, char); 7] = [
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
    ('『', '』'),
    ('"', '"'),
];

/// The share of citations such as `[2]`, `[1, 3]` and `[1-3]` that name a context, counted from 1.
pub(super) fn citations(name: &str) -> Box<dyn Metric> {
    let mut info = info(name, false);
    info.needs = vec![Column::Answer, Column::Contexts];
    Formula::boxed(info, |sample| {
        let (answer, contexts) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Outcome::NotApplicable(why),
        };
        let cited = cited(answer);
        if cited.is_empty() {
            return Outcome::NotApplicable("no citation in the answer".to_owned());
        }
        let wrong: Vec<u64> = cited
            .iter()
            .copied()
            .filter(|number| !(1..=contexts.len() as u64).contains(number))
            .collect();
        share(cited.len(), wrong.len(), || {
            let named: Vec<String> = wrong
                .iter()
                .take(5)
                .map(|number| format!("[{number}]"))
                .collect();
            format!(
                "{} of {} citations lead nowhere: {}; there are {} contexts",
                wrong.len(),
                cited.len(),
                named.join(", "),
                contexts.len()
            )
        })
    })
}

/// The share of quotations of three words or more that stand in a context; white space, case and marks do not count.
pub(super) fn quotations(name: &str) -> Box<dyn Metric> {
    let mut info = info(name, false);
    info.needs = vec![Column::Answer, Column::Contexts];
    Formula::boxed(info, |sample| {
        let (answer, contexts) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Outcome::NotApplicable(why),
        };
        let quoted = quoted(answer);
        if quoted.is_empty() {
            return Outcome::NotApplicable("no quotation in the answer".to_owned());
        }
        let contexts: Vec<String> = contexts
            .iter()
            .map(|context| words(&context.text))
            .collect();
        let invented: Vec<&str> = quoted
            .iter()
            .copied()
            .filter(|quote| !contexts.iter().any(|context| has(context, &words(quote))))
            .collect();
        share(quoted.len(), invented.len(), || {
            let named: Vec<String> = invented
                .iter()
                .take(3)
                .map(|quote| format!("«{}»", cut(quote, 80)))
                .collect();
            format!(
                "{} of {} quotations stand in no context: {}",
                invented.len(),
                quoted.len(),
                named.join(", ")
            )
        })
    })
}

fn share(all: usize, wrong: usize, why: impl FnOnce() -> String) -> Outcome {
    Outcome::Score {
        score: (all - wrong) as f64 / all as f64,
        reason: (wrong > 0).then(|| short(&why())),
    }
}

fn sides(sample: &Sample) -> Result<(&str, &[Context]), String> {
    let answer = sample.answer.as_deref().ok_or("no answer")?;
    let contexts = sample.contexts.as_deref().ok_or("no contexts")?;
    Ok((answer, contexts))
}

/// Each number that is cited, as often as it is.
fn cited(answer: &str) -> Vec<u64> {
    let mut cited = Vec::new();
    for part in answer.split('[').skip(1) {
        // What a bracket holds beside numbers makes it no citation: a link, a remark.
        let Some(inner) = part
            .split(']')
            .next()
            .filter(|inner| inner.len() < part.len())
        else {
            continue;
        };
        let parts: Option<Vec<(u64, u64)>> = inner
            .split([',', ';'])
            .map(|part| range(part.trim().trim_start_matches('^')))
            .collect();
        for (first, last) in parts.unwrap_or_default() {
            // A long range is no list of citations.
            cited.extend((first..=last).take(50));
        }
    }
    cited
}

fn range(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str| {
        let text = text.trim();
        // Years and the like are no citations.
        let is_number =
            (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    match text.split_once(['-', '–']) {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(text).map(|one| (one, one)),
    }
}

/// What stands between marks, when it has enough words.
fn quoted(answer: &str) -> Vec<&str> {
    let mut quoted = Vec::new();
    let mut rest = answer;
    while let Some(start) = rest.find(|letter| MARKS.iter().any(|(open, _)| *open == letter)) {
        let open = rest[start..].chars().next().unwrap_or('"');
        let inner = &rest[start + open.len_utf8()..];
        let closes: Vec<char> = MARKS
            .iter()
            .filter(|(mark, _)| *mark == open)
            .map(|(_, close)| *close)
            .collect();
        match inner.find(|letter| closes.contains(&letter)) {
            Some(end) => {
                let quote = inner[..end].trim();
                if quote.unicode_words().take(SHORTEST_QUOTE).count() >= SHORTEST_QUOTE {
                    quoted.push(quote);
                }
                let close = inner[end..].chars().next().map_or(1, char::len_utf8);
                rest = &inner[end + close..];
            }
            None => rest = inner,
        }
    }
    quoted
}

/// The words in lower case, with a space around each.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut words = " ".to_owned();
    for word in lower.unicode_words() {
        words.push_str(word);
        words.push(' ');
    }
    words
}

/// Parts that an ellipsis joins may stand apart, in their order; they are without it here, so the whole is looked for.
fn has(context: &str, quote: &str) -> bool {
    context.contains(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_numbers_in_brackets() {
        assert_eq!(
            cited("So [1] and [2, 4][3-5], not [see 9], [2024] or [1](http://x)."),
            [1, 2, 4, 3, 4, 5, 1]
        );
        assert!(cited("a [ b ] c [").is_empty());
    }

    #[test]
    fn quotations_have_words() {
        assert_eq!(
            quoted(
                "He said “it is the tower” and «noch ein Satz hier», \"no\" and „das ist so“; “open"
            ),
            ["it is the tower", "noch ein Satz hier", "das ist so"]
        );
    }
}
