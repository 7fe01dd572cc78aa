//! A judge that gives nearly everything the same score says little, and its mean looks like any other.

use gate::policy::Direction;
use gate::results::RunWarning;
use gate::verdict::Code;
use metrics::{Info, Outcome};

use crate::execute::{Job, Outcomes};

/// Fewer scores than this may be equal by chance.
const FEWEST: usize = 20;
/// Of so many scores...
const OF: usize = 20;
/// ...this many are nearly all.
const NEARLY_ALL: usize = 19;
/// Scores that are so near each other are the same.
const SAME: f64 = 1e-9;

/// A warning for each judged metric of which at least 95 % of at least 20 scores are the same.
pub fn warnings(job: &Job, outcomes: &Outcomes) -> Vec<RunWarning> {
    let metrics = job.metrics.iter().map(|metric| metric.info()).enumerate();
    metrics
        .filter(|(_, info)| info.judged)
        .filter_map(|(at, info)| {
            let scores = (0..job.dataset.len())
                .filter_map(|sample| match outcomes.of(sample).nth(at)?? {
                    Outcome::Score { score, .. } => Some(*score),
                    _ => None,
                })
                .collect();
            warning(info, scores)
        })
        .collect()
}

fn warning(info: &Info, scores: Vec<f64>) -> Option<RunWarning> {
    let all = scores.len();
    let (score, same) = most_frequent(scores)?;
    if all < FEWEST || same * OF < all * NEARLY_ALL {
        return None;
    }
    let name = &info.name;
    let is_best = best(info).is_some_and(|best| (best - score).abs() <= SAME);
    let shown = gate::number::value(score);
    let message = match is_best {
        true => format!(
            "{name}: the judge gave {same} of {all} samples the best score ({shown}). Good answers look like that, and so does a judge that says yes to everything: try it on an answer that is wrong"
        ),
        false => format!(
            "{name}: the judge gave {same} of {all} samples the same score ({shown}). It hardly tells answers apart, so that worse ones may not show"
        ),
    };
    Some(RunWarning {
        code: Some(Code::UniformScores.name()),
        metric: Some(name.clone()),
        message,
    })
}

/// The best score there is; `None` when there is no end to it.
fn best(info: &Info) -> Option<f64> {
    let [low, high] = info.range?;
    Some(match info.direction {
        Direction::Higher => high,
        Direction::Lower => low,
    })
}

/// The score that is there most often, and how often.
fn most_frequent(mut scores: Vec<f64>) -> Option<(f64, usize)> {
    scores.sort_by(f64::total_cmp);
    scores
        .chunk_by(|one, next| next - one <= SAME)
        .filter_map(|same| Some((*same.first()?, same.len())))
        .max_by_key(|(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(direction: Direction, groups: &[(f64, usize)]) -> Option<String> {
        let info = Info {
            direction,
            ..metrics::by_name("faithfulness").unwrap().info().clone()
        };
        let scores = groups
            .iter()
            .flat_map(|(score, count)| std::iter::repeat_n(*score, *count))
            .collect();
        warning(&info, scores).map(|warning| warning.message)
    }

    #[test]
    fn nineteen_of_twenty_are_nearly_all() {
        let higher = |groups: &[(f64, usize)]| warned(Direction::Higher, groups);
        assert_eq!(higher(&[(0.5, 19)]), None);
        assert!(higher(&[(0.5, 20)]).is_some());
        assert!(higher(&[(0.5, 19), (0.6, 1)]).is_some());
        assert_eq!(higher(&[(0.5, 18), (0.6, 2)]), None);
        assert_eq!(higher(&[(0.5, 94), (0.6, 6)]), None);
        assert!(higher(&[(0.0, 3), (0.5, 95), (0.6, 2)]).is_some());
        assert_eq!(higher(&[]), None);
        // What differs by rounding is the same.
        assert!(higher(&[(0.3, 10), (0.1 + 0.2, 10)]).is_some());
    }

    #[test]
    fn the_best_score_is_said_to_be_good_or_blind() {
        let best = warned(Direction::Higher, &[(1.0, 120), (0.5, 2)]).unwrap();
        assert!(
            best.starts_with(
                "faithfulness: the judge gave 120 of 122 samples the best score (1.000)"
            ),
            "{best}"
        );
        let worst = warned(Direction::Higher, &[(0.0, 40)]).unwrap();
        assert!(worst.contains("the same score (0.000)"), "{worst}");
        let lower = warned(Direction::Lower, &[(0.0, 40)]).unwrap();
        assert!(lower.contains("the best score (0.000)"), "{lower}");
    }
}
