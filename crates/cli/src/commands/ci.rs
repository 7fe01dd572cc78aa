//! `rag-gate ci`: run, check, every output, one exit code.

use gate::results::Results;

use super::{check, run};
use crate::args::{CheckArgs, CiArgs};
use crate::error::Error;
use crate::evaluation::{self, configure, evaluate, results_path};
use crate::exit_code::ExitCode;
use crate::{console, output};

pub(crate) fn run(args: &CiArgs) -> Result<ExitCode, Error> {
    evaluation::init_logging(args.evaluation.log_format);
    let judging = CheckArgs {
        results: results_path(&args.evaluation),
        baseline: args.baseline.clone(),
        config: args.evaluation.config.clone(),
        judging: args.judging.clone(),
    };
    let mut inputs = check::inputs(&judging);
    inputs.extend(evaluation::inputs(&args.evaluation));
    output::refuse_overwriting(&args.judging.output, &inputs)?;
    // The first of them is what the run writes.
    output::refuse_to_overwrite(
        &judging.results,
        "--results",
        inputs.get(1..).unwrap_or(&[]),
    )?;
    match measure(args, &judging) {
        Ok(Measured::Results(made)) => check::decide_and_write(&judging, Some(*made)),
        Ok(Measured::Interrupted) => Ok(ExitCode::Interrupted),
        Err(error) => {
            check::write_refusal(&judging, &error, error.exit_code());
            Err(error)
        }
    }
}

/// What came of the evaluation.
enum Measured {
    Results(Box<Results>),
    Interrupted,
}

/// Runs the evaluation; an error when there is nothing to judge.
fn measure(args: &CiArgs, judging: &CheckArgs) -> Result<Measured, Error> {
    check::find_baseline(judging)?;
    let configured = configure(&args.evaluation)?;
    let judge = run::judge_name(&configured);
    run::say_notes(&args.evaluation, &configured);
    let evaluated = evaluate(&args.evaluation, configured)?;
    if !args.evaluation.quiet {
        console::note(&evaluated.line(&judge));
        console::note("");
    }
    if evaluated.exit_code() == ExitCode::Interrupted {
        let error = Error::Refused {
            message: "the run was interrupted".to_owned(),
            help: None,
        };
        check::write_refusal(judging, &error, ExitCode::Interrupted);
        return Ok(Measured::Interrupted);
    }
    match (evaluated.error(), evaluated.results) {
        (Some(error), None) => Err(error),
        (error, Some(made)) => {
            // What there is is judged as incomplete: a collapse shows in half of the samples.
            if let Some(error) = error {
                console::report(&error);
            }
            Ok(Measured::Results(Box::new(made)))
        }
        (None, None) => Err(Error::Refused {
            message: "the run made no results".to_owned(),
            help: None,
        }),
    }
}
