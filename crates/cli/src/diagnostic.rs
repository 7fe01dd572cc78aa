//! Errors as a person reads them: what is wrong, the line that is wrong, what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};

use crate::error::Error;

/// The error as text, ending in a line feed.
pub(crate) fn render(error: &Error, colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let message = reporter::plain(&error.to_string());
    // Foreign text in a help breaks no line that we did not break.
    let help = error.help().map(|help| {
        let lines: Vec<String> = help.lines().map(reporter::plain).collect();
        lines.join("\n        ")
    });
    let (name, text, span) = match error {
        Error::Policy { name, text, error } => (name, text, error.span.clone()),
        _ => return without_source(&message, help.as_deref(), colour),
    };
    let name = reporter::plain(name);
    let Some(span) = span.filter(|span| text.get(span.clone()).is_some()) else {
        return without_source(&format!("{name}: {message}"), help.as_deref(), colour);
    };
    let title = Level::ERROR.primary_title(message.as_str());
    let mut group = Group::with_title(title);
    let shown = visible(&without_secrets(text));
    group = group.element(
        Snippet::source(shown.as_str())
            .path(name.as_str())
            .annotation(AnnotationKind::Primary.span(span)),
    );
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    format!("{}\n", renderer.render(&[group]))
}

/// An error that no line of gate.toml is to blame for.
fn without_source(message: &str, help: Option<&str>, colour: bool) -> String {
    let (red, cyan) = (
        AnsiColor::BrightRed.on_default().bold(),
        AnsiColor::BrightCyan.on_default().bold(),
    );
    let styled = |style: Style, word: &str| match colour {
        true => format!("{style}{word}{style:#}"),
        false => word.to_owned(),
    };
    let error = styled(red, "error");
    match help {
        Some(help) => format!("{error}: {message}\n  {}: {help}\n", styled(cyan, "help")),
        None => format!("{error}: {message}\n"),
    }
}

/// gate.toml with what may be a key replaced by as many stars, so that places stay right: somebody may have written the
/// key where its variable's name belongs, and logs are read by many.
fn without_secrets(text: &str) -> String {
    const WORDS: [&str; 6] = [
        "api_key",
        "apikey",
        "authorization",
        "headers",
        "secret",
        "token",
    ];
    let is_secret = |line: &str| {
        let line = line.to_ascii_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    let is_name = |value: &str| {
        let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        value.chars().all(is_part)
    };
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if !is_secret(line) {
            shown.push_str(line);
            continue;
        }
        for (at, part) in line.split(['"', '\'']).enumerate() {
            if at > 0 {
                shown.push('"');
            }
            // Every second part stands in quotes.
            if at % 2 == 1 && !is_name(part) {
                shown.push_str(&"*".repeat(part.len()));
            } else {
                shown.push_str(part);
            }
        }
    }
    shown
}

/// gate.toml with its control characters replaced by ones of the same length, so that places stay right.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\r' => ' ',
            c if c.is_ascii_control() => '?',
            c => c,
        })
        .collect()
}
