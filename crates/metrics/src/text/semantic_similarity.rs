//! Does the answer mean what the reference means, as an embedding model has it?

use super::{info, sides};
use crate::cosine::best_cosine;
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Info, Metric};

/// The cosine of the embeddings, negative ones being 0; the best over the references.
#[derive(Debug)]
pub(crate) struct SemanticSimilarity(Info);

impl SemanticSimilarity {
    pub(crate) fn new(name: &str) -> Self {
        SemanticSimilarity(info(name, true))
    }
}

impl Metric for SemanticSimilarity {
    fn info(&self) -> &Info {
        &self.0
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let (answer, references) = match sides(sample) {
            Ok(sides) => sides,
            Err(why) => return Step::Done(Outcome::NotApplicable(why)),
        };
        // Servers refuse an empty text, and there is nothing in it that could be alike.
        if answer.trim_start().is_empty() {
            return Step::Done(Outcome::Score {
                score: 0.0,
                reason: Some("the answer is empty".to_owned()),
            });
        }
        let Some(embeddings) = answers.first() else {
            let texts = std::iter::once(answer).chain(references);
            return Step::Embed(texts.map(str::to_owned).collect());
        };
        Step::Done(score(embeddings, references.len()))
    }
}

fn score(answer: &Answer, references: usize) -> Outcome {
    match best_cosine(answer, references) {
        Ok(best) => Outcome::Score {
            score: best.clamp(0.0, 1.0),
            reason: None,
        },
        Err((kind, message)) => Outcome::Failed { kind, message },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailureKind;

    fn of(vectors: &[&[f32]]) -> Outcome {
        let vectors = vectors
            .iter()
            .map(|vector| vector.to_vec())
            .collect::<Vec<_>>();
        let references = vectors.len() - 1;
        score(&Answer::Embeddings(vectors), references)
    }

    #[track_caller]
    fn check(vectors: &[&[f32]], expected: f64) {
        match of(vectors) {
            Outcome::Score { score, .. } => assert!((score - expected).abs() < 1e-9, "{score}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_is_the_best_cosine() {
        check(&[&[1.0, 0.0], &[1.0, 1.0]], 0.5_f64.sqrt());
        check(&[&[3.0, 0.0], &[0.0, 1.0], &[5.0, 0.0]], 1.0);
        check(&[&[1.0, 0.0], &[-1.0, 0.0]], 0.0);
    }

    #[test]
    fn what_has_no_direction_has_no_score() {
        for vectors in [[&[0.0, 0.0], &[1.0, 0.0]], [&[f32::NAN, 1.0], &[1.0, 0.0]]] {
            let outcome = of(&[vectors[0], vectors[1]]);
            assert!(matches!(
                outcome,
                Outcome::Failed {
                    kind: FailureKind::NotANumber,
                    ..
                }
            ));
        }
        assert!(matches!(
            of(&[&[1.0], &[1.0, 0.0]]),
            Outcome::Failed {
                kind: FailureKind::Inconsistent,
                ..
            }
        ));
    }
}
