//! Metrics of what was retrieved against what should have been: formulas over ids, or over texts where there are none.

mod formula;
mod ranking;
mod similarity;

use gate::policy::{Direction, MatchBy};

use crate::outcome::{Answer, Outcome, Step};
use crate::registry::{Build, BuildError, Entry};
use crate::sample::Sample;
use crate::{Info, Metric};

use formula::Formula;
use ranking::{By, Ranking};

/// How alike texts are that count as the same, unless gate.toml says it.
const THRESHOLD: f64 = 0.8;

/// What all of them take.
const KEYS: &[&str] = &["by", "threshold"];

/// A definition, and what holds for all of them.
macro_rules! defined {
    ($definition:literal) => {
        concat!(
            $definition,
            " A passage is known by its id where both sides have ids, else by its text, or as `by` says. What is retrieved \
twice counts at its first rank, and all keep their ranks. Nothing retrieved has the score 0. Not applicable where nothing is \
relevant, and where one side is missing."
        )
    };
}

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "precision@k",
        about: "share of the first k ranks that hold a relevant passage",
        definition: defined!(
            "relevant passages among the first k / k, also where fewer were retrieved: `P_k` of trec_eval."
        ),
        keys: KEYS,
        example: "",
        build: |of| first_k(of, Formula::Precision),
    },
    Entry {
        name: "recall@k",
        about: "share of the relevant passages among the first k",
        definition: defined!(
            "relevant passages among the first k / relevant passages: `recall_k` of trec_eval."
        ),
        keys: KEYS,
        example: "",
        build: |of| first_k(of, Formula::Recall),
    },
    Entry {
        name: "hit_rate@k",
        about: "a relevant passage is among the first k",
        definition: defined!(
            "1 when any of the first k passages is relevant, else 0: `success_k` of trec_eval."
        ),
        keys: KEYS,
        example: "",
        build: |of| first_k(of, Formula::HitRate),
    },
    Entry {
        name: "hit_rate",
        about: "a relevant passage was retrieved",
        definition: defined!("1 when any retrieved passage is relevant, else 0."),
        keys: KEYS,
        example: "",
        build: |of| all(of, Formula::HitRate),
    },
    Entry {
        name: "mrr",
        about: "how early the first relevant passage comes",
        definition: defined!(
            "1 / rank of the first relevant passage, 0 when none was retrieved: `recip_rank` of trec_eval. The mean over \
samples is the mean reciprocal rank."
        ),
        keys: KEYS,
        example: "",
        build: |of| all(of, Formula::ReciprocalRank),
    },
    Entry {
        name: "mrr@k",
        about: "how early the first relevant passage comes among the first k",
        definition: defined!("1 / rank of the first relevant passage, 0 when that is beyond k."),
        keys: KEYS,
        example: "",
        build: |of| first_k(of, Formula::ReciprocalRank),
    },
    Entry {
        name: "map",
        about: "relevant passages come first, and all of them",
        definition: defined!(
            "Σ precision at the rank of each relevant passage / relevant passages, retrieved or not: `map` of trec_eval. \
The mean over samples is the mean average precision."
        ),
        keys: KEYS,
        example: "",
        build: |of| all(of, Formula::AveragePrecision),
    },
    Entry {
        name: "map@k",
        about: "relevant passages come first among the first k, and all of them",
        definition: defined!(
            "Σ precision at the rank of each relevant passage among the first k / relevant passages, retrieved or not: \
`map_cut_k` of trec_eval."
        ),
        keys: KEYS,
        example: "",
        build: |of| first_k(of, Formula::AveragePrecision),
    },
    Entry {
        name: "ndcg",
        about: "the most relevant passages come first",
        definition: defined!(
            "Σ grade / log2(rank + 1) over what was retrieved / the same over all that is relevant, the highest grade \
first: `ndcg` of trec_eval. A relevant passage without a grade has 1; one of 0 or less is not relevant."
        ),
        keys: KEYS,
        example: "",
        build: |of| all(of, Formula::Ndcg),
    },
    Entry {
        name: "ndcg@k",
        about: "the most relevant passages come first among the first k",
        definition: defined!(
            "Σ grade / log2(rank + 1) over the first k ranks / the same over the best k ranks there could be: \
`ndcg_cut_k` of trec_eval. A relevant passage without a grade has 1; one of 0 or less is not relevant."
        ),
        keys: KEYS,
        example: "",
        build: |of| first_k(of, Formula::Ndcg),
    },
    Entry {
        name: "r_precision",
        about: "share of relevant passages among as many ranks as there are relevant ones",
        definition: defined!(
            "relevant passages among the first R / R, where R passages are relevant: `Rprec` of trec_eval."
        ),
        keys: KEYS,
        example: "",
        build: |of| all(of, Formula::RPrecision),
    },
];

/// A formula over a ranking.
#[derive(Debug)]
struct Retrieval {
    info: Info,
    formula: Formula,
    /// The ranks that count, from the first.
    k: usize,
    by: By,
}

impl Metric for Retrieval {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let ranking = match Ranking::of(sample, self.by) {
            Ok(ranking) => ranking,
            Err(why) => return Step::Done(Outcome::NotApplicable(why.to_owned())),
        };
        let score = self.formula.score(&ranking, self.k);
        Step::Done(Outcome::Score {
            score,
            reason: (score < 1.0).then(|| self.formula.reason(&ranking, self.k)),
        })
    }
}

fn first_k(of: &Build<'_>, formula: Formula) -> Result<Box<dyn Metric>, BuildError> {
    let lacks = || of.lacks("@k", "how many of the first passages count");
    retrieval(of, formula, of.k.ok_or_else(lacks)?)
}

fn all(of: &Build<'_>, formula: Formula) -> Result<Box<dyn Metric>, BuildError> {
    retrieval(of, formula, usize::MAX)
}

fn retrieval(of: &Build<'_>, formula: Formula, k: usize) -> Result<Box<dyn Metric>, BuildError> {
    let by = by(of)?;
    // Another way to recognise a passage makes other scores.
    let version = match by {
        By::Either => "1".to_owned(),
        By::Id => "1, by id".to_owned(),
        By::Text => "1, by text".to_owned(),
        By::Similarity(threshold) => format!("1, by similarity {threshold}"),
    };
    let info = Info {
        name: of.name.to_owned(),
        version,
        prompt_sha256: None,
        direction: Direction::Higher,
        range: Some([0.0, 1.0]),
        judged: false,
        calls: 0,
        embeds: false,
        // None alone: ids, ids within the passages, or texts will do.
        needs: Vec::new(),
    };
    Ok(Box::new(Retrieval {
        info,
        formula,
        k,
        by,
    }))
}

fn by(of: &Build<'_>) -> Result<By, BuildError> {
    let threshold = of.section.threshold;
    match (of.section.by, threshold) {
        (Some(MatchBy::Similarity), Some(wrong)) if !(wrong > 0.0 && wrong <= 1.0) => {
            Err(of.bad("threshold", "above 0 and up to 1"))
        }
        (Some(MatchBy::Similarity), given) => Ok(By::Similarity(given.unwrap_or(THRESHOLD))),
        (_, Some(_)) => Err(of.bad(
            "threshold",
            "it says how alike, under `by = \"similarity\"`",
        )),
        (Some(MatchBy::Id), None) => Ok(By::Id),
        (Some(MatchBy::Text), None) => Ok(By::Text),
        (None, None) => Ok(By::Either),
    }
}

#[cfg(test)]
mod tests;
