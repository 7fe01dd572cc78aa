//! Instructions from a template: those built in, and those of a user.

use std::fmt;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, UndefinedBehavior, Value, context};

/// The name under which a template is kept; no other can be reached from it.
const NAME: &str = "prompt";

/// Steps that a template may take, so that a loop has an end.
const FUEL: u64 = 100_000;

/// Longest instructions, in bytes.
const LONGEST: usize = 64 << 10;

/// All that a template can say.
const VARIABLES: [&str; 8] = [
    "anchors", "criteria", "form", "high", "language", "low", "note", "steps",
];

/// What a template fills in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    /// The criteria or the question of gate.toml; empty where there are none.
    pub(crate) criteria: String,
    /// Lowest and highest grade.
    pub(crate) scale: [i64; 2],
    /// What grades mean, the highest first.
    pub(crate) anchors: Vec<(i64, String)>,
    /// How to grade, step by step.
    pub(crate) steps: Vec<String>,
    /// The form of the answer.
    pub(crate) form: String,
}

/// A template that can be rendered.
#[derive(Debug)]
pub(super) struct Template {
    environment: Environment<'static>,
    /// True when it says something else for another language.
    pub(super) has_language: bool,
}

/// What is wrong with a template, and in which of its lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    line: Option<usize>,
    problem: String,
}

impl Wrong {
    /// A problem of the whole template.
    pub(super) fn of_all(problem: impl Into<String>) -> Wrong {
        Wrong {
            line: None,
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        let detail = error.detail().map(str::to_owned);
        Wrong {
            line: error.line(),
            problem: detail.unwrap_or_else(|| error.kind().to_string()),
        }
    }
}

impl Template {
    pub(super) fn new(source: &str) -> Result<Template, Wrong> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()?,
        );
        environment.set_fuel(Some(FUEL));
        environment.add_template_owned(NAME, source.to_owned())?;
        let named = environment.get_template(NAME)?.undeclared_variables(false);
        let globals: Vec<String> = environment
            .globals()
            .map(|(name, _)| name.to_owned())
            .collect();
        let mut unknown: Vec<&String> = named
            .iter()
            .filter(|name| !VARIABLES.contains(&name.as_str()) && !globals.contains(name))
            .collect();
        unknown.sort();
        if let Some(unknown) = unknown.first() {
            return Err(Wrong {
                line: source
                    .lines()
                    .position(|line| line.contains(unknown.as_str()))
                    .map(|index| index + 1),
                problem: format!(
                    "there is no `{unknown}`; a prompt has {}",
                    VARIABLES.join(", ")
                ),
            });
        }
        let has_language = named.contains("language");
        Ok(Template {
            environment,
            has_language,
        })
    }

    /// The instructions. `note` and the form of the answer stand at their end where the template leaves them out.
    pub(super) fn render(
        &self,
        values: &Values,
        note: &str,
        language: Option<&str>,
    ) -> Result<String, Wrong> {
        let anchors: Vec<Value> = values
            .anchors
            .iter()
            .map(|(grade, meaning)| context! { grade => grade, meaning => meaning })
            .collect();
        let text = self.environment.get_template(NAME)?.render(context! {
            anchors => anchors,
            criteria => &values.criteria,
            form => &values.form,
            high => values.scale[1],
            language => language.unwrap_or_default(),
            low => values.scale[0],
            note => note,
            steps => &values.steps,
        })?;
        let mut text = text.trim().to_owned();
        for part in [note, &values.form] {
            if !text.contains(part) {
                text.push_str("\n\n");
                text.push_str(part);
            }
        }
        if text.len() > LONGEST {
            let length = text.len();
            let problem = format!("the prompt has {length} bytes; {LONGEST} are enough");
            return Err(Wrong::of_all(problem));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values {
            criteria: "It is {{ polite }}.".to_owned(),
            scale: [1, 5],
            anchors: vec![(5, "kind".to_owned()), (1, "rude".to_owned())],
            steps: vec!["Read.".to_owned(), "Think.".to_owned()],
            form: "FORM".to_owned(),
        }
    }

    fn rendered(source: &str, language: Option<&str>) -> String {
        let template = match Template::new(source) {
            Ok(template) => template,
            Err(wrong) => return wrong.to_string(),
        };
        template
            .render(&values(), "NOTE", language)
            .unwrap_or_else(|wrong| wrong.to_string())
    }

    #[test]
    fn what_is_left_out_stands_at_the_end() {
        assert_eq!(rendered("Grade.\n", None), "Grade.\n\nNOTE\n\nFORM");
        assert_eq!(rendered("{{ form }}\nGrade.", None), "FORM\nGrade.\n\nNOTE");
        assert_eq!(
            rendered("{% if false %}{{ form }}{% endif %}{{ note }}", None),
            "NOTE\n\nFORM"
        );
    }

    #[test]
    fn values_are_no_templates() {
        assert_eq!(
            rendered(
                "{{ criteria }} {{ low }}-{{ high }}\n{% for step in steps %}\n{{ loop.index }}. {{ step }}\n{% endfor %}\n\
                 {% for anchor in anchors %}\n{{ anchor.grade }}: {{ anchor.meaning }}\n{% endfor %}\n{{ note }}{{ form }}",
                None
            ),
            "It is {{ polite }}. 1-5\n1. Read.\n2. Think.\n5: kind\n1: rude\nNOTEFORM"
        );
    }

    #[test]
    fn a_language_may_be_said() {
        let source = "{% if language %}In {{ language }}.{% endif %}{{ note }}{{ form }}";
        assert_eq!(rendered(source, Some("Italian")), "In Italian.NOTEFORM");
        assert_eq!(rendered(source, None), "NOTEFORM");
        assert!(Template::new(source).unwrap().has_language);
        assert!(!Template::new("{{ note }}").unwrap().has_language);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = [
            rendered("Grade.\n{{ criterai }}", None),
            rendered("a\nb\n{% if low %}", None),
            rendered("a\n{{ criteria | shout }}", None),
            rendered("a\n\n{{ criteria.length.x }}", None),
            rendered("{% include 'other.md' %}", None),
            rendered(
                "{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}",
                None,
            ),
            rendered("{% for a in range(9000) %}0123456789{% endfor %}", None),
        ];
        insta::assert_snapshot!(wrong.join("\n"), @r#"
        line 2: there is no `criterai`; a prompt has anchors, criteria, form, high, language, low, note, steps
        line 3: unexpected end of input, expected end of block
        line 2: filter shout is unknown
        line 3: `criteria.length` is undefined
        line 1: unknown statement include
        line 1: engine ran out of fuel
        the prompt has 90012 bytes; 65536 are enough
        "#);
    }
}
