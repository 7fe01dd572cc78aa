//! The language of a text, as far as it can be told.

use whatlang::Lang;

/// How much of a text is looked at, in bytes: more tells no more, and takes its time.
const LOOKED_AT: usize = 600;

/// All names that [`of`] may give.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    Lang::all().iter().map(|lang| lang.eng_name())
}

/// The English name of the language; `None` for English, the language of the instructions, and when it is uncertain.
///
/// The same text has the same language everywhere: it is a part of the prompt, and so of the key of the cache.
pub(super) fn of(text: &str) -> Option<&'static str> {
    let start = &text[..text.floor_char_boundary(LOOKED_AT)];
    if is_plainly_english(start) {
        return None;
    }
    let found = whatlang::detect(start)?;
    (found.is_reliable() && found.lang() != Lang::Eng).then(|| found.lang().eng_name())
}

/// Words that no other language written in ASCII letters has.
const ENGLISH: [&str; 16] = [
    "the", "and", "with", "that", "this", "are", "from", "were", "which", "have", "you", "been",
    "they", "their", "its", "it's",
];

/// One word of so many has to be of those.
const ONE_OF: usize = 16;

/// Shorter texts in ASCII letters are uncertain all the same, in bytes.
const SHORT: usize = 24;

/// True for what needs no closer look, which takes a hundred times as long: most texts are English, or short.
fn is_plainly_english(text: &str) -> bool {
    if !text.is_ascii() {
        return false;
    }
    if text.len() < SHORT {
        return true;
    }
    let (mut english, mut all) = (0, 0);
    for word in text.split_ascii_whitespace() {
        let word = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        all += 1;
        english += usize::from(ENGLISH.iter().any(|known| known.eq_ignore_ascii_case(word)));
    }
    english > 0 && english * ONE_OF >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_said_where_it_is_certain() {
        for (text, expected) in [
            (
                "La torre si trova a Parigi e fu costruita da Gustave Eiffel per l'esposizione universale del 1889.",
                Some("Italian"),
            ),
            (
                "يقع برج إيفل في باريس، وقد بناه غوستاف إيفل من أجل المعرض العالمي سنة 1889، وما زال من أشهر المعالم.",
                Some("Arabic"),
            ),
            ("يقع برج إيفل في باريس.", None),
            ("埃菲尔铁塔在巴黎。", Some("Mandarin")),
            ("エッフェル塔はパリにあります。", Some("Japanese")),
            ("The tower stands in Paris.", None),
            (
                "It stands in Paris, where Gustave Eiffel built it for an exhibition in 1889.",
                None,
            ),
            ("Paris", None),
            ("🗼🇫🇷", None),
            ("", None),
        ] {
            assert_eq!(of(text), expected, "{text}");
            assert_eq!(of(text), of(text));
        }
        assert_eq!(of(&"塔".repeat(100_000)), Some("Mandarin"));
    }
}
