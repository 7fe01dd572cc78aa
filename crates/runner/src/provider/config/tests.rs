use gate::policy::Policy;

use super::*;

const KEY: &str = "sk-secret-0123456789";

fn section(toml: &str) -> JudgeSection {
    let policy = Policy::parse(&format!("[judge]\n{toml}")).unwrap();
    policy.file().judge.clone().unwrap()
}

fn env(name: &str) -> Option<String> {
    match name {
        "OPENAI_API_KEY" | "MY_KEY" => Some(format!("{KEY}\n")),
        "EMPTY" => Some(" ".to_owned()),
        "BROKEN" => Some("a\nb".to_owned()),
        _ => None,
    }
}

fn config(toml: &str) -> Result<Config, ConfigError> {
    Config::of(Some(&section(toml)), &env, Path::new("folder"))
}

fn refusal(toml: &str) -> ConfigError {
    config(toml).expect_err("this should be refused")
}

#[test]
fn without_a_section_the_judge_is_lexical() {
    let config = Config::of(None, &env, Path::new("")).unwrap();
    assert_eq!(config.identity().provider, "lexical");
    assert_eq!(config.identity().params, serde_json::json!({}));
    assert_eq!(config.timeout(), Duration::from_mins(1));
    assert_eq!(config.retries(), 4);
    assert_eq!(config.concurrency(), Concurrency::Fixed(8));
}

#[test]
fn the_identity_has_what_changes_answers_and_no_address() {
    let config = config("provider = \"openai\"\nmodel = \"m\"\nseed = 3\nmax_tokens = 100\nbase_url = \"http://h/v1\"").unwrap();
    assert_eq!(
        serde_json::to_value(config.identity()).unwrap(),
        serde_json::json!({"provider": "openai", "model": "m", "params": {"temperature": 0.0, "seed": 3, "max_tokens": 100}})
    );
}

#[test]
fn a_program_gets_one_call_at_once() {
    let config = config("provider = \"command\"\ncommand = [\"judge\"]").unwrap();
    assert_eq!(config.concurrency(), Concurrency::Fixed(1));
    assert_eq!(
        refusal("provider = \"command\"").message,
        "`provider = \"command\"` needs a command"
    );
}

#[test]
fn the_key_of_openai_goes_to_openai_alone() {
    let key_env = |toml: &str| match config(toml).unwrap().kind {
        Kind::OpenAi(server) => server.key_env,
        _ => panic!("openai was asked for"),
    };
    let openai = "provider = \"openai\"\nmodel = \"m\"\n";
    assert_eq!(key_env(openai).as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!(
        key_env(&format!("{openai}base_url = \"http://h/v1\"")),
        None
    );
    let named = format!("{openai}base_url = \"http://h/v1\"\napi_key_env = \"MY_KEY\"");
    assert_eq!(key_env(&named).as_deref(), Some("MY_KEY"));
}

#[test]
fn debug_shows_no_secret() {
    let shown = format!(
        "{:?}",
        config("provider = \"openai\"\nmodel = \"m\"\nheaders_env = { x-extra = \"MY_KEY\" }\nheaders = { x-api-key = \"plain-secret\" }")
            .unwrap()
    );
    assert!(!shown.contains("0123456789"), "{shown}");
    assert!(!shown.contains("plain-secret"), "{shown}");
}

#[test]
fn a_variable_that_is_not_there_is_named() {
    let openai = "provider = \"openai\"\nmodel = \"m\"\n";
    let missing = refusal(&format!("{openai}api_key_env = \"NOT_THERE\""));
    assert_eq!(
        missing.message,
        "the environment variable NOT_THERE is not set"
    );
    assert!(missing.span.is_some());
    let empty = refusal(&format!("{openai}api_key_env = \"EMPTY\""));
    assert_eq!(empty.message, "the environment variable EMPTY is empty");
    let broken = refusal(&format!("{openai}headers_env = {{ x-a = \"BROKEN\" }}"));
    assert!(broken.message.contains("BROKEN has characters"), "{broken}");
    let pasted = refusal(&format!("{openai}headers_env = {{ x-a = \"{KEY}\" }}"));
    assert!(!format!("{pasted:?}").contains(KEY), "{pasted}");
    for key in [
        "0123456789abcdef0123456789abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "hf_abcdefghijklmnopqrstuvwxyz",
        "glpat-abcdefghij0123456789",
        "eyJhbGciOi.eyJzdWIiOi.SflKxwRJ",
    ] {
        let pasted = refusal(&format!("{openai}headers_env = {{ x-a = \"{key}\" }}"));
        assert!(!format!("{pasted:?}").contains(key), "{pasted}");
        // What has other letters is refused where gate.toml is read.
        if key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            let pasted = refusal(&format!("{openai}api_key_env = \"{key}\""));
            assert!(!format!("{pasted:?}").contains(key), "{pasted}");
        }
    }
}

#[test]
fn an_unknown_provider_is_told_the_nearest() {
    let error = refusal("provider = \"opnai\"");
    assert_eq!(error.message, "unknown provider `opnai`");
    assert_eq!(error.help.as_deref(), Some("did you mean `openai`?"));
    assert!(error.span.is_some());
    let ollama = refusal("provider = \"ollama\"").help.unwrap();
    assert!(ollama.contains("provider = \"openai\""), "{ollama}");
    let none = refusal("provider = \"xyz\"").help.unwrap();
    assert_eq!(none, "providers are openai, command, simulated, lexical");
}

#[test]
fn keys_that_mean_nothing_are_refused() {
    for (toml, key) in [
        ("provider = \"lexical\"\nmodel = \"m\"", "model"),
        ("provider = \"simulated\"\ntemperature = 0.5", "temperature"),
        (
            "provider = \"openai\"\nmodel = \"m\"\nlatency = \"1s\"",
            "latency",
        ),
        (
            "provider = \"command\"\ncommand = [\"x\"]\nca_file = \"x\"",
            "ca_file",
        ),
    ] {
        let message = refusal(toml).message;
        assert!(
            message.starts_with(&format!("`{key}` means nothing")),
            "{message}"
        );
    }
    let forgotten = refusal("model = \"m\"");
    assert_eq!(forgotten.help.as_deref(), Some("add provider = \"openai\""));
    assert!(
        refusal("provider = \"simulated\"\nlatency_sigma = 0.4")
            .span
            .is_some()
    );
    assert_eq!(
        refusal("provider = \"openai\"").message,
        "`provider = \"openai\"` needs a model"
    );
}

#[test]
fn an_address_is_made_fit() {
    let address = |text: &str| network::base_url(text).map(|url| url.to_string());
    assert_eq!(address("http://h:80/v1/").unwrap(), "http://h/v1");
    assert_eq!(
        address("https://h/v1/chat/completions").unwrap(),
        "https://h/v1"
    );
    assert_eq!(
        address("https://h/d?api-version=1").unwrap(),
        "https://h/d?api-version=1"
    );
    assert!(address("localhost:8080/v1").is_err());
    assert!(address("ftp://h/").is_err());
    let error = address("https://user:hunter22@h/").unwrap_err();
    assert!(!format!("{error:?}").contains("hunter22"));
}
