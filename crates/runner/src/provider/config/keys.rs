//! Which providers there are, and which keys make sense for which.

use std::ops::Range;

use gate::policy::JudgeSection;
use toml::Spanned;

use super::ConfigError;

pub(super) const OPENAI: &str = "openai";
pub(super) const COMMAND: &str = "command";
pub(super) const SIMULATED: &str = "simulated";
pub(super) const LEXICAL: &str = "lexical";

const PROVIDERS: [&str; 4] = [OPENAI, COMMAND, SIMULATED, LEXICAL];

/// Servers and services that speak `OpenAI`'s protocol, whose names people try.
const COMPATIBLE: [&str; 17] = [
    "azure",
    "cerebras",
    "deepseek",
    "fireworks",
    "gemini",
    "groq",
    "litellm",
    "llama.cpp",
    "llamacpp",
    "lmstudio",
    "mistral",
    "ollama",
    "openai-compatible",
    "openrouter",
    "sglang",
    "together",
    "vllm",
];

/// The provider that the section names.
pub(super) fn provider(section: &JudgeSection) -> Result<&'static str, ConfigError> {
    let Some(named) = &section.provider else {
        return default(section);
    };
    let name = named.get_ref().as_str();
    if let Some(provider) = PROVIDERS.into_iter().find(|provider| *provider == name) {
        return Ok(provider);
    }
    let lower = name.to_lowercase();
    let help = if COMPATIBLE.contains(&lower.as_str()) {
        format!(
            "`{name}` speaks the protocol of OpenAI: set provider = \"openai\" and base_url to its address"
        )
    } else if let Some(nearest) = nearest(&lower) {
        format!("did you mean `{nearest}`?")
    } else {
        format!("providers are {}", PROVIDERS.join(", "))
    };
    Err(ConfigError::new(format!("unknown provider `{name}`"))
        .help(help)
        .at(named.span()))
}

/// A section that says how to reach a model, and not by what, forgot something.
fn default(section: &JudgeSection) -> Result<&'static str, ConfigError> {
    let forgotten = [
        ("command", section.command.is_some(), COMMAND),
        ("base_url", section.base_url.is_some(), OPENAI),
        ("model", section.model.is_some(), OPENAI),
    ];
    match forgotten.iter().find(|(_, is_set, _)| *is_set) {
        Some((key, _, provider)) => Err(ConfigError::new(format!(
            "`{key}` is set, and there is no provider that would use it"
        ))
        .help(format!("add provider = \"{provider}\""))),
        None => Ok(LEXICAL),
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    PROVIDERS
        .into_iter()
        .map(|provider| (strsim::jaro_winkler(name, provider), provider))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, provider)| provider)
}

/// A key of the section: its name, whether it is set, its place in gate.toml, and who uses it.
type Key = (
    &'static str,
    bool,
    Option<Range<usize>>,
    &'static [&'static str],
);

/// Refuses keys that the provider would pass over.
pub(super) fn check(section: &JudgeSection, provider: &str) -> Result<(), ConfigError> {
    for (key, is_set, span, providers) in keys(section) {
        if is_set && !providers.contains(&provider) {
            let message = format!("`{key}` means nothing to provider `{provider}`");
            return Err(ConfigError {
                message,
                help: Some(format!(
                    "remove it, or set provider to {}",
                    providers.join(" or ")
                )),
                span,
            });
        }
    }
    Ok(())
}

/// The keys that not every provider uses.
fn keys(section: &JudgeSection) -> [Key; 13] {
    fn spanned<T>(
        name: &'static str,
        value: Option<&Spanned<T>>,
        providers: &'static [&'static str],
    ) -> Key {
        (name, value.is_some(), value.map(Spanned::span), providers)
    }
    let server: &[&str] = &[OPENAI];
    let simulation: &[&str] = &[SIMULATED];
    [
        ("base_url", section.base_url.is_some(), None, server),
        (
            "model",
            section.model.is_some(),
            None,
            &[OPENAI, COMMAND, SIMULATED],
        ),
        spanned("api_key_env", section.api_key_env.as_ref(), server),
        ("headers", section.headers.is_some(), None, server),
        ("headers_env", section.headers_env.is_some(), None, server),
        ("ca_file", section.ca_file.is_some(), None, server),
        ("command", section.command.is_some(), None, &[COMMAND]),
        spanned("temperature", section.temperature.as_ref(), server),
        ("seed", section.seed.is_some(), None, &[OPENAI, SIMULATED]),
        spanned("max_tokens", section.max_tokens.as_ref(), server),
        (
            "response_format",
            section.response_format.is_some(),
            None,
            server,
        ),
        ("latency", section.latency.is_some(), None, simulation),
        spanned("latency_sigma", section.latency_sigma.as_ref(), simulation),
    ]
}
