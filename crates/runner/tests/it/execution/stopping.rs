//! Runs that end early: what was paid for is kept, and what is missing is missing, not failed.

use std::sync::Arc;
use std::time::Duration;

use gate::policy::CacheMode;
use judge_server::{Faults, Latency, Server, Settings as ServerSettings};
use runner::control::{Control, Ended};
use runner::execute::execute;
use runner::judge::Settings;

use super::{Done, Plan, rows};

async fn slow(latency_ms: u64) -> Server {
    Server::start(ServerSettings {
        latency: Latency::Fixed(Duration::from_millis(latency_ms)),
        ..ServerSettings::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_lets_calls_end_and_the_next_one_pays_for_the_rest() {
    let server = slow(10).await;
    let folder = tempfile::tempdir().unwrap();
    let control = Control::default();
    let plan = |control: &Control| Plan {
        cache: Some(folder.path()),
        mode: CacheMode::ReadWrite,
        control: control.clone(),
        ..Plan::new(rows(60, 60), &server.url())
    };
    let job = plan(&control).job();
    let running = tokio::spawn(execute(Arc::clone(&job)));
    while job.progress.snapshot().done < 20 {
        tokio::task::yield_now().await;
    }
    control.end(Ended::Interrupted);
    let outcomes = running.await.unwrap();
    let done = Done {
        counts: job.progress.snapshot(),
        outcomes,
        job,
    };
    let kinds = done.kinds();
    assert!(!done.outcomes.are_complete());
    assert_eq!(kinds["score"] + kinds["missing"], 120, "{kinds:?}");
    // Those under way were waited for: every call that was made has its score.
    assert_eq!(kinds["score"] as u64, server.stats().calls);
    let rest = plan(&Control::default()).run().await;
    assert_eq!(rest.kinds(), [("score", 120)].into());
    assert_eq!(server.stats().calls, 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_run_waits_for_nobody() {
    let server = Server::start(ServerSettings {
        faults: Faults {
            never: (0..1000).collect(),
            ..Faults::default()
        },
        ..ServerSettings::default()
    })
    .await;
    let control = Control::default();
    let job = Plan {
        control: control.clone(),
        ..Plan::new(rows(60, 60), &server.url())
    }
    .job();
    let running = tokio::spawn(execute(Arc::clone(&job)));
    while job.progress.snapshot().in_flight < 8 {
        tokio::task::yield_now().await;
    }
    control.end(Ended::Interrupted);
    control.abort();
    // The calls would take five seconds to time out.
    let outcomes = tokio::time::timeout(Duration::from_secs(2), running)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(outcomes.scores(), 0);
    assert_eq!(control.ended(), Some(&Ended::Interrupted));
}

#[tokio::test(flavor = "multi_thread")]
async fn fail_fast_ends_at_the_first_failed_score() {
    let server = Server::start(ServerSettings {
        faults: Faults {
            share_500: 1.0,
            ..Faults::default()
        },
        ..ServerSettings::default()
    })
    .await;
    let control = Control::default();
    let done = Plan {
        control: control.clone(),
        fail_fast: true,
        settings: Settings {
            retries: 0,
            ..Settings::default()
        },
        ..Plan::new(rows(60, 60), &server.url())
    }
    .run()
    .await;
    let Some(Ended::FailFast {
        sample, failure, ..
    }) = control.ended()
    else {
        panic!("{:?}", control.ended());
    };
    assert!(sample.starts_with("q-"));
    assert_eq!(failure.kind.name(), "unavailable");
    assert!(done.counts.done < 30, "{}", done.counts.done);
}

/// Whoever asks first is given up; the others still get the answer, with one more call at most.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_that_is_given_up_takes_nobody_with_it() {
    let server = slow(30).await;
    let job = Plan::new(rows(1, 1), &server.url()).job();
    let request = metrics::Request {
        metric: "faithfulness".to_owned(),
        version: "1".to_owned(),
        messages: vec![],
        expect: metrics::Expect::Verdicts { items: 1 },
        items: vec!["It is.".to_owned()],
        evidence: vec![],
        of_answer: None,
    };
    let key = job.judge.answer_at_once(&request, 0).unwrap_err();
    let ask = || {
        let (job, request) = (Arc::clone(&job), request.clone());
        tokio::spawn(async move { Box::pin(job.judge.ask(key, &request, || {})).await })
    };
    let (first, second, third) = (ask(), ask(), ask());
    while server.stats().in_flight == 0 {
        tokio::task::yield_now().await;
    }
    first.abort();
    third.abort();
    assert!(second.await.unwrap().is_ok());
    assert!(server.stats().calls <= 2, "{}", server.stats().calls);
    let later = Box::pin(job.judge.ask(key, &request, || {})).await;
    assert!(later.is_ok());
    assert!(server.stats().calls <= 2, "{}", server.stats().calls);
}
