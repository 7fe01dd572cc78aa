//! The connection: one client for all calls, with its proxies and certificates.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder, NoProxy, Proxy, Url, redirect};
use secrecy::{ExposeSecret, SecretString};

use super::super::config::{ConfigError, Server};

/// A host that does not answer for so long is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Many servers and load balancers close a connection that was idle for 60 seconds.
const IDLE_TIMEOUT: Duration = Duration::from_secs(45);

/// The client of a server.
pub(super) fn build(
    server: &Server,
    timeout: Duration,
    connections: usize,
) -> Result<Client, ConfigError> {
    // Another part of the program may have installed it; there is no harm in that.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .default_headers(headers(server))
        .connect_timeout(timeout.min(CONNECT_TIMEOUT))
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(connections)
        .tcp_nodelay(true)
        // A key must not follow a redirect to somebody else.
        .redirect(redirect::Policy::none());
    let builder = proxies(builder, server)?;
    let builder = certificates(builder, server)?;
    builder.build().map_err(|error| {
        ConfigError::new(format!(
            "no encrypted connection can be made: {}",
            super::transport::chain(&error)
        ))
        .help("install the system's certificates (ca-certificates), or set ca_file")
    })
}

/// True for this machine.
pub(super) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn headers(server: &Server) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let json = HeaderValue::from_static("application/json");
    headers.insert(CONTENT_TYPE, json.clone());
    headers.insert(ACCEPT, json);
    headers.insert(
        reqwest::header::USER_AGENT,
        HeaderValue::from_static(concat!("rag-gate/", env!("CARGO_PKG_VERSION"))),
    );
    // The key comes last and is not replaced by a header of the same name unless that was meant: it is the same name.
    for header in &server.headers {
        headers.insert(header.name.clone(), header.value.clone());
    }
    headers
}

/// The proxies of the environment; a judge on this machine is never behind one.
fn proxies(builder: ClientBuilder, server: &Server) -> Result<ClientBuilder, ConfigError> {
    if is_local(&server.base_url) {
        return Ok(builder.no_proxy());
    }
    let network = &server.network;
    let no_proxy = network.no_proxy.as_deref().and_then(NoProxy::from_string);
    let proxy = |address: &SecretString, of: fn(&str) -> reqwest::Result<Proxy>, name: &str| {
        of(address.expose_secret())
            .map(|proxy| proxy.no_proxy(no_proxy.clone()))
            // The error would quote the address, and that may hold a password.
            .map_err(|_| {
                ConfigError::new(format!(
                    "the environment variable {name} is no address of a proxy"
                ))
                .help("it looks like http://proxy.example:3128")
            })
    };
    let mut builder = builder;
    if let Some(address) = &network.https_proxy {
        builder = builder.proxy(proxy(
            address,
            |address| Proxy::https(address),
            "HTTPS_PROXY",
        )?);
    }
    if let Some(address) = &network.http_proxy {
        builder = builder.proxy(proxy(
            address,
            |address| Proxy::http(address),
            "HTTP_PROXY",
        )?);
    }
    Ok(builder)
}

fn certificates(builder: ClientBuilder, server: &Server) -> Result<ClientBuilder, ConfigError> {
    if server.base_url.scheme() == "http" {
        // The certificates of the system take a while to read, and may not be there at all.
        return Ok(builder.tls_certs_only([]));
    }
    let mut certificates = Vec::new();
    for (name, path) in &server.network.ca_files {
        let pem = std::fs::read(path).map_err(|error| {
            ConfigError::new(format!("{name}: cannot read {}: {error}", path.display()))
        })?;
        let read = Certificate::from_pem_bundle(&pem).unwrap_or_default();
        if read.is_empty() {
            return Err(ConfigError::new(format!(
                "{name}: there is no certificate in {}",
                path.display()
            ))
            .help("it should be a PEM file, with lines such as -----BEGIN CERTIFICATE-----"));
        }
        certificates.extend(read);
    }
    Ok(builder.tls_certs_merge(certificates))
}
