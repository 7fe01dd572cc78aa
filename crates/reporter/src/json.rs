//! `verdict.json`: the verdict as it is.

use gate::verdict::Verdict;

use crate::escape;

/// Pretty, in the order of the fields, with a line break at the end.
pub(crate) fn render(verdict: &Verdict) -> String {
    match serde_json::to_string_pretty(verdict) {
        Ok(document) => escape::json(&document) + "\n",
        // Maps with keys that are no strings would be an error; the types of a verdict hold none.
        Err(error) => format!(
            "{{\"error\": {}}}\n",
            serde_json::Value::from(error.to_string())
        ),
    }
}
