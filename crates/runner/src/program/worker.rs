//! One process.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::Program;
use crate::provider::readable::readable;
use crate::provider::redact::Redactor;

/// No line of an answer is longer.
const MAX_LINE: u64 = 16 << 20;
/// What a program writes to its standard error is traced so many lines long.
const MAX_TRACED: usize = 1000;
/// How long the runtime may take to hear of what the system has.
const TO_BE_TOLD: Duration = Duration::from_millis(500);
/// A longer line is traced in pieces.
const MAX_TRACED_LINE: u64 = 4096;

/// A process that is killed when it is dropped, with all that it has started.
#[derive(Debug)]
pub(super) struct Worker {
    // Dropped before the process, whose number stands for the group as long as it is not waited for.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: JoinHandle<()>,
    /// The last line of its standard error, without secrets.
    last_line: Arc<Mutex<String>>,
    /// What it has answered, where its answers are told apart by their order alone.
    pub(super) answered: Answered,
}

/// What a process was asked and has answered, by the numbers of the samples.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// Those whose answer does not say which sample it is for.
    pub(super) unnamed: Vec<usize>,
    /// The last one, whatever its answer says.
    pub(super) last: Option<usize>,
}

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It had ended before anything of the line was sent.
    Before,
    /// It ended, or closed a stream.
    Exit,
    /// The line has no end.
    TooLong,
}

impl Worker {
    pub(super) fn start(program: &Program, redactor: &Redactor) -> io::Result<Worker> {
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        // A path is relative to gate.toml, as all paths there; a bare name is looked up in PATH.
        let path = Path::new(name);
        let path = match path.components().count() > 1 {
            true => std::path::absolute(program.folder.join(path))?,
            false => path.to_owned(),
        };
        let mut command = Command::new(path);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Group::of_its_own(&mut command);
        if !program.folder.as_os_str().is_empty() {
            command.current_dir(&program.folder);
        }
        let mut child = command.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        };
        let last_line = Arc::<Mutex<String>>::default();
        Ok(Worker {
            group: Group(child.id()),
            child,
            stdin,
            stdout: BufReader::new(stdout),
            stderr: tokio::spawn(drain(
                stderr,
                name.to_owned(),
                Arc::clone(&last_line),
                redactor.clone(),
            )),
            last_line,
            answered: Answered::default(),
        })
    }

    /// False when it has ended.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it has printed beyond the lines that were read, as far as it is there; empty when nothing is.
    pub(super) async fn unread(&mut self) -> Vec<u8> {
        if self.stdout.buffer().is_empty() && is_readable(&mut self.stdout) {
            // It is there already: only the runtime may have to be told.
            let _ = tokio::time::timeout(TO_BE_TOLD, self.stdout.fill_buf()).await;
        }
        self.stdout.buffer().to_vec()
    }

    /// Ends it like [`Worker::end`], and says what it still printed.
    pub(super) async fn rest(mut self, grace: Duration) -> Vec<u8> {
        drop(self.stdin);
        let mut rest = Vec::new();
        let mut limited = (&mut self.stdout).take(MAX_LINE);
        let ends = async {
            // What was read until it fails counts, and so does what was when the time is up.
            let _ = limited.read_to_end(&mut rest).await;
            self.child.wait().await
        };
        if let Ok(Ok(_)) = tokio::time::timeout(grace, ends).await {
            self.group.is_left();
        }
        rest
    }

    /// One line there and one back.
    pub(super) async fn exchange(&mut self, line: &[u8]) -> Result<Vec<u8>, Ended> {
        let stdin = &mut self.stdin;
        let stdout = &mut self.stdout;
        let mut sent = 0;
        let write = async {
            while let Some(rest) = line.get(sent..).filter(|rest| !rest.is_empty()) {
                match stdin.write(rest).await? {
                    0 => return Err(io::Error::from(io::ErrorKind::WriteZero)),
                    more => sent += more,
                }
            }
            stdin.flush().await
        };
        let mut answer = Vec::new();
        // A program that writes before it has read all would wait for us, and we for it, if this were one after the other.
        let mut limited = stdout.take(MAX_LINE);
        let read = async { limited.read_until(b'\n', &mut answer).await };
        let outcome: io::Result<_> = tokio::try_join!(write, read);
        match outcome {
            Ok(_) if answer.ends_with(b"\n") => {}
            Ok(_) if answer.len() as u64 >= MAX_LINE => return Err(Ended::TooLong),
            Err(_) if sent == 0 => return Err(Ended::Before),
            Ok(_) | Err(_) => return Err(Ended::Exit),
        }
        Ok(answer)
    }

    /// How it ended and what it said last.
    pub(super) async fn last_words(mut self, grace: Duration) -> String {
        drop(self.stdin);
        self.group.is_left();
        let status = match tokio::time::timeout(grace, self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            _ => "it closed its output and did not end".to_owned(),
        };
        // Its last words may still be on their way.
        let _ = tokio::time::timeout(grace, &mut self.stderr).await;
        let last_line = self
            .last_line
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match last_line.is_empty() {
            true => status,
            false => format!("{status}: {last_line}"),
        }
    }

    /// It may end by itself, and is killed if it does not.
    pub(super) async fn end(mut self, grace: Duration) {
        drop(self.stdin);
        let mut group = std::mem::replace(&mut self.group, Group(None));
        if tokio::time::timeout(grace, self.child.wait())
            .await
            .is_err()
        {
            drop(group);
            let _ = self.child.kill().await;
        } else {
            group.is_left();
        }
    }
}

/// The processes that a program starts: `sh -c` and its like leave them behind when they alone are killed.
#[derive(Debug)]
struct Group(Option<u32>);

impl Group {
    #[cfg(unix)]
    fn of_its_own(command: &mut Command) {
        command.process_group(0);
    }

    #[cfg(not(unix))]
    fn of_its_own(_: &mut Command) {}

    /// Its process ends by itself.
    fn is_left(&mut self) {
        self.0 = None;
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let number = self.0.and_then(|number| i32::try_from(number).ok());
        if let Some(group) = number.and_then(Pid::from_raw) {
            // It may have ended just now.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// True when a read would not wait.
#[cfg(unix)]
fn is_readable(stdout: &mut BufReader<ChildStdout>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // The system is asked, since what arrived just now may not have come to the runtime's ears.
    let mut asked = [PollFd::new(stdout.get_ref(), PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut asked, Some(&at_once)) {
        Ok(_) => asked
            .iter()
            .any(|stream| stream.revents().contains(PollFlags::IN)),
        Err(_) => false,
    }
}

#[cfg(not(unix))]
fn is_readable(stdout: &mut BufReader<ChildStdout>) -> bool {
    use futures::FutureExt as _;
    matches!(stdout.fill_buf().now_or_never(), Some(Ok(more)) if !more.is_empty())
}

/// Reads to the end: a program whose standard error is full would stand still.
async fn drain(
    stderr: ChildStderr,
    name: String,
    last_line: Arc<Mutex<String>>,
    redactor: Redactor,
) {
    let mut stderr = BufReader::new(stderr);
    let mut traced = 0;
    loop {
        let mut line = Vec::new();
        match (&mut stderr)
            .take(MAX_TRACED_LINE)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = readable(&redactor.redact(&String::from_utf8_lossy(&line)));
        if line.is_empty() {
            continue;
        }
        traced += 1;
        if traced <= MAX_TRACED {
            tracing::debug!("{name} says: {line}");
        }
        *last_line.lock().unwrap_or_else(PoisonError::into_inner) = line;
    }
}
