//! Does the answer say what the reference says, and nothing else?

use gate::policy::Measure;

use super::context_recall::{best, claims};
use super::{
    Judged, Kind, done, failed, is_blank, is_yes, mean, not_applicable, owned, references, score,
    verdicts,
};
use crate::cosine::best_cosine;
use crate::outcome::{Answer, FailureKind, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::{Expect, Verdict};
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

const KIND: Kind = Kind {
    name: "factual_correctness",
    version: "1",
    template: include_str!("../../prompts/factual_correctness.md"),
    task: "Claims 1 to {items}: does the other side state each?",
};

/// Added by Ragas to what it divides by.
const EPSILON: f64 = 1e-8;

/// Shares of facts and similarity, where gate.toml says none; those of Ragas.
const WEIGHTS: [f64; 2] = [0.75, 0.25];

/// What is made of the verdicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Formula {
    /// Precision over the answer's claims, recall over the reference's.
    Facts(Measure),
    /// Both of the answer's true positives, rounded to two decimals.
    RagasFacts(Measure),
    /// F1 and similarity.
    Correctness([f64; 2]),
    /// The same, by Ragas' F1.
    RagasCorrectness([f64; 2]),
}

impl Formula {
    fn weights(self) -> Option<[f64; 2]> {
        match self {
            Formula::Correctness(weights) | Formula::RagasCorrectness(weights) => Some(weights),
            _ => None,
        }
    }
}

/// The claims of both sides, each held against the other by one call.
#[derive(Debug)]
pub(super) struct Facts {
    judged: Judged,
    formula: Formula,
}

impl Facts {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let values = Values {
            form: form::verdicts(),
            ..Values::default()
        };
        let mut judged = Judged::new(of, KIND, &values, &[Column::Answer, Column::Reference])?;
        judged.info.embeds = formula.weights().is_some_and(|[_, weight]| weight > 0.0);
        Ok(Facts { judged, formula })
    }

    /// The formula with the `measure` of gate.toml.
    pub(super) fn measured(
        of: &Build<'_>,
        formula: fn(Measure) -> Formula,
    ) -> Result<Self, BuildError> {
        Facts::new(of, formula(of.section.measure.unwrap_or_default()))
    }

    /// The formula with the `weights` of gate.toml.
    pub(super) fn weighted(
        of: &Build<'_>,
        formula: fn([f64; 2]) -> Formula,
    ) -> Result<Self, BuildError> {
        let weights = of.section.weights.as_ref();
        let weights = weights.map_or(WEIGHTS, |weights| *weights.get_ref());
        if weights
            .iter()
            .any(|weight| !weight.is_finite() || *weight < 0.0)
        {
            return Err(of.bad("weights", "each is a number from 0 up"));
        }
        if weights[0] <= 0.0 {
            return Err(of.bad(
                "weights",
                "without facts it is `semantic_similarity`, which asks no judge",
            ));
        }
        Facts::new(of, formula(weights))
    }

    /// What an answer without a claim comes to.
    fn of_silence(&self, answer: &str) -> Step {
        let why = match is_blank(answer) {
            true => "the answer is empty",
            false => "no claims in the answer",
        };
        match self.formula {
            // Of nothing said nothing is right and nothing wrong; of what should have been said all is missing.
            Formula::Facts(Measure::Precision) | Formula::RagasFacts(_) => not_applicable(why),
            _ => done(score(0.0, why)),
        }
    }
}

impl Metric for Facts {
    fn info(&self) -> &Info {
        &self.judged.info
    }

    fn prompt(&self) -> Option<&str> {
        Some(self.judged.prompt.system())
    }

    fn step(&self, sample: &Sample, answers: &[Answer]) -> Step {
        let Some(answer) = &sample.answer else {
            return not_applicable("no answer");
        };
        let references = references(sample);
        if references.is_empty() {
            return not_applicable("no reference");
        }
        let said = sentences::split(answer);
        let (wanted, ends) = claims(&references);
        if wanted.is_empty() {
            return match self.formula {
                Formula::RagasCorrectness(_) if said.is_empty() && !is_blank(answer) => {
                    self.with_similarity(answer, &references, &ends, 1.0, None, answers)
                }
                _ => not_applicable("no claims in the reference"),
            };
        }
        if said.is_empty() {
            return self.of_silence(answer);
        }
        let mut items = said.clone();
        items.extend_from_slice(&wanted);
        let Some((first, rest)) = answers.split_first() else {
            return self.asks(sample, answer, &references, &items, said.len());
        };
        let verdicts = match verdicts(first, items.len()) {
            Ok(verdicts) => verdicts,
            Err(failed) => return done(failed),
        };
        let (of_answer, of_reference) = verdicts.split_at(said.len());
        let share = self.share(of_answer, of_reference, &ends);
        let reason = self.reason(&said, of_answer, &wanted, of_reference, &ends);
        match self.formula {
            Formula::Facts(_) | Formula::RagasFacts(_) => done(Outcome::Score {
                score: share,
                reason,
            }),
            _ => self.with_similarity(answer, &references, &ends, share, reason, rest),
        }
    }
}

impl Facts {
    fn asks(
        &self,
        sample: &Sample,
        answer: &str,
        references: &[&str],
        items: &[&str],
        of_answer: usize,
    ) -> Step {
        let expect = Expect::Verdicts { items: items.len() };
        let items = owned(items);
        let mut evidence = vec![answer.to_owned()];
        evidence.extend(owned(references));
        let (said, wanted) = items.split_at(of_answer);
        let parts = [
            Part::Question(sample),
            Part::Text("ANSWER", answer),
            Part::Numbered("REFERENCE ANSWER", references.to_vec()),
            Part::Lines("CLAIMS OF THE ANSWER", 1, said),
            Part::Lines("CLAIMS OF THE REFERENCE ANSWER", of_answer + 1, wanted),
        ];
        let messages = self.judged.prompt.render(items.len(), answer, &parts);
        self.judged
            .ask_both(expect, messages, items, of_answer, evidence)
    }

    fn share(&self, of_answer: &[Verdict], of_reference: &[Verdict], ends: &[usize]) -> f64 {
        let precision = || mean(of_answer);
        let recall = || best(of_reference, ends).map_or(0.0, |(recall, _)| recall);
        match self.formula {
            Formula::Facts(Measure::Precision) => precision(),
            Formula::Facts(Measure::Recall) => recall(),
            Formula::Facts(Measure::F1) | Formula::Correctness(_) => f1(precision(), recall()),
            Formula::RagasFacts(measure) => {
                ragas_facts(measure, &Counts::of(of_answer, of_reference, ends))
            }
            Formula::RagasCorrectness(_) => {
                let Counts { tp, fp, missing } = Counts::of(of_answer, of_reference, ends);
                match tp > 0.0 {
                    true => tp / (tp + 0.5 * (fp + missing)),
                    false => 0.0,
                }
            }
        }
    }

    /// What is wrong in the answer, and what of the reference is missing in it.
    fn reason(
        &self,
        said: &[&str],
        of_answer: &[Verdict],
        wanted: &[&str],
        of_reference: &[Verdict],
        ends: &[usize],
    ) -> Option<String> {
        let measure = match self.formula {
            Formula::Facts(measure) | Formula::RagasFacts(measure) => measure,
            _ => Measure::F1,
        };
        let wrong = || {
            let said = said.iter().copied();
            reason::missing("claims", "not in the reference", said, of_answer)
        };
        let missing = || {
            let (_, range) = best(of_reference, ends)?;
            let wanted = wanted[range.clone()].iter().copied();
            let of_reference = &of_reference[range];
            let nouns = "claims of the reference";
            reason::missing(nouns, "not in the answer", wanted, of_reference)
        };
        match measure {
            Measure::Precision => wrong(),
            Measure::Recall => missing(),
            Measure::F1 => match (wrong(), missing()) {
                (Some(wrong), Some(missing)) => Some(reason::two(&wrong, &missing)),
                (one, other) => one.or(other),
            },
        }
    }

    /// The weighted mean of the facts and of the similarity, which is asked for first where it counts.
    fn with_similarity(
        &self,
        answer: &str,
        references: &[&str],
        ends: &[usize],
        facts: f64,
        why: Option<String>,
        answers: &[Answer],
    ) -> Step {
        let [of_facts, of_similarity] = self.formula.weights().unwrap_or(WEIGHTS);
        if of_similarity <= 0.0 {
            return done(Outcome::Score {
                score: facts,
                reason: why,
            });
        }
        // Ragas has one reference: the one whose claims are counted, and where none has a claim, the first.
        let references = match self.formula {
            Formula::RagasCorrectness(_) => {
                let counted = ends.iter().position(|end| *end > 0).unwrap_or(0);
                references.get(counted..=counted).unwrap_or(references)
            }
            _ => references,
        };
        let Some(embeddings) = answers.first() else {
            let texts = std::iter::once(answer).chain(references.iter().copied());
            return Step::Embed(texts.map(str::to_owned).collect());
        };
        let similarity = match best_cosine(embeddings, references.len()) {
            Ok(similarity) => similarity.clamp(0.0, 1.0),
            Err((kind, message)) => return done(failed(kind, &message)),
        };
        let score = (of_facts * facts + of_similarity * similarity) / (of_facts + of_similarity);
        if !score.is_finite() {
            return done(failed(
                FailureKind::NotANumber,
                "the weights are too large for a mean",
            ));
        }
        let parts = format!("facts {facts:.2}, similarity {similarity:.2}");
        done(Outcome::Score {
            score: score.clamp(0.0, 1.0),
            reason: Some(match why {
                Some(why) => reason::short(&format!("{parts}: {why}")),
                None => parts,
            }),
        })
    }
}

/// 0 when both are.
fn f1(precision: f64, recall: f64) -> f64 {
    match precision + recall > 0.0 {
        true => (2.0 * precision * recall / (precision + recall)).clamp(0.0, 1.0),
        false => 0.0,
    }
}

/// What Ragas counts: claims of the answer that are right and wrong, and claims of the reference that are missing.
#[derive(Debug, Clone, Copy)]
struct Counts {
    tp: f64,
    fp: f64,
    missing: f64,
}

impl Counts {
    /// Of several references Ragas has the first, which is the first with a claim.
    fn of(of_answer: &[Verdict], of_reference: &[Verdict], ends: &[usize]) -> Counts {
        let end = ends.iter().copied().find(|end| *end > 0).unwrap_or(0);
        let yes = |verdicts: &[Verdict]| verdicts.iter().filter(|verdict| is_yes(verdict)).count();
        let right = yes(of_answer);
        Counts {
            tp: right as f64,
            fp: (of_answer.len() - right) as f64,
            missing: (end - yes(&of_reference[..end])) as f64,
        }
    }
}

fn ragas_facts(measure: Measure, counts: &Counts) -> f64 {
    let Counts { tp, fp, missing } = *counts;
    let share = |of: f64| if of > 0.0 { tp / of } else { 0.0 };
    let score = match measure {
        Measure::Precision => tp / (tp + fp + EPSILON),
        Measure::Recall => tp / (tp + missing + EPSILON),
        Measure::F1 => f1(share(tp + fp), share(tp + missing)),
    };
    // As numpy rounds: a half goes to the even digit.
    (score * 100.0).round_ties_even() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ragas_counts_true_positives_of_the_answer_alone() {
        #[track_caller]
        fn check(counts: [f64; 3], measure: Measure, expected: f64) {
            let [tp, fp, missing] = counts;
            let found = ragas_facts(measure, &Counts { tp, fp, missing });
            assert_eq!(found.to_string(), expected.to_string(), "{measure:?}");
        }
        check([2.0, 1.0, 1.0], Measure::Precision, 0.67);
        check([2.0, 1.0, 1.0], Measure::Recall, 0.67);
        check([1.0, 2.0, 0.0], Measure::Recall, 1.0);
        check([1.0, 2.0, 0.0], Measure::F1, 0.5);
        check([0.0, 2.0, 3.0], Measure::F1, 0.0);
        // 1/8 = 0.125, and 3/8 = 0.375.
        check([1.0, 7.0, 0.0], Measure::Precision, 0.12);
        check([3.0, 5.0, 0.0], Measure::Precision, 0.37);
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        assert!((f1(0.5, 1.0) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(f1(0.0, 0.0).to_string(), "0");
        assert_eq!(f1(1.0, 1.0).to_string(), "1");
    }
}
