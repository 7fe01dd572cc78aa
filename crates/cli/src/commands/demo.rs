//! `rag-gate demo`: a real regression, blocked for real, for somebody who has only the binary.

use std::fs;
use std::path::Path;

use super::{check, update};
use crate::args::{CheckArgs, EvaluationArgs, JudgingArgs, UpdateArgs};
use crate::console;
use crate::error::Error;
use crate::evaluation::{self, LogFormat, configure, evaluate};
use crate::exit_code::ExitCode;

/// The answers of a RAG pipeline to 107 questions about papers; origin and licence stand in fixtures/aragog/README.md.
const ACCEPTED: &str = include_str!("../../../../fixtures/aragog/answers/mpnet_k3_c128.jsonl");
/// The same questions after a change that made retrieval cheaper.
const CHANGED: &str = include_str!("../../../../fixtures/aragog/answers/mpnet_k1_c64.jsonl");
/// The policy of the demo.
const POLICY: &str = include_str!("demo.toml");

pub(crate) fn run(folder: &Path) -> Result<ExitCode, Error> {
    if folder.exists() {
        return Err(Error::Usage {
            message: format!("{} exists already", folder.display()),
            help: Some("name another folder: rag-gate demo FOLDER".to_owned()),
        });
    }
    evaluation::init_logging(LogFormat::Text);
    let file = |name: &str| folder.join(name);
    write(&file("gate.toml"), POLICY)?;
    write(&file("eval/accepted.jsonl"), ACCEPTED)?;
    write(&file("eval/changed.jsonl"), CHANGED)?;
    let evaluation = |dataset: &str, results: &str| EvaluationArgs {
        config: Some(file("gate.toml")),
        dataset: Some(file(dataset)),
        results: Some(file(results)),
        cache: None,
        concurrency: None,
        deadline: None,
        fail_fast: false,
        quiet: true,
        log_format: LogFormat::Text,
    };
    let shown = reporter::plain(&folder.display().to_string());
    console::print(&format!(
        "A RAG pipeline answered 107 questions about papers on language models. Its answers\n\
         were accepted. Then somebody made retrieval cheaper: one passage of 64 words\n\
         instead of three of 128. All of it is in {shown}/, and the gate runs for real.\n\n\
         $ rag-gate run --dataset eval/accepted.jsonl --results accepted.json\n\
         $ rag-gate baseline update accepted.json\n"
    ))?;
    let accepted = evaluation("eval/accepted.jsonl", "accepted.json");
    evaluate(&accepted, configure(&accepted)?)?;
    update::run(&UpdateArgs {
        runs: vec![file("accepted.json")],
        to: None,
        config: Some(file("gate.toml")),
        accept: Vec::new(),
        reason: None,
        commit: None,
        pull_request: None,
        by: None,
        at: None,
    })?;
    console::print("\n$ rag-gate ci --dataset eval/changed.jsonl\n")?;
    let changed = evaluation("eval/changed.jsonl", ".rag-gate/results.json");
    evaluate(&changed, configure(&changed)?)?;
    let code = check::decide_and_write(
        &CheckArgs {
            results: file(".rag-gate/results.json"),
            baseline: None,
            config: Some(file("gate.toml")),
            judging: JudgingArgs::default(),
        },
        None,
    )?;
    console::print(&format!(
        "$ echo $?\n{}\n\n\
         What to try next, in {shown}/:\n\
         \x20 rag-gate ci                                passes: the accepted answers\n\
         \x20 rag-gate ci --dataset eval/changed.jsonl   blocks again, with exit code 1\n\
         \x20 edit an answer in eval/accepted.jsonl, or a limit in gate.toml, and run it again\n\
         \x20 rag-gate runs                              every run is on record\n\
         Then your own: rag-gate run --dataset YOUR.jsonl\n",
        code as u8
    ))?;
    Ok(ExitCode::Pass)
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |error| Error::Output {
        path: path.to_owned(),
        error,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}
