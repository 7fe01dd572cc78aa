//! Text from datasets and models is shown as text, whatever it holds.

use gate::verdict::{Code, Verdict};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options as Extensions, Parser, Tag};
use quick_junit::Report;
use unicode_width::UnicodeWidthStr;

use super::fixtures::{blocked, reason};
use crate::{Format, MARKDOWN_MAX_BYTES, Options, render};

const FRAGMENTS: &[&str] = &[
    "@octocat",
    "@org/team",
    "#123",
    "GH-12",
    "org/repo#1",
    "fixes #1",
    "closes org/repo#2",
    "a1b2c3d4e5",
    "http://x.invalid/a",
    "https://x.invalid",
    "www.x.invalid",
    "a@x.invalid",
    "mailto:a@x.invalid",
    "ftp://x",
    "[click](javascript:alert(1))",
    "![x](https://x.invalid/p.png)",
    "[a]: http://x",
    "[^1]",
    "[x][y]",
    "- [ ] task",
    "<img src=x onerror=alert(1)>",
    "<b>bold</b>",
    "<!-- rag-gate:report -->",
    "</details></table><h1>PASS</h1>",
    "<http://x.invalid>",
    "&lt;b&gt;",
    "&#64;octocat",
    "&amp;",
    "|",
    "\\|",
    "a | b | ❌ FAIL |",
    "\n| --- | --- |\n",
    "`",
    "``",
    "```",
    "`code`",
    "~~~",
    "~~gone~~",
    "**bold**",
    "__b__",
    "*i*",
    "_i_",
    "$x$",
    "$$y$$",
    ":tada:",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "# head",
    "\n## ✅ Gate passed\n",
    "1. one",
    "- item",
    "+ item",
    "* item",
    "> quote",
    "---",
    "===",
    "    code",
    "::error::x",
    "::error file=a,line=1::x",
    "\n::set-output name=a::b",
    " ::stop-commands::x",
    "##[error]x",
    "##vso[task.x]",
    "%0A::error::x",
    "a::b",
    ":::::",
    "\x1b[31m",
    "\x1b]8;;http://x\x07",
    "\u{9b}31m",
    "\u{85}",
    "\0",
    "\u{7f}",
    "\u{202e}gnp.exe\u{202c}",
    "\u{2066}x\u{2069}",
    "\u{200e}",
    "\u{200f}",
    "\u{61c}",
    "\u{200b}",
    "\u{200d}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{e0041}\u{e007f}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{fffb}",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "🙂👩\u{200d}👩\u{200d}👧 日本語 العربية",
    "☺\u{fe0f}",
    " ",
    "",
    "  ",
    "\\",
    "\\n",
    "]]>",
    "word",
    "faithfulness 0.790 below 0.80",
    "\u{3000}",
    "\u{a0}",
    "{{x}}",
    "{% x %}",
    "!",
    "!!!",
    "^x^",
];

fn hostile() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        8 => proptest::sample::select(FRAGMENTS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[ -~]{0,12}".prop_map(String::from),
        1 => Just("x".repeat(1000)),
    ];
    let joint = proptest::sample::select(&["", " ", "\n"][..]);
    (proptest::collection::vec(fragment, 0..6), joint).prop_map(|(parts, joint)| parts.join(joint))
}

/// The full fixture with hostile text in every field that holds text.
fn infested(mut next: impl FnMut() -> String) -> Verdict {
    let mut verdict = blocked();
    verdict.gate_id = next();
    verdict.summary = next();
    verdict.tool = next();
    verdict.policy.path = Some(next());
    for reason in verdict.reasons.iter_mut().chain(&mut verdict.warnings) {
        reason.metric = Some(next());
        reason.variant = Some(next());
        reason.slice = Some(next());
        reason.message = next();
    }
    for row in &mut verdict.metrics {
        row.metric = next();
        row.variant = row.variant.as_ref().map(|_| next());
        row.slice = row.slice.as_ref().map(|_| next());
    }
    verdict.metrics[0].aggregate = next();
    for sample in &mut verdict.worst_samples {
        sample.id = next();
        sample.variant = Some(next());
        sample.metric = next();
        sample.reason = Some(next());
    }
    for sample in &mut verdict.failed_samples {
        sample.id = next();
        sample.variant = Some(next());
        sample.metric = next();
        sample.kind = next();
        sample.message = Some(next());
    }
    let base = verdict.base.as_mut().unwrap();
    base.r#ref = next();
    base.commit = next();
    base.found_by = Some(next());
    for change in &mut base.changes {
        change.message = next();
    }
    verdict.provenance.differences = vec![next()];
    verdict.provenance.results =
        Some(serde_json::json!({"commit": next(), "judge": {"model": next()}}));
    verdict.provenance.baseline =
        Some(serde_json::json!({"accepted": {"by": next(), "note": next()}}));
    let mut usage = serde_json::Map::new();
    usage.insert(next(), next().into());
    verdict.usage = Some(usage.into());
    verdict
}

fn is_hidden(current: char) -> bool {
    current != '\n'
        && (current.is_control()
            || matches!(
                current,
                '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                    | '\u{e0000}'..='\u{e0fff}' | '\u{fffe}' | '\u{ffff}'
            ))
}

fn assert_harmless_lines(document: &str) {
    assert_eq!(
        document.chars().find(|&current| is_hidden(current)),
        None,
        "{document}"
    );
    assert!(
        !document.contains("##[") && !document.contains("##vso["),
        "{document}"
    );
    for line in document.lines() {
        assert!(!line.trim_start().starts_with("::"), "{line}");
    }
}

fn assert_text_holds(verdict: &Verdict) {
    let text = render(verdict, Format::Text, &Options::default());
    assert_harmless_lines(&text);
    assert!(!text.contains('<'), "{text}");
    assert!(text.starts_with("BLOCKED  "), "{text}");
    for line in text.lines() {
        assert!(line.width() <= 80, "{line}");
        let ours = [
            "BLOCKED  ",
            "policy ",
            "baseline ",
            "samples ",
            "Why ",
            "Samples ",
            "Warnings",
            "What to do",
        ];
        assert!(
            line.is_empty()
                || line.starts_with(' ')
                || ours.iter().any(|start| line.starts_with(start)),
            "{line}"
        );
    }
    let lists = text.lines().skip_while(|line| *line != "Why it blocks");
    let reasons = lists.filter(|line| line.starts_with("  - ")).count();
    let expected = verdict.reasons.len()
        + verdict.warnings.len()
        + verdict.worst_samples.len()
        + verdict.failed_samples.len();
    assert_eq!(reasons, expected, "{text}");
}

/// Every piece of structure in the document is one that the renderer meant.
fn assert_markdown_holds(verdict: &Verdict) {
    let markdown = render(verdict, Format::Markdown, &Options::default());
    assert!(markdown.len() <= MARKDOWN_MAX_BYTES);
    assert_harmless_lines(&markdown);
    assert!(markdown.starts_with(&crate::marker(&verdict.gate_id)));
    let ours = [
        "<!-- rag-gate:",
        "<details>",
        "</details>",
        "<summary>",
        "</summary>",
    ];
    for (at, _) in markdown.match_indices('<') {
        assert!(
            ours.iter().any(|tag| markdown[at..].starts_with(tag)),
            "{markdown}"
        );
    }
    assert_eq!(markdown.matches("<!--").count(), 1);
    assert_eq!(
        markdown.matches("<details>").count(),
        markdown.matches("</details>").count()
    );
    let (mut cells, mut rows, mut columns, mut headings, mut items) = (0, 0, 0, 0, 0);
    for event in Parser::new_ext(
        &markdown,
        Extensions::all() - Extensions::ENABLE_SMART_PUNCTUATION,
    ) {
        match event {
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Start(Tag::Item) => items += 1,
            Event::Start(Tag::Table(alignments)) => columns = alignments.len(),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                if rows > 0 {
                    assert_eq!(cells, 0, "a row has the wrong number of cells");
                }
                rows += 1;
                cells = columns;
            }
            Event::Start(Tag::TableCell) => cells -= 1,
            Event::Start(Tag::Paragraph | Tag::List(None) | Tag::Strong | Tag::HtmlBlock)
            | Event::End(_)
            | Event::Code(_) => {}
            Event::Html(html) => assert!(ours.iter().any(|tag| html.starts_with(tag)), "{html}"),
            Event::Text(text) => assert_inert(&text),
            other => panic!("{other:?} in\n{markdown}"),
        }
    }
    let calm = 2;
    assert_eq!(
        rows,
        4 + verdict.metrics.len() + verdict.worst_samples.len() + verdict.failed_samples.len()
    );
    assert_eq!(headings, 6, "{markdown}");
    let provenance = 6;
    assert_eq!(
        items,
        1 + verdict.reasons.len() + verdict.warnings.len() + provenance + 1,
        "{markdown}"
    );
    assert!(markdown.contains(&format!("What passed or is off: {calm} rows")));
}

/// Outside code spans nothing is left that GitHub looks for in finished text.
fn assert_inert(text: &str) {
    for taboo in ["@", "://", "www.", "#", "$", "`"] {
        assert!(!text.to_lowercase().contains(taboo), "{taboo} in {text}");
    }
    let is_commit =
        |word: &str| word.len() > 6 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    for word in text.split(' ') {
        assert!(
            !word.to_lowercase().contains("gh-") && !is_commit(word),
            "{word}"
        );
        assert!(word.matches(':').count() < 2, "{word}");
    }
}

fn assert_junit_holds(verdict: &Verdict) {
    let document = render(verdict, Format::Junit, &Options::default());
    assert_harmless_lines(&document);
    let report = Report::deserialize_from_str(&document).unwrap();
    assert_eq!(report.test_suites.len(), 1);
    assert!(report.test_suites[0].test_cases.len() >= verdict.metrics.len());
    assert!(report.failures + report.errors > 0);
}

fn assert_annotations_hold(verdict: &Verdict) {
    let commands = render(verdict, Format::Github, &Options::default());
    let count = |level: &str| {
        commands
            .lines()
            .filter(|line| line.starts_with(level))
            .count()
    };
    assert_eq!(count("::error file="), verdict.reasons.len());
    assert_eq!(count("::warning file="), verdict.warnings.len());
    assert_eq!(
        commands.lines().count(),
        verdict.reasons.len() + verdict.warnings.len()
    );
    for line in commands.lines() {
        let (properties, data) = line[2..].split_once("::").unwrap();
        assert!(!properties.contains(':'), "{line}");
        assert!(properties.matches(',').count() <= 2, "{line}");
        assert!(!data.contains("%0A") && !data.contains('\r'), "{line}");
    }
    assert!(!commands.chars().any(is_hidden));
}

fn assert_all_hold(verdict: &Verdict) {
    assert_text_holds(verdict);
    assert_markdown_holds(verdict);
    assert_junit_holds(verdict);
    assert_annotations_hold(verdict);
    let json = render(verdict, Format::Json, &Options::default());
    assert_harmless_lines(&json);
    assert_eq!(&serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
}

#[test]
fn each_fragment_alone_is_harmless_everywhere() {
    for fragment in FRAGMENTS {
        assert_all_hold(&infested(|| (*fragment).to_owned()));
    }
}

#[test]
fn endless_text_is_cut() {
    assert_all_hold(&infested(|| "x@".repeat(10_000)));
    assert_all_hold(&infested(|| "\u{301}".repeat(10_000)));
    let text = render(
        &infested(|| "`".repeat(10_000)),
        Format::Text,
        &Options::default(),
    );
    assert!(text.len() < 20_000, "{}", text.len());
}

#[test]
fn a_message_cannot_hide_in_an_annotation() {
    let mut verdict = blocked();
    verdict.reasons = vec![reason(
        Code::Drift,
        None,
        None,
        None,
        "x\n::error::y%0A",
        None,
    )];
    verdict.warnings.clear();
    let commands = render(&verdict, Format::Github, &Options::default());
    assert_eq!(
        commands,
        "::error file=gate.toml,title=rag-gate%3A drift::x\\n∷error::y%250A\n"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn mixed_hostile_text_is_harmless_everywhere(texts in proptest::collection::vec(hostile(), 1..24)) {
        let mut texts = texts.iter().cycle();
        assert_all_hold(&infested(|| texts.next().cloned().unwrap_or_default()));
    }
}
