//! How a server is reached: address, headers, proxies, certificates.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gate::policy::JudgeSection;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::SecretString;

use super::ConfigError;

/// A header of every call. A secret value is marked, so that Debug does not show it.
#[derive(Debug, Clone)]
pub(in super::super) struct Header {
    pub(in super::super) name: HeaderName,
    pub(in super::super) value: HeaderValue,
}

/// Proxies and certificates.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Network {
    /// For `http://` addresses; may hold a password.
    pub(in super::super) http_proxy: Option<SecretString>,
    /// For `https://` addresses.
    pub(in super::super) https_proxy: Option<SecretString>,
    /// Hosts that are reached without a proxy.
    pub(in super::super) no_proxy: Option<String>,
    /// Certificates to trust, and what named the file.
    pub(in super::super) ca_files: Vec<(&'static str, PathBuf)>,
}

impl Network {
    pub(super) fn of(
        section: &JudgeSection,
        env: &dyn Fn(&str) -> Option<String>,
        folder: &Path,
        secrets: &mut Vec<SecretString>,
    ) -> Network {
        let first = |names: [&str; 4]| {
            names
                .into_iter()
                .find_map(|name| env(name).filter(|value| !value.trim().is_empty()))
        };
        let http_proxy = first(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]);
        let https_proxy = first(["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]);
        for proxy in [&http_proxy, &https_proxy].into_iter().flatten() {
            if let Some(password) = Url::parse(proxy)
                .ok()
                .and_then(|url| url.password().map(str::to_owned))
            {
                secrets.push(SecretString::from(password));
            }
        }
        let mut ca_files = Vec::new();
        if let Some(path) = env("SSL_CERT_FILE").filter(|path| !path.is_empty()) {
            ca_files.push(("SSL_CERT_FILE", PathBuf::from(path)));
        }
        if let Some(path) = &section.ca_file {
            ca_files.push(("ca_file", folder.join(path)));
        }
        Network {
            http_proxy: http_proxy.map(SecretString::from),
            https_proxy: https_proxy.map(SecretString::from),
            no_proxy: first(["NO_PROXY", "no_proxy", "NO_PROXY", "no_proxy"]),
            ca_files,
        }
    }
}

/// The address of the API, without a slash at its end.
pub(super) fn base_url(text: &str) -> Result<Url, ConfigError> {
    let help = "it looks like https://api.openai.com/v1";
    let mut url = Url::parse(text)
        .map_err(|error| ConfigError::new(format!("base_url is no address: {error}")).help(help))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ConfigError::new("base_url is no address of http or https").help(help));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            ConfigError::new("base_url holds a user or password, which gate.toml is no place for")
                .help("put the value of the Authorization header into an environment variable, and name that in headers_env"),
        );
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    // People paste the address of one call.
    let path = path.strip_suffix("/chat/completions").unwrap_or(&path);
    let path = path.strip_suffix("/embeddings").unwrap_or(path);
    let path = path.to_owned();
    url.set_path(&path);
    Ok(url)
}

/// `Authorization: Bearer` with the key that the variable holds.
pub(super) fn key(
    name: &str,
    span: Option<&Range<usize>>,
    env: &dyn Fn(&str) -> Option<String>,
    secrets: &mut Vec<SecretString>,
) -> Result<Header, ConfigError> {
    let at = |mut error: ConfigError| {
        error.span = span.cloned();
        error
    };
    let key = secret(name, env).map_err(at)?;
    let value = secret_value(&format!("Bearer {key}"), name).map_err(at)?;
    secrets.push(SecretString::from(key));
    Ok(Header {
        name: AUTHORIZATION,
        value,
    })
}

/// The headers of `headers` and `headers_env`.
pub(super) fn headers(
    section: &JudgeSection,
    env: &dyn Fn(&str) -> Option<String>,
    secrets: &mut Vec<SecretString>,
) -> Result<Vec<Header>, ConfigError> {
    let mut headers = Vec::new();
    for (name, value) in section.headers.iter().flatten() {
        let name = header_name(name)?;
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            ConfigError::new(format!(
                "the value of header `{name}` has characters that no header may have"
            ))
        })?;
        if is_secret(&name) {
            // It should be in headers_env; it is treated with care all the same.
            secrets.extend(value.to_str().ok().map(SecretString::from));
            value.set_sensitive(true);
        }
        headers.push(Header { name, value });
    }
    for (name, variable) in section.headers_env.iter().flatten() {
        let name = header_name(name)?;
        let text = secret(variable, env)?;
        let value = secret_value(&text, variable)?;
        secrets.push(SecretString::from(text));
        headers.push(Header { name, value });
    }
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, ConfigError> {
    name.parse()
        .map_err(|_| ConfigError::new(format!("`{name}` is no name of a header")))
}

fn is_secret(name: &HeaderName) -> bool {
    let name = name.as_str();
    ["authorization", "cookie", "key", "token", "secret"]
        .iter()
        .any(|word| name.contains(word))
}

/// The value of the variable, without the line break that often ends it.
fn secret(name: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, ConfigError> {
    let looks_like_a_key =
        name.starts_with("sk-") || name.contains(char::is_whitespace) || name.len() > 80;
    if looks_like_a_key {
        return Err(
            ConfigError::new("the name of an environment variable is expected here, and this looks like a key")
                .help("put the key into a variable, name that, and take the key for known to others if it was committed"),
        );
    }
    match env(name).map(|value| value.trim().to_owned()) {
        Some(value) if !value.is_empty() => Ok(value),
        Some(_) => Err(ConfigError::new(format!("{} is empty", variable(name)))
            .help("a secret of a CI job is empty when the job may not see it, as in pull requests from forks")),
        None => {
            let help = match shown(name) {
                Some(name) => format!("set it to the secret: export {name}=…"),
                None => "gate.toml holds the variable's name, such as OPENAI_API_KEY, never the key".to_owned(),
            };
            Err(ConfigError::new(format!("{} is not set", variable(name))).help(help))
        }
    }
}

/// The variable in a message.
fn variable(name: &str) -> String {
    match shown(name) {
        Some(name) => format!("the environment variable {name}"),
        None => "the environment variable that is named here (its name is not shown, for it could be a key)".to_owned(),
    }
}

/// A name that can be shown: whoever writes the key in the place of the name shall not find it in a log.
///
/// Capitals with an underscore, or a short word: keys have neither.
fn shown(name: &str) -> Option<&str> {
    let is_capital =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let is_name = name.starts_with(|first: char| first.is_ascii_uppercase() || first == '_')
        && name.chars().all(is_capital)
        && (name.contains('_') || name.len() <= 12);
    let is_short = name.len() <= 12
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    (is_name || is_short).then_some(name)
}

fn secret_value(text: &str, variable: &str) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        ConfigError::new(format!(
            "{} has characters that no header may have",
            self::variable(variable)
        ))
        .help("it should hold the secret alone, on one line")
    })?;
    value.set_sensitive(true);
    Ok(value)
}
