//! Errors as a person reads them: what is wrong, the line that is wrong, what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::error::Error;

/// The error as text, ending in a line feed.
pub(crate) fn render(error: &Error, colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let message = reporter::plain(&error.to_string());
    let help = error.help().map(reporter::plain);
    let (name, text, span) = match error {
        Error::Policy { name, text, error } => (name, text, error.span.clone()),
        _ => {
            let title = Level::ERROR.primary_title(message.as_str());
            let mut group = Group::with_title(title);
            if let Some(help) = &help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            return format!("{}\n", renderer.render(&[group]));
        }
    };
    let name = reporter::plain(name);
    let title = Level::ERROR.primary_title(message.as_str());
    let mut group = Group::with_title(title);
    let shown = visible(text);
    if let Some(span) = span.filter(|span| text.get(span.clone()).is_some()) {
        group = group.element(
            Snippet::source(shown.as_str())
                .path(name.as_str())
                .annotation(AnnotationKind::Primary.span(span)),
        );
    } else {
        group = group.element(annotate_snippets::Origin::path(name.as_str()));
    }
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    format!("{}\n", renderer.render(&[group]))
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
