//! Whole files: real ones, broken ones, and any.

use std::fmt::Write;
use std::path::PathBuf;

use metrics::{Column, Context, Sample, Turn};
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Dataset, DatasetError> {
    Dataset::read(text.as_bytes(), &Options::default())
}

fn read_with(text: &str, columns: &[(&str, &str)]) -> Result<Dataset, DatasetError> {
    let columns = columns
        .iter()
        .map(|(name, from)| ((*name).to_owned(), (*from).to_owned()))
        .collect();
    let options = Options {
        columns,
        ..Options::default()
    };
    Dataset::read(text.as_bytes(), &options)
}

fn only(text: &str) -> Sample {
    let dataset = read(text).unwrap();
    assert_eq!(dataset.len(), 1);
    dataset.sample(0).unwrap()
}

fn samples(dataset: &Dataset) -> Vec<Sample> {
    (0..dataset.len())
        .map(|index| dataset.sample(index).unwrap())
        .collect()
}

fn refusal(text: &str) -> String {
    match read(text) {
        Ok(dataset) => panic!("read as {:?}", samples(&dataset)),
        Err(error) => error.to_string(),
    }
}

fn fixtures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datasets");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension != "md"))
        .collect();
    files.sort();
    files
}

fn short(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    match start.len() < text.len() {
        true => format!("{start:?}… {} bytes", text.len()),
        false => format!("{start:?}"),
    }
}

fn passages(contexts: Option<&Vec<Context>>) -> Option<String> {
    let contexts = contexts?;
    let first = contexts.first().map_or(String::new(), |context| {
        format!(", first {:?} {}", context.id, short(&context.text))
    });
    Some(format!("{}{first}", contexts.len()))
}

/// What was read, a line each, with the first sample.
fn summary(outcome: Result<Dataset, DatasetError>) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let dataset = match outcome {
        Ok(dataset) => dataset,
        Err(error) => {
            writeln!(out, "  refused: {error}")?;
            writeln!(
                out,
                "  help: {}",
                error.help.as_deref().unwrap_or("none").replace('\n', " / ")
            )?;
            return Ok(out);
        }
    };
    writeln!(out, "  {} samples", dataset.len())?;
    for Recognised { column, from } in dataset.recognised() {
        writeln!(
            out,
            "  {} from {from}: {}",
            column.name(),
            dataset.has(*column)
        )?;
    }
    writeln!(out, "  ignored: {}", dataset.ignored().join(", "))?;
    for warning in dataset.warnings() {
        writeln!(out, "  warning: {warning}")?;
    }
    let sample = dataset.sample(0).unwrap();
    let values = [
        ("id", Some(sample.id)),
        ("question", sample.question.map(|text| short(&text))),
        ("answer", sample.answer.map(|text| short(&text))),
        (
            "references",
            sample.references.map(|texts| {
                format!(
                    "{} {}",
                    texts.len(),
                    texts.first().map_or(String::new(), |text| short(text))
                )
            }),
        ),
        ("contexts", passages(sample.contexts.as_ref())),
        (
            "reference contexts",
            passages(sample.reference_contexts.as_ref()),
        ),
        ("context ids", sample.context_ids.map(|ids| ids.join(", "))),
        (
            "history",
            (!sample.history.is_empty()).then(|| format!("{} turns", sample.history.len())),
        ),
        ("cluster", sample.cluster),
        (
            "tags",
            (!sample.tags.is_empty()).then(|| format!("{:?}", sample.tags)),
        ),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            writeln!(out, "    {name}: {value}")?;
        }
    }
    Ok(out)
}

#[test]
fn files_that_other_tools_write() {
    let mut out = String::new();
    for path in fixtures() {
        let file = std::fs::File::open(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let outcome = Dataset::read(file, &Options::default());
        write!(out, "{name}\n{}", summary(outcome).unwrap()).unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn the_shapes_of_a_file() {
    let shapes = [
        "{\"question\": \"a\"}\n\n  {\"question\": \"b\"}\r\n",
        "{\"question\":\n \"a\"}{\"question\": \"b\"}",
        "[{\"question\": \"a\"}, {\"question\": \"b\"}]\n",
        "{\"n\": 2, \"rows\": [{\"question\": \"a\"}, {\"question\": \"b\"}], \"x\": [1]}",
        "{\"whatever\": [{\"question\": \"a\"}, {\"question\": \"b\"}]}",
        "{\"testRunData\": {\"x\": [{}], \"testCases\": [{\"question\": \"a\"}, {\"question\": \"b\"}]}}",
        "{\"rows\": [{\"row_idx\": 0, \"row\": {\"question\": \"a\"}}, {\"row_idx\": 1, \"row\": {\"question\": \"b\"}}]}",
        "{\"questions\": [\"a\", \"b\"], \"name\": \"x\"}",
        "{\"question\": {\"0\": \"a\", \"1\": \"b\"}, \"n\": {\"0\": 1, \"1\": NaN}}",
        "question\na\n\nb\n",
        "n,question\r\n1,a\r\n2,\"b\"",
        "sep=;\nn;question\n1;a\n2;b\n",
        "\tquestion\n0\ta\n1\tb\n",
        "\u{feff}question;n\na;1,5\nb;2,5\n",
    ];
    for text in shapes {
        let questions: Vec<_> = samples(&read(text).unwrap())
            .into_iter()
            .map(|sample| sample.question.unwrap())
            .collect();
        assert_eq!(questions, ["a", "b"], "{text}");
    }
    // A first row that is longer than what is looked beyond.
    let long = format!(
        "{{\"answer\": \"{}\", \"question\": \"a\"}}\n{{\"question\": \"b\"}}\n",
        "x".repeat(5 << 20)
    );
    assert_eq!(read(&long).unwrap().len(), 2);
    // An object that holds a question is a row, even if it holds a list of objects too.
    let one = only(r#"{"question": "a", "data": [{"question": "b"}]}"#);
    assert_eq!(one.question.unwrap(), "a");
    let one = only(r#"{"question": "a", "contexts": ["x"]}"#);
    assert_eq!(one.contexts.unwrap().len(), 1);
}

#[test]
fn a_file_larger_than_the_buffer_is_the_same_file() {
    let row = |number: usize| {
        let text = "é\\n\u{1f600} ".repeat(number % 90);
        format!(r#"{{"id": {number}, "question": "{text}?", "contexts": ["{text}", "b"]}}"#)
    };
    let rows: Vec<String> = (0..1200).map(row).collect();
    let expected = samples(&read(&rows.join("\n")).unwrap());
    assert_eq!(
        expected[89].contexts.as_ref().unwrap()[0].text.len(),
        89 * 8
    );
    let array = format!("[{}]", rows.join(","));
    let options = Options {
        memory: Some(10_000),
        ..Options::default()
    };
    for text in [&array, &format!("{{\"a\": 1, \"data\": {array}}}")] {
        let dataset = Dataset::read(Pieces(text.as_bytes()), &options).unwrap();
        assert_eq!(samples(&dataset), expected);
        assert!(dataset.size(89) > 89 * 16 && dataset.size(1200) == 0);
        assert!(dataset.sample(1200).is_err());
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (dataset, expected) = (&dataset, &expected);
                scope.spawn(move || {
                    for index in (thread..1200).rev().step_by(7) {
                        assert_eq!(dataset.sample(index).unwrap(), expected[index]);
                    }
                });
            }
        });
    }
}

/// Gives a few bytes at a time, as a pipe does.
struct Pieces<'a>(&'a [u8]);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.0.len().min(buffer.len()).min(777);
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

#[test]
fn words_for_nothing_are_answers() {
    for word in ["None", "N/A", "null", "nan", "", " "] {
        let text = serde_json::json!({"question": "q", "answer": word}).to_string();
        assert_eq!(only(&text).answer.as_deref(), Some(word));
    }
    for word in ["None", "N/A", "null", "nan"] {
        let sample = only(&format!("question,answer\nq,{word}\n"));
        assert_eq!(sample.answer.as_deref(), Some(word));
    }
    for nothing in ["null", "NaN"] {
        let sample = only(&format!("{{\"question\": \"q\", \"answer\": {nothing}}}"));
        assert_eq!(sample.answer, None);
    }
    assert_eq!(only("question,answer\nq,\n").answer, None);
    let spelled = only(r#"{"question": "q", "answer": 1.50, "ground_truth": [true, 1e3]}"#);
    assert_eq!(spelled.answer.as_deref(), Some("1.50"));
    assert_eq!(spelled.references.unwrap(), ["true", "1e3"]);
}

#[test]
fn context_is_the_ideal_one_beside_the_columns_of_deepeval() {
    for beside in ["actual_output", "expectedOutput", "retrievalContext"] {
        let sample = only(&format!(
            r#"{{"input": "q", "{beside}": null, "context": ["a"]}}"#
        ));
        assert_eq!(
            (sample.contexts, sample.reference_contexts.unwrap().len()),
            (None, 1)
        );
    }
    let sample = only(r#"{"question": "q", "context": "one text"}"#);
    assert_eq!(sample.contexts.unwrap()[0].text, "one text");
    let both = read(
        "{\"input\": \"q\", \"context\": \"a\"}\n{\"input\": \"r\", \"context\": \"a\", \"actual_output\": \"x\"}\n",
    );
    assert!(
        both.unwrap().warnings()[0].starts_with("`context` is what was retrieved in some rows")
    );
}

#[test]
fn passages_are_texts_or_objects() {
    let sample = only(
        r#"{"question": "q", "documents": ["a", {"page_content": "b", "metadata": {"source": "s"}},
            {"title": "T", "body": "c", "doc_id": 7}, [{"chunk": "d"}]]}"#,
    );
    let contexts = sample.contexts.unwrap();
    let texts: Vec<_> = contexts
        .iter()
        .map(|context| context.text.as_str())
        .collect();
    let ids: Vec<_> = contexts
        .iter()
        .map(|context| context.id.as_deref())
        .collect();
    assert_eq!(texts, ["a", "b", "T\nc", "d"]);
    assert_eq!(ids, [None, Some("s"), Some("7"), None]);
    assert_eq!(sample.context_ids, None);
    let all = only(
        r#"{"question": "q", "contexts": [{"id": "x", "text": "a"}, {"id": 2, "text": "b"}]}"#,
    );
    assert_eq!(all.context_ids.unwrap(), ["x", "2"]);
    let none = only(r#"{"question": "q", "contexts": []}"#);
    assert_eq!(none.contexts.unwrap(), []);
}

#[test]
fn lists_in_the_cells_of_a_table() {
    let contexts = |cell: &str| {
        let cell = cell.replace('"', "\"\"");
        let sample = only(&format!("question,contexts\nq,\"{cell}\"\n"));
        let texts = sample.contexts.into_iter().flatten();
        texts.map(|context| context.text).collect::<Vec<_>>()
    };
    assert_eq!(contexts(r#"["a", "b"]"#), ["a", "b"]);
    assert_eq!(contexts(r#"['a\'s', "b's"]"#), ["a's", "b's"]);
    assert_eq!(contexts("['a'\n 'b']"), ["a", "b"]);
    assert_eq!(contexts("a|b"), ["a", "b"]);
    assert_eq!(contexts("| a | b |\n|---|---|"), ["| a | b |\n|---|---|"]);
    assert_eq!(contexts("[1] says so"), ["[1] says so"]);
    assert_eq!(contexts(""), [""; 0]);
    let split = read("question,contexts\nq,a|b\n").unwrap();
    assert!(split.warnings()[0].contains("taken apart at `|`"));
    // The answers of a column for one answer are not taken for a list.
    let sample = only("question,reference\nq,\"[1, 2]\"\n");
    assert_eq!(sample.references.unwrap(), ["[1, 2]"]);
    let sample = only("question,ground_truths\nq,\"['a', 'b']\"\n");
    assert_eq!(sample.references.unwrap(), ["a", "b"]);
    let error = refusal("question,contexts\nq,['a' ... 'b']\n");
    assert_eq!(
        error,
        "`contexts` is a list that numpy shortened with `...` (line 2)"
    );
}

#[test]
fn relevant_passages_have_grades_or_none() {
    let graded = |text: &str| {
        let sample = only(text);
        (
            sample.reference_context_ids.unwrap_or_default(),
            sample.reference_context_id_grades,
        )
    };
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    let row = |value: &str| format!(r#"{{"question": "q", "reference_context_ids": {value}}}"#);
    assert_eq!(graded(&row(r#"["a", 2]"#)), (ids(&["a", "2"]), None));
    assert_eq!(
        graded(&row(r#"{"a": 2, "b": 0, "c": -1.5, "d": "3", "e": true}"#)),
        (
            ids(&["a", "b", "c", "d", "e"]),
            Some(vec![2.0, 0.0, -1.5, 3.0, 1.0])
        )
    );
    assert_eq!(graded(&row("{}")), (ids(&[]), None));
    assert_eq!(
        graded(&row(
            r#"[{"id": "a", "grade": 3}, {"doc_id": 7, "Relevance": "0"}, "c", {"id": "d", "rel": null}]"#
        )),
        (ids(&["a", "7", "c", "d"]), Some(vec![3.0, 0.0, 1.0, 1.0]))
    );
    assert_eq!(
        graded(&row(r#"{"id": "a", "score": 2}"#)),
        (ids(&["a"]), Some(vec![2.0]))
    );
    assert_eq!(
        graded(r#"{"question": "q", "qrels": {"a": 2}}"#),
        (ids(&["a"]), Some(vec![2.0]))
    );
    let table = "question,reference_context_ids\nq,\"{'a': 2, 'b': 1}\"\n";
    assert_eq!(graded(table), (ids(&["a", "b"]), Some(vec![2.0, 1.0])));
    for cell in [
        "a|b,2|0.5",
        "a|b,\"[2, 0.5]\"",
        "\"['a', 'b']\",\"(2. 0.5)\"",
    ] {
        let table = format!("question,reference_context_ids,Relevance Grades\nq,{cell}\n");
        assert_eq!(
            graded(&table),
            (ids(&["a", "b"]), Some(vec![2.0, 0.5])),
            "{cell}"
        );
    }
    let one = "question,reference_context_ids,relevance_grades\nq,a,2\n";
    assert_eq!(graded(one), (ids(&["a"]), Some(vec![2.0])));
}

#[test]
fn the_grades_of_passages_are_those_of_their_ids_too() {
    let text = r#"{"question": "q", "reference_contexts": [{"id": "x", "text": "a", "relevance": 2}, {"id": "y", "text": "b"}]}"#;
    let dataset = read(text).unwrap();
    let sample = dataset.sample(0).unwrap();
    assert_eq!(sample.reference_context_grades, Some(vec![2.0, 1.0]));
    assert_eq!(sample.reference_context_id_grades, Some(vec![2.0, 1.0]));
    assert_eq!(dataset.has(Column::ReferenceContextGrades), 1);
    let from: Vec<_> = dataset
        .recognised()
        .iter()
        .filter(|found| found.column == Column::ReferenceContextGrades)
        .map(|found| found.from.as_str())
        .collect();
    assert_eq!(from, ["reference_contexts (grades within)"]);
    // What was retrieved has scores of the retriever, which are no grades.
    let retrieved =
        only(r#"{"question": "q", "contexts": [{"id": "x", "text": "a", "score": "high"}]}"#);
    assert_eq!(retrieved.reference_context_grades, None);
    // A column of them goes with what it is as long as, and before what is within.
    let text = r#"{"question": "q", "reference_contexts": [{"text": "a", "grade": 1}, "b"],
        "reference_context_ids": ["x", "y", "z"], "reference_context_grades": [0, 2]}"#;
    let sample = only(text);
    assert_eq!(sample.reference_context_grades, Some(vec![0.0, 2.0]));
    assert_eq!(sample.reference_context_id_grades, None);
    let none = read_with(text, &[("reference_context_grades", "")]).unwrap();
    assert_eq!(none.sample(0).unwrap().reference_context_grades, None);
}

#[test]
fn grades_that_are_none_are_refused() {
    let refusals = [
        refusal(r#"{"question": "q", "reference_context_ids": {"a": "high"}}"#),
        refusal(r#"{"question": "q", "reference_context_ids": [{"id": "a", "grade": 1e999}]}"#),
        refusal(r#"{"question": "q", "reference_contexts": [{"text": "a", "rel": [1]}]}"#),
        refusal(r#"{"question": "q", "context_ids": {"a": 1}}"#),
        refusal(
            r#"{"question": "q", "reference_contexts": ["a", "b"], "relevance_grades": [1, 2, 3]}"#,
        ),
        refusal(r#"{"question": "q", "reference_context_ids": ["a"], "relevance_grades": ["x"]}"#),
        refusal("question,reference_context_ids,relevance_grades\nq,a|b,1|inf\n"),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r"
    `reference_context_ids` has no number as the grade of `a` (line 1)
    `reference_context_ids` has an object whose `grade` is no number in place 1 (line 1)
    `reference_contexts` has an object whose `rel` is no number as passage 1 (line 1)
    `context_ids` is an object (line 1)
    the row has 3 grades, and 2 passages that should have been retrieved (line 1)
    `relevance_grades`, taken as the reference_context_grades, has no number in place 1 (line 1)
    `relevance_grades`, taken as the reference_context_grades, has no number in place 2 (line 2)
    ");
}

#[test]
fn what_a_target_reports_is_read_with_its_unit() {
    let spent = |text: &str| {
        let sample = only(text);
        (sample.latency_s, sample.tokens, sample.cost_usd)
    };
    assert_eq!(
        spent(
            r#"{"question": "q", "latencyMs": 1534, "usage": {"total_tokens": 7}, "cost": "0.25"}"#
        ),
        (Some(1.534), Some(7.0), Some(0.25))
    );
    assert_eq!(
        spent("question,Latency,usage.total_tokens,Cost USD\nq,2.5, 12 ,1e-3\n"),
        (Some(2.5), Some(12.0), Some(0.001))
    );
    assert_eq!(
        spent(
            r#"{"question": "q", "response": {"latency_ms": 5, "tokenUsage": {"total": 3}, "cost": 0}}"#
        ),
        (Some(0.005), Some(3.0), Some(0.0))
    );
    // What no metric can use is the metric's to say; what is no number is something else.
    assert_eq!(
        spent(r#"{"question": "q", "latency": -1, "tokens": ["a", "b"], "cost": Infinity}"#),
        (Some(-1.0), None, Some(f64::INFINITY))
    );
    assert_eq!(
        spent(r#"{"question": "q", "duration": "3 days", "tokens": NaN, "cost": true}"#),
        (None, None, None)
    );
    let silent =
        read(r#"{"question": "q", "duration": "3 days", "latency": 1, "total_time": 2}"#).unwrap();
    assert_eq!(silent.warnings(), [""; 0]);
    assert_eq!(silent.has(Column::Latency), 1);
    let text = r#"{"question": "q", "timing": {"total": {"inMs": 20}}, "latency": 5}"#;
    let chosen = |path| read_with(text, &[("latency", path)]);
    let seconds = |path| chosen(path).unwrap().sample(0).unwrap().latency_s;
    assert_eq!(seconds("timing.total.inMs"), Some(0.02));
    assert_eq!(seconds("/timing/total/inMs"), Some(0.02));
    assert_eq!(seconds(""), None);
    assert_eq!(
        chosen("timing").unwrap_err().to_string(),
        "`timing`, taken as the latency, is an object (line 1)"
    );
}

#[test]
fn a_row_is_kept_when_a_metric_looks_into_it() {
    let kept = |text: &str| {
        let options = Options {
            keep_other: true,
            memory: Some(0),
            ..Options::default()
        };
        Dataset::read(text.as_bytes(), &options).unwrap()
    };
    let other = |text: &str| serde_json::Value::from(kept(text).sample(0).unwrap().other);
    let text = r#"{"question": "q", "usage": {"n": [1, 2.5, -0.0, 1e999, NaN, -Infinity, null, true]}, "é": "\u00e9"}"#;
    assert_eq!(
        other(text),
        serde_json::json!({
            "question": "q",
            "usage": {"n": [1, 2.5, -0.0, "1e999", "NaN", "-Infinity", null, true]},
            "é": "é",
        })
    );
    assert!(only(text).other.is_empty());
    assert_eq!(
        other("question,usage,n\nq,\"{'total': 7}\",1.50\n"),
        serde_json::json!({"question": "q", "usage": {"total": 7}, "n": "1.50"})
    );
    let wrapped = r#"{"rows": [{"row_idx": 0, "row": {"question": "q", "n": 1}}]}"#;
    assert_eq!(other(wrapped), serde_json::json!({"question": "q", "n": 1}));
    // As deep as a row may be, and no deeper than can be read again.
    let deep = format!(
        r#"{{"question": "q", "x": {}7{}}}"#,
        "[".repeat(127),
        "]".repeat(127)
    );
    let mut value = &other(&deep)["x"];
    let mut depth = 0;
    while let Some(inner) = value.get(0) {
        (value, depth) = (inner, depth + 1);
    }
    assert_eq!((depth, value), (100, &serde_json::Value::Null));
    // Ids are the same, whatever is looked at.
    let twins = "{\"question\": \"q\", \"n\": 1, \"latency\": 3}\n{\"question\": \"q\", \"n\": 2, \"cost\": 4}";
    let ids = |dataset: &Dataset| {
        samples(dataset)
            .into_iter()
            .map(|sample| sample.id)
            .collect::<Vec<_>>()
    };
    let plain = "{\"question\": \"q\"}\n{\"question\": \"q\"}";
    assert_eq!(ids(&kept(twins)), ids(&read(plain).unwrap()));
    assert_eq!(ids(&read(twins).unwrap()), ids(&read(plain).unwrap()));
}

#[test]
fn conversations() {
    let turn = |role: &str, text: &str| Turn {
        role: role.to_owned(),
        text: text.to_owned(),
    };
    let inputs = [
        r#"{"user_input": [{"type": "human", "content": "a"}, {"type": "ai", "content": "b"}, {"type": "human", "content": "c"}]}"#,
        r#"{"input": [{"speaker": "user", "text": "a"}, {"speaker": "agent", "text": "b"}, {"speaker": "user", "text": "c"}]}"#,
        r#"{"question": "c", "history": [["a", "b"]]}"#,
        r#"{"question": "c", "history": "[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": [{\"type\": \"text\", \"text\": \"b\"}]}]"}"#,
        r#"{"question": "c", "history": ["a", "b", "c"]}"#,
        "question,conversation_history\nc,\"[{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'b'}]\"\n",
    ];
    for input in inputs {
        let sample = only(input);
        assert_eq!(sample.question.as_deref(), Some("c"), "{input}");
        assert_eq!(
            sample.history,
            [turn("user", "a"), turn("assistant", "b")],
            "{input}"
        );
        assert_eq!(sample.answer, None);
    }
    let answered = r#"{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}"#;
    let sample = only(answered);
    assert_eq!(sample.question.as_deref(), Some("a"));
    assert_eq!(sample.answer.as_deref(), Some("b"));
    assert_eq!(sample.history, [turn("system", "s")]);
    assert_eq!(
        refusal(r#"{"input": [{"role": "assistant", "content": "b"}]}"#),
        "`input`, taken as the question, is a conversation without a turn of the user (line 1)"
    );
}

#[test]
fn tools_that_nest() {
    let rows = [
        r#"{"inputs": {"question": "q"}, "outputs": {"answer": "a"}, "reference_outputs": {"answer": "r"}}"#,
        r#"{"inputs": {"question": "q"}, "outputs": "a", "expectations": {"expected_response": "r"}}"#,
        r#"{"vars": {"question": "q", "reference": "r"}, "response": {"output": "a"}}"#,
        r#"{"input": [{"role": "user", "content": "q"}], "ideal": "r", "completion": "a"}"#,
        r#"{"question": "q", "answers": {"text": ["r"], "answer_start": [1]}, "prediction": "a"}"#,
        r#"{"input": "q", "targets": [{"speaker": "agent", "text": "r"}], "predictions": [{"text": "a"}]}"#,
        r#"{"query": "q", "gt_answer": "r", "response": "a"}"#,
        r#"{"query": "q", "expected_response": "r", "output": "a"}"#,
        "inputs,outputs,expectations\n\"{'question': 'q'}\",a,\"{\"\"expected_response\"\": \"\"r\"\"}\"\n",
    ];
    for row in rows {
        let sample = only(row);
        assert_eq!(sample.question.as_deref(), Some("q"), "{row}");
        assert_eq!(sample.answer.as_deref(), Some("a"), "{row}");
        assert_eq!(
            sample.references.as_deref(),
            Some(&["r".to_owned()][..]),
            "{row}"
        );
    }
    let assertion = read("question,__expected\nq,icontains:x\n").unwrap();
    assert_eq!(assertion.has(Column::Reference), 0);
    assert_eq!(assertion.ignored(), ["__expected"]);
}

#[test]
fn tags() {
    let tagged = |text: &str, columns: &[(&str, &str)]| {
        let sample = read_with(text, columns).unwrap().sample(0).unwrap();
        format!("{:?}", sample.tags)
    };
    assert_eq!(
        tagged(
            r#"{"question": "q", "tags": {"lang": "it", "n": 2, "topic": ["a", "b"], "x": {}, "y": null}}"#,
            &[]
        ),
        r#"{"lang": ["it"], "n": ["2"], "topic": ["a", "b"]}"#
    );
    assert_eq!(
        tagged(r#"{"question": "q", "tags": ["a", "b"]}"#, &[]),
        r#"{"tags": ["a", "b"]}"#
    );
    let with_metadata = r#"{"question": "q", "metadata": {"domain": "x"}}"#;
    assert_eq!(tagged(with_metadata, &[]), "{}");
    assert_eq!(read(with_metadata).unwrap().ignored(), ["metadata"]);
    assert_eq!(
        tagged(with_metadata, &[("tags", "metadata")]),
        r#"{"domain": ["x"]}"#
    );
    assert_eq!(
        tagged(with_metadata, &[("tags", "metadata.domain")]),
        r#"{"domain": ["x"]}"#
    );
    assert_eq!(
        tagged(
            "topic,__metadata:kind,__metadata:tags[]\nq,k,\"a,b\\,c\"\n",
            &[("question", "topic")]
        ),
        r#"{"kind": ["k"], "tags": ["a", "b,c"]}"#
    );
}

#[test]
fn gate_toml_says_which_column_is_which() {
    let text =
        r#"{"id": 1, "prompt": "q", "a": {"b": [{"c": "x"}, {"c": "y"}]}, "question": "other"}"#;
    let columns = [
        ("question", "prompt"),
        ("answer", "a.b.0.c"),
        ("reference", "/a/b/1/c"),
        ("contexts", "a.b.c"),
    ];
    let dataset = read_with(text, &columns).unwrap();
    let sample = dataset.sample(0).unwrap();
    assert_eq!(sample.question.as_deref(), Some("q"));
    assert_eq!(sample.answer.as_deref(), Some("x"));
    assert_eq!(sample.references.unwrap(), ["y"]);
    assert_eq!(sample.contexts.unwrap().len(), 2);
    assert_eq!(dataset.warnings(), [""; 0]);
    assert_eq!(dataset.ignored(), ["question"]);
    // What is given to one column is not taken for another by its name.
    let sample = read_with(
        r#"{"question": "q", "answer": "a"}"#,
        &[("reference", "answer")],
    )
    .unwrap();
    assert_eq!(
        (sample.has(Column::Answer), sample.has(Column::Reference)),
        (0, 1)
    );
    let none = read_with(r#"{"question": "q", "chunks": 3}"#, &[("contexts", "")]).unwrap();
    assert_eq!(none.has(Column::Contexts), 0);
    let error = read_with(r#"{"question": "q"}"#, &[("answer", "reply")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no row has `reply`, which [dataset.columns] names as the answer"
    );
    assert_eq!(error.help.as_deref(), Some("the columns are `question`"));
    let error = read_with(r#"{"question": "q", "x": {}}"#, &[("answer", "x")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`x`, taken as the answer, is an object (line 1)"
    );
}

#[test]
fn two_names_for_one_column_are_said() {
    let dataset =
        read("{\"input\": \"i\", \"question\": \"q\"}\n{\"input\": \"j\", \"question\": null}\n")
            .unwrap();
    assert_eq!(dataset.sample(0).unwrap().question.as_deref(), Some("q"));
    assert_eq!(dataset.sample(1).unwrap().question.as_deref(), Some("j"));
    assert_eq!(
        dataset.warnings(),
        [
            "`question` and `input` both could be the question: `question` is taken; question = \"input\" in \
          [dataset.columns] takes the other"
        ]
    );
    let from: Vec<_> = dataset
        .recognised()
        .iter()
        .map(|found| found.from.as_str())
        .collect();
    assert_eq!(from, ["question", "input"]);
}

#[test]
fn ids_that_are_given() {
    let ids = |text: &str| -> Vec<String> {
        samples(&read(text).unwrap())
            .into_iter()
            .map(|sample| sample.id)
            .collect()
    };
    assert_eq!(
        ids("{\"id\": 1.0, \"question\": \"q\"}\n{\"id\": \"cafe\u{301}\", \"question\": \"q\"}"),
        ["1.0", "caf\u{e9}"]
    );
    let two = "{\"id\": 1, \"variant\": \"a\", \"question\": \"q\"}\n{\"id\": 1, \"variant\": \"b\", \"question\": \"q\"}";
    assert_eq!(ids(two), ["1", "1"]);
    let again = "{\"id\": \"\u{e9}\", \"question\": \"q\"}\n{\"id\": 2, \"question\": \"q\"}\n{\"id\": \"e\u{301}\", \"question\": \"r\"}";
    assert_eq!(
        refusal(again),
        "the id `\u{e9}` stands twice: in line 1 and in line 3 (line 3, sample `\u{e9}`)"
    );
    let made = read_with(again, &[("id", "")]).unwrap();
    assert!(made.sample(2).unwrap().id.starts_with("s-"));
    let columns = r#"{"question": ["q", "r"], "id": [1, 1]}"#;
    assert_eq!(
        refusal(columns),
        "the id `1` stands twice: in row 1 and in row 2 (/question/1, sample `1`)"
    );
}

#[test]
fn ids_that_are_made_do_not_depend_on_the_order() {
    let rows = [
        r#"{"question": "q", "ground_truth": "r"}"#,
        r#"{"question": "same", "answer": "a"}"#,
        r#"{"question": "same", "answer": "b"}"#,
        r#"{"question": "twin"}"#,
        r#"{"question": "twin"}"#,
    ];
    let ids = |rows: &[&str]| -> Vec<(Option<String>, Option<String>, String)> {
        let mut ids: Vec<_> = samples(&read(&rows.join("\n")).unwrap())
            .into_iter()
            .map(|sample| (sample.question, sample.answer, sample.id))
            .collect();
        ids.sort();
        ids
    };
    let forwards = ids(&rows);
    let backwards: Vec<_> = rows.iter().rev().copied().collect();
    assert_eq!(forwards, ids(&backwards));
    let shown: Vec<_> = forwards.iter().map(|(.., id)| id.as_str()).collect();
    let expected = [
        "s-d16499dff879",
        "s-507fd14856ab-508a69e6",
        "s-507fd14856ab-83a636c4",
        "s-c60861dee67c",
        "s-c60861dee67c-2",
    ];
    assert_eq!(shown, expected);
    let mixed = format!(
        "{{\"id\": \"{}\", \"question\": \"x\"}}\n{}",
        shown[0], rows[0]
    );
    assert!(refusal(&mixed).contains("which is made for row 2"));
}

#[test]
fn what_is_refused() {
    let deep = format!(
        "{{\"question\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let cases = [
        "",
        " \n ",
        "[]",
        "{}",
        "{\"rows\": []}",
        "question,answer\n",
        "<!DOCTYPE html><html></html>",
        "<?xml version=\"1.0\"?>",
        "PK\u{3}\u{4}rest",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "{\"faithfulness\": 0.85, \"recall\": 1}",
        "{\"schema\": \"rag-gate/results/1\", \"metrics\": {}}",
        "{\"samples\": [{\"id\": 1, \"scores\": {\"faithfulness\": 1}}]}",
        "{\"foo\": \"q\", \"bar\": 1}",
        "{\"question\": \"a\"}\n{\"question\": \"b",
        "{\"question\": \"a\"}\n{\"question\": \"b\n{\"question\": \"c\"}\n",
        "[{\"question\": \"a\"},\n {\"question\": \"b\"}",
        "[{\"question\": \"a\"},\n {\"quest",
        "{\"data\": [{\"question\": \"a\"}], \"x\"",
        "[{\"question\": \"a\"},\n 7]",
        "{\"question\": \"a\"}\n[1]\n",
        "{\"question\": \"a\"},\n{\"question\": \"b\"}\n",
        "[{\"question\": \"a\"}] [",
        "question,answer\na,b\nc\n",
        "question,answer\n\"a\nb,c\nd,e\n",
        "question,answer\n\"a\"b,c\n",
        "question,question\na,b\n",
        "{\"question\": \"q\", \"contexts\": 3}",
        "{\"question\": \"q\", \"contexts\": [\"a\", null]}",
        "{\"id\": \"x\", \"question\": \"q\", \"contexts\": [{\"score\": 1}]}",
        "{\"question\": \"q\", \"question\": \"r\"}",
        "{\"question\": \"q\", \"answer\": \"a\u{0}\"}",
        "{\"question\": null}",
        "{\"question\": \"\", \"contexts\": [\"a\"]}",
        "{'question': 'q'}",
        "{\"question\": \"\\ud800\"}",
        "{\"questions\": [\"a\", \"b\"], \"ground_truths\": [\"c\"]}",
        "{\"question\": {\"0\": \"a\"}, \"answer\": {\"1\": \"b\"}}",
        deep.as_str(),
    ];
    let mut out = String::new();
    for case in cases {
        let error = read(case).map(|dataset| samples(&dataset)).unwrap_err();
        let help = error.help.clone().unwrap_or_default();
        assert!(!help.is_empty(), "no help: {error}");
        writeln!(
            out,
            "{}\n  {error}\n  {}",
            short(case),
            help.replace('\n', " / ")
        )
        .unwrap();
    }
    let error = Dataset::read(
        &b"{\"question\": \"a\"}\n{\"question\": \"\xff\"}\n"[..],
        &Options::default(),
    );
    writeln!(out, "not UTF-8\n  {}", error.unwrap_err()).unwrap();
    insta::assert_snapshot!(out);
}

#[test]
fn names_of_the_file_break_no_message() {
    let error = read("a\u{1b}[31m,\"b\nc\"\n1,2\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no column is known as the question; the columns are `a [31m`, `b c` (line 1)"
    );
    let long = format!("{{\"{}\": 1}}", "x".repeat(1000));
    assert!(refusal(&long).len() < 200);
    let many: Vec<String> = (0..100)
        .map(|number| format!("\"c{number}\": 1.5"))
        .collect();
    let many = format!("[{{{}}}]", many.join(","));
    assert!(refusal(&many).contains("`c19` and 80 more"));
}

#[test]
fn the_names_of_the_documentation() {
    let page = include_str!("../../../../docs/dataset.md");
    for column in Column::ALL {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", column.name())))
            .unwrap_or_else(|| panic!("no row for {}", column.name()));
        let documented: Vec<&str> = row.split('`').skip(3).step_by(2).collect();
        let known: Vec<&str> = names::of(column).iter().map(|name| name.path).collect();
        assert_eq!(documented, known, "{}", column.name());
    }
    let listed = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    for names in [names::WRAPPERS, names::OUTER, names::LISTS, names::DEEPEVAL] {
        let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&listed(names)), "{}", listed(names));
    }
}

/// Names that mean something, and some that do not.
fn name() -> impl Strategy<Value = String> {
    let mut names: Vec<String> = Column::ALL
        .iter()
        .flat_map(|&column| names::of(column))
        .flat_map(|name| name.path.split('.'))
        .chain(names::WRAPPERS.iter().copied())
        .chain([
            "text",
            "role",
            "content",
            "row",
            "row_idx",
            "scores",
            "0",
            "1",
            "__metadata:a[]",
        ])
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    prop::sample::select(names)
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a|\\[{'\"é\\\\]{0,6}".prop_map(Into::into),
        Just("user".into()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(name(), inner, 0..5).prop_map(|entries| entries
                .into_iter()
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_value_is_read_or_refused(value in any_json(), other in any_json()) {
        let texts = [
            value.to_string(),
            format!("{value}\n{other}"),
            format!("[{value}, {other}]"),
            format!("{{\"rows\": [{value}, {other}]}}"),
        ];
        for text in texts {
            let kept = Dataset::read(text.as_bytes(), &Options { keep_other: true, ..Options::default() });
            let read = read(&text);
            prop_assert_eq!(read.is_ok(), kept.is_ok());
            for dataset in [read, kept].into_iter().flatten() {
                prop_assert!(!samples(&dataset).is_empty());
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\"',;\t\n\r:a1 é\0]{0,32}", bytes in any::<Vec<u8>>()) {
        for text in [format!("question,contexts\n{text}"), text] {
            if let Ok(dataset) = read(&text) {
                prop_assert!(!samples(&dataset).is_empty());
            }
        }
        let _ = Dataset::read(&bytes[..], &Options::default());
    }

    #[test]
    fn the_shape_of_a_file_changes_nothing(
        rows in prop::collection::vec(
            ("[^\0]{0,8}[?]", prop::option::of("[^\0]{1,8}"), prop::collection::vec("[^\0]{0,8}", 0..4)),
            1..6,
        )
    ) {
        let objects: Vec<serde_json::Value> = rows
            .iter()
            .map(|(question, answer, contexts)| {
                serde_json::json!({"question": question, "answer": answer, "contexts": contexts})
            })
            .collect();
        let lines: Vec<String> = objects.iter().map(ToString::to_string).collect();
        let column = |name: &str| objects.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
        let columns = ["question", "answer", "contexts"];
        let lists: serde_json::Map<_, _> = columns
            .iter()
            .map(|name| ((*name).to_owned(), column(name).into()))
            .collect();
        let labelled: serde_json::Map<String, serde_json::Value> = columns
            .iter()
            .map(|name| {
                let labels = (0..).map(|label: u32| label.to_string());
                let values: serde_json::Map<_, _> = labels.zip(column(name)).collect();
                ((*name).to_owned(), values.into())
            })
            .collect();
        let mut table = ::csv::Writer::from_writer(Vec::new());
        table.write_record(columns).unwrap();
        for (question, answer, contexts) in &rows {
            let contexts = serde_json::to_string(contexts).unwrap();
            table.write_record([question, answer.as_deref().unwrap_or(""), &contexts]).unwrap();
        }
        let expected = samples(&read(&lines.join("\n")).unwrap());
        let others = [
            serde_json::to_string_pretty(&objects).unwrap(),
            serde_json::json!({"results": objects}).to_string(),
            serde_json::Value::from(lists).to_string(),
            serde_json::Value::from(labelled).to_string(),
            String::from_utf8(table.into_inner().unwrap()).unwrap(),
        ];
        for text in others {
            prop_assert_eq!(&samples(&read(&text).unwrap()), &expected, "{}", text);
        }
    }
}
