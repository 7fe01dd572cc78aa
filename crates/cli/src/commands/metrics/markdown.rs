//! Markdown as a terminal shows it.

use crate::commands::wrap::words;

/// Paragraphs and items of lists are wrapped, code and tables stay as they are. Each line is indented.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut page = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    let margin = " ".repeat(indent);
    for line in text.lines() {
        let trimmed = line.trim();
        let is_item = trimmed.starts_with("- ") || trimmed.starts_with("* ");
        let is_kept = in_code || trimmed.starts_with('|');
        let is_fence = trimmed.starts_with("```");
        if trimmed.is_empty() || is_item || is_kept || is_fence {
            flush(&mut page, &mut paragraph, indent);
        }
        if is_fence {
            in_code = !in_code;
        } else if is_kept {
            let inner = if in_code { "  " } else { "" };
            page.push_str(format!("{margin}{inner}{line}").trim_end());
            page.push('\n');
        } else if trimmed.is_empty() {
            page.push('\n');
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(trimmed);
        }
    }
    flush(&mut page, &mut paragraph, indent);
    page
}

fn flush(page: &mut String, paragraph: &mut String, indent: usize) {
    if paragraph.is_empty() {
        return;
    }
    let hang = match paragraph.starts_with("- ") || paragraph.starts_with("* ") {
        true => indent + 2,
        false => indent,
    };
    page.push_str(&words(paragraph, indent, hang));
    paragraph.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::wrap::WIDTH;

    #[test]
    fn prose_is_wrapped_and_code_is_not() {
        let long = "word ".repeat(30);
        let text = format!(
            "{long}\n{long}\n\n```text\nscore = {}\n```\n- {long}\n| {long} |",
            "x + ".repeat(30)
        );
        let page = wrapped(&text, 2);
        let lines: Vec<&str> = page.lines().collect();
        let is_prose = |line: &&&str| !line.contains('|') && !line.contains('+');
        assert!(
            lines
                .iter()
                .filter(is_prose)
                .all(|line| line.chars().count() <= WIDTH)
        );
        assert_eq!(page.matches("word").count(), 120);
        assert!(page.contains("\n    score = x + x"));
        assert!(page.contains("\n  - word"));
        assert!(page.contains("\n    word"));
        assert!(
            lines
                .iter()
                .all(|line| line.is_empty() || line.starts_with("  "))
        );
    }
}
