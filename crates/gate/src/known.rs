//! The metrics that rag-gate knows by name: direction, range, and whether a judge scores them.

use std::num::NonZeroU32;

use crate::policy::Direction;

/// What is known of a metric by its name alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Which way is better.
    pub direction: Direction,
    /// Lowest and highest score; `None` when unbounded.
    pub range: Option<[f64; 2]>,
    /// True when a judge scores it, so that another judge makes another metric.
    pub judged: bool,
}

const UNIT: Option<[f64; 2]> = Some([0.0, 1.0]);

const fn judged(name: &'static str) -> Known {
    Known {
        name,
        direction: Direction::Higher,
        range: UNIT,
        judged: true,
    }
}

const fn judged_lower(name: &'static str) -> Known {
    Known {
        name,
        direction: Direction::Lower,
        range: UNIT,
        judged: true,
    }
}

const fn formula(name: &'static str) -> Known {
    Known {
        name,
        direction: Direction::Higher,
        range: UNIT,
        judged: false,
    }
}

const fn cost(name: &'static str) -> Known {
    Known {
        name,
        direction: Direction::Lower,
        range: None,
        judged: false,
    }
}

const fn formula_lower(name: &'static str) -> Known {
    Known {
        direction: Direction::Lower,
        ..formula(name)
    }
}

/// All known metrics.
pub const KNOWN: &[Known] = &[
    judged("faithfulness"),
    judged("answer_relevancy"),
    judged("context_precision"),
    judged("context_recall"),
    judged("context_relevance"),
    judged("context_entity_recall"),
    judged("factual_correctness"),
    judged("answer_correctness"),
    judged("answer_completeness"),
    judged_lower("noise_sensitivity"),
    judged_lower("hallucination"),
    formula("semantic_similarity"),
    formula("exact_match"),
    formula("exact_match_strict"),
    formula("token_f1"),
    formula("rouge_1"),
    formula("rouge_2"),
    formula("rouge_l"),
    formula("bleu"),
    formula("chrf"),
    formula("chrf++"),
    formula("edit_similarity"),
    formula("contains"),
    formula("starts_with"),
    formula("regex"),
    formula("json_schema"),
    formula("json_equal"),
    formula("length"),
    formula_lower("refusal"),
    formula("citation_validity"),
    formula("quote_validity"),
    formula("language"),
    formula("precision_at_k"),
    formula("recall_at_k"),
    formula("hit_rate_at_k"),
    formula("hit_rate"),
    formula("mrr"),
    formula("mrr_at_k"),
    formula("map"),
    formula("map_at_k"),
    formula("ndcg"),
    formula("ndcg_at_k"),
    formula("r_precision"),
    cost("latency_s"),
    cost("latency_ms"),
    cost("tokens"),
    cost("target_tokens"),
    cost("cost_usd"),
    cost("target_cost_usd"),
    cost("context_length"),
];

/// Tools whose formulas are known under their names: `faithfulness@ragas`.
pub const PEERS: &[&str] = &["ragas", "deepeval", "promptfoo", "ragchecker"];

/// The known metric of that name; `recall@5` is `recall_at_k`, `faithfulness@ragas` has direction and range of
/// `faithfulness`, and a group before a dot is no part of the name: `retrieval.ndcg@10`.
pub fn find(name: &str) -> Option<&'static Known> {
    let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
    let exact = |name: &str| KNOWN.iter().find(|known| known.name == name);
    exact(name).or_else(|| {
        let (stem, of) = name.split_once('@')?;
        if PEERS.contains(&of) {
            return exact(stem);
        }
        of.parse::<NonZeroU32>().ok()?;
        exact(&format!("{stem}_at_k"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_is_no_part_of_the_name() {
        assert_eq!(
            find("recall@5").map(|known| known.name),
            Some("recall_at_k")
        );
        assert_eq!(
            find("retrieval.ndcg@10").map(|known| known.name),
            Some("ndcg_at_k")
        );
        assert_eq!(
            find("faithfulness@ragas").map(|known| known.name),
            Some("faithfulness")
        );
        assert_eq!(find("recall@x"), None);
        assert_eq!(find("recall@0"), None);
        assert_eq!(find("faithfullness"), None);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = KNOWN.iter().map(|known| known.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KNOWN.len());
    }
}
