//! `[judge]` or `[embeddings]` with its defaults, checked, and with what the environment adds.

mod keys;
mod network;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use gate::policy::{Concurrency, JudgeSection, PriceSection, ResponseFormat};
use reqwest::Url;
use secrecy::SecretString;
use serde_json::{Map, Value};

pub(super) use network::{Header, Network};

use super::Identity;
use super::redact::Redactor;
use super::simulated::Simulation;
use crate::program::Program;

/// How long a call may take, where gate.toml does not say it.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// How often a call that failed is tried again.
const DEFAULT_RETRIES: u32 = 4;
/// How many calls at once; a `command` is one process a call, and gets 1.
const DEFAULT_CONCURRENCY: u32 = 8;
/// The server of `provider = "openai"`.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";
/// The key of that server, and of no other.
const DEFAULT_API_KEY_ENV: &str = "OPENAI_API_KEY";

/// What is wrong with `[judge]` or `[embeddings]`, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong, in lower case.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The bytes of gate.toml that are wrong, where they are known.
    pub span: Option<Range<usize>>,
}

impl ConfigError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        ConfigError {
            message: message.into(),
            help: None,
            span: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

/// `[judge]` or `[embeddings]`, ready for use. Debug shows no secret.
#[derive(Debug, Clone)]
pub struct Config {
    kind: Kind,
    identity: Identity,
    secrets: Vec<SecretString>,
    timeout: Duration,
    retries: u32,
    concurrency: Concurrency,
    rpm: Option<u32>,
    tpm: Option<u32>,
    price: Option<PriceSection>,
}

/// What is particular to each provider.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    OpenAi(Box<Server>),
    Command(Judging),
    Simulated(Simulation),
    Lexical,
}

/// A server that speaks `OpenAI`'s protocol.
#[derive(Debug, Clone)]
pub(super) struct Server {
    /// Without credentials.
    pub(super) base_url: Url,
    pub(super) model: String,
    pub(super) headers: Vec<Header>,
    /// The variable that holds the key; `None` when no key is sent.
    pub(super) key_env: Option<String>,
    pub(super) temperature: f64,
    pub(super) seed: Option<i64>,
    pub(super) max_tokens: Option<u32>,
    pub(super) response_format: ResponseFormat,
    pub(super) network: Network,
}

/// A program that answers.
#[derive(Debug, Clone)]
pub(super) struct Judging {
    pub(super) program: Program,
    pub(super) model: Option<String>,
}

impl Config {
    /// Reads the section; without one, the judge is lexical.
    ///
    /// `env` looks up environment variables, `folder` is that of gate.toml. No file is read yet and nothing is called.
    pub fn of(
        section: Option<&JudgeSection>,
        env: &dyn Fn(&str) -> Option<String>,
        folder: &Path,
    ) -> Result<Config, ConfigError> {
        let default = JudgeSection::default();
        let section = section.unwrap_or(&default);
        let provider = keys::provider(section)?;
        keys::check(section, provider)?;
        let mut secrets = Vec::new();
        let kind = match provider {
            keys::OPENAI => Kind::OpenAi(Box::new(server(section, env, folder, &mut secrets)?)),
            keys::COMMAND => Kind::Command(program(section, folder)?),
            keys::SIMULATED => Kind::Simulated(simulation(section)?),
            _ => Kind::Lexical,
        };
        let concurrency = section.concurrency.unwrap_or(match &kind {
            Kind::Command(_) => Concurrency::Fixed(1),
            _ => Concurrency::Fixed(DEFAULT_CONCURRENCY),
        });
        Ok(Config {
            identity: Identity {
                provider: provider.to_owned(),
                model: section.model.clone(),
                params: params(&kind),
            },
            kind,
            secrets,
            timeout: section.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0),
            retries: section.retries.unwrap_or(DEFAULT_RETRIES),
            concurrency,
            rpm: section.rpm.as_ref().map(|rpm| *rpm.get_ref()),
            tpm: section.tpm.as_ref().map(|tpm| *tpm.get_ref()),
            price: section.price,
        })
    }

    /// What identifies the judge, as [`Provider::identity`](super::Provider::identity) has it.
    pub fn identity(&self) -> Identity {
        self.identity.clone()
    }

    /// How long one call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How often a call that failed is tried again.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// How many calls at once.
    pub fn concurrency(&self) -> Concurrency {
        self.concurrency
    }

    /// Most calls a minute.
    pub fn rpm(&self) -> Option<u32> {
        self.rpm
    }

    /// Most tokens a minute.
    pub fn tpm(&self) -> Option<u32> {
        self.tpm
    }

    /// What the model costs.
    pub fn price(&self) -> Option<PriceSection> {
        self.price
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.kind
    }

    pub(super) fn redactor(&self) -> Redactor {
        Redactor::new(&self.secrets)
    }
}

/// What else than the model could change an answer.
fn params(kind: &Kind) -> Value {
    let mut params = Map::new();
    match kind {
        Kind::OpenAi(server) => {
            params.insert("temperature".to_owned(), server.temperature.into());
            if let Some(seed) = server.seed {
                params.insert("seed".to_owned(), seed.into());
            }
            if let Some(max_tokens) = server.max_tokens {
                params.insert("max_tokens".to_owned(), max_tokens.into());
            }
        }
        Kind::Command(judging) => {
            let command = judging.program.command.clone();
            params.insert("command".to_owned(), command.into());
        }
        Kind::Simulated(simulation) if simulation.seed != 0 => {
            params.insert("seed".to_owned(), simulation.seed.into());
        }
        Kind::Simulated(_) | Kind::Lexical => {}
    }
    Value::Object(params)
}

fn server(
    section: &JudgeSection,
    env: &dyn Fn(&str) -> Option<String>,
    folder: &Path,
    secrets: &mut Vec<SecretString>,
) -> Result<Server, ConfigError> {
    let Some(model) = section.model.clone().filter(|model| !model.is_empty()) else {
        return Err(ConfigError::new("`provider = \"openai\"` needs a model")
            .help("name it, with its date if it has one: model = \"gpt-4o-mini-2024-07-18\""));
    };
    let base_url = network::base_url(section.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL))?;
    let mut headers = network::headers(section, env, secrets)?;
    // The key of OpenAI goes to OpenAI alone, unless gate.toml says otherwise.
    let key_env = match (&section.api_key_env, &section.base_url) {
        (Some(name), _) => Some(name.get_ref().clone()),
        (None, None) => Some(DEFAULT_API_KEY_ENV.to_owned()),
        (None, Some(_)) => None,
    };
    if let Some(name) = &key_env {
        let span = section.api_key_env.as_ref().map(toml::Spanned::span);
        headers.push(network::key(name, span.as_ref(), env, secrets)?);
    }
    Ok(Server {
        base_url,
        model,
        headers,
        key_env,
        temperature: section
            .temperature
            .as_ref()
            .map_or(0.0, |temperature| *temperature.get_ref()),
        seed: section.seed,
        max_tokens: section.max_tokens.as_ref().map(|tokens| *tokens.get_ref()),
        response_format: section.response_format.unwrap_or_default(),
        network: Network::of(section, env, folder, secrets),
    })
}

fn program(section: &JudgeSection, folder: &Path) -> Result<Judging, ConfigError> {
    let command = section.command.clone().unwrap_or_default();
    if command.first().is_none_or(String::is_empty) {
        return Err(ConfigError::new("`provider = \"command\"` needs a command")
            .help("name the program and its arguments: command = [\"python\", \"judge.py\"]"));
    }
    Ok(Judging {
        program: Program {
            command,
            folder: folder.to_owned(),
        },
        model: section.model.clone(),
    })
}

fn simulation(section: &JudgeSection) -> Result<Simulation, ConfigError> {
    if let (Some(sigma), None) = (&section.latency_sigma, &section.latency) {
        return Err(
            ConfigError::new("latency_sigma spreads a latency, and there is none")
                .help("add the median, such as latency = \"8s\"")
                .at(sigma.span()),
        );
    }
    Ok(Simulation {
        latency: section.latency.map_or(Duration::ZERO, |latency| latency.0),
        sigma: section
            .latency_sigma
            .as_ref()
            .map_or(0.0, |sigma| *sigma.get_ref()),
        seed: section.seed.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests;
