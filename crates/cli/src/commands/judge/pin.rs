//! `rag-gate judge pin`: keeps a handful of answers with the judge's scores, to ask it about again.

use std::fmt::Write as _;
use std::path::Path;

use gate::judge_drift::MIN_SCORES;
use gate::number;
use gate::stats::mean;
use runner::control::Ended;
use runner::pinned::{About, Pinned, SCHEMA, choose};
use runner::program::Programs;
use runner::record;

use crate::args::{EvaluationArgs, PinArgs};
use crate::commands::units::plural;
use crate::commands::{config_path, policy, run};
use crate::error::Error;
use crate::evaluation::{
    self, Configured, Manner, Work, carry_out, configure_to_pin, pinned_path, why,
};
use crate::exit_code::ExitCode;
use crate::{console, output};

pub(super) fn run(args: &PinArgs) -> Result<ExitCode, Error> {
    evaluation::init_logging(args.asking.log_format);
    let evaluation = args.asking.evaluation(args.dataset.clone());
    let configured = configure_to_pin(&evaluation)?;
    let config = config_path(args.asking.config.as_deref())?;
    let (policy, _) = policy(config.as_deref())?;
    let named = pinned_path(&policy, config.as_deref());
    let path = args.to.as_deref().unwrap_or(&named);
    output::refuse_to_overwrite(path, "--to", &configured.inputs)?;
    output::check_writable(path)?;
    let judge = run::judge_name(&configured);
    let whole = configured.work.dataset.len();
    let Some((pinned, calls)) = ask(args, &evaluation, configured)? else {
        console::note("nothing was pinned: it was interrupted");
        return Ok(ExitCode::Interrupted);
    };
    let text = pinned.write().map_err(|error| Error::Output {
        path: path.to_owned(),
        error: error.into(),
    })?;
    write(path, &text)?;
    let mut report = summary(&pinned, path, whole);
    let _ = match calls {
        Some(calls) => writeln!(report, "judge {judge}, {}", plural(calls, "call")),
        None => writeln!(report, "judge {judge}"),
    };
    let is_named = policy
        .file()
        .judge
        .as_ref()
        .is_some_and(|judge| judge.pinned.is_some());
    if !is_named {
        report.push_str("name the file in gate.toml, and every run asks again: [judge] pinned\n");
    }
    console::print(&report)?;
    warn_of_few(&pinned);
    Ok(ExitCode::Pass)
}

/// Chooses answers and has them scored; with the calls that it took, where anybody was called. `None` when it was interrupted.
fn ask(
    args: &PinArgs,
    evaluation: &EvaluationArgs,
    configured: Configured,
) -> Result<Option<(Pinned, Option<usize>)>, Error> {
    let path = configured.source.path.clone().unwrap_or_default();
    let of = |error| Error::Dataset {
        path: path.clone(),
        error,
    };
    let Work {
        dataset,
        mut metrics,
        judge,
        embeddings,
        cache,
        ..
    } = configured.work;
    metrics.retain(|metric| metric.info().judged);
    if metrics.is_empty() {
        return Err(Error::Usage {
            message: "no metric asks the judge: there is nothing to pin".to_owned(),
            help: Some("formulas do not move".to_owned()),
        });
    }
    let count = usize::try_from(args.samples).unwrap_or(usize::MAX);
    let samples = choose(&dataset, count).map_err(of)?;
    let embeds = embeddings
        .as_ref()
        .map(|embeddings| embeddings.provider.identity().clone());
    let identity = judge.provider.identity().clone();
    let is_called = !judge.provider.in_place();
    let work = Work {
        dataset: runner::dataset::Dataset::of(samples.clone()).map_err(of)?,
        metrics,
        judge,
        embeddings,
        programs: Programs::default(),
        cache,
    };
    let pinned_at = jiff::Timestamp::now();
    let done = carry_out(work, &Manner::of(evaluation, std::time::Duration::ZERO))?;
    if done.ended == Some(Ended::Interrupted) {
        return Ok(None);
    }
    if let Some(ended) = &done.ended {
        return Err(Error::Refused {
            message: format!("nothing was pinned: {}", why(ended)),
            help: None,
        });
    }
    if done.outcomes.scores() == 0 {
        return Err(Error::Refused {
            message: "nothing was pinned: the judge gave no score".to_owned(),
            help: Some("rag-gate run says why, sample by sample".to_owned()),
        });
    }
    let infos = done.job.metrics.iter().map(|metric| {
        let info = metric.info();
        (
            info.name.clone(),
            record::metric_info(info, embeds.as_ref()),
        )
    });
    let about = About {
        schema: SCHEMA.to_owned(),
        // Whole seconds, as the baseline has them.
        pinned_at: jiff::Timestamp::from_second(pinned_at.as_second())
            .unwrap_or(pinned_at)
            .to_string(),
        judge: record::judge_info(&identity, done.job.judge.reported_model()),
        metrics: infos.collect(),
    };
    let pinned = Pinned::of(about, samples, &done.job.metrics, &done.outcomes);
    let calls = usize::try_from(done.counts.calls).unwrap_or(usize::MAX);
    Ok(Some((pinned, is_called.then_some(calls))))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(|error| Error::Output {
            path: path.to_owned(),
            error,
        })?;
    }
    output::replace(path, text.as_bytes())
}

/// By metric the scores that are there.
fn scores<'a>(pinned: &'a Pinned, metric: &'a str) -> impl Iterator<Item = f64> + 'a {
    pinned
        .answers
        .iter()
        .filter_map(move |answer| answer.scores.get(metric).copied().flatten())
}

fn summary(pinned: &Pinned, path: &Path, whole: usize) -> String {
    let mut text = format!(
        "{} of {} pinned to {}\n\n",
        pinned.answers.len(),
        plural(whole, "answer"),
        path.display()
    );
    let names = || pinned.about.metrics.keys();
    let width = names()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0)
        .max("metric".len());
    let _ = writeln!(text, " {:<width$}   mean  scored", "metric");
    for name in names() {
        let mean = mean(scores(pinned, name)).map_or_else(|| "-".to_owned(), number::value);
        let scored = format!("{}/{}", scores(pinned, name).count(), pinned.answers.len());
        let _ = writeln!(text, " {name:<width$}  {mean:>5}  {scored:>6}");
    }
    text.push('\n');
    text
}

/// What is pinned and cannot be watched.
fn warn_of_few(pinned: &Pinned) {
    for name in pinned.about.metrics.keys() {
        let count = scores(pinned, name).count();
        if count < MIN_SCORES {
            console::note(&format!(
                "warning: {name} has {} here, and {MIN_SCORES} are needed to tell whether the judge moved: pin more with --samples",
                plural(count, "score")
            ));
        }
    }
}
