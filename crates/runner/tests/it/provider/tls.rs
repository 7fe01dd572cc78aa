//! Encryption and proxies.

use std::path::Path;
use std::sync::Arc;

use metrics::FailureKind;
use rcgen::CertifiedKey;
use runner::provider::{Provider, Scope};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::canned::{Replies, read_request, says};
use super::{ask, failure, provider_in};

/// A server with a certificate of its own for `judge.test` and `localhost`.
struct Secure {
    port: u16,
    folder: tempfile::TempDir,
}

impl Secure {
    async fn start() -> Secure {
        let names = vec!["judge.test".to_owned(), "localhost".to_owned()];
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), cert.pem()).unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let replies = Replies::new(vec![says("secure")]);
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, replies) = (acceptor.clone(), replies.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        replies.serve(stream).await;
                    }
                });
            }
        });
        Secure { port, folder }
    }

    fn provider(&self, host: &str, more: &str, env: &[(&str, &str)]) -> Provider {
        let port = self.port;
        let toml = format!(
            "provider = \"openai\"\nmodel = \"m-1\"\nbase_url = \"https://{host}:{port}/v1\"\n{more}"
        );
        provider_in(&toml, env, self.folder.path()).unwrap()
    }
}

#[tokio::test]
async fn a_certificate_of_ones_own_is_trusted_when_it_is_named() {
    let server = Secure::start().await;
    let unknown = failure(&server.provider("localhost", "", &[])).await;
    assert_eq!(
        (unknown.kind, unknown.scope),
        (FailureKind::Unavailable, Scope::Run)
    );
    assert!(unknown.message.contains("ca_file"), "{unknown}");
    let named = server.provider("localhost", "ca_file = \"ca.pem\"", &[]);
    assert_eq!(ask(&named).await.unwrap().text, "secure");
    let path = server.folder.path().join("ca.pem");
    let env = [("SSL_CERT_FILE", path.to_str().unwrap())];
    ask(&server.provider("localhost", "", &env)).await.unwrap();
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let server = Secure::start().await;
    let error = failure(&server.provider("127.0.0.1", "ca_file = \"ca.pem\"", &[])).await;
    assert_eq!(error.scope, Scope::Run);
    assert!(
        error
            .message
            .contains("name the host as the certificate does"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 512]).await;
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        let _ = stream.read(&mut [0; 512]).await;
    });
    let toml = format!(
        "provider = \"openai\"\nmodel = \"m-1\"\nbase_url = \"https://127.0.0.1:{port}/v1\""
    );
    let error = failure(&provider_in(&toml, &[], Path::new("")).unwrap()).await;
    assert_eq!(
        (error.kind, error.scope),
        (FailureKind::Unavailable, Scope::Run)
    );
    assert!(
        error.message.contains("http:// instead of https://"),
        "{error}"
    );
}

#[test]
fn a_file_without_certificates_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.pem"), "nothing").unwrap();
    for (file, problem) in [
        ("empty.pem", "there is no certificate in"),
        ("none.pem", "cannot read"),
    ] {
        let toml = format!(
            "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"https://h/v1\"\nca_file = \"{file}\""
        );
        let error = provider_in(&toml, &[], folder.path()).unwrap_err();
        assert!(error.message.contains(problem), "{error}");
        assert!(error.message.contains(file), "{error}");
    }
}

/// A proxy that connects to `to`, whatever host is asked for, when user and password are right.
async fn proxy(to: u16) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, heads) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let head = read_request(&mut client).await.unwrap_or_default();
            let is_known = head.to_lowercase().contains("proxy-authorization: basic ");
            seen.send(head).unwrap();
            if !is_known {
                let refusal =
                    b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
                client.write_all(refusal).await.unwrap();
                let _ = client.read(&mut [0; 1]).await;
                continue;
            }
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (port, heads)
}

#[tokio::test]
async fn a_proxy_is_used_and_its_password_is_not_told() {
    let server = Secure::start().await;
    let (port, mut heads) = proxy(server.port).await;
    let address = format!("http://user:hunter2pass@127.0.0.1:{port}");
    let env = [("HTTPS_PROXY", address.as_str())];
    let provider = server.provider("judge.test", "ca_file = \"ca.pem\"", &env);
    assert_eq!(ask(&provider).await.unwrap().text, "secure");
    let head = heads.recv().await.unwrap();
    assert!(
        head.starts_with(&format!("CONNECT judge.test:{}", server.port)),
        "{head}"
    );
    assert_eq!(provider.redact("hunter2pass"), "[redacted]");
    assert!(!format!("{provider:?}").contains("hunter2pass"));
}

#[tokio::test]
async fn a_proxy_that_refuses_is_told_from_the_server() {
    let server = Secure::start().await;
    let (port, _heads) = proxy(server.port).await;
    let address = format!("http://127.0.0.1:{port}");
    let provider = server.provider(
        "judge.test",
        "ca_file = \"ca.pem\"",
        &[("HTTPS_PROXY", &address)],
    );
    let error = failure(&provider).await;
    assert_eq!(error.kind, FailureKind::Auth, "{error}");
    assert_eq!(error.scope, Scope::Run);
    assert!(error.message.contains("proxy"), "{error}");
}

#[tokio::test]
async fn hosts_without_a_proxy_are_reached_directly() {
    let server = Secure::start().await;
    let (port, mut heads) = proxy(server.port).await;
    let address = format!("http://127.0.0.1:{port}");
    let here = server.provider(
        "localhost",
        "ca_file = \"ca.pem\"",
        &[("HTTPS_PROXY", &address)],
    );
    ask(&here).await.unwrap();
    let env = [("HTTPS_PROXY", address.as_str()), ("NO_PROXY", ".test")];
    // There is no such host: what matters is who is asked for it.
    let _ = failure(&server.provider("judge.test", "ca_file = \"ca.pem\"", &env)).await;
    assert!(heads.try_recv().is_err());
}
