//! Metrics of the user's own: programs, and files that gate.toml names.

use serde_json::Value;

use super::{Project, rows};

/// A project that is judged by words, with these tables.
fn project(samples: usize, tables: &str) -> Project {
    let project = Project {
        folder: tempfile::tempdir().unwrap(),
    };
    project.write("answers.jsonl", &rows(samples, "The capital of country"));
    project.write(
        "gate.toml",
        &format!("[dataset]\npath = \"answers.jsonl\"\n\n{tables}"),
    );
    project
}

/// A program that counts the words of the answer.
const SCORE: &str = r#"
import json, sys
for line in sys.stdin:
    sample = json.loads(line)
    print(json.dumps({"score": len(sample["answer"].split()), "reason": sample["metric"]}), flush=True)
"#;

const WORDS: &str = "[metrics.words]\nkind = \"command\"\ncommand = [\"python3\", \"score.py\"]\ndirection = \"lower\"\nmax = 12\n";

#[test]
fn what_all_samples_have_together_stands_beside_their_mean() {
    let project = project(0, "[metrics.bleu]\n[metrics.'chrf++']\n");
    // The first row has no reference: it is in neither.
    project.write(
        "answers.jsonl",
        r#"{"id":"a","question":"?","answer":"Paris","variant":"v1"}
{"id":"b","question":"?","answer":"the cat sat on the mat today","reference":"the cat sat on the mat","variant":"v1"}
{"id":"c","question":"?","answer":"a dog","reference":"a big dog barks","variant":"v1"}
{"id":"b","question":"?","answer":"the cat sat on the mat","reference":"the cat sat on the mat","variant":"v2"}
"#,
    );
    let ran = project.gate(&["run"]);
    ran.ended(0);
    let results = project.json(".rag-gate/results.json");
    let corpus = &results["run"]["metrics"]["bleu"]["corpus"];
    assert_eq!(corpus[1]["variant"], "v2");
    assert_eq!(corpus[1]["value"], 1.0);
    assert_eq!(corpus[0]["variant"], "v1");
    let value = corpus[0]["value"].as_f64().unwrap();
    // As sacrebleu 2.6.0 has it, divided by 100.
    assert!((value - 0.703_011_987_693).abs() < 1e-6, "{value}");
    let signature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:";
    assert!(
        corpus[0]["signature"]
            .as_str()
            .unwrap()
            .starts_with(signature)
    );
    assert!(
        ran.stdout
            .contains("bleu [v2] of all together: 1.000\n  nrefs:1|"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("chrf++ [v1] of all together: "),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_program_scores_from_run_to_verdict() {
    let project = project(5, WORDS);
    project.write("score.py", SCORE);
    let ran = project.gate(&["run"]);
    ran.ended(0);
    assert!(
        ran.stdout.contains("none (formulas and programs)") && !ran.stdout.contains("calls"),
        "{}",
        ran.stdout
    );
    let results = project.json(".rag-gate/results.json");
    let info = &results["run"]["metrics"]["words"];
    assert_eq!(info["direction"], "lower");
    assert_eq!(info["range"], Value::Null);
    let version = info["version"].as_str().unwrap();
    assert!(version.starts_with("1, command "), "{version}");
    assert_eq!(results["samples"][0]["scores"]["words"], 8.0);
    assert_eq!(results["samples"][0]["reasons"]["words"], "words");
    assert_eq!(results["run"]["judge"], Value::Null);
    let ci = |code| {
        project
            .gate(&["ci", "--quiet", "--allow-missing-baseline"])
            .ended(code);
    };
    ci(0);
    project.write("gate.toml", &project.read("gate.toml").replace("12", "7"));
    ci(1);
}

#[test]
fn a_program_that_fails_is_a_failure_of_the_sample_and_one_that_is_not_there_of_the_configuration()
{
    let project = project(5, WORDS);
    let missing = project.gate(&["run", "--quiet"]);
    missing.ended(3);
    assert!(
        missing
            .stderr
            .contains("words: `python3 score.py` ended before it answered")
            && missing.stderr.contains("can't open file"),
        "{}",
        missing.stderr
    );
    project.write(
        "gate.toml",
        &project
            .read("gate.toml")
            .replace("python3", "no-such-python"),
    );
    let ran = project.gate(&["run", "--check-only", "--quiet"]);
    ran.ended(2);
    insta::assert_snapshot!(ran.stderr, @r#"
    error: words: the program `no-such-python` is not there
     --> gate.toml:6:11
      |
    6 | command = ["no-such-python", "score.py"]
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: name a program that is there, with its path if it is not on the PATH
    "#);
}

#[test]
fn a_dry_run_counts_programs_apart() {
    let project = project(5, WORDS);
    let ran = project.gate(&["run", "--dry-run", "--quiet"]);
    ran.ended(0);
    insta::assert_snapshot!(ran.stdout, @r"
    judge      none (formulas and programs)
    scores     5 (5 samples × 1 metrics), 0 of them not applicable
    questions  0: 0 cached, 0 equal to another, 0 to ask
    programs   5 scores by 1 program, in each run
    cost       none: this judge answers on this machine
    ");
}

const SCHEMA: &str = "[metrics.shape]\nkind = \"json_schema\"\nschema = \"eval/answer.json\"\n";

#[test]
fn a_file_that_gate_toml_names_has_to_be_one() {
    let project = project(2, &SCHEMA.replace("eval/answer.json", "answer.json"));
    let said = || {
        let ran = project.gate(&["run", "--check-only", "--quiet"]);
        ran.ended(2);
        ran.stderr
    };
    let missing = said();
    insta::assert_snapshot!(missing, @r#"
    error: the schema of `shape` cannot be read from answer.json: No such file or directory (os error 2)
     --> gate.toml:6:10
      |
    6 | schema = "answer.json"
      |          ^^^^^^^^^^^^^
      |
      = help: a path is relative to gate.toml; the file is UTF-8 text of at most 1 MiB
    "#);
    std::fs::create_dir(project.path("answer.json")).unwrap();
    assert!(said().contains("it is a folder"));
    std::fs::remove_dir(project.path("answer.json")).unwrap();
    std::fs::write(project.path("answer.json"), [b'{', 0xff, b'}']).unwrap();
    assert!(said().contains("it is not UTF-8"));
    project.write("answer.json", &" ".repeat((1 << 20) + 1));
    assert!(said().contains("it is larger than 1 MiB"));
}

/// To open a pipe is to wait for whoever writes into it: nobody does.
#[cfg(unix)]
#[test]
fn a_pipe_is_neither_a_schema_nor_a_prompt() {
    let prompt = "[metrics.faithfulness]\nprompt = \"eval/prompt.md\"\n";
    for (table, name, file) in [
        (SCHEMA, "shape", "eval/answer.json"),
        (prompt, "faithfulness", "eval/prompt.md"),
    ] {
        let project = project(2, table);
        std::fs::create_dir_all(project.path("eval")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(project.path(file))
            .status();
        assert!(made.unwrap().success());
        for arguments in [&["run", "--quiet"][..], &["metrics", "show", name]] {
            let ran = project.gate(arguments);
            ran.ended(2);
            let words = "it is no file, but a pipe or a device";
            assert!(ran.stderr.contains(words), "{}", ran.stderr);
        }
    }
}

#[test]
fn a_prompt_that_asks_nothing_is_an_error_of_the_configuration() {
    let project = project(2, "[metrics.faithfulness]\nprompt = \"prompt.md\"\n");
    for text in ["", " \n"] {
        project.write("prompt.md", text);
        let ran = project.gate(&["run", "--quiet"]);
        ran.ended(2);
        assert!(ran.stderr.contains("it says nothing"), "{}", ran.stderr);
        assert!(ran.stderr.contains("gate.toml:"), "{}", ran.stderr);
    }
}

#[test]
fn a_judge_that_gives_everything_the_same_score_is_warned_about() {
    let table = "[metrics.faithfulness]\nmin = 0.5\n";
    let few = project(19, table);
    few.gate(&["run", "--quiet"]).ended(0);
    let run = &few.json(".rag-gate/results.json")["run"];
    assert_eq!(run.get("warnings"), None);

    let many = project(20, table);
    let ran = many.gate(&["run", "--quiet"]);
    ran.ended(0);
    let message = "faithfulness: the judge gave 20 of 20 samples the best score (1.000)";
    assert!(
        ran.stdout.contains(&format!("warning: {message}")),
        "{}",
        ran.stdout
    );
    let warning = &many.json(".rag-gate/results.json")["run"]["warnings"][0];
    assert_eq!(warning["code"], "uniform-scores");
    assert_eq!(warning["metric"], "faithfulness");
    let judge = |arguments: &[&str]| {
        let ran = many.gate(arguments);
        ran.ended(0);
        let verdict: Value = serde_json::from_str(&ran.stdout).unwrap();
        let warnings = verdict["warnings"].as_array().unwrap().clone();
        let found = warnings
            .into_iter()
            .find(|warning| warning["code"] == "uniform-scores")
            .unwrap();
        assert!(found["message"].as_str().unwrap().starts_with(message));
        assert_eq!(found["metric"], "faithfulness");
        ran.stdout
    };
    let options = ["--quiet", "--allow-missing-baseline", "--output", "json"];
    judge(&[&["ci"][..], &options].concat());
    judge(&[&["check", ".rag-gate/results.json"][..], &options[1..]].concat());
}

#[test]
fn what_a_run_warns_of_is_text_with_an_end_and_of_codes_that_are_known() {
    let project = project(1, "[metrics.faithfulness]\n");
    let warn = |code: &str, metric: &str, message: &str| serde_json::json!({"code": code, "metric": metric, "message": message});
    let warnings = [
        warn("below-minimum", "faithfulness", "not ours"),
        warn("something-new", "faithfulness", "not known"),
        warn("uniform-scores", "elsewhere", "not gated"),
        warn("uniform-scores", "faithfulness", &"x".repeat(5000)),
    ];
    let results = serde_json::json!({"run": {"warnings": warnings}, "samples": [{"id": "a", "scores": {"faithfulness": 1}}]});
    project.write("results.json", &results.to_string());
    let arguments = [
        "check",
        "results.json",
        "--allow-missing-baseline",
        "--output",
        "json",
    ];
    let ran = project.gate(&arguments);
    ran.ended(0);
    let verdict: Value = serde_json::from_str(&ran.stdout).unwrap();
    let said: Vec<&str> = verdict["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|warning| warning["code"] != "no-baseline")
        .map(|warning| warning["message"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["x".repeat(400)]);
}

#[test]
fn metrics_show_knows_those_of_gate_toml() {
    let project = project(
        1,
        "[metrics.politeness]\nkind = \"rubric\"\ncriteria = \"The answer is polite.\"\ndirection = \"lower\"\n\n[metrics.\"own.*\"]\n\n[metrics.words]\nkind = \"command\"\ncommand = [\"score\", \"--fast\"]\nrange = [0, 9]\n",
    );
    let show = |name: &str| project.gate(&["metrics", "show", name]);
    let rubric = show("politeness");
    rubric.ended(0);
    assert!(
        rubric
            .stdout
            .starts_with("politeness (rubric, lower is better, 0 to 1)\n"),
        "{}",
        rubric.stdout
    );
    let told = rubric
        .stdout
        .split_once("What the judge is told")
        .unwrap()
        .1;
    assert!(told.contains("The answer is polite."), "{told}");
    assert!(
        rubric
            .stdout
            .contains("as [metrics.politeness] of gate.toml says")
    );
    let program = show("words");
    program.ended(0);
    assert!(
        program
            .stdout
            .starts_with("words (command, higher is better, 0 to 9)\n")
    );
    assert!(program.stdout.contains("the program `score --fast`"));
    assert!(!program.stdout.contains("What the judge is told"));
    // Of gate.toml's names too the nearest is meant.
    let wrong = show("politenes");
    wrong.ended(2);
    assert!(
        wrong.stderr.contains("did you mean `politeness`?"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn every_metric_that_is_listed_can_be_shown_in_eighty_columns() {
    let project = project(1, "");
    let listed = project.gate(&["metrics", "--json"]);
    listed.ended(0);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["schema"], "rag-gate/metrics/1");
    for metric in listed["metrics"].as_array().unwrap() {
        let name = metric["name"].as_str().unwrap();
        let shown = project.gate(&["metrics", "show", name]);
        shown.ended(0);
        let head = shown.stdout.lines().next().unwrap();
        assert!(head.starts_with(&format!("{name} (")), "{head}");
        let (page, prompt) = match shown.stdout.split_once("\nWhat the judge is told") {
            Some((page, prompt)) => (page, prompt),
            None => (shown.stdout.as_str(), ""),
        };
        for line in page.lines() {
            // A hash does not break.
            assert!(line.chars().count() <= 80 || line.contains('|'), "{line}");
        }
        assert!(page.contains("\nDefinition\n  ") && page.contains("\nIn gate.toml\n  [metrics."));
        let is_judged = metric["judge_calls"].as_u64().unwrap() > 0;
        assert_eq!(prompt.len() > 200, is_judged, "{name}");
    }
}

#[test]
fn a_name_that_nobody_knows_is_wrong_usage() {
    let project = project(1, "");
    for (name, help) in [
        ("faithfullness", "did you mean `faithfulness`?"),
        ("comand", "did you mean `command`?"),
        ("weather", "rag-gate metrics lists them"),
        ("recall@0", "did you mean `recall@k`?"),
    ] {
        let ran = project.gate(&["metrics", "show", name]);
        ran.ended(2);
        assert!(ran.stderr.contains(help), "{name}: {}", ran.stderr);
    }
}
