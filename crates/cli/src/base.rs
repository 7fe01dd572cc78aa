//! The trusted base: policy, baseline and history from git, and what the change under test did to them.
//!
//! A pull request can change its own threshold. Here it is judged by the base's, and the change of the threshold is a
//! headline.

use std::path::{Path, PathBuf};

use gate::number;
use gate::results::{Keep, Results};
use gate::verdict::{Base, Change};
use toml::Value;

use crate::ci::{self, Found};
use crate::error::Error;
use crate::git::Repository;
use crate::input;

/// The sections of gate.toml that judge; the others only say what is measured.
const JUDGING: [&str; 5] = ["gate", "metrics", "slices", "id", "baseline"];

/// Most changes of one file that are listed one by one.
const LISTED: usize = 20;

/// A commit whose files are trusted.
#[derive(Debug)]
pub(crate) struct Trusted {
    repository: Repository,
    found: Found,
    asked: String,
}

impl Trusted {
    /// The commit that `--base` names.
    pub(crate) fn find(asked: &str) -> Result<Trusted, Error> {
        let repository = Repository::here()?;
        let found = if asked == "auto" {
            ci::find_base(&repository)?
        } else {
            Found {
                name: asked.to_owned(),
                commit: ci::fetched(&repository, asked, "the base")?,
                by: "named on the command line".to_owned(),
            }
        };
        Ok(Trusted {
            repository,
            found,
            asked: asked.to_owned(),
        })
    }

    /// `path at 1a2b3c4d`, for messages.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        let commit = self.found.commit.get(..8).unwrap_or(&self.found.commit);
        format!("{} of {commit}", path.display())
    }

    /// A file of the base; `None` when the base has no such file.
    pub(crate) fn file(&self, path: &Path) -> Result<Option<Vec<u8>>, Error> {
        let relative = self.repository.relative(path)?;
        self.repository.file(&self.found.commit, &relative)
    }

    /// A text file of the base.
    pub(crate) fn text(&self, path: &Path) -> Result<Option<String>, Error> {
        match self.file(path)? {
            None => Ok(None),
            Some(bytes) => input::text_from(bytes.as_slice(), &self.name_of(path)).map(Some),
        }
    }

    /// What the verdict says about the base.
    pub(crate) fn describe(
        &self,
        baseline_path: Option<&Path>,
        results: &Results,
        baseline: Option<&Results>,
        changes: Vec<Change>,
    ) -> Base {
        Base {
            r#ref: match self.asked.as_str() {
                "auto" => self.found.name.clone(),
                asked => asked.to_owned(),
            },
            commit: self.found.commit.clone(),
            found_by: (self.asked == "auto").then(|| self.found.by.clone()),
            baseline_age_days: self.age(baseline_path, results, baseline),
            changes,
        }
    }

    /// Days from the acceptance of the baseline to the run. Not to today: the same input gives the same verdict.
    fn age(
        &self,
        baseline_path: Option<&Path>,
        results: &Results,
        baseline: Option<&Results>,
    ) -> Option<i64> {
        let time = |text: String| text.parse::<jiff::Timestamp>().ok();
        let accepted = baseline?
            .accepted
            .as_ref()
            .and_then(|accepted| time(accepted.at.clone()?))
            .or_else(|| {
                let relative = self.repository.relative(baseline_path?).ok()?;
                time(self.repository.changed_at(&self.found.commit, &relative)?)
            })?;
        let run = results
            .run
            .started_at
            .clone()
            .and_then(time)
            .or_else(|| time(self.repository.committed_at("HEAD")?))?;
        let hours = run.duration_since(accepted).as_hours();
        (hours >= 0).then_some(hours / 24)
    }
}

/// What a change did to gate.toml, key by key.
pub(crate) fn policy_changes(path: &Path, base: Option<&str>, head: Option<&str>) -> Vec<Change> {
    let file = path.display().to_string();
    let (Some(base), Some(head)) = (base, head) else {
        return match (base, head) {
            (Some(_), None) => vec![Change {
                message: format!("this change deletes {file}; it was judged by the base's"),
                file,
                key: None,
                base: Some("present".to_owned()),
                head: None,
            }],
            _ => Vec::new(),
        };
    };
    let (base, head) = (flat(base), flat(head));
    let mut changes = Vec::new();
    for (key, before) in &base {
        let now = head
            .iter()
            .find(|(other, _)| other == key)
            .map(|(_, now)| now);
        if now != Some(before) {
            changes.push(key_change(&file, key, Some(before), now));
        }
    }
    for (key, now) in &head {
        if !base.iter().any(|(other, _)| other == key) {
            changes.push(key_change(&file, key, None, Some(now)));
        }
    }
    shortened(changes, &file)
}

/// Every value of a TOML document with its dotted key.
fn flat(text: &str) -> Vec<(String, Value)> {
    fn walk(prefix: &str, value: Value, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Table(entries) => {
                for (key, value) in entries {
                    let key = if prefix.is_empty() {
                        key
                    } else {
                        format!("{prefix}.{key}")
                    };
                    walk(&key, value, found);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_table) => {
                for (index, item) in items.into_iter().enumerate() {
                    walk(&format!("{prefix}[{index}]"), item, found);
                }
            }
            other => found.push((prefix.to_owned(), other)),
        }
    }
    let mut found = Vec::new();
    if let Ok(table) = text.trim_start_matches('\u{feff}').parse::<toml::Table>() {
        walk("", Value::Table(table), &mut found);
    }
    found
}

fn key_change(file: &str, key: &str, base: Option<&Value>, head: Option<&Value>) -> Change {
    let shown = |value: &Value| match value {
        Value::Float(number) => number::limit(*number),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let judges = JUDGING.iter().any(|section| {
        key.strip_prefix(section)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    });
    let name = key.strip_prefix("metrics.").unwrap_or(key);
    let amount = |value: &Value| match value {
        Value::Float(number) => Some(*number),
        #[expect(clippy::cast_precision_loss, reason = "limits are small numbers")]
        Value::Integer(number) => Some(*number as f64),
        Value::String(text) => text.strip_suffix('%')?.trim().parse().ok(),
        _ => None,
    };
    let message = match (base, head) {
        (Some(base), Some(head)) => {
            let verb = match (amount(base), amount(head)) {
                (Some(before), Some(now)) if now < before => "lowers",
                (Some(before), Some(now)) if now > before => "raises",
                _ => "changes",
            };
            let judged = match judges {
                true => format!("; it was judged by {}", shown(base)),
                false => String::new(),
            };
            format!(
                "this change {verb} {name} from {} to {}{judged}",
                shown(base),
                shown(head)
            )
        }
        (Some(base), None) => {
            let judged = if judges { "; it was judged by it" } else { "" };
            format!("this change removes {name} = {}{judged}", shown(base))
        }
        (None, Some(head)) => {
            let judged = if judges {
                "; it was judged without it"
            } else {
                ""
            };
            format!("this change adds {name} = {}{judged}", shown(head))
        }
        (None, None) => format!("this change touches {name}"),
    };
    Change {
        file: file.to_owned(),
        key: Some(key.to_owned()),
        base: base.map(shown),
        head: head.map(shown),
        message,
    }
}

/// What a change did to the baseline: the means that it moves.
pub(crate) fn baseline_changes(
    path: &Path,
    base: Option<(&[u8], &Results)>,
    head: Option<&[u8]>,
) -> Vec<Change> {
    let file = path.display().to_string();
    let whole = |message: String, base: Option<&str>, head: Option<&str>| {
        vec![Change {
            file: file.clone(),
            key: None,
            base: base.map(str::to_owned),
            head: head.map(str::to_owned),
            message,
        }]
    };
    let (Some((base_bytes, base)), Some(head_bytes)) = (base, head) else {
        return match (base, head) {
            (Some(_), None) => whole(
                format!("this change deletes the baseline {file}; it was judged by the base's"),
                Some("present"),
                None,
            ),
            _ => Vec::new(),
        };
    };
    if base_bytes == head_bytes {
        return Vec::new();
    }
    let Ok(head) = input::results_from(head_bytes, &file, Keep::Scores) else {
        return whole(
            format!(
                "this change leaves the baseline {file} unreadable; it was judged by the base's"
            ),
            Some("present"),
            Some("unreadable"),
        );
    };
    let mut changes = Vec::new();
    let mut variants = base.variants();
    variants.extend(
        head.variants()
            .into_iter()
            .filter(|name| !base.variants().contains(name)),
    );
    for variant in variants {
        let (before, now) = (base.summaries_of(variant), head.summaries_of(variant));
        let mut metrics: Vec<&str> = before.keys().chain(now.keys()).copied().collect();
        metrics.sort_unstable();
        metrics.dedup();
        for metric in metrics {
            let mean = |of: &std::collections::BTreeMap<&str, gate::results::Summary>| {
                of.get(metric).and_then(|summary| summary.mean)
            };
            let (before, now) = (mean(&before), mean(&now));
            if before == now {
                continue;
            }
            let subject =
                variant.map_or_else(|| metric.to_owned(), |name| format!("{metric} of {name}"));
            let (old, new) = match (before, now) {
                (Some(before), Some(now)) => number::pair(before, now),
                (before, now) => {
                    let shown = |mean: Option<f64>| {
                        mean.map_or_else(|| "nothing".to_owned(), number::value)
                    };
                    (shown(before), shown(now))
                }
            };
            changes.push(Change {
                file: file.clone(),
                key: Some(subject.clone()),
                message: format!("this change edits the baseline: {subject} from {old} to {new}; it was judged by {old}"),
                base: Some(old),
                head: Some(new),
            });
        }
    }
    if changes.is_empty() {
        return whole(
            format!(
                "this change edits the baseline {file}, though no mean; it was judged by the base's"
            ),
            Some("present"),
            Some("edited"),
        );
    }
    shortened(changes, &file)
}

/// A file that the change edits, adds or deletes as a whole.
pub(crate) fn file_change(
    path: &Path,
    what: &str,
    base: Option<&[u8]>,
    head: Option<&[u8]>,
    judged: &str,
) -> Option<Change> {
    let verb = match (base, head) {
        (Some(base), Some(head)) if base == head => return None,
        (None, None) => return None,
        (Some(_), Some(_)) => "edits",
        (Some(_), None) => "deletes",
        (None, Some(_)) => "adds",
    };
    let state = |content: Option<&[u8]>| content.map(|content| format!("{} bytes", content.len()));
    let file = path.display().to_string();
    Some(Change {
        key: None,
        base: state(base),
        head: state(head),
        message: format!("this change {verb} {what} {file}{judged}"),
        file,
    })
}

/// What [`adoption`] says the change does.
pub(crate) const ADOPTED: &str = "added";

/// The change that brings the gate itself.
pub(crate) fn adoption(path: &Path, what: &str) -> Change {
    let file = path.display().to_string();
    Change {
        key: None,
        base: None,
        head: Some(ADOPTED.to_owned()),
        message: format!(
            "this change brings {what} {file}, which the base does not have: it was judged by {}",
            if what == "the policy" {
                "its own policy"
            } else {
                "absolute limits alone"
            }
        ),
        file,
    }
}

/// The content of a file of the working tree, when it is there.
pub(crate) fn in_tree(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

fn shortened(mut changes: Vec<Change>, file: &str) -> Vec<Change> {
    let more = changes.len().saturating_sub(LISTED);
    if more > 0 {
        changes.truncate(LISTED);
        changes.push(Change {
            file: file.to_owned(),
            key: None,
            base: None,
            head: None,
            message: format!("and {more} more changes of {file}"),
        });
    }
    changes
}

/// `history.jsonl` beside a baseline.
pub(crate) fn history_path(baseline: &Path) -> PathBuf {
    baseline.with_file_name("history.jsonl")
}
