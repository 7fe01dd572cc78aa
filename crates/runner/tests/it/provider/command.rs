//! Programs that judge.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gate::policy::CacheMode;
use metrics::{Answer, Expect, FailureKind, Reading, Request};
use runner::cache::Cache;
use runner::control::Control;
use runner::judge::{Judge, Settings};
use runner::provider::{Provider, Scope};
use serde_json::Value;

use super::{ask, failure, fixtures, provider_in};

const PASSING: Scope = Scope::Passing { retry_after: None };

/// A judge that is a shell script; it reads one line for each answer.
fn script(text: &str, more: &str) -> Provider {
    let command = shell(text);
    let toml = format!("provider = \"command\"\ncommand = {command}\n{more}");
    provider_in(&toml, &[], Path::new("")).unwrap()
}

/// The command of a shell script in which `next` reads a line and puts its id into `i`.
fn shell(text: &str) -> String {
    let next = "next() { read -r line || return 1; i=${line#*:}; i=${i%%,*}; }";
    toml_list(&["sh", "-c", &format!("{next}\n{text}")])
}

fn toml_list(words: &[&str]) -> String {
    // A list of JSON strings is one of TOML too.
    serde_json::to_string(words).unwrap()
}

#[tokio::test]
async fn the_worker_of_the_documentation_judges() {
    let toml = "provider = \"command\"\ncommand = [\"python3\", \"worker.py\"]";
    let provider = provider_in(toml, &[], &fixtures()).unwrap();
    for _ in 0..2 {
        let completion = ask(&provider).await.unwrap();
        let answer: Value = serde_json::from_str(&completion.text).unwrap();
        let verdicts = answer["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), 2);
        assert_eq!(verdicts[1]["verdict"], false);
        assert_eq!(verdicts[1]["reason"], "a rome");
    }
    provider.shut_down().await;
    assert_eq!(failure(&provider).await.kind, FailureKind::Cancelled);
}

#[tokio::test]
async fn a_worker_gets_all_that_a_judge_may_need_and_is_used_again() {
    let text = r#"while next; do n=$((n+1)); echo "{\"id\":$i,\"content\":\"$n $$\",\"usage\":{\"prompt_tokens\":$n},\"model\":\"v1\"}"; echo "$line" >&2; done"#;
    let provider = script(text, "model = \"mine\"");
    let first = ask(&provider).await.unwrap();
    let second = ask(&provider).await.unwrap();
    assert_eq!(
        first.text.strip_prefix("1 "),
        second.text.strip_prefix("2 ")
    );
    assert_eq!(second.usage.prompt_tokens, Some(2));
    assert_eq!(second.model.as_deref(), Some("v1"));
    assert_eq!(provider.identity().model.as_deref(), Some("mine"));
}

#[tokio::test]
async fn the_request_is_one_line_of_json() {
    // The shell reads the line raw, so the answer is the request itself, within an envelope.
    let provider = script(
        r#"while next; do printf '{"id":%s,"request":%s}\n' "$i" "$line"; done"#,
        "",
    );
    let answer: Value = serde_json::from_str(&ask(&provider).await.unwrap().text).unwrap();
    let request = &answer["request"];
    assert_eq!(request["id"], 1);
    assert_eq!(request["metric"], "faithfulness");
    assert_eq!(request["expect"]["verdicts"]["items"], 2);
    assert_eq!(request["items"][1], "Rome is a capital.");
    assert_eq!(request["evidence"][0], "Paris is the capital of France.");
    assert_eq!(request["messages"][0]["role"], "user");
    assert_eq!(request.get("of_answer"), None);
    let both = Request {
        of_answer: Some(1),
        ..super::request(&["Paris is a capital.", "Rome is a capital."])
    };
    let completion = provider.complete(&both, &both.messages).await.unwrap();
    let answer: Value = serde_json::from_str(&completion.text).unwrap();
    assert_eq!(answer["request"]["of_answer"], 1);
}

#[tokio::test]
async fn workers_are_as_many_as_calls_at_once_may_be() {
    let text = r#"while next; do sleep 0.2; echo "{\"id\":$i,\"content\":\"$$\"}"; done"#;
    let provider = script(text, "concurrency = 4");
    let start = Instant::now();
    let outcomes = futures::future::join_all((0..8).map(|_| ask(&provider))).await;
    let pids: std::collections::BTreeSet<String> = outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap().text)
        .collect();
    assert_eq!(pids.len(), 4);
    assert!(
        start.elapsed() < Duration::from_millis(1200),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn one_bad_answer_fails_one_call() {
    // The third process behaves; the two before it say nonsense and end.
    let folder = tempfile::tempdir().unwrap();
    let text = r#"echo x >>starts; next; case $(wc -l <starts) in *1) echo nonsense; next;; *2) echo '{"id":77,"content":"late"}'; next;; *) echo "{\"id\":$i,\"content\":\"good\"}";; esac"#;
    let toml = format!("provider = \"command\"\ncommand = {}", shell(text));
    let provider = provider_in(&toml, &[], folder.path()).unwrap();
    for words in ["nonsense", "is for request 77 instead of 2"] {
        let error = failure(&provider).await;
        assert_eq!(
            (error.kind, error.scope),
            (FailureKind::Unparsable, PASSING)
        );
        assert!(error.message.contains(words), "{error}");
    }
    assert_eq!(ask(&provider).await.unwrap().text, "good");
}

#[tokio::test]
async fn a_program_that_ends_again_and_again_ends_the_run() {
    let provider = script("echo 'no model file' >&2; exit 3", "");
    for scope in [PASSING, PASSING, Scope::Run] {
        let error = failure(&provider).await;
        assert_eq!((error.kind, error.scope), (FailureKind::Unavailable, scope));
        assert!(
            error.message.contains("exit status: 3: no model file"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_program_that_ends_after_an_answer_is_started_again() {
    let provider = script(r#"next; echo "{\"id\":$i,\"content\":\"x\"}""#, "");
    for _ in 0..6 {
        assert_eq!(ask(&provider).await.unwrap().text, "x");
    }
}

#[tokio::test]
async fn one_request_that_kills_the_program_does_not_end_the_run() {
    let text = r#"while next; do case $line in *poison*) exit 1;; *) echo "{\"id\":$i,\"content\":\"x\"}";; esac; done"#;
    let provider = script(text, "");
    ask(&provider).await.unwrap();
    let poison = super::request(&["poison"]);
    for _ in 0..5 {
        let error = provider
            .complete(&poison, &poison.messages)
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind, error.scope),
            (FailureKind::Unavailable, PASSING)
        );
    }
    ask(&provider).await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_there_ends_the_run() {
    for command in ["no-such-program-anywhere", "./not/here"] {
        let toml = format!("provider = \"command\"\ncommand = [\"{command}\"]");
        let provider = provider_in(&toml, &[], &fixtures()).unwrap();
        let error = failure(&provider).await;
        assert_eq!(
            (error.kind, error.scope),
            (FailureKind::Unavailable, Scope::Run)
        );
        assert!(error.message.contains(command), "{error}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_the_worker_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"echo $$ >>pids; next; if [ $(wc -l <pids) -eq 1 ]; then exec sleep 60; fi; echo "{\"id\":$i,\"content\":\"x\"}""#;
    let toml = format!(
        "provider = \"command\"\ntimeout = \"300ms\"\ncommand = {}",
        shell(text)
    );
    let provider = provider_in(&toml, &[], folder.path()).unwrap();
    let error = failure(&provider).await;
    assert_eq!((error.kind, error.scope), (FailureKind::Timeout, PASSING));
    assert_eq!(ask(&provider).await.unwrap().text, "x");
    assert_ended(folder.path()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_that_is_dropped_ends_its_worker() {
    let folder = tempfile::tempdir().unwrap();
    let text = "echo $$ >>pids; read -r line; exec sleep 60";
    let toml = format!("provider = \"command\"\ncommand = {}", shell(text));
    let provider = provider_in(&toml, &[], folder.path()).unwrap();
    let dropped = tokio::time::timeout(Duration::from_millis(300), ask(&provider)).await;
    assert!(dropped.is_err());
    assert_ended(folder.path()).await;
}

/// `sh -c` and its like start what does the work, and would leave it behind.
#[cfg(unix)]
#[tokio::test]
async fn what_a_program_has_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "sh -c 'echo $$ >>pids; exec sleep 60' & next; wait";
    let toml = format!(
        "provider = \"command\"\ntimeout = \"300ms\"\ncommand = {}",
        shell(text)
    );
    let provider = provider_in(&toml, &[], folder.path()).unwrap();
    assert_eq!(failure(&provider).await.kind, FailureKind::Timeout);
    assert_ended(folder.path()).await;
}

/// One line too many must not become the answer to the next request.
#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_noticed() {
    let text =
        r#"while next; do for times in 1 2; do echo "{\"id\":$i,\"content\":\"$i\"}"; done; done"#;
    let provider = script(text, "");
    assert_eq!(ask(&provider).await.unwrap().text, "1");
    let error = failure(&provider).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Unparsable, PASSING)
    );
    assert!(
        error.message.contains("is for request 1 instead of 2"),
        "{error}"
    );
    assert_eq!(ask(&provider).await.unwrap().text, "3");

    let error = failure(&script(
        r#"while next; do echo '{"content":"x"}'; done"#,
        "",
    ))
    .await;
    assert!(error.message.contains("has no `id`"), "{error}");
}

/// Waits until the first process that wrote its number into `pids` is gone.
async fn assert_ended(folder: &Path) {
    let pids = std::fs::read_to_string(folder.join("pids")).unwrap();
    let first = pids.lines().next().unwrap().to_owned();
    for _ in 0..200 {
        let status = tokio::process::Command::new("kill")
            .args(["-0", &first])
            .stderr(std::process::Stdio::null())
            .status()
            .await
            .unwrap();
        if !status.success() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {first} is still there");
}

#[tokio::test]
async fn a_program_may_say_that_it_cannot() {
    let provider = script(
        r#"while read -r line; do echo '{"error":{"kind":"rate-limited","message":"busy","retry_after":2}}'; done"#,
        "",
    );
    let error = failure(&provider).await;
    let retry_after = Some(Duration::from_secs(2));
    assert_eq!(error.kind, FailureKind::RateLimited);
    assert_eq!(error.scope, Scope::Passing { retry_after });
    assert_eq!(error.message, "busy");
}

#[tokio::test]
async fn a_program_that_talks_much_does_not_stand_still() {
    // More than a pipe holds, on both streams, before it reads.
    let text = r#"head -c 300000 /dev/zero | tr '\0' 'e' >&2; printf '{"id":1,"content":"'; head -c 300000 /dev/zero | tr '\0' 'o'; echo '"}'; read -r line"#;
    let provider = script(text, "timeout = \"10s\"");
    let mut request = super::request(&["x"]);
    request.evidence = vec!["e".repeat(300_000)];
    let completion = provider
        .complete(&request, &request.messages)
        .await
        .unwrap();
    assert_eq!(completion.text.len(), 300_000);
}

#[tokio::test]
async fn a_line_without_end_is_given_up() {
    let provider = script("read -r line; exec cat /dev/zero", "timeout = \"20s\"");
    let error = failure(&provider).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Unparsable, PASSING)
    );
    assert!(error.message.contains("16 MiB"), "{error}");
}

/// The same words are a language model's in `content`, and the program's own beside it; in the cache they stay what they were.
#[tokio::test]
async fn what_a_language_model_said_has_to_quote_whoever_passes_it_on() {
    let said = r#"{\"verdicts\":[{\"id\":1,\"verdict\":true}]}"#;
    let content = said.replace('\\', r"\\\");
    for (answer, quote) in [
        (
            format!(r#"{{\"id\":$i,\"content\":\"{content}\"}}"#),
            Some(String::new()),
        ),
        (format!(r#"{{\"id\":$i,{}"#, &said[1..]), None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for mode in [CacheMode::ReadWrite, CacheMode::Replay] {
            let judge = Judge::new(
                script(
                    &format!("while next; do printf '%s\\n' \"{answer}\"; done"),
                    "",
                ),
                Settings::default(),
                Arc::new(Cache::open(folder.path(), mode).unwrap()),
                Arc::default(),
                Control::default(),
            );
            let request = Request {
                expect: Expect::Quotes { items: 1 },
                ..super::request(&["It is."])
            };
            let answer = match judge.answer_at_once(&request, 0) {
                Ok(recorded) => recorded,
                Err(key) => Box::pin(judge.ask(key, &request, || {})).await,
            };
            let Ok(Answer::Reading(Reading::Verdicts(verdicts))) = answer else {
                panic!("{answer:?}");
            };
            assert_eq!(verdicts[0].quote, quote, "{mode:?}");
        }
    }
}

#[tokio::test]
async fn a_program_may_give_vectors() {
    let provider = script(
        r#"while next; do echo "{\"id\":$i,\"vectors\":[[1,0],[0,1]]}"; done"#,
        "",
    );
    let two = ["a".to_owned(), "b".to_owned()];
    assert_eq!(
        provider.embed(&two).await.unwrap().vectors,
        [[1.0, 0.0], [0.0, 1.0]]
    );
    let error = provider.embed(&two[..1]).await.unwrap_err();
    assert!(error.message.contains("2 vectors for 1 texts"), "{error}");
}
