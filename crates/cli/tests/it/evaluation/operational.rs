//! What the target reports of itself, from the dataset to the verdict.

use serde_json::{Value, json};

use super::{Project, Ran};

/// A gate on latency, with results to compare with.
struct Latency {
    project: Project,
}

impl Latency {
    fn new() -> Latency {
        let project = Project {
            folder: tempfile::tempdir().unwrap(),
        };
        project.write(
            "gate.toml",
            "version = 1\n\n[dataset]\npath = \"answers.jsonl\"\n\n[metrics.latency_s]\naggregate = \"p95\"\nmax = 2.0\n\
             max_rise = \"10%\"\n",
        );
        let latency = Latency { project };
        latency.run("baseline.json", usual);
        latency
    }

    /// Runs over 100 answers that took so many milliseconds.
    fn run(&self, results: &str, milliseconds: impl Fn(u64) -> u64) -> Value {
        let rows = (0..100).map(|number| {
            let row = json!({
                "id": number,
                "question": format!("What is {number}?"),
                "answer": "A number.",
                "latencyMs": milliseconds(number),
            });
            row.to_string() + "\n"
        });
        self.project
            .write("answers.jsonl", &rows.collect::<String>());
        let ran = self.project.gate(&["run", "--quiet", "--results", results]);
        ran.ended(0);
        self.project.json(results)
    }

    fn check(&self, milliseconds: impl Fn(u64) -> u64) -> Ran {
        self.run("results.json", milliseconds);
        self.project
            .gate(&["check", "results.json", "baseline.json"])
    }
}

/// From 1 s to 1.1 s.
fn usual(number: u64) -> u64 {
    1000 + number
}

#[test]
fn slow_answers_block_when_they_are_more_than_one_in_twenty() {
    let gate = Latency::new();
    gate.check(usual).ended(0);
    let some = gate.check(|number| {
        if number % 25 == 0 {
            9000
        } else {
            usual(number)
        }
    });
    some.ended(0);
    let many = gate.check(|number| {
        if number % 10 == 0 {
            9000
        } else {
            usual(number)
        }
    });
    many.ended(1);
    assert!(many.stdout.contains("latency_s"), "{}", many.stdout);
    let all = gate.check(|number| usual(number) * 6 / 5);
    all.ended(1);
    let less = gate.check(|number| usual(number) * 21 / 20);
    less.ended(0);
}

#[test]
fn milliseconds_become_seconds_and_lower_is_better() {
    let results = Latency::new().project.json("baseline.json");
    assert_eq!(results["samples"][7]["scores"]["latency_s"], 1.007);
    let info = &results["run"]["metrics"]["latency_s"];
    assert_eq!(info["direction"], "lower");
    assert!(info["range"].is_null());
}

/// A run over one row, as a table.
fn one_row(metrics: &str) -> (Project, Ran) {
    let project = Project {
        folder: tempfile::tempdir().unwrap(),
    };
    let text = "question,answer,context_ids,qrels,usage,took\n\
                What?,That.,\"['a', 'b']\",\"{'a': 1, 'b': 3, 'c': 0}\",\"{'prompt': 3, 'total': 7}\",1.5e3\n";
    project.write("answers.csv", text);
    let gate = format!("version = 1\n\n[dataset]\npath = \"answers.csv\"\n\n{metrics}");
    project.write("gate.toml", &gate);
    let ran = project.gate(&["run", "--quiet"]);
    (project, ran)
}

#[test]
fn a_number_of_the_row_is_a_score() {
    let (project, ran) = one_row(
        "[metrics.total]\nkind = \"json_path\"\npath = \"$.usage.total\"\ndirection = \"lower\"\n\
         [metrics.took]\nkind = \"json_path\"\npath = \"$.took\"\n\
         [metrics.none]\nkind = \"json_path\"\npath = \"$.usage.cost\"\n\
         [metrics.both]\nkind = \"json_path\"\npath = \"$.usage.*\"\n",
    );
    ran.ended(0);
    let results = project.json(".rag-gate/results.json");
    let sample = &results["samples"][0];
    assert_eq!(sample["scores"]["total"], 7.0);
    assert_eq!(sample["scores"]["took"], 1500.0);
    assert_eq!(sample["not_applicable"]["none"], "nothing at $.usage.cost");
    assert_eq!(
        sample["failures"]["both"],
        json!({"kind": "not-a-number", "message": "2 values at $.usage.*, not one"})
    );
    assert_eq!(results["run"]["metrics"]["total"]["direction"], "lower");
    assert_eq!(results["run"]["metrics"]["took"]["direction"], "higher");
}

#[test]
fn a_number_too_large_to_be_a_score_is_one_failure() {
    let project = Project {
        folder: tempfile::tempdir().unwrap(),
    };
    project.write(
        "gate.toml",
        "[dataset]\npath = \"answers.jsonl\"\n[metrics.latency_s]\n[metrics.length]\nat_least = 1\n",
    );
    project.write(
        "answers.jsonl",
        "{\"question\":\"?\",\"answer\":\"a\",\"latency\":1e301}\n{\"question\":\"!\",\"answer\":\"b\",\"latency\":2}\n",
    );
    project.gate(&["run", "--quiet"]).ended(0);
    let samples = &project.json(".rag-gate/results.json")["samples"];
    assert_eq!(
        samples[0]["failures"]["latency_s"],
        json!({"kind": "not-a-number", "message": "the score is 1e301: too large to be one"})
    );
    assert_eq!(samples[0]["scores"]["length"], 1.0);
    assert_eq!(samples[1]["scores"]["latency_s"], 2.0);
}

#[test]
fn a_path_that_is_none_is_said_where_it_stands() {
    let (_project, ran) =
        one_row("[metrics.total]\nkind = \"json_path\"\npath = \"usage.total\"\n");
    ran.ended(2);
    assert!(
        ran.stderr.contains("`path` of `total`: no JSONPath"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("gate.toml:6"), "{}", ran.stderr);
}

#[test]
fn judgements_in_a_cell_grade_the_ranking() {
    let (project, ran) = one_row("[metrics.ndcg]\n[metrics.\"precision@2\"]\n[metrics.map]\n");
    ran.ended(0);
    let scores = &project.json(".rag-gate/results.json")["samples"][0]["scores"];
    let third = 3.0_f64.log2();
    let expected = (1.0 + 3.0 / third) / (3.0 + 1.0 / third);
    assert!((scores["ndcg"].as_f64().unwrap() - expected).abs() < 1e-12);
    assert_eq!(
        (&scores["precision@2"], &scores["map"]),
        (&json!(1.0), &json!(1.0))
    );
}
