//! The console blocks of README.md and docs/ print what they say.
//!
//! A page is run from its first block to its last in a folder of its own, which holds copies of gate.toml, `baseline/`
//! and the fixtures: what one block writes, the next one reads. The page is then written anew with the output that was
//! really printed, and has to be equal to itself. `SNAPSHOTS=overwrite` accepts the new output.
//!
//! - In a `console` block, `$ ` begins a command for `sh`, `> ` continues it, and what follows is the output of both
//!   streams. Commands that fail have to be followed by `$ echo $?`, once for a row that fails alike: a page
//!   hides no exit code.
//! - `<!-- file: PATH -->` before a block writes the block into the file, `<!-- folder: PATH -->` changes the folder.
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use snapbox::{Assert, Data, IntoData};

/// What the pages find in their folder.
const PROVIDED: [&str; 6] = [
    "gate.toml",
    "baseline",
    "fixtures/agreement",
    "fixtures/aragog",
    "fixtures/latencies.json",
    "fixtures/mtrag",
];

#[test]
fn readme_prints_what_it_says() {
    run_page("README.md");
}

#[test]
fn every_page_of_the_book_prints_what_it_says() {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() > 5, "docs/ has pages");
    for page in pages {
        run_page(page.strip_prefix(root()).unwrap().to_str().unwrap());
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("a crate lies two folders below the root")
        .to_owned()
}

fn run_page(name: &str) {
    let path = root().join(name);
    let page = fs::read_to_string(&path).unwrap();
    let printed = Page::new().run(&page, name);
    // The text counts as it stands, without wildcards.
    let expected = Data::read_from(&path, None).raw();
    Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false)
        .eq(printed.into_data().raw(), expected);
}

/// The folder of a page, and where its commands run.
struct Page {
    folder: tempfile::TempDir,
    current: PathBuf,
    /// How the last command ended.
    status: i32,
    /// A status that is not 0 and that no `echo $?` has shown yet.
    hidden: Option<i32>,
}

impl Page {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in PROVIDED {
            copy(&root().join(name), &folder.path().join(name));
        }
        Page {
            current: folder.path().to_owned(),
            folder,
            status: 0,
            hidden: None,
        }
    }

    /// The page with the output that its commands print.
    fn run(&mut self, page: &str, name: &str) -> String {
        let mut result = String::new();
        let mut file = None;
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            result.push_str(line);
            result.push('\n');
            if let Some(path) = directive(line, "folder") {
                self.current = self.folder.path().join(path);
                fs::create_dir_all(&self.current).unwrap();
            } else if let Some(path) = directive(line, "file") {
                file = Some(self.current.join(path));
            } else if let Some(info) = line.strip_prefix("```") {
                let content: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                if let Some(path) = file.take() {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, content.join("\n") + "\n").unwrap();
                }
                if info == "console" {
                    self.block(&content, name, &mut result);
                } else {
                    for line in content {
                        result.push_str(line);
                        result.push('\n');
                    }
                }
                result.push_str("```\n");
            }
        }
        assert_eq!(
            self.hidden, None,
            "{name} ends with a failure that it hides"
        );
        result
    }

    fn block(&mut self, content: &[&str], name: &str, result: &mut String) {
        let mut lines = content.iter().peekable();
        while let Some(line) = lines.next() {
            // Output of the command before, which was printed anew.
            let Some(first) = line.strip_prefix("$ ") else {
                continue;
            };
            let mut command = first.to_owned();
            result.push_str(line);
            result.push('\n');
            while let Some(more) = lines.peek().and_then(|line| line.strip_prefix("> ")) {
                command.push('\n');
                command.push_str(more);
                result.push_str("> ");
                result.push_str(more);
                result.push('\n');
                lines.next();
            }
            let before = self.hidden;
            let output = self.command(&command);
            result.push_str(&output);
            self.hidden = match (command.contains("$?"), before, self.status) {
                (false, Some(before), status) => {
                    assert_eq!(
                        status, before,
                        "{name}: no `echo $?` between `{command}` and the one before"
                    );
                    Some(status)
                }
                (true, _, _) | (false, None, 0) => None,
                (false, None, status) => Some(status),
            };
        }
    }

    fn command(&mut self, command: &str) -> String {
        let script = format!("exec 2>&1\n(exit {})\n{command}", self.status);
        let binaries = Path::new(env!("CARGO_BIN_EXE_rag-gate")).parent().unwrap();
        let mut path = OsString::from(binaries);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&self.current)
            .stdin(Stdio::null())
            // Nothing of the machine, and nothing of the CI that runs this test.
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .envs(GIT)
            .output()
            .unwrap();
        self.status = output.status.code().unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Commits that are the same on every machine.
const GIT: [(&str, &str); 9] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_AUTHOR_DATE", "2026-01-05T12:00:00Z"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_DATE", "2026-01-05T12:00:00Z"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// What `<!-- NAME: VALUE -->` says.
fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix("<!-- ")?
        .strip_prefix(name)?
        .strip_prefix(": ")?
        .strip_suffix(" -->")
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}
