//! What gate.toml and the command line ask for, checked as far as it can be without calling anybody.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gate::policy::{CacheMode, Concurrency, JudgeSection, MetricSection, Policy};
use gate::results::DatasetInfo;
use indexmap::IndexMap;
use metrics::{Column, Metric};
use runner::cache::Cache;
use runner::control::Control;
use runner::dataset::{self, Dataset};
use runner::judge::{Judge, Settings};
use runner::program::Programs;
use runner::progress::Progress;
use runner::provider::{Config, Provider};

use super::Work;
use super::files::MetricFiles;
use super::place::Place;
use super::reask::{PinnedFile, Reask};
use crate::args::EvaluationArgs;
use crate::commands::check::accepted;
use crate::commands::units::plural;
use crate::commands::{baseline_of, beside, cache, config_path, policy, runs};
use crate::error::Error;
use crate::{input, output};

/// The metrics of a run that nobody configured: those that the dataset has the columns for.
const DEFAULT_METRICS: [&str; 5] = [
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "token_f1",
];

/// The pinned answers of a baseline whose gate.toml names no file for them.
const PINNED: &str = "baseline/judge.jsonl";

/// Everything that a run needs, checked.
pub(crate) struct Configured {
    pub(crate) work: Work,
    pub(crate) source: DatasetInfo,
    /// What the judge is to be asked again.
    pub(crate) reask: Option<Reask>,
    pub(crate) config_sha256: String,
    pub(crate) runs_path: PathBuf,
    /// Files that results must not be written over.
    pub(crate) inputs: Vec<PathBuf>,
    /// What was found and decided, for people.
    pub(crate) notes: Vec<String>,
}

/// A judge that is not started yet.
pub(crate) struct JudgeSetup {
    pub(crate) provider: Provider,
    pub(crate) settings: Settings,
}

impl JudgeSetup {
    fn of(
        section: Option<&JudgeSection>,
        folder: &Path,
        args: &EvaluationArgs,
        place: &Place<'_>,
    ) -> Result<JudgeSetup, Error> {
        let env = |name: &str| std::env::var(name).ok();
        let config = Config::of(section, &env, folder).map_err(|error| place.config(error))?;
        let concurrency = match (args.concurrency, config.concurrency()) {
            (Some(asked), _) => asked as usize,
            (None, Concurrency::Fixed(number)) => number as usize,
            (None, Concurrency::Auto) => {
                return Err(Error::Usage {
                    message: "concurrency = \"auto\" is not there yet".to_owned(),
                    help: Some("give a number: 8 suits most services".to_owned()),
                });
            }
        };
        let settings = Settings {
            concurrency,
            retries: config.retries(),
            rpm: config.rpm(),
            tpm: config.tpm(),
            price: config.price(),
            ..Settings::default()
        };
        if let Some(program) = section.and_then(|section| section.command.as_ref()?.first()) {
            find_program(program, folder).map_err(|message| {
                let help = "name a program that is there, with its path if it is not on the PATH";
                place.error(message, Some(help.to_owned()), None)
            })?;
        }
        let provider = Provider::new(&config).map_err(|error| place.config(error))?;
        Ok(JudgeSetup { provider, settings })
    }

    /// Makes the judge.
    pub(crate) fn start(
        self,
        cache: &Arc<Cache>,
        progress: &Arc<Progress>,
        control: &Control,
    ) -> Judge {
        Judge::new(
            self.provider,
            self.settings,
            Arc::clone(cache),
            Arc::clone(progress),
            control.clone(),
        )
    }
}

/// Whether a program can be started: on the `PATH`, or where its path says, seen from `folder`.
fn find_program(program: &str, folder: &Path) -> Result<(), String> {
    let is_there = |path: PathBuf| path.is_file() || path.with_extension("exe").is_file();
    let found = match program.contains(['/', '\\']) {
        true => is_there(folder.join(program)),
        false => std::env::var_os("PATH").is_some_and(|path| {
            std::env::split_paths(&path).any(|folder| is_there(folder.join(program)))
        }),
    };
    match found {
        true => Ok(()),
        false => Err(format!("the program `{program}` is not there")),
    }
}

/// gate.toml, read.
struct Opened {
    config: Option<PathBuf>,
    policy: Policy,
    text: Option<String>,
    files: MetricFiles,
}

/// Reads gate.toml and the dataset, and checks that they fit each other.
pub(crate) fn configure(args: &EvaluationArgs) -> Result<Configured, Error> {
    let opened = Opened::of(args)?;
    let mut configured = opened.configure(args)?;
    let work = &configured.work;
    let asks = work.metrics.iter().any(|metric| metric.info().judged);
    let (Some(path), true) = (opened.pinned(), asks) else {
        return Ok(configured);
    };
    if work.judge.provider.in_place() {
        configured.notes.push(
            "pinned answers: not asked again, since this judge computes and cannot move".to_owned(),
        );
    } else if work.cache.is_replay() {
        configured
            .notes
            .push("pinned answers: not asked again, since nobody is called in replay".to_owned());
    } else {
        configured.reask = Some(opened.reask(args, &path)?);
    }
    configured.inputs.push(path);
    Ok(configured)
}

/// As [`configure`], for pinning answers: those that may be pinned already do not count.
pub(crate) fn configure_to_pin(args: &EvaluationArgs) -> Result<Configured, Error> {
    Opened::of(args)?.configure(args)
}

/// Reads gate.toml and the pinned answers: those of `path`, or those that gate.toml names.
pub(crate) fn configure_to_reask(
    args: &EvaluationArgs,
    path: Option<&Path>,
) -> Result<Reask, Error> {
    let opened = Opened::of(args)?;
    let named = pinned_path(&opened.policy, opened.config.as_deref());
    opened.reask(args, path.unwrap_or(&named))
}

/// Where the pinned answers are: where gate.toml says, else beside its baseline.
pub(crate) fn pinned_path(policy: &Policy, config: Option<&Path>) -> PathBuf {
    let judge = policy.file().judge.as_ref();
    match judge.and_then(|judge| judge.pinned.as_ref()) {
        Some(named) => beside(config, named.get_ref()),
        None => match baseline_of(policy, config) {
            Some(baseline) => baseline.with_file_name("judge.jsonl"),
            None => beside(config, PINNED),
        },
    }
}

impl Opened {
    fn of(args: &EvaluationArgs) -> Result<Opened, Error> {
        let config = config_path(args.config.as_deref())?;
        let (policy, text) = policy(config.as_deref())?;
        let place = Place {
            config: config.as_deref(),
            text: text.as_deref(),
        };
        refuse_what_is_not_run(&policy, &place)?;
        let files = MetricFiles::of(&policy, &beside(config.as_deref(), ""), &place)?;
        Ok(Opened {
            config,
            policy,
            text,
            files,
        })
    }

    fn place(&self) -> Place<'_> {
        Place {
            config: self.config.as_deref(),
            text: self.text.as_deref(),
        }
    }

    /// The pinned answers that every run asks about.
    fn pinned(&self) -> Option<PathBuf> {
        let judge = self.policy.file().judge.as_ref()?;
        let named = judge.pinned.as_ref()?.get_ref();
        Some(beside(self.config.as_deref(), named))
    }

    fn judges(&self, args: &EvaluationArgs) -> Result<(JudgeSetup, Option<JudgeSetup>), Error> {
        let (file, place) = (self.policy.file(), self.place());
        let folder = beside(self.config.as_deref(), "");
        let judge = JudgeSetup::of(file.judge.as_ref(), &folder, args, &place)?;
        let embeddings = file
            .embeddings
            .as_ref()
            .map(|section| JudgeSetup::of(Some(section), &folder, args, &place))
            .transpose()?;
        Ok((judge, embeddings))
    }

    fn configure(&self, args: &EvaluationArgs) -> Result<Configured, Error> {
        let (config, place) = (self.config.as_deref(), self.place());
        let (judge, embeddings) = self.judges(args)?;
        let mut notes = Vec::new();
        let path = dataset_path(args, &self.policy, config)?;
        let files = &self.files;
        let (dataset, source) = read_dataset(&path, &self.policy, files)?;
        describe(&dataset, &path, &mut notes);
        let metrics = metrics_of(&self.policy, &dataset, &judge, files, &place, &mut notes)?;
        let programs = programs_of(
            &metrics,
            &self.policy,
            args,
            (&judge, embeddings.as_ref()),
            &beside(config, ""),
            &place,
        )?;
        check_columns(&metrics, &dataset, &path, &mut notes)?;
        check_embeddings(&metrics, embeddings.as_ref(), &place)?;
        let cache = open_cache(args, &self.policy, config, &judge, embeddings.as_ref())?;
        let runs_path = runs::path_of(&self.policy, config);
        let mut inputs = vec![path];
        inputs.extend(self.config.clone());
        inputs.extend(files.paths().map(Path::to_owned));
        inputs.extend(
            baseline_of(&self.policy, config)
                .iter()
                .flat_map(|baseline| accepted(baseline))
                // The first baseline may be written by a run.
                .filter(|path| path.exists()),
        );
        output::refuse_to_overwrite(&runs_path, "[runs] path", &inputs)?;
        inputs.push(runs_path.clone());
        let text = self.text.as_deref().unwrap_or("");
        Ok(Configured {
            inputs,
            work: Work {
                dataset,
                metrics,
                judge,
                embeddings,
                programs,
                cache,
            },
            source,
            reask: None,
            config_sha256: files.sha256_with(text),
            runs_path,
            notes,
        })
    }

    /// The same judge and metrics once more, for the pinned answers and without a cache.
    fn reask(&self, args: &EvaluationArgs, path: &Path) -> Result<Reask, Error> {
        let file = PinnedFile::read(path)?;
        let dataset = file.pinned.dataset().map_err(|error| Error::Dataset {
            path: input::name(path),
            error,
        })?;
        let (judge, embeddings) = self.judges(args)?;
        let place = self.place();
        let metrics = metrics_of(
            &self.policy,
            &dataset,
            &judge,
            &self.files,
            &place,
            &mut Vec::new(),
        )?;
        check_embeddings(&metrics, embeddings.as_ref(), &place)?;
        let cache = cache::path_of(&self.policy, self.config.as_deref());
        let cache = Cache::open(&cache, CacheMode::Off).map_err(cache::of)?;
        Ok(Reask::new(
            file,
            Work {
                dataset,
                metrics,
                judge,
                embeddings,
                // What they say does not depend on the judge: they are not run again.
                programs: Programs::default(),
                cache,
            },
        ))
    }
}

fn check_embeddings(
    metrics: &[Box<dyn Metric>],
    embeddings: Option<&JudgeSetup>,
    place: &Place<'_>,
) -> Result<(), Error> {
    match metrics.iter().find(|metric| metric.info().embeds) {
        Some(metric) if embeddings.is_none() => Err(place.error(
            format!("{} needs an embedding model", metric.info().name),
            Some("add [embeddings] with provider, base_url and model".to_owned()),
            None,
        )),
        _ => Ok(()),
    }
}

fn refuse_what_is_not_run(policy: &Policy, place: &Place<'_>) -> Result<(), Error> {
    let file = policy.file();
    let target = file
        .target
        .as_ref()
        .map(|target| ("[target]", target.span()));
    let variant = file
        .variants
        .first()
        .map(|variant| ("[[variants]]", variant.name.span()));
    match target.or(variant) {
        None => Ok(()),
        Some((section, span)) => Err(place.error(
            format!("this version does not run the application under test: {section} is for a later one"),
            Some("let the application write its answers into the dataset, and a column `variant` if there are several".to_owned()),
            Some(span),
        )),
    }
}

fn dataset_path(
    args: &EvaluationArgs,
    policy: &Policy,
    config: Option<&Path>,
) -> Result<PathBuf, Error> {
    if let Some(path) = &args.dataset {
        return Ok(path.clone());
    }
    let named = policy
        .file()
        .dataset
        .as_ref()
        .and_then(|dataset| dataset.path.as_deref());
    match named {
        Some(named) => Ok(beside(config, named)),
        None => Err(Error::Usage {
            message: "no dataset is named".to_owned(),
            help: Some(
                "name it with --dataset, or in gate.toml: [dataset] path = \"eval/golden.jsonl\""
                    .to_owned(),
            ),
        }),
    }
}

/// Reads a dataset by `[dataset.columns]`.
pub(crate) fn read_dataset(
    path: &Path,
    policy: &Policy,
    files: &MetricFiles,
) -> Result<(Dataset, DatasetInfo), Error> {
    if path.to_str() != Some(input::STDIN) && !path.exists() {
        return Err(Error::Missing {
            what: "the dataset",
            path: path.display().to_string(),
            help: "name an existing file with --dataset, or in gate.toml under [dataset]"
                .to_owned(),
        });
    }
    let columns = policy
        .file()
        .dataset
        .as_ref()
        .and_then(|dataset| dataset.columns.clone())
        .unwrap_or_default();
    let options = dataset::Options {
        columns,
        keep_other: reads_other(policy, files),
        ..dataset::Options::default()
    };
    let (text, sha) = input::dataset(path)?;
    let dataset = Dataset::read(text, &options).map_err(|error| Error::Dataset {
        path: input::name(path),
        error,
    })?;
    let source = DatasetInfo {
        path: Some(path.display().to_string().replace('\\', "/")),
        sha256: Some(sha.finish()),
        samples: Some(dataset.len() as u64),
    };
    Ok((dataset, source))
}

/// Whether a metric of the policy looks into the rows as they stand. One that cannot be built is complained of later, when
/// the dataset was read.
fn reads_other(policy: &Policy, files: &MetricFiles) -> bool {
    let mut metrics = policy.file().metrics.iter().flatten();
    metrics.any(|(name, section)| {
        let name = name.get_ref();
        metric(name, section, files.of_metric(name)).is_ok_and(|metric| metric.reads_other())
    })
}

/// What was recognised, for people.
fn describe(dataset: &Dataset, path: &Path, notes: &mut Vec<String>) {
    let said: Vec<String> = dataset
        .recognised()
        .iter()
        .map(|column| match column.column.name() == column.from {
            true => column.from.clone(),
            false => format!("{} (from {})", column.column.name(), column.from),
        })
        .collect();
    notes.push(format!(
        "{} in {}",
        plural(dataset.len(), "sample"),
        input::name(path)
    ));
    notes.push(format!("columns: {}", said.join(", ")));
    if !dataset.ignored().is_empty() {
        notes.push(format!("not used: {}", dataset.ignored().join(", ")));
    }
    notes.extend(
        dataset
            .warnings()
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
}

/// The metric that a table of `[metrics]` asks for.
pub(crate) fn metric(
    name: &str,
    section: &MetricSection,
    files: &metrics::Files,
) -> Result<Box<dyn Metric>, metrics::BuildError> {
    metrics::build(&metrics::Spec {
        name,
        section,
        files,
    })
}

/// The programs of the metrics, each of which has to be there.
fn programs_of(
    metrics: &[Box<dyn Metric>],
    policy: &Policy,
    args: &EvaluationArgs,
    (judge, embeddings): (&JudgeSetup, Option<&JudgeSetup>),
    folder: &Path,
    place: &Place<'_>,
) -> Result<Programs, Error> {
    for metric in metrics {
        let Some(program) = metric.program().and_then(|program| program.command.first()) else {
            continue;
        };
        let name = metric.info().name.as_str();
        let section = policy.file().metrics.iter().flatten();
        let span = section
            .filter(|(found, _)| found.get_ref() == name)
            .find_map(|(_, section)| Some(section.command.as_ref()?.span()));
        find_program(program, folder).map_err(|message| {
            let help = "name a program that is there, with its path if it is not on the PATH";
            place.error(format!("{name}: {message}"), Some(help.to_owned()), span)
        })?;
    }
    // A program is a process: where nobody says how many, one is enough.
    let section = policy.file().judge.as_ref();
    let workers = match (
        args.concurrency,
        section.and_then(|judge| judge.concurrency),
    ) {
        (Some(asked), _) | (None, Some(Concurrency::Fixed(asked))) => asked as usize,
        (None, Some(Concurrency::Auto) | None) => 1,
    };
    let judges = [Some(judge), embeddings].into_iter().flatten();
    Ok(Programs::of(
        metrics,
        folder,
        workers,
        judges.map(|judge| &judge.provider),
    ))
}

fn metrics_of(
    policy: &Policy,
    dataset: &Dataset,
    judge: &JudgeSetup,
    files: &MetricFiles,
    place: &Place<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Box<dyn Metric>>, Error> {
    let mut built: Vec<Box<dyn Metric>> = Vec::new();
    let is_pattern = |name: &str| name.contains(['*', '?', '[']);
    let is_lexical = judge.provider.identity().provider == "lexical";
    let mut patterns: Vec<&toml::Spanned<String>> = Vec::new();
    for (name, section) in policy.file().metrics.iter().flatten() {
        if is_pattern(name.get_ref()) && section.kind.is_none() {
            patterns.push(name);
            continue;
        }
        if is_lexical && section.kind.as_deref().unwrap_or(name.get_ref()) == "rubric" {
            return Err(place.error(
                format!(
                    "the judge `lexical` counts words and cannot score the rubric `{}`",
                    name.get_ref()
                ),
                Some(
                    "set another provider in [judge]: openai for any compatible server, or command"
                        .to_owned(),
                ),
                Some(name.span()),
            ));
        }
        let metric = metric(name.get_ref(), section, files.of_metric(name.get_ref()))
            .map_err(|error| place.error(error.to_string(), None, Some(name.span())))?;
        built.push(metric);
    }
    if !built.is_empty() {
        return Ok(built);
    }
    for name in DEFAULT_METRICS {
        let is_meant =
            |pattern: &&toml::Spanned<String>| gate::policy::matches(pattern.get_ref(), name);
        if !patterns.is_empty() && !patterns.iter().any(is_meant) {
            continue;
        }
        // Words tell a refusal from an answer, and no more: see the page on metrics.
        if is_lexical && name == "answer_relevancy" {
            continue;
        }
        let metric = metric(name, &MetricSection::default(), &metrics::Files::default())
            .map_err(|error| place.error(error.to_string(), None, None))?;
        if metric
            .info()
            .needs
            .iter()
            .all(|column| dataset.has(*column) > 0)
        {
            built.push(metric);
        }
    }
    let names: Vec<&str> = built
        .iter()
        .map(|metric| metric.info().name.as_str())
        .collect();
    if names.is_empty() {
        let message = match patterns.is_empty() {
            true => "no metric can be computed from the columns of the dataset",
            false => {
                "no pattern of [metrics] matches a metric that can be computed from the columns of the dataset"
            }
        };
        return Err(place.error(
            message.to_owned(),
            Some("name the metrics: [metrics.faithfulness], … (docs/metrics.md says what each needs)".to_owned()),
            patterns.first().map(|pattern| pattern.span()),
        ));
    }
    notes.push(format!(
        "metrics: {} (those that the dataset has the columns for; name yours in [metrics])",
        names.join(", ")
    ));
    Ok(built)
}

/// A column that no sample has makes a metric that measures nothing: better said before the run than after it.
fn check_columns(
    metrics: &[Box<dyn Metric>],
    dataset: &Dataset,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let mut partly: IndexMap<Column, Vec<&str>> = IndexMap::new();
    for metric in metrics {
        for column in &metric.info().needs {
            match dataset.has(*column) {
                0 => {
                    let ignored = dataset.ignored();
                    let others = match ignored {
                        [] => String::new(),
                        names => format!(
                            "; columns that mean nothing to rag-gate: {}",
                            names.join(", ")
                        ),
                    };
                    return Err(Error::Usage {
                        message: format!(
                            "{} needs `{}`, which no sample of {} has",
                            metric.info().name,
                            column.name(),
                            input::name(path)
                        ),
                        help: Some(format!(
                            "name the column: [dataset.columns] {} = \"…\", or take the metric out of gate.toml{others}",
                            column.name()
                        )),
                    });
                }
                found if found < dataset.len() => {
                    partly.entry(*column).or_default().push(&metric.info().name);
                }
                _ => {}
            }
        }
    }
    for (column, metrics) in partly {
        notes.push(format!(
            "{} of {} samples have `{}`; without it not applicable: {}",
            dataset.has(column),
            dataset.len(),
            column.name(),
            metrics.join(", ")
        ));
    }
    Ok(())
}

fn open_cache(
    args: &EvaluationArgs,
    policy: &Policy,
    config: Option<&Path>,
    judge: &JudgeSetup,
    embeddings: Option<&JudgeSetup>,
) -> Result<Cache, Error> {
    let section = policy.file().cache.as_ref();
    let asked = args
        .cache
        .or_else(|| section.and_then(|cache| cache.mode))
        .unwrap_or_default();
    // What is computed in place is not worth a file.
    let mode = match judge.provider.in_place() && embeddings.is_none() {
        true => CacheMode::Off,
        false => asked,
    };
    let path = cache::path_of(policy, config);
    Cache::open(&path, mode).map_err(|error| Error::Refused {
        message: error.to_string(),
        help: Some("name another folder: [cache] path, or run with --cache off".to_owned()),
    })
}
