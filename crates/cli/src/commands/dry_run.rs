//! `rag-gate run --dry-run`: what a run would call, and what it would cost.

use std::fmt::Write;

use runner::survey::{Survey, survey};

use super::run::judge_name;
use super::units::plural;
use crate::console;
use crate::error::Error;
use crate::evaluation::{Configured, Reask, duration};
use crate::exit_code::ExitCode;

pub(crate) fn run(configured: &Configured) -> Result<ExitCode, Error> {
    let provider = &configured.work.judge.provider;
    let survey = survey(
        &configured.work.dataset,
        &configured.work.metrics,
        provider.identity(),
        configured
            .work
            .embeddings
            .as_ref()
            .map(|embeddings| embeddings.provider.identity()),
        &configured.work.cache,
    )
    .map_err(|error| Error::Dataset {
        path: configured.source.path.clone().unwrap_or_default(),
        error,
    })?;
    console::print(&text(configured, &survey)).map(|()| ExitCode::Pass)
}

fn text(configured: &Configured, survey: &Survey) -> String {
    let in_place =
        configured.work.judge.provider.in_place() && configured.work.embeddings.is_none();
    let mut rows: Vec<(&str, String)> = vec![
        ("judge", judge_name(configured)),
        (
            "scores",
            format!(
                "{} ({} samples × {} metrics), {} of them not applicable",
                survey.scores,
                configured.work.dataset.len(),
                configured.work.metrics.len(),
                survey.not_applicable
            ),
        ),
        (
            "questions",
            format!(
                "{}: {} cached, {} equal to another, {} to ask",
                survey.requests, survey.cached, survey.shared, survey.calls
            ),
        ),
    ];
    if survey.later > 0 {
        rows.push((
            "",
            format!(
                "at most: {} of them depend on an earlier answer",
                survey.later
            ),
        ));
    }
    if survey.runs > 0 {
        let programs = configured
            .work
            .metrics
            .iter()
            .filter(|metric| metric.program().is_some())
            .count();
        rows.push((
            "programs",
            format!(
                "{} by {}, in each run",
                plural(usize::try_from(survey.runs).unwrap_or(usize::MAX), "score"),
                plural(programs, "program")
            ),
        ));
    }
    if in_place {
        rows.push((
            "cost",
            "none: this judge answers on this machine".to_owned(),
        ));
    } else {
        rows.push((
            "tokens",
            format!(
                "about {} of questions, {} of answers",
                survey.prompt_tokens, survey.completion_tokens
            ),
        ));
        rows.push(("cost", cost(configured, survey)));
        rows.push(("time", time(configured, survey)));
    }
    if let Some((answers, metrics)) = configured.reask.as_ref().map(Reask::size) {
        rows.push((
            "pinned",
            format!("{answers} answers × {metrics} metrics are asked again, beyond these numbers"),
        ));
    }
    let mut text = String::new();
    for (label, value) in rows {
        let _ = writeln!(text, "{label:<10} {value}");
    }
    text
}

fn cost(configured: &Configured, survey: &Survey) -> String {
    let price = configured.work.judge.settings.price.unwrap_or_default();
    match (survey.calls, price.prompt, price.completion) {
        (0, _, _) => "nothing".to_owned(),
        (_, Some(prompt), Some(completion)) => {
            let dollars =
                survey.prompt_tokens as f64 * prompt + survey.completion_tokens as f64 * completion;
            format!("about ${:.2}", dollars / 1e6)
        }
        _ => "unknown (give [judge.price] in gate.toml)".to_owned(),
    }
}

fn time(configured: &Configured, survey: &Survey) -> String {
    if survey.calls == 0 {
        return "no call".to_owned();
    }
    let settings = &configured.work.judge.settings;
    let k = settings.concurrency;
    let minutes = |amount: u64, limit: Option<u32>| {
        limit.map_or(0.0, |limit| amount as f64 / f64::from(limit))
    };
    let tokens = survey.prompt_tokens + survey.completion_tokens;
    let by_limits = 60.0 * minutes(survey.calls, settings.rpm).max(minutes(tokens, settings.tpm));
    if survey.cached == 0 && by_limits > 1.0 {
        return format!("at least {} by rpm and tpm", duration(by_limits));
    }
    if survey.cached == 0 {
        return format!(
            "unknown: no cached answer tells how long a call takes (rag-gate plan --latency 2s --concurrency {k})"
        );
    }
    let mean = survey.cached_latency_s / survey.cached as f64;
    let total = mean * survey.calls as f64 / k as f64;
    format!(
        "about {} at {k} calls at once, {} a call as in the cache",
        duration(total.max(mean).max(by_limits)),
        duration(mean)
    )
}
