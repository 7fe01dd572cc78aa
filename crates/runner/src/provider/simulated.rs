//! The simulated judge: numbers from a hash, for dry runs, load tests and examples.
//!
//! An answer depends on what is asked, and on nothing else: the order of the calls, the machine and the latency change
//! nothing. Scores use whole numbers alone, since the last digit of a logarithm is not the same everywhere.

use std::time::Duration;

use metrics::{Expect, Message, Reading, Request, Verdict};
use serde_json::json;

use super::hash::{Hasher, mix, unit};
use super::{Completion, Embeddings, Usage, vectors};

/// Of 256 verdicts so many say yes: 0.8.
const YES_OF_256: u64 = 205;

/// A judge that draws its answers.
#[derive(Debug, Clone)]
pub(super) struct Simulated {
    simulation: Simulation,
}

/// What gate.toml says of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Simulation {
    /// Median of the time an answer takes.
    pub(super) latency: Duration,
    /// Standard deviation of its logarithm.
    pub(super) sigma: f64,
    /// Another seed, other answers.
    pub(super) seed: i64,
}

impl Simulated {
    pub(super) fn new(simulation: Simulation) -> Self {
        Simulated { simulation }
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.simulation.latency.is_zero()
    }

    pub(super) fn read(&self, request: &Request) -> Reading {
        draw(request.expect, self.hash(request))
    }

    pub(super) async fn complete(&self, request: &Request, messages: &[Message]) -> Completion {
        let hash = self.hash(request);
        self.wait(hash).await;
        let text = written(&draw(request.expect, hash));
        let asked: usize = messages.iter().map(|message| message.content.len()).sum();
        Completion {
            usage: Usage {
                prompt_tokens: Some(tokens(asked)),
                completion_tokens: Some(tokens(text.len())),
            },
            text,
            model: None,
            is_cut: false,
            numerals: Vec::new(),
            is_computed: true,
        }
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Embeddings {
        let hash = texts
            .iter()
            .fold(self.hasher(), |hash, text| hash.text(text));
        self.wait(hash.finish()).await;
        Embeddings {
            vectors: vectors::of(texts),
            model: None,
            usage: Usage {
                prompt_tokens: Some(tokens(texts.iter().map(String::len).sum())),
                completion_tokens: None,
            },
        }
    }

    async fn wait(&self, hash: u64) {
        if !self.is_in_place() {
            tokio::time::sleep(self.latency(hash)).await;
        }
    }

    /// Lognormal, by Box and Muller.
    fn latency(&self, hash: u64) -> Duration {
        let Simulation { latency, sigma, .. } = self.simulation;
        let (first, second) = (mix(hash ^ 0x1a7e_9c7e), mix(hash ^ 0x9a55_1a9e));
        let normal =
            (-2.0 * (1.0 - unit(first)).ln()).sqrt() * (std::f64::consts::TAU * unit(second)).cos();
        let seconds = latency.as_secs_f64() * (sigma * normal).exp();
        Duration::try_from_secs_f64(seconds).unwrap_or(latency)
    }

    fn hasher(&self) -> Hasher {
        Hasher::new(self.simulation.seed.cast_unsigned())
    }

    fn hash(&self, request: &Request) -> u64 {
        let mut hash = self.hasher().text(&request.metric).text(&request.version);
        for message in &request.messages {
            hash = hash.text(&message.content);
        }
        // The prompt holds items and evidence too.
        if request.messages.is_empty() {
            for text in request.items.iter().chain(&request.evidence) {
                hash = hash.text(text);
            }
        }
        hash.finish()
    }
}

/// An answer of the form that is asked for.
fn draw(expect: Expect, hash: u64) -> Reading {
    match expect {
        Expect::Verdicts { items } | Expect::Quotes { items } => {
            let mut state = hash;
            let verdicts = (0..items).map(|_| {
                state = mix(state);
                Verdict::new(f64::from(u8::from(state >> 56 < YES_OF_256)), "")
            });
            Reading::Verdicts(verdicts.collect())
        }
        Expect::Sources { items, sources } => {
            let mut state = hash;
            let mut is_held = || {
                state = mix(state);
                state >> 56 < YES_OF_256
            };
            let held = (0..items).map(|_| (1..=sources).filter(|_| is_held()).collect());
            Reading::Sources(held.collect())
        }
        Expect::Texts { least, most } => {
            let count = most.min(least.max(3));
            let texts = (1..=count).map(|number| format!("text {number} of {hash:08x}"));
            Reading::Texts(texts.collect())
        }
        Expect::Grade { low, high } | Expect::WeightedGrade { low, high } => {
            let width = high.saturating_sub(low).max(0).unsigned_abs() + 1;
            let above = i64::try_from(mix(hash) % width).unwrap_or_default();
            Reading::Grade {
                grade: low.saturating_add(above) as f64,
                weighted: None,
                reason: String::new(),
            }
        }
    }
}

/// An answer as a language model would write it.
pub(super) fn written(reading: &Reading) -> String {
    let value = match reading {
        Reading::Verdicts(verdicts) => {
            let verdicts: Vec<_> = std::iter::zip(1_u32.., verdicts)
                .map(|(id, verdict)| {
                    let Verdict {
                        holds,
                        reason,
                        quote,
                    } = verdict;
                    match quote {
                        Some(quote) => {
                            json!({"id": id, "quote": quote, "reason": reason, "verdict": holds})
                        }
                        None => json!({"id": id, "reason": reason, "verdict": holds}),
                    }
                })
                .collect();
            json!({ "verdicts": verdicts })
        }
        Reading::Sources(held) => {
            let items: Vec<_> = std::iter::zip(1_u32.., held)
                .map(|(id, sources)| json!({"id": id, "sources": sources}))
                .collect();
            json!({ "items": items })
        }
        Reading::Texts(texts) => json!({ "texts": texts }),
        Reading::Grade { grade, reason, .. } => json!({"reason": reason, "grade": grade}),
    };
    value.to_string()
}

/// About four letters are a token.
fn tokens(letters: usize) -> u64 {
    letters as u64 / 4
}

#[cfg(test)]
mod tests {
    use metrics::Role;
    use tokio::time::Instant;

    use super::*;

    fn request(text: &str, expect: Expect) -> Request {
        Request {
            metric: "faithfulness".to_owned(),
            version: "1".to_owned(),
            messages: vec![Message {
                role: Role::User,
                content: text.to_owned(),
            }],
            expect,
            items: Vec::new(),
            evidence: Vec::new(),
            of_answer: None,
        }
    }

    fn judge(latency: u64, sigma: f64, seed: i64) -> Simulated {
        Simulated::new(Simulation {
            latency: Duration::from_secs(latency),
            sigma,
            seed,
        })
    }

    #[test]
    fn answers_depend_on_the_question_and_the_seed_alone() {
        let asked = request("Is it so?", Expect::Verdicts { items: 40 });
        let other = request("Is it not?", Expect::Verdicts { items: 40 });
        let read = |judge: &Simulated, request| judge.read(request);
        assert_eq!(
            read(&judge(0, 0.0, 0), &asked),
            read(&judge(8, 0.4, 0), &asked)
        );
        assert_ne!(
            read(&judge(0, 0.0, 0), &asked),
            read(&judge(0, 0.0, 1), &asked)
        );
        assert_ne!(
            read(&judge(0, 0.0, 0), &asked),
            read(&judge(0, 0.0, 0), &other)
        );
    }

    #[test]
    fn four_of_five_verdicts_say_yes_and_all_grades_occur() {
        let Reading::Verdicts(verdicts) =
            judge(0, 0.0, 0).read(&request("q", Expect::Verdicts { items: 20_000 }))
        else {
            panic!("verdicts were asked for");
        };
        let share = verdicts.iter().map(|verdict| verdict.holds).sum::<f64>() / 20_000.0;
        assert!((share - 0.8).abs() < 0.02, "{share}");
        let grades: std::collections::BTreeSet<String> = (0..100)
            .map(|n| request(&n.to_string(), Expect::Grade { low: -1, high: 3 }))
            .map(|request| match judge(0, 0.0, 0).read(&request) {
                Reading::Grade { grade, .. } => grade.to_string(),
                _ => panic!("a grade was asked for"),
            })
            .collect();
        assert_eq!(Vec::from_iter(grades), ["-1", "0", "1", "2", "3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn latency_is_lognormal_and_depends_on_the_question() {
        let judge = judge(8, 0.4, 0);
        let mut logs = Vec::new();
        for n in 0..2_000 {
            let request = request(&n.to_string(), Expect::Grade { low: 1, high: 5 });
            let start = Instant::now();
            judge.complete(&request, &request.messages).await;
            logs.push(start.elapsed().as_secs_f64().ln());
        }
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let sigma = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean.exp() - 8.0).abs() < 0.3, "{}", mean.exp());
        assert!((sigma - 0.4).abs() < 0.03, "{sigma}");
    }

    #[tokio::test]
    async fn an_answer_says_what_it_would_have_cost() {
        let request = request("12345678", Expect::Grade { low: 1, high: 5 });
        let completion = judge(0, 0.0, 0).complete(&request, &request.messages).await;
        assert_eq!(completion.usage.prompt_tokens, Some(2));
        let value: serde_json::Value = serde_json::from_str(&completion.text).unwrap();
        assert!(value["grade"].as_f64().unwrap() >= 1.0);
    }
}
