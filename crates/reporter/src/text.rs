//! Text for a terminal or a log: the verdict first, then why, then the details.

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use gate::number;
use gate::verdict::{FailedSample, MetricRow, Outcome, Reason, Status, Verdict, WorstSample};

use crate::Options;
use crate::cells::{
    aggregate, before, belongs_to, change, code_name, count, limits, now, outcome_word,
    policy_place, provenance, reasons_title, scalar, short_commit, status_word,
};
use crate::escape::{EXCERPT, MESSAGE, NAME, char_columns, columns_of, cut, shown};

/// Below this nothing can be laid out.
const MIN_WIDTH: usize = 60;
/// Narrowest column for the names of metrics.
const MIN_NAME: usize = 12;
/// Columns of the labels below the first line.
const LABEL: usize = 11;
/// Longest lists; the JSON verdict has everything.
const MAX_ROWS: usize = 200;
const MAX_REASONS: usize = 50;
const MAX_SAMPLES: usize = 10;

/// The report, ending in a line break.
pub(crate) fn render(verdict: &Verdict, options: &Options) -> String {
    let mut page = Page {
        text: String::new(),
        width: options.width.max(MIN_WIDTH),
        colour: options.colour,
    };
    head(&mut page, verdict);
    metrics(&mut page, &verdict.metrics);
    let title = reasons_title(verdict.outcome);
    reasons(&mut page, title, verdict, &verdict.reasons);
    worst_samples(&mut page, &verdict.worst_samples, options.show_text);
    failed_samples(&mut page, &verdict.failed_samples, options.show_text);
    reasons(&mut page, "Warnings", verdict, &verdict.warnings);
    if let Some(first) = verdict.reasons.first() {
        let code = code_name(first.code);
        page.blank();
        page.line(&format!("What to do: rag-gate explain {code}"));
    }
    page.text
}

fn head(page: &mut Page, verdict: &Verdict) {
    let word = outcome_word(verdict.outcome);
    let lead = format!("{word}  ");
    let sentence = format!(
        "{}: {}",
        shown(&verdict.gate_id, NAME),
        shown(&verdict.summary, MESSAGE)
    );
    let start = page.text.len();
    page.wrap(&lead, &sentence, &[]);
    if page.colour {
        let styled = paint(word, outcome_style(verdict.outcome));
        page.text.replace_range(start..start + word.len(), &styled);
    }
    let changes = verdict.base.iter().flat_map(|base| &base.changes);
    for change in changes.take(MAX_REASONS) {
        page.wrap("  ! ", &shown(&change.message, MESSAGE), &[]);
    }
    page.blank();
    page.labelled("policy", &policy(verdict));
    if let Some(baseline) = baseline(verdict) {
        page.labelled("baseline", &baseline);
    }
    if let Some(samples) = &verdict.samples {
        let counts = [
            (samples.common, "in common"),
            (samples.added, "added"),
            (samples.removed, "removed"),
            (samples.rewritten, "rewritten"),
        ];
        let said: Vec<String> = counts
            .into_iter()
            .filter(|&(count, what)| count > 0 || what == "in common")
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        page.labelled("samples", &said.join(", "));
    }
}

fn policy(verdict: &Verdict) -> String {
    let policy = &verdict.policy;
    let file = match &policy.path {
        Some(path) => shown(path, NAME),
        None => "no gate.toml: defaults".to_owned(),
    };
    let from = verdict.base.as_ref().map_or_else(String::new, |base| {
        format!(
            " of {} ({})",
            shown(&base.r#ref, NAME),
            short_commit(&base.commit)
        )
    });
    let confidence = number::percent(policy.confidence);
    format!(
        "{file}{from}; rule {}, confidence {confidence}",
        rule_word(verdict)
    )
}

fn rule_word(verdict: &Verdict) -> String {
    serde_json::to_value(verdict.policy.rule).map_or_else(|_| String::new(), |rule| scalar(&rule))
}

fn baseline(verdict: &Verdict) -> Option<String> {
    let commit = provenance(verdict.provenance.baseline.as_ref(), &["commit"])
        .map(|commit| format!("commit {}", short_commit(&scalar(commit))));
    let age = verdict
        .base
        .as_ref()
        .and_then(|base| base.baseline_age_days);
    let age = age.map(|days| format!("accepted {} ago", count(days, "day")));
    let said: Vec<String> = commit.into_iter().chain(age).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn metrics(page: &mut Page, rows: &[MetricRow]) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    let shown_rows = rows.get(..MAX_ROWS).unwrap_or(rows);
    let on_one_line = lay_out(shown_rows, Stacked(false), usize::MAX);
    let fits = on_one_line
        .iter()
        .all(|line| columns_of(line.trim_end()) <= page.width);
    let lines = if fits {
        on_one_line
    } else {
        let natural = lay_out(shown_rows, Stacked(true), MIN_NAME);
        let widest = natural.iter().map(|line| columns_of(line.trim_end())).max();
        let spare = page.width.saturating_sub(widest.unwrap_or(0));
        lay_out(shown_rows, Stacked(true), MIN_NAME + spare)
    };
    for line in lines {
        let line = if page.colour { coloured(&line) } else { line };
        page.line(line.trim_end());
    }
    page.rest(rows.len(), MAX_ROWS);
}

/// Whether intervals, denominators and limits stand below one another.
#[derive(Clone, Copy)]
struct Stacked(bool);

/// The lines of the table, all of the same width, so that the last column can be found again.
fn lay_out(rows: &[MetricRow], stacked: Stacked, name_columns: usize) -> Vec<String> {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(["metric", "now", "before", "change", "limit", "verdict"].map(left));
    let mut above = None;
    for row in rows {
        let name = name_lines(row, above, stacked);
        let name: Vec<String> = name.iter().map(|line| cut(line, name_columns)).collect();
        let cells = [
            name.join("\n"),
            now(row),
            joined(before(row), stacked),
            joined(change(row), stacked),
            limits(row).join(if stacked.0 { "\n" } else { ", " }),
            status_word(row.status).to_owned(),
        ];
        table.add_row(cells.map(left));
        above = Some(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().collect()
}

fn left(content: impl ToString) -> Cell {
    Cell::new(content).set_alignment(CellAlignment::Left)
}

fn joined((first, second): (String, Option<String>), stacked: Stacked) -> String {
    let separator = if stacked.0 { "\n" } else { " " };
    match second {
        Some(second) => format!("{first}{separator}{second}"),
        None => first,
    }
}

fn name_lines(row: &MetricRow, above: Option<&MetricRow>, stacked: Stacked) -> Vec<String> {
    let slice = row.slice.as_deref().map(|slice| shown(slice, NAME));
    if let (Some(slice), true) = (&slice, belongs_to(row, above)) {
        return vec![format!("  {slice}")];
    }
    let name = shown(&row.metric, NAME);
    let name = match aggregate(row) {
        Some(aggregate) => format!("{name} {aggregate}"),
        None => name,
    };
    let variant = row
        .variant
        .as_deref()
        .map(|variant| format!("[{}]", shown(variant, NAME)));
    let below: Vec<String> = variant.into_iter().chain(slice).collect();
    if stacked.0 {
        let below = below.into_iter().map(|line| format!("  {line}"));
        std::iter::once(name).chain(below).collect()
    } else {
        vec![
            below
                .into_iter()
                .fold(name, |name, part| format!("{name} {part}")),
        ]
    }
}

/// Colours the word in the last column, which is as wide as its header or its longest word.
fn coloured(line: &str) -> String {
    const WORDS: [Status; 5] = [
        Status::Pass,
        Status::Warn,
        Status::Block,
        Status::Undecided,
        Status::Off,
    ];
    let line = line.trim_end();
    let found = WORDS.into_iter().find_map(|status| {
        let head = line.strip_suffix(status_word(status))?;
        head.ends_with("  ")
            .then(|| format!("{head}{}", paint(status_word(status), status_style(status))))
    });
    found.unwrap_or_else(|| line.to_owned())
}

fn reasons(page: &mut Page, title: &str, verdict: &Verdict, reasons: &[Reason]) {
    if reasons.is_empty() {
        return;
    }
    page.title(title);
    for reason in reasons.iter().take(MAX_REASONS) {
        let pending = reason
            .pending
            .then(|| "pending: too little was measured".to_owned());
        let place = policy_place(verdict, reason.policy_line);
        let notes: Vec<String> = pending.into_iter().chain(place).collect();
        let notes = if notes.is_empty() {
            vec![]
        } else {
            vec![format!("({})", notes.join(", "))]
        };
        page.wrap("  - ", &shown(&reason.message, MESSAGE), &notes);
    }
    page.rest(reasons.len(), MAX_REASONS);
}

fn worst_samples(page: &mut Page, samples: &[WorstSample], show_text: bool) {
    if samples.is_empty() {
        return;
    }
    page.title("Samples that fell most");
    for sample in samples.iter().take(MAX_SAMPLES) {
        let (before, now) = number::pair(sample.before, sample.now);
        let fell = format!("{} {before} → {now}", shown(&sample.metric, NAME));
        page.sample(&sample.id, sample.variant.as_deref(), &fell);
        if let (Some(reason), true) = (&sample.reason, show_text) {
            page.wrap("      judge: ", &shown(reason, EXCERPT), &[]);
        }
    }
    page.rest(samples.len(), MAX_SAMPLES);
}

fn failed_samples(page: &mut Page, samples: &[FailedSample], show_text: bool) {
    if samples.is_empty() {
        return;
    }
    page.title("Samples without a score");
    for sample in samples.iter().take(MAX_SAMPLES) {
        let what = format!(
            "{} {}",
            shown(&sample.metric, NAME),
            shown(&sample.kind, NAME)
        );
        let what = match (&sample.message, show_text) {
            (Some(message), true) => format!("{what}: {}", shown(message, EXCERPT)),
            _ => what,
        };
        page.sample(&sample.id, sample.variant.as_deref(), &what);
    }
    page.rest(samples.len(), MAX_SAMPLES);
}

/// The text so far and what is needed to continue it.
struct Page {
    text: String,
    width: usize,
    colour: bool,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        self.blank();
        let title = if self.colour {
            paint(title, Style::new().bold())
        } else {
            title.to_owned()
        };
        self.line(&title);
    }

    fn labelled(&mut self, label: &str, text: &str) {
        self.wrap(&format!("{label:LABEL$}"), text, &[]);
    }

    fn sample(&mut self, id: &str, variant: Option<&str>, what: &str) {
        let id = shown(id, crate::escape::ID);
        let named = match variant {
            Some(variant) => format!("{id} [{}]", shown(variant, NAME)),
            None => id,
        };
        self.wrap("  - ", &format!("{named}  {what}"), &[]);
    }

    /// Says how much of a list is not shown.
    fn rest(&mut self, total: usize, limit: usize) {
        let more = total.saturating_sub(limit);
        if more > 0 {
            self.line(&format!("  … and {more} more in the JSON verdict"));
        }
    }

    /// Writes `text` behind `lead`, wrapped at the width below its own start; `notes` are not broken.
    fn wrap(&mut self, lead: &str, text: &str, notes: &[String]) {
        let indent = columns_of(lead);
        let mut used = indent;
        self.text.push_str(lead);
        let mut pending_space = false;
        for word in text.split(' ').chain(notes.iter().map(String::as_str)) {
            let width = columns_of(word);
            let space = usize::from(pending_space);
            if pending_space && used + space + width > self.width {
                self.next_line(indent);
                used = indent;
            } else if pending_space {
                self.text.push(' ');
                used += 1;
            }
            used = self.word(word, used, indent);
            pending_space = true;
        }
        self.trim_line();
        self.text.push('\n');
    }

    /// Writes a word, broken only where it is longer than a line, and never before a colon: `::` at the start of a line
    /// is a workflow command.
    fn word(&mut self, word: &str, mut used: usize, indent: usize) -> usize {
        for current in word.chars() {
            let width = char_columns(current);
            if width > 0 && current != ':' && used + width > self.width && used > indent {
                self.next_line(indent);
                used = indent;
            }
            self.text.push(current);
            used += width;
        }
        used
    }

    fn next_line(&mut self, indent: usize) {
        self.trim_line();
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    fn trim_line(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
    }
}

fn paint(word: &str, style: Style) -> String {
    format!("{style}{word}{style:#}")
}

fn outcome_style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Pass => AnsiColor::Green.on_default().bold(),
        Outcome::Block => AnsiColor::Red.on_default().bold(),
        Outcome::Undecided => AnsiColor::Yellow.on_default().bold(),
    }
}

fn status_style(status: Status) -> Style {
    match status {
        Status::Pass => AnsiColor::Green.on_default(),
        Status::Warn | Status::Undecided => AnsiColor::Yellow.on_default(),
        Status::Block => AnsiColor::Red.on_default().bold(),
        Status::Off => Style::new().dimmed(),
    }
}
