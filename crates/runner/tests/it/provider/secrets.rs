//! The key is nowhere but in the header that it belongs in.

use std::path::Path;

use judge_server::{Server, Settings};
use metrics::FailureKind;
use runner::provider::Scope;

use super::canned::{Canned, json, reply, says};
use super::{ask, config_in, failure, provider};

const KEY: &str = "sk-proj/T0p+Sesame\"Key_9876543210";

fn toml(url: &str) -> String {
    format!(
        "provider = \"openai\"\nmodel = \"m-1\"\nbase_url = \"{url}\"\napi_key_env = \"MY_KEY\"\n\
         headers_env = {{ x-extra = \"EXTRA\" }}\nheaders = {{ x-plain = \"plain\" }}"
    )
}

const ENV: [(&str, &str); 2] = [("MY_KEY", KEY), ("EXTRA", "other-secret-value")];

fn assert_clean(text: &str) {
    for part in ["T0p", "Sesame", "9876543210", "other-secret"] {
        assert!(!text.contains(part), "{part} is in {text}");
    }
}

#[tokio::test]
async fn secrets_are_sent_where_they_belong() {
    let server = Canned::start(vec![says("x")]).await;
    ask(&provider(&toml(&server.url), &ENV)).await.unwrap();
    let request = &server.requests()[0];
    assert!(
        request.contains(&format!("authorization: Bearer {KEY}\r\n")),
        "{request}"
    );
    assert!(
        request.contains("x-extra: other-secret-value\r\n"),
        "{request}"
    );
    assert!(request.contains("x-plain: plain\r\n"), "{request}");
}

#[tokio::test]
async fn a_server_that_repeats_the_key_is_not_quoted() {
    let server = Server::start(Settings {
        key: Some("right".to_owned()),
        ..Settings::default()
    })
    .await;
    let error = failure(&provider(&toml(&server.url()), &ENV)).await;
    assert_eq!((error.kind, error.scope), (FailureKind::Auth, Scope::Run));
    assert!(
        error
            .message
            .contains("Incorrect API key provided: [redacted]"),
        "{error}"
    );
    assert!(error.message.contains("MY_KEY"), "{error}");
    assert_clean(&error.message);
}

#[tokio::test]
async fn no_way_of_quoting_lets_a_secret_through() {
    let message = serde_json::json!({"error": {"message": format!("{}: {KEY}", "x".repeat(280))}});
    let refusal = serde_json::json!({"choices": [{"message": {"content": null, "refusal": format!("no {KEY}")}}]});
    for body in [
        message.to_string(),
        format!("plain {KEY} and other-secret-value"),
        refusal.to_string(),
    ] {
        for status in [200, 400, 401, 404, 429, 500] {
            let server = Canned::start(vec![json(status, &body)]).await;
            let provider = provider(&toml(&server.url), &ENV);
            assert_clean(&failure(&provider).await.message);
            assert_clean(&format!("{provider:?}"));
        }
    }
    let page = format!("content-type: text/{KEY}\r\n");
    let server = Canned::start(vec![reply(200, &page, "<html>")]).await;
    assert_clean(&failure(&provider(&toml(&server.url), &ENV)).await.message);
}

#[test]
fn what_is_kept_of_an_answer_is_cleaned_too() {
    let provider = provider(&toml("http://127.0.0.1:9/v1"), &ENV);
    assert_eq!(provider.redact("a plain answer"), "a plain answer");
    assert_clean(&provider.redact(&format!("my key is {KEY}, and other-secret-value")));
    assert_clean(&format!(
        "{:?}",
        config_in(&toml("http://h/v1"), &ENV, Path::new(""))
    ));
    assert_clean(&serde_json::to_string(provider.identity()).unwrap());
}
