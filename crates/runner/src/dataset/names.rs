//! The column names that are known, as evaluation tools and published datasets write them.

use metrics::Column;

/// When a name means the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Whatever stands beside it.
    Always,
    /// Only beside one of these.
    Beside(&'static [&'static str]),
    /// Only beside none of these.
    Without(&'static [&'static str]),
}

/// A name of a column; dots lead into objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) path: &'static str,
    pub(super) when: When,
}

/// `DeepEval`'s own columns: beside them, `context` is what should have been retrieved.
pub(super) const DEEPEVAL: &[&str] = &["actual_output", "expected_output", "retrieval_context"];

const fn name(path: &'static str) -> Name {
    Name {
        path,
        when: When::Always,
    }
}

const fn when(path: &'static str, when: When) -> Name {
    Name { path, when }
}

const ID: &[Name] = &[
    name("example_id"),
    name("id"),
    name("_id"),
    name("sample_id"),
    name("question_id"),
    name("query_id"),
    name("qid"),
    name("task_id"),
    name("uuid"),
    name("doc.id"),
    name("doc_id"),
    when("name", When::Beside(DEEPEVAL)),
];

const QUESTION: &[Name] = &[
    name("question"),
    name("questions"),
    name("user_input"),
    name("query"),
    name("input"),
    name("inputs.question"),
    name("inputs.query"),
    name("inputs.user_input"),
    name("inputs.input"),
    name("inputs.messages"),
    name("vars.question"),
    name("vars.query"),
    name("vars.input"),
    name("doc.question"),
    name("doc.query"),
    name("metric_input.user_input"),
    name("request.question"),
    name("request.query"),
    name("inputs"),
    name("messages"),
    name("instruction"),
    name("prompt"),
    when("text", When::Beside(&["_id"])),
];

const ANSWER: &[Name] = &[
    name("answer"),
    name("response"),
    name("actual_output"),
    name("predicted_answers"),
    name("predicted_answer"),
    name("model_response"),
    name("model_answer"),
    name("generated_answer"),
    name("output"),
    name("outputs.answer"),
    name("outputs.output"),
    name("outputs.response"),
    name("outputs"),
    name("response.output"),
    name("output.completion"),
    name("output.choices.0.message.content"),
    name("filtered_resps"),
    name("metric_input.response"),
    name("predictions.text"),
    name("prediction"),
    name("completion"),
];

const REFERENCE: &[Name] = &[
    name("reference"),
    name("references"),
    name("ground_truth"),
    name("ground_truths"),
    name("expected_output"),
    name("expected_answer"),
    name("expected_response"),
    name("reference_answer"),
    name("reference_answers"),
    name("gt_answer"),
    name("true_answers"),
    name("ground_truth_answers"),
    name("gold_answer"),
    name("generation_gt"),
    name("expected"),
    name("ideal"),
    name("target"),
    name("targets.text"),
    name("answers.text"),
    name("reference.answer"),
    name("reference.output"),
    name("reference_outputs.answer"),
    name("reference_outputs.output"),
    name("reference_outputs"),
    name("expectations.expected_response"),
    name("expectations.expected_answer"),
    name("expected_response/value"),
    name("vars.reference"),
    name("vars.ground_truth"),
    name("vars.expected"),
    name("doc.reference"),
    name("metric_input.reference"),
];

/// References whose text in a CSV cell may be a list; in the others, brackets are a part of the answer.
pub(super) const LISTS: &[&str] = &[
    "references",
    "ground_truths",
    "reference_answers",
    "true_answers",
    "ground_truth_answers",
    "generation_gt",
    "ideal",
    "target",
    "targets.text",
    "answers.text",
];

const CONTEXTS: &[Name] = &[
    name("contexts"),
    name("retrieved_contexts"),
    name("retrieval_context"),
    name("retrieved_context"),
    name("retrieved_documents"),
    name("retrieved_chunks"),
    name("retrieved_passages"),
    when("context", When::Without(DEEPEVAL)),
    name("passages"),
    name("documents"),
    name("source_documents"),
    name("docs"),
    name("chunks"),
    name("outputs.contexts"),
    name("outputs.retrieved_contexts"),
    name("outputs.documents"),
    name("inputs.contexts"),
    name("inputs.context"),
    name("vars.contexts"),
    name("vars.context"),
    name("doc.contexts"),
    name("metadata.contexts"),
    name("metric_input.retrieved_contexts"),
];

const REFERENCE_CONTEXTS: &[Name] = &[
    name("reference_contexts"),
    name("reference_context"),
    name("ground_truth_contexts"),
    name("ground_truth_context"),
    name("gold_contexts"),
    name("expected_contexts"),
    name("expected_chunks"),
    when("context", When::Beside(DEEPEVAL)),
    name("metric_input.reference_contexts"),
];

const CONTEXT_IDS: &[Name] = &[
    name("context_ids"),
    name("retrieved_context_ids"),
    name("retrieved_ids"),
    name("retrieved_doc_ids"),
];

const REFERENCE_CONTEXT_IDS: &[Name] = &[
    name("reference_context_ids"),
    name("ground_truth_context_ids"),
    name("expected_context_ids"),
    name("relevant_doc_ids"),
    name("relevant_ids"),
    name("retrieval_gt"),
    name("relevant_docs"),
    name("qrels"),
];

const REFERENCE_CONTEXT_GRADES: &[Name] =
    &[name("reference_context_grades"), name("relevance_grades")];

const HISTORY: &[Name] = &[
    name("history"),
    name("conversation_history"),
    name("chat_history"),
    name("turns"),
    name("metadata.conversation_history"),
];

const CLUSTER: &[Name] = &[name("cluster"), name("cluster_id"), name("conversation_id")];

const TAGS: &[Name] = &[name("tags")];

const VARIANT: &[Name] = &[name("variant")];

/// In seconds, unless the last part of the name says another unit: see `measured`.
const LATENCY: &[Name] = &[
    name("latency_s"),
    name("latency_seconds"),
    name("latency_ms"),
    name("latency"),
    name("response_time_s"),
    name("response_time_ms"),
    name("response_time"),
    name("duration_s"),
    name("duration_seconds"),
    name("duration_ms"),
    name("duration"),
    name("elapsed_s"),
    name("elapsed_ms"),
    name("elapsed"),
    name("total_time"),
    name("completion_time"),
    name("response.latency_s"),
    name("response.latency_ms"),
    name("response.latency"),
    name("outputs.latency_s"),
    name("outputs.latency_ms"),
    name("outputs.latency"),
    name("metadata.latency_s"),
    name("metadata.latency_ms"),
    name("metadata.latency"),
];

const TOKENS: &[Name] = &[
    name("total_tokens"),
    name("target_tokens"),
    name("tokens"),
    name("token_count"),
    name("tokens_used"),
    name("usage.total_tokens"),
    name("token_usage.total_tokens"),
    name("token_usage.total"),
    name("tokens.total"),
    name("response.usage.total_tokens"),
    name("response.token_usage.total"),
    name("outputs.usage.total_tokens"),
    name("output.usage.total_tokens"),
    name("metadata.usage.total_tokens"),
    name("metadata.total_tokens"),
];

const COST: &[Name] = &[
    name("cost_usd"),
    name("target_cost_usd"),
    name("cost"),
    name("total_cost_usd"),
    name("total_cost"),
    name("usage.cost_usd"),
    name("usage.cost"),
    name("response.cost_usd"),
    name("response.cost"),
    name("outputs.cost_usd"),
    name("outputs.cost"),
    name("metadata.cost_usd"),
    name("metadata.cost"),
];

/// The names of a column, the one that wins first.
pub(super) fn of(column: Column) -> &'static [Name] {
    match column {
        Column::Id => ID,
        Column::Question => QUESTION,
        Column::Answer => ANSWER,
        Column::Reference => REFERENCE,
        Column::Contexts => CONTEXTS,
        Column::ReferenceContexts => REFERENCE_CONTEXTS,
        Column::ContextIds => CONTEXT_IDS,
        Column::ReferenceContextIds => REFERENCE_CONTEXT_IDS,
        Column::History => HISTORY,
        Column::Cluster => CLUSTER,
        Column::Tags => TAGS,
        Column::Variant => VARIANT,
        Column::ReferenceContextGrades => REFERENCE_CONTEXT_GRADES,
        Column::Latency => LATENCY,
        Column::Tokens => TOKENS,
        Column::Cost => COST,
    }
}

/// The keys under which a file may hold its rows.
pub(super) const WRAPPERS: &[&str] = &[
    "results",
    "rows",
    "data",
    "samples",
    "items",
    "questions",
    "examples",
    "records",
    "test_cases",
    "goldens",
    "tests",
    "queries",
    "dataset",
];

/// Objects that hold an object of [`WRAPPERS`] or the rows themselves.
pub(super) const OUTER: &[&str] = &["results", "test_run_data", "data", "dataset"];

/// Whether a name of a file is that name: case, camelCase, spaces and hyphens make no difference.
pub(super) fn same(there: &str, known: &str) -> bool {
    let there = there.trim();
    // Most names are others, and show it at once.
    let first = |name: &str| name.bytes().next().map(|byte| byte.to_ascii_lowercase());
    if first(there) != first(known) {
        return false;
    }
    let mut expected = known.bytes().peekable();
    let mut before = b'_';
    for byte in there.bytes() {
        let is_hump = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
        if is_hump && expected.next_if_eq(&b'_').is_none() {
            return false;
        }
        before = byte;
        let plain = match byte {
            b' ' | b'-' => b'_',
            _ => byte.to_ascii_lowercase(),
        };
        if expected.next() != Some(plain) {
            return false;
        }
    }
    expected.next().is_none()
}

/// Whether any column goes by that name.
pub(super) fn is_known(there: &str) -> bool {
    Column::ALL
        .iter()
        .flat_map(|&column| of(column))
        .any(|name| same(there, name.path))
}

/// Whether a known path begins with that name.
pub(super) fn leads(there: &str) -> bool {
    Column::ALL
        .iter()
        .flat_map(|&column| of(column))
        .filter_map(|name| name.path.split_once('.'))
        .any(|(first, _)| same(there, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name() {
        for there in [
            "retrieval_context",
            "retrievalContext",
            "Retrieval Context",
            "RETRIEVAL-CONTEXT",
        ] {
            assert!(same(there, "retrieval_context"), "{there}");
        }
        for there in [
            "retrievalcontext",
            "retrieval_contexts",
            "retrieval",
            "",
            "_id",
        ] {
            assert!(!same(there, "retrieval_context"), "{there}");
        }
        assert!(same("ID", "id") && same("_id", "_id") && !same("_id", "id"));
        assert!(same("inputs.question", "inputs.question"));
    }

    #[test]
    fn no_name_means_two_columns_at_once() {
        let all: Vec<_> = Column::ALL
            .iter()
            .flat_map(|&column| of(column))
            .map(|name| (name.path, name.when))
            .collect();
        for (at, (path, when)) in all.iter().enumerate() {
            for (other, other_when) in &all[at + 1..] {
                let apart = matches!(
                    (when, other_when),
                    (When::Without(without), When::Beside(beside)) if without == beside
                );
                assert!(path != other || apart, "{path}");
            }
        }
    }
}
