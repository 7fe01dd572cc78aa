//! `run` and `ci` as real processes, against a real server on loopback.

mod ci;
mod interruption;
mod judge_drift;
mod operational;
mod own;
mod run;
mod sharing;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use judge_server::{Server, Settings};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The key that must not be seen anywhere.
const SECRET: &str = "sk-very-secret-4711";

/// A server with a runtime of its own.
struct Judge {
    server: Server,
    // Dropped after the server.
    _runtime: Runtime,
}

impl Judge {
    fn start(settings: Settings) -> Judge {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(settings));
        Judge {
            server,
            _runtime: runtime,
        }
    }
}

/// A folder with a dataset and a gate.toml.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// A dataset of `samples` rows, and the judge at `url`; `more` is appended to gate.toml.
    fn new(samples: usize, url: &str, more: &str) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { folder };
        project.write("answers.jsonl", &rows(samples, "The capital of country"));
        project.write(
            "gate.toml",
            &format!(
                "version = 1\nbaseline = \"baseline.json\"\n\n[dataset]\npath = \"answers.jsonl\"\n\n[judge]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"judge\"\napi_key_env = \"JUDGE_KEY\"\n{more}\n[metrics.faithfulness]\n[metrics.answer_relevancy]\n"
            ),
        );
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::runs::rag_gate();
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("JUDGE_KEY", SECRET)
            .env_remove("RAG_GATE_LOG");
        command
    }

    fn gate(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }
}

/// What a process said.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    fn ended(&self, code: i32) -> &Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

/// `count` different rows.
fn rows(count: usize, answer: &str) -> String {
    (0..count)
        .map(|number| {
            let row = json!({
                "id": format!("q-{number:05}"),
                "question": format!("What is the capital of country {number}?"),
                "answer": format!("{answer} {number} is city {number}."),
                "contexts": [format!("Country {number} has the capital city {number}."), "Something else."],
            });
            row.to_string() + "\n"
        })
        .collect()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // A process that was killed may not have made it yet.
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}
