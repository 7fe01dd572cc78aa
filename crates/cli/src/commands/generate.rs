//! `rag-gate generate`: completions and man pages, from the definition of the command line.

use clap::CommandFactory;

use crate::args::{Args, GenerateCommand};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, output};

pub(crate) fn run(command: GenerateCommand) -> Result<ExitCode, Error> {
    let mut definition = Args::command();
    definition.build();
    match command {
        GenerateCommand::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut definition, "rag-gate", &mut text);
            console::print(&String::from_utf8_lossy(&text))?;
        }
        GenerateCommand::Man { folder: None } => {
            console::print(&page(definition)?)?;
        }
        GenerateCommand::Man {
            folder: Some(folder),
        } => {
            for (name, command) in commands(&definition, "rag-gate") {
                let path = folder.join(format!("{name}.1"));
                output::replace(&path, page(command.name(name))?.as_bytes())?;
            }
        }
    }
    Ok(ExitCode::Pass)
}

/// The command and all its subcommands, each with the name of its page.
fn commands(command: &clap::Command, name: &str) -> Vec<(String, clap::Command)> {
    let mut all = vec![(name.to_owned(), command.clone())];
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        all.extend(commands(sub, &format!("{name}-{}", sub.get_name())));
    }
    all
}

fn page(command: clap::Command) -> Result<String, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut text)
        .map_err(|error| Error::Output {
            path: "the man page".into(),
            error,
        })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
