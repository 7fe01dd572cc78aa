//! The files that tables of `[metrics]` name: prompts and schemas.
//!
//! They are read before anything is called, and are a part of the configuration: their hashes belong to its hash.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use gate::policy::Policy;
use indexmap::IndexMap;
use metrics::Files;
use toml::Spanned;

use super::place::Place;
use crate::error::Error;
use crate::input;

/// A prompt or a schema is a page or two; a larger file is another one.
const MAX_MIB: u64 = 1;

/// What stands in the files, by metric.
#[derive(Debug, Default)]
pub(crate) struct MetricFiles {
    by_metric: IndexMap<String, Files>,
    /// Each file once, with its hash: by its name in gate.toml.
    read: BTreeMap<String, (PathBuf, String)>,
    none: Files,
}

impl MetricFiles {
    /// Reads them all. Their paths are relative to `folder`, that of gate.toml.
    pub(crate) fn of(
        policy: &Policy,
        folder: &Path,
        place: &Place<'_>,
    ) -> Result<MetricFiles, Error> {
        let mut files = MetricFiles::default();
        for (name, section) in policy.file().metrics.iter().flatten() {
            let name = name.get_ref();
            let found = Files {
                prompt: files.read(name, "prompt", section.prompt.as_ref(), folder, place)?,
                schema: files.read(name, "schema", section.schema.as_ref(), folder, place)?,
            };
            files.by_metric.insert(name.clone(), found);
        }
        Ok(files)
    }

    fn read(
        &mut self,
        metric: &str,
        key: &str,
        named: Option<&Spanned<String>>,
        folder: &Path,
        place: &Place<'_>,
    ) -> Result<Option<String>, Error> {
        let Some(named) = named else {
            return Ok(None);
        };
        let path = folder.join(named.get_ref());
        let text = input::small_text(&path, MAX_MIB).map_err(|error| {
            let file = path.display();
            place.error(
                format!("the {key} of `{metric}` cannot be read from {file}: {error}"),
                Some(
                    "a path is relative to gate.toml; the file is UTF-8 text of at most 1 MiB"
                        .to_owned(),
                ),
                Some(named.span()),
            )
        })?;
        let hash = input::sha256(text.as_bytes());
        self.read.insert(named.get_ref().clone(), (path, hash));
        Ok(Some(text))
    }

    /// The files of a metric.
    pub(crate) fn of_metric(&self, name: &str) -> &Files {
        self.by_metric.get(name).unwrap_or(&self.none)
    }

    /// Where they are: results must not be written over them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.read.values().map(|(path, _)| path.as_path())
    }

    /// SHA-256 of gate.toml and of all that it names; of its text alone where it names no file.
    pub(crate) fn sha256_with(&self, gate_toml: &str) -> String {
        if self.read.is_empty() {
            return input::sha256(gate_toml.as_bytes());
        }
        let mut whole = input::sha256(gate_toml.as_bytes());
        for (name, (_, hash)) in &self.read {
            let _ = write!(whole, "\n{hash} {name}");
        }
        input::sha256(whole.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path, gate_toml: &str) -> MetricFiles {
        let place = Place {
            config: None,
            text: None,
        };
        MetricFiles::of(&Policy::parse(gate_toml).unwrap(), folder, &place).unwrap()
    }

    #[test]
    fn what_a_file_says_is_a_part_of_the_configuration() {
        const GATE: &str = "[metrics.a]\nprompt = 'p.md'\n[metrics.b]\nprompt = 'p.md'\nschema = 's.json'\n[metrics.c]\n";
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("p.md"), b"\xef\xbb\xbfJudge.").unwrap();
        std::fs::write(path("s.json"), "{}").unwrap();
        let before = files(folder.path(), GATE);
        assert_eq!(before.of_metric("a").prompt.as_deref(), Some("Judge."));
        assert_eq!(before.of_metric("a").schema, None);
        assert_eq!(before.of_metric("b").schema.as_deref(), Some("{}"));
        assert_eq!(before.of_metric("c"), &Files::default());
        let paths: Vec<&Path> = before.paths().collect();
        assert_eq!(paths, [path("p.md"), path("s.json")]);
        assert_eq!(
            before.sha256_with(GATE),
            files(folder.path(), GATE).sha256_with(GATE)
        );
        std::fs::write(path("s.json"), "[]").unwrap();
        let after = files(folder.path(), GATE);
        assert_ne!(before.sha256_with(GATE), after.sha256_with(GATE));
    }

    #[test]
    fn without_files_the_hash_is_that_of_gate_toml() {
        let none = files(Path::new(""), "[metrics.a]");
        assert_eq!(none.sha256_with("x"), input::sha256(b"x"));
    }
}
