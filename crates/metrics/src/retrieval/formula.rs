//! The formulas, as NIST's `trec_eval` has them.

use super::ranking::Ranking;

/// Ranks that a reason lists.
const LISTED: usize = 10;

/// What is made of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    Precision,
    Recall,
    HitRate,
    ReciprocalRank,
    AveragePrecision,
    Ndcg,
    RPrecision,
}

impl Formula {
    /// The score, from 0 to 1, of the first `k` ranks.
    pub(super) fn score(self, ranking: &Ranking, k: usize) -> f64 {
        let relevant = ranking.relevant.len();
        match self {
            Formula::Precision => ranking.found(k) as f64 / k as f64,
            Formula::Recall => ranking.found(k) as f64 / relevant as f64,
            Formula::HitRate => f64::from(u8::from(ranking.found(k) > 0)),
            Formula::ReciprocalRank => {
                let first = ranking.ranks(k).next();
                first.map_or(0.0, |rank| 1.0 / rank as f64)
            }
            Formula::AveragePrecision => {
                let found = ranking.ranks(k).zip(1_usize..);
                let precisions = found.map(|(rank, found)| found as f64 / rank as f64);
                precisions.sum::<f64>() / relevant as f64
            }
            Formula::Ndcg => {
                let gain = discounted(&ranking.gains, ranking.relevant[0], k);
                // The same gains in another order may come to more by a rounding.
                (gain / discounted(&ranking.relevant, ranking.relevant[0], k)).min(1.0)
            }
            Formula::RPrecision => ranking.found(relevant) as f64 / relevant as f64,
        }
    }

    /// Why the score is not 1.
    pub(super) fn reason(self, ranking: &Ranking, k: usize) -> String {
        let (relevant, retrieved) = (ranking.relevant.len(), ranking.gains.len());
        let k = match self {
            Formula::RPrecision => relevant,
            // Of an empty rank nothing can be said but that it is empty.
            Formula::Precision | Formula::Recall => k,
            _ => k.min(retrieved),
        };
        let found = ranking.found(k);
        match self {
            _ if found == 0 && self != Formula::Recall => {
                format!("no relevant passage among the first {k}")
            }
            Formula::Precision if retrieved < k => {
                format!("{found} relevant among {retrieved} passages, where {k} are asked for")
            }
            Formula::Precision => format!("{found} of the first {k} passages are relevant"),
            Formula::Recall | Formula::HitRate | Formula::RPrecision => {
                format!("{found} of {relevant} relevant passages among the first {k}")
            }
            Formula::ReciprocalRank => {
                let first = ranking.ranks(k).next().unwrap_or_default();
                format!("the first relevant passage has rank {first}")
            }
            Formula::AveragePrecision | Formula::Ndcg => {
                let mut ranks: Vec<String> = ranking
                    .ranks(k)
                    .take(LISTED)
                    .map(|rank| rank.to_string())
                    .collect();
                if found > LISTED {
                    ranks.push("…".to_owned());
                }
                let ranks = ranks.join(", ");
                format!("{found} of {relevant} relevant passages found, with rank {ranks}")
            }
        }
    }
}

/// The gains of the first `k` ranks, each by the logarithm of its rank, in units of `highest`: no sum of them is too large
/// for a number.
fn discounted(gains: &[f64], highest: f64, k: usize) -> f64 {
    let gains = gains.iter().take(k).zip(2_usize..);
    let discounted = gains.map(|(gain, next)| gain / highest / (next as f64).log2());
    discounted.sum()
}
