//! How far the run is: a bar on a terminal, a line every ten seconds elsewhere. Looking changes nothing.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use runner::progress::{Progress, Snapshot};

use super::logging::LogFormat;
use crate::console;

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(10);

/// The thread that looks; stops when told.
pub(crate) struct Meter {
    stop: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Starts looking.
pub(crate) fn start(progress: &Arc<Progress>, quiet: bool, format: LogFormat) -> Meter {
    if quiet {
        return Meter { stop: None };
    }
    let has_bar = std::io::stderr().is_terminal() && format == LogFormat::Text;
    let (stop, stopped) = mpsc::channel::<()>();
    let progress = Arc::clone(progress);
    let thread = std::thread::spawn(move || {
        let started = Instant::now();
        let bar = has_bar.then(bar);
        console::show_bar(bar.clone());
        let pause = if has_bar { TICK } else { LINE };
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let now = progress.snapshot();
            let line = line(&now, started.elapsed());
            match (&bar, format) {
                (Some(bar), _) => {
                    bar.set_length(now.total);
                    bar.set_position(now.done);
                    bar.set_message(line);
                }
                (None, LogFormat::Text) => {
                    console::note(&format!("{}/{} {line}", now.done, now.total));
                }
                (None, LogFormat::Json) => tracing::info!(
                    target: "rag_gate",
                    done = now.done,
                    total = now.total,
                    in_flight = now.in_flight,
                    calls = now.calls,
                    cache_hits = now.cache_hits,
                    failed = now.failed,
                    retries = now.retries,
                    "progress"
                ),
            }
        }
        console::show_bar(None);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    });
    Meter {
        stop: Some((stop, thread)),
    }
}

impl Meter {
    /// Stops looking, and takes the bar away.
    pub(crate) fn stop(self) {
        if let Some((stop, thread)) = self.stop {
            drop(stop);
            // A meter that broke has shown less, and changed nothing.
            let _ = thread.join();
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// What is under way, what it cost, and how long it still takes.
fn line(now: &Snapshot, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let mut parts = vec![
        format!("{:.1} calls/s", now.calls as f64 / seconds),
        format!("{} in flight", now.in_flight),
    ];
    if now.cache_hits > 0 {
        parts.push(format!("{} cached", now.cache_hits));
    }
    if now.failed > 0 {
        parts.push(format!("{} failed", now.failed));
    }
    if let (Some(cost), true) = (now.cost_usd(), now.nanodollars > 0) {
        parts.push(format!("${cost:.2}"));
    }
    if now.done > 0 && now.done < now.total {
        let left = seconds * (now.total - now.done) as f64 / now.done as f64;
        parts.push(format!("{} left", duration(left)));
    }
    parts.join(", ")
}

/// A length of time as a person says it.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
