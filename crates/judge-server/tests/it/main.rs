//! The server over a real connection.

use std::time::Duration;

use judge_server::{Faults, Latency, Server, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends one request on a connection of its own and reads all that comes, until the server closes it.
#[expect(clippy::unwrap_used, reason = "a helper of tests")]
async fn send(server: &Server, method: &str, path: &str, headers: &str, body: &str) -> String {
    let url = server.url();
    let address = url
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

async fn ask(server: &Server, body: &str) -> String {
    send(server, "POST", "/v1/chat/completions", "", body).await
}

const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"1. a\n2. b"}]}"#;

#[tokio::test]
async fn it_answers_counts_and_forgets() {
    let server = Server::start(Settings {
        recording: true,
        ..Settings::default()
    })
    .await;
    let answer = ask(&server, BODY).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#"\"verdicts\""#), "{answer}");
    ask(&server, BODY).await;
    let stats = server.stats();
    assert_eq!((stats.calls, stats.completed, stats.duplicates), (2, 2, 1));
    assert_eq!(stats.statuses[&200], 2);
    assert_eq!(server.requests(), [BODY, BODY]);
    let stats = send(&server, "GET", "/stats", "", "").await;
    assert!(stats.contains(r#""duplicates":1"#), "{stats}");
    send(&server, "POST", "/reset", "", "").await;
    assert_eq!(server.stats().calls, 0);
}

#[tokio::test]
async fn beyond_its_capacity_it_says_when_to_come_back() {
    let server = Server::start(Settings {
        capacity: Some(1),
        latency: Latency::Fixed(Duration::from_millis(200)),
        retry_after: Duration::from_millis(1500),
        ..Settings::default()
    })
    .await;
    let first = ask(&server, BODY);
    let second = async {
        while server.stats().in_flight == 0 {
            tokio::task::yield_now().await;
        }
        ask(&server, BODY).await
    };
    let (first, second) = tokio::join!(first, second);
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    assert!(second.starts_with("HTTP/1.1 429"), "{second}");
    assert!(second.contains("retry-after-ms: 1500"), "{second}");
    assert_eq!(server.stats().peak_in_flight, 1);
}

#[tokio::test]
async fn a_wrong_key_comes_back_in_the_error() {
    let server = Server::start(Settings {
        key: Some("right".to_owned()),
        ..Settings::default()
    })
    .await;
    let path = "/v1/embeddings";
    let wrong = send(&server, "POST", path, "authorization: Bearer wrong\r\n", "").await;
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    assert!(wrong.contains("provided: wrong."), "{wrong}");
    let body = r#"{"model":"m","input":["a","b"]}"#;
    let right = send(
        &server,
        "POST",
        path,
        "authorization: Bearer right\r\n",
        body,
    )
    .await;
    assert!(right.contains(r#""index":1"#), "{right}");
}

#[tokio::test]
async fn faults_are_counted_and_a_repeated_call_is_no_duplicate() {
    let drop = Faults {
        share_drop: 1.0,
        ..Faults::default()
    };
    let cut = Faults {
        share_cut: 1.0,
        ..Faults::default()
    };
    for (faults, expected) in [(drop, ""), (cut, "HTTP/1.1 200")] {
        let server = Server::start(Settings {
            faults,
            ..Settings::default()
        })
        .await;
        for _ in 0..2 {
            let answer = ask(&server, BODY).await;
            assert!(answer.starts_with(expected), "{answer}");
            assert!(!answer.ends_with('}'), "{answer}");
        }
        let stats = server.stats();
        assert_eq!((stats.calls, stats.completed, stats.duplicates), (2, 0, 0));
        assert_eq!(stats.in_flight, 0);
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_no_longer_in_flight() {
    let server = Server::start(Settings {
        faults: Faults {
            never: vec![0],
            ..Faults::default()
        },
        ..Settings::default()
    })
    .await;
    let waiting = tokio::time::timeout(Duration::from_millis(50), ask(&server, BODY)).await;
    assert!(waiting.is_err());
    while server.stats().in_flight > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(server.stats().peak_in_flight, 1);
}
