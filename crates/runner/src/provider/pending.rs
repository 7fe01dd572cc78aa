//! What the metrics will say themselves: the lexical judge, and the JSON Schema of an answer.

use metrics::{Expect, Reading, Request, Verdict};
use serde_json::{Value, json};

/// See `metrics::schema`.
pub(crate) fn schema(expect: Expect) -> Value {
    match expect {
        Expect::Verdicts { items } => json!({
            "type": "object",
            "properties": {"verdicts": {
                "type": "array", "minItems": items, "maxItems": items,
                "items": {
                    "type": "object",
                    "properties": {
                        "item": {"type": "integer"},
                        "reason": {"type": "string"},
                        "verdict": {"type": "integer", "enum": [0, 1]}
                    },
                    "required": ["item", "reason", "verdict"],
                    "additionalProperties": false
                }
            }},
            "required": ["verdicts"],
            "additionalProperties": false
        }),
        Expect::Grade { low, high } => json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string"},
                "grade": {"type": "integer", "minimum": low, "maximum": high}
            },
            "required": ["reason", "grade"],
            "additionalProperties": false
        }),
    }
}

/// See `metrics::schema_name`.
pub(crate) fn schema_name(expect: Expect) -> &'static str {
    match expect {
        Expect::Verdicts { .. } => "verdicts",
        Expect::Grade { .. } => "grade",
    }
}

/// See `metrics::lexical::answer`.
pub(crate) fn lexical_answer(request: &Request) -> Option<Reading> {
    let Expect::Verdicts { items } = request.expect else {
        return None;
    };
    let evidence = request.evidence.join("\n").to_lowercase();
    let verdicts: Vec<Verdict> = request
        .items
        .iter()
        .take(items)
        .map(|item| Verdict {
            holds: f64::from(u8::from(evidence.contains(&item.to_lowercase()))),
            reason: String::new(),
        })
        .collect();
    (verdicts.len() == items).then_some(Reading::Verdicts(verdicts))
}
