//! `kind = "command"`: real processes that score.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use metrics::Outcome;
use runner::control::{Control, Ended};

use super::{Done, Plan, rows};

/// A run of `count` samples with a metric `mine` that is a shell script; `more` belongs to its table.
fn plan(script: &str, count: usize, more: &str) -> Plan<'static> {
    let command = serde_json::to_string(&["sh", "-c", script]).unwrap();
    command_plan(&command, count, more)
}

fn command_plan(command: &str, count: usize, more: &str) -> Plan<'static> {
    Plan {
        metrics: &[],
        tables: vec![(
            "mine".to_owned(),
            format!("kind = 'command'\ncommand = {command}\n{more}"),
        )],
        judge: "[judge]\nprovider = \"lexical\"\n".to_owned(),
        ..Plan::new(rows(count, count), "")
    }
}

/// A script that answers each line by what `case` says of it, and else with a score.
fn script(case: &str) -> String {
    format!(
        r#"while read -r line; do case $line in {case} *) echo '{{"score":0.5,"reason":"fine"}}';; esac; done"#
    )
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/judge")
}

fn outcome(done: &Done, sample: usize) -> Outcome {
    let outcome = done.outcomes.of(sample).next().unwrap();
    outcome.unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_of_the_documentation_scores() {
    let mut plan = command_plan("['python3', 'score.py']", 0, "range = [0, 1]");
    plan.folder = fixtures();
    plan.rows = concat!(
        r#"{"id": "a", "answer": "Rome is small", "contexts": ["rome is old"], "question": "?"}"#,
        "\n",
        r#"{"id": "b", "answer": "", "contexts": ["x"], "question": "?"}"#,
        "\n",
        r#"{"id": "c", "answer": "è 小 🗼", "contexts": [{"id": "7", "text": "È 小 🗼"}], "question": "?"}"#,
    )
    .to_owned();
    let done = plan.run().await;
    let Outcome::Score { score, reason } = outcome(&done, 0) else {
        panic!("{:?}", outcome(&done, 0));
    };
    assert!((score - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(reason.as_deref(), Some("missing: small"));
    assert_eq!(
        outcome(&done, 1),
        Outcome::NotApplicable("no answer".to_owned())
    );
    assert!(matches!(outcome(&done, 2), Outcome::Score { score, .. } if score > 0.999));
    // A program is no judge: nothing was called and nothing paid for.
    assert_eq!((done.counts.requests, done.counts.calls), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_of_the_page_is_the_one_that_is_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/metrics-own.md")).unwrap();
    let program = std::fs::read_to_string(fixtures().join("score.py")).unwrap();
    assert!(page.contains(&format!("```python\n{program}```\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_does_to_one_sample_it_does_to_no_other() {
    for (case, kind, words) in [
        ("exit 3;;", "unavailable", "exit status: 3"),
        ("kill -9 $$;;", "unavailable", "signal"),
        ("exec sleep 60;;", "timeout", "no answer from"),
        ("echo 'loading model';;", "unparsable", "loading model"),
        ("echo; echo;;", "unparsable", "is no JSON"),
        (
            r#"echo '{"id":"q-1","score":1}';;"#,
            "unparsable",
            "instead of",
        ),
        (r#"echo '{"score":NaN}';;"#, "not-a-number", "NaN"),
        (r#"echo '{"score":"0.5"}';;"#, "not-a-number", "no number"),
        (
            r#"echo '{"score":1.5}';;"#,
            "inconsistent",
            "outside the range [0, 1]",
        ),
        (r#"echo '{"error":"no table"}';;"#, "refused", "no table"),
    ] {
        let script = script(&format!("*'\"q-00004\"'*) {case}"));
        let done = plan(&script, 8, "range = [0, 1]\ntimeout = '700ms'")
            .run()
            .await;
        assert_eq!(done.kinds(), [("score", 7), (kind, 1)].into(), "{case}");
        let messages = done.messages();
        assert!(messages[0].contains(words), "{case}: {messages:?}");
        assert!(
            matches!(outcome(&done, 4), Outcome::Failed { .. }),
            "{case}"
        );
        assert_eq!(done.job.control.ended(), None, "{case}");
    }
}

/// The sample is sent to no second process, though the first had answered before: it may have done its work already.
#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_a_program_dies_of_is_not_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(r#"*'"q-00002"'*) echo dies >>deaths; exit 3;;"#);
    let mut plan = plan(&script, 5, "");
    plan.folder = folder.path().to_owned();
    let done = plan.run().await;
    assert_eq!(done.kinds(), [("score", 4), ("unavailable", 1)].into());
    assert!(matches!(outcome(&done, 2), Outcome::Failed { .. }));
    let deaths = std::fs::read_to_string(folder.path().join("deaths")).unwrap();
    assert_eq!(deaths, "dies\n");
}

/// Whenever the line comes, with an answer, before the next sample or after it, no score of another sample is left.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_too_many_is_no_answer_to_the_next_sample() {
    let out_of_step = "more lines than it was asked for";
    // The fourth answer of a process is that of some sample: which one it is, the schedule decides.
    for (what, script, failed) in [
        (
            "with an answer",
            r#"while read -r line; do n=$((n+1)); case $n in 4) printf '{"score":100}\n{"score":1}\n';; *) echo '{"score":1}';; esac; done"#,
            // Those before could be late by one as well; the next process is in step.
            4,
        ),
        (
            "before the first sample",
            r#"echo '{"score":100}'; while read -r line; do echo '{"score":1}'; done"#,
            6,
        ),
        (
            "before the first sample, of a program that is slower than what asks it",
            r#"echo '{"score":100}'; while read -r line; do sleep 0.05; echo '{"score":1}'; done"#,
            6,
        ),
        (
            "no answer, with an answer",
            r#"while read -r line; do n=$((n+1)); case $n in 4) printf '{"score":1}\nhalf done\n';; *) echo '{"score":1}';; esac; done"#,
            1,
        ),
        (
            "with an answer that names its sample",
            r#"while read -r line; do n=$((n+1)); id=${line#*'"id":"'}; id=${id%%'"'*}; case $n in 4) printf '{"id":"%s","score":1}\n{"score":1}\n' $id;; *) echo "{\"id\":\"$id\",\"score\":1}";; esac; done"#,
            1,
        ),
        (
            "no answer, at the end",
            r#"while read -r line; do echo '{"score":1}'; done; echo bye"#,
            0,
        ),
    ] {
        let done = plan(script, 6, "").run().await;
        let mut expected =
            std::collections::BTreeMap::from([("score", 6 - failed), ("unparsable", failed)]);
        expected.retain(|_, count| *count > 0);
        assert_eq!(done.kinds(), expected, "{what}: {:?}", done.messages());
        assert_eq!(done.counts.failed, failed as u64, "{what}");
        for message in done.messages() {
            assert!(message.contains(out_of_step), "{what}: {message}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_repeats_the_id_loses_no_other_sample() {
    let script = r#"echo '{"id":"q-99999","score":100}'; while read -r line; do id=${line#*'"id":"'}; id=${id%%'"'*}; echo "{\"id\":\"$id\",\"score\":1}"; done"#;
    let done = plan(script, 6, "").run().await;
    // Each new process says its line too many again.
    assert_eq!(done.kinds(), [("unparsable", 6)].into());
    assert!(done.messages()[0].contains("instead of"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_score_that_is_found_to_be_none_ends_a_run_that_fails_fast() {
    let mut plan = plan(
        r#"echo '{"score":100}'; while read -r line; do echo '{"score":1}'; done"#,
        3,
        "",
    );
    plan.fail_fast = true;
    let done = plan.run().await;
    assert!(matches!(
        done.job.control.ended(),
        Some(Ended::FailFast { .. })
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_cannot_start_ends_the_run() {
    for (command, words) in [
        ("['no-such-program-anywhere']", "cannot start"),
        ("['./not/here']", "cannot start"),
        (
            "['sh', '-c', 'echo no module named torch >&2; exit 1']",
            "no module named torch; so it did each time",
        ),
    ] {
        let done = command_plan(command, 500, "").run().await;
        match done.job.control.ended() {
            Some(Ended::Fatal { failure, .. }) => {
                assert!(failure.message.starts_with("mine: "), "{failure}");
                assert!(failure.message.contains(words), "{failure}");
            }
            other => panic!("{command}: {other:?}"),
        }
        assert!(done.counts.failed <= 4, "{command}: {:?}", done.counts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_always_silent_ends_the_run() {
    let started = Instant::now();
    let done = plan("exec sleep 60", 500, "timeout = '20ms'").run().await;
    match done.job.control.ended() {
        Some(Ended::Fatal { failure, .. }) => {
            assert!(failure.message.contains("20 times in a row"), "{failure}");
        }
        other => panic!("{other:?}"),
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_answers_for_many_samples_and_there_are_no_more_than_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo $$ >>pids; while read -r line; do sleep 0.02; echo '{"score":1}'; done"#;
    let mut plan = plan(script, 40, "");
    plan.folder = folder.path().to_owned();
    plan.workers = 3;
    let done = plan.run().await;
    assert_eq!(done.kinds(), [("score", 40)].into());
    let pids = std::fs::read_to_string(folder.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_nothing_that_a_program_says() {
    let script = script(
        r#"*'"q-00001"'*) echo '{"error":"key is secret-key-4711"}';;
        *'"q-00002"'*) echo '{"not_applicable":"secret-key-4711"}';;
        *'"q-00003"'*) echo secret-key-4711 >&2; exit 1;;
        *'"q-00004"'*) echo secret-key-4711;;
        *'"q-00005"'*) echo '{"score":1,"reason":"secret-key-4711"}';;"#,
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("score.sh"), script).unwrap();
    let mut plan = command_plan("['sh', 'score.sh']", 8, "");
    plan.folder = folder.path().to_owned();
    plan.judge = "[judge]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"TEST_KEY\"\n".to_owned();
    let done = plan.run().await;
    let results = done.results();
    assert!(!results.contains("4711"), "{results}");
    assert_eq!(results.matches("[redacted]").count(), 5, "{results}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ends_early_waits_for_no_turn() {
    let control = Control::default();
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("started");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut plan = plan("echo >started; exec sleep 60", 50, "");
    plan.folder = folder.path().to_owned();
    plan.control = control.clone();
    let started = Instant::now();
    let run = tokio::spawn(plan.run());
    // The pipe ends once the program has written into it.
    let said = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe)).await;
    assert_eq!(said.unwrap().unwrap(), "\n");
    control.end(Ended::Interrupted);
    control.abort();
    let done = run.await.unwrap();
    assert_eq!(done.kinds(), [("missing", 50)].into());
    assert!(started.elapsed() < Duration::from_secs(20));
}
