//! An evaluation: from gate.toml and a dataset to results.json, with everything that the terminal has to do with it.

mod configure;
mod files;
mod logging;
mod meter;
mod place;
mod reask;
mod signals;
mod work;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gate::policy::{CacheMode, Policy};
use gate::results::{JudgeDrift, JudgeInfo, Results, RunInfo};
use runner::control::Ended;
use runner::execute::{Job, Outcomes};
use runner::judge::Judge;
use runner::progress::Snapshot;
use runner::{record, runs, uniform};
use serde_json::{Value, json};

pub(crate) use configure::{
    Configured, configure, configure_to_pin, configure_to_reask, metric, pinned_path, read_dataset,
};
pub(crate) use files::MetricFiles;
pub(crate) use logging::{LogFormat, init as init_logging};
pub(crate) use meter::duration;
pub(crate) use place::Place;
pub(crate) use reask::{Reask, Reasked, sentence};
pub(crate) use work::{Manner, Work, carry_out, why};

use crate::args::EvaluationArgs;
use crate::commands::check::accepted;
use crate::commands::units::plural;
use crate::commands::{baseline_of, beside, config_path, policy};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, output, provenance};

/// Where results are written when nobody says it: beside the cache, in a folder that git passes over.
pub(crate) const RESULTS: &str = ".rag-gate/results.json";

/// What came of an evaluation.
pub(crate) struct Evaluated {
    /// What was written; `None` when there was nothing to write.
    pub(crate) results: Option<Results>,
    /// Where.
    pub(crate) path: PathBuf,
    /// Why it ended early.
    pub(crate) ended: Option<Ended>,
    /// The counts.
    pub(crate) counts: Snapshot,
    /// The memorable name, when the run was recorded.
    pub(crate) name: Option<String>,
    /// US dollars, when the price is known.
    pub(crate) cost_usd: Option<f64>,
    /// How many scores there are.
    scores: u64,
    /// Seconds.
    pub(crate) duration_s: f64,
    /// Whether the judge computed its answers here, and nobody was called.
    in_place: bool,
    /// Whether answers are kept for the next run.
    keeps: bool,
}

/// Runs what was configured and writes results.json, whole or not at all.
pub(crate) fn evaluate(args: &EvaluationArgs, configured: Configured) -> Result<Evaluated, Error> {
    let path = results_path(args);
    check_place(&path, &configured)?;
    let started_at = jiff::Timestamp::now();
    let started = Instant::now();
    let Configured {
        work,
        source,
        config_sha256,
        runs_path,
        reask,
        ..
    } = configured;
    let keeps = matches!(work.cache.mode(), CacheMode::ReadWrite | CacheMode::Refresh);
    let work::CarriedOut {
        job,
        outcomes,
        counts,
        ended,
    } = carry_out(work, &Manner::of(args, Duration::ZERO))?;
    let complete = outcomes.are_complete();
    let reasked = reask
        .filter(|_| complete)
        .map(|reask| reask.ask(&Manner::of(args, started.elapsed())))
        .transpose()?;
    let counts = reasked
        .as_ref()
        .map_or(counts, |reasked| counts.and_calls_of(&reasked.counts));
    let interrupted = reasked
        .as_ref()
        .and_then(|reasked| reasked.ended.clone())
        .filter(|ended| *ended == Ended::Interrupted);
    let drift = reasked.map(|reasked| reasked.drift);
    let duration_s = rounded(started.elapsed().as_secs_f64());
    let run = RunInfo {
        id: Some(runs::new_id()),
        started_at: Some(started_at.to_string()),
        duration_s: Some(duration_s),
        complete: Some(complete),
        dataset: Some(source),
        config_sha256: Some(config_sha256),
        warnings: Some(uniform::warnings(&job, &outcomes)).filter(|found| !found.is_empty()),
        ..run_info(&job, drift.clone())
    };
    let usage = usage(&counts);
    let results = match complete || outcomes.scores() > 0 {
        true => Some(write(&path, &job, &outcomes, &run, &usage)?),
        // Nothing was measured: what an earlier run wrote is worth more.
        false => None,
    };
    if let Some(drift) = &drift {
        say(drift, args.quiet);
    }
    let measured = results.as_ref().map_or_else(
        || {
            let nothing = Results {
                run,
                usage: Some(usage),
                ..Results::default()
            };
            runs::Record::of(&nothing, None)
        },
        |results| runs::Record::of(results, Some(&path.display().to_string())),
    );
    Ok(Evaluated {
        results,
        path,
        ended: ended.filter(|_| !complete).or(interrupted),
        cost_usd: counts.cost_usd(),
        counts,
        name: put_on_record(&runs_path, measured),
        scores: outcomes.scores() as u64,
        duration_s,
        in_place: job.judge.provider().in_place() && job.embeddings.is_none(),
        keeps,
    })
}

/// Where the code and the judge of a run come from.
fn run_info(job: &Job, drift: Option<JudgeDrift>) -> RunInfo {
    let embeddings = job.embeddings.as_ref().map(Judge::identity);
    let metrics = job.metrics.iter().map(|metric| {
        let info = metric.info();
        (info.name.clone(), record::metric_info(info, embeddings))
    });
    RunInfo {
        judge: judge_info(job).map(|judge| JudgeInfo { drift, ..judge }),
        metrics: Some(metrics.collect()),
        ..provenance::of(Path::new("."), &|name: &str| std::env::var(name).ok())
    }
}

/// The name under which the run is on record; a run that cannot be recorded is still a run.
fn put_on_record(path: &Path, record: runs::Record) -> Option<String> {
    match runs::append(path, &record) {
        Ok(()) => Some(record.name),
        Err(error) => {
            console::note(&format!("warning: the run is not on record: {error}"));
            None
        }
    }
}

/// Refuses a place that results cannot be written to, before anything is paid for.
pub(crate) fn check_place(path: &Path, configured: &Configured) -> Result<(), Error> {
    output::refuse_to_overwrite(path, "--results", &configured.inputs)?;
    output::check_writable(path)
}

/// Every file of the working tree that an evaluation reads or adds to, as far as it can be known.
pub(crate) fn inputs(args: &EvaluationArgs) -> Vec<PathBuf> {
    // What is wrong with gate.toml is said where it is read.
    let Ok(config) = config_path(args.config.as_deref()) else {
        return args.dataset.iter().cloned().collect();
    };
    let policy = policy(config.as_deref()).map_or_else(|_| Policy::default(), |(policy, _)| policy);
    let config = config.as_deref();
    let named = policy
        .file()
        .dataset
        .as_ref()
        .and_then(|dataset| dataset.path.as_deref());
    let dataset = args
        .dataset
        .clone()
        .or_else(|| named.map(|named| beside(config, named)));
    let baseline = baseline_of(&policy, config);
    let judge = policy.file().judge.as_ref();
    let is_pinned = judge.is_some_and(|judge| judge.pinned.is_some());
    dataset
        .into_iter()
        .chain(is_pinned.then(|| pinned_path(&policy, config)))
        .chain([crate::commands::runs::path_of(&policy, config)])
        .chain(baseline.iter().flat_map(|path| accepted(path)))
        .collect()
}

/// Where results go.
pub(crate) fn results_path(args: &EvaluationArgs) -> PathBuf {
    args.results
        .clone()
        .unwrap_or_else(|| beside(args.config.as_deref(), RESULTS))
}

fn write(
    path: &Path,
    job: &Job,
    outcomes: &Outcomes,
    run: &RunInfo,
    usage: &Value,
) -> Result<Results, Error> {
    if let Some(folder) = path.parent() {
        runner::cache::create_folder(folder).map_err(|error| Error::Output {
            path: path.to_owned(),
            error,
        })?;
    }
    let mut read = Err(None);
    let written = output::replace_with(path, |file| {
        match record::write(job, outcomes, run.clone(), usage.clone(), file) {
            Ok(results) => {
                read = Ok(results);
                Ok(())
            }
            Err(record::RecordError::Io(error)) => Err(error),
            Err(error) => {
                let said = std::io::Error::other(error.to_string());
                read = Err(Some(error));
                Err(said)
            }
        }
    });
    match (written, read) {
        (Ok(()), Ok(results)) => Ok(results),
        (_, Err(Some(record::RecordError::Results(error)))) => Err(Error::Input {
            path: "the scores of this run".to_owned(),
            error,
        }),
        (Err(error), _) => Err(error),
        (Ok(()), Err(_)) => Err(Error::Refused {
            message: format!("{} was not written", path.display()),
            help: None,
        }),
    }
}

fn judge_info(job: &Job) -> Option<JudgeInfo> {
    if !job.metrics.iter().any(|metric| metric.info().judged) {
        return None;
    }
    Some(record::judge_info(
        job.judge.identity(),
        job.judge.reported_model(),
    ))
}

/// Whether the judge moved: a warning where it did or nobody can tell, else a line for those who read lines.
fn say(drift: &JudgeDrift, quiet: bool) {
    let sentence = reporter::plain(&sentence(drift));
    match drift.moved() {
        Some(false) if drift.problem.is_none() => {
            if !quiet {
                console::note(&sentence);
            }
        }
        _ => console::note(&format!("warning: {sentence}")),
    }
}

fn usage(counts: &Snapshot) -> Value {
    let known = |tokens: u64| (counts.unknown_usage == 0).then_some(tokens);
    json!({
        "requests": counts.requests,
        "judge_calls": counts.calls,
        "cache_hits": counts.cache_hits,
        "shared": counts.shared,
        "retries": counts.retries,
        "prompt_tokens": known(counts.prompt_tokens),
        "completion_tokens": known(counts.completion_tokens),
        "cost_usd": counts.cost_usd(),
    })
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

impl Evaluated {
    /// One line on what was done, for standard error.
    pub(crate) fn line(&self, judge: &str) -> String {
        let counts = &self.counts;
        let mut parts = vec![format!("{} of {} scores", self.scores, counts.total)];
        let not_applicable = counts.done - counts.failed - self.scores;
        if not_applicable > 0 {
            parts.push(format!("{not_applicable} not applicable"));
        }
        if counts.failed > 0 {
            parts.push(format!("{} failed", counts.failed));
        }
        parts.push(format!("judge {judge}"));
        if counts.requests > 0 && !self.in_place {
            parts.push(plural(
                usize::try_from(counts.calls).unwrap_or(usize::MAX),
                "call",
            ));
        }
        if counts.cache_hits > 0 {
            parts.push(format!("{} from the cache", counts.cache_hits));
        }
        if counts.shared > 0 {
            parts.push(format!("{} shared", counts.shared));
        }
        if counts.retries > 0 {
            parts.push(match counts.retries {
                1 => "1 retry".to_owned(),
                retries => format!("{retries} retries"),
            });
        }
        // A run of no time at all says none, so that it prints the same every time.
        if self.duration_s >= 1.0 {
            parts.push(meter::duration(self.duration_s));
        }
        parts.join(", ")
    }

    /// The error of a run that ended early; `None` when it was done, or only cut short.
    pub(crate) fn error(&self) -> Option<Error> {
        let again = match self.keeps {
            true => "it pays only for what is missing",
            false => "without a cache it asks everything anew",
        };
        let ended = match self.ended.as_ref() {
            Some(ended) => ended,
            None if self.scores == 0 => return Some(self.nothing_measured()),
            None => return None,
        };
        let (message, help) = match ended {
            Ended::Interrupted => return None,
            Ended::Deadline => (
                format!("the time for the run was up; {}", self.so_far()),
                format!("run it again: {again}"),
            ),
            Ended::FailFast {
                sample,
                metric,
                failure,
            } => (
                format!(
                    "{metric} of sample `{sample}` failed ({}): {failure}",
                    failure.kind
                ),
                "--fail-fast ends at the first failed score".to_owned(),
            ),
            Ended::Fatal { failure, .. } => (
                failure.message.clone(),
                format!(
                    "the run stopped at the first such answer; {}; when it is run again, {again}",
                    self.so_far()
                ),
            ),
            Ended::Down {
                address,
                attempts,
                failure,
            } => (
                format!(
                    "the judge at {address} gives no answers: {attempts} attempts in a row failed; {}; the last one: {failure}",
                    self.so_far()
                ),
                format!("start it, or mend [judge] in gate.toml, and run again: {again}"),
            ),
        };
        Some(Error::Refused {
            message,
            help: Some(help),
        })
    }

    /// Every score is not applicable, or failed.
    fn nothing_measured(&self) -> Error {
        let counts = &self.counts;
        Error::Refused {
            message: format!(
                "nothing was measured: of {} scores {} are not applicable and {} failed",
                counts.total,
                counts.done - counts.failed,
                counts.failed
            ),
            help: Some(match counts.failed {
                0 => "not_applicable in the results says why; name metrics that the dataset has the columns for".to_owned(),
                _ => "failures in the results say why".to_owned(),
            }),
        }
    }

    /// How far the run came.
    fn so_far(&self) -> String {
        let counts = &self.counts;
        format!(
            "{} of {} scores were made, {} failed",
            self.scores, counts.total, counts.failed
        )
    }

    /// How the command ends when nothing else decides it.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match (&self.ended, &self.results) {
            (Some(Ended::Interrupted), _) => ExitCode::Interrupted,
            (Some(_), _) | (None, None) => ExitCode::CannotJudge,
            // Nothing failed, perhaps, but nothing was measured either.
            (None, Some(_)) if self.scores == 0 => ExitCode::CannotJudge,
            (None, Some(_)) => ExitCode::Pass,
        }
    }
}
