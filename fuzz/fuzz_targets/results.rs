//! Arbitrary bytes as a results file.
#![no_main]

use gate::baseline::average;
use gate::results::{Keep, ReadError, Results, Scores, read};
use gate_fuzz::input::{Dribble, across_the_buffer, hash};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let outcome = read(bytes, Keep::All);

    let dribbled = read(Dribble::new(bytes), Keep::All);
    assert_eq!(
        written(&outcome),
        written(&dribbled),
        "portions change the outcome"
    );
    assert_eq!(outcome.as_ref().err(), dribbled.as_ref().err());

    // The buffer's end costs a quarter of a megabyte: some of the inputs are enough.
    let hash = hash(bytes);
    if hash.is_multiple_of(64) && !bytes.is_empty() {
        let at = (hash >> 8) as usize % bytes.len();
        let across = read(&across_the_buffer(bytes, at)[..], Keep::All);
        assert_eq!(
            written(&outcome),
            written(&across),
            "the buffer's end at {at} changes the outcome"
        );
        assert_eq!(problem(&outcome), problem(&across));
    }

    let trimmed = read(bytes, Keep::Scores);
    let results = match outcome {
        Ok(results) => results,
        Err(error) => {
            // Until `a_reason_alone_makes_no_metric` holds the two may say it in other words.
            assert!(
                trimmed.is_err(),
                "without reasons there is no error: {error}"
            );
            assert!(!error.problem.is_empty() && !error.to_string().is_empty());
            return;
        }
    };
    check_scores(&results);

    let first = write(&results);
    let again = read(&first[..], Keep::All).unwrap_or_else(|error| {
        panic!(
            "what was written cannot be read: {error}\n{}",
            String::from_utf8_lossy(&first)
        )
    });
    let second = write(&again);
    assert_eq!(
        String::from_utf8_lossy(&first),
        String::from_utf8_lossy(&second),
        "what was written is written differently"
    );

    // Two runs of the same code make a baseline that can be read.
    let twice = vec![again, results.clone()];
    let averaged =
        average(twice).unwrap_or_else(|error| panic!("a run differs from itself: {error}"));
    let written_average = write(&averaged);
    if let Err(error) = read(&written_average[..], Keep::All) {
        panic!(
            "an average cannot be read: {error}\n{}",
            String::from_utf8_lossy(&written_average)
        );
    }

    // Reading without reasons is reading and dropping them.
    let trimmed = trimmed.unwrap_or_else(|error| panic!("reasons make the file readable: {error}"));
    let mut dropped = results;
    if let Scores::Samples(samples) = &mut dropped.scores {
        samples.trim_reasons();
    }
    assert_eq!(write(&trimmed), write(&dropped));
});

fn check_scores(results: &Results) {
    match &results.scores {
        Scores::Samples(samples) => {
            for column in samples.metrics() {
                assert_eq!(column.values().len(), samples.len());
                for (row, score) in column.values().iter().enumerate() {
                    assert!(!score.is_infinite(), "{} of row {row}", column.metric());
                    column.score(row);
                    column.reason(row);
                }
            }
            for row in 1..samples.len() {
                let key = |row| (samples.variant(row), samples.id(row), samples.repeat(row));
                assert!(key(row - 1) < key(row), "rows are in canonical order");
            }
        }
        Scores::Means(means) => {
            for (metric, summary) in means.values().flatten() {
                let mean = summary.mean.unwrap_or_default();
                assert!(mean.is_finite(), "the mean of {metric}");
            }
        }
    }
}

fn write(results: &Results) -> Vec<u8> {
    let mut bytes = Vec::new();
    results.write(&mut bytes).expect("memory can be written");
    bytes
}

fn written(outcome: &Result<Results, ReadError>) -> Option<Vec<u8>> {
    outcome.as_ref().ok().map(write)
}

/// What is wrong, without the place: padding moves that.
fn problem(outcome: &Result<Results, ReadError>) -> Option<(&str, Option<&str>)> {
    let error = outcome.as_ref().err()?;
    Some((error.problem.as_str(), error.pointer.as_deref()))
}
