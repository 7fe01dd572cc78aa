//! Renderings of one verdict, whatever the names in it.

use serde_json::{Value, json};

use super::{Folder, Full, same};

const FORMATS: [&str; 5] = ["text", "markdown", "json", "junit", "github"];

/// Names that would do something if they were let.
const HOSTILE: [&str; 14] = [
    "::error::pwned",
    "\n::set-output name=x::y",
    "\r::warning::x",
    "##[error]x",
    "\u{1b}[31mred\u{1b}[0m",
    "\u{202e}kcab",
    "@octocat #1 GH-1",
    "![x](http://evil.example/x.png)",
    "<img src=x onerror=alert(1)>",
    "| a | b |",
    "```\n</details>",
    "<!-- rag-gate:rag-gate -->",
    "&lt;script&gt; ]]> \u{0}\u{1}\u{85}\u{2028}",
    "https://evil.example",
];

fn hostile() -> Folder {
    let side = |score: f64| {
        let metric = HOSTILE.join(" ");
        let mut full = Full::without_range(&metric, same(HOSTILE.len(), score)).each(|index, sample| {
            sample["id"] = json!(HOSTILE[index]);
            sample["variant"] = json!(HOSTILE[index % 2]);
            sample["tags"] = json!({"t": HOSTILE[index % 3]});
            sample["reasons"] = json!({metric.as_str(): HOSTILE.join("\n")});
            if index == 5 {
                sample["scores"] = json!({metric.as_str(): null});
                sample["failures"] = json!({metric.as_str(): {"kind": "timeout", "message": HOSTILE.join("\n")}});
            }
        });
        full = full.set(
            "/run/metrics",
            json!({metric.as_str(): {"range": [0, 1], "direction": "higher"}}),
        );
        full = full.set(
            "/run/judge",
            json!({"provider": HOSTILE[0], "model": format!("{}{score}", HOSTILE[1])}),
        );
        full.text()
    };
    Folder::with(&side(0.2), &side(0.9)).file(
        "gate.toml",
        "version = 1\n[gate]\non_incomparable = \"absolute\"\nmax_failed = 1\n[metrics.\"*\"]\nmin = 0.9\n[[slices]]\ntag = \"t\"\nmin_samples = 1\nmin = 0.9\n",
    )
}

#[test]
fn hostile_names_take_no_effect_in_any_format() {
    let folder = hostile();
    for format in FORMATS {
        let ran = folder.run(&format!(
            "check results.json baseline.json --output {format}"
        ));
        ran.exits(1);
        let out = &ran.stdout;
        assert!(!out.contains('\u{1b}'), "{format}: an escape sequence");
        assert!(!out.contains('\u{202e}'), "{format}: a bidi control");
        assert!(!out.contains('\r'), "{format}: a carriage return");
        assert!(!out.contains('\0'), "{format}: a NUL");
        if format != "github" {
            for line in out.split(['\n', '\u{85}', '\u{2028}']) {
                let line = line.trim_start();
                assert!(!line.starts_with("::"), "{format}: {line}");
                assert!(!line.starts_with("##["), "{format}: {line}");
            }
        }
        if format == "markdown" {
            for text in ["<img", " ![x](", " @octocat", "<script"] {
                assert!(!out.contains(text), "{text}: {out}");
            }
            assert_eq!(out.matches("<!-- ").count(), 1, "{out}");
        }
    }
}

#[test]
fn annotations_are_only_those_of_the_verdict() {
    let folder = hostile();
    let ran = folder.run("check results.json baseline.json --output github");
    for line in ran
        .stdout
        .lines()
        .filter(|line| line.trim_start().starts_with("::"))
    {
        assert!(
            ["::error ", "::warning ", "::notice "]
                .iter()
                .any(|command| line.starts_with(command)),
            "{line}"
        );
        assert!(
            !line.contains("::error::pwned") || !line.starts_with("::error::pwned"),
            "{line}"
        );
    }
    assert!(!ran.stdout.contains("\n::set-output"), "{}", ran.stdout);
}

#[test]
fn hostile_names_take_no_effect_in_errors() {
    let folder = Folder::with(
        "{\"samples\": [{\"id\": \"\\u001b[31m\\n::error::x\", \"scores\": {\"faithfulness\": \"\\u001b[2J\"}}]}",
        "{}",
    );
    let ran = folder.check();
    ran.exits(3);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    assert!(
        ran.stderr
            .lines()
            .all(|line| !line.trim_start().starts_with("::")),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_format_goes_to_standard_output_or_to_a_file() {
    let folder = Folder::with(r#"{"faithfulness": 0.5}"#, r#"{"faithfulness": 0.9}"#);
    for format in FORMATS {
        let printed = folder.run(&format!(
            "check results.json baseline.json --output {format}"
        ));
        let dashed = folder.run(&format!(
            "check results.json baseline.json --output {format}=-"
        ));
        let written = folder.run(&format!(
            "check results.json baseline.json --output {format}=out/{format}"
        ));
        assert_eq!(
            (printed.code, dashed.code, written.code),
            (Some(1), Some(1), Some(1)),
            "{format}"
        );
        assert_eq!(printed.stdout, dashed.stdout, "{format}");
        let file = folder.read(&format!("out/{format}"));
        assert!(
            printed.stdout.ends_with(&file),
            "{format}:\n{file}\n{}",
            printed.stdout
        );
        assert!(
            written.stdout.contains("BLOCKED"),
            "{format}: the text report is for the reader of the log"
        );
    }
}

#[test]
fn all_formats_at_once_tell_the_same_verdict() {
    let folder = Folder::with(
        &Full::of("faithfulness", same(10, 0.5)).text(),
        &Full::of("faithfulness", same(10, 0.9)).text(),
    );
    let outputs: Vec<String> = FORMATS
        .iter()
        .map(|format| format!("--output {format}={format}.out"))
        .collect();
    folder
        .run(&format!(
            "check results.json baseline.json {}",
            outputs.join(" ")
        ))
        .exits(1);
    for format in FORMATS {
        let text = folder.read(&format!("{format}.out"));
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(
            words.join(" ").contains("dropped by 0.400"),
            "{format}: {text}"
        );
    }
    assert_well_formed(&folder.read("junit.out"));
}

#[test]
fn a_verdict_conforms_to_its_schema() {
    let folder = hostile();
    let schema: Value = serde_json::from_str(&folder.run("schema verdict").stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for arguments in [
        "check results.json baseline.json",
        "check results.json nowhere.json",
        "check results.json nowhere.json --allow-missing-baseline",
    ] {
        let verdict: Value =
            serde_json::from_str(&folder.run(&format!("{arguments} --output json")).stdout)
                .unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&verdict)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{arguments}: {errors:?}");
    }
}

#[test]
fn files_conform_to_their_schemas() {
    let folder = Folder::new()
        .file(
            "results.json",
            Full::of("faithfulness", same(5, 0.5))
                .failing("faithfulness", 0)
                .text(),
        )
        .file(
            "gate.toml",
            "version = 1\nbaseline = \"main.json\"\n[metrics.faithfulness]\nmin = 0.1\n",
        );
    folder
        .run("baseline update results.json --by me --at 2026-11-01T00:00:00Z")
        .exits(0);
    for (schema, document) in [
        ("results", folder.json("results.json")),
        ("baseline", folder.json("main.json")),
        ("baseline", json!({"faithfulness": 0.9})),
        (
            "results",
            json!({"metrics": {"faithfulness": {"mean": 0.9, "n": 3, "failed": 0}}}),
        ),
        (
            "history",
            serde_json::from_str(&folder.read("history.jsonl")).unwrap(),
        ),
        (
            "gate",
            serde_json::to_value(folder.read("gate.toml").parse::<toml::Table>().unwrap()).unwrap(),
        ),
    ] {
        let schema: Value =
            serde_json::from_str(&folder.run(&format!("schema {schema}")).stdout).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{document}: {errors:?}");
    }
}

/// A thousand metrics, all worse.
fn many_metrics() -> Folder {
    let side = |score: f64| {
        let metrics: serde_json::Map<String, Value> = (0..1000)
            .map(|metric| (format!("metric-{metric:05}"), json!(score)))
            .collect();
        Value::Object(metrics).to_string()
    };
    Folder::with(&side(0.5), &side(0.9)).file(
        "gate.toml",
        "version = 1\n[metrics.\"*\"]\nrange = [0, 1]\n",
    )
}

/// Two thousand slices, all worse.
fn many_slices() -> Folder {
    let side = |score: f64| {
        Full::of("faithfulness", same(2000, score))
            .each(|index, sample| sample["tags"] = json!({"user": format!("u{index}")}))
            .text()
    };
    Folder::with(&side(0.5), &side(0.9)).file("gate.toml", "version = 1\n[metrics.faithfulness]\n[[slices]]\ntag = \"user\"\nmin_samples = 1\nmax_drop = 0.03\n")
}

/// Names of ten thousand characters.
fn long_names() -> Folder {
    let name = "\u{1f600}<é|".repeat(2500);
    let side = |score: f64| {
        Full::without_range(&name, same(30, score))
            .set("/run/metrics", json!({name.as_str(): {"range": [0, 1]}}))
            .each(|index, sample| {
                sample["id"] = json!(format!("{index}{name}"));
                sample["reasons"] = json!({name.as_str(): name});
            })
            .text()
    };
    Folder::with(&side(0.5), &side(0.9))
}

#[test]
fn a_comment_never_exceeds_what_a_forge_takes() {
    for (what, folder) in [
        ("metrics", many_metrics()),
        ("slices", many_slices()),
        ("names", long_names()),
    ] {
        let start = std::time::Instant::now();
        let ran = folder.run("check results.json baseline.json --output markdown --output junit=junit.xml --output json=verdict.json --output text=report.txt --output github=annotations.txt");
        ran.exits(1);
        assert!(
            start.elapsed().as_secs() < 20,
            "{what}: {:?}",
            start.elapsed()
        );
        assert!(ran.stdout.len() <= 60_000, "{what}: {}", ran.stdout.len());
        // A name of ten thousand characters leaves no room for the sentence after it.
        assert!(ran.stdout.contains("BLOCKED"), "{what}");
        assert!(
            what == "names" || ran.stdout.contains("dropped by 0.4"),
            "{what}"
        );
        assert_well_formed(&folder.read("junit.xml"));
        assert_eq!(folder.json("verdict.json")["outcome"], "block");
    }
}

#[test]
fn the_markdown_of_long_names_ends_where_it_should() {
    let ran = long_names().run("check results.json baseline.json --output markdown");
    ran.exits(1);
    assert_eq!(
        ran.stdout.matches("<details>").count(),
        ran.stdout.matches("</details>").count()
    );
}

#[test]
fn text_fits_eighty_columns() {
    let folder = Folder::with(
        &Full::of("faithfulness", same(10, 0.5)).text(),
        &Full::of("faithfulness", same(10, 0.9)).text(),
    );
    let ran = folder.run("check results.json baseline.json");
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        ran.stdout
    );
}

#[test]
fn text_of_samples_can_be_hidden() {
    let side = |score: f64| {
        Full::of("faithfulness", same(10, score))
            .each(|_, sample| sample["reasons"] = json!({"faithfulness": "a private sentence"}))
            .text()
    };
    let folder = Folder::with(&side(0.5), &side(0.9));
    for format in ["text", "markdown", "junit", "github"] {
        let shown = folder.run(&format!(
            "check results.json baseline.json --hide-text --output {format}"
        ));
        shown.exits(1);
        assert!(!shown.stdout.contains("private"), "{format}");
    }
    folder
        .run("check results.json baseline.json")
        .mentions(&["a private sentence"]);
}

#[test]
fn colour_is_for_terminals_or_for_whoever_forces_it() {
    let folder = Folder::with(r#"{"faithfulness": 0.5}"#, r#"{"faithfulness": 0.9}"#);
    let with = |name: Option<(&str, &str)>, arguments: &str| {
        let mut command = folder.command(arguments);
        command.env_remove("NO_COLOR");
        if let Some((name, value)) = name {
            command.env(name, value);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let check = "check results.json baseline.json";
    assert!(!with(None, check).contains('\u{1b}'));
    assert!(with(Some(("CLICOLOR_FORCE", "1")), check).contains('\u{1b}'));
    assert!(!with(Some(("NO_COLOR", "1")), check).contains('\u{1b}'));
    for format in ["json", "markdown", "junit", "github"] {
        let out = with(
            Some(("CLICOLOR_FORCE", "1")),
            &format!("{check} --output {format}"),
        );
        let machine = out
            .lines()
            .filter(|line| !line.is_empty())
            .next_back()
            .unwrap();
        assert!(!machine.contains('\u{1b}'), "{format}: {machine}");
    }
    with(
        Some(("CLICOLOR_FORCE", "1")),
        &format!("{check} --output text=report.txt"),
    );
    assert!(!folder.read("report.txt").contains('\u{1b}'));
}

/// Elements nest and close, and nothing is open at the end: what every reader of JUnit needs.
#[track_caller]
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let end = after.find('>').expect("an element ends");
        let element = &after[..end];
        if let Some(name) = element.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.trim()));
        } else if !element.starts_with(['?', '!']) && !element.ends_with('/') {
            open.push(element.split_whitespace().next().unwrap());
        }
        assert!(!element.contains('<'), "{element}");
        rest = &after[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    let allowed = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(
        xml.chars().all(allowed),
        "a character that XML 1.0 does not have"
    );
}
