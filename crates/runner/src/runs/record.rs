//! One run in one line.

use std::collections::BTreeMap;

use gate::number;
use gate::results::{DatasetInfo, JudgeInfo, Results};
use serde::{Deserialize, Serialize};

use super::{name_of, new_id};

/// The value of `schema` in a line.
pub const SCHEMA: &str = "rag-gate/run/1";

/// What is known of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Id of the run.
    pub id: String,
    /// Its memorable name.
    pub name: String,
    /// When it started, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// How long it took, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// False when it was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Git commit of the code that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// True when the working tree had changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// The dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetInfo>,
    /// The judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeInfo>,
    /// Metrics by name, where there are no variants.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricRecord>,
    /// Variants by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variants: BTreeMap<String, VariantRecord>,
    /// Calls, tokens and the like, as the results have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<serde_json::Value>,
    /// What it cost in US dollars; null when that is unknown.
    pub cost_usd: Option<f64>,
    /// Where its results are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<String>,
    /// What the gate said: `pass`, `block` or `undecided`; left out when it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// The metrics of a variant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VariantRecord {
    /// By name.
    pub metrics: BTreeMap<String, MetricRecord>,
}

/// A metric in one number, and how many samples are behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetricRecord {
    /// Mean of the scores; null when there is none.
    pub mean: Option<f64>,
    /// Scored samples.
    pub n: Option<u64>,
    /// Samples that should have a score and have none.
    pub failed: Option<u64>,
}

/// What is not the same in two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub what: String,
    /// In the older run; `None` when it is unknown there.
    pub before: Option<String>,
    /// In the newer run; `None` when it is unknown there.
    pub now: Option<String>,
}

impl Record {
    /// The record of a run whose results are at `path`. A run without an id gets one.
    pub fn of(results: &Results, path: Option<&str>) -> Record {
        let run = &results.run;
        let id = run.id.clone().unwrap_or_else(new_id);
        let mut record = Record {
            schema: SCHEMA.to_owned(),
            name: name_of(&id),
            id,
            started_at: run.started_at.clone(),
            duration_s: run.duration_s,
            complete: run.complete,
            commit: run.commit.clone(),
            branch: run.branch.clone(),
            dirty: run.dirty,
            dataset: run.dataset.clone(),
            judge: run.judge.clone(),
            usage: results.usage.clone(),
            cost_usd: results
                .usage
                .as_ref()
                .and_then(|usage| usage.get("cost_usd")?.as_f64()),
            results: path.map(str::to_owned),
            ..Record::default()
        };
        for variant in results.variants() {
            // A metric that failed on every sample has no summary, and is missed all the more.
            let none = MetricRecord {
                n: Some(0),
                ..MetricRecord::default()
            };
            let measured = run.metrics.iter().flat_map(BTreeMap::keys);
            let mut metrics: BTreeMap<String, MetricRecord> =
                measured.map(|metric| (metric.clone(), none)).collect();
            let summaries = results
                .summaries_of(variant)
                .into_iter()
                .map(|(metric, summary)| {
                    let of_metric = MetricRecord {
                        mean: summary.mean,
                        n: summary.n,
                        failed: summary.failed,
                    };
                    (metric.to_owned(), of_metric)
                });
            metrics.extend(summaries);
            match variant {
                None => record.metrics = metrics,
                Some(name) => {
                    let of_variant = VariantRecord { metrics };
                    record.variants.insert(name.to_owned(), of_variant);
                }
            }
        }
        record
    }

    /// How many samples the dataset has, or else the most that any metric was asked for.
    pub fn samples(&self) -> Option<u64> {
        let of_dataset = self.dataset.as_ref().and_then(|dataset| dataset.samples);
        let of_metric = |metric: &MetricRecord| Some(metric.n? + metric.failed.unwrap_or(0));
        of_dataset.or_else(|| {
            self.all_metrics()
                .filter_map(|(_, _, metric)| of_metric(metric))
                .max()
        })
    }

    /// Every metric with its variant and name.
    pub fn all_metrics(&self) -> impl Iterator<Item = (Option<&str>, &str, &MetricRecord)> {
        let alone = self
            .metrics
            .iter()
            .map(|(name, metric)| (None, name.as_str(), metric));
        let of_variants = self.variants.iter().flat_map(|(variant, record)| {
            record
                .metrics
                .iter()
                .map(|(name, metric)| (Some(variant.as_str()), name.as_str(), metric))
        });
        alone.chain(of_variants)
    }

    /// What is not the same as in an older run: what was measured and with what first, then the means.
    pub fn differences(&self, before: &Record) -> Vec<Difference> {
        let facts = self.facts();
        let means = self.means();
        let (facts_before, means_before) = (before.facts(), before.means());
        let mut found = Vec::new();
        for ((what, now), (_, before)) in facts.into_iter().zip(facts_before) {
            if now != before {
                found.push(Difference {
                    what: what.to_owned(),
                    before,
                    now,
                });
            }
        }
        let names: std::collections::BTreeSet<&String> =
            means.keys().chain(means_before.keys()).collect();
        for name in names {
            let shown = |mean: Option<&Option<f64>>| mean.copied().flatten();
            let (then, now) = (shown(means_before.get(name)), shown(means.get(name)));
            let (before, now) = match (then, now) {
                (Some(then), Some(now)) if (then - now).abs() <= number::EPSILON => continue,
                (Some(then), Some(now)) => {
                    let (then, now) = number::pair(then, now);
                    (Some(then), Some(now))
                }
                (None, None) => continue,
                (then, now) => (then.map(number::value), now.map(number::value)),
            };
            found.push(Difference {
                what: name.clone(),
                before,
                now,
            });
        }
        found
    }

    /// What is compared word by word.
    fn facts(&self) -> [(&'static str, Option<String>); 10] {
        let dataset = self.dataset.as_ref();
        let judge = self.judge.as_ref();
        [
            ("commit", self.commit.clone()),
            ("branch", self.branch.clone()),
            ("dataset", dataset.and_then(|dataset| dataset.path.clone())),
            (
                "dataset sha256",
                dataset.and_then(|dataset| dataset.sha256.clone()),
            ),
            ("samples", self.samples().map(|samples| samples.to_string())),
            ("provider", judge.and_then(|judge| judge.provider.clone())),
            ("model", judge.and_then(|judge| judge.model.clone())),
            (
                "reported model",
                judge.and_then(|judge| judge.reported_model.clone()),
            ),
            (
                "parameters",
                judge
                    .and_then(|judge| judge.params.as_ref())
                    .map(|params| gate::json::sorted(params).to_string()),
            ),
            ("outcome", self.outcome.clone()),
        ]
    }

    /// Means by metric, with the variant where there is one.
    fn means(&self) -> BTreeMap<String, Option<f64>> {
        self.all_metrics()
            .map(|(variant, metric, record)| {
                let name = match variant {
                    Some(variant) => format!("{metric} [{variant}]"),
                    None => metric.to_owned(),
                };
                (name, record.mean)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use gate::results::{Keep, read};
    use serde_json::json;

    use super::*;

    fn results(value: &serde_json::Value) -> Results {
        read(value.to_string().as_bytes(), Keep::Scores).unwrap()
    }

    fn run() -> serde_json::Value {
        json!({
            "schema": "rag-gate/results/1",
            "run": {
                "id": "20261201-004803-9f3a2c", "started_at": "2026-12-01T00:48:03Z", "complete": true,
                "commit": "aaaa", "dataset": {"path": "golden.jsonl", "sha256": "cc", "samples": 3},
                "judge": {"provider": "openai", "model": "judge-1", "params": {"temperature": 0}}
            },
            "usage": {"judge_calls": 3, "cost_usd": 0.25},
            "samples": [
                {"id": "a", "scores": {"faithfulness": 0.5}},
                {"id": "b", "scores": {"faithfulness": 1.0}},
                {"id": "c", "scores": {"faithfulness": null}}
            ]
        })
    }

    #[test]
    fn a_record_is_the_gist_of_the_results() {
        let record = Record::of(&results(&run()), Some("results.json"));
        assert_eq!(record.name, name_of("20261201-004803-9f3a2c"));
        let expected = MetricRecord {
            mean: Some(0.75),
            n: Some(2),
            failed: Some(1),
        };
        assert_eq!(record.metrics["faithfulness"], expected);
        assert_eq!((record.samples(), record.cost_usd), (Some(3), Some(0.25)));
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
    }

    #[test]
    fn variants_have_metrics_of_their_own_and_an_unknown_cost_is_null() {
        let mut value = run();
        value["usage"] = json!({"judge_calls": 3});
        for (index, variant) in ["v1", "v1", "v2"].into_iter().enumerate() {
            value["samples"][index]["variant"] = json!(variant);
        }
        value["run"]["metrics"] = json!({"faithfulness": {"version": "1"}});
        let record = Record::of(&results(&value), None);
        assert!(record.metrics.is_empty());
        assert_eq!(record.variants["v1"].metrics["faithfulness"].n, Some(2));
        let failed = record.variants["v2"].metrics["faithfulness"];
        assert_eq!((failed.mean, failed.n), (None, Some(0)));
        let line = serde_json::to_value(&record).unwrap();
        assert_eq!(line["cost_usd"], json!(null));
    }

    #[test]
    fn differences_name_what_changed_and_nothing_else() {
        let before = Record::of(&results(&run()), None);
        assert_eq!(before.differences(&before), []);
        let mut value = run();
        value["run"]["commit"] = json!("bbbb");
        value["run"]["judge"]["params"] = json!({"temperature": 1});
        value["samples"][0]["scores"]["faithfulness"] = json!(0.4999);
        value["samples"][1]["scores"]["context_recall"] = json!(1.0);
        let now = Record::of(&results(&value), None);
        let found = now.differences(&before);
        let told: Vec<String> = found
            .iter()
            .map(|difference| {
                let shown = |value: &Option<String>| value.clone().unwrap_or("-".to_owned());
                let (before, now) = (shown(&difference.before), shown(&difference.now));
                format!("{}: {before} -> {now}", difference.what)
            })
            .collect();
        let expected = [
            "commit: aaaa -> bbbb",
            "parameters: {\"temperature\":0} -> {\"temperature\":1}",
            "context_recall: - -> 1.000",
            "faithfulness: 0.75000 -> 0.74995",
        ];
        assert_eq!(told, expected);
    }
}
