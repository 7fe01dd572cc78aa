use proptest::prelude::*;

use super::*;

const GRADE: Expect = Expect::Grade { low: 1, high: 5 };

fn of(items: usize, raw: &str) -> String {
    match read(Expect::Verdicts { items }, raw) {
        Ok(Reading::Verdicts(verdicts)) => {
            let each = verdicts
                .iter()
                .map(|verdict| match verdict.reason.as_str() {
                    "" => verdict.holds.to_string(),
                    reason => format!("{} ({reason})", verdict.holds),
                });
            each.collect::<Vec<_>>().join(", ")
        }
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{}: {error}", error.kind),
    }
}

fn graded(raw: &str) -> String {
    match read(GRADE, raw) {
        Ok(Reading::Grade { grade, reason, .. }) => format!("{grade} ({reason})"),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{}: {error}", error.kind),
    }
}

#[test]
fn the_form_that_was_asked_for() {
    let raw = r#"{"verdicts": [{"id": 1, "reason": "", "verdict": true}, {"id": 2, "reason": "no", "verdict": false}]}"#;
    assert_eq!(of(2, raw), "1, 0 (no)");
    assert_eq!(graded(r#"{"grade": 4, "reason": "mostly"}"#), "4 (mostly)");
}

#[test]
fn other_forms_that_can_mean_one_thing_alone() {
    for raw in [
        "Here it is:\n```json\n{\"verdicts\": [{\"id\": 2, \"verdict\": 0}, {\"id\": \"1\", \"verdict\": \"Yes\"}]}\n```\nDone.",
        r#"[{"claim_id": 1, "supported": true}, {"claim_id": 2, "supported": "no"}]"#,
        r#"{"1": true, "2": {"verdict": false}}"#,
        r#"{"verdicts": {"1": 1, "2": 0}}"#,
        "{\"id\": 1, \"verdict\": true}\n{\"id\": 2, \"verdict\": false}",
        r#"<think>maybe {"verdicts": []}</think> {"results": [{"id": 1.0, "verdict": true}, {"id": 2, "verdict": false}]}"#,
        r#"In {short} [1]: {"result": {"verdicts": [{"id": 1, "verdict": true}, {"id": 2, "verdict": false}]}}"#,
    ] {
        assert_eq!(of(2, raw), "1, 0", "{raw}");
    }
    assert_eq!(
        of(1, r#"{"verdict": "unsupported", "reason": "why"}"#),
        "0 (why)"
    );
    for raw in [
        "4",
        r#"{"score": "4"}"#,
        r#"{"rating": "4/5"}"#,
        "```\n{\"result\": {\"grade\": 4.0}}\n```",
    ] {
        assert_eq!(graded(raw), "4 ()", "{raw}");
    }
}

#[test]
fn what_was_not_asked_is_no_answer() {
    let entry = |id: &str| format!(r#"{{"id": {id}, "verdict": true}}"#);
    let list = |ids: &[&str]| {
        format!(
            "[{}]",
            ids.iter().map(|id| entry(id)).collect::<Vec<_>>().join(",")
        )
    };
    let all = [
        of(2, &list(&["1"])),
        of(2, &list(&["1", "1"])),
        of(2, &list(&["0", "1"])),
        of(2, &list(&["1", "2", "3"])),
        of(2, &list(&["1", "2.5"])),
        of(2, &list(&["1", "-2"])),
        of(2, "[]"),
        of(2, r#"{"verdicts": []}"#),
        of(2, r#"[{"verdict": true}, {"verdict": true}]"#),
        of(1, r#"{"id": 1, "verdict": "idk"}"#),
        of(1, r#"{"id": 1, "verdict": null}"#),
        of(1, r#"{"id": 1, "verdict": 2}"#),
        of(1, r#"{"id": 1, "verdict": true, "supported": false}"#),
        graded(r#"{"grade": 6}"#),
        graded(r#"{"grade": 0.999}"#),
        graded(r#"{"grade": NaN}"#),
        graded(r#"{"grade": "NaN"}"#),
        graded(r#"{"grade": 4, "score": 0.8}"#),
        graded("nan"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    inconsistent: no verdict on 2: 1 verdicts on 2 items
    inconsistent: two verdicts on 1
    inconsistent: a verdict on 0, but the items are 1 to 2
    inconsistent: a verdict on 3, but the items are 1 to 2
    inconsistent: an id that is no whole number
    inconsistent: an id that is no whole number
    inconsistent: no verdict on 1: 0 verdicts on 2 items
    inconsistent: no verdict on 1: 0 verdicts on 2 items
    inconsistent: a verdict without the id of its item
    inconsistent: a verdict that is neither true nor false: `idk`
    inconsistent: a verdict that is neither true nor false: null
    inconsistent: a verdict of 2, which is not from 0 to 1
    inconsistent: a verdict that contradicts itself
    inconsistent: a grade of 6, which is not from 1 to 5
    inconsistent: a grade of 0.999, which is not from 1 to 5
    inconsistent: NaN is no verdict and no grade
    inconsistent: a grade of NaN, which is not from 1 to 5
    inconsistent: two grades that differ
    inconsistent: a grade of NaN, which is not from 1 to 5
    "#);
}

#[test]
fn a_quote_is_read_where_there_is_one() {
    let quotes = |raw: &str| match read(Expect::Quotes { items: 1 }, raw) {
        Ok(Reading::Verdicts(verdicts)) => verdicts[0].quote.clone(),
        other => panic!("{raw}: {other:?}"),
    };
    for (quote, expected) in [
        (r#""quote": "a tower""#, Some("a tower")),
        (r#""evidence": "a tower""#, Some("a tower")),
        (
            r#""quote": ["a tower", "in Paris"]"#,
            Some("a tower … in Paris"),
        ),
        (r#""quote": """#, Some("")),
        (r#""quote": []"#, Some("")),
        (r#""quote": null"#, None),
        (r#""quotes": ["a tower"]"#, Some("a tower")),
        (r#""quote": 2100"#, Some("2100")),
        (r#""quote": ["in", 2100]"#, Some("in … 2100")),
        // Not left out, and nothing that could be looked for.
        (r#""quote": true"#, Some("")),
        (r#""quote": {"text": "a tower"}"#, Some("")),
        (r#""quote": ["a tower", null]"#, Some("")),
        (r#""reason": "so""#, None),
    ] {
        let raw = format!(r#"{{"verdicts": [{{"id": 1, "verdict": true, {quote}}}]}}"#);
        assert_eq!(quotes(&raw).as_deref(), expected, "{raw}");
    }
}

#[test]
fn a_model_that_leaves_a_quote_out_has_none() {
    let expect = Expect::Quotes { items: 2 };
    let raw = r#"[{"id": 1, "verdict": true, "quote": "a"}, {"id": 2, "verdict": true}]"#;
    let reading = read(expect, raw).unwrap();
    let quotes = |reading: Reading| match reading {
        Reading::Verdicts(verdicts) => verdicts.into_iter().map(|verdict| verdict.quote).collect(),
        other => panic!("{other:?}"),
    };
    let of_program: Vec<_> = quotes(reading.clone());
    assert_eq!(of_program, [Some("a".to_owned()), None]);
    let of_model: Vec<_> = quotes(of_model(expect, reading.clone()));
    assert_eq!(of_model, [Some("a".to_owned()), Some(String::new())]);
    let plain = Expect::Verdicts { items: 2 };
    assert_eq!(super::of_model(plain, reading.clone()), reading);
}

fn sourced(raw: &str) -> String {
    let expect = Expect::Sources {
        items: 2,
        sources: 3,
    };
    match read(expect, raw) {
        Ok(reading) => format!("{reading:?}"),
        Err(error) => format!("{}: {error}", error.kind),
    }
}

#[test]
fn sources_are_those_that_were_shown() {
    for raw in [
        r#"{"items": [{"id": 1, "sources": [3, 1, 3]}, {"id": 2, "sources": []}]}"#,
        r#"[{"id": "2", "sources": []}, {"claim_id": 1.0, "source_ids": ["1", 3]}]"#,
        "Here:\n```json\n{\"result\": {\"items\": [{\"id\": 1, \"sources\": [1, 3]}, {\"id\": 2, \"sources\": []}], \"note\": [\"x\"]}}\n```",
        r#"{"items": [{"id": 1, "sources": [1, 3]}, {"id": 2, "sources": []}]} {"items": [{"id": 1, "sources": [1, 3]}, {"id": 2, "sources": []}]}"#,
    ] {
        assert_eq!(sourced(raw), "Sources([[1, 3], []])", "{raw}");
    }
    let all = [
        r#"{"items": [{"id": 1, "sources": [4]}, {"id": 2, "sources": []}]}"#,
        r#"{"items": [{"id": 1, "sources": [0]}, {"id": 2, "sources": []}]}"#,
        r#"{"items": [{"id": 1, "sources": [1.5]}, {"id": 2, "sources": []}]}"#,
        r#"{"items": [{"id": 1, "sources": ["PASSAGE 1"]}, {"id": 2, "sources": []}]}"#,
        r#"{"items": [{"id": 1, "sources": [1]}]}"#,
        r#"{"items": [{"id": 1, "sources": [1]}, {"id": 1, "sources": [1]}]}"#,
        r#"{"items": [{"id": 1, "sources": [1]}, {"id": 3, "sources": [1]}]}"#,
        r#"{"items": [{"id": 1, "sources": [1]}, {"sources": [1]}]}"#,
        r#"{"items": [{"id": 1, "sources": [1]}, {"id": 2, "sources": null}]}"#,
        r#"{"items": [{"id": 1, "sources": [1]}, {"id": 2}]}"#,
        r#"{"items": []}"#,
        r#"{"verdicts": [{"id": 1, "verdict": true}]}"#,
        r#"{"items": [{"id": 1, "sources": []}, {"id": 2, "sources": []}]} {"items": [{"id": 1, "sources": [1]}, {"id": 2, "sources": []}]}"#,
        "none",
    ]
    .map(sourced);
    insta::assert_snapshot!(all.join("\n"), @r#"
    inconsistent: a source of 1 that is none of 1 to 3
    inconsistent: a source of 1 that is none of 1 to 3
    inconsistent: a source of 1 that is none of 1 to 3
    inconsistent: a source of 1 that is none of 1 to 3
    inconsistent: no entry on 2: 1 entries on 2 items
    inconsistent: two entries on 1
    inconsistent: an entry on 3, but the items are 1 to 2
    inconsistent: an item without its id
    inconsistent: no list of sources on 2
    inconsistent: no list of sources on 2
    inconsistent: no entry on 1: 0 entries on 2 items
    unparsable: no list of items in the answer
    unparsable: several answers that differ
    unparsable: no list of items in the answer
    "#);
}

fn listed(raw: &str) -> String {
    match read(Expect::Texts { least: 2, most: 3 }, raw) {
        Ok(Reading::Texts(texts)) => texts.join(" | "),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{}: {error}", error.kind),
    }
}

#[test]
fn texts_are_as_many_as_were_asked_for() {
    for raw in [
        r#"{"texts": ["one ", "", "two", "two"]}"#,
        r#"["one", "two", "two"]"#,
        r#"[{"question": "one"}, {"question": "two"}, {"text": "two"}]"#,
        r#"{"output": {"questions": ["one", "two", "two"]}}"#,
        "```json\n{\"texts\": [\"one\", \"two\", \"two\"], \"why\": \"so\"}\n```",
    ] {
        assert_eq!(listed(raw), "one | two | two", "{raw}");
    }
    for none in [r#"{"texts": []}"#, "[]", r#"{"texts": [" ", ""]}"#] {
        assert_eq!(listed(none), "", "{none}");
    }
    let all = [
        r#"{"texts": ["one"]}"#,
        r#"{"texts": ["1", "2", "3", "4"]}"#,
        r#"{"texts": [1, 2]}"#,
        r#"{"texts": "one, two"}"#,
        r#"{"a": ["one", "two"], "b": ["three", "four"]}"#,
        r#"["one", "two"] ["three", "four"]"#,
        r#"["one", "two""#,
        "one, two",
    ]
    .map(listed);
    insta::assert_snapshot!(all.join("\n"), @r#"
    inconsistent: 1 texts; at least 2 were asked for, or none
    inconsistent: 4 texts; at most 3 were asked for
    inconsistent: a text that is none
    unparsable: no list of texts in the answer
    unparsable: no list of texts in the answer
    unparsable: several answers that differ
    unparsable: the JSON ends in its middle; the answer was cut off
    unparsable: no list of texts in the answer
    "#);
}

#[test]
fn a_score_beside_verdicts_says_what_they_say() {
    let beside = |score: &str, verdicts: [bool; 3]| {
        let list: Vec<_> = std::iter::zip(1.., verdicts)
            .map(|(id, verdict)| format!(r#"{{"id": {id}, "verdict": {verdict}}}"#))
            .collect();
        of(
            3,
            &format!(r#"{{"score": {score}, "verdicts": [{}]}}"#, list.join(",")),
        )
    };
    let two = [true, true, false];
    for score in [
        "0.6666666666666666",
        "0.667",
        "0.67",
        "0.7",
        "\"0.67\"",
        "null",
        "\"good\"",
    ] {
        assert_eq!(beside(score, two), "1, 1, 0", "{score}");
    }
    assert_eq!(beside("1", [true; 3]), "1, 1, 1");
    for score in ["1.0", "0.66", "0.5", "0.6", "2", "-1"] {
        let said = beside(score, two);
        assert!(
            said.starts_with("inconsistent: a score of ") && said.ends_with("whose mean is 0.667"),
            "{score}: {said}"
        );
    }
    assert!(beside("1", [false; 3]).starts_with("inconsistent"));
}

#[test]
fn what_cannot_be_read_is_said_to_be() {
    let all = [
        of(1, ""),
        of(1, " \n "),
        of(1, "I cannot help with that."),
        of(1, r#"{"id": 1, "verdict": true, "verdict": false}"#),
        of(1, r#"{"verdicts": [{"id": 1, "verdict": true},]}"#),
        of(1, r#"{"verdicts": [{"id": 1, "verdict": true}"#),
        of(
            1,
            r#"{"verdict": true} or {"verdicts": [{"id": 1, "verdict": false}]}"#,
        ),
        of(1, "<think>The claim"),
        graded(r#"{"grade": 2} no, {"grade": 3}"#),
        graded("about 4"),
        graded(r#"{"grade": {"a": 1}, "b": {}}"#),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    unparsable: the answer is empty
    unparsable: the answer is empty
    unparsable: no verdicts in the answer
    unparsable: broken JSON: the key `verdict` comes twice at line 1 column 44
    unparsable: broken JSON: trailing comma at line 1 column 42
    unparsable: the JSON ends in its middle; the answer was cut off
    unparsable: several answers that differ
    unparsable: the judge was cut off while it was thinking
    unparsable: several answers that differ
    unparsable: no grade in the answer
    unparsable: no grade in the answer
    "#);
}

/// What a real server answered; where it comes from is in the README.md beside them.
#[test]
fn recorded_answers() {
    let recorded = include_str!("../../fixtures/recorded.jsonl");
    let mut all = Vec::new();
    for line in recorded.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let raw = line["content"].as_str().unwrap();
        all.push(format!(
            "{}: {} | {}",
            line["name"].as_str().unwrap(),
            of(2, raw),
            graded(raw)
        ));
    }
    insta::assert_snapshot!(all.join("\n"), @r#"
    statements_json_schema aragog-001: unparsable: no verdicts in the answer | unparsable: no grade in the answer
    statements_json_schema aragog-002: unparsable: no verdicts in the answer | unparsable: no grade in the answer
    statements_json_schema aragog-005: unparsable: no verdicts in the answer | unparsable: no grade in the answer
    verdicts_json_schema: inconsistent: a verdict without the id of its item | unparsable: no grade in the answer
    json_object: inconsistent: a verdict without the id of its item | inconsistent: a grade of 0.9, which is not from 1 to 5
    free_text_fenced_json: inconsistent: a verdict without the id of its item | 1 (Paris is indeed the capital of France, which is the answer to the question 'What is the capital of France?'.)
    truncated_by_max_tokens: unparsable: the JSON ends in its middle; the answer was cut off | unparsable: the JSON ends in its middle; the answer was cut off
    logprobs_single_token: unparsable: no verdicts in the answer | 1 ()
    "#);
}

#[test]
fn a_huge_answer_takes_no_time_and_no_stack() {
    let refused = |raw: &str| {
        let error = read(Expect::Verdicts { items: 2 }, raw).unwrap_err();
        assert!(error.message.len() < 300, "{error}");
    };
    let huge = 10 << 20;
    refused(&"[".repeat(huge));
    refused(&" ".repeat(huge));
    refused(&format!("{{\"verdicts\":{}", "\n".repeat(huge)));
    for raw in [
        "[".repeat(LONGEST),
        "{ ".repeat(LONGEST / 2),
        "{\"a\":".repeat(LONGEST / 5),
        format!("{{{}", " ".repeat(LONGEST - 1)),
        "[]".repeat(LONGEST / 2),
        "{x".repeat(200) + &"[{".repeat(LONGEST / 2 - 200),
    ] {
        refused(&raw);
    }
    let padded = format!(
        "{}{{\"grade\": 4}}{}",
        " ".repeat(LONGEST),
        "\n".repeat(LONGEST)
    );
    assert_eq!(graded(&padded), "4 ()");
}

#[test]
fn the_schema_is_strict() {
    fn check(schema: &Value) {
        if schema["type"] == "object" {
            assert_eq!(schema["additionalProperties"], false);
            let properties = schema["properties"].as_object().unwrap();
            let required: Vec<_> = schema["required"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(
                properties
                    .keys()
                    .map(String::as_str)
                    .collect::<std::collections::BTreeSet<_>>(),
                required.into_iter().collect()
            );
            properties.values().for_each(check);
        }
        if schema["type"] == "array" {
            check(&schema["items"]);
        }
    }
    for expect in [
        GRADE,
        Expect::Verdicts { items: 3 },
        Expect::Quotes { items: 3 },
        Expect::Sources {
            items: 3,
            sources: 2,
        },
        Expect::Texts { least: 1, most: 3 },
        Expect::WeightedGrade { low: 0, high: 10 },
        Expect::Grade {
            low: i64::MIN,
            high: i64::MAX,
        },
    ] {
        check(&schema(expect));
        assert!(!schema_name(expect).is_empty());
    }
    assert_eq!(
        schema(Expect::Verdicts { items: 1 }),
        schema(Expect::Verdicts { items: 9 })
    );
}

#[test]
fn a_repair_shows_what_was_wrong() {
    let request = Request {
        metric: "faithfulness".to_owned(),
        version: "1".to_owned(),
        messages: Vec::new(),
        expect: Expect::Verdicts { items: 2 },
        items: Vec::new(),
        evidence: Vec::new(),
        of_answer: None,
    };
    let raw = "é".repeat(5000);
    let why = read(request.expect, &raw).unwrap_err();
    let messages = repair(&request, &raw, &why);
    assert_eq!(messages[0].content.chars().count(), 4000);
    assert_eq!(
        (messages[0].role, messages[1].role),
        (Role::Assistant, Role::User)
    );
    assert!(
        messages[1].content.contains("no verdicts in the answer")
            && messages[1].content.contains("from 1 to 2")
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(raw in "\\PC{0,80}|[\\[\\]{}\":,0-9a-z \n]{0,80}", items in 0_usize..5) {
        if let Ok(Reading::Verdicts(verdicts)) = read(Expect::Verdicts { items }, &raw) {
            prop_assert_eq!(verdicts.len(), items);
            prop_assert!(verdicts.iter().all(|verdict| (0.0..=1.0).contains(&verdict.holds)));
        }
        if let Ok(Reading::Grade { grade, .. }) = read(GRADE, &raw) {
            prop_assert!((1.0..=5.0).contains(&grade));
        }
        if let Ok(Reading::Sources(held)) = read(Expect::Sources { items, sources: 2 }, &raw) {
            prop_assert_eq!(held.len(), items);
            prop_assert!(held.iter().flatten().all(|source| (1..=2).contains(source)));
        }
        if let Ok(Reading::Texts(texts)) = read(Expect::Texts { least: 2, most: 3 }, &raw) {
            prop_assert!(texts.is_empty() || (2..=3).contains(&texts.len()));
            prop_assert!(texts.iter().all(|text| !text.trim().is_empty()));
        }
    }

    /// Whatever a judge that was talked over writes: it is read as what was asked for, or not at all.
    #[test]
    fn a_mutilated_answer_is_read_or_refused(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"verdicts\"", "\"id\"", "1", "2", "\"verdict\"", "true", "false", "null", "NaN",
            "\"quote\"", "\"score\"", "\"items\"", "\"sources\"", "\"texts\"", "\"grade\"", "1e999", "-0", "\"\"", "\"…\"",
            "{\"id\": 1, \"verdict\": true}", "{\"id\": 1, \"sources\": [1]}", "```json", "<think>", "</think>", "\u{0}", " ",
        ]), 0..24),
    ) {
        let raw = pieces.concat();
        for expect in [
            Expect::Verdicts { items: 1 },
            Expect::Quotes { items: 1 },
            Expect::Sources { items: 1, sources: 1 },
            Expect::Texts { least: 1, most: 2 },
            Expect::WeightedGrade { low: 0, high: 10 },
        ] {
            match (expect, read(expect, &raw)) {
                (Expect::Verdicts { .. } | Expect::Quotes { .. }, Ok(Reading::Verdicts(verdicts))) => {
                    prop_assert_eq!(verdicts.len(), 1);
                    prop_assert!((0.0..=1.0).contains(&verdicts[0].holds));
                }
                (Expect::Sources { .. }, Ok(Reading::Sources(held))) => {
                    prop_assert!(held.len() == 1 && held[0].iter().all(|source| *source == 1));
                }
                (Expect::Texts { .. }, Ok(Reading::Texts(texts))) => prop_assert!(texts.len() <= 2),
                (Expect::WeightedGrade { .. }, Ok(Reading::Grade { grade, weighted, .. })) => {
                    prop_assert!((0.0..=10.0).contains(&grade) && weighted.is_none());
                }
                (_, Ok(other)) => prop_assert!(false, "{:?}", other),
                (_, Err(error)) => prop_assert!(!error.message.is_empty() && error.message.len() < 300),
            }
        }
    }

    /// Near the form that was asked for, where mistakes would be believed.
    #[test]
    fn exactly_the_items_are_answered(ids in prop::collection::vec(0_u64..5, 0..5), items in 1_usize..4) {
        let entries: Vec<_> = ids.iter().map(|id| format!(r#"{{"id": {id}, "reason": "", "verdict": true}}"#)).collect();
        let raw = format!(r#"{{"verdicts": [{}]}}"#, entries.join(", "));
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        let is_complete = sorted == (1..=items as u64).collect::<Vec<_>>();
        prop_assert_eq!(read(Expect::Verdicts { items }, &raw).is_ok(), is_complete);
    }
}
