//! The git command: the only place that starts it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::error::Error;

/// A git repository.
#[derive(Debug)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository around the current folder.
    pub(crate) fn here() -> Result<Self, Error> {
        let output = git(Path::new("."), &["rev-parse", "--show-toplevel"])?;
        if !output.status.success() {
            return Err(Error::Git {
                message: "--base needs a git repository, and this is none".to_owned(),
                help: Some(stderr(&output)).filter(|text| !text.is_empty()),
            });
        }
        let root = PathBuf::from(stdout(&output));
        Ok(Repository {
            root: std::fs::canonicalize(&root).unwrap_or(root),
        })
    }

    /// The commit that a ref names; `None` when it is not there.
    pub(crate) fn commit(&self, name: &str) -> Result<Option<String>, Error> {
        if name.is_empty() || name.starts_with('-') {
            return Err(Error::usage(format!("`{name}` is no git ref")));
        }
        let name = format!("{name}^{{commit}}");
        let output = git(
            &self.root,
            &[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &name,
            ],
        )?;
        Ok(output.status.success().then(|| stdout(&output)))
    }

    /// Parents that the commit names, whether they were fetched or not.
    pub(crate) fn parents(&self, commit: &str) -> Result<Vec<String>, Error> {
        let output = git(&self.root, &["cat-file", "commit", commit])?;
        Ok(stdout(&output)
            .lines()
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.strip_prefix("parent "))
            .map(str::to_owned)
            .collect())
    }

    /// The best common ancestor of two commits.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, Error> {
        let output = git(&self.root, &["merge-base", one, other])?;
        Ok(output.status.success().then(|| stdout(&output)))
    }

    /// Content of a file at a commit; `None` when it has no such file.
    pub(crate) fn file(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let name = format!("{commit}:{path}");
        let kind = git(&self.root, &["cat-file", "-t", &name])?;
        if !kind.status.success() || stdout(&kind) != "blob" {
            return Ok(None);
        }
        let output = git(&self.root, &["cat-file", "blob", &name])?;
        if !output.status.success() {
            return Err(Error::Git {
                message: format!("git could not read {path} of {commit}"),
                help: Some(stderr(&output)).filter(|text| !text.is_empty()),
            });
        }
        if output.stdout.starts_with(b"version https://git-lfs") {
            return Err(Error::Git {
                message: format!("{path} of {commit} is a Git LFS pointer, not the file"),
                help: Some("keep gate.toml, baseline and history out of Git LFS: they are the record that judges".to_owned()),
            });
        }
        Ok(Some(output.stdout))
    }

    /// When a file was last changed, as of a commit: RFC 3339.
    pub(crate) fn changed_at(&self, commit: &str, path: &str) -> Option<String> {
        let output = git(
            &self.root,
            &["log", "-1", "--format=%cI", commit, "--", path],
        )
        .ok()?;
        Some(stdout(&output)).filter(|at| !at.is_empty())
    }

    /// When a commit was made: RFC 3339.
    pub(crate) fn committed_at(&self, commit: &str) -> Option<String> {
        let output = git(&self.root, &["show", "-s", "--format=%cI", commit]).ok()?;
        Some(stdout(&output)).filter(|at| !at.is_empty())
    }

    /// A path of the working tree as git names it: relative to the root, with `/`.
    pub(crate) fn relative(&self, path: &Path) -> Result<String, Error> {
        let absolute = absolute(path);
        absolute
            .strip_prefix(&self.root)
            .ok()
            .and_then(|relative| {
                let parts: Option<Vec<&str>> = relative
                    .components()
                    .map(|part| part.as_os_str().to_str())
                    .collect();
                parts.map(|parts| parts.join("/"))
            })
            .filter(|relative| !relative.is_empty())
            .ok_or_else(|| Error::Usage {
                message: format!("{} is outside the git repository", path.display()),
                help: Some(
                    "--base reads gate.toml and baseline from git, so both have to be in it"
                        .to_owned(),
                ),
            })
    }
}

/// What the provenance of a run needs.
#[cfg(feature = "runner")]
impl Repository {
    /// The repository around a folder; `None` when there is none, or no git.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        let output = git(folder, &["rev-parse", "--show-toplevel"]).ok()?;
        output.status.success().then(|| Repository {
            root: PathBuf::from(stdout(&output)),
        })
    }

    /// The branch that is checked out; `None` when HEAD is detached.
    pub(crate) fn branch(&self) -> Option<String> {
        let output = git(&self.root, &["symbolic-ref", "--short", "--quiet", "HEAD"]).ok()?;
        Some(stdout(&output)).filter(|branch| output.status.success() && !branch.is_empty())
    }

    /// Whether files under version control have changes that are not committed; `None` when git does not say.
    pub(crate) fn is_dirty(&self) -> Option<bool> {
        let output = git(
            &self.root,
            &[
                // Looking must not disturb a git that works at the same time.
                "--no-optional-locks",
                "status",
                "--porcelain",
                "--untracked-files=no",
            ],
        )
        .ok()?;
        output.status.success().then_some(!output.stdout.is_empty())
    }
}

/// The absolute path without links and dots, also of a file that does not exist.
fn absolute(path: &Path) -> PathBuf {
    if let Ok(found) = std::fs::canonicalize(path) {
        return found;
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = if parent == path {
        parent.to_owned()
    } else if let Ok(found) = std::fs::canonicalize(parent) {
        found
    } else {
        absolute(parent)
    };
    match path.file_name() {
        Some(name) => folder.join(name),
        None => folder,
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<Output, Error> {
    Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        // The answers are read by a program, whatever language the user speaks.
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| Error::Git {
            message: format!("could not start git: {error}"),
            help: Some("--base needs the git command on the PATH".to_owned()),
        })
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}
