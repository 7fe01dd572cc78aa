//! One file a subject: what the command does.

mod base;
mod baseline;
mod exit_codes;
mod hostile_files;
mod limits;
mod outputs;
mod policy;
mod provenance;
mod refusals;
mod rules;
mod samples;
mod seed;
mod slices_and_variants;
mod slow_drift;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The command, deaf to the CI that the tests run in.
pub(crate) fn rag_gate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rag-gate"));
    for (name, _) in std::env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            name.starts_with("GITHUB_") || name.starts_with("GIT_") || name == "CI"
        });
        if ours {
            command.env_remove(name);
        }
    }
    command
        .env_remove("CLICOLOR_FORCE")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// A folder with the files of a test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with results.json and baseline.json.
    pub(crate) fn with(results: &str, baseline: &str) -> Self {
        Self::new()
            .file("results.json", results)
            .file("baseline.json", baseline)
    }

    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.0.path().join(name)).unwrap()).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command in this folder; the arguments are split at blanks.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = rag_gate();
        command
            .current_dir(self.path())
            .args(arguments.split_whitespace());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// `check results.json baseline.json`.
    pub(crate) fn check(&self) -> Ran {
        self.run("check results.json baseline.json")
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).expect("the report is UTF-8"),
            stderr: String::from_utf8(output.stderr.clone()).expect("the errors are UTF-8"),
        }
    }

    /// Everything that was said, on one line: where a line breaks is no matter of the sentence.
    pub(crate) fn said(&self) -> String {
        let words = format!("{} {}", self.stdout, self.stderr);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn mentions(&self, words: &[&str]) -> &Self {
        for word in words {
            assert!(
                self.said().contains(word),
                "does not mention {word:?}:\n{}\n{}",
                self.stdout,
                self.stderr
            );
        }
        self
    }
}

/// Feeds standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::of(&child.wait_with_output().unwrap())
}

/// One row of a table of cases.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) policy: String,
    pub(crate) results: String,
    pub(crate) baseline: String,
    pub(crate) history: Option<String>,
    pub(crate) exit: i32,
    pub(crate) mention: &'static [&'static str],
    pub(crate) forbid: &'static [&'static str],
}

/// A row whose policy is all of gate.toml but its version.
pub(crate) fn case(
    name: &'static str,
    policy: &str,
    results: impl Into<Text>,
    baseline: impl Into<Text>,
    exit: i32,
    mention: &'static [&'static str],
) -> Case {
    Case {
        name,
        policy: format!("version = 1\n{policy}\n"),
        results: results.into().0,
        baseline: baseline.into().0,
        history: None,
        exit,
        mention,
        forbid: &[],
    }
}

impl Case {
    pub(crate) fn forbids(mut self, words: &'static [&'static str]) -> Self {
        self.forbid = words;
        self
    }

    pub(crate) fn history(mut self, lines: &[Value]) -> Self {
        self.history = Some(lines.iter().map(|line| format!("{line}\n")).collect());
        self
    }

    /// What is wrong with this case, if anything.
    fn faults(&self) -> Option<String> {
        let folder = Folder::with(&self.results, &self.baseline).file("gate.toml", &self.policy);
        if let Some(history) = &self.history {
            folder.write("history.jsonl", history);
        }
        let ran =
            folder.run("check results.json baseline.json --output text=- --output json=v.json");
        let said = ran.said();
        let mut faults = Vec::new();
        if ran.code != Some(self.exit) {
            faults.push(format!("exits {:?}, not {}", ran.code, self.exit));
        }
        for word in self.mention.iter().filter(|word| !said.contains(**word)) {
            faults.push(format!("does not mention {word:?}"));
        }
        for word in self.forbid.iter().filter(|word| said.contains(**word)) {
            faults.push(format!("mentions {word:?}"));
        }
        if folder.json("v.json")["exit_code"] != json!(self.exit) {
            faults.push("the verdict has another exit code".to_owned());
        }
        let indent = |text: &str| text.replace('\n', "\n      ");
        (!faults.is_empty()).then(|| {
            format!(
                "  {}: {}\n      {}\n      {}",
                self.name,
                faults.join("; "),
                indent(&ran.stdout),
                indent(&ran.stderr)
            )
        })
    }
}

/// Runs every row and shows all that fall short.
#[track_caller]
pub(crate) fn judge(cases: &[Case]) {
    let faults: Vec<String> = cases.iter().filter_map(Case::faults).collect();
    assert!(
        faults.is_empty(),
        "{} of {} cases:\n{}",
        faults.len(),
        cases.len(),
        faults.join("\n")
    );
}

/// The text of an input file.
pub(crate) struct Text(pub(crate) String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.to_owned())
    }
}

impl From<Value> for Text {
    fn from(value: Value) -> Self {
        Text(value.to_string())
    }
}

impl From<Full> for Text {
    fn from(full: Full) -> Self {
        Text(full.0.to_string())
    }
}

/// Results in the full shape, of which a test changes what it is about.
#[derive(Clone)]
pub(crate) struct Full(pub(crate) Value);

impl Full {
    /// One metric with range [0, 1], samples q000, q001, …
    pub(crate) fn of(metric: &str, scores: impl IntoIterator<Item = f64>) -> Self {
        Self::without_range(metric, scores).set(
            "/run/metrics",
            json!({metric: {"version": "1", "direction": "higher", "range": [0, 1]}}),
        )
    }

    /// One metric of which the run says nothing.
    pub(crate) fn without_range(metric: &str, scores: impl IntoIterator<Item = f64>) -> Self {
        let samples: Vec<Value> = scores
            .into_iter()
            .enumerate()
            .map(|(index, score)| json!({"id": format!("q{index:03}"), "scores": {metric: score}}))
            .collect();
        Full(json!({
            "schema": "rag-gate/results/1",
            "run": {
                "id": "1", "started_at": "2026-11-01T00:00:00Z", "complete": true,
                "tool": {"name": "test", "version": "1"},
                "dataset": {"path": "d", "sha256": "aa", "samples": samples.len()},
                "judge": {"provider": "openai", "model": "judge-a"}
            },
            "samples": samples
        }))
    }

    /// Puts a value at a JSON pointer; objects on the way are made.
    pub(crate) fn set(mut self, pointer: &str, value: Value) -> Self {
        put(&mut self.0, pointer, value);
        self
    }

    /// Takes away what stands at a JSON pointer.
    pub(crate) fn without(mut self, pointer: &str) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = self.0.pointer_mut(parent).unwrap();
        parent.as_object_mut().unwrap().remove(key).unwrap();
        self
    }

    /// Changes every sample.
    pub(crate) fn each(mut self, mut change: impl FnMut(usize, &mut Value)) -> Self {
        for (index, sample) in self.samples().iter_mut().enumerate() {
            change(index, sample);
        }
        self
    }

    /// The samples for which a condition on their number holds.
    pub(crate) fn only(mut self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let mut index = 0;
        self.samples().retain(|_| {
            index += 1;
            keep(index - 1)
        });
        self
    }

    /// Turns the scores of the first so many samples into failures.
    pub(crate) fn failing(self, metric: &str, count: usize) -> Self {
        self.each(|index, sample| {
            if index < count {
                put(sample, &format!("/scores/{metric}"), Value::Null);
                put(
                    sample,
                    &format!("/failures/{metric}"),
                    json!({"kind": "timeout", "message": "no answer"}),
                );
            }
        })
    }

    /// Appends the samples of another.
    pub(crate) fn and(mut self, mut other: Self) -> Self {
        let more = std::mem::take(other.samples());
        self.samples().extend(more);
        self
    }

    pub(crate) fn samples(&mut self) -> &mut Vec<Value> {
        self.0["samples"].as_array_mut().unwrap()
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }
}

/// Puts a value at a JSON pointer; objects on the way are made.
pub(crate) fn put(document: &mut Value, pointer: &str, value: Value) {
    let mut at = document;
    for key in pointer.split('/').skip(1) {
        at = match at {
            Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
            other => {
                if !other.is_object() {
                    *other = json!({});
                }
                other
                    .as_object_mut()
                    .unwrap()
                    .entry(key)
                    .or_insert(Value::Null)
            }
        };
    }
    *at = value;
}

/// The same score so many times.
pub(crate) fn same(count: usize, score: f64) -> Vec<f64> {
    vec![score; count]
}
