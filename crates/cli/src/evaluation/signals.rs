//! Ctrl-C, SIGTERM, SIGHUP and the deadline: how a run is ended from outside.

use std::time::Duration;

use runner::control::{Control, Ended};

use crate::console;

/// How long calls under way may still take.
const GRACE: Duration = Duration::from_secs(5);

/// Ends the run at the first signal, and gives up the calls under way at the second.
pub(crate) fn watch(control: &Control) {
    let control = control.clone();
    survive_the_limit_on_files();
    tokio::spawn(async move {
        if !signal().await {
            return;
        }
        console::note(
            "interrupted: no further call is started; those under way have a moment (again to give them up)",
        );
        end(&control, Ended::Interrupted, signal()).await;
    });
}

/// Beyond `ulimit -f` a write is to fail as on a full disk: by itself the signal would end the process without a word.
#[cfg(unix)]
fn survive_the_limit_on_files() {
    use tokio::signal::unix::{SignalKind, signal};
    // Once it is listened to, the signal does nothing else; where it cannot be, all stays as it was.
    let _ = signal(SignalKind::from_raw(libc::SIGXFSZ));
}

#[cfg(not(unix))]
fn survive_the_limit_on_files() {}

/// Ends the run when its time is up.
pub(crate) fn deadline(control: &Control, after: Duration) {
    let control = control.clone();
    tokio::spawn(async move {
        tokio::time::sleep(after).await;
        end(&control, Ended::Deadline, std::future::pending::<bool>()).await;
    });
}

async fn end(control: &Control, why: Ended, sooner: impl Future<Output = bool>) {
    control.end(why);
    tokio::select! {
        () = tokio::time::sleep(GRACE) => {}
        _ = sooner => {}
    }
    control.abort();
}

/// Waits for a signal; false when signals cannot be received.
#[cfg(unix)]
async fn signal() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    // A terminal that closes is told apart from a run that was to outlive it.
    let mut hang_up = match outlives_its_terminal() {
        true => None,
        false => signal(SignalKind::hangup()).ok(),
    };
    let hung_up = async {
        match &mut hang_up {
            Some(hang_up) => hang_up.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
        told = terminate.recv() => told.is_some(),
        told = hung_up => told.is_some(),
    }
}

/// Whether SIGHUP is ignored, as under `nohup`: to listen to it would undo that. It is asked once, before anything listens.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    use std::sync::OnceLock;
    static OUTLIVES: OnceLock<bool> = OnceLock::new();
    *OUTLIVES.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        match ignored {
            // The lowest bit is that of signal 1.
            Some(mask) => mask & 1 == 1,
            // Where the system does not say it: `nohup` leaves no output on a terminal.
            None => !std::io::IsTerminal::is_terminal(&std::io::stderr()),
        }
    })
}

#[cfg(not(unix))]
async fn signal() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
