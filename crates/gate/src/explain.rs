//! What each code means, and what to do about it.

use crate::verdict::Code;

/// The explanation of one code.
#[derive(Debug, Clone, Copy)]
pub struct Explanation {
    /// The code.
    pub code: Code,
    /// What it does to the outcome: `block`, `undecided` or `warning`.
    pub effect: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub advice: &'static str,
}

/// All codes, in the order of the documentation.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: Code::BelowMinimum,
        effect: "block",
        meaning: "The aggregate (the mean, unless `aggregate` says otherwise) of the scored samples is below `min`. A value that equals the limit passes.",
        advice: "Look at the samples that fell, mend the change, or lower `min` in a change of its own, where a reviewer sees it.",
    },
    Explanation {
        code: Code::AboveMaximum,
        effect: "block",
        meaning: "The aggregate of the scored samples is above `max`. A value that equals the limit passes.",
        advice: "Mend the change, or raise `max` in a change of its own, where a reviewer sees it.",
    },
    Explanation {
        code: Code::Regression,
        effect: "block",
        meaning: "Over the samples that both sides scored, the metric got worse than the baseline by more than `max_drop` (or `max_rise`), by the rule that the policy names: `point`, `significant` or `noninferior`.",
        advice: "Look at the samples that fell most. If the loss is wanted, accept it when the baseline moves on: rag-gate baseline update RUN --to BASELINE --accept METRIC --reason TEXT. If the message says that it could be noise, use rule = \"significant\" or more samples.",
    },
    Explanation {
        code: Code::Drift,
        effect: "block",
        meaning: "The changes accepted since an earlier baseline and this one add up to more than `max_drift`, though each of them was within `max_drop`.",
        advice: "Win back what was lost, or accept it with a reason: --accept METRIC --reason TEXT at the next baseline update begins the chain anew for that metric.",
    },
    Explanation {
        code: Code::MissingMetric,
        effect: "undecided",
        meaning: "The policy gates a metric that the results do not measure, for this variant or at all. A renamed or dropped metric must not switch the gate off.",
        advice: "Measure it, or take it out of [metrics] in a change of its own.",
    },
    Explanation {
        code: Code::NothingMeasured,
        effect: "undecided",
        meaning: "There is no sample, or none of them has a score. Nothing measured is no evidence of quality.",
        advice: "Look at the failures that the results name, mend the evaluation, and run it again.",
    },
    Explanation {
        code: Code::TooManyFailures,
        effect: "undecided",
        meaning: "A larger share of the applicable samples than `max_failed` has no score. The mean of those that are left says little: what fails is rarely a random part. Limits that would be violated even if every unscored sample had the best score still block.",
        advice: "Look at the kinds of failure, mend the evaluation, and run it again.",
    },
    Explanation {
        code: Code::TooFewSamples,
        effect: "undecided",
        meaning: "Fewer samples are scored than `min_samples` asks for, or rule = \"noninferior\" has no interval to go by.",
        advice: "Measure more samples; for `noninferior` write results with samples, in at least two clusters.",
    },
    Explanation {
        code: Code::IncompleteRun,
        effect: "undecided",
        meaning: "The results say that the run was interrupted (run.complete is false).",
        advice: "Run the evaluation again, to its end.",
    },
    Explanation {
        code: Code::Incomparable,
        effect: "undecided",
        meaning: "The two sides differ so that a difference means nothing: another judge, prompt, version or scale of the metric, a judge that moved under the same name (it scores its pinned answers otherwise than before), rewritten questions, or too few common samples. Absolute limits still hold.",
        advice: "Measure the baseline's commit again with the same judge and dataset, and update the baseline. For the one merge that changes the judge, on_incomparable = \"absolute\" holds it to its absolute limits alone.",
    },
    Explanation {
        code: Code::UnreadableInput,
        effect: "undecided",
        meaning: "A file is missing, cut off, or not what it should be. The message says where.",
        advice: "Write or fetch the file again. For a first baseline: rag-gate baseline update RESULTS --to BASELINE.",
    },
    Explanation {
        code: Code::InvalidPolicy,
        effect: "undecided",
        meaning: "gate.toml or the command line is wrong: an unknown key, a name that matches no metric, a limit that contradicts another. A misspelt limit is no limit, so nothing is judged by it.",
        advice: "Mend the line that the message shows.",
    },
    Explanation {
        code: Code::CouldBeNoise,
        effect: "warning",
        meaning: "The metric got worse by more than the limit, but by no more than chance does with so few samples (rule = \"significant\").",
        advice: "Nothing has to be done. The message says about how many samples would decide.",
    },
    Explanation {
        code: Code::NotInBaseline,
        effect: "warning",
        meaning: "The baseline does not know this metric or variant. It is held to its absolute limits; its regression is not gated yet.",
        advice: "Nothing has to be done: the next baseline update brings it in.",
    },
    Explanation {
        code: Code::GoneFromResults,
        effect: "warning",
        meaning: "The baseline measures a metric or variant that the results do not, and the policy does not ask for it.",
        advice: "If it was dropped on purpose, nothing; the next baseline update forgets it. Else name it in [metrics].",
    },
    Explanation {
        code: Code::RegressionNotGated,
        effect: "warning",
        meaning: "No limit gates the regression of this metric: the default `max_drop` holds for metrics with range [0, 1] alone.",
        advice: "Give the metric a `max_drop` or `max_rise`, in points or as a percentage such as \"10%\".",
    },
    Explanation {
        code: Code::Assumed,
        effect: "warning",
        meaning: "Neither the files nor gate.toml say which way the metric is better, and rag-gate does not know it by name. Higher is assumed.",
        advice: "Set direction = \"higher\" or \"lower\" under [metrics.NAME].",
    },
    Explanation {
        code: Code::UnknownProvenance,
        effect: "warning",
        meaning: "One side does not state something that the other does, such as the judge. They are compared all the same.",
        advice: "Let whatever writes the results state it, and update the baseline.",
    },
    Explanation {
        code: Code::SamplesChanged,
        effect: "warning",
        meaning: "Samples were added, removed or rewritten. The regression is that of the samples that are on both sides, so that deleting hard questions or adding easy ones moves nothing.",
        advice: "Make sure that the change of the dataset is meant.",
    },
    Explanation {
        code: Code::NoInterval,
        effect: "warning",
        meaning: "One side has means and no samples: nothing is paired, there is no interval, and the point rule applies.",
        advice: "Write results with samples; then noise and regressions can be told apart.",
    },
    Explanation {
        code: Code::SmallSlice,
        effect: "warning",
        meaning: "A slice has too few scores to be judged, or none any more. It is shown all the same.",
        advice: "Add samples to the slice, or lower its `min_samples`.",
    },
    Explanation {
        code: Code::UniformScores,
        effect: "warning",
        meaning: "The judge gave the same score to at least 95 % of the samples (of 20 or more), so that the metric hardly tells one answer from another. Where it is the best score, a good system looks like that, and so does a judge that says yes to everything.",
        advice: "Give the judge an answer that you know to be wrong: if it has the same score, mend the criteria or the prompt, or ask a better model. If it does not, the system is good at this, and the metric guards it.",
    },
    Explanation {
        code: Code::NoBaseline,
        effect: "warning",
        meaning: "There is no baseline, and --allow-missing-baseline (or a change that brings the gate) permits it: absolute limits alone apply.",
        advice: "Make one from accepted results: rag-gate baseline update RESULTS --to BASELINE.",
    },
    Explanation {
        code: Code::NoPolicy,
        effect: "warning",
        meaning: "There is no gate.toml, so the defaults apply to every metric of the two files.",
        advice: "Write a gate.toml with the limits you mean.",
    },
    Explanation {
        code: Code::DriftChain,
        effect: "warning",
        meaning: "The chain of accepted baselines that `max_drift` looks back along is missing, broken or does not end at this baseline.",
        advice: "Commit history.jsonl beside the baseline; `rag-gate baseline update` writes both.",
    },
    Explanation {
        code: Code::Adoption,
        effect: "warning",
        meaning: "The base has no gate.toml or no baseline and the change brings them: it is judged by its own policy and by absolute limits.",
        advice: "Review the policy and the baseline that the change brings: from the merge on they judge every change.",
    },
];

impl Code {
    /// The code as it is written: `below-minimum`.
    pub fn name(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// What the code means; `None` only for a code that the table forgot, which a test excludes.
    pub fn explanation(self) -> Option<&'static Explanation> {
        EXPLANATIONS.iter().find(|entry| entry.code == self)
    }

    /// The code of that name, or the nearest one.
    pub fn parse(name: &str) -> Result<Code, Option<String>> {
        let found = EXPLANATIONS.iter().find(|entry| entry.code.name() == name);
        found.map(|entry| entry.code).ok_or_else(|| {
            let names: Vec<String> = EXPLANATIONS.iter().map(|entry| entry.code.name()).collect();
            crate::policy::nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
        })
    }
}
