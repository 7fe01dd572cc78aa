//! The sentence that tells a reviewer why a score is what it is.

use crate::request::Verdict;

/// Longest reason, in bytes.
const LONGEST: usize = 300;

/// How much of one item is quoted, in bytes.
const QUOTE: usize = 90;

/// Below this an item does not hold.
const HOLDS: f64 = 0.5;

/// `2 of 4 claims unsupported: «…» (why); «…»`; `None` when all hold.
pub(crate) fn missing<'a>(
    nouns: &str,
    fault: &str,
    items: impl Iterator<Item = &'a str>,
    verdicts: &[Verdict],
) -> Option<String> {
    let count = verdicts
        .iter()
        .filter(|verdict| verdict.holds < HOLDS)
        .count();
    if count == 0 {
        return None;
    }
    let mut reason = format!("{count} of {} {nouns} {fault}", verdicts.len());
    let mut separator = ": ";
    for (item, verdict) in items.zip(verdicts) {
        if verdict.holds >= HOLDS {
            continue;
        }
        if reason.len() >= LONGEST {
            break;
        }
        reason.push_str(separator);
        separator = "; ";
        reason.push('«');
        reason.push_str(&cut(item.trim(), QUOTE));
        reason.push('»');
        let why = verdict.reason.trim();
        if !why.is_empty() {
            reason.push_str(" (");
            reason.push_str(&cut(why, QUOTE));
            reason.push(')');
        }
    }
    Some(short(&reason))
}

/// Two reasons as one, each with its share of the length.
pub(crate) fn two(one: &str, other: &str) -> String {
    let half = LONGEST / 2 - 4;
    let room = |own: &str, other: &str| {
        half.max(LONGEST.saturating_sub(other.len() + 2))
            .min(own.len())
    };
    format!(
        "{}; {}",
        cut(one, room(one, other)),
        cut(other, room(other, one))
    )
}

/// The text on one line, cut to the length of a reason.
pub(crate) fn short(text: &str) -> String {
    cut(text.trim(), LONGEST)
}

/// At most `most` bytes and an ellipsis, on one line.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    let mut short: String = text[..end]
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if end < text.len() {
        short.truncate(short.trim_end().len());
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(holds: f64, reason: &str) -> Verdict {
        Verdict::new(holds, reason)
    }

    #[test]
    fn it_names_what_does_not_hold() {
        let verdicts = [
            verdict(1.0, ""),
            verdict(0.0, "it says 1990"),
            verdict(0.0, ""),
        ];
        let reason = missing(
            "claims",
            "unsupported",
            ["a", "b\nc", "d"].into_iter(),
            &verdicts,
        );
        assert_eq!(
            reason.as_deref(),
            Some("2 of 3 claims unsupported: «b c» (it says 1990); «d»")
        );
        assert_eq!(
            missing("claims", "unsupported", ["a"].into_iter(), &verdicts[..1]),
            None
        );
    }

    #[test]
    fn two_reasons_share_the_room() {
        assert_eq!(two("one", "other"), "one; other");
        let long = "a".repeat(400);
        for (one, other) in [(long.as_str(), "short"), ("short", &long), (&long, &long)] {
            let both = two(one, other);
            assert!(both.len() <= LONGEST + 2 * "…".len(), "{}", both.len());
            assert!(both.contains("short") || both.matches('…').count() == 2);
        }
    }

    #[test]
    fn it_is_cut_on_a_letter() {
        let long = "é".repeat(1000);
        let verdicts = vec![verdict(0.0, ""); 9];
        let reason = missing(
            "claims",
            "unsupported",
            std::iter::repeat_n(long.as_str(), 9),
            &verdicts,
        );
        let reason = reason.unwrap_or_default();
        assert!(
            reason.len() <= LONGEST + "…".len() && reason.ends_with('…'),
            "{reason}"
        );
    }
}
