//! A grade weighted by how likely the judge held each grade for, as G-Eval has it (Liu et al. 2023) and `DeepEval` computes
//! it.

use serde::{Deserialize, Serialize};

use crate::request::{Expect, Reading};

/// What is less likely is left out.
const LEAST: f64 = 0.01;

/// A token of an answer that is a whole number, and the whole numbers that could have stood in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numeral {
    /// What was said.
    pub said: i64,
    /// Numbers, each with the logarithm of its probability; the one that was said is among them as a rule.
    pub likely: Vec<(i64, f64)>,
}

impl Numeral {
    /// The numeral of a token and the tokens likely at its place, each with the natural logarithm of its probability; `None`
    /// when the token is no number of decimal digits.
    pub fn of<'a>(token: &str, likely: impl Iterator<Item = (&'a str, f64)>) -> Option<Numeral> {
        let said = number(token)?;
        let likely = likely
            .filter(|(_, logprob)| logprob.is_finite())
            .filter_map(|(token, logprob)| Some((number(token)?, logprob)));
        Some(Numeral {
            said,
            likely: likely.collect(),
        })
    }
}

fn number(token: &str) -> Option<i64> {
    let token = token.trim();
    let is_decimal = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    is_decimal.then(|| token.parse().ok())?
}

/// The grade with its mean by probability, where the numerals of the answer tell it: of the last one that is the grade,
/// those within the scale and not below a hundredth, `Σ grade · p / Σ p`. Anything else is as it was.
pub fn weigh(expect: Expect, mut reading: Reading, numerals: &[Numeral]) -> Reading {
    if let (
        Expect::WeightedGrade { low, high },
        Reading::Grade {
            grade, weighted, ..
        },
    ) = (expect, &mut reading)
    {
        *weighted = mean(*grade, low..=high, numerals);
    }
    reading
}

fn mean(grade: f64, scale: std::ops::RangeInclusive<i64>, numerals: &[Numeral]) -> Option<f64> {
    #[expect(
        clippy::float_cmp,
        reason = "a whole number that was said is the grade or is not"
    )]
    let numeral = numerals
        .iter()
        .rev()
        .find(|numeral| numeral.said as f64 == grade)?;
    let (mut sum, mut weight) = (0.0, 0.0);
    for (number, logprob) in &numeral.likely {
        let probability = logprob.exp().min(1.0);
        if scale.contains(number) && probability >= LEAST {
            sum += *number as f64 * probability;
            weight += probability;
        }
    }
    let (low, high) = (*scale.start() as f64, *scale.end() as f64);
    (weight > 0.0).then(|| (sum / weight).clamp(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Expect = Expect::WeightedGrade { low: 0, high: 10 };

    fn numeral(token: &str, likely: &[(&str, f64)]) -> Numeral {
        let likely = likely.iter().map(|(token, p)| (*token, p.ln()));
        Numeral::of(token, likely).unwrap()
    }

    fn weighted(grade: f64, numerals: &[Numeral]) -> Option<f64> {
        let reading = Reading::Grade {
            grade,
            weighted: None,
            reason: String::new(),
        };
        match weigh(SCALE, reading, numerals) {
            Reading::Grade { weighted, .. } => weighted,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found}");
    }

    #[test]
    fn grades_count_by_their_probability() {
        let likely = [("7", 0.6), (" 8", 0.3), ("6", 0.05), ("seven", 0.04)];
        check(
            weighted(7.0, &[numeral("7", &likely)]),
            (7.0 * 0.6 + 8.0 * 0.3 + 6.0 * 0.05) / 0.95,
        );
        // Less than a hundredth, and beyond the scale.
        let likely = [("7", 0.5), ("9", 0.009), ("70", 0.4)];
        check(weighted(7.0, &[numeral("7", &likely)]), 7.0);
        // One number as two tokens.
        let likely = [("7", 0.4), (" 7", 0.2), ("9", 0.2)];
        check(
            weighted(7.0, &[numeral(" 7", &likely)]),
            (7.0 * 0.6 + 9.0 * 0.2) / 0.8,
        );
    }

    #[test]
    fn the_last_numeral_that_is_the_grade_counts() {
        let numerals = [
            numeral("7", &[("7", 0.5), ("1", 0.5)]),
            numeral("7", &[("7", 0.5), ("9", 0.5)]),
            numeral("3", &[("3", 0.5), ("2", 0.5)]),
        ];
        check(weighted(7.0, &numerals), 8.0);
    }

    #[test]
    fn without_a_numeral_there_is_no_mean() {
        let seven = numeral("7", &[("7", 1.0)]);
        assert_eq!(weighted(7.0, &[]), None);
        assert_eq!(weighted(8.0, std::slice::from_ref(&seven)), None);
        assert_eq!(weighted(7.5, std::slice::from_ref(&seven)), None);
        assert_eq!(weighted(7.0, &[numeral("7", &[("seven", 1.0)])]), None);
        let grade = Reading::Grade {
            grade: 7.0,
            weighted: None,
            reason: String::new(),
        };
        let plain = Expect::Grade { low: 0, high: 10 };
        assert_eq!(weigh(plain, grade.clone(), &[seven]), grade);
        for token in ["", "-7", "7.0", "٧", "99999999999999999999", "x7"] {
            assert_eq!(Numeral::of(token, std::iter::empty()), None, "{token}");
        }
    }
}
