//! Vectors of texts without a model: texts that share words are near each other.

use super::hash::{Hasher, mix, unit};

const DIMENSIONS: usize = 256;

/// Of length 1 each. A word adds a vector that depends on it alone, whatever its case.
pub(super) fn of(texts: &[String]) -> Vec<Vec<f32>> {
    texts.iter().map(|text| vector(text)).collect()
}

fn vector(text: &str) -> Vec<f32> {
    let mut sum = vec![0.0_f64; DIMENSIONS];
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut count = 0_u32;
    for word in words {
        count += 1;
        add(&mut sum, &word.to_lowercase());
    }
    if count == 0 {
        // A text without words has a direction too, lest its cosine be 0 divided by 0.
        add(&mut sum, text.trim());
    }
    let length = sum
        .iter()
        .map(|value| value * value)
        .sum::<f64>()
        .sqrt()
        .max(f64::MIN_POSITIVE);
    #[expect(clippy::cast_possible_truncation, reason = "vectors are f32")]
    sum.iter().map(|value| (value / length) as f32).collect()
}

fn add(sum: &mut [f64], word: &str) {
    let mut state = Hasher::new(0).text(word).finish();
    for value in sum {
        state = mix(state);
        *value += unit(state) - 0.5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_nearer() {
        let cosine = |a: &str, b: &str| -> f32 {
            std::iter::zip(vector(a), vector(b))
                .map(|(a, b)| a * b)
                .sum()
        };
        let near = cosine("the capital of France", "The capital of Italy.");
        let far = cosine("the capital of France", "bake it until brown");
        assert!(near > far + 0.4, "{near} {far}");
        assert!((cosine("Paris!", "paris") - 1.0).abs() < 1e-5);
        assert!((cosine("", "") - 1.0).abs() < 1e-5);
    }
}
