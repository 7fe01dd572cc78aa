//! Judges that fail: every sample has a score or a cause, and the run ends.

use std::time::Duration;

use judge_server::{Faults, Formats, Latency, Server, Settings as ServerSettings};
use runner::control::{Control, Ended};
use runner::judge::Settings;

use super::{Plan, rows};

async fn server(faults: Faults) -> Server {
    Server::start(ServerSettings {
        latency: Latency::Fixed(Duration::from_millis(2)),
        retry_after: Duration::from_millis(5),
        faults,
        ..ServerSettings::default()
    })
    .await
}

fn impatient(retries: u32) -> Settings {
    Settings {
        retries,
        backoff: Duration::from_millis(1),
        ..Settings::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_percent_of_faults_and_a_call_that_never_answers_lose_no_sample() {
    let server = server(Faults {
        share_429: 0.02,
        share_500: 0.02,
        share_drop: 0.01,
        share_cut: 0.01,
        never: vec![17],
        seed: 3,
        ..Faults::default()
    })
    .await;
    let mut plan = Plan::new(rows(300, 300), &server.url());
    plan.judge = plan.judge.replace("\"5s\"", "\"400ms\"");
    plan.settings = impatient(4);
    let done = plan.run().await;
    assert_eq!(done.kinds(), [("score", 600)].into());
    let stats = server.stats();
    assert_eq!(done.counts.calls, 600);
    assert!(done.counts.retries >= 20, "{}", done.counts.retries);
    assert_eq!(stats.calls, 600 + done.counts.retries);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_retries_every_fault_has_its_kind() {
    let server = server(Faults {
        share_429: 0.1,
        share_500: 0.1,
        share_drop: 0.1,
        never: vec![5, 6],
        seed: 4,
        ..Faults::default()
    })
    .await;
    let mut plan = Plan::new(rows(100, 100), &server.url());
    plan.judge = plan.judge.replace("\"5s\"", "\"400ms\"");
    plan.settings = impatient(0);
    let done = plan.run().await;
    let kinds = done.kinds();
    assert_eq!(kinds.values().sum::<usize>(), 200);
    assert_eq!(kinds.get("timeout"), Some(&2), "{kinds:?}");
    assert!(
        kinds["rate-limited"] >= 10 && kinds["unavailable"] >= 20,
        "{kinds:?}"
    );
    assert!(kinds["score"] >= 100, "{kinds:?}");
    assert_eq!(done.counts.failed, 200 - kinds["score"] as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_read_gets_one_repair_and_then_fails_with_its_text() {
    let server = server(Faults {
        share_garbage: 1.0,
        ..Faults::default()
    })
    .await;
    let done = Plan::new(rows(3, 3), &server.url()).run().await;
    let kinds = done.kinds();
    assert_eq!(kinds.get("unparsable"), Some(&6), "{kinds:?}");
    // The question, and the one repair.
    assert_eq!(server.stats().calls, 12);
    for message in done.messages() {
        assert!(message.contains("the judge said: "), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn some_answers_are_repaired() {
    let server = server(Faults {
        share_garbage: 0.2,
        seed: 9,
        ..Faults::default()
    })
    .await;
    let done = Plan::new(rows(50, 50), &server.url()).run().await;
    let kinds = done.kinds();
    assert!(kinds["score"] >= 85, "{kinds:?}");
    assert!(done.counts.calls > 105, "{}", done.counts.calls);
    assert_eq!(kinds.values().sum::<usize>(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_response_formats_is_asked_by_prompt_alone() {
    for formats in [Formats::Text, Formats::Object, Formats::Schema] {
        let server = Server::start(ServerSettings {
            formats,
            ..ServerSettings::default()
        })
        .await;
        let done = Plan::new(rows(30, 30), &server.url()).run().await;
        assert_eq!(done.kinds(), [("score", 60)].into(), "{formats:?}");
        // What it lacks is found out by the first calls and remembered.
        let refused = server.stats().statuses.get(&400).copied().unwrap_or(0);
        assert!(refused <= 16, "{formats:?}: {refused} refused");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_stops_the_run_at_the_first_answer() {
    let server = Server::start(ServerSettings {
        key: Some("another key".to_owned()),
        latency: Latency::Fixed(Duration::from_millis(5)),
        ..ServerSettings::default()
    })
    .await;
    let mut plan = Plan::new(rows(500, 500), &server.url());
    plan.judge.push_str("api_key_env = \"TEST_KEY\"\n");
    plan.settings = impatient(4);
    let control = Control::default();
    plan.control = control.clone();
    let done = plan.run().await;
    let Some(Ended::Fatal { failure, .. }) = control.ended() else {
        panic!("{:?}", control.ended());
    };
    assert_eq!(failure.kind.name(), "auth");
    assert!(failure.message.contains("TEST_KEY"), "{failure}");
    assert!(failure.message.contains(&server.url()), "{failure}");
    assert!(!failure.message.contains("secret-key-4711"), "{failure}");
    assert!(server.stats().calls <= 16, "{}", server.stats().calls);
    assert_eq!(done.outcomes.scores(), 0);
    assert!(!done.outcomes.are_complete());
    assert!(!done.results().contains("secret-key-4711"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_usage_that_makes_no_sense_spoils_no_answer() {
    for usage in ["-5", "\"12\"", "null", "1e400", "{}"] {
        let server = Server::start(ServerSettings {
            replacements: vec![(
                "\"prompt_tokens\":".to_owned(),
                format!("\"prompt_tokens\":{usage},\"x\":"),
            )],
            ..ServerSettings::default()
        })
        .await;
        let done = Plan::new(rows(4, 4), &server.url()).run().await;
        if usage == "1e400" {
            // No JSON: the whole answer is none.
            assert_eq!(done.kinds().get("score"), None, "{usage}");
            continue;
        }
        assert_eq!(done.kinds(), [("score", 8)].into(), "{usage}");
        assert_eq!(done.counts.unknown_usage, 8, "{usage}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_to_wait_for_years_ends_the_run() {
    let server = Server::start(ServerSettings {
        headers: vec![
            ("x-ratelimit-remaining-requests".to_owned(), "0".to_owned()),
            ("x-ratelimit-reset-requests".to_owned(), "99999h".to_owned()),
        ],
        ..ServerSettings::default()
    })
    .await;
    let control = Control::default();
    let done = Plan {
        control: control.clone(),
        ..Plan::new(rows(50, 50), &server.url())
    }
    .run()
    .await;
    let Some(Ended::Fatal { failure, .. }) = control.ended() else {
        panic!("{:?}", control.ended());
    };
    assert!(
        failure.message.contains("asks everybody to wait"),
        "{failure}"
    );
    // What was under way when the first answer came has its score.
    assert!(done.outcomes.scores() <= 16);

    let server = Server::start(ServerSettings {
        faults: Faults {
            share_429: 1.0,
            ..Faults::default()
        },
        retry_after: Duration::from_hours(24),
        ..ServerSettings::default()
    })
    .await;
    let control = Control::default();
    Plan {
        control: control.clone(),
        ..Plan::new(rows(50, 50), &server.url())
    }
    .run()
    .await;
    assert!(
        matches!(control.ended(), Some(Ended::Fatal { .. })),
        "{:?}",
        control.ended()
    );
    assert!(server.stats().calls <= 16, "{}", server.stats().calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_model_stops_the_run_too() {
    let server = Server::start(ServerSettings {
        model: Some("another".to_owned()),
        ..ServerSettings::default()
    })
    .await;
    let control = Control::default();
    let done = Plan {
        control: control.clone(),
        ..Plan::new(rows(500, 500), &server.url())
    }
    .run()
    .await;
    assert!(
        matches!(control.ended(), Some(Ended::Fatal { .. })),
        "{:?}",
        control.ended()
    );
    assert!(server.stats().calls <= 24, "{}", server.stats().calls);
    assert!(!done.outcomes.are_complete());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_is_down_stops_the_run() {
    // A port that was free a moment ago, and that nobody listens on.
    let url = Server::start(ServerSettings::default()).await.url();
    let control = Control::default();
    let done = Plan {
        control: control.clone(),
        settings: impatient(4),
        ..Plan::new(rows(500, 500), &url)
    }
    .run()
    .await;
    let Some(Ended::Down { attempts, .. }) = control.ended() else {
        panic!("{:?}", control.ended());
    };
    assert!(*attempts >= 32, "{attempts}");
    assert!(done.counts.done < 100, "{}", done.counts.done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_fewer_calls_than_asked_is_waited_for() {
    let server = Server::start(ServerSettings {
        latency: Latency::Fixed(Duration::from_millis(2)),
        capacity: Some(3),
        retry_after: Duration::from_millis(3),
        ..ServerSettings::default()
    })
    .await;
    let mut plan = Plan::new(rows(40, 40), &server.url());
    plan.settings = impatient(50);
    let done = plan.run().await;
    assert_eq!(done.kinds(), [("score", 80)].into());
    assert!(server.stats().peak_in_flight <= 3);
}
