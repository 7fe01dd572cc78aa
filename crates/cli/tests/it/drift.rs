//! Prose that states a fact is compared with the fact: schemas, help, exit codes, keys, paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const SCHEMAS: [&str; 5] = ["results", "baseline", "verdict", "gate", "history"];

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("a crate lies two folders below the root")
        .to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What the command prints, which has to succeed.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rag-gate"))
        .args(arguments)
        .current_dir(root())
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_ACTOR")
        .output()
        .unwrap();
    assert!(output.status.success(), "rag-gate {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// README.md and the pages of the book, by name.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "ARCHITECTURE.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "md")
        {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    pages
}

/// The code spans of a line or page.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `rag-gate schema NAME > schemas/NAME.json` brings a schema up to date.
#[test]
fn schemas_are_those_of_the_types() {
    for name in SCHEMAS {
        let committed = text(&format!("schemas/{name}.json"));
        assert_eq!(
            committed,
            printed(&["schema", name]),
            "run: rag-gate schema {name} > schemas/{name}.json"
        );
    }
}

#[test]
fn the_files_of_this_repository_are_valid_by_their_schemas() {
    let mut files = vec![(
        "baseline",
        PathBuf::from("fixtures/aragog/baseline/main.json"),
    )];
    for folder in ["fixtures/aragog", "fixtures/mtrag"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push(("results", path));
            }
        }
    }
    for (name, path) in files {
        let path = root().join(path);
        let document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_valid(name, &document, &path.display().to_string());
    }
    for line in text("fixtures/aragog/baseline/history.jsonl").lines() {
        let line = serde_json::from_str(line).unwrap();
        assert_valid("history", &line, "fixtures/aragog/baseline/history.jsonl");
    }
    let policy: toml::Table = text("gate.toml").parse().unwrap();
    assert_valid("gate", &serde_json::to_value(policy).unwrap(), "gate.toml");
}

#[test]
fn verdicts_are_valid_by_their_schema() {
    for results in ["mpnet_k1_c64", "minilm_k3_c128", "minilm_k1_c128"] {
        let output = Command::new(env!("CARGO_BIN_EXE_rag-gate"))
            .args(["check", &format!("fixtures/aragog/{results}.json")])
            .args(["--output", "json"])
            .current_dir(root())
            .output()
            .unwrap();
        let verdict = serde_json::from_slice(&output.stdout).unwrap();
        assert_valid("verdict", &verdict, results);
    }
    let refused = Command::new(env!("CARGO_BIN_EXE_rag-gate"))
        .args(["check", "no-such-file.json", "--output", "json"])
        .current_dir(root())
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(3));
    let verdict = serde_json::from_slice(&refused.stdout).unwrap();
    assert_valid("verdict", &verdict, "a refused file");
}

#[test]
fn a_schema_refuses_what_is_something_else() {
    let refused = [
        ("results", r#"{"faithfulness": "0.9"}"#),
        ("results", r#"{"samples": [{"scores": {}}]}"#),
        ("verdict", r#"{"outcome": "pass"}"#),
        ("gate", r#"{"gate": {"max_drp": 0.03}}"#),
        ("history", r#"{"metrics": {"faithfulness": 0.9}}"#),
    ];
    for (name, document) in refused {
        let document: Value = serde_json::from_str(document).unwrap();
        assert!(!validator(name).is_valid(&document), "{name}: {document}");
    }
}

fn validator(name: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&text(&format!("schemas/{name}.json"))).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(schema: &str, document: &Value, what: &str) {
    let validator = validator(schema);
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "{what} by schemas/{schema}.json: {errors:#?}"
    );
}

/// The codes of the enum in the one file that makes them, and 130, which the shell reports.
fn exit_codes() -> BTreeSet<u8> {
    let source = text("crates/cli/src/exit_code.rs");
    let body = source
        .split_once("enum ExitCode {")
        .and_then(|(_, rest)| rest.split_once('}'))
        .unwrap()
        .0;
    let mut codes: BTreeSet<u8> = body
        .lines()
        .filter_map(|line| {
            line.trim()
                .strip_suffix(',')?
                .split_once(" = ")?
                .1
                .parse()
                .ok()
        })
        .collect();
    codes.insert(130);
    codes
}

/// The table at the end of every help page.
fn exit_codes_of_help() -> Vec<(u8, String)> {
    let help = printed(&["--help"]);
    let (_, table) = help.split_once("Exit codes:\n").unwrap();
    table
        .lines()
        .filter_map(|line| {
            let (code, meaning) = line.trim().split_once("  ")?;
            Some((code.parse().ok()?, meaning.trim().to_owned()))
        })
        .collect()
}

#[test]
fn exit_codes_are_the_same_in_code_help_and_docs() {
    let help = exit_codes_of_help();
    let codes: BTreeSet<u8> = help.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, exit_codes());
    for page in ["README.md", "docs/exit-codes.md"] {
        let text = text(page);
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| {
                line.starts_with("| ") && line[2..].starts_with(|c: char| c.is_ascii_digit())
            })
            .collect();
        assert_eq!(rows.len(), help.len(), "{page}: {rows:#?}");
        for ((code, meaning), row) in help.iter().zip(rows) {
            assert!(
                row.starts_with(&format!("| {code} | {meaning} |")),
                "{page} says `{row}`, --help says `{code} {meaning}`"
            );
        }
    }
}

#[test]
fn the_help_of_check_is_in_the_docs() {
    // That the block prints what it says, the tests of the docs see to.
    assert!(text("docs/check.md").contains("```console\n$ rag-gate check --help\n"));
}

#[test]
fn every_key_of_gate_toml_has_a_row_in_its_section_of_the_docs() {
    let schema: Value = serde_json::from_str(&printed(&["schema", "gate"])).unwrap();
    let page = text("docs/gate-toml.md");
    let mut keys = 0;
    for (name, property) in properties(&schema) {
        let Some(definition) = reference(property) else {
            assert_row(&page, "Top level", name, property);
            keys += 1;
            continue;
        };
        let definition = schema.pointer(definition.trim_start_matches('#')).unwrap();
        for (key, property) in properties(definition) {
            assert_row(&page, &format!("[{name}"), key, property);
            keys += 1;
        }
    }
    assert!(keys > 40, "the walk found {keys} keys");
}

/// The row of a key names its default where the schema's description states one.
fn assert_row(page: &str, section: &str, key: &str, property: &Value) {
    let found: Vec<&str> = page
        .split("\n## ")
        .flat_map(|part| part.split("\n### "))
        .filter(|part| {
            part.lines()
                .next()
                .is_some_and(|title| title.contains(section))
        })
        .flat_map(str::lines)
        .filter(|line| line.starts_with(&format!("| `{key}` |")))
        .collect();
    let [row] = found[..] else {
        panic!(
            "docs/gate-toml.md: `{key}` has {} rows below `{section}`",
            found.len()
        );
    };
    let description = property["description"].as_str().unwrap_or_default();
    if let Some((_, default)) = description.split_once("Default ") {
        let default = default.trim_end_matches('.').trim_matches('`');
        assert!(
            spans(row).any(|span| span == default),
            "docs/gate-toml.md: the default of `{key}` is {default}, not as in {row}"
        );
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, property)| (name.as_str(), property))
}

/// The table that a property is, or a list or map of such tables.
fn reference(property: &Value) -> Option<&str> {
    match property {
        Value::Object(entries) => entries.iter().find_map(|(key, value)| match value {
            Value::String(target) if key == "$ref" => {
                target.ends_with("Section").then_some(target.as_str())
            }
            _ => reference(value),
        }),
        Value::Array(items) => items.iter().find_map(reference),
        _ => None,
    }
}

#[test]
fn every_reason_code_has_a_row_in_the_docs() {
    let page = text("docs/verdict.md");
    let listed = printed(&["explain"]);
    let codes: Vec<(&str, &str)> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_once(' ').unwrap())
        .map(|(code, effect)| (code, effect.trim()))
        .collect();
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| {
            [" block ", " undecided ", " warning "]
                .iter()
                .any(|effect| line.split('|').nth(2) == Some(effect))
        })
        .collect();
    assert_eq!(rows.len(), codes.len(), "{rows:#?}");
    for ((code, effect), row) in codes.iter().zip(rows) {
        assert!(
            row.starts_with(&format!("| `{code}` | {effect} |")),
            "docs/verdict.md says `{row}`, rag-gate explain says `{code} {effect}`"
        );
    }
}

#[test]
fn every_field_of_the_verdict_is_in_the_docs() {
    let schema: Value = serde_json::from_str(&printed(&["schema", "verdict"])).unwrap();
    let page = text("docs/verdict.md");
    let named: BTreeSet<&str> = spans(&page).collect();
    let definitions = schema["$defs"].as_object().unwrap().values();
    for part in definitions
        .chain([&schema])
        .filter(|part| part["properties"].is_object())
    {
        for (name, _) in properties(part) {
            assert!(named.contains(name), "docs/verdict.md lacks `{name}`");
        }
    }
}

#[test]
fn every_field_of_the_results_is_in_the_docs() {
    let schema: Value = serde_json::from_str(&printed(&["schema", "results"])).unwrap();
    let page = text("docs/results.md");
    let definitions = schema["$defs"].as_object().unwrap().values();
    for part in definitions.filter(|part| part["properties"].is_object()) {
        for (name, _) in properties(part) {
            let is_named =
                page.contains(&format!("\"{name}\"")) || page.contains(&format!("`{name}`"));
            assert!(is_named, "docs/results.md lacks `{name}`");
        }
    }
}

#[test]
fn every_path_that_architecture_names_exists() {
    let page = text("ARCHITECTURE.md");
    let mut paths = 0;
    for span in spans(&page) {
        let is_path = span.contains('/') && !span.contains(' ');
        if is_path {
            assert!(root().join(span).exists(), "ARCHITECTURE.md names {span}");
            paths += 1;
        }
    }
    assert!(paths > 30, "the walk found {paths} paths");
}

#[test]
fn every_file_that_decides_is_in_the_map_of_architecture() {
    let page = text("ARCHITECTURE.md");
    for krate in ["gate", "reporter", "cli"] {
        for entry in fs::read_dir(root().join(format!("crates/{krate}/src"))).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = match entry.path().is_dir() {
                true => format!("crates/{krate}/src/{name}/"),
                false => format!("crates/{krate}/src/{name}"),
            };
            assert!(
                page.contains(&format!("`{path}`")),
                "ARCHITECTURE.md lacks {path}"
            );
        }
    }
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    for page in pages() {
        let path = root().join(&page);
        let text = text(&page);
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|target| !target.contains("://"))
        {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = match file {
                "" => path.clone(),
                file => path.with_file_name(file),
            };
            assert!(linked.exists(), "{page} links to {target}");
            if !anchor.is_empty() {
                let content = fs::read_to_string(linked).unwrap();
                let found = headings(&content).any(|title| slug(title) == anchor);
                assert!(found, "{page} links to {target}");
            }
        }
    }
}

fn headings(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
}

/// The anchor that a forge makes of a heading.
fn slug(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The metrics that the gate knows by name, each with the cells for its range and direction.
fn known_metrics() -> Vec<(String, &'static str)> {
    let source = text("crates/gate/src/known.rs");
    let (_, list) = source.split_once("KNOWN: &[Known] = &[").unwrap();
    let (list, _) = list.split_once("];").unwrap();
    list.lines()
        .map(str::trim)
        .filter_map(|line| line.strip_suffix("\"),")?.split_once("(\""))
        .map(|(kind, name)| {
            let row = match kind {
                "judged" | "formula" => "| 0 to 1 | higher |",
                "judged_lower" | "formula_lower" => "| 0 to 1 | lower |",
                "cost" => "| open | lower |",
                other => panic!("{other} has no row in the docs"),
            };
            (name.to_owned(), row)
        })
        .collect()
}

#[test]
fn the_docs_list_the_metrics_that_are_known_by_name() {
    let page = text("docs/gate-toml.md");
    let known = known_metrics();
    for (name, row) in &known {
        let row = page.lines().find(|line| line.starts_with(row)).unwrap();
        assert!(
            spans(row).any(|span| span == name),
            "`{name}` is not in {row}"
        );
    }
    let listed: usize = page
        .lines()
        .filter(|line| line.starts_with("| 0 to 1 |") || line.starts_with("| open |"))
        .map(|line| spans(line).count())
        .sum();
    assert_eq!(listed, known.len());
}

/// Rows of the one table of docs/metrics.md: their names and cells.
fn rows_of_metrics() -> Vec<(Vec<String>, Vec<String>)> {
    let page = text("docs/metrics.md");
    let mut lines = page.lines();
    let head = "| metric | needs | calls | range | better | Ragas | DeepEval | promptfoo |";
    assert!(
        lines.any(|line| line == head),
        "docs/metrics.md has no table"
    );
    lines
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<String> = line
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect();
            assert_eq!(cells.len(), 8, "{line}");
            (spans(&cells[0]).map(str::to_owned).collect(), cells)
        })
        .collect()
}

#[test]
fn every_metric_that_is_computed_has_its_row_in_the_docs() {
    let rows = rows_of_metrics();
    let listed: Value = serde_json::from_str(&printed(&["metrics", "--json"])).unwrap();
    let listed = listed["metrics"].as_array().unwrap();
    assert!(!listed.is_empty());
    for metric in listed {
        let name = metric["name"].as_str().unwrap();
        let found: Vec<_> = rows
            .iter()
            .filter(|(names, _)| names.iter().any(|found| found == name))
            .collect();
        let [(_, cells)] = found[..] else {
            panic!("docs/metrics.md has {} rows for `{name}`", found.len());
        };
        let [_, needs, calls, range, better, ..] = &cells[..] else {
            panic!("{cells:?}");
        };
        for need in metric["needs"].as_array().unwrap() {
            let need = need.as_str().unwrap();
            let mut words = needs.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(
                words.any(|word| word == need),
                "{name} needs {need}, not {needs}"
            );
        }
        let asked = match (
            &metric["judge_calls"],
            &metric["embeds"],
            &metric["program"],
        ) {
            (_, _, Value::Bool(true)) => "P".to_owned(),
            (calls, Value::Bool(true), _) if calls == 0 => "E".to_owned(),
            (calls, Value::Bool(true), _) => format!("{calls}E"),
            (calls, _, _) => calls.to_string(),
        };
        assert_eq!(*calls, asked, "calls of {name}");
        assert_eq!(
            better,
            metric["better"].as_str().unwrap_or("yours"),
            "{name}"
        );
        let stated = match &metric["range"] {
            Value::Null if better == "yours" => "yours".to_owned(),
            Value::Null => "open".to_owned(),
            range => format!("{} to {}", range[0], range[1]).replace(".0", ""),
        };
        assert_eq!(*range, stated, "range of {name}");
    }
}

#[test]
fn definitions_of_formulas_are_the_same_in_the_docs_as_in_the_command() {
    let pages = text("docs/metrics-text.md") + &text("docs/metrics-retrieval.md");
    let listed: Value = serde_json::from_str(&printed(&["metrics", "--json"])).unwrap();
    let mut found = 0;
    for metric in listed["metrics"].as_array().unwrap() {
        let name = metric["name"].as_str().unwrap();
        let definition = metric["definition"].as_str().unwrap();
        let is_own = metric["example"]
            .as_str()
            .is_some_and(|example| example.contains("kind"));
        // The three of ROUGE differ in what they count.
        if metric["judge_calls"] != 0 || is_own || matches!(name, "rouge_1" | "rouge_2") {
            continue;
        }
        // What holds for all of retrieval stands there once.
        let (own, _) = definition
            .split_once(" A passage is known by")
            .unwrap_or((definition, ""));
        assert!(pages.contains(own), "{name} in the docs is not: {own}");
        assert!(pages.contains(name), "{name}");
        found += 1;
    }
    assert!(found > 20);
}

#[test]
fn every_row_of_the_metrics_is_a_name_that_the_gate_knows_and_all_of_them_have_one() {
    let known = known_metrics();
    let peers = ["ragas", "deepeval", "promptfoo", "ragchecker"];
    let kinds = ["rubric", "yes_no", "g_eval", "command", "json_path"];
    let mut seen = BTreeSet::new();
    for (names, cells) in rows_of_metrics() {
        assert!(!names.is_empty(), "{cells:?}");
        for name in names {
            assert!(seen.insert(name.clone()), "`{name}` has two rows");
            if kinds.contains(&name.as_str()) {
                continue;
            }
            let stem = match name.split_once('@') {
                Some((stem, "k")) => format!("{stem}_at_k"),
                Some((stem, peer)) => {
                    assert!(peers.contains(&peer), "{name}");
                    stem.to_owned()
                }
                None => name.clone(),
            };
            let Some((_, row)) = known.iter().find(|(known, _)| *known == stem) else {
                panic!("the gate knows no `{name}`");
            };
            let stated = format!("| {} | {} |", cells[3], cells[4]);
            assert_eq!(stated, *row, "{name}");
        }
    }
    for (name, _) in known {
        let name = name.replace("_at_k", "@k");
        assert!(seen.contains(&name), "docs/metrics.md lacks `{name}`");
    }
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = text("docs/SUMMARY.md");
    for page in pages() {
        if let Some(name) = page
            .strip_prefix("docs/")
            .filter(|name| *name != "SUMMARY.md")
        {
            assert!(
                summary.contains(&format!("]({name})")),
                "docs/SUMMARY.md lacks {name}"
            );
        }
    }
}

#[test]
fn the_readme_has_the_test_command_of_ci() {
    let command = "cargo nextest run";
    assert!(text("README.md").contains(&format!("\n    {command}\n")));
    assert!(text(".ci/run").contains(&format!("{command} ")));
}

#[test]
fn crates_depend_on_each_other_one_way() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    for package in packages {
        let of = package["name"].as_str().unwrap();
        let allowed: &[&str] = match of {
            // Tests alone depend on judge-server.
            "gate" | "judge-server" => &[],
            "metrics" | "reporter" => &["gate"],
            "runner" => &["gate", "metrics"],
            "cli" => &["gate", "metrics", "reporter", "runner"],
            other => panic!("{other} has no place in the direction of the crates"),
        };
        let on: Vec<&str> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|dependency| (dependency["name"].as_str().unwrap(), &dependency["kind"]))
            .filter(|(name, kind)| *name != "judge-server" || *kind != "dev")
            .map(|(name, _)| name)
            .filter(|name| names.contains(name))
            .collect();
        for name in on {
            assert!(allowed.contains(&name), "{of} depends on {name}");
        }
    }
}

/// A renderer shows numbers and makes none: a rough look at its source for arithmetic.
#[test]
fn no_renderer_computes() {
    for name in ["text", "markdown", "json", "junit", "annotations", "cells"] {
        let path = format!("crates/reporter/src/{name}.rs");
        let source = text(&path);
        for (at, line) in source.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            // Lengths in columns are counted, scores are not: what is an f64 meets no operator.
            let is_number = [
                "f64", ".now", ".before", ".change", ".ci", ".p_value", "numbers",
            ]
            .iter()
            .any(|word| code.contains(word));
            let computes = [
                " + ", " - ", " * ", " / ", " += ", " -= ", ".abs()", ".sqrt()", ".round()",
            ]
            .iter()
            .any(|operator| without_strings(code).contains(operator));
            assert!(
                !(is_number && computes),
                "{path}:{} computes: {code}",
                at + 1
            );
        }
    }
}

/// The line without its string literals.
fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

#[test]
fn this_repositorys_own_gate_lets_the_good_run_pass_and_blocks_the_bad_one() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    for (answers, code) in [
        ("mpnet_k3_c128", 0),
        ("minilm_k3_c128", 0),
        ("mpnet_k1_c64", 1),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_rag-gate"))
            .args(["ci", "--quiet", "--results"])
            .arg(&results)
            .args([
                "--dataset",
                &format!("fixtures/aragog/answers/{answers}.jsonl"),
            ])
            .current_dir(root())
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{answers}: {report}");
    }
}
