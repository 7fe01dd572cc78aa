//! What the metrics will say themselves: the lexical judge, and the JSON Schema of an answer.

use metrics::{Expect, Reading, Request, Verdict};
use serde_json::{Value, json};

/// See `metrics::schema`.
pub(crate) fn schema(expect: Expect) -> Value {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    match expect {
        Expect::Verdicts { .. } => {
            let verdict = object(
                json!({"id": {"type": "integer"}, "reason": {"type": "string"}, "verdict": {"type": "boolean"}}),
                json!(["id", "reason", "verdict"]),
            );
            object(
                json!({"verdicts": {"type": "array", "items": verdict}}),
                json!(["verdicts"]),
            )
        }
        Expect::Grade { low, high } => object(
            json!({"grade": {"type": "integer", "enum": (low..=high).collect::<Vec<_>>()}, "reason": {"type": "string"}}),
            json!(["grade", "reason"]),
        ),
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
