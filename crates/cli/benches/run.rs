//! What `rag-gate run` costs, beside the least that the same calls can cost and beside plain asyncio, in the same run.
//!
//! `cargo bench -p cli --bench run` prints the tables of docs/performance.md; `-- http 50 200`, `-- warm` and `-- simulated` one
//! of them. The server is a process of its own and draws
//! the latency of a call from its number, so that everybody meets the same latencies in the same order. CPU (user and
//! system) and peak memory are those of the whole client process, as the kernel counts them. `BENCH_PYTHON` names a Python
//! with the package `openai`; without it the asyncio rows are left out.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails should say so, and prints its table"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use judge_server::{Latency, Server, Settings};
use serde_json::{Value, json};
use wait4::Wait4;

/// As many calls as the seed's experiment has latencies.
const CALLS: usize = 3000;
/// 9000 scores: three metrics.
const WARM_SAMPLES: usize = 3000;
/// Samples of the run without latency.
const SAMPLES: usize = 100_000;
/// The seed's model at 1:100.
const MEDIAN: Duration = Duration::from_millis(80);
const SIGMA: f64 = 0.4;
const ROUNDS: usize = 3;
/// Rounds of what takes long, and has little to vary.
const LONG_ROUNDS: usize = 1;

/// One client process.
#[derive(Clone, Copy, Debug)]
struct Cost {
    makespan: Duration,
    wall: Duration,
    cpu: Duration,
    peak: u64,
    calls: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "server"] => return serve(),
        [_, "floor", url, calls, k] => {
            return floor(url, calls.parse().unwrap(), k.parse().unwrap());
        }
        _ => {}
    }
    let only = arguments.get(1).map_or("", String::as_str);
    // Beside what was built: what making a file costs depends on the folder, and /tmp is full of others' files.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let ks: Vec<usize> = arguments
        .iter()
        .skip(2)
        .filter_map(|k| k.parse().ok())
        .collect();
    if matches!(only, "" | "--bench" | "http") {
        http(
            folder.path(),
            if ks.is_empty() {
                &[5, 10, 50, 200]
            } else {
                &ks
            },
        );
    }
    if matches!(only, "" | "--bench" | "warm") {
        warm(folder.path());
    }
    if matches!(only, "" | "--bench" | "simulated") {
        simulated(folder.path());
    }
}

/// The server's process: prints its URL, answers until its input ends; a line on its input prints the statistics and
/// forgets them.
fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(Server::start(Settings {
        latency: Latency::Lognormal {
            median: MEDIAN,
            sigma: SIGMA,
            seed: 7,
        },
        ..Settings::default()
    }));
    println!("{}", server.url());
    for _ in std::io::stdin().lock().lines() {
        let stats = server.stats();
        println!(
            "{}",
            json!({"makespan_s": stats.makespan().as_secs_f64(), "calls": stats.calls, "peak": stats.peak_in_flight})
        );
        server.reset();
    }
}

/// A bare client: `k` loops over one pool of connections, nothing else.
fn floor(url: &str, calls: usize, k: usize) {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::builder()
            .pool_max_idle_per_host(k)
            .tcp_nodelay(true)
            .build()
            .unwrap();
        let next = Arc::new(AtomicUsize::new(0));
        let url = format!("{url}/chat/completions");
        let loops: Vec<_> = (0..k)
            .map(|_| {
                let (client, next, url) = (client.clone(), Arc::clone(&next), url.clone());
                tokio::spawn(async move {
                    loop {
                        let call = next.fetch_add(1, Ordering::Relaxed);
                        if call >= calls {
                            return;
                        }
                        let content = format!("Is answer {call} supported? Say JSON.");
                        let body = json!({"model": "judge", "messages": [{"role": "user", "content": content}]});
                        let answer = client.post(&url).json(&body).send().await.unwrap();
                        assert!(answer.status().is_success());
                        answer.bytes().await.unwrap();
                    }
                })
            })
            .collect();
        for one in loops {
            one.await.unwrap();
        }
    });
}

/// A server in a process of its own.
struct Remote {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    url: String,
}

impl Remote {
    fn start() -> Remote {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        lines.read_line(&mut url).unwrap();
        Remote {
            child,
            lines,
            url: url.trim().to_owned(),
        }
    }

    fn stats(&mut self) -> Value {
        use std::io::Write;
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Runs a client; the makespan is the server's.
    fn measure(&mut self, program: &Path, arguments: &[&str], folder: &Path) -> Cost {
        self.stats();
        let mut cost = measure(program, arguments, folder);
        let stats = self.stats();
        cost.makespan = Duration::from_secs_f64(stats["makespan_s"].as_f64().unwrap());
        cost.calls = stats["calls"].as_u64().unwrap();
        cost
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn measure(program: &Path, arguments: &[&str], folder: &Path) -> Cost {
    let start = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
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
        makespan: Duration::ZERO,
        wall: start.elapsed(),
        cpu: usage.rusage.utime + usage.rusage.stime,
        peak: usage.rusage.maxrss,
        calls: 0,
    }
}

fn gate() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_rag-gate"))
}

fn script() -> String {
    format!("{}/benches/asyncio_judge.py", env!("CARGO_MANIFEST_DIR"))
}

fn python() -> Option<PathBuf> {
    std::env::var_os("BENCH_PYTHON").map(PathBuf::from)
}

/// A dataset of so many different rows, and a gate.toml that asks the server at `url`.
fn evaluation(folder: &Path, name: &str, rows: usize, metrics: &[&str], judge: &str) -> PathBuf {
    let mut text = String::new();
    for row in 0..rows {
        let row = json!({
            "id": format!("q-{row:06}"),
            "question": format!("What is the capital of country {row}?"),
            "answer": format!("The capital of country {row} is city {row}."),
            "contexts": [
                format!("Country {row} has the capital city {row}, which lies on a river."),
                "Another passage, which is about something else altogether."
            ],
        });
        writeln!(text, "{row}").unwrap();
    }
    fs::write(folder.join(format!("{name}.jsonl")), text).unwrap();
    let mut policy = format!("version = 1\n[dataset]\npath = \"{name}.jsonl\"\n{judge}");
    for metric in metrics {
        writeln!(policy, "[metrics.{metric}]").unwrap();
    }
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, policy).unwrap();
    path
}

/// 3000 calls with lognormal latency at k calls at once.
fn http(folder: &Path, ks: &[usize]) {
    let mut server = Remote::start();
    let this = std::env::current_exe().unwrap();
    let url = server.url.clone();
    let calls = CALLS.to_string();
    println!(
        "\n{CALLS} calls, lognormal latency (median {} ms, sigma {SIGMA}); makespan as the server sees it; median of {ROUNDS} for k = 50 and 200\n",
        MEDIAN.as_millis()
    );
    println!(
        "| k | client | makespan s | of the floor's | of the ideal | CPU ms a call | peak MB |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for &k in ks {
        let judge = format!(
            "[judge]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"judge\"\nconcurrency = {k}\n"
        );
        let name = format!("k{k}");
        let config = evaluation(folder, &name, CALLS, &["faithfulness"], &judge);
        let k_text = k.to_string();
        let script = script();
        let config = config.to_str().unwrap();
        let mut rows: Vec<(&str, PathBuf, Vec<&str>)> = vec![
            (
                "bare HTTP client",
                this.clone(),
                vec!["floor", &url, &calls, &k_text],
            ),
            (
                "`rag-gate run`, cold cache",
                gate().to_owned(),
                vec!["run", "--config", config, "--quiet"],
            ),
            (
                "`rag-gate run`, no cache",
                gate().to_owned(),
                vec!["run", "--config", config, "--cache", "off", "--quiet"],
            ),
        ];
        if let (Some(python), true) = (python(), k >= 50) {
            rows.push((
                "asyncio, `openai` client",
                python,
                vec![&script, "http", &url, &calls, &k_text],
            ));
        }
        let mut costs = vec![Vec::new(); rows.len()];
        let rounds = if k < 50 { LONG_ROUNDS } else { ROUNDS };
        for _ in 0..rounds {
            for (row, costs) in rows.iter().zip(&mut costs) {
                // Every round begins with an empty cache. The old one is put aside: a disk that still removes thousands of
                // files is slow.
                let _ = fs::rename(
                    folder.join(".rag-gate"),
                    tempfile::tempdir_in(folder).unwrap().keep(),
                );
                let cost = server.measure(&row.1, &row.2, folder);
                assert_eq!(cost.calls, CALLS as u64, "{}", row.0);
                costs.push(cost);
            }
        }
        let best: Vec<Cost> = costs.iter().map(|costs| median(costs)).collect();
        let ideal = ideal(k);
        for (row, cost) in rows.iter().zip(&best) {
            println!(
                "| {k} | {} | {:.2} | {:.3} | {:.3} | {:.3} | {} |",
                row.0,
                cost.makespan.as_secs_f64(),
                cost.makespan.as_secs_f64() / best[0].makespan.as_secs_f64(),
                cost.makespan.as_secs_f64() / ideal,
                cost.cpu.as_secs_f64() * 1e3 / CALLS as f64,
                cost.peak / 1_000_000,
            );
        }
    }
}

/// List scheduling of the server's own latencies, in seconds.
fn ideal(k: usize) -> f64 {
    let latency = Latency::Lognormal {
        median: MEDIAN,
        sigma: SIGMA,
        seed: 7,
    };
    let mut workers = vec![0.0_f64; k];
    for call in 0..CALLS {
        let at = (0..k)
            .min_by(|a, b| workers[*a].total_cmp(&workers[*b]))
            .unwrap();
        workers[at] += latency.of(call as u64).as_secs_f64();
    }
    workers.into_iter().fold(0.0, f64::max)
}

/// 9000 scores, cold and warm.
fn warm(folder: &Path) {
    let mut server = Remote::start();
    let judge = format!(
        "[judge]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"judge\"\nconcurrency = 50\n[cache]\npath = \"warm-cache\"\n",
        server.url
    );
    let metrics = ["faithfulness", "answer_relevancy", "context_precision"];
    let config = evaluation(folder, "warm", WARM_SAMPLES, &metrics, &judge);
    let config = config.to_str().unwrap();
    let arguments = ["run", "--config", config, "--quiet"];
    let cold = server.measure(gate(), &arguments, folder);
    assert_eq!(cold.calls, 3 * WARM_SAMPLES as u64);
    let rounds: Vec<Cost> = (0..ROUNDS)
        .map(|_| server.measure(gate(), &arguments, folder))
        .collect();
    let warm = median(&rounds);
    assert_eq!(warm.calls, 0);
    println!("\n{} scores at k = 50, cold and warm\n", 3 * WARM_SAMPLES);
    println!("| run | wall s | of the cold one | CPU s | peak MB |");
    println!("|---|---:|---:|---:|---:|");
    for (name, cost) in [("cold", cold), ("warm", warm)] {
        println!(
            "| {name} | {:.3} | {:.4} | {:.2} | {} |",
            cost.wall.as_secs_f64(),
            cost.wall.as_secs_f64() / cold.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            cost.peak / 1_000_000
        );
    }
}

/// 100 000 samples × 3 metrics with a judge that takes no time.
fn simulated(folder: &Path) {
    let metrics = ["faithfulness", "answer_relevancy", "context_precision"];
    let config = evaluation(
        folder,
        "simulated",
        SAMPLES,
        &metrics,
        "[judge]\nprovider = \"simulated\"\n",
    );
    let dataset = folder.join("simulated.jsonl");
    let out = folder.join("asyncio.json");
    let script = script();
    let python = python().unwrap_or_else(|| PathBuf::from("python3"));
    let ours = ["run", "--config", config.to_str().unwrap(), "--quiet"];
    let theirs = [
        script.as_str(),
        "simulated",
        dataset.to_str().unwrap(),
        "3",
        out.to_str().unwrap(),
    ];
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        costs[0].push(measure(gate(), &ours, folder));
        costs[1].push(measure(&python, &theirs, folder));
    }
    let [ours, theirs] = costs.map(|costs| median(&costs));
    println!(
        "\n{SAMPLES} samples x 3 metrics, simulated judge at zero latency; dataset of {} MB; median of {ROUNDS}\n",
        fs::metadata(&dataset).unwrap().len() / 1_000_000
    );
    println!("| client | scores a CPU second | of asyncio's | CPU s | wall s | peak MB |");
    println!("|---|---:|---:|---:|---:|---:|");
    let rate = |cost: Cost| 3.0 * SAMPLES as f64 / cost.cpu.as_secs_f64();
    for (name, cost) in [("`rag-gate run`", ours), ("asyncio", theirs)] {
        println!(
            "| {name} | {:.0} | {:.1} | {:.2} | {:.2} | {} |",
            rate(cost),
            rate(cost) / rate(theirs),
            cost.cpu.as_secs_f64(),
            cost.wall.as_secs_f64(),
            cost.peak / 1_000_000
        );
    }
}

/// By makespan, or by CPU where there is none.
fn median(costs: &[Cost]) -> Cost {
    let mut costs = costs.to_vec();
    costs.sort_by_key(|cost| (cost.makespan, cost.cpu));
    costs[costs.len() / 2]
}
