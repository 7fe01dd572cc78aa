//! `rag-gate baseline show|diff|history`: looks at what was accepted.

use std::fmt::Write as _;
use std::path::Path;

use gate::history::HistoryLine;
use gate::number;
use gate::policy::{Limit, Placed, Policy, Severity};
use gate::results::{Keep, Results, Summary};
use gate::{Inputs, decide};
use reporter::plain;

use crate::base::history_path;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::{console, input};

/// Height of a sparkline's bars, lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Most accepted baselines that a sparkline shows.
const SHOWN: usize = 40;

/// Most samples that a comparison lists.
const FELL: usize = 10;

pub(crate) fn show(path: &Path) -> Result<ExitCode, Error> {
    let baseline = read(path)?;
    let mut text = format!("{}\n", path.display());
    let accepted = baseline.accepted.clone().unwrap_or_default();
    let run = &baseline.run;
    let judge = run.judge.as_ref().map(|judge| {
        let parts = [&judge.provider, &judge.model]
            .into_iter()
            .flatten()
            .cloned();
        parts.collect::<Vec<_>>().join(" ")
    });
    let facts = [
        ("accepted", accepted.at),
        ("by", accepted.by),
        ("pull request", accepted.pull_request),
        ("note", accepted.note),
        ("commit", accepted.commit.or_else(|| run.commit.clone())),
        (
            "dataset",
            run.dataset
                .as_ref()
                .and_then(|dataset| dataset.path.clone()),
        ),
        ("judge", judge.filter(|judge| !judge.is_empty())),
        (
            "samples",
            baseline.samples().map(|samples| samples.len().to_string()),
        ),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            let _ = writeln!(text, "  {name:13}{}", plain(&fact));
        }
    }
    text.push('\n');
    for variant in baseline.variants() {
        for (metric, summary) in baseline.summaries_of(variant) {
            let _ = writeln!(text, "  {}", metric_line(metric, variant, &summary));
        }
    }
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

pub(crate) fn diff(before: &Path, now: &Path) -> Result<ExitCode, Error> {
    let (before_path, now_path) = (before, now);
    let (before, now) = (read(before)?, read(now)?);
    // Everything that both measure, judged by nothing.
    let policy = Policy::default();
    let mut bound = policy
        .bind_all(&now, Some(&before))
        .map_err(|error| Error::Usage {
            help: error.help,
            message: error.message,
        })?;
    // Any loss is worth a look here, and none of them is judged.
    for metric in &mut bound.metrics {
        metric.severity = Severity::Warn;
        metric.worse = Some(Placed {
            value: Limit::Points(0.0),
            line: None,
        });
    }
    let verdict = decide(Inputs {
        policy: &policy,
        bound: &bound,
        results: &now,
        baseline: Some(&before),
        history: None,
    });
    let mut text = format!("{} → {}\n", before_path.display(), now_path.display());
    if let Some(samples) = &verdict.samples {
        let _ = writeln!(
            text,
            "  {} samples in both, {} added, {} removed",
            samples.common, samples.added, samples.removed
        );
    }
    for difference in &verdict.provenance.differences {
        let _ = writeln!(text, "  note: {}", plain(difference));
    }
    text.push('\n');
    for row in &verdict.metrics {
        let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number::value);
        let change = match (row.change, row.ci) {
            (Some(change), Some([low, high])) => format!(
                "{} [{}, {}]",
                number::signed(change),
                number::signed(low),
                number::signed(high)
            ),
            (Some(change), None) => number::signed(change),
            (None, _) => "not comparable".to_owned(),
        };
        let _ = writeln!(
            text,
            "  {:28} {:>7} → {:<7}  {change}",
            named(&row.metric, row.variant.as_deref()),
            shown(row.before),
            shown(row.now)
        );
    }
    let fell = &verdict.worst_samples;
    if !fell.is_empty() {
        text.push_str("\nSamples that fell most\n");
        for sample in fell.iter().take(FELL) {
            let _ = writeln!(
                text,
                "  {}  {} {} → {}",
                named(&sample.id, sample.variant.as_deref()),
                plain(&sample.metric),
                number::value(sample.before),
                number::value(sample.now)
            );
        }
    }
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

pub(crate) fn history(baseline: &Path) -> Result<ExitCode, Error> {
    let path = history_path(baseline);
    let Some(lines) = input::history(&path)?.filter(|lines| !lines.is_empty()) else {
        return Err(Error::Missing {
            what: "the history",
            path: path.display().to_string(),
            help: "rag-gate baseline update writes it beside the baseline".to_owned(),
        });
    };
    let mut text = String::new();
    let date = |line: &HistoryLine| {
        let at = line.accepted.at.clone().unwrap_or_else(|| "?".to_owned());
        at.split('T').next().unwrap_or("?").to_owned()
    };
    let count = match lines.len() {
        1 => "1 accepted baseline".to_owned(),
        more => format!("{more} accepted baselines"),
    };
    if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
        let _ = writeln!(
            text,
            "{count}, {} to {}\n",
            plain(&date(first)),
            plain(&date(last))
        );
    }
    for (metric, variant) in measured(&lines) {
        let means: Vec<Option<f64>> = lines
            .iter()
            .map(|line| line.metric(&metric, variant.as_deref())?.mean)
            .collect();
        let recent = means
            .get(means.len().saturating_sub(SHOWN)..)
            .unwrap_or(&means);
        let known: Vec<f64> = means.iter().copied().flatten().collect();
        if let (Some(first), Some(last)) = (known.first(), known.last()) {
            let _ = writeln!(
                text,
                "  {:28} {}  {} → {} ({})",
                named(&metric, variant.as_deref()),
                sparkline(recent),
                number::value(*first),
                number::value(*last),
                number::signed(last - first)
            );
        }
    }
    for line in lines.iter().filter(|line| !line.reset.is_empty()) {
        let note = line.accepted.note.as_deref().unwrap_or("no reason given");
        let _ = writeln!(
            text,
            "\n  {}: loss of {} accepted: {}",
            plain(&date(line)),
            plain(&line.reset.join(", ")),
            plain(note)
        );
    }
    console::print(&text)?;
    Ok(ExitCode::Pass)
}

fn read(path: &Path) -> Result<Results, Error> {
    if path.to_str() != Some(input::STDIN) && !path.exists() {
        return Err(Error::Missing {
            what: "the file",
            path: path.display().to_string(),
            help: "name a results file or a baseline".to_owned(),
        });
    }
    input::results(path, Keep::All)
}

/// Every metric and variant that the history knows, in the order of first appearance.
fn measured(lines: &[HistoryLine]) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut add = |metric: &String, variant: Option<&String>| {
        let key = (metric.clone(), variant.cloned());
        if !found.contains(&key) {
            found.push(key);
        }
    };
    for line in lines {
        for metric in line.metrics.keys() {
            add(metric, None);
        }
        for (variant, entry) in &line.variants {
            for metric in entry.metrics.keys() {
                add(metric, Some(variant));
            }
        }
    }
    found
}

fn metric_line(metric: &str, variant: Option<&str>, summary: &Summary) -> String {
    let mean = summary.mean.map_or_else(|| "–".to_owned(), number::value);
    let stderr = summary.stderr.map_or_else(String::new, |stderr| {
        format!(" ± {}", number::value(stderr))
    });
    format!(
        "{:28} {mean}{stderr} ({})",
        named(metric, variant),
        number::denominator(summary.n, summary.failed)
    )
}

fn named(name: &str, variant: Option<&str>) -> String {
    match variant {
        Some(variant) => format!("{} [{}]", plain(name), plain(variant)),
        None => plain(name),
    }
}

/// A bar for each mean between the lowest and the highest of them; a gap where there is none.
fn sparkline(means: &[Option<f64>]) -> String {
    let known = || means.iter().copied().flatten();
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    means
        .iter()
        .map(|mean| match mean {
            None => ' ',
            // A level line is drawn in the middle.
            Some(_) if high - low < 1e-9 => BARS[3],
            Some(mean) => {
                let height = (mean - low) / (high - low) * 7.0;
                let nearest = (0_u8..8).min_by(|a, b| {
                    (f64::from(*a) - height)
                        .abs()
                        .total_cmp(&(f64::from(*b) - height).abs())
                });
                BARS.get(usize::from(nearest.unwrap_or(0)))
                    .copied()
                    .unwrap_or(' ')
            }
        })
        .collect()
}
