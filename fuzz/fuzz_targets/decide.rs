//! Generated results, baseline, policy and history: what holds of every decision.
#![no_main]

use gate::baseline::history_line;
use gate::history::{self, HistoryLine};
use gate::policy::{Policy, Rule};
use gate::results::{Accepted, Keep, Results, read};
use gate::verdict::{Code, Verdict};
use gate::{Inputs, decide};
use gate_fuzz::scenario::Scenario;
use gate_fuzz::verdict::{check, check_sentences};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|scenario: Scenario| -> Corpus {
    judge(&scenario).map_or(Corpus::Reject, |()| Corpus::Keep)
});

/// `None` for inputs that are refused before anything is decided.
fn judge(scenario: &Scenario) -> Option<()> {
    let policy = Policy::parse(&scenario.policy).ok()?;
    let results = read(scenario.results.text().as_bytes(), Keep::All).ok()?;
    let baseline = match &scenario.baseline {
        Some(baseline) => Some(read(baseline.text().as_bytes(), Keep::Scores).ok()?),
        None => None,
    };
    let history = match &scenario.history {
        Some(history) => Some(history::parse(history).ok()?),
        None => None,
    };
    let verdict = verdict(&policy, &results, baseline.as_ref(), history.as_deref())?;
    let json = check(&verdict);
    check_sentences(&verdict);

    // What becomes of it when it is accepted can be read again.
    let line = history_line(&results, &verdict, &Accepted::default());
    let written = serde_json::to_string(&line).expect("a line can be written");
    assert_eq!(history::parse(&written), Ok(vec![line]), "{written}");

    // The order of a file changes nothing.
    let shuffled = |text: String| read(text.as_bytes(), Keep::All).expect("order makes no error");
    let results_again = shuffled(scenario.results.shuffled(scenario.shuffle));
    let baseline_again = scenario
        .baseline
        .as_ref()
        .map(|baseline| shuffled(baseline.shuffled(!scenario.shuffle)));
    let again = self::verdict(
        &policy,
        &results_again,
        baseline_again.as_ref(),
        history.as_deref(),
    )
    .expect("order makes no error");
    let json_again = check(&again);
    assert_eq!(
        json, json_again,
        "the order of the samples changes the verdict"
    );

    // What did not change did not get worse.
    if policy.rule() != Rule::Noninferior && scenario.shuffle.is_multiple_of(4) {
        let same = self::verdict(&policy, &results, Some(&results), None)?;
        check(&same);
        assert!(
            !same
                .reasons
                .iter()
                .any(|reason| reason.code == Code::Regression),
            "{same:?}"
        );
    }
    Some(())
}

fn verdict(
    policy: &Policy,
    results: &Results,
    baseline: Option<&Results>,
    history: Option<&[HistoryLine]>,
) -> Option<Verdict> {
    let bound = policy.bind(results, baseline).ok()?;
    for side in [Some(results), baseline].into_iter().flatten() {
        bound.check_ranges(side).ok()?;
    }
    Some(decide(Inputs {
        policy,
        bound: &bound,
        results,
        baseline,
        history,
    }))
}
