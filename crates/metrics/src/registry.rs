//! From the name of gate.toml to the metric.
//!
//! Each folder of metrics lists what it offers as [`Entry`]s; here a name is looked up among them, and what gate.toml says
//! beside the name is held against what the metric takes.

use gate::policy::MetricSection;

use crate::{Metric, judged, operational, retrieval, text};

/// What gate.toml says of a metric that it wants computed.
#[derive(Debug, Clone, Copy)]
pub struct Spec<'a> {
    /// Its name; a group before a dot is no part of what is computed: `retrieval.recall@5`.
    pub name: &'a str,
    /// Its table in gate.toml.
    pub section: &'a MetricSection,
    /// What stands in the files that the table names.
    pub files: &'a Files,
}

/// The content of files that a table of gate.toml names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Of `prompt`.
    pub prompt: Option<String>,
    /// Of `schema`.
    pub schema: Option<String>,
}

/// A metric that can be built, and what a person should know of it.
#[derive(Debug)]
pub struct Entry {
    /// Its name; `@k` stands for a number, such as `recall@5`.
    pub name: &'static str,
    /// What it says, in one line.
    pub about: &'static str,
    /// The formula, when it does not apply, edge cases and sources, as Markdown.
    pub definition: &'static str,
    /// The keys of its table that say what is computed, beside `kind`.
    pub keys: &'static [&'static str],
    /// What a table has to say for the metric to be built, as TOML; empty for most.
    pub example: &'static str,
    pub(crate) build: fn(&Build<'_>) -> Result<Box<dyn Metric>, BuildError>,
}

/// What an [`Entry`] builds from.
#[derive(Debug)]
pub(crate) struct Build<'a> {
    /// The whole name, with its group.
    pub(crate) name: &'a str,
    /// The number of an `@k`.
    pub(crate) k: Option<usize>,
    pub(crate) section: &'a MetricSection,
    pub(crate) files: &'a Files,
}

impl Build<'_> {
    /// The error of a key that has to be there.
    pub(crate) fn lacks(&self, key: &'static str, why: &str) -> BuildError {
        BuildError::Lacks {
            name: self.name.to_owned(),
            key,
            why: why.to_owned(),
        }
    }

    /// The error of a key whose value will not do.
    pub(crate) fn bad(&self, key: &'static str, problem: impl std::fmt::Display) -> BuildError {
        BuildError::BadValue {
            name: self.name.to_owned(),
            key,
            problem: problem.to_string(),
        }
    }
}

/// Why a metric cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Nobody knows a metric of that name.
    #[error("no metric `{name}` can be computed{}", unknown_hint(*nearest))]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// The name is known, but this version only gates what another tool computed.
    #[error(
        "`{name}` is known but not computed by this version: take it from the results of another tool"
    )]
    NotComputed {
        /// The name.
        name: String,
    },
    /// There is no such kind.
    #[error("`{name}` has an unknown kind `{kind}`{}", hint(*nearest))]
    UnknownKind {
        /// The metric.
        name: String,
        /// Its kind.
        kind: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// A name that stands for something else than the kind.
    #[error("`{name}` would be `{kind}` by its kind: a reader takes it for what its name says")]
    TwoMeanings {
        /// The metric.
        name: String,
        /// Its kind.
        kind: String,
    },
    /// A key that has to be there.
    #[error("`{name}` has no `{key}`: {why}")]
    Lacks {
        /// The metric.
        name: String,
        /// The key.
        key: &'static str,
        /// What it is for.
        why: String,
    },
    /// A key that says something to other metrics only.
    #[error("`{name}` takes no `{key}`: {}", takers(key))]
    NotTaken {
        /// The metric.
        name: String,
        /// The key.
        key: &'static str,
    },
    /// A key whose value will not do.
    #[error("`{key}` of `{name}`: {problem}")]
    BadValue {
        /// The metric.
        name: String,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A metric of the first k that does not say which.
    #[error(
        "`{name}` needs how many of the first passages count: write `{stem}@5`, or another number from 1"
    )]
    NoCutOff {
        /// The metric.
        name: String,
        /// What stands before the `@`.
        stem: &'static str,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!(", did you mean `{nearest}`?")
    })
}

fn unknown_hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(_) => hint(nearest),
        None => "; one of your own takes `kind = \"rubric\"` and `criteria`".to_owned(),
    }
}

fn takers(key: &str) -> String {
    let takers: Vec<&str> = entries()
        .filter(|entry| entry.keys.contains(&key))
        .map(|entry| entry.name)
        .collect();
    format!("it is for {}", takers.join(", "))
}

/// All that can be built, in the order of the docs.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        judged::ENTRIES,
        text::ENTRIES,
        retrieval::ENTRIES,
        operational::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The entry of that name or kind: `recall@5` is that of `recall@k`, and a group before a dot is no part of it.
pub fn find(kind: &str) -> Option<&'static Entry> {
    look_up(kind).map(|(entry, _)| entry)
}

fn look_up(kind: &str) -> Option<(&'static Entry, Option<usize>)> {
    let kind = kind.rsplit_once('.').map_or(kind, |(_, kind)| kind);
    if let Some(entry) = entries().find(|entry| entry.name == kind && !kind.ends_with("@k")) {
        return Some((entry, None));
    }
    let (stem, k) = kind.split_once('@')?;
    // No more digits than the gate reads, so that both know the same names.
    let k = k.parse::<u32>().ok().filter(|k| *k > 0)?;
    let entry = entries().find(|entry| entry.name.strip_suffix("@k") == Some(stem))?;
    Some((entry, Some(usize::try_from(k).unwrap_or(usize::MAX))))
}

/// The metric of that name or kind.
///
/// # Errors
///
/// [`BuildError`] says what is wrong with the name or with what belongs to it.
pub fn build(spec: &Spec<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let name = spec.name;
    let said = spec.section.kind.as_deref();
    let kind = said.unwrap_or(name);
    let kind = kind.rsplit_once('.').map_or(kind, |(_, kind)| kind);
    if let (Some(by_name), Some(_)) = (gate::known::find(name), said)
        && gate::known::find(kind).is_none_or(|by_kind| by_kind.name != by_name.name)
    {
        return Err(BuildError::TwoMeanings {
            name: name.to_owned(),
            kind: kind.to_owned(),
        });
    }
    let Some((entry, k)) = look_up(kind) else {
        return Err(unknown(spec, kind));
    };
    if let Some(key) = keys(spec.section).find(|key| !entry.keys.contains(key)) {
        return Err(BuildError::NotTaken {
            name: name.to_owned(),
            key,
        });
    }
    (entry.build)(&Build {
        name,
        k,
        section: spec.section,
        files: spec.files,
    })
}

/// The metric of a name that says all there is to say.
///
/// # Errors
///
/// [`BuildError`], also of a metric that needs more than a name.
pub fn by_name(name: &str) -> Result<Box<dyn Metric>, BuildError> {
    build(&Spec {
        name,
        section: &MetricSection::default(),
        files: &Files::default(),
    })
}

/// The keys of a table that say what is computed, as far as they are given, but for `kind`.
fn keys(section: &MetricSection) -> impl Iterator<Item = &'static str> {
    [
        ("criteria", section.criteria.is_some()),
        ("scale", section.scale.is_some()),
        ("anchors", section.anchors.is_some()),
        ("steps", section.steps.is_some()),
        ("prompt", section.prompt.is_some()),
        ("command", section.command.is_some()),
        ("timeout", section.timeout.is_some()),
        ("path", section.path.is_some()),
        ("measure", section.measure.is_some()),
        ("stemmer", section.stemmer.is_some()),
        ("tokenizer", section.tokenizer.is_some()),
        ("similarity", section.similarity.is_some()),
        ("values", section.values.is_some()),
        ("require", section.require.is_some()),
        ("pattern", section.pattern.is_some()),
        ("ignore_case", section.ignore_case.is_some()),
        ("schema", section.schema.is_some()),
        ("at_least", section.at_least.is_some()),
        ("at_most", section.at_most.is_some()),
        ("unit", section.unit.is_some()),
        ("language", section.language.is_some()),
        ("by", section.by.is_some()),
        ("threshold", section.threshold.is_some()),
        ("against", section.against.is_some()),
        ("questions", section.questions.is_some()),
        ("weights", section.weights.is_some()),
    ]
    .into_iter()
    .filter_map(|(key, is_given)| is_given.then_some(key))
}

fn unknown(spec: &Spec<'_>, kind: &str) -> BuildError {
    let name = spec.name.to_owned();
    let needs_k = |entry: &&Entry| {
        let stem = entry.name.strip_suffix("@k");
        stem.is_some_and(|stem| {
            let rest = kind.strip_prefix(stem);
            rest.is_some_and(|rest| rest.is_empty() || rest == "_at_k" || rest.starts_with('@'))
        })
    };
    if let Some(stem) = entries()
        .find(needs_k)
        .and_then(|entry| entry.name.strip_suffix("@k"))
    {
        return BuildError::NoCutOff { name, stem };
    }
    if gate::known::find(kind).is_some() {
        return BuildError::NotComputed {
            name: kind.to_owned(),
        };
    }
    let nearest = nearest(kind);
    match &spec.section.kind {
        Some(kind) => BuildError::UnknownKind {
            name,
            kind: kind.clone(),
            nearest,
        },
        None => BuildError::Unknown { name, nearest },
    }
}

/// The name that a person most likely meant; `None` when none is near.
fn nearest(wrong: &str) -> Option<&'static str> {
    entries()
        .map(|entry| (strsim::jaro_winkler(wrong, entry.name), entry.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

/// Builds metrics for tests.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The metric of that name, with the rest of its table as TOML.
    pub(crate) fn built(name: &str, table: &str) -> Result<Box<dyn Metric>, BuildError> {
        let section: MetricSection = toml::from_str(table).unwrap();
        let files = Files {
            schema: section.schema.as_ref().map(|_| "{}".to_owned()),
            ..Files::default()
        };
        build(&Spec {
            name,
            section: &section,
            files: &files,
        })
    }

    fn error(name: &str, table: &str) -> String {
        built(name, table).map_or_else(|error| error.to_string(), |metric| format!("{metric:?}"))
    }

    #[test]
    fn names_agree_with_what_the_gate_knows() {
        for entry in entries() {
            let name = entry.name.replace("@k", "@5");
            let metric = built(&name, entry.example).unwrap();
            let info = metric.info();
            assert_eq!(info.name, name);
            assert_eq!(info.prompt_sha256.is_some(), info.judged, "{name}");
            assert_eq!(metric.prompt().is_some(), info.judged, "{name}");
            assert_eq!(info.calls > 0, info.judged, "{name}");
            if entry.example.contains("kind") {
                continue;
            }
            let known = gate::known::find(&name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(
                (info.direction, info.range, info.judged),
                (known.direction, known.range, known.judged),
                "{name}"
            );
        }
    }

    #[test]
    fn names_are_unique_and_explained() {
        let mut names: Vec<&str> = entries().map(|entry| entry.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for entry in entries() {
            assert!(
                !entry.about.is_empty() && !entry.about.ends_with('.'),
                "{}",
                entry.name
            );
            assert!(
                entry.definition.len() > 80,
                "{} has no definition",
                entry.name
            );
        }
    }

    #[test]
    fn a_known_name_is_built_or_said_not_to_be() {
        for known in gate::known::KNOWN {
            let name = known.name.replace("_at_k", "@3");
            let example = find(&name).map_or("", |entry| entry.example);
            match built(&name, example) {
                Ok(metric) => assert_eq!(metric.info().name, name),
                Err(error) => assert_eq!(error, BuildError::NotComputed { name }),
            }
        }
    }

    #[test]
    fn a_group_and_a_kind_change_the_name_alone() {
        let grouped = built("retrieval.recall@5", "").unwrap();
        assert_eq!(grouped.info().name, "retrieval.recall@5");
        let other = built("found", "kind = 'hit_rate@3'").unwrap();
        assert_eq!(other.info().name, "found");
        assert!(format!("{other:?}").contains("HitRate"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let errors = [
            error("faithfullness", ""),
            error("politeness", ""),
            error("recall_at_k", ""),
            error("recall@0", ""),
            error("tone", "kind = 'rubric'"),
            error("token_f1", "criteria = 'x'"),
            error("tone", "kind = 'rubrik'"),
        ];
        insta::assert_snapshot!(errors.join("\n"), @r#"
        no metric `faithfullness` can be computed, did you mean `faithfulness`?
        no metric `politeness` can be computed; one of your own takes `kind = "rubric"` and `criteria`
        `recall_at_k` needs how many of the first passages count: write `recall@5`, or another number from 1
        `recall@0` needs how many of the first passages count: write `recall@5`, or another number from 1
        `tone` has no `criteria`: say in it what a good answer does
        `token_f1` takes no `criteria`: it is for rubric, yes_no, g_eval
        `tone` has an unknown kind `rubrik`, did you mean `rubric`?
        "#);
    }
}
