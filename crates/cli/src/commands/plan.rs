//! `rag-gate plan`: how long a run will take and what it will cost, before it does.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

use gate::policy::{CacheMode, Concurrency, JudgeSection, Policy};
use gate::results::{self, Keep};
use runner::cache::Cache;
use runner::plan::{self, Plan, Workload};
use serde::Serialize;

use super::cache::{of, path_of};
use super::units::{count, dollars, time};
use super::{beside, config_path, policy};
use crate::args::{PlanArgs, PlanOutput};
use crate::error::Error;
use crate::evaluation::{MetricFiles, Place};
use crate::exit_code::ExitCode;
use crate::{console, evaluation, input};

/// Median latency of a judge of which nothing is known, in seconds.
const LATENCY: f64 = 8.0;
/// Spread of its latency.
const SIGMA: f64 = 0.4;
/// Workers that are compared where nobody names any.
const WORKERS: [u32; 4] = [1, 2, 4, 8];
/// More calls than any evaluation makes; their latencies are held in memory.
const MAX_CALLS: u64 = 100_000_000;
/// Columns of cached shares that fit beside the first two.
const MAX_SHARES: usize = 4;
/// The metric that a results file has a target's latency under.
const LATENCY_METRIC: &str = "latency_s";

/// What the plan is made for.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// What makes the number of calls; `None` where the file of latencies does.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
    /// Where the latencies are from.
    latencies: &'a str,
    seed: u64,
    rpm: Option<NonZeroU32>,
    tpm: Option<NonZeroU32>,
    #[serde(flatten)]
    plan: &'a Plan,
}

/// What makes the number of calls.
#[derive(Debug, Clone, Copy, Serialize)]
struct Counts {
    samples: u32,
    variants: u32,
    metrics: u32,
    repeats: u32,
    /// Over all metrics, which may differ.
    calls_per_sample: u32,
}

pub(crate) fn run(args: &PlanArgs) -> Result<ExitCode, Error> {
    let config = config_path(args.config.as_deref())?;
    let (policy, text) = policy(config.as_deref())?;
    let defaults = policy.file().judge.clone().unwrap_or_default();
    let measured = measured(args, &policy, config.as_deref())?;
    let counts = match (args.samples, &measured) {
        // The calls that were measured are the run.
        (None, Some(_)) => None,
        (samples, _) => Some(counts(
            args,
            samples,
            &policy,
            config.as_deref(),
            text.as_deref(),
        )?),
    };
    let (latencies, source) = latencies(args, counts, measured, &defaults)?;
    let workload = Workload {
        latencies,
        prompt_tokens: amount("--prompt-tokens", args.prompt_tokens)?,
        completion_tokens: amount("--completion-tokens", args.completion_tokens)?,
        prompt_price: amount("--price-prompt", args.price_prompt)?
            .or_else(|| defaults.price.as_ref()?.prompt),
        completion_price: amount("--price-completion", args.price_completion)?
            .or_else(|| defaults.price.as_ref()?.completion),
        rpm: args.rpm.or_else(|| limit(defaults.rpm.as_ref())),
        tpm: args.tpm.or_else(|| limit(defaults.tpm.as_ref())),
    };
    let cached: Vec<f64> = args.cached.iter().map(|share| share.0).collect();
    let plan = Plan::of(&workload, &cached, &workers(args, &defaults));
    let text = match args.output {
        PlanOutput::Json => {
            let document = Document {
                schema: "rag-gate/plan/1",
                counts,
                latencies: &source,
                seed: args.seed,
                rpm: workload.rpm,
                tpm: workload.tpm,
                plan: &plan,
            };
            json(&document)?
        }
        PlanOutput::Text if cached.len() > MAX_SHARES => {
            return Err(Error::usage(format!(
                "a table has room for {MAX_SHARES} cached shares; --output json has for all"
            )));
        }
        PlanOutput::Text => table(&plan, &workload, counts, &source),
    };
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

/// Latencies that were measured, and where; `None` when they are to be drawn.
fn measured(
    args: &PlanArgs,
    policy: &Policy,
    config: Option<&Path>,
) -> Result<Option<(Vec<f64>, String)>, Error> {
    let source = match &args.latencies {
        Some(path) => path.clone(),
        None if args.from_cache => path_of(policy, config),
        None => return Ok(None),
    };
    let found = if args.from_cache || source.is_dir() {
        let cache = Cache::open(&source, CacheMode::ReadOnly).map_err(of)?;
        cache.latencies().map_err(of)?
    } else {
        from_file(&source)?
    };
    let source = input::name(&source);
    if let Some(wrong) = found
        .iter()
        .find(|latency| !(latency.is_finite() && **latency >= 0.0))
    {
        return Err(Error::Refused {
            message: format!("{source}: {wrong} is no latency"),
            help: Some("latencies are seconds, from 0 up".to_owned()),
        });
    }
    if found.is_empty() {
        return Err(Error::Refused {
            message: format!("{source} has no latencies"),
            help: Some("leave it out to plan with latencies that are drawn".to_owned()),
        });
    }
    Ok(Some((found, source)))
}

/// A JSON list of seconds, or the metric of a results file.
fn from_file(file: &Path) -> Result<Vec<f64>, Error> {
    let text = input::text(file)?;
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).map_err(|error| Error::Refused {
            message: format!("{}: no list of numbers: {error}", input::name(file)),
            help: Some("latencies are a JSON list of seconds: [7.5, 8.25]".to_owned()),
        });
    }
    let results = results::read(text.as_bytes(), Keep::Scores).map_err(|error| Error::Input {
        path: input::name(file),
        error,
    })?;
    let column = results
        .samples()
        .and_then(|samples| samples.metric(LATENCY_METRIC));
    Ok(column
        .into_iter()
        .flat_map(results::ScoreColumn::values)
        .copied()
        .filter(|latency| !latency.is_nan())
        .collect())
}

fn counts(
    args: &PlanArgs,
    samples: Option<u32>,
    policy: &Policy,
    config: Option<&Path>,
    text: Option<&str>,
) -> Result<Counts, Error> {
    let file = policy.file();
    let samples = match samples {
        Some(samples) => samples,
        None => samples_of(policy, config)?,
    };
    let variants = u32::try_from(file.variants.len()).unwrap_or(u32::MAX);
    let judged = judged_calls(policy, config, text)?;
    let of_file = u32::try_from(judged.len()).unwrap_or(u32::MAX);
    let metrics = args.metrics.unwrap_or(of_file.max(1));
    let calls_per_sample = match (args.calls_per_score, args.metrics) {
        (None, None) if !judged.is_empty() => judged.iter().sum(),
        (calls, _) => metrics.saturating_mul(calls.unwrap_or(1)),
    };
    Ok(Counts {
        samples,
        variants: args.variants.unwrap_or(variants.max(1)),
        metrics,
        repeats: args.repeats,
        calls_per_sample,
    })
}

/// Most calls for a sample, of each metric of gate.toml that asks the judge.
fn judged_calls(
    policy: &Policy,
    config: Option<&Path>,
    text: Option<&str>,
) -> Result<Vec<u32>, Error> {
    let place = Place { config, text };
    let files = MetricFiles::of(policy, &beside(config, ""), &place)?;
    let metrics = policy.file().metrics.iter().flatten();
    let built = metrics.filter_map(|(name, section)| {
        let name = name.get_ref();
        // What another tool computes is none of our calls.
        evaluation::metric(name, section, files.of_metric(name)).ok()
    });
    Ok(built
        .filter(|metric| metric.info().judged)
        .map(|metric| metric.info().calls)
        .collect())
}

/// Samples of gate.toml's dataset.
fn samples_of(policy: &Policy, config: Option<&Path>) -> Result<u32, Error> {
    let named = policy
        .file()
        .dataset
        .as_ref()
        .and_then(|dataset| dataset.path.as_deref());
    let Some(named) = named else {
        return Err(Error::Usage {
            message: "it is not known how many samples there are".to_owned(),
            help: Some(
                "say it: --samples 500; or name the dataset: [dataset] path = \"eval/golden.jsonl\""
                    .to_owned(),
            ),
        });
    };
    let (dataset, _) =
        evaluation::read_dataset(&beside(config, named), policy, &MetricFiles::default())?;
    Ok(u32::try_from(dataset.len()).unwrap_or(u32::MAX))
}

/// A latency for each call, and where they are from.
fn latencies(
    args: &PlanArgs,
    counts: Option<Counts>,
    measured: Option<(Vec<f64>, String)>,
    defaults: &JudgeSection,
) -> Result<(Vec<f64>, String), Error> {
    let calls = match (counts, &measured) {
        (Some(counts), _) => counts.calls()?,
        (None, Some((found, _))) => found.len(),
        (None, None) => 0,
    };
    match measured {
        Some((found, source)) if found.len() == calls => Ok((found, source)),
        Some((found, source)) => {
            let source = format!("drawn from the {} of {source}", found.len());
            Ok((plan::redraw(&found, calls, args.seed), source))
        }
        None => {
            let median = args
                .latency
                .map(|span| span.0)
                .or_else(|| defaults.latency.map(|span| span.0))
                .map_or(LATENCY, |span| span.as_secs_f64());
            let sigma = match (args.sigma, &defaults.latency_sigma) {
                (Some(sigma), _) if (0.0..=10.0).contains(&sigma) => sigma,
                (Some(_), _) => return Err(Error::usage("--sigma is a number from 0 to 10")),
                (None, Some(sigma)) => *sigma.get_ref(),
                (None, None) => SIGMA,
            };
            let is_known = args.latency.is_some() || defaults.latency.is_some();
            let how = if is_known { "" } else { "assumed: " };
            let source = format!("{how}median {}, sigma {sigma}", time(median));
            Ok((plan::draw(calls, median, sigma, args.seed), source))
        }
    }
}

impl Counts {
    fn calls(self) -> Result<usize, Error> {
        [
            self.samples,
            self.variants,
            self.repeats,
            self.calls_per_sample,
        ]
        .into_iter()
        .try_fold(1_u64, |product, factor| {
            product.checked_mul(u64::from(factor))
        })
        .filter(|calls| *calls <= MAX_CALLS)
        .and_then(|calls| usize::try_from(calls).ok())
        .ok_or_else(|| Error::usage("that is more than a hundred million calls"))
    }
}

fn workers(args: &PlanArgs, defaults: &JudgeSection) -> Vec<NonZeroU32> {
    if !args.concurrency.is_empty() {
        return args.concurrency.clone();
    }
    let of_file = match defaults.concurrency {
        Some(Concurrency::Fixed(workers)) => NonZeroU32::new(workers),
        Some(Concurrency::Auto) | None => None,
    };
    match of_file {
        Some(workers) => vec![workers],
        None => WORKERS.into_iter().filter_map(NonZeroU32::new).collect(),
    }
}

/// An amount of the command line, which has to be one.
fn amount(name: &str, value: Option<f64>) -> Result<Option<f64>, Error> {
    match value {
        Some(value) if !(value.is_finite() && value >= 0.0) => {
            Err(Error::usage(format!("{name} is a number from 0 up")))
        }
        value => Ok(value),
    }
}

/// A limit of gate.toml, which has checked it.
fn limit(value: Option<&toml::Spanned<u32>>) -> Option<NonZeroU32> {
    NonZeroU32::new(*value?.get_ref())
}

fn json(document: &Document<'_>) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(document).map_err(|error| Error::Output {
        path: "standard output".into(),
        error: error.into(),
    })?;
    text.push('\n');
    Ok(text)
}

fn table(plan: &Plan, workload: &Workload, counts: Option<Counts>, source: &str) -> String {
    let mut text = format!("{} calls", plan.calls);
    if let Some(counts) = counts {
        let _ = write!(text, ": {}", counts.text());
    }
    let _ = writeln!(text, "\nlatency: {}", reporter::plain(source));
    let _ = writeln!(
        text,
        "         {} on average, {} at most; {} one call after the other\n",
        time(mean(plan)),
        time(plan.longest_s),
        time(plan.sum_s)
    );
    let shares = &plan.shares;
    row(
        &mut text,
        "at once",
        std::iter::once("ideal".to_owned()).chain(shares.iter().map(|share| match share.cached {
            0.0 => "time".to_owned(),
            cached => format!("{} cached", gate::number::percent(cached)),
        })),
    );
    let mut is_limited = false;
    let first = shares.first().map_or(&[][..], |share| &share.times[..]);
    for (index, of_first) in first.iter().enumerate() {
        let times = shares.iter().filter_map(|share| share.times.get(index));
        let cells = times.map(|found| {
            let held_up = found.time_s > found.makespan_s;
            is_limited |= held_up;
            format!("{}{}", time(found.time_s), if held_up { "*" } else { "" })
        });
        let cells = std::iter::once(time(of_first.ideal_s)).chain(cells);
        row(&mut text, &of_first.workers.to_string(), cells);
    }
    text.push('\n');
    let unknown = |value: Option<f64>, shown: fn(f64) -> String| {
        value.map_or_else(|| "unknown".to_owned(), shown)
    };
    let mut line = |name: &str, cells: Vec<String>| {
        // The column of the ideal time stays empty.
        let cells = std::iter::once(String::new()).chain(cells);
        row(&mut text, name, cells);
    };
    let of = |shown: &dyn Fn(&plan::Share) -> String| shares.iter().map(shown).collect();
    line("calls", of(&|share| share.calls.to_string()));
    line(
        "prompt tokens",
        of(&|share| unknown(share.prompt_tokens, count)),
    );
    line(
        "answer tokens",
        of(&|share| unknown(share.completion_tokens, count)),
    );
    line("cost", of(&|share| unknown(share.cost_usd, dollars)));
    if workload.rpm.is_some() || workload.tpm.is_some() {
        line(
            "rate limits",
            of(&|share| share.limits_s.map_or("unknown".to_owned(), time)),
        );
    }
    if is_limited {
        text.push_str("\n* held up by the rate limits: more calls at once do not help\n");
    }
    if workload.tpm.is_some() && shares.iter().any(|share| share.prompt_tokens.is_none()) {
        text.push_str("\nnote: tpm counts only when the tokens of a call are known\n");
    }
    text
}

fn mean(plan: &Plan) -> f64 {
    if plan.calls == 0 {
        return 0.0;
    }
    plan.sum_s / plan.calls as f64
}

/// A row whose cells are as wide as their heads.
fn row(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let mut line = format!("  {name:>13}");
    for cell in cells {
        let _ = write!(line, "{cell:>13}");
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

impl Counts {
    fn text(self) -> String {
        // Where the metrics differ, what a sample takes is not a product.
        let a_score = (self.metrics > 0 && self.calls_per_sample.is_multiple_of(self.metrics))
            .then(|| self.calls_per_sample / self.metrics);
        let plural = |number: u32, name: &str| match number {
            1 => format!("1 {name}"),
            _ => format!("{number} {name}s"),
        };
        let mut parts = vec![plural(self.samples, "sample")];
        // One of a thing makes no difference.
        if self.variants != 1 {
            parts.push(plural(self.variants, "variant"));
        }
        match a_score {
            Some(_) if self.metrics != 1 => parts.push(plural(self.metrics, "metric")),
            Some(_) => {}
            None => parts.push(format!(
                "{} calls of {}",
                self.calls_per_sample,
                plural(self.metrics, "metric")
            )),
        }
        if self.repeats != 1 {
            parts.push(plural(self.repeats, "repeat"));
        }
        if let Some(calls) = a_score.filter(|calls| *calls != 1) {
            parts.push(format!("{calls} calls a score"));
        }
        parts.join(" × ")
    }
}
