//! 100 answers of which 40 are distinct, two metrics, five calls at once, a judge that takes 10 ms.

use std::time::Duration;

use judge_server::{Latency, Server, Settings as ServerSettings};
use runner::judge::Settings;

use super::{Plan, rows};

async fn server(latency_ms: u64) -> Server {
    Server::start(ServerSettings {
        latency: Latency::Fixed(Duration::from_millis(latency_ms)),
        ..ServerSettings::default()
    })
    .await
}

fn plan(server: &Server, single_flight: bool) -> Plan<'static> {
    Plan {
        settings: Settings {
            concurrency: 5,
            single_flight,
            ..Settings::default()
        },
        ..Plan::new(rows(100, 40), &server.url())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_questions_are_paid_once_and_five_are_under_way_at_once() {
    let server = server(10).await;
    let done = plan(&server, true).run().await;
    assert_eq!(done.kinds(), [("score", 200)].into());
    let stats = server.stats();
    assert_eq!((done.counts.requests, done.counts.calls), (200, 80));
    assert_eq!(done.counts.shared, 120);
    assert_eq!((stats.calls, stats.duplicates), (80, 0));
    assert_eq!((stats.peak_in_flight, done.counts.peak_in_flight), (5, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_single_flight_every_question_is_a_call() {
    let server = server(10).await;
    let done = plan(&server, false).run().await;
    assert_eq!(done.kinds(), [("score", 200)].into());
    assert_eq!((done.counts.requests, done.counts.calls), (200, 200));
    assert_eq!(server.stats().peak_in_flight, 5);
}

/// Duplicates stand side by side in the schedule, since they are equally long: they must not keep others from being called.
#[tokio::test(flavor = "multi_thread")]
async fn many_equal_answers_hold_up_no_other() {
    let server = server(300).await;
    let rows = rows(400, 1) + &rows(40, 40).replace("q-", "other-");
    let done = Plan {
        metrics: &["faithfulness"],
        settings: Settings {
            concurrency: 40,
            ..Settings::default()
        },
        ..Plan::new(rows, &server.url())
    }
    .run()
    .await;
    assert_eq!(done.kinds(), [("score", 440)].into());
    assert_eq!(done.counts.calls, 40);
    assert!(
        server.stats().peak_in_flight >= 20,
        "{} at once",
        server.stats().peak_in_flight
    );
}
