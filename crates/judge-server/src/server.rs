//! The server: accepts, answers, and stops when it is dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::handle::handle;
use crate::settings::Settings;
use crate::stats::{Recorder, Stats};

/// A running server; dropping it closes all connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    recorder: Recorder,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts a server on loopback, in the runtime that this is called in.
    ///
    /// # Panics
    ///
    /// When the port is taken.
    #[expect(
        clippy::expect_used,
        reason = "a test without its server has nothing to say"
    )]
    pub async fn start(settings: Settings) -> Server {
        Server::bind(settings)
            .await
            .expect("the port should be free")
    }

    /// Starts a server, or says why that does not go.
    pub async fn bind(settings: Settings) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let address = listener.local_addr()?;
        let recorder = Recorder::default();
        let accepting = tokio::spawn(accept(listener, Arc::new(settings), recorder.clone()));
        Ok(Server {
            address,
            recorder,
            accepting,
        })
    }

    /// `http://127.0.0.1:PORT/v1`
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What was called so far.
    pub fn stats(&self) -> Stats {
        self.recorder.stats()
    }

    /// Bodies of all calls in the order of their arrival; empty without `recording`.
    pub fn requests(&self) -> Vec<String> {
        self.recorder.requests()
    }

    /// Forgets what was called so far; the next call has number 0.
    pub fn reset(&self) {
        self.recorder.reset();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, settings: Arc<Settings>, recorder: Recorder) {
    let mut connections = JoinSet::new();
    loop {
        // Out of file descriptors: those that close will make room.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(serve(stream, Arc::clone(&settings), recorder.clone()));
    }
}

async fn serve(stream: TcpStream, settings: Arc<Settings>, recorder: Recorder) {
    // Answers are small: waiting for more to send would only cost time.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| handle(&settings, &recorder, request));
    // A client that goes away, or a connection that is to be dropped, is no error here.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
