//! The terminal: the report on standard output, everything else on standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::diagnostic;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Columns where nobody says how wide the terminal is.
const WIDTH: usize = 80;

/// Writes a report. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output {
            path: "standard output".into(),
            error,
        }),
        _ => Ok(()),
    }
}

/// Says something that is no part of the report.
pub(crate) fn note(text: &str) {
    if JSON_LINES.load(Ordering::Relaxed) {
        if !text.is_empty() {
            say(&format!("{}\n", json!({"level": "INFO", "message": text})));
        }
        return;
    }
    say(&format!("{text}\n"));
}

/// Whether every line on standard error is a JSON object.
static JSON_LINES: AtomicBool = AtomicBool::new(false);

/// Makes every line on standard error a JSON object, for programs that read the log.
#[cfg(feature = "runner")]
pub(crate) fn write_json_lines() {
    JSON_LINES.store(true, Ordering::Relaxed);
}

/// Writes lines of the log, which end in line feeds.
#[cfg(feature = "runner")]
pub(crate) fn log(text: &str) {
    say(text);
}

/// The progress bar, while there is one: whatever is written goes above it.
#[cfg(feature = "runner")]
static BAR: std::sync::Mutex<Option<indicatif::ProgressBar>> = std::sync::Mutex::new(None);

/// Makes a bar the one that everything is written above; `None` when it is gone.
#[cfg(feature = "runner")]
pub(crate) fn show_bar(bar: Option<indicatif::ProgressBar>) {
    *BAR.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner) = bar;
}

/// Prints an error and what to do about it.
pub(crate) fn report(error: &Error) {
    if JSON_LINES.load(Ordering::Relaxed) {
        let line = json!({"level": "ERROR", "message": error.to_string(), "help": error.help()});
        return say(&format!("{line}\n"));
    }
    say(&diagnostic::render(error, colour(&io::stderr())));
}

/// What clap says about the command line; help and version are no errors.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // There is nobody left to tell when this cannot be printed.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::Usage
    } else {
        ExitCode::Pass
    }
}

/// Makes a panic say that it is a bug and how to report it.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| {
            format!(" at {}:{}", place.file(), place.line())
        });
        let what = panic.payload_as_str().unwrap_or("no message");
        say(&format!(
            "error: internal error in rag-gate {}{place}: {what}\n  = help: this is a bug; please report it with the command line and, if you can share them, the input files\n",
            gate::VERSION
        ));
    }));
}

/// Whether the report may hold colours: a terminal, or `CLICOLOR_FORCE`; never with `NO_COLOR`.
pub(crate) fn stdout_colour() -> bool {
    colour(&io::stdout())
}

/// Columns of the report.
pub(crate) fn width() -> usize {
    let terminal = io::stdout()
        .is_terminal()
        .then(terminal_size::terminal_size)
        .flatten()
        .map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(WIDTH).clamp(60, 140)
}

fn colour(stream: &impl anstream::stream::RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

fn say(text: &str) {
    let write = || {
        // A closed standard error changes no verdict.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    };
    #[cfg(feature = "runner")]
    if let Ok(bar) = BAR.try_lock()
        && let Some(bar) = bar.as_ref()
    {
        return bar.suspend(write);
    }
    write();
}
