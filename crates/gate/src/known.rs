//! The metrics that rag-gate knows by name: direction, range, and whether a judge scores them.

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
    formula("token_f1"),
    formula("rouge_1"),
    formula("rouge_2"),
    formula("rouge_l"),
    formula("edit_similarity"),
    formula("precision_at_k"),
    formula("recall_at_k"),
    formula("hit_rate_at_k"),
    formula("hit_rate"),
    formula("mrr"),
    formula("map"),
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

/// The known metric of that name; `recall@5` is `recall_at_k`, and a group before a dot is no part of the name:
/// `retrieval.ndcg@10`.
pub fn find(name: &str) -> Option<&'static Known> {
    let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
    let exact = KNOWN.iter().find(|known| known.name == name);
    exact.or_else(|| {
        let (stem, k) = name.split_once('@')?;
        k.parse::<u32>().ok()?;
        let general = format!("{stem}_at_k");
        KNOWN.iter().find(|known| known.name == general)
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
        assert_eq!(find("recall@x"), None);
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
