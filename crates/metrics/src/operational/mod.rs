//! Metrics of what an answer takes: time, tokens, money, room. The dataset says it; nothing is measured here.

mod context_length;
mod json_path;
mod spent;

use gate::policy::Direction;

use crate::outcome::{FailureKind, Outcome, Step};
use crate::registry::Entry;
use crate::{Column, Info};

use context_length::ContextLength;
use json_path::JsonPath;
use spent::Spent;

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "latency_s",
        about: "seconds that the target took to answer",
        definition: "the column `latency` of the dataset, in seconds. Not applicable where a row has none; a negative or \
infinite one is a failure. `aggregate = \"p95\"` judges the slow ones.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Spent::latency_s(of.name))),
    },
    Entry {
        name: "latency_ms",
        about: "milliseconds that the target took to answer",
        definition: "the column `latency` of the dataset, in milliseconds. Not applicable where a row has none; a negative \
or infinite one is a failure.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Spent::latency_ms(of.name))),
    },
    Entry {
        name: "tokens",
        about: "tokens that the target used for the answer",
        definition: "the column `tokens` of the dataset: what went into the target's model and what came out, together. Not \
applicable where a row has none; a negative or infinite number is a failure. The tokens of the judge are no part of it.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Spent::tokens(of.name))),
    },
    Entry {
        name: "target_tokens",
        about: "the same as tokens",
        definition: "another name for `tokens`, which says whose they are: the target's, and not the judge's.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Spent::tokens(of.name))),
    },
    Entry {
        name: "cost_usd",
        about: "US dollars that the answer cost",
        definition: "the column `cost` of the dataset. Not applicable where a row has none; a negative or infinite one is a \
failure. What the judge costs is no part of it.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Spent::cost_usd(of.name))),
    },
    Entry {
        name: "target_cost_usd",
        about: "the same as cost_usd",
        definition: "another name for `cost_usd`, which says whose it is: the target's, and not the judge's.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Spent::cost_usd(of.name))),
    },
    Entry {
        name: "context_length",
        about: "length of all retrieved passages together",
        definition: "the lengths of the texts of all retrieved passages, added up, in `unit`: `characters` (as a reader \
counts them, the default), `words` or `sentences`. 0 where nothing was retrieved; not applicable where a row has no passages \
at all.",
        keys: &["unit"],
        example: "",
        build: |of| Ok(Box::new(ContextLength::new(of)?)),
    },
    Entry {
        name: "json_path",
        about: "a number of the row of the dataset",
        definition: "what the JSONPath (RFC 9535) `path` finds in the row as it stands in the dataset: a number, a text that \
is one, or true and false for 1 and 0. Not applicable where it finds nothing, or null; several finds, another text, a list, an \
object, NaN or infinity are a failure. `direction` and `range` are those of gate.toml.",
        keys: &["path"],
        example: "kind = \"json_path\"\npath = \"$.usage.total_tokens\"",
        build: |of| Ok(Box::new(JsonPath::new(of)?)),
    },
];

fn info(name: &str, needs: Vec<Column>) -> Info {
    Info {
        name: name.to_owned(),
        version: "1".to_owned(),
        prompt_sha256: None,
        direction: Direction::Lower,
        range: None,
        judged: false,
        calls: 0,
        embeds: false,
        needs,
    }
}

fn score(score: f64) -> Step {
    Step::Done(Outcome::Score {
        score,
        reason: None,
    })
}

/// There is something, and it is no number that can be a score.
fn no_number(message: String) -> Step {
    Step::Done(Outcome::Failed {
        kind: FailureKind::NotANumber,
        message,
    })
}

#[cfg(test)]
mod tests;
