//! What the documents look like, and what holds for each of them.

use gate::verdict::{Code, Verdict};
use unicode_width::UnicodeWidthStr;

use super::fixtures::{blocked, passed, reason, undecided};
use crate::{Format, MARKDOWN_MAX_BYTES, Options, render};

fn text(verdict: &Verdict) -> String {
    render(verdict, Format::Text, &Options::default())
}

fn markdown(verdict: &Verdict) -> String {
    render(verdict, Format::Markdown, &Options::default())
}

#[test]
fn every_format_shows_the_verdicts_as_accepted() {
    for (name, verdict) in [
        ("blocked", blocked()),
        ("passed", passed()),
        ("undecided", undecided()),
    ] {
        for format in Format::ALL {
            insta::assert_snapshot!(
                format!("{name}_{format}"),
                render(&verdict, format, &Options::default())
            );
        }
    }
}

#[test]
fn no_line_of_text_is_longer_than_the_terminal_is_wide() {
    for width in [80, 100, 160] {
        for verdict in [blocked(), passed(), undecided()] {
            let options = Options {
                width,
                ..Options::default()
            };
            for line in render(&verdict, Format::Text, &options).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_wide_terminal_has_each_row_on_one_line() {
    let options = Options {
        width: 140,
        ..Options::default()
    };
    let wide = render(&blocked(), Format::Text, &options);
    assert!(wide.contains("-0.258 [-0.334, -0.182]"), "{wide}");
    assert!(wide.contains("≥ 0.80, drop ≤ 0.03"), "{wide}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let options = Options {
        colour: true,
        ..Options::default()
    };
    for verdict in [blocked(), passed(), undecided()] {
        let coloured = render(&verdict, Format::Text, &options);
        assert!(coloured.starts_with("\x1b["), "{coloured}");
        let mut plain = String::new();
        for (index, part) in coloured.split('\x1b').enumerate() {
            let after = part.split_once('m').map_or(part, |(_, after)| after);
            plain.push_str(if index == 0 { part } else { after });
        }
        assert_eq!(plain, text(&verdict));
    }
}

#[test]
fn messages_can_be_searched_for_in_text_and_markdown() {
    let verdict = blocked();
    for document in [text(&verdict), markdown(&verdict)] {
        assert!(document.contains("faithfulness 0.674 below the minimum 0.80"));
        assert!(document.contains("0.674 (106/107)"));
        assert!(document.contains("gate.toml:12"));
    }
}

#[test]
fn what_was_said_about_samples_can_be_left_out() {
    let options = Options {
        show_text: false,
        ..Options::default()
    };
    for format in [Format::Text, Format::Markdown] {
        let document = render(&blocked(), format, &options);
        assert!(document.contains("q-0412"));
        assert!(!document.contains("refund") && !document.contains("no answer in 60 s"));
    }
}

#[test]
fn markdown_is_cut_from_the_end() {
    let mut verdict = blocked();
    let samples = vec![verdict.failed_samples[0].clone(); 2000];
    verdict.failed_samples = samples;
    let cut = markdown(&verdict);
    assert!(cut.len() <= MARKDOWN_MAX_BYTES && cut.len() > MARKDOWN_MAX_BYTES - 1000);
    assert!(cut.contains("of 2000 cut") && !cut.contains("Usage"));
    assert!(cut.contains("faithfulness 0.674 below the minimum 0.80"));

    verdict.metrics = vec![verdict.metrics[0].clone(); 2000];
    assert!(markdown(&verdict).len() <= MARKDOWN_MAX_BYTES);
    verdict.reasons = vec![verdict.reasons[0].clone(); 20_000];
    assert!(markdown(&verdict).len() <= MARKDOWN_MAX_BYTES);
}

#[test]
fn annotations_stop_at_ten_and_say_how_many_more() {
    let mut verdict = passed();
    verdict.reasons = vec![reason(Code::Drift, None, None, None, "drifted", Some(3)); 12];
    verdict.warnings = vec![reason(Code::Assumed, None, None, None, "assumed", None); 11];
    let commands = render(&verdict, Format::Github, &Options::default());
    assert_eq!(commands.lines().count(), 21);
    assert_eq!(
        commands.lines().last(),
        Some("::notice title=rag-gate::2 more reasons and 1 more warning in the report")
    );
}

#[test]
fn json_reads_back_as_the_same_verdict() {
    for verdict in [blocked(), passed(), undecided()] {
        let document = render(&verdict, Format::Json, &Options::default());
        assert!(document.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<Verdict>(&document).unwrap(), verdict);
    }
}

#[test]
fn junit_is_never_green_when_the_verdict_is_not() {
    let mut verdict = undecided();
    verdict.reasons.clear();
    verdict.metrics.clear();
    let document = render(&verdict, Format::Junit, &Options::default());
    assert!(document.contains("type=\"UNDECIDED\""), "{document}");
}

#[test]
fn a_refused_input_is_one_reason_in_every_format() {
    let message = "baseline.json: expected a value at line 3 column 7";
    let verdict = Verdict::refused("rag-gate", Code::UnreadableInput, message.to_owned(), 3);
    for format in Format::ALL {
        let document = render(&verdict, format, &Options::default());
        assert!(document.contains(message), "{document}");
    }
}

#[test]
fn formats_are_known_by_their_names() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "htlm".parse::<Format>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown format `htlm`, expected one of text, markdown, json, junit, github"
    );
}

#[test]
fn renderers_do_no_arithmetic() {
    for source in [
        include_str!("../text.rs"),
        include_str!("../markdown.rs"),
        include_str!("../junit.rs"),
        include_str!("../annotations.rs"),
        include_str!("../cells.rs"),
    ] {
        for banned in [
            "as f64", ".abs()", ".round()", ".mul_add", ".sqrt", ".powi", ".min(", " * ", " / ",
        ] {
            let found = source
                .lines()
                .find(|line| !line.trim_start().starts_with("//") && line.contains(banned));
            assert_eq!(found, None, "a renderer computes: {banned}");
        }
    }
}
