//! gate.toml with mistakes: each shown with its line, underlined, and the nearest valid name.

use super::Folder;

const GOOD: &str = r#"{"faithfulness": 0.9, "latency_s": 1.0}"#;

/// A policy, and what has to be said of it.
type Mistake = (&'static str, &'static [&'static str]);

#[track_caller]
fn all_exit_2(mistakes: &[Mistake]) {
    let mut faults = Vec::new();
    for (policy, mention) in mistakes {
        let folder = Folder::with(GOOD, GOOD).file("gate.toml", policy);
        let ran = folder.check();
        let said = ran.said();
        let mut wrong: Vec<String> = mention
            .iter()
            .filter(|word| !said.contains(**word))
            .map(|word| format!("no {word:?}"))
            .collect();
        if ran.code != Some(2) {
            wrong.push(format!("exits {:?}", ran.code));
        }
        if !ran.stderr.contains("gate.toml:") || !ran.stderr.contains('^') {
            wrong.push("no underlined line".to_owned());
        }
        if !ran.stdout.is_empty() {
            wrong.push("says something on standard output".to_owned());
        }
        if !wrong.is_empty() {
            faults.push(format!(
                "{policy:?}: {}\n{}{}",
                wrong.join(", "),
                ran.stdout,
                ran.stderr
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn an_unknown_key_of_any_table_has_a_suggestion() {
    all_exit_2(&[
        (
            "version = 1\nbaselin = \"b\"",
            &["baselin", "did you mean `baseline`"],
        ),
        (
            "version = 1\n[gates]\nmax_drop = 0.1",
            &["gates", "did you mean `gate`"],
        ),
        (
            "version = 1\n[gate]\nmax_drp = 0.1",
            &["max_drp", "did you mean `max_drop`"],
        ),
        (
            "version = 1\n[gate]\nmin_sample = 3",
            &["min_sample", "did you mean `min_samples`"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nmins = 0.1",
            &["mins", "did you mean `min`"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nagregate = \"p95\"",
            &["agregate", "did you mean `aggregate`"],
        ),
        (
            "version = 1\n[[slices]]\ntags = \"lang\"\nmin = 0.1",
            &["tags", "did you mean `tag`"],
        ),
        (
            "version = 1\n[judge]\nmodle = \"x\"",
            &["modle", "did you mean `model`"],
        ),
        (
            "version = 1\n[embeddings]\nmodle = \"x\"",
            &["modle", "did you mean `model`"],
        ),
        (
            "version = 1\n[dataset]\npaht = \"x\"",
            &["paht", "did you mean `path`"],
        ),
        (
            "version = 1\n[target]\ncomand = [\"x\"]",
            &["comand", "did you mean `command`"],
        ),
        (
            "version = 1\n[cache]\npaht = \"x\"",
            &["paht", "did you mean `path`"],
        ),
        (
            "version = 1\n[[variants]]\nnmae = \"x\"",
            &["nmae", "did you mean `name`"],
        ),
    ]);
}

#[test]
fn a_value_of_the_wrong_type_or_size_is_refused() {
    all_exit_2(&[
        ("version = 2", &["version"]),
        ("version = \"1\"", &["version"]),
        ("version = 1\n[gate]\nmax_drop = \"lots\"", &["lots"]),
        ("version = 1\n[gate]\nmax_drop = \"5\"", &["5"]),
        ("version = 1\n[gate]\nmax_drop = \"-5%\"", &["-5%"]),
        ("version = 1\n[gate]\nmax_drop = \"nan%\"", &["nan%"]),
        ("version = 1\n[gate]\nmax_drop = true", &["max_drop"]),
        ("version = 1\n[gate]\nmax_drop = -0.1", &["-0.1"]),
        ("version = 1\n[gate]\nmax_drop = nan", &["nan"]),
        ("version = 1\n[gate]\nmax_drop = inf", &["inf"]),
        ("version = 1\n[gate]\nmax_drift = nan", &["nan"]),
        ("version = 1\n[gate]\nmax_drift = -1", &["-1"]),
        ("version = 1\n[gate]\nmax_failed = 1.5", &["1.5"]),
        ("version = 1\n[gate]\nmax_failed = nan", &["nan"]),
        ("version = 1\n[gate]\nmax_failed = -0.1", &["-0.1"]),
        ("version = 1\n[gate]\nmin_samples = -1", &["-1"]),
        ("version = 1\n[gate]\nmin_samples = 1.5", &["min_samples"]),
        ("version = 1\n[gate]\nmin_overlap = 2", &["2"]),
        ("version = 1\n[gate]\nmin_overlap = nan", &["nan"]),
        ("version = 1\n[gate]\nconfidence = 1", &["confidence"]),
        ("version = 1\n[gate]\nconfidence = 0", &["confidence"]),
        ("version = 1\n[gate]\nconfidence = 95", &["95"]),
        ("version = 1\n[gate]\nconfidence = nan", &["nan"]),
        ("version = 1\n[gate]\ndrift_window = 0", &["drift_window"]),
        ("version = 1\n[gate]\ndrift_window = -3", &["-3"]),
        (
            "version = 1\n[gate]\nrule = \"significance\"",
            &["significance", "significant"],
        ),
        (
            "version = 1\n[gate]\non_incomparable = \"absolut\"",
            &["absolut", "absolute"],
        ),
        ("version = 1\n[metrics.faithfulness]\nmin = nan", &["nan"]),
        ("version = 1\n[metrics.faithfulness]\nmin = inf", &["inf"]),
        (
            "version = 1\n[metrics.faithfulness]\nmin = \"0.8\"",
            &["0.8"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nseverity = \"wran\"",
            &["wran", "warn"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\ndirection = \"up\"",
            &["up", "higher"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\naggregate = \"p101\"",
            &["p101"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\naggregate = \"p42\"",
            &["p42"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nrange = [1, 0]",
            &["range"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nrange = [0, nan]",
            &["nan"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nrange = [0]",
            &["range"],
        ),
        (
            "version = 1\n[metrics]\nfaithfulness = 0.8",
            &["faithfulness"],
        ),
        ("version = 1\nmetrics = 3", &["metrics"]),
        ("version = 1\n[[slices]]\ntag = 3\nmin = 0.1", &["tag"]),
        (
            "version = 1\n[slices]\ntag = \"lang\"\nmin = 0.1",
            &["slices"],
        ),
        ("version = 1\n[judge]\ntimeout = \"soon\"", &["soon"]),
        ("version = 1\n[judge]\nconcurrency = 0", &["concurrency"]),
        ("version = 1\n[judge]\nretries = -1", &["-1"]),
        ("version = 1\n[judge]\ntemperature = nan", &["nan"]),
    ]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    all_exit_2(&[
        (
            "version = 1\n[metrics.faithfulness]\nmin = 0.9\nmax = 0.8",
            &["min", "max"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nmax_rise = 0.1",
            &["max_rise", "higher"],
        ),
        (
            "version = 1\n[metrics.latency_s]\nmax_drop = 0.1",
            &["max_drop", "lower"],
        ),
        (
            "version = 1\n[metrics.latency_s]\ndirection = \"higher\"\nmax_rise = 1",
            &["max_rise"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\nmax_drop = 0.1\nmax_rise = 0.1",
            &["max_rise"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\naggregate = \"pass_rate\"\nmin = 0.8",
            &["pass_at"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\npass_at = 0.5\nmin = 0.8",
            &["pass_at"],
        ),
        ("version = 1\n[metrics.faithfulness]\nmin = 80", &["80"]),
        (
            "version = 1\n[metrics.faithfulness]\n[[slices]]\ntag = \"lang\"\nmin = 0.9\nmax = 0.1",
            &["min", "max"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\n[[slices]]\nmin = 0.9",
            &["tag"],
        ),
        (
            "version = 1\n[metrics.faithfulness]\n[[slices]]\ntag = \"lang\"\nmetrics = [\"faithfullness\"]\nmin = 0.1",
            &["faithfullness", "faithfulness"],
        ),
        (
            "version = 1\n[[variants]]\nname = \"a\"\n[[variants]]\nname = \"a\"",
            &["a"],
        ),
        (
            "version = 1\n[target]\ncommand = [\"x\"]\nurl = \"http://x\"",
            &["url"],
        ),
        (
            "version = 1\n[metrics.faithfullness]\nmin = 0.8",
            &["faithfullness", "did you mean `faithfulness`"],
        ),
        (
            "version = 1\n[judge]\napi_key_env = \"sk-proj-abcdefghijklmnopqrstuvwxyz0123456789\"",
            &["api_key_env"],
        ),
    ]);
}

#[test]
fn a_text_that_is_no_toml_shows_where_it_breaks() {
    all_exit_2(&[
        ("version = 1\n[gate\nmax_drop = 0.1", &["gate.toml:2"]),
        ("version = 1\nversion = 1", &["version"]),
        (
            "version = 1\n[gate]\nmax_drop = 0.1\nmax_drop = 0.2",
            &["gate.toml:4", "max_drop"],
        ),
        ("version = 1\n[gate]\nmax_drop = 0,1", &["gate.toml:3"]),
        ("{\"version\": 1}", &["gate.toml:1"]),
        ("<html>", &["gate.toml:1"]),
        (
            "version = 1\r\n[gate]\r\nmax_drp = 0.1\r\n",
            &["gate.toml:3", "max_drp"],
        ),
        ("\u{feff}version = 1\n[gate]\nmax_drp = 0.1", &["max_drp"]),
        ("version = 1\n# é中\u{1f600}\n[gate]\n\"é\" = 1", &["é"]),
    ]);
}

#[test]
fn a_key_is_never_repeated_by_an_error() {
    let folder = Folder::with(GOOD, GOOD).file(
        "gate.toml",
        "version = 1\n[judge]\napi_key = \"sk-secret-0123456789abcdef\"\n",
    );
    folder.check().exits(2).mentions(&["api_key_env"]);
}

#[test]
fn an_empty_policy_or_one_in_another_encoding_is_a_policy() {
    let folder = Folder::with(GOOD, r#"{"faithfulness": 0.95, "latency_s": 1.0}"#);
    for text in [
        "version = 1\n",
        "\u{feff}version = 1\r\n[gate]\r\nmax_drop = 0.03\r\n",
    ] {
        folder.write("gate.toml", text);
        folder.check().exits(1).mentions(&["dropped by 0.050"]);
        let wide: Vec<u8> = format!("\u{feff}{}", text.trim_start_matches('\u{feff}'))
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        folder.write("gate.toml", wide);
        folder.check().exits(1).mentions(&["dropped by 0.050"]);
    }
}

#[test]
fn a_policy_that_cannot_be_read_never_falls_back_on_the_defaults() {
    let folder = Folder::with(GOOD, GOOD).file("gate.toml/file", "");
    let ran = folder.check();
    assert!(matches!(ran.code, Some(2 | 3)), "{ran:?}");
    let folder = Folder::with(GOOD, GOOD).file("gate.toml", b"version = 1\n# caf\xe9\n");
    let ran = folder.check();
    assert!(matches!(ran.code, Some(2 | 3)), "{ran:?}");
    ran.mentions(&["gate.toml"]);
}
