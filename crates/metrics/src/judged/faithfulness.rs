//! Does the answer say only what the retrieved passages say?

use super::standing::{Fault, Texts};
use super::{
    Judged, Kind, done, is_blank, is_yes, mean, not_applicable, owned, passages, score,
    share_of_yes, verdicts,
};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason::{self, cut};
use crate::registry::{Build, BuildError};
use crate::request::{Expect, Verdict};
use crate::sample::Sample;
use crate::{Column, Info, Metric, sentences};

/// What a judge quotes for a claim that claims no fact.
const NO_FACT: &str = "no fact";

/// How much of an invented quote is shown, in bytes.
const SHOWN: usize = 60;

const NEEDS: &[Column] = &[Column::Answer, Column::Contexts];

/// What all of them ask: it is one call for a sample.
const SUPPORTED: Kind = Kind {
    name: "faithfulness",
    version: "2",
    template: include_str!("../../prompts/faithfulness.md"),
    task: "Claims 1 to {items}: is each supported by the passages?",
};

/// A claim that the passages do not speak of is no contradiction.
const CONTRADICTED: Kind = Kind {
    name: "no_contradiction",
    version: "1",
    template: include_str!("../../prompts/no_contradiction.md"),
    task: "Claims 1 to {items}: the verdict is false where the passages contradict the claim.",
};

/// What is made of the verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// The share of claims that the passages support, quotes being checked.
    Supported,
    /// The share of those that they do not.
    Unsupported,
    /// Supported claims / claims, as the judge says.
    Ragas,
    /// Claims that are not contradicted / claims; 1 without claims.
    DeepEval,
    /// 1 − unsupported claims / claims.
    Promptfoo,
}

/// A verdict for each sentence of the answer.
#[derive(Debug)]
pub(super) struct Faithfulness {
    judged: Judged,
    formula: Formula,
}

impl Faithfulness {
    pub(super) fn new(of: &Build<'_>, formula: Formula) -> Result<Self, BuildError> {
        let (kind, form) = match formula {
            Formula::DeepEval => (CONTRADICTED, form::verdicts()),
            _ => (SUPPORTED, form::quotes()),
        };
        let values = Values {
            form,
            ..Values::default()
        };
        let judged = Judged::new(of, kind, &values, NEEDS)?;
        Ok(Faithfulness {
            judged: match formula {
                Formula::Unsupported => judged.lower(),
                _ => judged,
            },
            formula,
        })
    }
}

impl Metric for Faithfulness {
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
        let claims = sentences::split(answer);
        if claims.is_empty() && self.formula == Formula::DeepEval {
            return done(score(
                1.0,
                "no claims in the answer, which DeepEval scores 1",
            ));
        }
        let Some(passages) = passages(sample) else {
            return not_applicable("no contexts");
        };
        if claims.is_empty() {
            return not_applicable("no claims in the answer");
        }
        if let Some(answer) = answers.first() {
            return done(match verdicts(answer, claims.len()) {
                Ok(verdicts) => self.score(&claims, &passages, verdicts),
                Err(failed) => failed,
            });
        }
        let expect = match self.formula {
            Formula::DeepEval => Expect::Verdicts {
                items: claims.len(),
            },
            _ => Expect::Quotes {
                items: claims.len(),
            },
        };
        let (items, evidence) = (owned(&claims), owned(&passages));
        let parts = [
            Part::Question(sample),
            Part::Numbered("PASSAGE", passages),
            Part::Lines("CLAIMS", 1, &items),
        ];
        let messages = self.judged.prompt.render(items.len(), answer, &parts);
        self.judged.ask(expect, messages, items, evidence)
    }
}

impl Faithfulness {
    fn score(&self, claims: &[&str], passages: &[&str], said: &[Verdict]) -> Outcome {
        let checked = match self.formula {
            Formula::Supported | Formula::Unsupported => checked(said, passages),
            _ => said.to_vec(),
        };
        let score = match self.formula {
            Formula::Supported => mean(&checked),
            Formula::Unsupported => (1.0 - mean(&checked)).clamp(0.0, 1.0),
            Formula::Ragas | Formula::DeepEval => share_of_yes(&checked),
            Formula::Promptfoo => {
                let no = checked.iter().filter(|verdict| !is_yes(verdict)).count();
                (1.0 - no as f64 / checked.len() as f64).clamp(0.0, 1.0)
            }
        };
        let fault = match self.formula {
            Formula::DeepEval => "contradicted",
            _ => "unsupported",
        };
        Outcome::Score {
            score,
            reason: reason::missing("claims", fault, claims.iter().copied(), &checked),
        }
    }
}

/// The verdicts, those that rest on nothing being false: a quote has to stand in the passages. A verdict without a quote is
/// of a judge that knows none, and stays what it is.
fn checked(said: &[Verdict], passages: &[&str]) -> Vec<Verdict> {
    let has_quotes = said
        .iter()
        .any(|verdict| is_yes(verdict) && verdict.quote.is_some());
    if !has_quotes {
        return said.to_vec();
    }
    let texts = Texts::new(passages.iter().copied());
    let checked = said.iter().map(|verdict| match &verdict.quote {
        Some(quote) if is_yes(verdict) => match fault(quote, &texts) {
            Some(why) => Verdict::new(0.0, why),
            None => verdict.clone(),
        },
        _ => verdict.clone(),
    });
    checked.collect()
}

/// What is wrong with a quote; `None` when nothing is.
fn fault(quote: &str, texts: &Texts) -> Option<String> {
    if is_blank(quote) {
        return Some("no quote".to_owned());
    }
    let bare = quote.trim().trim_matches(['"', '.', '\'']);
    if bare.eq_ignore_ascii_case(NO_FACT) {
        return None;
    }
    match texts.check(quote) {
        Ok(()) => None,
        Err(Fault::Empty) => Some("no quote".to_owned()),
        Err(Fault::Short) => Some(format!("too short a quote: {}", cut(quote, SHOWN))),
        Err(Fault::Invented) => Some(format!("invented quote: {}", cut(quote, SHOWN))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_has_to_stand_in_the_passages() {
        let said = |holds, quote: Option<&str>| Verdict {
            quote: quote.map(str::to_owned),
            ..Verdict::new(holds, "")
        };
        let verdicts = [
            said(1.0, Some("THE TOWER is in…Paris")),
            said(1.0, Some("the tower is in Rome")),
            said(1.0, Some("")),
            said(1.0, Some("-")),
            said(1.0, Some("in")),
            said(1.0, Some("No fact.")),
            said(1.0, None),
            said(0.0, Some("whatever")),
            said(0.7, None),
        ];
        let checked: Vec<_> = checked(&verdicts, &["The tower is in Paris."])
            .into_iter()
            .map(|verdict| (verdict.holds, verdict.reason))
            .collect();
        let expected = [
            (1.0, ""),
            (0.0, "invented quote: the tower is in Rome"),
            (0.0, "no quote"),
            (0.0, "no quote"),
            (0.0, "too short a quote: in"),
            (1.0, ""),
            (1.0, ""),
            (0.0, ""),
            (0.7, ""),
        ];
        assert_eq!(
            checked,
            expected.map(|(holds, why)| (holds, why.to_owned()))
        );
    }
}
