//! What the runner says on the way, on standard error.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::console;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The variable that says how much is logged, such as `debug`.
const VARIABLE: &str = "RAG_GATE_LOG";

/// Sends the log to standard error: warnings, or what `RAG_GATE_LOG` asks for.
pub(crate) fn init(format: LogFormat) {
    let asked = std::env::var(VARIABLE).unwrap_or_default();
    let default = match format {
        LogFormat::Text => "runner=warn,rag_gate=warn",
        LogFormat::Json => "runner=warn,rag_gate=info",
    };
    let filter = match asked.as_str() {
        "" => EnvFilter::new(default),
        asked => EnvFilter::try_new(asked).unwrap_or_else(|_| EnvFilter::new(default)),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(false)
        .with_writer(Lines);
    // A second subscriber can only come from a second run in this process, which uses the first.
    let _ = match format {
        LogFormat::Text => subscriber.without_time().try_init(),
        LogFormat::Json => {
            console::write_json_lines();
            subscriber.json().flatten_event(true).try_init()
        }
    };
}

/// Writes through the console, which knows about the progress bar.
struct Lines;

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(Vec::new())
    }
}

/// One event, written as a whole.
struct Line(Vec<u8>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        console::log(&text);
    }
}
