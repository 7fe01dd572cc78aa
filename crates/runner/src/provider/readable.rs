//! Words of a server or a program, made fit for a message.

/// Longer quotations are cut.
const MAX_CHARS: usize = 300;

/// The text on one line, without control characters, cut to a readable length.
pub(crate) fn readable(text: &str) -> String {
    let mut line = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == MAX_CHARS {
            line.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' if line.ends_with(' ') => {}
            '\n' | '\r' | '\t' => line.push(' '),
            c if c.is_control() || reorders(c) => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

/// Characters that change the order in which a terminal shows the others, or hide between them.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_lines_joined() {
        assert_eq!(
            readable(" a\r\n b\u{1b}[31mc\u{202e}d "),
            "a  b\\u{1b}[31mc\\u{202e}d"
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = readable(&"é".repeat(1000));
        assert_eq!(text.chars().count(), MAX_CHARS + 1);
        assert!(text.ends_with('…'));
    }
}
