//! Lists in a cell: pandas writes Python literals, and numpy arrays as they print themselves.

use std::fmt::Write;

use super::json::Json;
use super::scan::MAX_DEPTH;

/// What a cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Literal {
    /// A list or an object, as JSON.
    Json(String),
    /// An array that numpy shortened with `...`: the rest is lost.
    Shortened,
    /// A text like any other.
    Text,
}

/// Reads a cell that holds a list or an object, as JSON or as Python prints it.
pub(super) fn read(cell: &str) -> Literal {
    let text = cell.trim();
    if !text.starts_with(['[', '{', '(']) && !text.starts_with("array(") {
        return Literal::Text;
    }
    if Json::parse(text).is_some() {
        return Literal::Json(text.to_owned());
    }
    let mut parser = Parser {
        text,
        at: 0,
        out: String::with_capacity(text.len()),
        is_shortened: false,
    };
    match parser.value(0) {
        Some(()) if parser.rest().trim_start().is_empty() => match parser.is_shortened {
            true => Literal::Shortened,
            false => Literal::Json(parser.out),
        },
        _ => Literal::Text,
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    out: String,
    is_shortened: bool,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        if is_there {
            self.at += token.len();
        }
        is_there
    }

    /// Writes the value that comes next as JSON; `None` when none does.
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth == MAX_DEPTH {
            return None;
        }
        self.blank();
        if self.eat("array(") {
            return self.array(depth);
        }
        match self.rest().chars().next()? {
            '[' => self.list(']', depth),
            '(' => self.list(')', depth),
            '{' => self.dict(depth),
            _ => self.scalar(),
        }
    }

    /// `array([…], dtype=object)`, after its bracket.
    fn array(&mut self, depth: usize) -> Option<()> {
        self.value(depth + 1)?;
        self.blank();
        if self.eat(",") {
            self.blank();
            let length = self.rest().find(')')?;
            self.rest()[..length].starts_with("dtype=").then_some(())?;
            self.at += length;
        }
        self.eat(")").then_some(())
    }

    /// numpy puts white space between elements, and no comma.
    fn list(&mut self, close: char, depth: usize) -> Option<()> {
        self.at += 1;
        self.out.push('[');
        let mut is_first = true;
        loop {
            self.blank();
            if self.rest().starts_with(close) {
                self.at += 1;
                self.out.push(']');
                return Some(());
            }
            if self.eat("...") {
                self.is_shortened = true;
                self.eat(",");
                continue;
            }
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            self.value(depth + 1)?;
            self.blank();
            self.eat(",");
        }
    }

    fn dict(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.out.push('{');
        let mut is_first = true;
        loop {
            self.blank();
            if self.eat("}") {
                self.out.push('}');
                return Some(());
            }
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            self.text_or_prefixed().or_else(|| self.number_key())?;
            self.blank();
            self.eat(":").then_some(())?;
            self.out.push(':');
            self.value(depth + 1)?;
            self.blank();
            if !self.eat(",") && !self.rest().starts_with('}') {
                return None;
            }
        }
    }

    fn number_key(&mut self) -> Option<()> {
        let length = self.rest().find(|c: char| !c.is_ascii_digit())?;
        (length > 0).then_some(())?;
        write!(self.out, "\"{}\"", &self.rest()[..length]).ok()?;
        self.at += length;
        Some(())
    }

    fn scalar(&mut self) -> Option<()> {
        if let Some(()) = self.text_or_prefixed() {
            return Some(());
        }
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c)))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        self.at += length;
        match word {
            "None" | "nan" | "NaN" | "null" => self.out.push_str("null"),
            "True" | "true" => self.out.push_str("true"),
            "False" | "false" => self.out.push_str("false"),
            // `1.` is what numpy prints for 1.0.
            _ => {
                let number = word.strip_suffix('.').unwrap_or(word);
                number.parse::<f64>().ok().filter(|n| n.is_finite())?;
                self.out.push_str(Json::parse(number)?.spelling());
            }
        }
        Some(())
    }

    /// A text with whatever stands before its quote: `'a'`, `r'a'`, `np.str_('a')`.
    fn text_or_prefixed(&mut self) -> Option<()> {
        if self.eat("np.str_(") {
            self.text_or_prefixed()?;
            return self.eat(")").then_some(());
        }
        let rest = self.rest();
        let quote = rest.find(['\'', '"']).filter(|&at| at <= 2)?;
        let prefix = rest[..quote].to_ascii_lowercase();
        if !["", "u", "b", "r", "br", "rb"].contains(&prefix.as_str()) {
            return None;
        }
        self.at += quote;
        let is_raw = prefix.contains('r');
        let text = self.quoted(is_raw)?;
        self.out.push_str(&serde_json::to_string(&text).ok()?);
        Some(())
    }

    fn quoted(&mut self, is_raw: bool) -> Option<String> {
        let quote = self.rest().chars().next()?;
        let triple: String = [quote; 3].iter().collect();
        let close = match self.rest().starts_with(&triple) {
            true => triple,
            false => quote.to_string(),
        };
        self.at += close.len();
        let mut text = String::new();
        while !self.rest().starts_with(&close) {
            let rest = self.rest();
            let plain = rest.find([quote, '\\'])?;
            text.push_str(&rest[..plain]);
            self.at += plain;
            let is_escape = rest[plain..].starts_with('\\');
            if plain > 0 && !is_escape {
                continue;
            }
            self.at += 1;
            match is_escape {
                true if is_raw => {
                    text.push('\\');
                    let next = self.rest().chars().next()?;
                    self.at += next.len_utf8();
                    text.push(next);
                }
                true => self.escape(&mut text)?,
                // One quote within a text that ends with three.
                false => text.push(quote),
            }
        }
        self.at += close.len();
        Some(text)
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\n' => (),
            '\\' | '\'' | '"' => text.push(c),
            'x' => self.code(2, 16, text)?,
            'u' => self.code(4, 16, text)?,
            'U' => self.code(8, 16, text)?,
            '0'..='7' => {
                self.at -= 1;
                let is_octal = |c: &char| ('0'..='7').contains(c);
                let length = self.rest().chars().take(3).take_while(is_octal).count();
                self.code(length, 8, text)?;
            }
            // Python keeps the backslash of an escape that it does not know.
            _ => {
                text.push('\\');
                text.push(c);
            }
        }
        Some(())
    }

    fn code(&mut self, digits: usize, radix: u32, text: &mut String) -> Option<()> {
        let code = u32::from_str_radix(self.rest().get(..digits)?, radix).ok()?;
        self.at += digits;
        // Half a surrogate pair, which Python may hold, has no UTF-8.
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json(cell: &str) -> serde_json::Value {
        match read(cell) {
            Literal::Json(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{cell}: {other:?}"),
        }
    }

    #[test]
    fn what_pandas_writes_into_a_cell() {
        let cases = [
            (
                r#"['a\nb', "it's", 'say "x"']"#,
                r#"["a\nb", "it's", "say \"x\""]"#,
            ),
            (
                r"['\xe9\u00e9\U0001f600\101\q']",
                "[\"\u{e9}\u{e9}\u{1f600}A\\\\q\"]",
            ),
            (
                "[None, True, False, nan, 1, -2.5e3]",
                "[null, true, false, null, 1, -2500.0]",
            ),
            (
                "{'role': 'user', 'n': {1: ()}}",
                r#"{"role": "user", "n": {"1": []}}"#,
            ),
            ("['a'\n 'b' \"c\"]", r#"["a", "b", "c"]"#),
            ("array(['a', 'b'], dtype=object)", r#"["a", "b"]"#),
            ("[1. 2.5]", "[1, 2.5]"),
            ("[np.str_('a'), u'b', r'c\\d']", r#"["a", "b", "c\\d"]"#),
            ("['''a\n'b''']", r#"["a\n'b"]"#),
            ("[{\"a\": [1]}]", r#"[{"a": [1]}]"#),
            ("[]", "[]"),
            ("('a',)", r#"["a"]"#),
        ];
        for (cell, expected) in cases {
            let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
            assert_eq!(json(cell), expected, "{cell}");
        }
    }

    #[test]
    fn a_text_with_brackets_is_a_text() {
        for cell in [
            "[1] says so",
            "(see page 3)",
            "{{topic}}",
            "[not a literal]",
            "[",
            "['a",
            "None",
            "a|b",
            "",
        ] {
            assert_eq!(read(cell), Literal::Text, "{cell}");
        }
        let bomb = "[".repeat(100_000);
        assert_eq!(read(&bomb), Literal::Text);
    }

    #[test]
    fn an_array_that_numpy_shortened_is_not_taken_for_whole() {
        assert_eq!(read("['a' 'b' ... 'y' 'z']"), Literal::Shortened);
    }

    proptest! {
        #[test]
        fn any_cell_is_json_or_a_text(cell in r#"[\[\](){}'"\\,: .a-fnuxNT0-9|]{0,24}"#) {
            if let Literal::Json(text) = read(&cell) {
                prop_assert!(Json::parse(&text).is_some(), "{} gave {}", cell, text);
            }
        }
    }
}
