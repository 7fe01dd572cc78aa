//! `kind = "command"`: a program of the user's that scores.
//!
//! The metric starts nothing: it says which program, and whoever runs it carries a sample there and an outcome back.

mod reply;

use std::fmt::Write;
use std::time::Duration;

use gate::policy::Direction;

use sha2::{Digest as _, Sha256};

pub use reply::{Reply, reply};

use crate::outcome::{Answer, FailureKind, Outcome, Step};
use crate::reason;
use crate::registry::Entry;
use crate::sample::Sample;
use crate::{Info, Metric};

/// How long a program may take for one sample, where gate.toml does not say it.
const TIMEOUT: Duration = Duration::from_mins(1);

/// What can be built.
pub(crate) const ENTRIES: &[Entry] = &[Entry {
    name: "command",
    about: "what a program of your own says",
    definition: "the number that a program answers for the sample. The program is started once for each worker, reads a \
sample as one line of JSON from its standard input and answers with one line of JSON: `{\"score\": 0.5, \"reason\": \"…\"}`, \
`{\"not_applicable\": \"why\"}` or `{\"error\": \"why\"}`, each with the `id` of the sample: an answer without it cannot be \
told from a line too many.

Not applicable where the program says so. A program that ends, is silent for `timeout` (60 s), or answers something else \
fails that sample and is started again; a score that is no finite number, or outside `range`, is a failure. \
Answers are not cached. `direction` (higher) and `range` (none) of gate.toml say what the number means.

The version is the hash of the command line: what the program itself does may change unseen, so give it a new argument \
when it does.",
    keys: &["command", "timeout"],
    example: "kind = 'command'\ncommand = ['python3', 'score.py']",
    build: |of| {
        let command = of.section.command.as_ref();
        let command = command.map(|command| command.get_ref().clone());
        let command = command
            .filter(|command| command.first().is_some_and(|program| !program.is_empty()))
            .ok_or_else(|| {
                let why = "name the program and its arguments: command = [\"python3\", \"score.py\"]";
                of.lacks("command", why)
            })?;
        Ok(Box::new(External::new(
            of.name,
            command,
            of.section.timeout.map_or(TIMEOUT, |timeout| timeout.0),
            of.section.direction.unwrap_or(Direction::Higher),
            of.section.range.as_ref().map(|range| *range.get_ref()),
        )))
    },
}];

/// A program that scores, as gate.toml names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments; never empty. A path is relative to gate.toml.
    pub command: Vec<String>,
    /// How long it may take for one sample.
    pub timeout: Duration,
}

/// What a program says.
#[derive(Debug)]
struct External {
    info: Info,
    program: Program,
}

impl External {
    fn new(
        name: &str,
        command: Vec<String>,
        timeout: Duration,
        direction: Direction,
        range: Option<[f64; 2]>,
    ) -> Self {
        External {
            info: Info {
                name: name.to_owned(),
                version: format!("1, command {}", short_hash(&command)),
                prompt_sha256: None,
                direction,
                range,
                judged: false,
                calls: 0,
                embeds: false,
                // The program says what it cannot do without.
                needs: Vec::new(),
            },
            program: Program { command, timeout },
        }
    }

    /// The outcome, held against the range.
    fn checked(&self, outcome: &Outcome) -> Outcome {
        match outcome {
            Outcome::Score { score, .. } if !score.is_finite() => Outcome::Failed {
                kind: FailureKind::NotANumber,
                message: format!("the score is {score}"),
            },
            Outcome::Score { score, reason } => match self.info.range {
                Some([low, high]) if !(low..=high).contains(score) => Outcome::Failed {
                    kind: FailureKind::Inconsistent,
                    message: format!("the score {score} is outside the range [{low}, {high}]"),
                },
                _ => Outcome::Score {
                    score: *score,
                    reason: reason.as_deref().map(reason::short),
                },
            },
            Outcome::NotApplicable(why) => Outcome::NotApplicable(reason::short(why)),
            Outcome::Failed { kind, message } => Outcome::Failed {
                kind: *kind,
                message: reason::short(message),
            },
        }
    }
}

/// The first 48 bits of SHA-256, in lower-case hexadecimal: enough to tell command lines apart.
fn short_hash(command: &[String]) -> String {
    let mut words = Sha256::new();
    for word in command {
        // The length first, so that no two command lines are the same text.
        words.update((word.len() as u64).to_le_bytes());
        words.update(word);
    }
    let digest = words.finalize();
    digest.iter().take(6).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Metric for External {
    fn info(&self) -> &Info {
        &self.info
    }

    fn step(&self, _: &Sample, answers: &[Answer]) -> Step {
        match answers {
            [] => Step::Run,
            [Answer::Outcome(outcome), ..] => Step::Done(self.checked(outcome)),
            _ => Step::Done(Outcome::Failed {
                kind: FailureKind::Inconsistent,
                message: "the program was not what answered".to_owned(),
            }),
        }
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::built;

    fn external(more: &str) -> Box<dyn Metric> {
        built(
            "tone",
            &format!("kind = 'command'\ncommand = ['score', 'a']\n{more}"),
        )
        .unwrap()
    }

    fn outcome(metric: &dyn Metric, score: f64) -> Outcome {
        let reason = Some("so".to_owned());
        let answer = Answer::Outcome(Outcome::Score { score, reason });
        match metric.step(&Sample::default(), &[answer]) {
            Step::Done(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn gate_toml_says_what_the_number_means() {
        let plain = external("");
        let info = plain.info();
        assert_eq!((info.direction, info.range), (Direction::Higher, None));
        assert_eq!(plain.step(&Sample::default(), &[]), Step::Run);
        let stated = external("direction = 'lower'\nrange = [0, 10]\ntimeout = '2s'");
        let info = stated.info();
        assert_eq!(
            (info.direction, info.range),
            (Direction::Lower, Some([0.0, 10.0]))
        );
        let program = stated.program().unwrap();
        assert_eq!(program.timeout, Duration::from_secs(2));
        assert_eq!(program.command, ["score", "a"]);
    }

    #[test]
    fn another_command_line_is_another_version() {
        let version = |command: &str| {
            let table = format!("kind = 'command'\ncommand = {command}");
            built("tone", &table).unwrap().info().version.clone()
        };
        assert_eq!(version("['score', 'a']"), version("['score', 'a']"));
        assert_ne!(version("['score', 'a']"), version("['score', 'b']"));
        assert_ne!(version("['score', 'a']"), version("['scorea']"));
        assert_ne!(version("['score', '1:a']"), version("['score', '', 'a']"));
    }

    #[test]
    fn a_score_outside_the_range_is_a_failure() {
        let unit = external("range = [0, 1]");
        for score in [0.0, 0.5, 1.0] {
            let reason = Some("so".to_owned());
            assert_eq!(outcome(&*unit, score), Outcome::Score { score, reason });
        }
        for (score, expected) in [
            (-0.1, FailureKind::Inconsistent),
            (1.5, FailureKind::Inconsistent),
            (f64::NAN, FailureKind::NotANumber),
            (f64::NEG_INFINITY, FailureKind::NotANumber),
        ] {
            match outcome(&*unit, score) {
                Outcome::Failed { kind, .. } => assert_eq!(kind, expected, "{score}"),
                other => panic!("{other:?}"),
            }
        }
        assert!(matches!(
            outcome(&*external(""), 1e12),
            Outcome::Score { .. }
        ));
    }

    #[test]
    fn a_program_is_needed() {
        for table in ["", "command = []", "command = ['']"] {
            let error = built("tone", &format!("kind = 'command'\n{table}")).unwrap_err();
            assert!(error.to_string().starts_with("`tone` has no `command`"));
        }
    }
}
