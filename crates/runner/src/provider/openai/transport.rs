//! Failures below HTTP: no name, no connection, no encryption, half an answer.

use std::error::Error;
use std::io;

use metrics::FailureKind;

use super::super::{CallError, Scope};

/// What to do about a proxy that does not let us through.
pub(super) const PROXY_ADVICE: &str =
    "the proxy wants a user and a password: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT";

/// What a failure to send or to receive means.
pub(super) fn of(error: &reqwest::Error, address: &str) -> CallError {
    if let Some(tls) = find::<rustls::Error>(error) {
        return CallError::new(
            FailureKind::Unavailable,
            Scope::Run,
            format!(
                "no encrypted connection to {address}: {tls}; {}",
                advice(tls)
            ),
        );
    }
    if innermost(error).contains("proxy authorization required") {
        return CallError::new(
            FailureKind::Auth,
            Scope::Run,
            format!("no connection to {address}: {PROXY_ADVICE}"),
        );
    }
    if error.is_timeout() {
        let what = match error.is_connect() {
            true => "no connection to",
            false => "no answer from",
        };
        let message = format!("{what} {address} in time");
        return CallError::new(FailureKind::Timeout, Scope::PASSING, message);
    }
    let what = if error.is_connect() {
        "cannot connect to"
    } else if error.is_body() || error.is_decode() {
        "the connection ended in the middle of an answer from"
    } else {
        "no answer from"
    };
    CallError::new(
        FailureKind::Unavailable,
        Scope::PASSING,
        format!("{what} {address}: {}", innermost(error)),
    )
}

fn advice(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::Expired | rustls::CertificateError::ExpiredContext { .. },
        ) => "the certificate has expired, or the clock of this machine is wrong",
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::NotValidForName
            | rustls::CertificateError::NotValidForNameContext { .. },
        ) => "base_url has to name the host as the certificate does",
        rustls::Error::InvalidCertificate(_) => {
            "if the certificate is that of your own authority, name its PEM file in ca_file"
        }
        rustls::Error::InvalidMessage(_) => "does the server speak http:// instead of https://?",
        _ => "name the server's certificates in ca_file if they are your own",
    }
}

/// All that an error says, from the outermost to the innermost cause.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// The cause of all causes; the outer ones say only that there was a failure, and the address once more.
fn innermost(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

/// The cause of this type, also where it is wrapped into an I/O error.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<T>() {
            return Some(found);
        }
        let wrapped = cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .map(|inner| inner as &(dyn Error + 'static));
        next = wrapped.or_else(|| cause.source());
    }
    None
}
