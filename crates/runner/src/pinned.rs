//! Pinned answers: a handful of samples with the scores that a judge gave them, to ask it about again.
//!
//! ```text
//! Dataset ─▶ choose ─▶ samples ─▶ execute ─▶ Pinned::of ─▶ judge.jsonl
//! judge.jsonl ─▶ Pinned::read ─▶ dataset ─▶ execute, past the cache ─▶ compare ─▶ JudgeDrift
//! ```
//!
//! The file has a line about the judge and the metrics, and then one for each answer. The samples are whole: asked again,
//! the judge gets the same words, whatever became of the dataset.

use std::collections::BTreeMap;

use gate::judge_drift;
use gate::results::{JudgeInfo, MetricDrift, MetricInfo, ReadError};
use metrics::{Metric, Outcome, Sample};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dataset::{Dataset, DatasetError};
use crate::execute::Outcomes;
use crate::provider::Identity;
use crate::record;

/// The value of `schema` in the first line.
pub const SCHEMA: &str = "rag-gate/judge/1";

/// How many answers are pinned unless somebody says otherwise.
pub const SAMPLES: usize = 10;

/// A file of pinned answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    /// Who scored them, and when.
    pub about: About,
    /// The answers with their scores, in the order of the dataset.
    pub answers: Vec<PinnedAnswer>,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the judge was asked, RFC 3339.
    pub pinned_at: String,
    /// Who it was.
    pub judge: JudgeInfo,
    /// What each metric was.
    pub metrics: BTreeMap<String, MetricInfo>,
}

/// Any other line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PinnedAnswer {
    /// Question, answer, reference and passages.
    pub sample: Sample,
    /// By metric; null where there was none.
    pub scores: BTreeMap<String, Option<f64>>,
}

/// As many samples of the dataset, at most, in its order: those whose id and variant have the lowest SHA-256.
///
/// That is a random choice which another order of the rows, or further rows, change little. Tags, cluster and what no judge
/// sees are left out.
pub fn choose(dataset: &Dataset, count: usize) -> Result<Vec<Sample>, DatasetError> {
    let mut hashes = Vec::with_capacity(dataset.len());
    for index in 0..dataset.len() {
        let sample = dataset.sample(index)?;
        let mut hash = Sha256::new();
        hash.update(sample.id.as_bytes());
        hash.update([0]);
        hash.update(sample.variant.as_deref().unwrap_or_default().as_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        hashes.push((hash, index));
    }
    hashes.sort_unstable();
    let mut chosen: Vec<usize> = hashes.into_iter().take(count).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen
        .into_iter()
        .map(|index| {
            let sample = dataset.sample(index)?;
            Ok(Sample {
                cluster: None,
                tags: BTreeMap::new(),
                other: serde_json::Map::new(),
                input_sha256: String::new(),
                ..sample
            })
        })
        .collect()
}

impl Pinned {
    /// What came of the metrics on the samples; both in the order in which they were run.
    pub fn of(
        about: About,
        samples: Vec<Sample>,
        metrics: &[Box<dyn Metric>],
        outcomes: &Outcomes,
    ) -> Pinned {
        let answers = samples
            .into_iter()
            .enumerate()
            .map(|(index, sample)| PinnedAnswer {
                sample,
                scores: metrics
                    .iter()
                    .zip(outcomes.of(index))
                    .map(|(metric, outcome)| (metric.info().name.clone(), score(outcome)))
                    .collect(),
            })
            .collect();
        Pinned { about, answers }
    }

    /// The file, as one JSON object a line.
    pub fn write(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(&self.about)?;
        for answer in &self.answers {
            text.push('\n');
            text.push_str(&serde_json::to_string(answer)?);
        }
        text.push('\n');
        Ok(text)
    }

    /// Reads what [`Pinned::write`] wrote.
    ///
    /// Refuses another schema, a line that is no JSON of its kind, and a file without answers, each with the line.
    pub fn read(text: &str) -> Result<Pinned, ReadError> {
        let mut lines = text
            .lines()
            .zip(1_u64..)
            .filter(|(line, _)| !line.trim().is_empty());
        let Some((first, at)) = lines.next() else {
            return Err(refused("the file is empty", None));
        };
        let about: About = serde_json::from_str(first).map_err(|error| {
            refused(format!("not the head of pinned answers: {error}"), Some(at))
        })?;
        if about.schema != SCHEMA {
            return Err(refused(
                format!("the file has the schema `{}`, not `{SCHEMA}`", about.schema),
                Some(at),
            ));
        }
        let answers = lines
            .map(|(line, at)| {
                serde_json::from_str(line)
                    .map_err(|error| refused(format!("no pinned answer: {error}"), Some(at)))
            })
            .collect::<Result<Vec<PinnedAnswer>, ReadError>>()?;
        match answers.is_empty() {
            true => Err(refused("the file has no answers", None)),
            false => Ok(Pinned { about, answers }),
        }
    }

    /// The samples, to be run.
    pub fn dataset(&self) -> Result<Dataset, DatasetError> {
        Dataset::of(self.answers.iter().map(|answer| answer.sample.clone()))
    }

    /// How the judge that is configured differs from the one that was asked: then there is nothing to compare. What a
    /// server calls its model is no part of it, since that is what may have moved.
    pub fn another_judge(&self, now: &Identity) -> Option<String> {
        let (then, now) = (&self.about.judge, record::judge_info(now, None));
        let params = |judge: &JudgeInfo| {
            judge
                .params
                .as_ref()
                .map(|params| gate::json::sorted(params).to_string())
        };
        let fields = [
            ("provider", then.provider.clone(), now.provider.clone()),
            ("model", then.model.clone(), now.model.clone()),
            ("parameters", params(then), params(&now)),
        ];
        let shown = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
        fields
            .into_iter()
            .find(|(_, then, now)| then != now)
            .map(|(what, then, now)| {
                format!(
                    "the {what} of the judge is `{}` now and was `{}` when the answers were pinned",
                    shown(now),
                    shown(then)
                )
            })
    }

    /// Why a metric that is configured cannot be compared with what was pinned.
    pub fn another_metric(&self, name: &str, now: &MetricInfo) -> Option<String> {
        let Some(then) = self.about.metrics.get(name) else {
            return Some("not pinned".to_owned());
        };
        let fields = [
            ("version", &then.version, &now.version),
            ("prompt", &then.prompt_sha256, &now.prompt_sha256),
        ];
        fields
            .into_iter()
            .find(|(_, then, now)| then != now)
            .map(|(what, _, _)| format!("pinned with another {what}"))
    }

    /// How the metrics changed that were run again on [`Pinned::dataset`], by name.
    pub fn compare(
        &self,
        metrics: &[Box<dyn Metric>],
        outcomes: &Outcomes,
    ) -> BTreeMap<String, MetricDrift> {
        metrics
            .iter()
            .enumerate()
            .map(|(at, metric)| {
                let name = &metric.info().name;
                let (before, now): (Vec<_>, Vec<_>) = self
                    .answers
                    .iter()
                    .enumerate()
                    .map(|(index, answer)| {
                        let now = outcomes.of(index).nth(at).flatten();
                        (answer.scores.get(name).copied().flatten(), score(now))
                    })
                    .unzip();
                let drift = judge_drift::compare(&before, &now, metrics.len());
                (name.clone(), drift)
            })
            .collect()
    }
}

fn score(outcome: Option<&Outcome>) -> Option<f64> {
    match outcome {
        Some(Outcome::Score { score, .. }) => Some(*score),
        _ => None,
    }
}

fn refused(problem: impl Into<String>, line: Option<u64>) -> ReadError {
    ReadError {
        problem: problem.into(),
        line,
        column: None,
        pointer: None,
        sample: None,
        help: Some("`rag-gate judge pin` writes pinned answers".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Options;

    fn dataset(rows: impl Iterator<Item = usize>) -> Dataset {
        let row = |number: usize| {
            let row = serde_json::json!({
                "id": format!("q{number}"), "question": format!("Q {number}?"), "answer": "None",
                "reference": ["a", "b"], "contexts": [{"id": "c", "text": "['x']"}, ""],
                "tags": {"lang": "it"}, "cluster": "d",
            });
            row.to_string() + "\n"
        };
        let text: String = rows.map(row).collect();
        Dataset::read(text.as_bytes(), &Options::default()).unwrap()
    }

    fn ids(samples: &[Sample]) -> Vec<&str> {
        samples.iter().map(|sample| sample.id.as_str()).collect()
    }

    fn pinned(samples: Vec<Sample>) -> Pinned {
        Pinned {
            about: About {
                schema: SCHEMA.to_owned(),
                pinned_at: "2026-01-01T00:00:00Z".to_owned(),
                judge: JudgeInfo {
                    provider: Some("openai".to_owned()),
                    model: Some("m".to_owned()),
                    params: Some(serde_json::json!({"temperature": 0.0, "seed": 1})),
                    ..JudgeInfo::default()
                },
                metrics: BTreeMap::from([("m".to_owned(), MetricInfo::default())]),
            },
            answers: samples
                .into_iter()
                .map(|sample| PinnedAnswer {
                    sample,
                    scores: BTreeMap::from([("m".to_owned(), Some(0.1)), ("n".to_owned(), None)]),
                })
                .collect(),
        }
    }

    #[test]
    fn the_choice_is_that_of_the_ids_whatever_their_order() {
        let chosen = choose(&dataset(0..100), 10).unwrap();
        assert_eq!(chosen.len(), 10);
        let backwards = choose(&dataset((0..100).rev()), 10).unwrap();
        let (mut one, mut other) = (ids(&chosen), ids(&backwards));
        assert_ne!(
            one,
            ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9"]
        );
        one.sort_unstable();
        other.sort_unstable();
        assert_eq!(one, other);
        // Ten more rows replace about one of ten.
        let more = choose(&dataset(0..110), 10).unwrap();
        let kept = ids(&more).iter().filter(|id| one.contains(id)).count();
        assert!(kept >= 7, "{kept}");
        assert_eq!(choose(&dataset(0..3), 10).unwrap().len(), 3);
    }

    #[test]
    fn a_file_gives_back_every_word_that_a_judge_saw() {
        let dataset = dataset(0..20);
        let before = pinned(choose(&dataset, 5).unwrap());
        let after = Pinned::read(&before.write().unwrap()).unwrap();
        assert_eq!(after, before);
        let again = after.dataset().unwrap();
        assert_eq!(again.len(), 5);
        let original = (0..20).map(|index| dataset.sample(index).unwrap());
        let original: BTreeMap<String, Sample> =
            original.map(|sample| (sample.id.clone(), sample)).collect();
        for index in 0..5 {
            let sample = again.sample(index).unwrap();
            let whole = &original[&sample.id];
            assert_eq!(sample.input_sha256, whole.input_sha256);
            let stripped = Sample {
                cluster: None,
                tags: BTreeMap::new(),
                ..whole.clone()
            };
            assert_eq!(sample, stripped);
        }
    }

    #[test]
    fn what_is_no_such_file_is_refused_with_its_line() {
        let good = pinned(choose(&dataset(0..3), 2).unwrap()).write().unwrap();
        let head = good.lines().next().unwrap();
        let line = |text: &str| Pinned::read(text).unwrap_err().line;
        assert_eq!(line(""), None);
        assert_eq!(line("\n\n"), None);
        assert_eq!(line("{\"id\": \"q\"}"), Some(1));
        assert_eq!(line(head), None);
        assert_eq!(line(&format!("{good}{{\"sample\": 1}}")), Some(4));
        let other = good.replacen(SCHEMA, "rag-gate/judge/2", 1);
        assert!(
            Pinned::read(&other)
                .unwrap_err()
                .problem
                .contains("judge/2")
        );
    }

    #[test]
    fn another_judge_is_told_from_one_that_moved() {
        let pinned = pinned(choose(&dataset(0..3), 2).unwrap());
        let identity = |model: &str, params: serde_json::Value| Identity {
            provider: "openai".to_owned(),
            model: Some(model.to_owned()),
            params,
        };
        let same = serde_json::json!({"seed": 1, "temperature": 0.0});
        assert_eq!(pinned.another_judge(&identity("m", same.clone())), None);
        let model = pinned.another_judge(&identity("n", same)).unwrap();
        assert!(model.contains("`n` now and was `m`"), "{model}");
        let hotter = serde_json::json!({"seed": 1, "temperature": 1.0});
        assert!(pinned.another_judge(&identity("m", hotter)).is_some());
        assert_eq!(pinned.another_metric("m", &MetricInfo::default()), None);
        assert!(pinned.another_metric("x", &MetricInfo::default()).is_some());
        let version = MetricInfo {
            version: Some("2".to_owned()),
            ..MetricInfo::default()
        };
        assert!(pinned.another_metric("m", &version).is_some());
    }
}
