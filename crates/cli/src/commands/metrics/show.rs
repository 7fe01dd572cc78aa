//! `rag-gate metrics show NAME`: all there is to know of one metric.

use std::fmt::Write;
use std::path::Path;

use gate::policy::{Direction, Policy, nearest, toml_key};
use metrics::{Entry, Info, Metric};

use super::{built, is_told_by_gate_toml, markdown};
use crate::commands::{beside, config_path, policy, wrap};
use crate::error::Error;
use crate::evaluation::{self, MetricFiles, Place};

/// The page of a metric: one of gate.toml as it is configured there, else one by its name.
pub(super) fn page(name: &str, config: Option<&Path>) -> Result<String, Error> {
    let config = config_path(config)?;
    let (policy, text) = policy(config.as_deref())?;
    let place = Place {
        config: config.as_deref(),
        text: text.as_deref(),
    };
    if let Some(shown) = of_gate_toml(name, &policy, config.as_deref(), &place)? {
        return Ok(shown);
    }
    let by_name = metrics::entries().find(|entry| entry.name == name);
    let Some(entry) = by_name.or_else(|| metrics::find(name)) else {
        return Err(unknown(name, &policy));
    };
    let metric = built(entry, name, None).ok_or_else(|| unknown(name, &policy))?;
    let mut page = head(name, entry, metric.info(), is_told_by_gate_toml(entry));
    page.push_str(&facts(entry, metric.as_ref()));
    page.push_str(&example(entry, name));
    page.push_str(&prompt(metric.as_ref()));
    Ok(page)
}

/// The metric of a table of gate.toml; `None` when there is no such table, or a pattern alone.
fn of_gate_toml(
    name: &str,
    policy: &Policy,
    config: Option<&Path>,
    place: &Place<'_>,
) -> Result<Option<String>, Error> {
    let mut tables = policy.file().metrics.iter().flatten();
    let Some((spanned, section)) = tables.find(|(found, _)| found.get_ref() == name) else {
        return Ok(None);
    };
    let kind = section.kind.as_deref().unwrap_or(name);
    let Some(entry) = metrics::find(kind) else {
        // What it says there is wrong, or meant for results of another tool: the name alone may still be known.
        return Ok(None);
    };
    let files = MetricFiles::of(policy, &beside(config, ""), place)?;
    let metric = evaluation::metric(name, section, files.of_metric(name))
        .map_err(|error| place.error(error.to_string(), None, Some(spanned.span())))?;
    let mut info = metric.info().clone();
    // The gate takes gate.toml's word for both.
    info.direction = section.direction.unwrap_or(info.direction);
    info.range = section
        .range
        .as_ref()
        .map_or(info.range, |range| Some(*range.get_ref()));
    let mut page = head(name, entry, &info, false);
    page.push_str(&facts(entry, metric.as_ref()));
    let _ = writeln!(
        page,
        "{:10}as [metrics.{}] of {} says",
        "set",
        toml_key(name),
        config.map_or_else(|| "gate.toml".to_owned(), |path| path.display().to_string())
    );
    page.push_str(&prompt(metric.as_ref()));
    Ok(Some(page))
}

fn unknown(name: &str, policy: &Policy) -> Error {
    let own = policy.file().metrics.iter().flatten();
    let names = metrics::entries()
        .map(|entry| entry.name)
        .chain(own.map(|(name, _)| name.get_ref().as_str()));
    if gate::known::find(name).is_some() {
        return Error::Usage {
            message: format!("`{name}` is known, but not computed by this version"),
            help: Some("it is gated all the same when another tool computed it".to_owned()),
        };
    }
    Error::Usage {
        message: format!("there is no metric `{}`", reporter::plain(name)),
        help: Some(match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "rag-gate metrics lists them".to_owned(),
        }),
    }
}

fn head(name: &str, entry: &Entry, info: &Info, is_yours: bool) -> String {
    let better = match (is_yours, info.direction) {
        (true, _) => "better as gate.toml says",
        (false, Direction::Higher) => "higher is better",
        (false, Direction::Lower) => "lower is better",
    };
    let range = match info.range {
        Some([low, high]) => format!("{low} to {high}"),
        None => "no range".to_owned(),
    };
    let kind = match entry.name == name {
        true => String::new(),
        false => format!("{}, ", entry.name),
    };
    let mut text = format!("{} ({kind}{better}, {range})\n", reporter::plain(name));
    text.push_str(&wrap::words(entry.about, 2, 2));
    text.push_str("\nDefinition\n");
    text.push_str(&markdown::wrapped(entry.definition, 2));
    text.push('\n');
    text
}

/// What a run has to know of it.
fn facts(entry: &Entry, metric: &dyn Metric) -> String {
    let info = metric.info();
    let mut asks = Vec::new();
    if info.judged {
        asks.push(match info.calls {
            1 => "the judge, once a sample".to_owned(),
            calls => format!("the judge, at most {calls} times a sample"),
        });
    }
    if info.embeds {
        asks.push("the embedding model".to_owned());
    }
    if let Some(program) = metric.program() {
        let command = program.command.join(" ");
        asks.push(format!("the program `{}`", reporter::plain(&command)));
    }
    if asks.is_empty() {
        asks.push("nobody".to_owned());
    }
    let needs: Vec<&str> = info.needs.iter().map(|column| column.name()).collect();
    let mut rows = vec![("asks", asks.join(", "))];
    if !needs.is_empty() {
        rows.push(("needs", needs.join(", ")));
    }
    rows.push(("version", info.version.clone()));
    if let Some(hash) = &info.prompt_sha256 {
        rows.push(("prompt", hash.clone()));
    }
    if !entry.keys.is_empty() {
        rows.push(("keys", entry.keys.join(", ")));
    }
    rows.iter().fold(String::new(), |mut text, (label, value)| {
        let wrapped = wrap::words(value, 10, 10);
        let _ = write!(text, "{label:10}{}", wrapped.trim_start());
        text
    })
}

fn example(entry: &Entry, name: &str) -> String {
    let name = match entry.example.contains("kind") {
        true => format!("my_{}", entry.name),
        false => name.replace("@k", "@5"),
    };
    let mut text = format!("\nIn gate.toml\n  [metrics.{}]\n", toml_key(&name));
    for line in entry.example.lines() {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// What the judge is told, word for word.
fn prompt(metric: &dyn Metric) -> String {
    let Some(prompt) = metric.prompt() else {
        return String::new();
    };
    let mut text = "\nWhat the judge is told (the data follows, apart from it)\n".to_owned();
    for line in prompt.lines() {
        match line.trim().is_empty() {
            true => text.push('\n'),
            false => {
                let _ = writeln!(text, "  {}", reporter::plain(line));
            }
        }
    }
    text
}
