//! From the name of gate.toml to the metric.

use crate::Metric;
use crate::judged::{AnswerRelevancy, ContextPrecision, ContextRecall, Faithfulness, Rubric};
use crate::retrieval::{HitRate, Recall};
use crate::text::{ExactMatch, SemanticSimilarity, TokenF1};

/// What can be built, as one writes it.
const NAMES: [&str; 11] = [
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "rubric",
    "semantic_similarity",
    "exact_match",
    "token_f1",
    "recall@k",
    "hit_rate@k",
    "hit_rate",
];

/// The scale of a rubric that names none.
const SCALE: [i64; 2] = [1, 5];

/// What gate.toml says of a metric that it wants computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spec<'a> {
    /// Its name; a group before a dot is no part of what is computed: `retrieval.recall@5`.
    pub name: &'a str,
    /// What is computed, where the name does not say it.
    pub kind: Option<&'a str>,
    /// What a rubric asks for.
    pub criteria: Option<&'a str>,
    /// Lowest and highest grade of a rubric; `[1, 5]` when it says nothing.
    pub scale: Option<[i64; 2]>,
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
    /// A rubric without criteria.
    #[error("`{name}` is a rubric without criteria: say in `criteria` what a good answer does")]
    NoCriteria {
        /// The metric.
        name: String,
    },
    /// Criteria or a scale on a metric that has its own.
    #[error(
        "`{name}` takes no `{key}`, for it is no rubric: remove it, or add `kind = \"rubric\"`"
    )]
    NotARubric {
        /// The metric.
        name: String,
        /// `criteria` or `scale`.
        key: &'static str,
    },
    /// A scale that has no grades.
    #[error("`{name}` has a scale from {low} to {high}: the first grade has to be the lower one")]
    BadScale {
        /// The metric.
        name: String,
        /// The first grade.
        low: i64,
        /// The second grade.
        high: i64,
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

/// What can be built by name; `@k` stands for a number, such as `recall@5`.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

/// The metric of that name or kind.
///
/// # Errors
///
/// [`BuildError`] says what is wrong with the name or with what belongs to it.
pub fn build(spec: &Spec<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let kind = spec.kind.unwrap_or(spec.name);
    let kind = kind.rsplit_once('.').map_or(kind, |(_, kind)| kind);
    let name = spec.name;
    if let (Some(by_name), Some(_)) = (gate::known::find(name), spec.kind)
        && gate::known::find(kind).is_none_or(|by_kind| by_kind.name != by_name.name)
    {
        return Err(BuildError::TwoMeanings {
            name: name.to_owned(),
            kind: kind.to_owned(),
        });
    }
    if kind == "rubric" {
        return rubric(spec);
    }
    let metric: Box<dyn Metric> = match kind {
        "faithfulness" => Box::new(Faithfulness::new(name)),
        "answer_relevancy" => Box::new(AnswerRelevancy::new(name)),
        "context_precision" => Box::new(ContextPrecision::new(name)),
        "context_recall" => Box::new(ContextRecall::new(name)),
        "semantic_similarity" => Box::new(SemanticSimilarity::new(name)),
        "exact_match" => Box::new(ExactMatch::new(name)),
        "token_f1" => Box::new(TokenF1::new(name)),
        "hit_rate" => Box::new(HitRate::new(name, None)),
        _ => match cut_off(kind, name)? {
            Some(("recall", k)) => Box::new(Recall::new(name, k)),
            Some((_, k)) => Box::new(HitRate::new(name, Some(k))),
            None => return Err(unknown(spec, kind)),
        },
    };
    let unwanted = [
        ("criteria", spec.criteria.is_some()),
        ("scale", spec.scale.is_some()),
    ];
    match unwanted.into_iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => Err(BuildError::NotARubric {
            name: name.to_owned(),
            key,
        }),
        None => Ok(metric),
    }
}

fn rubric(spec: &Spec<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let name = || spec.name.to_owned();
    let criteria = spec
        .criteria
        .map(str::trim)
        .filter(|criteria| !criteria.is_empty());
    let criteria = criteria.ok_or_else(|| BuildError::NoCriteria { name: name() })?;
    let [low, high] = spec.scale.unwrap_or(SCALE);
    if low >= high {
        return Err(BuildError::BadScale {
            name: name(),
            low,
            high,
        });
    }
    Ok(Box::new(Rubric::new(spec.name, criteria, [low, high])))
}

/// What stands before and after the `@` of `recall@5` and its like; `None` for any other kind.
fn cut_off(kind: &str, name: &str) -> Result<Option<(&'static str, usize)>, BuildError> {
    for (stem, general) in [("recall", "recall_at_k"), ("hit_rate", "hit_rate_at_k")] {
        let k = match kind.split_once('@') {
            Some((before, k)) if before == stem => k,
            None if kind == general || kind == stem => "",
            _ => continue,
        };
        // No more digits than the gate reads, so that both know the same names.
        return match k.parse::<u32>() {
            Ok(k) if k > 0 => Ok(Some((stem, usize::try_from(k).unwrap_or(usize::MAX)))),
            _ => Err(BuildError::NoCutOff {
                name: name.to_owned(),
                stem,
            }),
        };
    }
    Ok(None)
}

fn unknown(spec: &Spec<'_>, kind: &str) -> BuildError {
    let name = spec.name.to_owned();
    if gate::known::find(kind).is_some() {
        return BuildError::NotComputed {
            name: kind.to_owned(),
        };
    }
    let nearest = nearest(kind);
    match spec.kind {
        Some(kind) => BuildError::UnknownKind {
            name,
            kind: kind.to_owned(),
            nearest,
        },
        None => BuildError::Unknown { name, nearest },
    }
}

/// The name that a person most likely meant; `None` when none is near.
fn nearest(wrong: &str) -> Option<&'static str> {
    names()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str) -> Spec<'_> {
        Spec {
            name,
            ..Spec::default()
        }
    }

    fn error(spec: &Spec<'_>) -> String {
        build(spec).map_or_else(|error| error.to_string(), |metric| format!("{metric:?}"))
    }

    #[test]
    fn names_agree_with_what_the_gate_knows() {
        for name in names() {
            let name = name.replace("@k", "@5");
            let criteria = (name == "rubric").then_some("It is polite.");
            let metric = build(&Spec {
                criteria,
                ..spec(&name)
            })
            .unwrap();
            assert_eq!(metric.info().name, name);
            if name == "rubric" {
                continue;
            }
            let known = gate::known::find(&name).unwrap();
            let info = metric.info();
            assert_eq!(
                (info.direction, info.range, info.judged),
                (known.direction, known.range, known.judged),
                "{name}"
            );
            assert_eq!(info.prompt_sha256.is_some(), info.judged);
        }
    }

    #[test]
    fn a_known_name_is_built_or_said_not_to_be() {
        for known in gate::known::KNOWN {
            let name = known.name.replace("_at_k", "@3");
            match build(&spec(&name)) {
                Ok(metric) => assert_eq!(metric.info().name, name),
                Err(error) => assert_eq!(error, BuildError::NotComputed { name }),
            }
        }
    }

    #[test]
    fn a_group_and_a_kind_change_the_name_alone() {
        let grouped = build(&spec("retrieval.recall@5")).unwrap();
        assert_eq!(grouped.info().name, "retrieval.recall@5");
        let kind = Some("hit_rate@3");
        let other = build(&Spec {
            kind,
            ..spec("found")
        })
        .unwrap();
        assert_eq!(other.info().name, "found");
        assert!(format!("{other:?}").contains("HitRate"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let rubric = Spec {
            kind: Some("rubric"),
            ..spec("tone")
        };
        let unmeant = Spec {
            criteria: Some("x"),
            ..spec("faithfulness")
        };
        let empty = Spec {
            criteria: Some("x"),
            scale: Some([5, 5]),
            ..rubric
        };
        let kind = Spec {
            kind: Some("rubrik"),
            ..spec("tone")
        };
        insta::assert_snapshot!(
            [spec("faithfullness"), spec("politeness"), spec("ndcg@10"), spec("recall_at_k"), spec("recall@0"), rubric, unmeant, empty, kind]
                .iter().map(error).collect::<Vec<_>>().join("\n"),
            @r#"
            no metric `faithfullness` can be computed, did you mean `faithfulness`?
            no metric `politeness` can be computed; one of your own takes `kind = "rubric"` and `criteria`
            `ndcg@10` is known but not computed by this version: take it from the results of another tool
            `recall_at_k` needs how many of the first passages count: write `recall@5`, or another number from 1
            `recall@0` needs how many of the first passages count: write `recall@5`, or another number from 1
            `tone` is a rubric without criteria: say in `criteria` what a good answer does
            `faithfulness` takes no `criteria`, for it is no rubric: remove it, or add `kind = "rubric"`
            `tone` has a scale from 5 to 5: the first grade has to be the lower one
            `tone` has an unknown kind `rubrik`, did you mean `rubric`?
            "#
        );
    }
}
