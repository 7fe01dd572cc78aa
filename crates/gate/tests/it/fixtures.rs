//! Reads `fixtures/`.
#![expect(
    clippy::disallowed_methods,
    reason = "the gate is pure, its tests read fixtures"
)]

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A file of `fixtures/`, parsed.
pub(crate) fn read<T: DeserializeOwned>(path: &str) -> T {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file of `fixtures/`.
pub(crate) fn text(path: &str) -> String {
    let path = format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `fixtures/scores/<dataset>/<system>.json`.
#[derive(Deserialize)]
pub(crate) struct System {
    pub(crate) items: Vec<Item>,
}

/// One sample of a system.
#[derive(Deserialize)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) cluster: String,
    #[serde(default)]
    pub(crate) tags: HashMap<String, String>,
    pub(crate) scores: HashMap<String, Option<f64>>,
}

/// The commonly scored samples of two systems.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) before: Vec<f64>,
    pub(crate) now: Vec<f64>,
    pub(crate) clusters: Vec<u32>,
}

impl Common {
    /// Pairs samples by id; `keep` filters those of the baseline.
    pub(crate) fn of(
        baseline: &System,
        candidate: &System,
        metric: &str,
        keep: impl Fn(&Item) -> bool,
    ) -> Self {
        let score = |item: &Item| item.scores.get(metric).copied().flatten();
        let now: HashMap<&str, f64> = candidate
            .items
            .iter()
            .filter_map(|item| Some((item.id.as_str(), score(item)?)))
            .collect();
        let mut common = Common::default();
        let mut ids: HashMap<&str, u32> = HashMap::new();
        for item in baseline.items.iter().filter(|item| keep(item)) {
            let (Some(before), Some(&now)) = (score(item), now.get(item.id.as_str())) else {
                continue;
            };
            let next = u32::try_from(ids.len()).unwrap();
            common.before.push(before);
            common.now.push(now);
            common
                .clusters
                .push(*ids.entry(&item.cluster).or_insert(next));
        }
        common
    }
}
