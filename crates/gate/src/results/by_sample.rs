//! One metric of a file, sample by sample, for whoever compares the samples of two files by hand.

use super::{Results, Score};
use crate::measure::Units;

/// One metric on one sample of one variant, repeats averaged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleScore<'a> {
    /// The variant; `None` is the unnamed one.
    pub variant: Option<&'a str>,
    /// The id, in Unicode NFC.
    pub id: &'a str,
    /// What it shares with samples that are not independent of it.
    pub cluster: Option<&'a str>,
    /// The mean of those repeats that have a score, or why none has.
    pub score: Score<'a>,
}

impl Results {
    /// The metric on every sample of every variant that has it, in canonical order; empty where the file has no samples, or
    /// the metric is none of its own.
    pub fn by_sample(&self, metric: &str) -> Vec<SampleScore<'_>> {
        let Some((samples, column)) = self
            .samples()
            .and_then(|samples| Some((samples, samples.metric(metric)?)))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for variant in samples.variants() {
            let units = Units::of(samples, variant);
            let scores = units.scores(column);
            for unit in 0..units.len() {
                let row = units.first_row(unit);
                if units.rows(unit).all(|row| column.is_absent(row)) {
                    continue;
                }
                let score = match scores.get(unit) {
                    Some(score) if score.is_finite() => Score::Number(*score),
                    _ if units.is_not_applicable(column, unit) => column.score(row),
                    _ => match units.failure(column, unit) {
                        Some((kind, message)) => Score::Failed { kind, message },
                        None => column.score(row),
                    },
                };
                found.push(SampleScore {
                    variant,
                    id: units.id(unit),
                    cluster: samples.cluster_name(row),
                    score,
                });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Keep, read};

    #[test]
    fn repeats_are_averaged_and_what_is_missing_keeps_its_cause() {
        let text = r#"{"samples": [
            {"id": "b", "cluster": "d", "scores": {"m": null}, "not_applicable": {"m": "no claims"}},
            {"id": "a", "repeat": 0, "scores": {"m": 0.5}},
            {"id": "a", "repeat": 1, "scores": {"m": 1.0}},
            {"id": "a", "repeat": 2, "scores": {"m": null}, "failures": {"m": {"kind": "timeout"}}},
            {"id": "c", "scores": {"m": null}, "failures": {"m": {"kind": "refused"}}},
            {"id": "d", "scores": {"other": 1}},
            {"id": "a", "variant": "v", "scores": {"m": 0.25}}
        ]}"#;
        let results = read(text.as_bytes(), Keep::Scores).unwrap();
        let found: Vec<_> = results
            .by_sample("m")
            .into_iter()
            .map(|sample| (sample.variant, sample.id, sample.cluster, sample.score))
            .collect();
        let failed = Score::Failed {
            kind: "refused",
            message: None,
        };
        let not_applicable = Score::NotApplicable(Some("no claims"));
        assert_eq!(
            found,
            [
                (None, "a", None, Score::Number(0.75)),
                (None, "b", Some("d"), not_applicable),
                (None, "c", None, failed),
                (Some("v"), "a", None, Score::Number(0.25)),
            ]
        );
        assert_eq!(results.by_sample("x"), []);
        let means = read(br#"{"m": 0.5}"#.as_slice(), Keep::Scores).unwrap();
        assert_eq!(means.by_sample("m"), []);
    }
}
