//! Chat completions and embeddings over real connections.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gate::policy::CacheMode;
use judge_server::{Faults, Formats, Latency, Server, Settings as ServerSettings};
use metrics::{Answer, Expect, FailureKind, Reading, Request};
use runner::cache::Cache;
use runner::control::Control;
use runner::judge::{Judge, Settings};
use runner::provider::Scope;
use serde_json::Value;
use tokio::time::Instant;

use super::canned::{Canned, Reply, json, reply, says};
use super::{ask, failure, fixtures, openai, request};

const PASSING: Scope = Scope::Passing { retry_after: None };

#[tokio::test]
async fn a_judge_answers_and_says_what_it_cost() {
    let server = Server::start(ServerSettings {
        recording: true,
        ..ServerSettings::default()
    })
    .await;
    let provider = openai(&server.url(), "seed = 5\nmax_tokens = 300");
    let completion = ask(&provider).await.unwrap();
    let answer: Value = serde_json::from_str(&completion.text).unwrap();
    assert_eq!(answer["verdicts"].as_array().unwrap().len(), 2);
    assert_eq!(completion.model.as_deref(), Some("m-1"));
    assert_eq!(completion.usage.completion_tokens, Some(60));
    assert!(!completion.is_cut);
    let sent: Value = serde_json::from_str(&server.requests()[0]).unwrap();
    assert_eq!(sent["messages"][0]["role"], "user");
    assert_eq!(
        (&sent["seed"], &sent["max_tokens"]),
        (&5.into(), &300.into())
    );
    assert_eq!(sent["response_format"]["json_schema"]["name"], "verdicts");
    assert_eq!(sent["response_format"]["json_schema"]["strict"], true);
    assert_eq!(provider.address(), server.url());
    assert!(!provider.in_place());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_may_be_made_from_many_tasks() {
    let server = Server::start(ServerSettings {
        latency: Latency::Fixed(Duration::from_millis(100)),
        ..ServerSettings::default()
    })
    .await;
    let provider = Arc::new(openai(&server.url(), "concurrency = 50"));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let provider = Arc::clone(&provider);
        calls.spawn(async move { ask(&provider).await });
    }
    while let Some(outcome) = calls.join_next().await {
        outcome.unwrap().unwrap();
    }
    assert_eq!(server.stats().peak_in_flight, 50);
}

#[tokio::test]
async fn a_request_is_one_of_json_and_says_who_asks() {
    let server = Canned::start(vec![says("x")]).await;
    ask(&openai(&server.url, "")).await.unwrap();
    let head = server.requests()[0].to_lowercase();
    assert!(
        head.starts_with("post /v1/chat/completions http/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(head.contains("user-agent: rag-gate/"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn a_format_that_the_server_does_not_know_is_asked_for_once() {
    for (formats, expected) in [(Formats::Object, 1), (Formats::Text, 2)] {
        let server = Server::start(ServerSettings {
            formats,
            ..ServerSettings::default()
        })
        .await;
        let provider = openai(&server.url(), "");
        ask(&provider).await.unwrap();
        assert_eq!(server.stats().statuses.get(&400), Some(&expected));
        ask(&provider).await.unwrap();
        assert_eq!(server.stats().statuses.get(&400), Some(&expected));
    }
}

#[tokio::test]
async fn calls_that_learn_it_together_step_down_once() {
    let server = Server::start(ServerSettings {
        formats: Formats::Object,
        recording: true,
        latency: Latency::Fixed(Duration::from_millis(20)),
        ..ServerSettings::default()
    })
    .await;
    let provider = openai(&server.url(), "");
    let outcomes = futures::future::join_all((0..8).map(|_| ask(&provider))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    let without = server
        .requests()
        .iter()
        .filter(|body| !body.contains("response_format"))
        .count();
    assert_eq!(without, 0);
}

#[tokio::test]
async fn a_format_that_gate_toml_asks_for_is_not_exchanged() {
    let server = Server::start(ServerSettings {
        formats: Formats::Text,
        ..ServerSettings::default()
    })
    .await;
    let strict = openai(&server.url(), "response_format = \"json_schema\"");
    assert_eq!(failure(&strict).await.scope, Scope::Call);
    let text = openai(&server.url(), "response_format = \"text\"");
    ask(&text).await.unwrap();
    assert_eq!(server.stats().statuses.get(&400), Some(&1));
}

#[tokio::test]
async fn max_tokens_has_another_name_for_newer_models() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#;
    let server = Canned::start(vec![json(400, refusal), says("x")]).await;
    let provider = openai(&server.url, "max_tokens = 100");
    ask(&provider).await.unwrap();
    ask(&provider).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[0].contains(r#""max_tokens":100"#));
    assert!(requests[1].contains(r#""max_completion_tokens":100"#));
    assert!(!requests[2].contains(r#""max_tokens""#));
}

/// A request for a grade that is weighted.
fn weighted() -> Request {
    Request {
        expect: Expect::WeightedGrade { low: 0, high: 10 },
        ..request(&["It is coherent."])
    }
}

#[tokio::test]
async fn log_probabilities_are_asked_for_where_they_count() {
    let body = r#"{"choices":[{"message":{"content":"{\"explanation\":\"so\",\"grade\":7}"},"logprobs":{"content":[
        {"token":"7","logprob":-0.5,"top_logprobs":[{"token":"7","logprob":-0.5},{"token":"9","logprob":-1.5}]}]}}]}"#;
    let server = Canned::start(vec![json(200, body)]).await;
    let provider = openai(&server.url, "");
    let request = weighted();
    let completion = provider
        .complete(&request, &request.messages)
        .await
        .unwrap();
    assert_eq!(completion.numerals[0].said, 7);
    assert_eq!(completion.numerals[0].likely, [(7, -0.5), (9, -1.5)]);
    ask(&provider).await.unwrap();
    let requests = server.requests();
    assert!(requests[0].contains(r#""logprobs":true,"top_logprobs":20"#));
    assert!(!requests[1].contains("logprobs"));
}

/// What is weighted in the first run is weighted in the second, which asks nobody.
#[tokio::test]
async fn a_weighted_grade_is_the_same_from_the_cache() {
    let body = r#"{"choices":[{"message":{"content":"{\"grade\":7}"},"logprobs":{"content":[{"token":"7","logprob":-0.1,
        "top_logprobs":[{"token":"7","logprob":-0.1},{"token":"9","logprob":-2.3000000000000003}]}]}}]}"#;
    let server = Canned::start(vec![json(200, body)]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut answers = Vec::new();
    for _ in 0..2 {
        let judge = Judge::new(
            openai(&server.url, ""),
            Settings::default(),
            Arc::new(Cache::open(folder.path(), CacheMode::ReadWrite).unwrap()),
            Arc::default(),
            Control::default(),
        );
        answers.push(match judge.answer_at_once(&weighted(), 0) {
            Ok(answer) => answer.unwrap(),
            Err(key) => judge.ask(key, &weighted(), || {}).await.unwrap(),
        });
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(answers[0], answers[1]);
    let Answer::Reading(Reading::Grade {
        weighted: Some(weighted),
        ..
    }) = &answers[1]
    else {
        panic!("{:?}", answers[1]);
    };
    let (seven, nine) = ((-0.1_f64).exp(), (-2.3_f64).exp());
    let expected = (7.0 * seven + 9.0 * nine) / (seven + nine);
    assert!((weighted - expected).abs() < 1e-12, "{weighted}");
}

/// A language model that leaves a quote out has none; a program may know none.
#[tokio::test]
async fn a_language_model_has_to_quote() {
    let server = Canned::start(vec![says(r#"{"verdicts":[{"id":1,"verdict":true}]}"#)]).await;
    let judge = Judge::new(
        openai(&server.url, ""),
        Settings::default(),
        Arc::new(Cache::open(Path::new("unused"), CacheMode::Off).unwrap()),
        Arc::default(),
        Control::default(),
    );
    for (expect, quote) in [
        (Expect::Quotes { items: 1 }, Some(String::new())),
        (Expect::Verdicts { items: 1 }, None),
    ] {
        let request = Request {
            expect,
            ..request(&["It is."])
        };
        let key = judge.answer_at_once(&request, 0).unwrap_err();
        let answer = judge.ask(key, &request, || {}).await.unwrap();
        let Answer::Reading(Reading::Verdicts(verdicts)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(verdicts[0].quote, quote);
    }
}

#[tokio::test]
async fn a_server_without_log_probabilities_is_asked_without() {
    let refusal = r#"{"error":{"message":"logprobs is not supported for this model","type":"invalid_request_error"}}"#;
    let server = Canned::start(vec![json(400, refusal), says("7")]).await;
    let provider = openai(&server.url, "");
    let request = weighted();
    for _ in 0..2 {
        let completion = provider
            .complete(&request, &request.messages)
            .await
            .unwrap();
        assert_eq!(
            (completion.text.as_str(), completion.numerals.len()),
            ("7", 0)
        );
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[0].contains("logprobs"));
    // The format of the answer is asked for as strictly as before.
    assert!(!requests[1].contains("logprobs") && requests[1].contains("json_schema"));
    assert!(!requests[2].contains("logprobs"));
}

#[tokio::test]
async fn answers_of_real_servers_are_understood() {
    let recorded = std::fs::read_to_string(fixtures().join("answers.jsonl")).unwrap();
    let mut seen = 0;
    for line in recorded.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap();
        let headers = format!("content-type: {}\r\n", text("content_type"));
        let status = u16::try_from(line["status"].as_u64().unwrap()).unwrap();
        let server = Canned::start(vec![reply(status, &headers, text("body"))]).await;
        let provider = openai(&server.url, "response_format = \"text\"");
        let refused = |outcome: Result<_, runner::provider::CallError>| {
            let error = outcome.err().unwrap();
            (error.kind, error.scope)
        };
        match text("name") {
            "json_object" => {
                let completion = ask(&provider).await.unwrap();
                assert!(completion.text.contains("\"score\": 0.9"));
                assert_eq!(completion.model.as_deref(), Some("judge"));
                assert!(completion.usage.prompt_tokens.unwrap() > 0);
            }
            "free_text_fenced_json" => {
                assert!(ask(&provider).await.unwrap().text.starts_with("```json"));
            }
            "truncated_by_max_tokens" => assert!(ask(&provider).await.unwrap().is_cut),
            "logprobs_single_token" => {
                let numerals = ask(&provider).await.unwrap().numerals;
                assert_eq!((numerals.len(), numerals[0].said), (1, 1));
                let numbers: Vec<i64> = numerals[0]
                    .likely
                    .iter()
                    .map(|(number, _)| *number)
                    .collect();
                assert_eq!(numbers, [1, 0, 2]);
            }
            "two_texts" => {
                let texts = ["a".to_owned(), "b".to_owned()];
                let embeddings = provider.embed(&texts).await.unwrap();
                assert_eq!(embeddings.vectors.len(), 2);
                assert_eq!(embeddings.vectors[0].len(), 384);
            }
            "context_too_long" | "bad_schema" | "empty" => {
                let outcome = ask(&provider).await.map(|_| ());
                assert_eq!(refused(outcome), (FailureKind::Refused, Scope::Call));
            }
            "not_found" | "no_embeddings" => {
                let outcome = provider.embed(&["a".to_owned()]).await.map(|_| ());
                assert_eq!(refused(outcome), (FailureKind::Refused, Scope::Run));
            }
            "401_wrong_key" => {
                let outcome = ask(&provider).await.map(|_| ());
                assert_eq!(refused(outcome), (FailureKind::Auth, Scope::Run));
            }
            "503_loading_model" => {
                let outcome = ask(&provider).await.map(|_| ());
                assert_eq!(refused(outcome), (FailureKind::Unavailable, PASSING));
            }
            other => panic!("what should come of {other}?"),
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[tokio::test]
async fn a_schema_that_the_server_cannot_use_is_left_out() {
    let recorded = std::fs::read_to_string(fixtures().join("answers.jsonl")).unwrap();
    let line = recorded
        .lines()
        .find(|line| line.contains("bad_schema"))
        .unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let server = Canned::start(vec![json(400, line["body"].as_str().unwrap()), says("x")]).await;
    ask(&openai(&server.url, "")).await.unwrap();
    assert!(server.requests()[1].contains(r#""response_format":{"type":"json_object"}"#));
}

#[tokio::test]
async fn a_full_server_says_when_to_come_back() {
    let server = Server::start(ServerSettings {
        faults: Faults {
            share_429: 1.0,
            ..Faults::default()
        },
        retry_after: Duration::from_millis(2500),
        ..ServerSettings::default()
    })
    .await;
    let provider = openai(&server.url(), "");
    assert_eq!(provider.pause(), None);
    let error = failure(&provider).await;
    let retry_after = Some(Duration::from_millis(2500));
    assert_eq!(error.kind, FailureKind::RateLimited);
    assert_eq!(error.scope, Scope::Passing { retry_after });
    let pause = provider.pause().unwrap() - Instant::now();
    assert!((2.0..=2.5).contains(&pause.as_secs_f64()), "{pause:?}");
}

#[tokio::test]
async fn a_good_answer_may_be_the_last_for_a_while() {
    let headers = "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1m30s\r\n";
    let body = r#"{"choices":[{"message":{"content":"x"}}]}"#;
    let server = Canned::start(vec![reply(200, headers, body)]).await;
    let provider = openai(&server.url, "");
    ask(&provider).await.unwrap();
    let pause = provider.pause().unwrap() - Instant::now();
    assert!((80.0..=90.0).contains(&pause.as_secs_f64()), "{pause:?}");
}

#[tokio::test]
async fn a_connection_that_breaks_can_be_tried_again() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\":".to_vec();
    for raw in [
        Vec::new(),
        b"HTTP/1.1 200 OK\r\n".to_vec(),
        half,
        b"hello".to_vec(),
    ] {
        let server = Canned::start(vec![Reply::Raw(raw.clone())]).await;
        let error = failure(&openai(&server.url, "")).await;
        assert_eq!(
            (error.kind, error.scope),
            (FailureKind::Unavailable, PASSING),
            "{error}"
        );
        assert!(error.message.contains(&server.url), "{error}");
    }
    let gone = Canned::start(vec![Reply::Silence]).await.url.clone();
    let error = failure(&openai(&gone, "")).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Unavailable, PASSING)
    );
    assert!(error.message.starts_with("cannot connect to"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_silent_is_given_up() {
    let server = Canned::start(vec![Reply::Silence]).await;
    let error = failure(&openai(&server.url, "timeout = \"100ms\"")).await;
    assert_eq!((error.kind, error.scope), (FailureKind::Timeout, PASSING));
    assert_eq!(
        error.message,
        format!("no answer from {} in 100ms", server.url)
    );
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = reply(
        200,
        "content-type: text/html\r\n",
        "<html>Please log in</html>",
    );
    let server = Canned::start(vec![page]).await;
    let error = failure(&openai(&server.url, "")).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Unavailable, PASSING)
    );
    assert!(error.message.contains("(text/html)"), "{error}");
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_the_end() {
    let mut raw = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"x\":\"".to_vec();
    raw.resize(17 << 20, b'x');
    let server = Canned::start(vec![Reply::Raw(raw)]).await;
    let error = failure(&openai(&server.url, "")).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Unavailable, Scope::Call)
    );
    assert!(error.message.contains("more than 16 MiB"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let moved = reply(308, "location: http://127.0.0.1:9/v1\r\n", "");
    let server = Canned::start(vec![moved]).await;
    let error = failure(&openai(&server.url, "")).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Refused, Scope::Run)
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_unknown_model_is_named_with_its_address() {
    let server = Server::start(ServerSettings {
        model: Some("other".to_owned()),
        ..ServerSettings::default()
    })
    .await;
    let error = failure(&openai(&server.url(), "")).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Refused, Scope::Run)
    );
    assert!(error.message.contains("model = \"m-1\""), "{error}");
    assert!(error.message.contains(&server.url()), "{error}");
}

#[tokio::test]
async fn the_query_of_an_address_is_kept_and_not_shown() {
    let server = Canned::start(vec![says("x")]).await;
    let provider = openai(&format!("{}?api-version=2026-01-01", server.url), "");
    ask(&provider).await.unwrap();
    assert!(server.requests()[0].starts_with("POST /v1/chat/completions?api-version=2026-01-01 "));
    assert_eq!(provider.address(), server.url);
}

#[tokio::test]
async fn embeddings_come_for_each_text() {
    let server = Server::start(ServerSettings::default()).await;
    let provider = openai(&server.url(), "");
    let texts = ["one".to_owned(), "two".to_owned(), "one".to_owned()];
    let embeddings = provider.embed(&texts).await.unwrap();
    assert_eq!(embeddings.vectors.len(), 3);
    assert_eq!(embeddings.vectors[0], embeddings.vectors[2]);
    assert_ne!(embeddings.vectors[0], embeddings.vectors[1]);
    assert!(provider.embed(&[]).await.unwrap().vectors.is_empty());
    assert_eq!(server.stats().calls, 1);
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_behind() {
    let server = Server::start(ServerSettings {
        faults: Faults {
            never: vec![0],
            ..Faults::default()
        },
        ..ServerSettings::default()
    })
    .await;
    let provider = openai(&server.url(), "");
    let dropped = tokio::time::timeout(Duration::from_millis(50), ask(&provider)).await;
    assert!(dropped.is_err());
    while server.stats().in_flight > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    ask(&provider).await.unwrap();
}
