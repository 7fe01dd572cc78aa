//! `judge-server`: the server in a process of its own. Its first line is its URL; it runs until it is killed.

use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use judge_server::{Formats, Latency, Server, Settings};

const USAGE: &str = "\
usage: judge-server [OPTION VALUE]...
  --port N           listens there; 0, the default, takes a free port
  --latency-ms N     median latency; default 0
  --sigma X          spread of the latency: standard deviation of its logarithm; default 0
  --latencies FILE   latencies in seconds, a JSON list, one call after the other
  --seed N           of latencies and faults; default 0
  --capacity N       calls in flight; one more gets a 429
  --retry-after-ms N what a 429 asks for; default 1000
  --share-429 X, --share-500 X, --share-drop X, --share-cut X, --share-garbage X
                     shares of calls that fail so
  --never N          number of a call, from 0, that never gets an answer; may be given several times
  --key KEY          another key gets a 401
  --model NAME       another model gets a 404
  --formats NAME     schema (default), object or text: the response formats that are known
  --tokens N         tokens of an answer
  --dimensions N     length of an embedding
GET /stats says what was called, POST /reset starts from zero.
";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "judge-server: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let settings = settings(args)?;
    // One thread: the machine's other cores belong to what is measured.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let server = Server::bind(settings)
            .await
            .map_err(|error| format!("cannot listen: {error}"))?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", server.url())
            .and_then(|()| stdout.flush())
            .map_err(|error| format!("cannot print the URL: {error}"))?;
        std::future::pending().await
    })
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, String> {
    let mut settings = Settings::default();
    let mut median = Duration::ZERO;
    let mut sigma = 0.0;
    let mut list = None;
    while let Some(name) = args.next() {
        let value = args.next().ok_or(format!("{name} needs a value"))?;
        let faults = &mut settings.faults;
        match name.as_str() {
            "--port" => settings.port = parse(&name, &value)?,
            "--latency-ms" => median = Duration::from_millis(parse(&name, &value)?),
            "--sigma" => sigma = parse(&name, &value)?,
            "--latencies" => list = Some(latencies(&value)?),
            "--seed" => faults.seed = parse(&name, &value)?,
            "--capacity" => settings.capacity = Some(parse(&name, &value)?),
            "--retry-after-ms" => {
                settings.retry_after = Duration::from_millis(parse(&name, &value)?);
            }
            "--share-429" => faults.share_429 = parse(&name, &value)?,
            "--share-500" => faults.share_500 = parse(&name, &value)?,
            "--share-drop" => faults.share_drop = parse(&name, &value)?,
            "--share-cut" => faults.share_cut = parse(&name, &value)?,
            "--share-garbage" => faults.share_garbage = parse(&name, &value)?,
            "--never" => faults.never.push(parse(&name, &value)?),
            "--key" => settings.key = Some(value),
            "--model" => settings.model = Some(value),
            "--formats" => settings.formats = formats(&value)?,
            "--tokens" => settings.tokens = parse(&name, &value)?,
            "--dimensions" => settings.dimensions = parse(&name, &value)?,
            _ => return Err(format!("there is no option {name}")),
        }
    }
    settings.latency = match list {
        Some(list) => Latency::List(list),
        None if sigma == 0.0 => Latency::Fixed(median),
        None => Latency::Lognormal {
            median,
            sigma,
            seed: settings.faults.seed,
        },
    };
    Ok(settings)
}

fn parse<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("`{value}` is no value of {name}"))
}

fn formats(value: &str) -> Result<Formats, String> {
    match value {
        "schema" => Ok(Formats::Schema),
        "object" => Ok(Formats::Object),
        "text" => Ok(Formats::Text),
        _ => Err(format!(
            "`{value}` is no value of --formats: schema, object or text"
        )),
    }
}

fn latencies(path: &str) -> Result<Vec<f64>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path} is no list of seconds: {error}"))
}
