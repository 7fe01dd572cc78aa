//! `rag-gate check`: judges results against a baseline.

use std::path::{Path, PathBuf};

use gate::history::HistoryLine;
use gate::policy::{Bound, Policy};
use gate::results::{Keep, Results};
use gate::verdict::{Change, Code, Verdict};
use gate::{Inputs, decide};

use super::{baseline_of, config_path, no_baseline_named};
use crate::args::CheckArgs;
use crate::base::{self, Trusted};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, input, output};

/// Everything that is read, before anything is decided.
struct Loaded {
    policy: Policy,
    /// gate.toml as it was named.
    config_path: Option<String>,
    /// Name and text of gate.toml, for the place of an error.
    config: Option<(String, String)>,
    results: Results,
    results_name: String,
    baseline: Option<(Results, String)>,
    history: Option<Vec<HistoryLine>>,
    base: Option<gate::verdict::Base>,
    adoption: Vec<String>,
}

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, Error> {
    output::refuse_overwriting(&args.judging.output, &inputs(args))?;
    decide_and_write(args, None)
}

/// [`run`] on outputs that are already known to overwrite nothing. `made` are the results where they were made just now:
/// their file may by then be that of another process.
pub(crate) fn decide_and_write(args: &CheckArgs, made: Option<Results>) -> Result<ExitCode, Error> {
    let outcome = load(args, made).and_then(|loaded| judge(&loaded));
    match outcome {
        Ok(verdict) => {
            let code = ExitCode::from(verdict.outcome);
            let written = output::write(&verdict, &args.judging.output, !args.judging.hide_text);
            match written {
                Ok(()) => Ok(code),
                // What was decided stays decided; what would pass does not pass unrecorded.
                Err(error) if code == ExitCode::Blocked => {
                    console::report(&error);
                    Ok(code)
                }
                Err(error) => Err(error),
            }
        }
        Err(error) => {
            write_refusal(args, &error, error.exit_code());
            Err(error)
        }
    }
}

/// Machines read files: no verdict of an earlier run may stand there for one that came to nothing.
pub(crate) fn write_refusal(args: &CheckArgs, error: &Error, exit_code: ExitCode) {
    let code = match exit_code {
        ExitCode::Usage => Code::InvalidPolicy,
        _ => Code::UnreadableInput,
    };
    let mut refused = Verdict::refused(&gate_id(args), code, error.to_string(), exit_code as u8);
    refused.policy.path = config_path(args.config.as_deref())
        .ok()
        .flatten()
        .map(|path| input::name(&path));
    if let Err(failed) =
        output::write_machine(&refused, &args.judging.output, !args.judging.hide_text)
    {
        console::report(&failed);
    }
}

/// Looks for the baseline before anything is paid for.
#[cfg(feature = "runner")]
pub(crate) fn find_baseline(args: &CheckArgs) -> Result<(), Error> {
    if args.judging.allow_missing_baseline {
        return Ok(());
    }
    let config = config_path(args.config.as_deref())?;
    if let Some(base) = &args.judging.base {
        Trusted::find(base)?;
        return Ok(());
    }
    let (policy, _) = super::policy(config.as_deref())?;
    let named = args
        .baseline
        .clone()
        .or_else(|| baseline_of(&policy, config.as_deref()))
        .ok_or_else(no_baseline_named)?;
    match named.exists() {
        true => Ok(()),
        false => Err(Error::Missing {
            what: "the baseline",
            path: named.display().to_string(),
            help: format!(
                "make it from accepted answers: rag-gate run, then rag-gate baseline update {} --to {} (or pass --allow-missing-baseline to apply the absolute limits alone)",
                args.results.display(),
                named.display()
            ),
        }),
    }
}

/// The gate's id as far as it can be known, for the verdict of a check that came to nothing.
fn gate_id(args: &CheckArgs) -> String {
    let policy =
        config_path(args.config.as_deref()).and_then(|path| super::policy(path.as_deref()));
    policy.map_or_else(
        |_| gate::policy::DEFAULT_ID.to_owned(),
        |(policy, _)| policy.id().to_owned(),
    )
}

/// Every file of the working tree that the command reads.
pub(crate) fn inputs(args: &CheckArgs) -> Vec<PathBuf> {
    let config = args
        .config
        .clone()
        .unwrap_or_else(|| PathBuf::from(super::CONFIG));
    let baseline = args.baseline.clone().or_else(|| {
        // What is wrong with gate.toml is said where it is read.
        let (policy, _) = input::policy(&config).ok()?;
        baseline_of(&policy, Some(&config))
    });
    [args.results.clone(), config]
        .into_iter()
        .chain(baseline.iter().flat_map(|path| accepted(path)))
        .collect()
}

/// A baseline and its history.
pub(crate) fn accepted(baseline: &Path) -> [PathBuf; 2] {
    [baseline.to_owned(), base::history_path(baseline)]
}

/// Looks the policy's names up, checks the scales, decides.
fn judge(loaded: &Loaded) -> Result<Verdict, Error> {
    let baseline = loaded.baseline.as_ref().map(|(baseline, _)| baseline);
    let bound = bind(
        &loaded.policy,
        loaded.config.as_ref(),
        &loaded.results,
        baseline,
    )?;
    check_ranges(&bound, &loaded.results, &loaded.results_name)?;
    if let Some((baseline, name)) = &loaded.baseline {
        check_ranges(&bound, baseline, name)?;
    }
    let mut verdict = decide(Inputs {
        policy: &loaded.policy,
        bound: &bound,
        results: &loaded.results,
        baseline,
        history: loaded.history.as_deref(),
    });
    verdict.policy.path.clone_from(&loaded.config_path);
    verdict.base.clone_from(&loaded.base);
    for message in loaded.adoption.iter().rev() {
        verdict.warn_first(Code::Adoption, message);
    }
    Ok(verdict)
}

/// [`Policy::bind`] with the place of an error.
pub(crate) fn bind(
    policy: &Policy,
    config: Option<&(String, String)>,
    results: &Results,
    baseline: Option<&Results>,
) -> Result<Bound, Error> {
    policy
        .bind(results, baseline)
        .map_err(|error| match config {
            Some((name, text)) => Error::Policy {
                name: name.clone(),
                text: text.clone(),
                error,
            },
            None => Error::Usage {
                help: error.help,
                message: error.message,
            },
        })
}

/// Refuses scores outside the range that gate.toml or the registry gives.
pub(crate) fn check_ranges(bound: &Bound, results: &Results, name: &str) -> Result<(), Error> {
    bound.check_ranges(results).map_err(|error| Error::Input {
        path: name.to_owned(),
        error,
    })
}

fn load(args: &CheckArgs, made: Option<Results>) -> Result<Loaded, Error> {
    let is_stdin = |path: &Path| path.to_str() == Some(input::STDIN);
    if is_stdin(&args.results) && args.baseline.as_deref().is_some_and(is_stdin) {
        return Err(Error::usage(
            "results and baseline cannot both be standard input",
        ));
    }
    match &args.judging.base {
        None => from_tree(args, made),
        Some(_) if args.baseline.as_deref().is_some_and(is_stdin) => Err(Error::usage(
            "--base reads the baseline from git, not from standard input",
        )),
        Some(base) => from_base(args, base, made),
    }
}

/// Everything from the working tree.
fn from_tree(args: &CheckArgs, made: Option<Results>) -> Result<Loaded, Error> {
    let path = config_path(args.config.as_deref())?;
    let (policy, text) = super::policy(path.as_deref())?;
    let baseline_path = match &args.baseline {
        Some(path) => Some(path.clone()),
        None => baseline_of(&policy, path.as_deref()),
    };
    let baseline_path = match baseline_path {
        Some(path) => path,
        None if args.judging.allow_missing_baseline => PathBuf::new(),
        None => return Err(no_baseline_named()),
    };
    let results = made.map_or_else(|| input_results(&args.results), Ok)?;
    let is_file = baseline_path.exists() || baseline_path.to_str() == Some(input::STDIN);
    let (baseline, history) = if is_file {
        (
            Some((
                input::results(&baseline_path, Keep::Scores)?,
                input::name(&baseline_path),
            )),
            input::history(&base::history_path(&baseline_path))?,
        )
    } else if args.judging.allow_missing_baseline {
        (None, None)
    } else {
        return Err(missing_baseline(&args.results, &baseline_path));
    };
    Ok(Loaded {
        policy,
        config_path: path.as_deref().map(input::name),
        config: path.map(|path| input::name(&path)).zip(text),
        results,
        results_name: input::name(&args.results),
        baseline,
        history,
        base: None,
        adoption: Vec::new(),
    })
}

/// Policy, baseline and history from a git ref; what is measured from the working tree.
fn from_base(args: &CheckArgs, asked: &str, made: Option<Results>) -> Result<Loaded, Error> {
    let trusted = Trusted::find(asked)?;
    let config = args
        .config
        .clone()
        .unwrap_or_else(|| PathBuf::from(super::CONFIG));
    let mut changes = Vec::new();
    let (policy, source, head) = policy_of_base(args, &trusted, &config, &mut changes)?;
    let mut results = made.map_or_else(|| input_results(&args.results), Ok)?;
    let path = args
        .baseline
        .clone()
        .or_else(|| baseline_of(&policy, Some(&config)));
    if path.is_none() && !args.judging.allow_missing_baseline {
        return Err(no_baseline_named());
    }
    let (baseline, history) = match &path {
        Some(path) => baseline_of_base(args, &trusted, path, &mut changes)?,
        None => (None, None),
    };
    changes.extend(dataset_change(&trusted, &config, head.as_ref())?);
    changes.extend(pinned_change(
        &trusted,
        &config,
        head.as_ref(),
        &mut results,
    )?);
    let adoption = changes
        .iter()
        .filter(|change| change.base.is_none() && change.key.is_none())
        .filter(|change| change.head.as_deref() == Some(base::ADOPTED))
        .map(|change| change.message.clone())
        .collect();
    let measured = baseline.as_ref().map(|(baseline, _)| baseline);
    let base = trusted.describe(path.as_deref(), &results, measured, changes);
    Ok(Loaded {
        policy,
        config_path: source.as_ref().map(|_| input::name(&config)),
        config: source,
        results,
        results_name: input::name(&args.results),
        baseline,
        history,
        base: Some(base),
        adoption,
    })
}

/// The policy that judges, text and name of its file, and the working tree's own policy.
type Policies = (Policy, Option<(String, String)>, Option<Policy>);

/// gate.toml of the base with the evaluation sections of the working tree.
fn policy_of_base(
    args: &CheckArgs,
    trusted: &Trusted,
    config: &Path,
    changes: &mut Vec<Change>,
) -> Result<Policies, Error> {
    let base_text = trusted.text(config)?;
    let head_text = match config.exists() {
        true => Some(input::text(config)?),
        false => None,
    };
    if args.config.is_some() && base_text.is_none() && head_text.is_none() {
        return Err(Error::usage(format!(
            "the policy {} exists neither here nor in the base",
            config.display()
        )));
    }
    changes.extend(base::policy_changes(
        config,
        base_text.as_deref(),
        head_text.as_deref(),
    ));
    let head = head_text
        .as_deref()
        .map(|text| input::policy_from(text, &input::name(config)))
        .transpose()?;
    match (base_text, head_text) {
        (Some(text), _) => {
            let name = trusted.name_of(config);
            let policy = input::policy_from(&text, &name)?;
            let policy = match &head {
                Some(head) => policy.with_evaluation_of(head),
                None => policy,
            };
            Ok((policy, Some((name, text)), head))
        }
        (None, Some(text)) => {
            changes.push(base::adoption(config, "the policy"));
            let policy = head.clone().unwrap_or_default();
            Ok((policy, Some((input::name(config), text)), head))
        }
        (None, None) => Ok((Policy::default(), None, head)),
    }
}

/// A baseline with its name, and its history.
type Accepted = (Option<(Results, String)>, Option<Vec<HistoryLine>>);

/// Baseline and history of the base, and what the working tree makes of them.
fn baseline_of_base(
    args: &CheckArgs,
    trusted: &Trusted,
    path: &Path,
    changes: &mut Vec<Change>,
) -> Result<Accepted, Error> {
    let base_bytes = trusted.file(path)?;
    let head_bytes = base::in_tree(path);
    let baseline = base_bytes
        .as_deref()
        .map(|bytes| {
            let name = trusted.name_of(path);
            input::results_from(bytes, &name, Keep::Scores).map(|baseline| (baseline, name))
        })
        .transpose()?;
    match (&baseline, &head_bytes) {
        (None, Some(_)) => changes.push(base::adoption(path, "the baseline")),
        (None, None) if !args.judging.allow_missing_baseline => {
            return Err(missing_baseline(&args.results, path));
        }
        _ => {}
    }
    let old = base_bytes
        .as_deref()
        .zip(baseline.as_ref().map(|(baseline, _)| baseline));
    changes.extend(base::baseline_changes(path, old, head_bytes.as_deref()));
    let history_path = base::history_path(path);
    let history_bytes = trusted.file(&history_path)?;
    let history = history_bytes
        .as_deref()
        .map(|bytes| {
            let name = trusted.name_of(&history_path);
            input::history_from(&input::text_from(bytes, &name)?, &name)
        })
        .transpose()?;
    changes.extend(base::file_change(
        &history_path,
        "the history",
        history_bytes.as_deref(),
        base::in_tree(&history_path).as_deref(),
        "; it was judged by the base's",
    ));
    Ok((baseline, history))
}

/// What the change did to the dataset that its gate.toml names.
fn dataset_change(
    trusted: &Trusted,
    config: &Path,
    head: Option<&Policy>,
) -> Result<Option<Change>, Error> {
    let Some(named) = head.and_then(|policy| policy.file().dataset.as_ref()?.path.clone()) else {
        return Ok(None);
    };
    let path = super::beside(Some(config), &named);
    let base = trusted.file(&path)?;
    let head = base::in_tree(&path);
    Ok(base::file_change(
        &path,
        "the dataset",
        base.as_deref(),
        head.as_deref(),
        "",
    ))
}

/// Takes what the results say about a judge that moved for nothing, unless they say it by the pinned answers of the base: a
/// change that pins its own could excuse itself.
fn pinned_change(
    trusted: &Trusted,
    config: &Path,
    head: Option<&Policy>,
    results: &mut Results,
) -> Result<Option<Change>, Error> {
    let named = head.and_then(|policy| {
        let judge = policy.file().judge.as_ref()?;
        Some(judge.pinned.as_ref()?.get_ref().clone())
    });
    let path = named.map(|named| super::beside(Some(config), &named));
    let base = path
        .as_deref()
        .map(|path| trusted.text(path))
        .transpose()?
        .flatten();
    let by_base = base.as_deref().map(input::sha256_of_lines);
    if let Some(judge) = &mut results.run.judge {
        let by = |drift: &gate::results::JudgeDrift| drift.pinned_sha256.clone();
        judge.drift = judge
            .drift
            .take()
            .filter(|drift| by_base.is_some() && by(drift) == by_base);
    }
    let Some(path) = path else { return Ok(None) };
    let head = path.exists().then(|| input::text(&path)).transpose()?;
    if by_base == head.as_deref().map(input::sha256_of_lines) {
        return Ok(None);
    }
    Ok(base::file_change(
        &path,
        "the pinned answers",
        base.map(String::into_bytes).as_deref(),
        head.map(String::into_bytes).as_deref(),
        "; whether the judge moved did not count",
    ))
}

fn input_results(path: &Path) -> Result<Results, Error> {
    if path.to_str() != Some(input::STDIN) && !path.exists() {
        return Err(Error::Missing {
            what: "the results file",
            path: path.display().to_string(),
            help: "run the evaluation first, or name the file that it wrote".to_owned(),
        });
    }
    input::results(path, Keep::All)
}

fn missing_baseline(results: &Path, baseline: &Path) -> Error {
    Error::Missing {
        what: "the baseline",
        path: baseline.display().to_string(),
        help: format!(
            "make it from accepted results: rag-gate baseline update {} --to {} (or pass --allow-missing-baseline to apply the absolute limits alone)",
            results.display(),
            baseline.display()
        ),
    }
}
