//! How near embeddings are.

use crate::outcome::{Answer, FailureKind};

/// The cosines of the first embedding and each of the `others` that follow it, from −1 to 1.
///
/// # Errors
///
/// What is wrong with the embeddings: their number or length, or one without a direction.
pub(crate) fn cosines(answer: &Answer, others: usize) -> Result<Vec<f64>, (FailureKind, String)> {
    let inconsistent = |message: String| (FailureKind::Inconsistent, message);
    let Answer::Embeddings(vectors) = answer else {
        return Err(inconsistent(
            "the embedding model gave something else than embeddings".to_owned(),
        ));
    };
    let Some((first, rest)) = vectors
        .split_first()
        .filter(|(_, rest)| rest.len() == others)
    else {
        return Err(inconsistent(format!(
            "{} embeddings of {} texts",
            vectors.len(),
            others + 1
        )));
    };
    if rest.iter().any(|other| other.len() != first.len()) {
        return Err(inconsistent("embeddings of different lengths".to_owned()));
    }
    let cosines: Vec<f64> = rest.iter().map(|other| cosine(first, other)).collect();
    if cosines.iter().all(|cosine| cosine.is_finite()) {
        Ok(cosines)
    } else {
        Err((
            FailureKind::NotANumber,
            "an embedding is zero or no number, so that it has no direction".to_owned(),
        ))
    }
}

/// The best of the [`cosines`].
///
/// # Errors
///
/// As of [`cosines`]; also when there is no other embedding.
pub(crate) fn best_cosine(answer: &Answer, others: usize) -> Result<f64, (FailureKind, String)> {
    let none = || {
        (
            FailureKind::Inconsistent,
            "nothing to compare with".to_owned(),
        )
    };
    let cosines = cosines(answer, others)?;
    cosines.into_iter().reduce(f64::max).ok_or_else(none)
}

/// NaN for a vector without direction.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
