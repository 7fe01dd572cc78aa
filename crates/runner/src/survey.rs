//! What a run would do, without doing it.

use std::collections::HashSet;

use metrics::{Answer, Metric, Outcome, Request, Sample, Step};

use crate::cache::{Cache, Key, KeyParts};
use crate::dataset::{Dataset, DatasetError};
use crate::execute::MOST_STEPS;
use crate::judge::read_vectors;
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
    /// Questions to the judge and to the embedding model.
    pub requests: u64,
    /// Questions that are answered already.
    pub cached: u64,
    /// Questions equal to another one.
    pub shared: u64,
    /// Calls that remain, at most.
    pub calls: u64,
    /// Of these, how many come only after another answer, and may turn out to be fewer.
    pub later: u64,
    /// Samples that a program scores.
    pub runs: u64,
    /// Tokens of their questions, estimated from their length.
    pub prompt_tokens: u64,
    /// Tokens of their answers, estimated from the verdicts asked for.
    pub completion_tokens: u64,
    /// Seconds that the cached answers took when they were asked for.
    pub cached_latency_s: f64,
}

/// Looks at every metric on every sample, and at the cache.
///
/// A metric of several steps is followed as far as the cache has its answers; what may come after that is counted as
/// what the metric asks at most.
pub fn survey(
    dataset: &Dataset,
    metrics: &[Box<dyn Metric>],
    identity: &Identity,
    embeddings: Option<&Identity>,
    cache: &Cache,
) -> Result<Survey, DatasetError> {
    let mut surveyor = Surveyor {
        identity,
        embeddings: embeddings.unwrap_or(identity),
        cache,
        asked: HashSet::new(),
        survey: Survey::default(),
    };
    for index in 0..dataset.len() {
        let sample = dataset.sample(index)?;
        for metric in metrics {
            surveyor.follow(metric.as_ref(), &sample);
        }
    }
    Ok(surveyor.survey)
}

struct Surveyor<'a> {
    identity: &'a Identity,
    embeddings: &'a Identity,
    cache: &'a Cache,
    asked: HashSet<Key>,
    survey: Survey,
}

impl Surveyor<'_> {
    /// Goes from step to step as long as the cache answers.
    fn follow(&mut self, metric: &dyn Metric, sample: &Sample) {
        self.survey.scores += 1;
        let info = metric.info();
        let mut answers: Vec<Answer> = Vec::new();
        // What it may still ask: the judge, and the embedding model once.
        let mut calls_left = info.calls;
        let mut embeds_left = u32::from(info.embeds);
        while answers.len() < MOST_STEPS {
            let (question, read): (Question, Option<Answer>) = match metric.step(sample, &answers) {
                Step::Done(Outcome::NotApplicable(_)) => {
                    self.survey.not_applicable += 1;
                    return;
                }
                Step::Done(_) => return,
                Step::Run => {
                    self.survey.runs += 1;
                    return;
                }
                Step::Ask(request) => {
                    calls_left = calls_left.saturating_sub(1);
                    let question = Question::of(self.identity, &request);
                    let read = self.look_up(&question, |raw| {
                        let reading = metrics::read(request.expect, raw).ok()?;
                        Some(Answer::Reading(reading))
                    });
                    (question, read)
                }
                Step::Embed(texts) => {
                    embeds_left = 0;
                    let question = Question::of_texts(self.embeddings, &texts);
                    let read = self.look_up(&question, |raw| read_vectors(raw, texts.len()).ok());
                    (question, read)
                }
            };
            match read {
                Some(answer) => answers.push(answer),
                None => {
                    self.later(&question, calls_left, embeds_left);
                    return;
                }
            }
        }
    }

    /// Counts a question; its answer, where the cache has one.
    fn look_up(
        &mut self,
        question: &Question,
        read: impl FnOnce(&str) -> Option<Answer>,
    ) -> Option<Answer> {
        self.survey.requests += 1;
        let is_shared = !self.asked.insert(question.key);
        let entry = self.cache.get(&question.key);
        let answer = entry.as_ref().and_then(|entry| read(&entry.answer));
        if is_shared {
            self.survey.shared += 1;
        } else if let (Some(entry), Some(_)) = (&entry, &answer) {
            self.survey.cached += 1;
            self.survey.cached_latency_s += entry.latency_s;
        } else {
            self.survey.asks(1, question);
        }
        answer
    }

    /// Counts what may be asked once this question is answered. It is about as long, and nobody knows whether it is equal
    /// to another one.
    fn later(&mut self, question: &Question, calls: u32, embeds: u32) {
        let later = u64::from(calls) + u64::from(embeds);
        self.survey.requests += later;
        self.survey.later += later;
        self.survey.asks(u64::from(calls), question);
        self.survey.calls += u64::from(embeds);
    }
}

impl Survey {
    fn asks(&mut self, times: u64, question: &Question) {
        self.calls += times;
        self.prompt_tokens += times * (question.bytes / BYTES_A_TOKEN);
        self.completion_tokens += times * question.verdicts * TOKENS_A_VERDICT;
    }
}

/// A question, as far as it costs something.
struct Question {
    key: Key,
    bytes: u64,
    verdicts: u64,
}

impl Question {
    fn of(identity: &Identity, request: &Request) -> Question {
        let bytes = request
            .messages
            .iter()
            .map(|message| message.content.len() as u64);
        Question {
            key: Key::of(&KeyParts {
                identity,
                request,
                repeat: 0,
            }),
            bytes: bytes.sum(),
            verdicts: request.items.len() as u64 + 1,
        }
    }

    fn of_texts(identity: &Identity, texts: &[String]) -> Question {
        Question {
            key: Key::of_embeddings(identity, texts, 0),
            bytes: texts.iter().map(|text| text.len() as u64).sum(),
            verdicts: 0,
        }
    }
}
