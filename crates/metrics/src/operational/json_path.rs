//! A number that the target returned, wherever it put it.

use serde_json::Value;

use super::{info, no_number, score};
use crate::outcome::{Answer, Outcome, Step};
use crate::reason::cut;
use crate::registry::{Build, BuildError};
use crate::sample::Sample;
use crate::{Info, Metric};
use gate::policy::Direction;

/// How much of a text is shown that is no number, in bytes.
const SHOWN: usize = 40;

/// `json_path`: what a path finds in the row of the dataset.
#[derive(Debug)]
pub(super) struct JsonPath {
    info: Info,
    /// As gate.toml has it.
    spelled: String,
    path: serde_json_path::JsonPath,
}

impl JsonPath {
    pub(super) fn new(of: &Build<'_>) -> Result<Self, BuildError> {
        let lacks = || {
            of.lacks(
                "path",
                "where the number is: `path = \"$.usage.total_tokens\"`",
            )
        };
        let spelled = of.section.path.clone().ok_or_else(lacks)?;
        let path = serde_json_path::JsonPath::parse(&spelled)
            .map_err(|error| of.bad("path", format!("no JSONPath: {error}")))?;
        let mut info = info(of.name, Vec::new());
        // Another path finds another number.
        info.version = format!("1, path {spelled}");
        info.direction = of.section.direction.unwrap_or(Direction::Higher);
        info.range = of.section.range.as_ref().map(|range| *range.get_ref());
        Ok(JsonPath {
            info,
            spelled,
            path,
        })
    }

    fn outcome(&self, found: &Value) -> Step {
        let path = &self.spelled;
        let number = match found {
            Value::Null => return Step::Done(Outcome::NotApplicable(format!("null at {path}"))),
            Value::Bool(is_true) => f64::from(u8::from(*is_true)),
            Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
            Value::String(text) if text.trim().is_empty() => {
                return Step::Done(Outcome::NotApplicable(format!("nothing at {path}")));
            }
            Value::String(text) => match text.trim().parse() {
                Ok(number) => number,
                Err(_) => {
                    let shown = cut(text.trim(), SHOWN);
                    return no_number(format!("the text «{shown}» at {path}, not a number"));
                }
            },
            Value::Array(_) => return no_number(format!("a list at {path}, not a number")),
            Value::Object(_) => return no_number(format!("an object at {path}, not a number")),
        };
        if !number.is_finite() {
            return no_number(format!("{number} at {path} is no finite number"));
        }
        match self.info.range {
            Some([low, high]) if !(low..=high).contains(&number) => no_number(format!(
                "{number} at {path} is outside of the range from {low} to {high}"
            )),
            _ => score(number),
        }
    }
}

impl Metric for JsonPath {
    fn info(&self) -> &Info {
        &self.info
    }

    fn reads_other(&self) -> bool {
        true
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let row = Value::Object(sample.other.clone());
        let path = &self.spelled;
        match self.path.query(&row).all()[..] {
            [] => Step::Done(Outcome::NotApplicable(format!("nothing at {path}"))),
            [found] => self.outcome(found),
            ref found => no_number(format!("{} values at {path}, not one", found.len())),
        }
    }
}
