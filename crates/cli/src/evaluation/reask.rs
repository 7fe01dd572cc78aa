//! Asks the judge about its pinned answers again, past the cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate::number;
use gate::results::{JudgeDrift, JudgeInfo, MetricDrift};
use metrics::{Info, Metric};
use runner::control::Ended;
use runner::judge::Judge;
use runner::pinned::Pinned;
use runner::progress::Snapshot;
use runner::record;

use super::{Manner, Work, carry_out, why};
use crate::commands::units::plural;
use crate::error::Error;
use crate::input;

/// Pinned answers, and where they are from.
#[derive(Debug)]
pub(crate) struct PinnedFile {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
    pub(crate) pinned: Pinned,
}

impl PinnedFile {
    pub(crate) fn read(path: &Path) -> Result<PinnedFile, Error> {
        if !path.exists() {
            return Err(Error::Missing {
                what: "the file of pinned answers",
                path: path.display().to_string(),
                help: "make it from the answers of the baseline: rag-gate judge pin".to_owned(),
            });
        }
        let text = input::text(path)?;
        let pinned = Pinned::read(&text).map_err(|error| Error::Input {
            path: input::name(path),
            error,
        })?;
        Ok(PinnedFile {
            path: path.to_owned(),
            sha256: input::sha256_of_lines(&text),
            pinned,
        })
    }
}

/// Pinned answers that are ready to be asked about.
pub(crate) struct Reask {
    file: PinnedFile,
    /// The metrics that can be compared, on the pinned answers.
    work: Work,
    /// Why others cannot.
    others: BTreeMap<String, MetricDrift>,
    /// Why none can.
    problem: Option<String>,
}

/// What the judge said.
pub(crate) struct Reasked {
    pub(crate) drift: JudgeDrift,
    /// Who answered; with `drift` in it.
    pub(crate) judge: JudgeInfo,
    /// The model that answered then, in its own words.
    pub(crate) reported_then: Option<String>,
    pub(crate) counts: Snapshot,
    /// Why it ended early.
    pub(crate) ended: Option<Ended>,
}

impl Reask {
    /// `work` has all metrics of gate.toml; those that ask no judge, or are not those that were pinned, are left out.
    pub(crate) fn new(file: PinnedFile, work: Work) -> Reask {
        let embeddings = work
            .embeddings
            .as_ref()
            .map(|embeddings| embeddings.provider.identity());
        let mut others = BTreeMap::new();
        let mut is_same = |info: &Info| {
            let now = record::metric_info(info, embeddings);
            let Some(problem) = file.pinned.another_metric(&info.name, &now) else {
                return true;
            };
            let unknown = MetricDrift {
                problem: Some(problem),
                ..MetricDrift::default()
            };
            others.insert(info.name.clone(), unknown);
            false
        };
        let metrics: Vec<Box<dyn Metric>> = work
            .metrics
            .into_iter()
            .filter(|metric| metric.info().judged)
            .filter(|metric| is_same(metric.info()))
            .collect();
        let problem = file
            .pinned
            .another_judge(work.judge.provider.identity())
            .or_else(|| {
                let none = "no metric of gate.toml is among those that were pinned";
                metrics.is_empty().then(|| none.to_owned())
            });
        Reask {
            work: Work { metrics, ..work },
            file,
            others,
            problem,
        }
    }

    /// How many answers are pinned, and how many metrics are computed on each.
    pub(crate) fn size(&self) -> (usize, usize) {
        match self.problem {
            None => (self.work.dataset.len(), self.work.metrics.len()),
            Some(_) => (self.work.dataset.len(), 0),
        }
    }

    /// Asks, and compares. What keeps the judge from answering is said in the record, and is no error.
    pub(crate) fn ask(self, manner: &Manner) -> Result<Reasked, Error> {
        let about = &self.file.pinned.about;
        let mut drift = JudgeDrift {
            pinned: Some(self.file.path.display().to_string().replace('\\', "/")),
            pinned_sha256: Some(self.file.sha256),
            pinned_at: Some(about.pinned_at.clone()),
            samples: Some(self.work.dataset.len() as u64),
            calls: Some(0),
            problem: self.problem,
            metrics: self.others,
        };
        let mut judge = record::judge_info(self.work.judge.provider.identity(), None);
        let reported_then = about.judge.reported_model.clone();
        if drift.problem.is_some() {
            judge.drift = Some(drift.clone());
            return Ok(Reasked {
                drift,
                judge,
                reported_then,
                counts: Snapshot::default(),
                ended: None,
            });
        }
        let manner = Manner {
            fail_fast: false,
            ..*manner
        };
        let done = carry_out(self.work, &manner)?;
        drift.calls = Some(done.counts.calls);
        match &done.ended {
            Some(ended) => drift.problem = Some(why(ended)),
            None => {
                let found = self.file.pinned.compare(&done.job.metrics, &done.outcomes);
                drift.metrics.extend(found);
            }
        }
        judge.reported_model = Judge::reported_model(&done.job.judge);
        judge.drift = Some(drift.clone());
        Ok(Reasked {
            drift,
            judge,
            reported_then,
            counts: done.counts,
            ended: done.ended,
        })
    }
}

/// What it means, in one sentence.
pub(crate) fn sentence(drift: &JudgeDrift) -> String {
    let answers = plural(
        usize::try_from(drift.samples.unwrap_or(0)).unwrap_or(usize::MAX),
        "pinned answer",
    );
    if let Some(problem) = &drift.problem {
        return format!("whether the judge moved cannot be told: {problem}");
    }
    match drift.moved() {
        None => {
            let named = |moved: Option<bool>| -> Vec<&str> {
                let metrics = drift.metrics.iter();
                metrics
                    .filter(|(_, metric)| metric.moved == moved)
                    .map(|(name, _)| name.as_str())
                    .collect()
            };
            let (unknown, known) = (named(None).join(", "), named(Some(false)));
            match known.is_empty() {
                true => format!("whether the judge moved cannot be told from {answers}"),
                false => format!(
                    "whether the judge moved cannot be told of {unknown} from {answers}; it did not on {}",
                    known.join(", ")
                ),
            }
        }
        Some(false) => format!("the judge did not move: it scores its {answers} as it did"),
        Some(true) => {
            let moved: Vec<String> = drift
                .metrics
                .iter()
                .filter(|(_, metric)| metric.moved == Some(true))
                .map(|(name, metric)| match metric.change {
                    Some(change) => format!("{name} {}", number::signed(change)),
                    None => name.clone(),
                })
                .collect();
            format!(
                "the judge itself moved ({} over {answers}): a difference to the baseline is the judge's",
                moved.join(", ")
            )
        }
    }
}
