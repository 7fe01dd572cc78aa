//! What the dataset says that an answer took.

use super::{info, no_number, score};
use crate::outcome::{Answer, Outcome, Step};
use crate::sample::Sample;
use crate::{Column, Info, Metric};

/// A number of a column.
#[derive(Debug)]
pub(super) struct Spent {
    info: Info,
    column: Column,
    of: fn(&Sample) -> Option<f64>,
}

impl Spent {
    pub(super) fn latency_s(name: &str) -> Self {
        Spent::new(name, Column::Latency, |sample| sample.latency_s)
    }

    pub(super) fn latency_ms(name: &str) -> Self {
        Spent::new(name, Column::Latency, |sample| {
            sample.latency_s.map(milliseconds)
        })
    }

    pub(super) fn tokens(name: &str) -> Self {
        Spent::new(name, Column::Tokens, |sample| sample.tokens)
    }

    pub(super) fn cost_usd(name: &str) -> Self {
        Spent::new(name, Column::Cost, |sample| sample.cost_usd)
    }

    fn new(name: &str, column: Column, of: fn(&Sample) -> Option<f64>) -> Self {
        Spent {
            info: info(name, vec![column]),
            column,
            of,
        }
    }
}

impl Metric for Spent {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, sample: &Sample, _: &[Answer]) -> Step {
        let name = self.column.name();
        match (self.of)(sample) {
            None => Step::Done(Outcome::NotApplicable(format!("no {name}"))),
            Some(number) if !number.is_finite() => {
                no_number(format!("the {name} is {number}, which is no finite number"))
            }
            Some(number) if number < 0.0 => {
                no_number(format!("the {name} is {number}: less than nothing"))
            }
            Some(number) => score(number),
        }
    }
}

/// By moving the decimal point: 0.29 · 1000 is no 290 in binary fractions.
fn milliseconds(seconds: f64) -> f64 {
    let moved = format!("{seconds}e3").parse();
    moved.unwrap_or(seconds * 1000.0)
}
