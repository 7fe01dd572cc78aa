//! A server that says what it is told to say, byte for byte.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Answers one request after the other; the last answer is repeated.
pub(super) struct Canned {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    accepting: JoinHandle<()>,
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// Sends these bytes and closes the connection.
    Raw(Vec<u8>),
    /// Never answers.
    Silence,
}

/// A whole answer; `headers` ends each line with `\r\n`.
pub(super) fn reply(status: u16, headers: &str, body: &str) -> Reply {
    let head = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n{headers}");
    let length = body.len();
    Reply::Raw(format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes())
}

pub(super) fn json(status: u16, body: &str) -> Reply {
    reply(status, "content-type: application/json\r\n", body)
}

/// An answer of a model with this content.
pub(super) fn says(content: &str) -> Reply {
    let message = serde_json::json!({"role": "assistant", "content": content});
    let body = serde_json::json!({"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}]});
    json(200, &body.to_string())
}

impl Canned {
    pub(super) async fn start(replies: Vec<Reply>) -> Canned {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let replies = Replies::new(replies);
        let requests = Arc::clone(&replies.requests);
        let accepting = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(replies.clone().serve(stream));
            }
        });
        Canned {
            url,
            requests,
            accepting,
        }
    }

    /// Head and body of all requests so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Canned {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// The replies that are left, and the requests that came.
#[derive(Clone)]
pub(super) struct Replies {
    left: Arc<Mutex<VecDeque<Reply>>>,
    pub(super) requests: Arc<Mutex<Vec<String>>>,
}

impl Replies {
    pub(super) fn new(replies: Vec<Reply>) -> Self {
        Replies {
            left: Arc::new(Mutex::new(replies.into())),
            requests: Arc::default(),
        }
    }

    fn next(&self) -> Reply {
        let mut left = self.left.lock().unwrap();
        match left.len() {
            1 => left[0].clone(),
            _ => left.pop_front().unwrap(),
        }
    }

    /// Answers one request over this connection, encrypted or not.
    pub(super) async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Some(request) = read_request(&mut stream).await else {
            return;
        };
        self.requests.lock().unwrap().push(request);
        match self.next() {
            Reply::Raw(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
            Reply::Silence => std::future::pending().await,
        }
    }
}

/// Head and body; `None` when the connection ends before.
pub(super) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase()
                        .strip_prefix("content-length: ")?
                        .parse()
                        .ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
