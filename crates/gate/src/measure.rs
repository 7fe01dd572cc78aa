//! What one file measures of one metric in one variant: scores by sample, repeats averaged.

use std::borrow::Cow;
use std::ops::Range;

use crate::results::{Results, Samples, Score, ScoreColumn, Scores, Summary};
use crate::stats::Sum;

/// The samples of one variant. A sample is all rows of one id: its repeats.
#[derive(Debug, Clone)]
pub(crate) struct Units<'a> {
    pub(crate) samples: &'a Samples,
    rows: Range<usize>,
    /// First row of each sample, and the end; `None` when every row is a sample of its own.
    starts: Option<Vec<u32>>,
}

/// How many samples have a score, and their mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) n: u64,
    pub(crate) failed: u64,
    pub(crate) not_applicable: u64,
    pub(crate) mean: Option<f64>,
}

/// One metric of one variant on one side.
#[derive(Debug, Clone)]
pub(crate) enum Measured<'a> {
    /// The file does not measure it.
    Missing,
    /// A mean without samples.
    Mean(Summary),
    /// A score for each sample.
    Samples(SampleScores<'a>),
}

/// Scores of one metric by sample.
#[derive(Debug, Clone)]
pub(crate) struct SampleScores<'a> {
    pub(crate) column: &'a ScoreColumn,
    /// By sample, NaN where there is none.
    pub(crate) scores: Cow<'a, [f64]>,
}

impl<'a> Units<'a> {
    pub(crate) fn of(samples: &'a Samples, variant: Option<&str>) -> Self {
        Self::of_rows(samples, samples.rows_of(variant))
    }

    fn of_rows(samples: &'a Samples, rows: Range<usize>) -> Self {
        // Rows of one sample stand together; only repeats beyond the first make samples longer than a row.
        let repeated = rows
            .clone()
            .skip(1)
            .any(|row| samples.repeat(row) > 0 && continues(samples, row));
        let starts = repeated.then(|| {
            rows.clone()
                .filter(|&row| row == rows.start || !continues(samples, row))
                .chain(std::iter::once(rows.end))
                .filter_map(|row| u32::try_from(row).ok())
                .collect()
        });
        Units {
            samples,
            rows,
            starts,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.starts {
            Some(starts) => starts.len().saturating_sub(1),
            None => self.rows.len(),
        }
    }

    /// Rows of one sample.
    pub(crate) fn rows(&self, unit: usize) -> Range<usize> {
        match &self.starts {
            Some(starts) => {
                let at =
                    |index: usize| starts.get(index).map_or(self.rows.end, |row| *row as usize);
                at(unit)..at(unit + 1)
            }
            None => self.rows.start + unit..self.rows.start + unit + 1,
        }
    }

    pub(crate) fn first_row(&self, unit: usize) -> usize {
        self.rows(unit).start
    }

    pub(crate) fn id(&self, unit: usize) -> &'a str {
        self.samples.id(self.first_row(unit))
    }

    pub(crate) fn input_sha256(&self, unit: usize) -> Option<&'a str> {
        self.samples.input_sha256(self.first_row(unit))
    }

    /// Scores by sample: the mean of those repeats that have one.
    pub(crate) fn scores(&self, column: &'a ScoreColumn) -> Cow<'a, [f64]> {
        match &self.starts {
            None => Cow::Borrowed(column.values().get(self.rows.clone()).unwrap_or(&[])),
            Some(_) => Cow::Owned(
                (0..self.len())
                    .map(|unit| {
                        let values = column.values().get(self.rows(unit)).unwrap_or(&[]);
                        crate::stats::mean(values.iter().copied().filter(|value| value.is_finite()))
                            .unwrap_or(f64::NAN)
                    })
                    .collect(),
            ),
        }
    }

    /// True when a sample without a score has none because the metric does not apply to it.
    pub(crate) fn is_not_applicable(&self, column: &ScoreColumn, unit: usize) -> bool {
        self.rows(unit).all(|row| column.is_not_applicable(row))
    }

    /// Why a sample has no score: the first repeat that failed.
    pub(crate) fn failure(
        &self,
        column: &'a ScoreColumn,
        unit: usize,
    ) -> Option<(&'a str, Option<&'a str>)> {
        self.rows(unit).find_map(|row| match column.score(row) {
            Score::Failed { kind, message } => Some((kind, message)),
            Score::Number(_) | Score::NotApplicable(_) => None,
        })
    }

    /// Counts and mean of those samples that `members` names, or of all.
    pub(crate) fn tally(&self, measured: &SampleScores<'_>, members: Option<&[u32]>) -> Tally {
        let mut tally = Tally::default();
        let mut sum = Sum::default();
        let mut count = |unit: usize, score: f64| {
            if score.is_finite() {
                tally.n += 1;
                sum.add(score);
            } else if self.is_not_applicable(measured.column, unit) {
                tally.not_applicable += 1;
            } else {
                tally.failed += 1;
            }
        };
        match members {
            Some(members) => members.iter().for_each(|unit| {
                let unit = *unit as usize;
                count(unit, measured.scores.get(unit).copied().unwrap_or(f64::NAN));
            }),
            None => measured
                .scores
                .iter()
                .enumerate()
                .for_each(|(unit, score)| count(unit, *score)),
        }
        tally.mean = (tally.n > 0).then(|| sum.total() / tally.n as f64);
        tally
    }
}

impl Tally {
    /// Over rows: every repeat counts.
    pub(crate) fn of_rows(column: &ScoreColumn, rows: Range<usize>) -> Tally {
        let mut tally = Tally::default();
        let mut sum = Sum::default();
        for row in rows {
            let score = column.values().get(row).copied().unwrap_or(f64::NAN);
            if score.is_finite() {
                tally.n += 1;
                sum.add(score);
            } else if column.is_not_applicable(row) {
                tally.not_applicable += 1;
            } else {
                tally.failed += 1;
            }
        }
        tally.mean = (tally.n > 0).then(|| sum.total() / tally.n as f64);
        tally
    }

    /// Over samples: repeats are averaged first.
    pub(crate) fn of_samples(samples: &Samples, column: &ScoreColumn, rows: Range<usize>) -> Tally {
        let units = Units::of_rows(samples, rows);
        let scores = units.scores(column);
        units.tally(&SampleScores { column, scores }, None)
    }
}

impl<'a> Measured<'a> {
    /// One metric of one variant of a file. `units` are the variant's samples, when the file has samples.
    pub(crate) fn of(
        results: &'a Results,
        units: Option<&Units<'a>>,
        metric: &str,
        variant: Option<&str>,
    ) -> Measured<'a> {
        match (&results.scores, units) {
            (Scores::Means(means), _) => means
                .get(&variant.map(str::to_owned))
                .and_then(|metrics| metrics.get(metric))
                .map_or(Measured::Missing, |summary| Measured::Mean(*summary)),
            (Scores::Samples(samples), Some(units)) => match samples.metric(metric) {
                Some(column)
                    if units.len() > 0 && !units.rows.clone().all(|row| column.is_absent(row)) =>
                {
                    Measured::Samples(SampleScores {
                        column,
                        scores: units.scores(column),
                    })
                }
                _ => Measured::Missing,
            },
            (Scores::Samples(_), None) => Measured::Missing,
        }
    }
}

fn continues(samples: &Samples, row: usize) -> bool {
    row > 0
        && samples.id(row - 1) == samples.id(row)
        && samples.variant(row - 1) == samples.variant(row)
}
