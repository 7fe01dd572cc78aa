//! docs/judge.md says what is so.

use std::path::Path;

use gate::policy::Policy;
use runner::provider::Config;

use super::fixtures;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/judge.md");
    std::fs::read_to_string(path).unwrap()
}

/// The blocks of the page in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    page.split("\n```")
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .collect()
}

#[test]
fn every_gate_toml_of_the_page_is_taken() {
    let page = page();
    let blocks = blocks(&page, "toml");
    assert_eq!(blocks.len(), 7);
    for block in blocks {
        let policy = Policy::parse(block).unwrap_or_else(|error| panic!("{block}: {error:?}"));
        let env = |_: &str| Some("a-secret".to_owned());
        Config::of(policy.file().judge.as_ref(), &env, Path::new(""))
            .unwrap_or_else(|error| panic!("{block}: {error}"));
    }
}

#[test]
fn the_program_of_the_page_is_the_one_that_is_tested() {
    let page = page();
    let worker = std::fs::read_to_string(fixtures().join("worker.py")).unwrap();
    assert_eq!(blocks(&page, "python"), [worker.trim_end()]);
}
