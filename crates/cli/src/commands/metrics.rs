//! `rag-gate metrics`: what can be computed, and how.

mod markdown;
mod show;

use std::fmt::Write;

use gate::policy::{Direction, MetricSection};
use metrics::{Entry, Files, Metric, Spec};
use serde::Serialize;

use super::wrap;
use crate::args::{MetricsArgs, MetricsCommand};
use crate::console;
use crate::error::Error;
use crate::exit_code::ExitCode;

pub(crate) fn run(args: &MetricsArgs) -> Result<ExitCode, Error> {
    let text = match &args.command {
        Some(MetricsCommand::Show { name, config }) => show::page(name, config.as_deref())?,
        None => {
            let metrics: Vec<Described> = metrics::entries().map(Described::of).collect();
            match args.json {
                true => json(&metrics)?,
                false => table(&metrics),
            }
        }
    };
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    metrics: &'a [Described],
}

/// A metric, as a list of metrics has it.
#[derive(Debug, Serialize)]
struct Described {
    name: &'static str,
    about: &'static str,
    /// Markdown.
    definition: &'static str,
    /// `null` where gate.toml says it.
    better: Option<Direction>,
    /// `null` where there is no end, or gate.toml says it.
    range: Option<[f64; 2]>,
    /// Columns of the dataset; empty where one of several will do.
    needs: Vec<&'static str>,
    /// Questions to the judge about one sample, at most.
    judge_calls: u32,
    /// Whether an embedding model is asked too.
    embeds: bool,
    /// Whether a program is asked.
    program: bool,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_sha256: Option<String>,
    /// Keys of its table in gate.toml that say what is computed.
    keys: &'static [&'static str],
    /// What a table has to say, as TOML.
    #[serde(skip_serializing_if = "str::is_empty")]
    example: &'static str,
}

impl Described {
    fn of(entry: &'static Entry) -> Described {
        let built = built(entry, entry.name, None);
        let info = built.as_deref().map(Metric::info);
        let is_program = built
            .as_deref()
            .is_some_and(|metric| metric.program().is_some());
        Described {
            name: entry.name,
            about: entry.about,
            definition: entry.definition,
            better: info
                .map(|info| info.direction)
                .filter(|_| !is_told_by_gate_toml(entry)),
            range: info.and_then(|info| info.range),
            needs: info.map_or_else(Vec::new, |info| {
                info.needs.iter().map(|column| column.name()).collect()
            }),
            judge_calls: info.map_or(0, |info| info.calls),
            embeds: info.is_some_and(|info| info.embeds),
            program: is_program,
            version: info.map_or_else(String::new, |info| info.version.clone()),
            prompt_sha256: info.and_then(|info| info.prompt_sha256.clone()),
            keys: entry.keys,
            example: entry.example,
        }
    }

    fn better(&self) -> &'static str {
        match self.better {
            Some(Direction::Higher) => "higher",
            Some(Direction::Lower) => "lower",
            None => "yours",
        }
    }

    fn calls(&self) -> String {
        let mut calls = match (self.judge_calls, self.program) {
            (0, true) => "P".to_owned(),
            (0, false) if self.embeds => String::new(),
            (calls, _) => calls.to_string(),
        };
        if self.embeds {
            calls.push('E');
        }
        calls
    }

    fn needs(&self) -> String {
        match self.needs[..] {
            [] => "(see show)".to_owned(),
            _ => self.needs.join(", "),
        }
    }
}

/// The metric of an entry under a name, as its example has it.
fn built(entry: &Entry, name: &str, direction: Option<Direction>) -> Option<Box<dyn Metric>> {
    let section = MetricSection {
        direction,
        ..toml::from_str(entry.example).ok()?
    };
    // The empty schema stands for the file that an example names.
    let files = Files {
        schema: section.schema.as_ref().map(|_| "{}".to_owned()),
        ..Files::default()
    };
    metrics::build(&Spec {
        // Any number will do for a metric of the first k.
        name: &name.replace("@k", "@5"),
        section: &section,
        files: &files,
    })
    .ok()
}

/// Whether gate.toml says which way the metric is better.
fn is_told_by_gate_toml(entry: &Entry) -> bool {
    [Direction::Higher, Direction::Lower]
        .into_iter()
        .all(|direction| {
            built(entry, entry.name, Some(direction))
                .is_some_and(|metric| metric.info().direction == direction)
        })
}

fn json(metrics: &[Described]) -> Result<String, Error> {
    let document = Document {
        schema: "rag-gate/metrics/1",
        metrics,
    };
    let mut text = serde_json::to_string_pretty(&document).map_err(|error| Error::Output {
        path: "standard output".into(),
        error: error.into(),
    })?;
    text.push('\n');
    Ok(text)
}

/// Two lines each: what a run has to know of it, and what it says.
fn table(metrics: &[Described]) -> String {
    let names = metrics.iter().map(|metric| metric.name.len());
    let width = names.max().unwrap_or(0).max("metric".len());
    let mut text = format!("{:width$}  better  calls  needs\n", "metric");
    for metric in metrics {
        let first = format!(
            "{:width$}  {:6}  {:5}  ",
            metric.name,
            metric.better(),
            metric.calls()
        );
        // What does not fit goes on below the first column of its own.
        let needs = wrap::words(&metric.needs(), first.len(), first.len());
        let _ = write!(text, "{first}{}", needs.trim_start());
        text.push_str(&wrap::words(metric.about, 4, 4));
    }
    text.push('\n');
    text.push_str(&wrap::words(
        "calls: questions to the judge about one sample, at most; E: the embedding model is asked too; P: a program is. \
Metrics that ask the same share a call.",
        0,
        0,
    ));
    text.push_str(
        "rag-gate metrics show NAME says how one is defined and what gate.toml may say.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_metric_and_fits() {
        let metrics: Vec<Described> = metrics::entries().map(Described::of).collect();
        let table = table(&metrics);
        for line in table.lines() {
            assert!(line.chars().count() <= wrap::WIDTH, "{line}");
        }
        for metric in &metrics {
            assert!(!metric.version.is_empty(), "{} was not built", metric.name);
            let row = table
                .lines()
                .find(|line| line.split(' ').next() == Some(metric.name))
                .unwrap();
            assert!(row.contains(metric.better()) && row.contains(&metric.calls()));
            for need in &metric.needs {
                assert!(table.contains(need));
            }
        }
    }

    #[test]
    fn gate_toml_says_what_the_number_of_a_program_means() {
        let better = |name: &str| {
            let entry = metrics::entries().find(|entry| entry.name == name).unwrap();
            Described::of(entry).better()
        };
        assert_eq!(better("command"), "yours");
        assert_eq!(better("faithfulness"), "higher");
    }
}
