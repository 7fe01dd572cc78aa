//! What becomes of accepted results: their average, the baseline, and a line of history.

use indexmap::IndexMap;

use crate::history::{HistoryLine, HistoryMetric, HistoryVariant};
use crate::results::{Accepted, ReadError, Results, Samples, Scores, Summary};
use crate::stats;
use crate::verdict::{Code, Reason, Verdict};

/// Several runs of the same code as one: each score the mean over the runs that have it.
///
/// A baseline from one lucky run makes unchanged reruns fail; the average is what the code really does. A sample is failed
/// only when it failed in every run. Refuses runs that are no runs of the same code: another commit, dataset or judge,
/// or other samples.
pub fn average(runs: Vec<Results>) -> Result<Results, ReadError> {
    let mut runs = runs.into_iter();
    let Some(mut first) = runs.next() else {
        return Err(ReadError::new("there is no run to average"));
    };
    let others: Vec<Results> = runs.collect();
    if others.is_empty() {
        return Ok(first);
    }
    for other in &others {
        same_code(&first, other)?;
    }
    first.scores = match &first.scores {
        Scores::Samples(samples) => {
            let mut all = vec![samples];
            all.extend(others.iter().filter_map(Results::samples));
            Scores::Samples(Samples::average(&all)?)
        }
        Scores::Means(means) => Scores::Means(average_means(means, &others)),
    };
    first.run.id = None;
    first.run.average_of = Some(others.len() as u64 + 1);
    first.run.duration_s = None;
    // What one run found doubtful, the average need not be.
    first.run.warnings = None;
    first.usage = None;
    Ok(first)
}

fn same_code(first: &Results, other: &Results) -> Result<(), ReadError> {
    let dataset = |run: &Results| run.run.dataset.as_ref()?.sha256.clone();
    let judge = |run: &Results| {
        let judge = run.run.judge.as_ref()?;
        Some(format!(
            "{} {}",
            judge.provider.as_deref().unwrap_or(""),
            judge.model.as_deref().unwrap_or("")
        ))
    };
    let fields = [
        ("commit", first.run.commit.clone(), other.run.commit.clone()),
        ("dataset", dataset(first), dataset(other)),
        ("judge", judge(first), judge(other)),
        (
            "configuration",
            first.run.config_sha256.clone(),
            other.run.config_sha256.clone(),
        ),
    ];
    for (what, one, two) in fields {
        if let (Some(one), Some(two)) = (one, two)
            && one != two
        {
            return Err(ReadError::new(format!(
                "the runs are not of the same code: their {what} differs (`{one}` and `{two}`)"
            ))
            .help("average runs of one commit over one dataset with one judge"));
        }
    }
    if first.samples().is_some() != other.samples().is_some() {
        return Err(
            ReadError::new("one run has samples and another has means alone")
                .help("average runs that the same evaluation wrote"),
        );
    }
    Ok(())
}

fn average_means(
    means: &IndexMap<Option<String>, IndexMap<String, Summary>>,
    others: &[Results],
) -> IndexMap<Option<String>, IndexMap<String, Summary>> {
    let mut averaged = means.clone();
    for (variant, metrics) in &mut averaged {
        for (metric, summary) in metrics {
            let of = |run: &Results| match &run.scores {
                Scores::Means(means) => means.get(variant)?.get(metric)?.mean,
                Scores::Samples(_) => None,
            };
            let values = summary.mean.into_iter().chain(others.iter().filter_map(of));
            summary.mean = stats::mean(values);
            summary.stderr = None;
        }
    }
    averaged
}

/// What keeps results from becoming the baseline, after what was accepted with a reason is taken away.
pub fn refusals(verdict: &Verdict, is_accepted: impl Fn(&str) -> bool) -> Vec<&Reason> {
    verdict
        .reasons
        .iter()
        .filter(|reason| {
            let acceptable = matches!(
                reason.code,
                Code::BelowMinimum
                    | Code::AboveMaximum
                    | Code::Regression
                    | Code::Drift
                    | Code::Incomparable
            );
            let accepted = reason.metric.as_deref().is_some_and(&is_accepted);
            !(acceptable && accepted)
        })
        .collect()
}

/// The line of history.jsonl for a new baseline, with the paired changes of the verdict that accepted it.
pub fn history_line(results: &Results, verdict: &Verdict, accepted: &Accepted) -> HistoryLine {
    let mut line = HistoryLine {
        accepted: Accepted {
            reset: Vec::new(),
            ..accepted.clone()
        },
        baseline: None,
        dataset_sha256: results
            .run
            .dataset
            .as_ref()
            .and_then(|dataset| dataset.sha256.clone()),
        judge_model: results
            .run
            .judge
            .as_ref()
            .and_then(|judge| judge.reported_model.clone().or_else(|| judge.model.clone())),
        reset: accepted.reset.clone(),
        metrics: IndexMap::new(),
        variants: IndexMap::new(),
    };
    for variant in results.variants() {
        let metrics: IndexMap<String, HistoryMetric> = results
            .summaries_of(variant)
            .into_iter()
            .map(|(metric, summary)| {
                (
                    metric.to_owned(),
                    history_metric(results, verdict, variant, metric, &summary),
                )
            })
            .collect();
        match variant {
            None => line.metrics = metrics,
            Some(name) => {
                line.variants
                    .insert(name.to_owned(), HistoryVariant { metrics });
            }
        }
    }
    line
}

fn history_metric(
    results: &Results,
    verdict: &Verdict,
    variant: Option<&str>,
    metric: &str,
    summary: &Summary,
) -> HistoryMetric {
    let row = verdict.metrics.iter().find(|row| {
        row.metric == metric && row.variant.as_deref() == variant && row.slice.is_none()
    });
    let info = results.metric_info(metric);
    let version = info.and_then(|info| info.version.clone());
    let prompt = info.and_then(|info| info.prompt_sha256.as_deref()?.get(..12).map(str::to_owned));
    HistoryMetric {
        mean: summary.mean,
        n: summary.n,
        failed: summary.failed,
        stderr: summary.stderr,
        version: match (version, prompt) {
            // Another prompt is another metric, whatever its version says.
            (Some(version), Some(prompt)) => Some(format!("{version}+{prompt}")),
            (version, prompt) => version.or(prompt),
        },
        aggregate: row
            .map(|row| row.aggregate.clone())
            .filter(|aggregate| aggregate != "mean"),
        change: row.and_then(|row| row.change),
        change_stderr: row.and_then(|row| row.change_stderr),
        pairs: row.and_then(|row| row.pairs),
    }
}
