//! Values of all samples together, such as corpus BLEU, which are no means of scores.

use std::collections::BTreeMap;

use gate::results::{CorpusValue, RunInfo};
use metrics::{Corpus, Metric, Outcome, Sample};

/// What is added up, by the place of the metric and by variant.
#[derive(Default)]
pub(crate) struct Corpora(BTreeMap<(usize, Option<String>), Box<dyn Corpus>>);

impl Corpora {
    /// Takes up a sample for the metrics that scored it: the value is of the samples that the mean is of.
    pub(crate) fn add<'a>(
        &mut self,
        metrics: &[Box<dyn Metric>],
        sample: &Sample,
        outcomes: impl Iterator<Item = Option<&'a Outcome>>,
    ) {
        for (at, (metric, outcome)) in metrics.iter().zip(outcomes).enumerate() {
            if !matches!(outcome, Some(Outcome::Score { .. })) {
                continue;
            }
            let Some(empty) = metric.corpus() else {
                continue;
            };
            self.0
                .entry((at, sample.variant.clone()))
                .or_insert(empty)
                .add(sample);
        }
    }

    /// Writes the values beside what the run says of its metrics.
    pub(crate) fn put_into(self, run: &mut RunInfo, metrics: &[Box<dyn Metric>]) {
        for ((at, variant), corpus) in self.0 {
            let info = metrics.get(at).and_then(|metric| {
                let metrics = run.metrics.as_mut()?;
                metrics.get_mut(&metric.info().name)
            });
            if let (Some(info), Some(value)) = (info, corpus.value()) {
                info.corpus.push(CorpusValue {
                    variant,
                    value,
                    signature: corpus.signature(),
                });
            }
        }
    }
}
