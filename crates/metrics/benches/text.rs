//! What the judge-free metrics cost, beside their Python references on the same samples, in the same run.
//!
//! `cargo bench -p metrics --bench text` prints the table of docs/performance.md. Both sides are processes of one thread that
//! read the same file; CPU (user and system) is that of the whole process, as the kernel counts it. `BENCH_PYTHON` names a
//! Python with the packages rouge-score, sacrebleu, Levenshtein, rapidfuzz and, if it may be, `pytrec_eval`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads files, starts processes, says so when it fails, and prints its table"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gate::policy::MetricSection;
use metrics::{Context, Files, Outcome, Sample, Spec, Step};
use serde_json::{Value, json};
use wait4::Wait4;

const SAMPLES: usize = 10_000;

/// Each with its name in the reference, and its table.
const METRICS: [(&str, &str, &str); 18] = [
    ("rouge1", "rouge_1", "tokenizer = 'ascii'"),
    ("rouge2", "rouge_2", "tokenizer = 'ascii'"),
    ("rougeL", "rouge_l", "tokenizer = 'ascii'"),
    ("bleu", "bleu", "tokenizer = '13a'"),
    ("chrf", "chrf", ""),
    ("chrf++", "chrf++", ""),
    ("indel", "edit_similarity", "similarity = 'indel'"),
    ("levenshtein", "edit_similarity", ""),
    (
        "jaro_winkler",
        "edit_similarity",
        "similarity = 'jaro_winkler'",
    ),
    ("exact_match", "exact_match", ""),
    ("token_f1", "token_f1", ""),
    ("map", "map", ""),
    ("ndcg", "ndcg", ""),
    ("recip_rank", "mrr", ""),
    ("Rprec", "r_precision", ""),
    ("P_5", "precision@5", ""),
    ("recall_5", "recall@5", ""),
    ("ndcg_cut_5", "ndcg@5", ""),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, "scores", path] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return println!("{}", scores(Path::new(path)));
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("samples.jsonl");
    fs::write(&path, samples()).unwrap();
    let this = std::env::current_exe().unwrap();
    let (ours, our_cpu) = measured(Command::new(this).arg("scores").arg(&path));
    println!(
        "\n{SAMPLES} samples, {} metrics without a judge, one thread each\n",
        METRICS.len()
    );
    println!("| process | CPU s | µs a sample | of the references' |");
    println!("|---|---:|---:|---:|");
    let row = |name: &str, cpu: f64, of: f64| {
        println!(
            "| {name} | {cpu:.2} | {:.1} | {of:.4} |",
            cpu * 1e6 / SAMPLES as f64
        );
    };
    let Some(python) = std::env::var_os("BENCH_PYTHON").map(PathBuf::from) else {
        return row("rag-gate's metrics", our_cpu, f64::NAN);
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/text_reference.py");
    let (theirs, their_cpu) = measured(Command::new(python).arg(script).arg(&path));
    row("Python references", their_cpu, 1.0);
    row("rag-gate's metrics", our_cpu, our_cpu / their_cpu);
    println!(
        "\n{:.1} times the samples per CPU second",
        their_cpu / our_cpu
    );
    for (name, theirs) in theirs.as_object().unwrap() {
        let (ours, theirs) = (ours[name].as_f64().unwrap(), theirs.as_f64().unwrap());
        // SQuAD's script knows no scripts without spaces and no punctuation but ASCII's.
        let slack = if matches!(name.as_str(), "exact_match" | "token_f1") {
            0.1
        } else {
            2e-6
        };
        assert!(
            (ours - theirs).abs() < slack,
            "{name}: {ours}, not {theirs}"
        );
    }
}

/// What a process printed, and its CPU seconds.
fn measured(command: &mut Command) -> (Value, f64) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    let usage = child.wait4().unwrap();
    assert!(usage.status.success());
    let cpu = usage.rusage.utime + usage.rusage.stime;
    (serde_json::from_str(&text).unwrap(), cpu.as_secs_f64())
}

/// Answers and references of the fixtures, again and again with a number in them, each with a ranking of ten.
fn samples() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/aragog/answers");
    let mut pairs: Vec<(String, String)> = Vec::new();
    for line in include_str!("../fixtures/text.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        pairs.push((text(&row, "answer"), text(&row, "reference")));
    }
    for name in ["mpnet_k3_c128", "minilm_k3_c128"] {
        for line in fs::read_to_string(format!("{folder}/{name}.jsonl"))
            .unwrap()
            .lines()
        {
            let row: Value = serde_json::from_str(line).unwrap();
            pairs.push((text(&row, "answer"), text(&row, "ground_truth")));
        }
    }
    let mut all = String::new();
    for (number, (answer, reference)) in pairs.iter().cycle().take(SAMPLES).enumerate() {
        let retrieved: Vec<String> = (0..10)
            .map(|rank| format!("d{}", (number * 7 + rank * 13) % 40))
            .collect();
        let relevant: Vec<String> = (0..4)
            .map(|place| format!("d{}", (number * 3 + place * 11) % 40))
            .collect();
        let row = json!({
            "id": format!("q{number:05}"),
            "answer": format!("{answer} {number}"),
            "reference": format!("{reference} {number}"),
            "context_ids": retrieved,
            "reference_context_ids": relevant,
        });
        writeln!(all, "{row}").unwrap();
    }
    all
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap().to_owned()
}

/// The means, as the reference prints them.
fn scores(path: &Path) -> Value {
    let metrics = METRICS.map(|(reference, name, table)| {
        let section: MetricSection = toml::from_str(table).unwrap();
        let files = Files::default();
        let spec = Spec {
            name,
            section: &section,
            files: &files,
        };
        (reference, metrics::build(&spec).unwrap())
    });
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let text = fs::read_to_string(path).unwrap();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let ids = |key: &str| -> Option<Vec<String>> {
            let ids = row[key].as_array().unwrap();
            Some(
                ids.iter()
                    .map(|id| id.as_str().unwrap().to_owned())
                    .collect(),
            )
        };
        let sample = Sample {
            id: self::text(&row, "id"),
            answer: Some(self::text(&row, "answer")),
            references: Some(vec![self::text(&row, "reference")]),
            contexts: None::<Vec<Context>>,
            context_ids: ids("context_ids"),
            reference_context_ids: ids("reference_context_ids"),
            ..Sample::default()
        };
        for (name, metric) in &metrics {
            if let Step::Done(Outcome::Score { score, .. }) = metric.step(&sample, &[]) {
                *sums.entry(name).or_default() += score;
            }
        }
    }
    let means = sums.into_iter().map(|(name, sum)| {
        let mean = sum / text.lines().count() as f64;
        (name.to_owned(), json!((mean * 1e6).round() / 1e6))
    });
    Value::Object(means.collect())
}
