//! Second runs: what is in the cache is not paid again, and gives the same bytes.

use std::time::Duration;

use gate::policy::CacheMode;
use judge_server::{Latency, Server, Settings as ServerSettings};
use metrics::{FailureKind, Step};
use runner::cache::{Cache, Key, KeyParts};
use runner::judge::Settings;
use serde_json::json;

use super::{Plan, metric, rows};

async fn server() -> Server {
    Server::start(ServerSettings {
        latency: Latency::Lognormal {
            median: Duration::from_millis(8),
            sigma: 1.0,
            seed: 1,
        },
        ..ServerSettings::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_in_the_order_of_the_dataset_and_warm_runs_agree_byte_for_byte() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let plan = || Plan {
        cache: Some(folder.path()),
        mode: CacheMode::ReadWrite,
        ..Plan::new(rows(60, 50), &server.url())
    };
    let cold = plan().run().await;
    assert_eq!(cold.kinds(), [("score", 120)].into());
    let ids: Vec<String> = (0..60).map(|row| format!("q-{row:05}")).collect();
    assert_eq!(cold.ids(), ids);
    assert_eq!(cold.counts.calls, 100);

    let warm = plan().run().await;
    assert_eq!((warm.counts.calls, warm.counts.cache_hits), (0, 120));
    assert_eq!(warm.results(), cold.results());
    let replay = Plan {
        mode: CacheMode::Replay,
        ..plan()
    };
    assert_eq!(replay.run().await.results(), cold.results());
    assert_eq!(server.stats().calls, 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_not_recorded_fails_in_replay_and_calls_nobody() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let plan = |count, mode| Plan {
        cache: Some(folder.path()),
        mode,
        ..Plan::new(rows(count, count), &server.url())
    };
    plan(10, CacheMode::ReadWrite).run().await;
    let replay = plan(12, CacheMode::Replay).run().await;
    assert_eq!(
        replay.kinds(),
        [("score", 20), (FailureKind::NotRecorded.name(), 4)].into()
    );
    assert_eq!((replay.counts.calls, server.stats().calls), (0, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn refresh_asks_again_and_read_only_keeps_nothing() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let calls = async |mode| {
        let done = Plan {
            cache: Some(folder.path()),
            mode,
            ..Plan::new(rows(5, 5), &server.url())
        };
        done.run().await.counts.calls
    };
    assert_eq!(calls(CacheMode::ReadOnly).await, 10);
    assert_eq!(calls(CacheMode::ReadWrite).await, 10);
    assert_eq!(calls(CacheMode::ReadOnly).await, 0);
    assert_eq!(calls(CacheMode::Refresh).await, 10);
    assert_eq!(calls(CacheMode::Off).await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_answer_is_asked_for_again() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let plan = || Plan {
        cache: Some(folder.path()),
        mode: CacheMode::ReadWrite,
        ..Plan::new(rows(10, 10), &server.url())
    };
    let cold = plan().run().await;
    let file = answers(folder.path()).pop().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    let warm = plan().run().await;
    assert_eq!((warm.counts.calls, warm.counts.cache_hits), (1, 19));
    assert_eq!(warm.results(), cold.results());
    // With another time and latency, but the same answer.
    let mended: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let before: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(mended["answer"], before["answer"]);
}

/// What took long the last time goes first, and where nothing is known the longest sample.
// On one thread, as the command runs: on several, tasks overtake each other.
#[tokio::test]
async fn the_longest_expected_call_goes_first() {
    const SAMPLES: usize = 40;
    let server = Server::start(ServerSettings {
        latency: Latency::Fixed(Duration::from_millis(1)),
        recording: true,
        ..ServerSettings::default()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..SAMPLES)
        .map(|number| {
            let answer = format!("Zebra{number:02} {}", "and so on ".repeat(number));
            json!({"id": number, "question": "?", "answer": answer, "contexts": ["c"]}).to_string()
                + "\n"
        })
        .collect();
    // The samples in the order in which they were asked about.
    let asked = async |mode| {
        server.reset();
        let done = Plan {
            metrics: &["faithfulness"],
            cache: Some(folder.path()),
            mode,
            settings: Settings {
                concurrency: 1,
                ..Settings::default()
            },
            ..Plan::new(rows.clone(), &server.url())
        }
        .run()
        .await;
        let number = |request: &String| {
            let at = request.find("Zebra").unwrap() + "Zebra".len();
            request[at..at + 2].parse::<usize>().unwrap()
        };
        let order: Vec<usize> = server.requests().iter().map(number).collect();
        (order, done)
    };
    // Several threads prepare calls, so that neighbours may overtake each other, and a thread that the machine keeps
    // waiting holds back the few that it has prepared: the median does not mind.
    let median_position = |order: &[usize], of: std::ops::Range<usize>| {
        let position = |sample| order.iter().position(|other| *other == sample).unwrap();
        let mut positions: Vec<usize> = of.map(position).collect();
        positions.sort_unstable();
        positions[positions.len() / 2]
    };
    let (by_length, done) = asked(CacheMode::ReadWrite).await;
    assert!(
        median_position(&by_length, 30..SAMPLES) < 9,
        "{by_length:?}"
    );

    // As if the shortest ten had taken long.
    let cache = Cache::open(folder.path(), CacheMode::ReadWrite).unwrap();
    for number in 0..SAMPLES {
        let sample = done.job.dataset.sample(number).unwrap();
        let Step::Ask(request) = metric("faithfulness").step(&sample, &[]) else {
            panic!("faithfulness asks");
        };
        let key = Key::of(&KeyParts {
            identity: done.job.judge.identity(),
            request: &request,
            repeat: 0,
        });
        let mut entry = cache.get(&key).unwrap();
        entry.latency_s = if number < 10 { 5.0 } else { 0.1 };
        cache.put(&key, &entry).unwrap();
    }
    let (by_latency, _) = asked(CacheMode::Refresh).await;
    assert!(median_position(&by_latency, 0..10) < 9, "{by_latency:?}");
}

fn answers(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(answers(&path)),
            false => files.push(path),
        }
    }
    files
}
