//! Whole runs against a real server on loopback.

mod faults;
mod programs;
mod seed;
mod stopping;
mod warm;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gate::policy::{CacheMode, Policy};
use gate::results::RunInfo;
use metrics::{Metric, Outcome};
use runner::cache::Cache;
use runner::control::Control;
use runner::dataset::{Dataset, Options};
use runner::execute::{Job, Outcomes, execute};
use runner::judge::{Judge, Settings};
use runner::program::Programs;
use runner::progress::{Progress, Snapshot};
use runner::provider::{Config, Provider};
use serde_json::{Value, json};

/// A run to be made.
pub(crate) struct Plan<'a> {
    pub(crate) rows: String,
    pub(crate) metrics: &'a [&'a str],
    /// Further metrics: name and table.
    pub(crate) tables: Vec<(String, String)>,
    /// Where programs run.
    pub(crate) folder: PathBuf,
    /// Processes of each program.
    pub(crate) workers: usize,
    /// The `[judge]` section.
    pub(crate) judge: String,
    pub(crate) cache: Option<&'a Path>,
    pub(crate) mode: CacheMode,
    pub(crate) settings: Settings,
    pub(crate) control: Control,
    pub(crate) fail_fast: bool,
}

/// What came of a run.
pub(crate) struct Done {
    pub(crate) counts: Snapshot,
    pub(crate) outcomes: Outcomes,
    pub(crate) job: Arc<Job>,
}

impl Plan<'_> {
    /// A run with the judge at `url`, without a cache on disk, with retries that do not wait.
    pub(crate) fn new(rows: String, url: &str) -> Self {
        Plan {
            rows,
            metrics: &["faithfulness", "answer_relevancy"],
            tables: Vec::new(),
            folder: PathBuf::new(),
            workers: 1,
            judge: format!(
                "[judge]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"judge\"\ntimeout = \"5s\"\n"
            ),
            cache: None,
            mode: CacheMode::Off,
            settings: Settings {
                backoff: Duration::from_millis(1),
                ..Settings::default()
            },
            control: Control::default(),
            fail_fast: false,
        }
    }

    pub(crate) async fn run(self) -> Done {
        let job = self.job();
        let outcomes = execute(Arc::clone(&job)).await;
        Done {
            counts: job.progress.snapshot(),
            outcomes,
            job,
        }
    }

    pub(crate) fn job(self) -> Arc<Job> {
        let policy = Policy::parse(&self.judge).unwrap();
        let config = Config::of(
            policy.file().judge.as_ref(),
            &|name: &str| (name == "TEST_KEY").then(|| "secret-key-4711".to_owned()),
            Path::new("."),
        )
        .unwrap();
        let folder = self.cache.unwrap_or(Path::new("unused"));
        let cache = Arc::new(Cache::open(folder, self.mode).unwrap());
        let progress = Arc::new(Progress::default());
        let metrics: Vec<Box<dyn Metric>> = (self.metrics.iter().map(|name| metric(name)))
            .chain(self.tables.iter().map(|(name, table)| built(name, table)))
            .collect();
        let provider = Provider::new(&config).unwrap();
        let programs = Programs::of(&metrics, &self.folder, self.workers, [&provider]);
        let judge = Judge::new(
            provider,
            self.settings,
            cache,
            Arc::clone(&progress),
            self.control.clone(),
        );
        Arc::new(Job {
            dataset: Dataset::read(self.rows.as_bytes(), &Options::default()).unwrap(),
            metrics,
            judge,
            embeddings: None,
            programs,
            fail_fast: self.fail_fast,
            progress,
            control: self.control,
        })
    }
}

impl Done {
    /// results.json, as it is written.
    pub(crate) fn results(&self) -> String {
        let mut bytes = Vec::new();
        runner::record::write(
            &self.job,
            &self.outcomes,
            RunInfo::default(),
            json!({}),
            &mut bytes,
        )
        .unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Ids of the samples as they stand in results.json.
    pub(crate) fn ids(&self) -> Vec<String> {
        let results: Value = serde_json::from_str(&self.results()).unwrap();
        let samples = results["samples"].as_array().unwrap();
        samples
            .iter()
            .map(|sample| sample["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// How many outcomes there are of each kind: `score`, `not applicable`, `missing`, or the kind of failure.
    pub(crate) fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        for sample in 0..self.job.dataset.len() {
            for outcome in self.outcomes.of(sample) {
                let kind = match outcome {
                    None => "missing",
                    Some(Outcome::Score { .. }) => "score",
                    Some(Outcome::NotApplicable(_)) => "not applicable",
                    Some(Outcome::Failed { kind, .. }) => kind.name(),
                };
                *kinds.entry(kind).or_insert(0) += 1;
            }
        }
        kinds
    }

    /// Messages of the failures.
    pub(crate) fn messages(&self) -> Vec<String> {
        (0..self.job.dataset.len())
            .flat_map(|sample| self.outcomes.of(sample))
            .filter_map(|outcome| match outcome {
                Some(Outcome::Failed { message, .. }) => Some(message.clone()),
                _ => None,
            })
            .collect()
    }
}

/// The metric of a table of gate.toml.
fn built(name: &str, table: &str) -> Box<dyn Metric> {
    metrics::build(&metrics::Spec {
        name,
        section: &toml::from_str(table).unwrap(),
        files: &metrics::Files::default(),
    })
    .unwrap()
}

pub(crate) fn metric(name: &str) -> Box<dyn Metric> {
    metrics::by_name(name).unwrap()
}

/// `count` rows of which `distinct` are different, but for their ids.
pub(crate) fn rows(count: usize, distinct: usize) -> String {
    (0..count)
        .map(|row| {
            let number = row % distinct;
            let row = json!({
                "id": format!("q-{row:05}"),
                "question": format!("What is the capital of country {number}?"),
                "answer": format!("The capital of country {number} is city {number}."),
                "contexts": [format!("Country {number} has the capital city {number}."), "Something else."],
            });
            row.to_string() + "\n"
        })
        .collect()
}
