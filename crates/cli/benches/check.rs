//! What `rag-gate check` costs, beside the least that reading the same files can cost, in the same run.
//!
//! `cargo bench -p cli --bench check` prints the tables of docs/performance.md. Every figure is that of a whole process:
//! CPU (user and system) and peak memory as the kernel counts them for the child.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails should say so, and prints its table"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use wait4::Wait4;

const SAMPLES: u32 = 1_000_000;
const ROUNDS: usize = 5;
const SMALL_ROUNDS: usize = 300;

/// CPU seconds and peak bytes of one process.
#[derive(Clone, Copy)]
struct Cost {
    cpu: Duration,
    peak: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, files @ ..] = arguments.as_slice() {
        match mode.as_str() {
            "floor-slice" => return files.iter().for_each(|file| ignore_slice(file.as_ref())),
            "floor-reader" => return files.iter().for_each(|file| ignore_reader(file.as_ref())),
            _ => {}
        }
    }
    let folder = tempfile::tempdir().unwrap();
    large(folder.path());
    small(folder.path());
}

/// A bare pass over a file that is in memory as a whole.
fn ignore_slice(path: &Path) {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    serde_json::from_slice::<IgnoredAny>(&bytes).unwrap();
}

/// A bare pass over a file that is streamed.
fn ignore_reader(path: &Path) {
    let file = BufReader::new(fs::File::open(path).unwrap());
    serde_json::from_reader::<_, IgnoredAny>(file).unwrap();
}

/// A million samples with three metrics, clusters and one slice tag on both sides.
fn large(folder: &Path) {
    let policy = folder.join("gate.toml");
    fs::write(
        &policy,
        "version = 1\n[metrics.faithfulness]\n[metrics.context_precision]\n[metrics.context_recall]\n[[slices]]\ntag = \"lang\"\nmax_drop = 0.05\n",
    )
    .unwrap();
    let in_order: Vec<u32> = (0..SAMPLES).collect();
    let mut shuffled = in_order.clone();
    let mut state = 7_u64;
    for at in (1..shuffled.len()).rev() {
        let other = usize::try_from(next(&mut state) % (at as u64 + 1)).unwrap();
        shuffled.swap(at, other);
    }
    let results = write_samples(folder.join("results.json"), &in_order, 1);
    let baseline = write_samples(folder.join("baseline.json"), &in_order, 2);
    let mixed = write_samples(folder.join("shuffled.json"), &shuffled, 1);
    let size = fs::metadata(&results).unwrap().len() + fs::metadata(&baseline).unwrap().len();
    let bench = std::env::current_exe().unwrap();
    let gate = Path::new(env!("CARGO_BIN_EXE_rag-gate"));
    let config = policy.to_str().unwrap();
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let (now, before, mixed) = (path(&results), path(&baseline), path(&mixed));
    let rows = [
        (
            "serde `IgnoredAny`, whole file in memory",
            bench.as_path(),
            vec!["floor-slice", &now, &before],
        ),
        (
            "serde `IgnoredAny`, streamed",
            bench.as_path(),
            vec!["floor-reader", &now, &before],
        ),
        (
            "`rag-gate check`",
            gate,
            vec!["check", &now, &before, "--config", config],
        ),
        (
            "`rag-gate check`, results shuffled",
            gate,
            vec!["check", &mixed, &before, "--config", config],
        ),
    ];
    let mut costs = vec![Vec::new(); rows.len()];
    // Side by side: what disturbs the machine disturbs all of them.
    for _ in 0..ROUNDS {
        for (row, costs) in rows.iter().zip(&mut costs) {
            costs.push(run(row.1, &row.2));
        }
    }
    let best: Vec<Cost> = costs.iter().map(|costs| median(costs)).collect();
    println!(
        "\n{SAMPLES} samples x 3 metrics on both sides, clusters, one slice tag; both files together {} MB; median of {ROUNDS}\n",
        size / 1_000_000
    );
    println!(
        "| process | CPU s | of the floor in memory | of the streamed floor | peak MB | of the files |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for (row, cost) in rows.iter().zip(&best) {
        println!(
            "| {} | {:.2} | {:.2} | {:.2} | {} | {:.2} |",
            row.0,
            cost.cpu.as_secs_f64(),
            cost.cpu.as_secs_f64() / best[0].cpu.as_secs_f64(),
            cost.cpu.as_secs_f64() / best[1].cpu.as_secs_f64(),
            cost.peak / 1_000_000,
            cost.peak as f64 / size as f64,
        );
    }
}

/// Two flat files: how much longer than `true` the whole process takes.
fn small(folder: &Path) {
    let results = folder.join("flat.json");
    let baseline = folder.join("flat-baseline.json");
    fs::write(
        &results,
        "{\"faithfulness\": 0.85, \"context_precision\": 0.79}",
    )
    .unwrap();
    fs::write(
        &baseline,
        "{\"faithfulness\": 0.86, \"context_precision\": 0.80}",
    )
    .unwrap();
    let gate = Path::new(env!("CARGO_BIN_EXE_rag-gate"));
    let flat = [
        "check",
        results.to_str().unwrap(),
        baseline.to_str().unwrap(),
    ];
    let mut walls = [Vec::new(), Vec::new()];
    for _ in 0..SMALL_ROUNDS {
        walls[0].push(wall(Path::new("true"), &[]));
        walls[1].push(wall(gate, &flat));
    }
    let [idle, check] = walls.map(|mut walls| {
        walls.sort_unstable();
        walls[walls.len() / 2]
    });
    println!("\nTwo flat files, the whole process, median of {SMALL_ROUNDS}\n");
    println!("| process | wall ms |");
    println!("|---|---:|");
    println!("| `true` | {:.2} |", idle.as_secs_f64() * 1e3);
    println!("| `rag-gate check` | {:.2} |", check.as_secs_f64() * 1e3);
    println!(
        "| difference | {:.2} |",
        (check.as_secs_f64() - idle.as_secs_f64()) * 1e3
    );
}

fn run(program: &Path, arguments: &[&str]) -> Cost {
    let child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let usage = child.wait4().unwrap();
    assert!(
        usage.status.success(),
        "{} {arguments:?}",
        program.display()
    );
    Cost {
        cpu: usage.rusage.utime + usage.rusage.stime,
        peak: usage.rusage.maxrss,
    }
}

fn wall(program: &Path, arguments: &[&str]) -> Duration {
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    let wall = start.elapsed();
    assert!(status.success());
    wall
}

fn median(costs: &[Cost]) -> Cost {
    let mut cpu: Vec<Duration> = costs.iter().map(|cost| cost.cpu).collect();
    cpu.sort_unstable();
    Cost {
        cpu: cpu[cpu.len() / 2],
        peak: costs.iter().map(|cost| cost.peak).max().unwrap(),
    }
}

fn write_samples(path: PathBuf, order: &[u32], seed: u64) -> PathBuf {
    let mut file = BufWriter::new(fs::File::create(&path).unwrap());
    let mut line = String::new();
    file.write_all(
        b"{\"schema\":\"rag-gate/results/1\",\"run\":{\"complete\":true},\"samples\":[\n",
    )
    .unwrap();
    for (position, id) in order.iter().enumerate() {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*id);
        let mut score = || next(&mut state) % 1_000_001;
        let language = ["en", "de", "it", "fr", "es"][(*id % 5) as usize];
        line.clear();
        let _ = write!(
            line,
            "{}{{\"id\":\"q-{id:07}\",\"cluster\":\"doc-{}\",\"tags\":{{\"lang\":\"{language}\"}},\"scores\":{{\"faithfulness\":0.{:06},\"context_precision\":0.{:06},\"context_recall\":0.{:06}}}}}",
            if position == 0 { "" } else { ",\n" },
            id / 10,
            score() % 1_000_000,
            score() % 1_000_000,
            score() % 1_000_000,
        );
        file.write_all(line.as_bytes()).unwrap();
    }
    file.write_all(b"\n]}\n").unwrap();
    file.into_inner().unwrap();
    path
}

/// `SplitMix64` (Steele, Lea and Flood 2014): the same files in every run.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
