//! Text for a terminal or a log: the verdict first, then why, then the details.

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use gate::number;
use gate::verdict::{FailedSample, MetricRow, Outcome, Reason, Status, Verdict, WorstSample};
use unicode_width::UnicodeWidthStr;

use crate::Options;
use crate::cells::{
    aggregate, before, belongs_to, change, code_name, count, limits, now, outcome_word,
    policy_place, provenance, reasons_title, scalar, short_commit, stand_in_judge, status_word,
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
    metrics(&mut page, verdict);
    let title = reasons_title(verdict.outcome);
    reasons(&mut page, title, verdict, &verdict.reasons);
    worst_samples(&mut page, &verdict.worst_samples, options.show_text);
    failed_samples(&mut page, &verdict.failed_samples, options.show_text);
    reasons(&mut page, "Warnings", verdict, &verdict.warnings);
    let counts = verdict.reasons.iter().find(|reason| !reason.pending);
    if let Some(first) = counts.or(verdict.reasons.first()) {
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
    if let Some(judge) = stand_in_judge(verdict) {
        page.labelled("judge", judge);
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
        let found = base
            .found_by
            .as_deref()
            .map_or_else(|| shown(&base.r#ref, NAME), |by| shown(by, NAME));
        format!(" of {}, {found}", short_commit(&base.commit))
    });
    let confidence = number::percent(policy.confidence);
    format!("{file}{from}, rule {} at {confidence}", rule_word(verdict))
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

fn metrics(page: &mut Page, verdict: &Verdict) {
    let rows = verdict.metrics.as_slice();
    if rows.is_empty() {
        return;
    }
    page.blank();
    let shown_rows = most_telling(rows);
    let lines = lay_out_within(&shown_rows, &change_title(verdict), page.width);
    for line in lines {
        let line = if page.colour { coloured(&line) } else { line };
        page.line(line.trim_end());
    }
    page.rest(rows.len(), MAX_ROWS);
}

/// The rows that a table has room for: what needs attention before what passed, in the order of the verdict.
fn most_telling(rows: &[MetricRow]) -> Vec<MetricRow> {
    let gravity = |row: &MetricRow| match (row.status, &row.slice) {
        (Status::Block, _) => 0,
        (Status::Undecided, _) => 1,
        (_, None) => 2,
        (Status::Warn, Some(_)) => 3,
        (Status::Pass | Status::Off, Some(_)) => 4,
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| rows.get(*at).map(gravity));
    order.truncate(MAX_ROWS);
    order.sort_unstable();
    order
        .into_iter()
        .filter_map(|at| rows.get(at).cloned())
        .collect()
}

/// `change [95%]`, when there is an interval to explain.
fn change_title(verdict: &Verdict) -> String {
    if verdict.metrics.iter().any(|row| row.ci.is_some()) {
        format!("change [{}]", number::percent(verdict.policy.confidence))
    } else {
        "change".to_owned()
    }
}

/// How the table spends its columns.
#[derive(Clone, Copy)]
struct Layout {
    /// Whether intervals, denominators and limits stand below one another.
    stacked: bool,
    /// Spaces before the first column and between columns.
    gap: u16,
    /// Columns for the names of metrics; longer ones are broken.
    name: usize,
}

/// The most spacious table that fits; the names give way last.
fn lay_out_within(rows: &[MetricRow], change_title: &str, width: usize) -> Vec<String> {
    let layouts = [(false, 2), (true, 2), (true, 1)].map(|(stacked, gap)| Layout {
        stacked,
        gap,
        name: usize::MAX,
    });
    let mut spacious = layouts
        .into_iter()
        .map(|layout| lay_out(rows, change_title, layout));
    if let Some(lines) = spacious.find(|lines| widest(lines) <= width) {
        return lines;
    }
    let tight = |name| {
        let layout = Layout {
            stacked: true,
            gap: 1,
            name,
        };
        lay_out(rows, change_title, layout)
    };
    let narrowest = tight(MIN_NAME);
    let spare = width.saturating_sub(widest(&narrowest));
    (MIN_NAME..=MIN_NAME + spare)
        .rev()
        .map(tight)
        .find(|lines| widest(lines) <= width)
        .unwrap_or(narrowest)
}

fn widest(lines: &[String]) -> usize {
    let widths = lines.iter().map(|line| line.trim_end().width());
    widths.max().unwrap_or(0)
}

fn lay_out(rows: &[MetricRow], change_title: &str, layout: Layout) -> Vec<String> {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(["metric", "now", "before", change_title, "limit", "verdict"].map(left));
    let mut above = None;
    for row in rows {
        let cells = [
            name_lines(row, above, layout).join("\n"),
            now(row),
            joined(before(row), layout),
            joined(change(row), layout),
            limits(row).join(if layout.stacked { "\n" } else { ", " }),
            status_word(row.status).to_owned(),
        ];
        table.add_row(cells.map(left));
        above = Some(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { layout.gap } else { 0 }, layout.gap));
    }
    table.lines().collect()
}

fn left(content: impl ToString) -> Cell {
    Cell::new(content).set_alignment(CellAlignment::Left)
}

fn joined((first, second): (String, Option<String>), layout: Layout) -> String {
    let separator = if layout.stacked { "\n" } else { " " };
    match second {
        Some(second) => format!("{first}{separator}{second}"),
        None => first,
    }
}

/// The slice under its metric; where there is no room for both, the value is kept, which tells slices apart.
fn slice_name(slice: &str, columns: usize) -> String {
    let whole = format!("  {slice}");
    match slice.split_once('=') {
        Some((_, value)) if columns_of(&whole) > columns => cut(&format!("  …={value}"), columns),
        _ => cut(&whole, columns),
    }
}

fn name_lines(row: &MetricRow, above: Option<&MetricRow>, layout: Layout) -> Vec<String> {
    let slice = row.slice.as_deref().map(|slice| shown(slice, NAME));
    if let (Some(slice), true) = (&slice, belongs_to(row, above)) {
        return vec![slice_name(slice, layout.name)];
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
    let below = variant.into_iter().chain(slice);
    if layout.stacked {
        let below = below.map(|line| slice_name(&line, layout.name));
        broken(&name, layout.name)
            .into_iter()
            .chain(below)
            .collect()
    } else {
        vec![below.fold(name, |name, part| format!("{name} {part}"))]
    }
}

/// A long name on two lines, the second cut: broken where its words meet, else wherever it must.
fn broken(name: &str, columns: usize) -> Vec<String> {
    if columns_of(name) <= columns {
        return vec![name.to_owned()];
    }
    let mut used = 0;
    let mut at = 0;
    let mut joint = None;
    for (index, current) in name.char_indices() {
        used += char_columns(current);
        if used > columns {
            break;
        }
        at = index + current.len_utf8();
        if matches!(current, '_' | '.' | '-' | ' ' | '/') {
            joint = Some(at);
        }
    }
    let (first, second) = name.split_at(joint.unwrap_or(at));
    let second = format!("  {}", second.trim_start_matches([' ', ':']));
    vec![first.to_owned(), cut(&second, columns)]
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
        head.ends_with(' ')
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
        let mut rest = word.chars();
        while let Some(current) = rest.next() {
            let width = char_columns(current);
            let colons = rest.clone().take_while(|&next| next == ':').count();
            let breakable = width > 0 && current != ':' && used > indent;
            if breakable && used + width + colons > self.width {
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
