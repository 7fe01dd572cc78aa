//! Which ref a change is to be judged by, when nobody names one.

use std::env;

use serde_json::Value;

use crate::error::Error;
use crate::git::Repository;

/// A ref and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The ref, as it was found.
    pub(crate) name: String,
    /// The commit it names.
    pub(crate) commit: String,
    /// A clause for the report.
    pub(crate) by: String,
}

/// Finds the base of the change that is checked out.
///
/// What a pull request's author can set must not choose the base: `HEAD^1` is trusted only when HEAD is the merge commit
/// that the event names.
pub(crate) fn find_base(repository: &Repository) -> Result<Found, Error> {
    let event = event();
    let head = repository.commit("HEAD")?.ok_or_else(|| Error::Git {
        message: "the git repository has no commit yet".to_owned(),
        help: None,
    })?;
    let kind = env::var("GITHUB_EVENT_NAME").unwrap_or_default();
    let event = event.as_ref();
    let at = |pointer: &str| event.and_then(|event| event.pointer(pointer)?.as_str());
    match kind.as_str() {
        "pull_request" | "pull_request_target" => {
            if let Some(found) = merge_checkout(repository, &head, event)? {
                return Ok(found);
            }
            if let Some(base) = at("/pull_request/base/sha") {
                let base = fetched(repository, base, "the base of the pull request")?;
                let common = repository.merge_base(&base, &head)?;
                let by = "the merge base of HEAD with the pull request's base".to_owned();
                return found_commit(common, &base, by);
            }
        }
        "merge_group" => {
            if let Some(base) = at("/merge_group/base_sha") {
                let commit = fetched(repository, base, "merge_group.base_sha")?;
                return Ok(Found {
                    name: base.to_owned(),
                    commit,
                    by: "merge_group.base_sha of the event".to_owned(),
                });
            }
        }
        "push" => {
            if let Some(before) = at("/before").filter(|sha| !sha.chars().all(|c| c == '0')) {
                let commit = fetched(repository, before, "push.before")?;
                return Ok(Found {
                    name: before.to_owned(),
                    commit,
                    by: "push.before of the event".to_owned(),
                });
            }
        }
        _ => {}
    }
    default_branch(repository, &head, at("/repository/default_branch"))
}

/// The commit of a ref, or how to fetch it.
pub(crate) fn fetched(repository: &Repository, name: &str, what: &str) -> Result<String, Error> {
    repository.commit(name)?.ok_or_else(|| {
        let target = name.strip_prefix("origin/").unwrap_or(name);
        let command = match name {
            "HEAD^1" | "HEAD^" => "git fetch --no-tags --deepen=1".to_owned(),
            // An expression about history needs the history.
            _ if name.contains(['^', '~', '@', ':']) => {
                "git fetch --no-tags --unshallow".to_owned()
            }
            _ if name.starts_with("origin/") => {
                format!("git fetch --no-tags --depth=1 origin {target}:refs/remotes/{name}")
            }
            _ => format!("git fetch --no-tags --depth=1 origin {target}"),
        };
        Error::Git {
            message: format!("{what} ({name}) is not in this clone"),
            help: Some(format!(
                "fetch it: {command} (with actions/checkout: fetch-depth: 0)"
            )),
        }
    })
}

/// `HEAD^1`, when HEAD is the test merge of the pull request that the event is about.
fn merge_checkout(
    repository: &Repository,
    head: &str,
    event: Option<&Value>,
) -> Result<Option<Found>, Error> {
    let at = |pointer: &str| event.and_then(|event| event.pointer(pointer)?.as_str());
    let named = [
        env::var("GITHUB_SHA").ok(),
        at("/pull_request/merge_commit_sha").map(str::to_owned),
    ]
    .into_iter()
    .flatten()
    .any(|sha| sha == head);
    let parents = repository.parents(head)?;
    let merges_the_head = match (parents.as_slice(), at("/pull_request/head/sha")) {
        ([_, second], Some(sha)) => second == sha,
        _ => false,
    };
    let (true, true, [first, _]) = (named, merges_the_head, parents.as_slice()) else {
        return Ok(None);
    };
    if repository.commit(first)?.is_none() {
        fetched(repository, "HEAD^1", "the base of the merge commit")?;
    }
    Ok(Some(Found {
        name: "HEAD^1".to_owned(),
        commit: first.clone(),
        by: "the first parent of the pull request's merge commit".to_owned(),
    }))
}

fn default_branch(
    repository: &Repository,
    head: &str,
    named: Option<&str>,
) -> Result<Found, Error> {
    let mut candidates: Vec<String> = named
        .into_iter()
        .flat_map(|name| [format!("origin/{name}"), name.to_owned()])
        .collect();
    candidates.extend(
        [
            "origin/HEAD",
            "origin/main",
            "origin/master",
            "main",
            "master",
        ]
        .map(str::to_owned),
    );
    for name in candidates {
        if let Some(tip) = repository.commit(&name)? {
            let common = repository.merge_base(&tip, head)?;
            return found_commit(common, &name, format!("the merge base of HEAD with {name}"));
        }
    }
    Err(Error::Git {
        message: "--base auto found no base: no event names one, and there is no default branch to compare with".to_owned(),
        help: Some("name it: --base origin/main".to_owned()),
    })
}

fn found_commit(commit: Option<String>, name: &str, by: String) -> Result<Found, Error> {
    match commit {
        Some(commit) => Ok(Found {
            name: name.to_owned(),
            commit,
            by,
        }),
        None => Err(Error::Git {
            message: format!("HEAD and {name} have no common commit in this clone"),
            help: Some("fetch the history: git fetch --no-tags --unshallow (with actions/checkout: fetch-depth: 0)".to_owned()),
        }),
    }
}

/// The event of GitHub that started the job.
fn event() -> Option<Value> {
    let path = env::var_os("GITHUB_EVENT_PATH")?;
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
