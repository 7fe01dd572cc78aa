//! No secret leaves: whatever is quoted, from a server's error to a judge's answer, goes through here.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";
/// A shorter value is no secret, and its letters occur everywhere: local servers take any key, such as `x`.
const MIN_LENGTH: usize = 4;

/// Takes secrets out of texts; cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    /// The secrets in all their forms, the longest first, so that a form within another does not leave the rest of it.
    forms: Arc<[SecretString]>,
}

impl Redactor {
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let forms: BTreeSet<String> = secrets
            .into_iter()
            .map(ExposeSecret::expose_secret)
            .flat_map(forms)
            .collect();
        let mut forms = Vec::from_iter(forms);
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Redactor {
            forms: forms.into_iter().map(SecretString::from).collect(),
        }
    }

    /// The text without secrets.
    pub(super) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for form in self.forms.iter() {
            let form = form.expose_secret();
            if text.contains(form) {
                text = Cow::Owned(text.replace(form, REDACTED));
            }
        }
        text
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// The forms in which a secret may be quoted. A value such as `Bearer abc` is two: the whole and its last word.
fn forms(secret: &str) -> Vec<String> {
    let words = [secret, secret.rsplit(' ').next().unwrap_or_default()];
    words
        .into_iter()
        .filter(|word| word.len() >= MIN_LENGTH)
        .flat_map(|word| {
            let mut forms = vec![
                word.to_owned(),
                percent(word, "0123456789ABCDEF"),
                percent(word, "0123456789abcdef"),
                word.replace('/', "\\/"),
                word.replace('&', "&amp;"),
                in_html(word, "&#39;"),
                in_html(word, "&#x27;"),
                word.to_uppercase(),
                word.to_lowercase(),
                in_hex(word),
                in_hex(word).to_uppercase(),
            ];
            forms.extend(in_json(word).and_then(|once| in_json(&once)));
            forms.extend(in_json(word));
            forms.extend(in_base64(word));
            forms
        })
        .collect()
}

/// Within HTML.
fn in_html(text: &str, apostrophe: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', apostrophe)
}

fn in_hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Percent-encoded, all but letters, digits and `-._~`.
fn percent(text: &str, digits: &str) -> String {
    let digits = digits.as_bytes();
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(digits[usize::from(byte >> 4)]));
            encoded.push(char::from(digits[usize::from(byte & 15)]));
        }
    }
    encoded
}

/// Within a JSON string.
fn in_json(text: &str) -> Option<String> {
    let quoted = serde_json::to_string(text).ok()?;
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.to_owned())
}

/// Within anything that was written in base64. Where the secret begins decides which letters it makes, and the letters
/// at its ends also hold bits of its neighbours: they are left out, unless it stands alone.
fn in_base64(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend(text.bytes());
        let encoded = base64(&bytes);
        let first = (offset * 8).div_ceil(6);
        let last = bytes.len() * 8 / 6;
        let inner = encoded.get(first..last).unwrap_or_default();
        // The letters of a short text say little of it, and occur by chance.
        if inner.len() >= 8 {
            forms.push(inner.replace('+', "-").replace('/', "_"));
            forms.push(inner.to_owned());
        }
    }
    let alone = base64(text.as_bytes());
    forms.push(alone.replace('+', "-").replace('/', "_"));
    forms.push(alone);
    forms
}

/// Base64 without padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        for (place, byte) in std::iter::zip(&mut group, chunk) {
            *place = *byte;
        }
        let group = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for letter in 0..=chunk.len() {
            let index = (group >> (18 - 6 * letter)) & 63;
            encoded.push(char::from(LETTERS[index as usize]));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-proj/A+b\"c&9_zQ==";

    fn redactor() -> Redactor {
        Redactor::new([&SecretString::from(KEY)])
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(b"fooba"), "Zm9vYmE");
        assert_eq!(base64(b"foob"), "Zm9vYg");
    }

    #[test]
    fn a_secret_is_taken_out_in_all_its_forms() {
        for form in [
            KEY.to_owned(),
            serde_json::to_string(KEY).unwrap(),
            format!("?key={}", percent(KEY, "0123456789ABCDEF")),
            KEY.replace('/', "\\/"),
            base64(KEY.as_bytes()),
        ] {
            let redacted = redactor().redact(&form).into_owned();
            assert!(redacted.contains(REDACTED), "{form} became {redacted}");
            assert!(!redacted.contains("proj"), "{form} became {redacted}");
        }
    }

    #[test]
    fn a_secret_within_base64_is_taken_out_wherever_it_begins() {
        for prefix in ["", "u", "us", "use", "user:"] {
            let encoded = base64(format!("{prefix}{KEY}!").as_bytes());
            let redacted = redactor().redact(&encoded).into_owned();
            assert!(redacted.contains(REDACTED), "{encoded} became {redacted}");
            assert!(redacted.len() <= REDACTED.len() + 12, "{redacted}");
        }
    }

    #[test]
    fn the_token_alone_is_secret_too() {
        let redactor = Redactor::new([&SecretString::from("Bearer abcdefgh")]);
        assert_eq!(redactor.redact("no abcdefgh"), "no [redacted]");
        assert_eq!(redactor.redact("no Bearer abcdefgh"), "no [redacted]");
    }

    #[test]
    fn what_holds_no_secret_is_not_copied() {
        assert!(matches!(
            redactor().redact("a Bearer token"),
            Cow::Borrowed(_)
        ));
        let short = Redactor::new([&SecretString::from("x")]);
        assert_eq!(short.redact("six"), "six");
    }

    #[test]
    fn debug_shows_nothing() {
        assert!(!format!("{:?}", redactor()).contains("proj"));
    }
}
