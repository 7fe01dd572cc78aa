//! What a run would do, without doing it.

use std::collections::HashSet;

use metrics::{Metric, Outcome, Step};

use crate::cache::{Cache, Key, KeyParts};
use crate::dataset::{Dataset, DatasetError};
use crate::provider::Identity;

/// Bytes of text for a token, roughly, in languages with spaces.
const BYTES_A_TOKEN: u64 = 4;
/// Tokens of one verdict with its reason, roughly.
const TOKENS_A_VERDICT: u64 = 40;

/// The work of a run, as far as it shows before the first answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Survey {
    /// Metrics × samples.
    pub scores: u64,
    /// Of these, how many do not apply.
    pub not_applicable: u64,
    /// Questions to the judge.
    pub requests: u64,
    /// Questions that are answered already.
    pub cached: u64,
    /// Questions equal to another one.
    pub shared: u64,
    /// Calls that remain.
    pub calls: u64,
    /// Tokens of their questions, estimated from their length.
    pub prompt_tokens: u64,
    /// Tokens of their answers, estimated from the verdicts asked for.
    pub completion_tokens: u64,
    /// Seconds that the cached answers took when they were asked for.
    pub cached_latency_s: f64,
}

/// Looks at every metric on every sample, and at the cache.
pub fn survey(
    dataset: &Dataset,
    metrics: &[Box<dyn Metric>],
    identity: &Identity,
    embeddings: Option<&Identity>,
    cache: &Cache,
) -> Result<Survey, DatasetError> {
    let mut survey = Survey::default();
    let mut asked: HashSet<Key> = HashSet::new();
    for index in 0..dataset.len() {
        let sample = dataset.sample(index)?;
        for metric in metrics {
            survey.scores += 1;
            let key = match metric.step(&sample, &[]) {
                Step::Done(Outcome::NotApplicable(_)) => {
                    survey.not_applicable += 1;
                    continue;
                }
                Step::Done(_) | Step::Run => continue,
                Step::Ask(request) => {
                    let bytes: usize = request
                        .messages
                        .iter()
                        .map(|message| message.content.len())
                        .sum();
                    let key = Key::of(&KeyParts {
                        identity,
                        request: &request,
                        repeat: 0,
                    });
                    (key, bytes, request.items.len() as u64 + 1)
                }
                Step::Embed(texts) => {
                    let bytes = texts.iter().map(String::len).sum();
                    (
                        Key::of_embeddings(embeddings.unwrap_or(identity), &texts, 0),
                        bytes,
                        0,
                    )
                }
            };
            survey.count(key, cache, &mut asked);
        }
    }
    Ok(survey)
}

impl Survey {
    fn count(
        &mut self,
        (key, bytes, verdicts): (Key, usize, u64),
        cache: &Cache,
        asked: &mut HashSet<Key>,
    ) {
        self.requests += 1;
        if !asked.insert(key) {
            self.shared += 1;
        } else if let Some(entry) = cache.get(&key) {
            self.cached += 1;
            self.cached_latency_s += entry.latency_s;
        } else {
            self.calls += 1;
            self.prompt_tokens += bytes as u64 / BYTES_A_TOKEN;
            self.completion_tokens += verdicts * TOKENS_A_VERDICT;
        }
    }
}
