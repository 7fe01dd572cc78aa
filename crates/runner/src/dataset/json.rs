//! A JSON value by its spelling, looked into only as far as somebody asks.

use std::borrow::Cow;

use serde_json::Value;

use super::scan;

/// A value that [`scan::value`] has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Json<'a>(&'a str);

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `null` and `NaN`.
    Null,
    /// `true` and `false`.
    Bool,
    Number,
    Text,
    List,
    Object,
}

impl Kind {
    /// With its article, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "true or false",
            Kind::Number => "a number",
            Kind::Text => "a text",
            Kind::List => "a list",
            Kind::Object => "an object",
        }
    }
}

impl<'a> Json<'a> {
    /// `text` is one value, without white space around it.
    pub(super) fn scanned(text: &'a str) -> Self {
        Json(text)
    }

    /// The text as a value; `None` unless it is one as a whole.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        let end = scan::value(text.as_bytes(), 0).ok()?;
        (end == text.len()).then_some(Json(text))
    }

    pub(super) fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'"') => Kind::Text,
            Some(b'[') => Kind::List,
            Some(b'{') => Kind::Object,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n' | b'N') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    pub(super) fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// As it is spelled.
    pub(super) fn spelling(self) -> &'a str {
        self.0
    }

    /// The text; a number or a truth value by its spelling.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self.kind() {
            Kind::Text => Some(unescape(&self.0[1..self.0.len() - 1])),
            Kind::Number | Kind::Bool => Some(Cow::Borrowed(self.0)),
            Kind::Null | Kind::List | Kind::Object => None,
        }
    }

    /// As a value, down to `depth` levels, below which there is only `null`; what JSON has no number for is a text.
    pub(super) fn value(self, depth: usize) -> Value {
        match self.kind() {
            Kind::List | Kind::Object if depth == 0 => Value::Null,
            Kind::Null if self.0 == "NaN" => Value::String(self.0.to_owned()),
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(self.0 == "true"),
            Kind::Number => match serde_json::from_str(self.0) {
                Ok(number) => Value::Number(number),
                Err(_) => Value::String(self.0.to_owned()),
            },
            Kind::Text => Value::String(self.text().unwrap_or_default().into_owned()),
            Kind::List => self.items().map(|item| item.value(depth - 1)).collect(),
            Kind::Object => self
                .entries()
                .into_iter()
                .map(|(key, value)| (key.into_owned(), value.value(depth - 1)))
                .collect(),
        }
    }

    /// The elements of a list; none of anything else.
    pub(super) fn items(self) -> Items<'a> {
        let start = if self.kind() == Kind::List {
            1
        } else {
            self.0.len()
        };
        Items {
            text: self.0,
            at: start,
        }
    }

    /// The entries of an object; none of anything else.
    pub(super) fn entries(self) -> Vec<(Cow<'a, str>, Json<'a>)> {
        let mut entries = Vec::new();
        if self.kind() != Kind::Object || scan::object(self.0.as_bytes(), 0, &mut entries).is_err()
        {
            return Vec::new();
        }
        let slice = |(start, end): (usize, usize)| &self.0[start..end];
        entries
            .iter()
            .map(|entry| (unescape(slice(entry.key)), Json(slice(entry.value))))
            .collect()
    }
}

/// The elements of a list.
#[derive(Debug, Clone)]
pub(super) struct Items<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let input = self.text.as_bytes();
        let start = scan::blank(input, self.at);
        // The end of the list, or of a value that is none, is no value.
        let end = scan::value(input, start).ok()?;
        let comma = scan::blank(input, end);
        self.at = comma + usize::from(input.get(comma) == Some(&b','));
        Some(Json(&self.text[start..end]))
    }
}

/// The text between the quotes of a scanned string.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('\\') else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut at = first;
    while at < text.len() {
        let Some(backslash) = text[at..].find('\\').map(|offset| at + offset) else {
            out.push_str(&text[at..]);
            break;
        };
        out.push_str(&text[at..backslash]);
        at = backslash + 2;
        match text.as_bytes().get(backslash + 1) {
            Some(b'n') => out.push('\n'),
            Some(b't') => out.push('\t'),
            Some(b'r') => out.push('\r'),
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'u') => at = push_unicode(text, backslash, &mut out),
            Some(&byte) => out.push(char::from(byte)),
            None => (),
        }
    }
    Cow::Owned(out)
}

/// Adds what the `\uXXXX` at `at` (or the pair of them) means; gives the offset after it.
fn push_unicode(text: &str, at: usize, out: &mut String) -> usize {
    let input = text.as_bytes();
    let unit = |at| scan::unit(input, at).unwrap_or(0xFFFD);
    let high = unit(at);
    let (code, end) = match high {
        0xD800..0xDC00 => {
            let low = unit(at + 6);
            let pair = 0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
            (pair, at + 12)
        }
        _ => (high, at + 6),
    };
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    end
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_keep_their_spelling() {
        let spelled = |text| Json::parse(text).and_then(Json::text).unwrap().into_owned();
        assert_eq!(spelled("1.50"), "1.50");
        assert_eq!(
            spelled("12345678901234567890123"),
            "12345678901234567890123"
        );
        assert_eq!(spelled(" true "), "true");
        assert!(Json::parse("NaN").unwrap().is_null());
        assert_eq!(Json::parse("1 2"), None);
    }

    #[test]
    fn lists_and_objects_are_walked() {
        let list = Json::parse(r#"[ 1 , [2, 3], "a,]" , {} ]"#).unwrap();
        let items: Vec<_> = list.items().map(Json::spelling).collect();
        assert_eq!(items, ["1", "[2, 3]", "\"a,]\"", "{}"]);
        assert_eq!(Json::parse("[]").unwrap().items().count(), 0);
        assert_eq!(Json::parse("7").unwrap().items().count(), 0);
        let object = Json::parse(r#"{"a\n": 1, "b": {"c": 2}}"#).unwrap();
        let keys: Vec<_> = object.entries().into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["a\n", "b"]);
    }

    proptest! {
        #[test]
        fn a_text_is_what_serde_json_reads(text in any::<String>(), ascii in any::<bool>()) {
            let mut written = serde_json::to_string(&text).unwrap();
            if ascii {
                written = escape_all(&written);
            }
            let read = Json::parse(&written).and_then(Json::text);
            prop_assert_eq!(read.as_deref(), Some(text.as_str()));
        }
    }

    fn escape_all(text: &str) -> String {
        let mut out = String::new();
        for unit in text.encode_utf16() {
            match u8::try_from(unit).ok().filter(u8::is_ascii) {
                Some(byte) => out.push(char::from(byte)),
                None => write!(out, "\\u{unit:04x}").unwrap(),
            }
        }
        out
    }
}
