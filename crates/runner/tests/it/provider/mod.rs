//! Providers against servers and programs that really run.

mod canned;
mod command;
mod docs;
mod openai;
mod secrets;
mod tls;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use gate::policy::Policy;
use metrics::{Expect, Message, Request, Role};
use runner::provider::{CallError, Completion, Config, ConfigError, Provider};

/// The configuration of a `[judge]` with these lines and these environment variables.
fn config_in(toml: &str, env: &[(&str, &str)], folder: &Path) -> Config {
    let policy = Policy::parse(&format!("[judge]\n{toml}")).unwrap();
    let env = |name: &str| {
        env.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Config::of(policy.file().judge.as_ref(), &env, folder).unwrap()
}

fn provider_in(toml: &str, env: &[(&str, &str)], folder: &Path) -> Result<Provider, ConfigError> {
    Provider::new(&config_in(toml, env, folder))
}

fn provider(toml: &str, env: &[(&str, &str)]) -> Provider {
    provider_in(toml, env, Path::new("")).unwrap()
}

/// A provider for the server at this address.
fn openai(url: &str, more: &str) -> Provider {
    provider(
        &format!("provider = \"openai\"\nmodel = \"m-1\"\nbase_url = \"{url}\"\n{more}"),
        &[],
    )
}

/// A request for a verdict on each item.
fn request(items: &[&str]) -> Request {
    let mut content = "Judge.\n".to_owned();
    for (number, item) in std::iter::zip(1.., items) {
        writeln!(content, "{number}. {item}").unwrap();
    }
    Request {
        metric: "faithfulness".to_owned(),
        version: "1".to_owned(),
        messages: vec![Message {
            role: Role::User,
            content,
        }],
        expect: Expect::Verdicts { items: items.len() },
        items: items.iter().map(|item| (*item).to_owned()).collect(),
        evidence: vec!["Paris is the capital of France.".to_owned()],
        of_answer: None,
    }
}

async fn ask(provider: &Provider) -> Result<Completion, CallError> {
    let request = request(&["Paris is a capital.", "Rome is a capital."]);
    provider.complete(&request, &request.messages).await
}

async fn failure(provider: &Provider) -> CallError {
    ask(provider).await.expect_err("this call should fail")
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/judge")
}
