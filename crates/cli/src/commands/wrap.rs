//! Prose of some eighty columns.

/// Columns of a page.
pub(crate) const WIDTH: usize = 80;

/// Words in lines of [`WIDTH`], the first with one indent and the others with another.
pub(crate) fn words(text: &str, first: usize, others: usize) -> String {
    let mut wrapped = String::new();
    let mut line = " ".repeat(first);
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            wrapped.push_str(&line);
            wrapped.push('\n');
            line = " ".repeat(others);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    wrapped.push_str(&line);
    wrapped.push('\n');
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_longer_than_a_line_stands_alone() {
        let long = "x".repeat(200);
        assert_eq!(
            words(&format!("a {long} b"), 2, 4),
            format!("  a\n    {long}\n    b\n")
        );
    }
}
