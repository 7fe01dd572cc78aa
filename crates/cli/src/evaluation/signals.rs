//! Ctrl-C, SIGTERM and the deadline: how a run is ended from outside.

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
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
        told = terminate.recv() => told.is_some(),
    }
}

#[cfg(not(unix))]
async fn signal() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
