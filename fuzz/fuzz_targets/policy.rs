//! Arbitrary text as gate.toml, applied to results that stay the same.
#![no_main]

use gate::policy::{Policy, PolicyError};
use gate::results::Results;
use gate::{Inputs, decide};
use gate_fuzz::fixed::{MEANS, WITH_SAMPLES};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let policy = match Policy::parse(text) {
        Ok(policy) => policy,
        Err(error) => return check_error(text, &error),
    };
    assert!(policy.confidence() > 0.5 && policy.confidence() < 1.0);
    let sides: [(&Results, Option<&Results>); 3] = [
        (&WITH_SAMPLES[0], Some(&WITH_SAMPLES[1])),
        (&MEANS[0], Some(&MEANS[1])),
        (&WITH_SAMPLES[0], None),
    ];
    for (results, baseline) in sides {
        let bound = match policy.bind(results, baseline) {
            Ok(bound) => bound,
            Err(error) => {
                check_error(text, &error);
                continue;
            }
        };
        let verdict = decide(Inputs {
            policy: &policy,
            bound: &bound,
            results,
            baseline,
            history: None,
        });
        gate_fuzz::verdict::check(&verdict);
        let lines = text.split('\n').count();
        for reason in verdict.reasons.iter().chain(&verdict.warnings) {
            assert!(
                reason
                    .policy_line
                    .is_none_or(|line| (1..=lines).contains(&line))
            );
        }
    }
});

/// The place of an error is cut out of the text when it is shown.
fn check_error(text: &str, error: &PolicyError) {
    assert!(!error.to_string().is_empty());
    if let Some(span) = &error.span {
        assert!(
            text.get(span.clone()).is_some(),
            "{error}: {span:?} of {}",
            text.len()
        );
    }
}
