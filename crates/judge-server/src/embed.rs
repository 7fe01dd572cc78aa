//! Vectors of texts, as sums of the vectors of their words.

use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

use crate::hash;

/// The part of an embedding request that matters here.
#[derive(Debug, Deserialize)]
pub(crate) struct EmbedRequest<'a> {
    #[serde(borrow, default)]
    pub(crate) model: Cow<'a, str>,
    pub(crate) input: Input,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Input {
    One(String),
    Many(Vec<String>),
}

impl Input {
    pub(crate) fn texts(&self) -> &[String] {
        match self {
            Input::One(text) => std::slice::from_ref(text),
            Input::Many(texts) => texts,
        }
    }
}

/// The answer, for texts in their order.
pub(crate) fn answer(request: &EmbedRequest<'_>, dimensions: usize) -> Value {
    let texts = request.input.texts();
    let tokens = texts.iter().map(String::len).sum::<usize>() / 4;
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text, dimensions)}))
        .collect();
    json!({"object": "list", "model": request.model, "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})
}

/// Of length 1.
fn vector(text: &str, dimensions: usize) -> Vec<f64> {
    let mut sum = vec![0.0; dimensions];
    for word in std::iter::once("").chain(text.split_whitespace()) {
        let mut state = hash::fnv(word.to_lowercase().as_bytes());
        for value in &mut sum {
            state = hash::mix(state);
            *value += hash::unit(state) - 0.5;
        }
    }
    let length = sum
        .iter()
        .map(|value| value * value)
        .sum::<f64>()
        .sqrt()
        .max(f64::MIN_POSITIVE);
    sum.iter().map(|value| value / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_nearer() {
        let cosine = |a: &str, b: &str| -> f64 {
            std::iter::zip(vector(a, 64), vector(b, 64))
                .map(|(a, b)| a * b)
                .sum()
        };
        let near = cosine("the capital of France", "the capital of Italy");
        let far = cosine("the capital of France", "bake it until brown");
        assert!(near > far + 0.2, "{near} {far}");
        assert!((cosine("same", "Same") - 1.0).abs() < 1e-12);
    }
}
