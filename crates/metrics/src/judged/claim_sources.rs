//! Which source holds which claim: noise sensitivity, and what `RAGChecker` computes from the same table.
//!
//! The claims of the answer and of the reference are the rows; the passages and, as the last one, the reference are the
//! columns. One call fills the table.

use super::{Judged, Kind, done, failed, not_applicable, owned, passages, references, score};
use crate::outcome::{Answer, FailureKind, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::{Expect, Reading, Verdict};
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

const KIND: Kind = Kind {
    name: "claim_sources",
    version: "1",
    template: include_str!("../../prompts/claim_sources.md"),
    task: "Claims 1 to {items}: which of the sources hold each?",
};

/// What is made of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// Claims of the answer that are wrong and come from a relevant passage.
    Noise,
    /// Claims of the answer that neither a passage nor the reference holds.
    RagCheckerHallucination,
    /// Claims of the answer that a passage holds.
    RagCheckerFaithfulness,
    /// Passages that hold a claim of the reference.
    RagCheckerPrecision,
}

impl Formula {
    fn needs(self) -> &'static [Column] {
        match self {
            Formula::Noise | Formula::RagCheckerHallucination => {
                &[Column::Answer, Column::Reference, Column::Contexts]
            }
            Formula::RagCheckerFaithfulness => &[Column::Answer, Column::Contexts],
            Formula::RagCheckerPrecision => &[Column::Reference, Column::Contexts],
        }
    }

    fn is_lower(self) -> bool {
        matches!(self, Formula::Noise | Formula::RagCheckerHallucination)
    }
}

/// A metric of the table.
#[derive(Debug)]
pub(super) struct ClaimSources {
    judged: Judged,
    formula: Formula,
}

/// What is asked about a sample.
struct Table<'a> {
    /// Claims of the answer, then those of the references.
    claims: Vec<&'a str>,
    /// How many of them are of the answer.
    of_answer: usize,
    passages: Vec<&'a str>,
    /// The references as one text; empty without one.
    reference: String,
}

impl ClaimSources {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let values = Values {
            form: form::sources(),
            ..Values::default()
        };
        let judged = Judged::new(of, KIND, &values, formula.needs())?;
        Ok(ClaimSources {
            judged: match formula.is_lower() {
                true => judged.lower(),
                false => judged,
            },
            formula,
        })
    }

    /// The table to be filled, or what comes of it unfilled.
    fn table<'a>(&self, sample: &'a Sample) -> Result<Table<'a>, Step> {
        let needs = self.formula.needs();
        let answer = sample.answer.as_deref();
        if answer.is_none() && needs.contains(&Column::Answer) {
            return Err(not_applicable("no answer"));
        }
        let references = references(sample);
        if references.is_empty() && needs.contains(&Column::Reference) {
            return Err(not_applicable("no reference"));
        }
        let Some(passages) = passages(sample) else {
            return Err(match self.formula {
                Formula::RagCheckerFaithfulness | Formula::RagCheckerPrecision
                    if sample.contexts.is_some() =>
                {
                    done(score(0.0, "no contexts, which RAGChecker scores 0"))
                }
                _ => not_applicable("no contexts"),
            });
        };
        let mut claims = answer.map_or_else(Vec::new, sentences::split);
        let of_answer = claims.len();
        for reference in &references {
            claims.append(&mut sentences::split(reference));
        }
        let is_empty = match self.formula {
            Formula::RagCheckerPrecision => claims.len() == of_answer,
            _ => of_answer == 0,
        };
        if is_empty {
            return Err(match self.formula {
                Formula::Noise => not_applicable("no claims in the answer"),
                Formula::RagCheckerPrecision => done(score(
                    0.0,
                    "no claims in the reference, which RAGChecker scores 0",
                )),
                _ => done(score(
                    0.0,
                    "no claims in the answer, which RAGChecker scores 0",
                )),
            });
        }
        Ok(Table {
            claims,
            of_answer,
            passages,
            reference: references.join("\n\n"),
        })
    }
}

impl Metric for ClaimSources {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let table = match self.table(sample) {
            Ok(table) => table,
            Err(step) => return step,
        };
        let mut sources = table.passages.clone();
        if !table.reference.is_empty() {
            sources.push(&table.reference);
        }
        if let Some(answer) = answers.first() {
            return done(match held(answer, table.claims.len(), sources.len()) {
                Ok(held) => self.score(&table, held),
                Err(failed) => failed,
            });
        }
        let expect = Expect::Sources {
            items: table.claims.len(),
            sources: sources.len(),
        };
        let (items, evidence) = (owned(&table.claims), owned(&sources));
        let (of_answer, of_reference) = items.split_at(table.of_answer);
        let parts = [
            Part::Question(sample),
            Part::Numbered("SOURCE", sources),
            Part::Lines("CLAIMS OF THE ANSWER", 1, of_answer),
            Part::Lines(
                "CLAIMS OF THE REFERENCE ANSWER",
                table.of_answer + 1,
                of_reference,
            ),
        ];
        let spoken = sample.answer.as_deref().unwrap_or(&table.reference);
        let messages = self.judged.prompt.render(items.len(), spoken, &parts);
        self.judged
            .ask_both(expect, messages, items, table.of_answer, evidence)
    }
}

/// The sources that hold each claim, or why there is no score.
fn held(answer: &Answer, items: usize, sources: usize) -> Result<&[Vec<usize>], Outcome> {
    match answer {
        Answer::Reading(Reading::Sources(held))
            if held.len() == items
                && held.iter().flatten().all(|id| (1..=sources).contains(id)) =>
        {
            Ok(held)
        }
        Answer::Reading(Reading::Sources(_)) => Err(failed(
            FailureKind::Inconsistent,
            "the judge named sources of other claims, or other sources, than it was asked about",
        )),
        _ => Err(failed(
            FailureKind::Inconsistent,
            "the judge gave something else than sources",
        )),
    }
}

impl ClaimSources {
    fn score(&self, table: &Table<'_>, held: &[Vec<usize>]) -> Outcome {
        let (of_answer, of_reference) = held.split_at(table.of_answer);
        // The numbers up to here are those of passages; the one after them is that of the reference.
        let last = table.passages.len();
        let is_relevant = |passage: usize| of_reference.iter().any(|held| held.contains(&passage));
        let in_passage = |held: &&Vec<usize>| held.iter().any(|&source| source <= last);
        let in_reference = |held: &&Vec<usize>| held.contains(&(last + 1));
        let in_relevant = |held: &&Vec<usize>| {
            held.iter()
                .any(|&source| source <= last && is_relevant(source))
        };
        let (nouns, fault, items, faulty): (_, _, &[&str], Vec<bool>) = match self.formula {
            Formula::Noise => (
                "claims",
                "wrong, from a relevant passage",
                &table.claims[..table.of_answer],
                of_answer
                    .iter()
                    .map(|held| in_relevant(&held) && !in_reference(&held))
                    .collect(),
            ),
            Formula::RagCheckerHallucination => (
                "claims",
                "neither in the contexts nor in the reference",
                &table.claims[..table.of_answer],
                of_answer
                    .iter()
                    .map(|held| !in_passage(&held) && !in_reference(&held))
                    .collect(),
            ),
            Formula::RagCheckerFaithfulness => (
                "claims",
                "unsupported",
                &table.claims[..table.of_answer],
                of_answer.iter().map(|held| !in_passage(&held)).collect(),
            ),
            Formula::RagCheckerPrecision => (
                "passages",
                "without a claim of the reference",
                &table.passages,
                (1..=last).map(|passage| !is_relevant(passage)).collect(),
            ),
        };
        let share = faulty.iter().filter(|faulty| **faulty).count() as f64 / faulty.len() as f64;
        let verdicts: Vec<Verdict> = faulty
            .iter()
            .map(|faulty| Verdict::new(f64::from(u8::from(!faulty)), ""))
            .collect();
        Outcome::Score {
            score: match self.formula.is_lower() {
                true => share,
                false => 1.0 - share,
            },
            reason: reason::missing(nouns, fault, items.iter().copied(), &verdicts),
        }
    }
}
