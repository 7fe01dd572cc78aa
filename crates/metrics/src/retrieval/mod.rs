//! Metrics of what was retrieved against what should have been: formulas over ids, or over texts where there are none.

mod hit_rate;
mod ranking;
mod recall;

pub(crate) use hit_rate::HitRate;
pub(crate) use recall::Recall;

use gate::policy::Direction;

use crate::Info;
use crate::registry::{Build, BuildError, Entry};

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "recall@k",
        about: "share of the relevant passages among the first k",
        definition: "relevant passages among the first k, divided by all relevant ones. Not applicable where nothing is \
relevant.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(Recall::new(of.name, k(of)?))),
    },
    Entry {
        name: "hit_rate@k",
        about: "a relevant passage is among the first k",
        definition: "1 when any of the first k passages is relevant, else 0. Not applicable where nothing is relevant.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(HitRate::new(of.name, Some(k(of)?)))),
    },
    Entry {
        name: "hit_rate",
        about: "a relevant passage was retrieved",
        definition: "1 when any retrieved passage is relevant, else 0. Not applicable where nothing is relevant.",
        keys: &[],
        example: "",
        build: |of| Ok(Box::new(HitRate::new(of.name, None))),
    },
];

fn k(of: &Build<'_>) -> Result<usize, BuildError> {
    of.k.ok_or_else(|| of.lacks("@k", "how many of the first passages count"))
}

fn info(name: &str) -> Info {
    Info {
        name: name.to_owned(),
        version: "1".to_owned(),
        prompt_sha256: None,
        direction: Direction::Higher,
        range: Some([0.0, 1.0]),
        judged: false,
        calls: 0,
        embeds: false,
        // None alone: ids, ids within the passages, or texts will do.
        needs: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
