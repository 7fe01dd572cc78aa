//! Does the answer meet criteria of gate.toml? A grade, a weighted grade, or yes and no.

use super::{
    Judged, Kind, done, is_blank, is_yes, not_applicable, owned, passages, references, share,
    verdicts,
};
use crate::outcome::{Answer, Outcome, Step};
use crate::prompts::{Part, Values, form};
use crate::reason;
use crate::registry::{Build, BuildError};
use crate::request::Expect;
use crate::sample::Sample;
use crate::{Column, Info, Metric};

const RUBRIC: Kind = Kind {
    name: "rubric",
    version: "1",
    template: include_str!("../../prompts/rubric.md"),
    task: "How far does the answer meet the criterion?",
};

const G_EVAL: Kind = Kind {
    name: "g_eval",
    version: "1",
    template: include_str!("../../prompts/g_eval.md"),
    task: "How far does the answer meet the criteria?",
};

const YES_NO: Kind = Kind {
    name: "yes_no",
    version: "1",
    template: include_str!("../../prompts/yes_no.md"),
    task: "What is the answer to the question about the answer?",
};

/// The scale of a rubric that names none.
const RUBRIC_SCALE: [i64; 2] = [1, 5];

/// The scale of a `g_eval` that names none.
const G_EVAL_SCALE: [i64; 2] = [0, 10];

/// What the judge is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Grade([i64; 2]),
    Weighted([i64; 2]),
    YesNo,
}

/// A metric of the user's own.
#[derive(Debug)]
pub(super) struct Rubric {
    judged: Judged,
    criteria: String,
    form: Form,
}

impl Rubric {
    /// A grade on a scale, as its share from 0 to 1.
    pub(super) fn graded(of: &Build<'_>) -> Result<Self, BuildError> {
        let scale = scale(of, RUBRIC_SCALE);
        Rubric::new(
            of,
            RUBRIC,
            Form::Grade(scale),
            "say in it what a good answer does",
        )
    }

    /// The same, weighted by how likely the judge held each grade for.
    pub(super) fn g_eval(of: &Build<'_>) -> Result<Self, BuildError> {
        let scale = scale(of, G_EVAL_SCALE);
        Rubric::new(
            of,
            G_EVAL,
            Form::Weighted(scale),
            "say in it what a good answer does",
        )
    }

    /// 1 for yes, 0 for no.
    pub(super) fn yes_no(of: &Build<'_>) -> Result<Self, BuildError> {
        Rubric::new(
            of,
            YES_NO,
            Form::YesNo,
            "ask in it what is to be answered with yes or no",
        )
    }

    fn new(of: &Build<'_>, kind: Kind, form: Form, why: &str) -> Result<Self, BuildError> {
        let criteria = of.section.criteria.as_deref().map(str::trim);
        let criteria = criteria
            .filter(|criteria| !criteria.is_empty())
            .ok_or_else(|| of.lacks("criteria", why))?;
        let steps = of.section.steps.clone().unwrap_or_default();
        if steps.iter().any(|step| is_blank(step)) {
            return Err(of.bad("steps", "a step is empty"));
        }
        let (scale, text) = match form {
            Form::Grade(scale) => (scale, form::grade(scale)),
            Form::Weighted(scale) => (scale, form::weighted_grade(scale)),
            Form::YesNo => ([0, 1], form::yes_no()),
        };
        let values = Values {
            criteria: criteria.to_owned(),
            scale,
            anchors: anchors(of, scale)?,
            steps,
            form: text,
        };
        Ok(Rubric {
            judged: Judged::new(of, kind, &values, &[Column::Answer])?,
            criteria: criteria.to_owned(),
            form,
        })
    }
}

fn scale(of: &Build<'_>, default: [i64; 2]) -> [i64; 2] {
    let scale = of.section.scale.as_ref();
    scale.map_or(default, |scale| *scale.get_ref())
}

/// The grades that have a meaning, the highest first.
fn anchors(of: &Build<'_>, [low, high]: [i64; 2]) -> Result<Vec<(i64, String)>, BuildError> {
    let mut anchors = Vec::new();
    for (grade, meaning) in of.section.anchors.iter().flatten() {
        let number = grade.trim().parse::<i64>().ok();
        let Some(number) = number.filter(|number| (low..=high).contains(number)) else {
            let problem = format!("`{grade}` is no grade from {low} to {high}");
            return Err(of.bad("anchors", problem));
        };
        if is_blank(meaning) {
            return Err(of.bad("anchors", format!("grade {number} has no meaning")));
        }
        if anchors.iter().any(|(known, _)| *known == number) {
            return Err(of.bad("anchors", format!("grade {number} comes twice")));
        }
        anchors.push((number, meaning.trim().to_owned()));
    }
    anchors.sort_by_key(|(grade, _)| std::cmp::Reverse(*grade));
    Ok(anchors)
}

impl Metric for Rubric {
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
        if is_blank(answer) {
            return not_applicable("the answer is empty");
        }
        if let Some(answer) = answers.first() {
            return done(match self.form {
                Form::Grade(scale) => share(answer, scale, false),
                Form::Weighted(scale) => share(answer, scale, true),
                Form::YesNo => yes_no(answer),
            });
        }
        let passages = passages(sample).unwrap_or_default();
        let mut evidence = owned(&passages);
        let parts = [
            Part::Question(sample),
            Part::Numbered("PASSAGE", passages),
            Part::Numbered("REFERENCE ANSWER", references(sample)),
            Part::Text("ANSWER", answer),
        ];
        let messages = self.judged.prompt.render(1, answer, &parts);
        let (expect, items) = match self.form {
            Form::Grade([low, high]) => (
                Expect::Grade { low, high },
                vec![self.criteria.clone(), answer.clone()],
            ),
            Form::Weighted([low, high]) => (
                Expect::WeightedGrade { low, high },
                vec![self.criteria.clone(), answer.clone()],
            ),
            // There is one item for each verdict: the question; the answer is what it is held against.
            Form::YesNo => {
                evidence.insert(0, answer.clone());
                (Expect::Verdicts { items: 1 }, vec![self.criteria.clone()])
            }
        };
        self.judged.ask(expect, messages, items, evidence)
    }
}

fn yes_no(answer: &Answer) -> Outcome {
    let verdict = match verdicts(answer, 1) {
        Ok(verdicts) => &verdicts[0],
        Err(failed) => return failed,
    };
    let (score, word) = match is_yes(verdict) {
        true => (1.0, "yes"),
        false => (0.0, "no"),
    };
    let why = verdict.reason.trim();
    Outcome::Score {
        score,
        reason: Some(match why.is_empty() {
            true => word.to_owned(),
            false => reason::short(&format!("{word}: {why}")),
        }),
    }
}
