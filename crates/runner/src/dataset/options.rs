//! What gate.toml says about the columns.

use indexmap::IndexMap;
use metrics::Column;

use super::error::DatasetError;
use super::spool;

/// How to read a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `[dataset.columns]`: from the canonical name (`question`, `answer`, …) to where the file has it: the name of a
    /// column, a dotted path (`vars.question`, `messages.0.content`) or a JSON pointer (`/vars/question`); empty when no
    /// column is that, whatever its name.
    pub columns: IndexMap<String, String>,
    /// Bytes of samples to hold in memory before they go to a temporary file; 32 MiB when `None`.
    pub memory: Option<usize>,
    /// Whether samples keep their whole row in [`Sample::other`](metrics::Sample::other), for a metric that looks into it.
    pub keep_other: bool,
}

impl Options {
    pub(super) fn memory(&self) -> usize {
        self.memory.unwrap_or(spool::MEMORY)
    }

    pub(super) fn chosen(&self) -> Result<Vec<Chosen>, DatasetError> {
        self.columns
            .iter()
            .map(|(name, from)| {
                let column = column(name).map_err(DatasetError::of_options)?;
                // No column at all, so that what goes by a known name and is something else is let be.
                let steps = match from.is_empty() {
                    true => Vec::new(),
                    false => steps(from),
                };
                if steps.iter().any(String::is_empty) {
                    return Err(DatasetError::new(format!(
                        "`{name} = \"{from}\"` in [dataset.columns] names no column"
                    ))
                    .help("write the name of a column, a path such as `vars.question`, or a JSON pointer")
                    .of_options());
                }
                Ok(Chosen {
                    column,
                    from: from.clone(),
                    steps,
                })
            })
            .collect()
    }
}

/// One line of `[dataset.columns]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) column: Column,
    /// As it is written.
    pub(super) from: String,
    /// The way from the row.
    pub(super) steps: Vec<String>,
}

fn column(name: &str) -> Result<Column, DatasetError> {
    let names = Column::ALL.map(Column::name);
    if let Some(index) = names.iter().position(|known| *known == name) {
        return Ok(Column::ALL[index]);
    }
    let nearest = names
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map_or(String::new(), |(_, known)| {
            format!(", did you mean `{known}`?")
        });
    Err(DatasetError::new(format!(
        "unknown column `{name}` in [dataset.columns]{nearest}"
    ))
    .help(format!("the columns are {}", names.join(", "))))
}

fn steps(from: &str) -> Vec<String> {
    match from.strip_prefix('/') {
        Some(pointer) => pointer
            .split('/')
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect(),
        None => from.split('.').map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(name: &str, from: &str) -> Result<Vec<Chosen>, DatasetError> {
        let columns = [(name.to_owned(), from.to_owned())].into_iter().collect();
        let options = Options {
            columns,
            ..Options::default()
        };
        options.chosen()
    }

    #[test]
    fn a_path_is_dotted_or_a_pointer() {
        assert_eq!(chosen("answer", "a.0.b").unwrap()[0].steps, ["a", "0", "b"]);
        assert_eq!(
            chosen("answer", "/a~1b/c~0").unwrap()[0].steps,
            ["a/b", "c~"]
        );
        for nothing in ["/", "a..b"] {
            assert!(chosen("answer", nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn an_unknown_column_is_answered_with_the_nearest() {
        let error = chosen("contexs", "x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown column `contexs` in [dataset.columns], did you mean `contexts`?"
        );
        let error = chosen("whatever", "x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown column `whatever` in [dataset.columns]"
        );
        assert!(error.help.unwrap().contains("reference_context_ids"));
    }
}
