//! Keeps a document within a number of bytes: what comes first stays, what comes last is cut.

/// A part of a document whose rows can be cut off at any place.
pub(crate) struct Block {
    /// What stands above the rows.
    pub(crate) open: String,
    /// Whole lines, each with its line break.
    pub(crate) rows: Vec<String>,
    /// What stands below the rows.
    pub(crate) close: &'static str,
}

/// Said at the end of a document that was cut.
const NOTE: &str = "\n*The rest was cut to fit; the JSON verdict has everything.*\n";

/// Joins the blocks in their order, as far as `max_bytes` reach.
///
/// The first row that does not fit ends the document, so that nothing less important outlives it.
pub(crate) fn join(blocks: Vec<Block>, max_bytes: usize) -> String {
    let room = max_bytes.saturating_sub(NOTE.len());
    let mut document = String::new();
    for block in blocks {
        let mut opened = false;
        let total = block.rows.len();
        for (index, row) in block.rows.iter().enumerate() {
            let more = format!("\n*… {} of {total} cut.*\n", total.saturating_sub(index));
            let open = if opened { "" } else { block.open.as_str() };
            let needed = open.len() + row.len() + block.close.len() + more.len();
            if document.len().saturating_add(needed) > room {
                if opened {
                    document.push_str(&more);
                    document.push_str(block.close);
                }
                document.push_str(NOTE);
                return document;
            }
            document.push_str(open);
            document.push_str(row);
            opened = true;
        }
        if opened {
            document.push_str(block.close);
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: usize) -> Block {
        Block {
            open: "open\n".to_owned(),
            rows: vec!["row\n".to_owned(); rows],
            close: "close\n",
        }
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(
            join(vec![block(1), block(0), block(2)], 200),
            "open\nrow\nclose\nopen\nrow\nrow\nclose\n"
        );
    }

    #[test]
    fn the_first_row_too_many_ends_the_document() {
        let cut = join(vec![block(2), block(90), block(1)], 200);
        assert!(cut.len() <= 200, "{}", cut.len());
        assert!(cut.ends_with(&format!("close\n{NOTE}")), "{cut}");
        assert!(cut.contains(" of 90 cut.*"), "{cut}");
    }

    #[test]
    fn no_size_is_exceeded() {
        for max in NOTE.len()..300 {
            assert!(join(vec![block(3), block(9), block(9)], max).len() <= max);
        }
    }
}
