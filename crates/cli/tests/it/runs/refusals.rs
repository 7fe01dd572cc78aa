//! Files that are not what they should be: each refused with its name and place, none passed, none blocked.

use std::io::Write;

use super::{Folder, Full, Ran, same};

const GOOD: &str = r#"{"faithfulness": 0.9}"#;

/// How a results file is received, once as results and once as a baseline.
fn as_either(bytes: impl AsRef<[u8]>) -> [Ran; 2] {
    let folder = Folder::with(GOOD, GOOD).file("odd.json", bytes);
    [
        folder.run("check odd.json baseline.json"),
        folder.run("check results.json odd.json"),
    ]
}

fn utf16(text: &str, mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let marked = format!("{}{text}", if mark { "\u{feff}" } else { "" });
    marked.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn encodings_and_compressions_that_people_have_are_read() {
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(GOOD.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let two_members = [gzip.clone(), gzip_of(" ")].concat();
    for (name, bytes) in [
        ("BOM", [b"\xef\xbb\xbf", GOOD.as_bytes()].concat()),
        ("CRLF", b"{\r\n\"faithfulness\": 0.9\r\n}\r\n".to_vec()),
        ("UTF-16 LE with mark", utf16(GOOD, true, u16::to_le_bytes)),
        ("UTF-16 BE with mark", utf16(GOOD, true, u16::to_be_bytes)),
        ("UTF-16 LE", utf16(GOOD, false, u16::to_le_bytes)),
        ("UTF-16 BE", utf16(GOOD, false, u16::to_be_bytes)),
        ("gzip", gzip),
        ("gzip of two members", two_members),
        (
            "gzip of UTF-16",
            gzip_bytes(&utf16(GOOD, true, u16::to_le_bytes)),
        ),
        (
            "blanks and line feeds",
            format!("\n\n  {GOOD}\n\n\n").into_bytes(),
        ),
        ("escapes in a key", br#"{"faithfulness": 0.9}"#.to_vec()),
    ] {
        for ran in as_either(bytes) {
            assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

fn gzip_of(text: &str) -> Vec<u8> {
    gzip_bytes(text.as_bytes())
}

fn gzip_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// `{"faithfulness": 0.9}` as `zstd` writes it.
const ZSTD: [u8; 34] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0xa9, 0x00, 0x00, b'{', b'"', b'f', b'a', b'i', b't', b'h',
    b'f', b'u', b'l', b'n', b'e', b's', b's', b'"', b':', b' ', b'0', b'.', b'9', b'}', 0x00, 0x00,
    0x00, 0x00,
];

#[test]
fn zstandard_is_read_and_a_cut_is_noticed() {
    for ran in as_either(&ZSTD[..10]) {
        ran.exits(3).mentions(&["odd.json"]);
    }
}

#[test]
fn each_refusal_names_the_file_and_the_place() {
    let sample = |score: &str| {
        format!(
            r#"{{"samples": [{{"id": "q1", "scores": {{"faithfulness": 0.9}}}}, {{"id": "q2", "scores": {{"faithfulness": {score}}}}}]}}"#
        )
    };
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("empty", b"".to_vec(), &["empty"]),
        ("blank", b"  \n ".to_vec(), &["empty"]),
        ("only a mark", b"\xef\xbb\xbf".to_vec(), &["empty"]),
        ("null", b"null".to_vec(), &["null"]),
        ("a number", b"0.9".to_vec(), &[]),
        ("a string", b"\"faithfulness\"".to_vec(), &[]),
        ("an array", b"[0.9]".to_vec(), &[]),
        ("an empty object", b"{}".to_vec(), &[]),
        ("true", b"true".to_vec(), &[]),
        ("HTML", b"<!DOCTYPE html><html>404</html>".to_vec(), &["HTML"]),
        ("HTML after blanks", b"\n\n<html>".to_vec(), &["HTML"]),
        ("XML", b"<?xml version=\"1.0\"?>".to_vec(), &[]),
        ("NULs at the end", b"{\"faithfulness\": 0.9}\n\0\0\0".to_vec(), &["NUL"]),
        ("only NULs", vec![0; 64], &["NUL"]),
        ("two documents", format!("{GOOD}{GOOD}").into_bytes(), &["line 1"]),
        ("JSON lines", format!("{GOOD}\n{GOOD}\n").into_bytes(), &["line 2"]),
        ("a comma at the end", b"{\"faithfulness\": 0.9,}".to_vec(), &["line 1"]),
        ("a comment", b"{\"faithfulness\": 0.9} // good".to_vec(), &["line 1"]),
        ("Infinity", sample("Infinity").into_bytes(), &["q2", "Infinity"]),
        ("-Infinity", sample("-Infinity").into_bytes(), &["q2", "Infinity"]),
        ("1e999", sample("1e999").into_bytes(), &["q2", "too large"]),
        ("-1e999", sample("-1e999").into_bytes(), &["q2", "too large"]),
        ("a long number that overflows", sample(&"9".repeat(400)).into_bytes(), &["q2"]),
        ("a string", sample("\"0.9\"").into_bytes(), &["q2", "string"]),
        ("a string NaN", sample("\"NaN\"").into_bytes(), &["q2"]),
        ("an object", sample("{\"value\": 0.9}").into_bytes(), &["q2"]),
        ("an array", sample("[0.9]").into_bytes(), &["q2"]),
        ("out of range", sample("1.7").into_bytes(), &["q2", "1.7"]),
        ("a leading nought", sample("00.9").into_bytes(), &["line 1"]),
        ("a decimal comma", sample("0,9").into_bytes(), &["line 1"]),
        ("hexadecimal", sample("0x1").into_bytes(), &["line 1"]),
        ("duplicate metrics of a sample", sample("0.2, \"faithfulness\": 0.95").into_bytes(), &["faithfulness", "twice"]),
        ("duplicate metrics in other spelling", sample("0.2, \"f\\u0061ithfulness\": 0.95").into_bytes(), &["faithfulness", "twice"]),
        ("duplicate keys of a flat file", b"{\"faithfulness\": 0.2, \"faithfulness\": 0.9}".to_vec(), &["faithfulness", "twice"]),
        ("duplicate top keys", br#"{"samples": [{"id": "a", "scores": {"faithfulness": 0.9}}], "samples": []}"#.to_vec(), &["samples", "twice"]),
        ("duplicate keys deep in the run", br#"{"run": {"judge": {"model": "a", "model": "b"}}, "samples": [{"id": "a", "scores": {"faithfulness": 0.9}}]}"#.to_vec(), &["model", "duplicate"]),
        ("duplicate ids", br#"{"samples": [{"id": "a", "scores": {"faithfulness": 0.9}}, {"id": "a", "scores": {"faithfulness": 0.9}}]}"#.to_vec(), &["`a`"]),
        ("a sample without id", br#"{"samples": [{"scores": {"faithfulness": 0.9}}]}"#.to_vec(), &["id"]),
        ("an id of null", br#"{"samples": [{"id": null, "scores": {"faithfulness": 0.9}}]}"#.to_vec(), &["id"]),
        ("a sample of null", br#"{"samples": [null]}"#.to_vec(), &["samples"]),
        ("samples as an object", br#"{"samples": {"a": {"faithfulness": 0.9}}}"#.to_vec(), &["samples"]),
        ("samples of null", br#"{"samples": null}"#.to_vec(), &[]),
        ("a flat Infinity", br#"{"faithfulness": Infinity}"#.to_vec(), &["Infinity"]),
        ("a flat string", br#"{"faithfulness": "0.9"}"#.to_vec(), &["faithfulness"]),
        ("a flat 1e999", br#"{"faithfulness": 1e999}"#.to_vec(), &["too large"]),
        ("a negative n", br#"{"metrics": {"faithfulness": {"mean": 0.9, "n": -1}}}"#.to_vec(), &["-1"]),
        ("a fractional n", br#"{"metrics": {"faithfulness": {"mean": 0.9, "n": 1.5}}}"#.to_vec(), &["n"]),
        ("another schema", br#"{"schema": "rag-gate/results/2", "samples": [{"id": "a", "scores": {"faithfulness": 0.9}}]}"#.to_vec(), &["rag-gate/results/2"]),
        ("half a surrogate", br#"{"samples": [{"id": "\ud800", "scores": {"faithfulness": 0.9}}]}"#.to_vec(), &["line 1"]),
        ("Latin-1", b"{\"faithfulness\": 0.9, \"caf\xe9\": 1}".to_vec(), &["line 1"]),
        ("half of UTF-16", b"\xff\xfe{".to_vec(), &["UTF-16"]),
        ("a gzip that was cut", gzip_of(GOOD)[..15].to_vec(), &[]),
        ("a gzip of nothing", gzip_of(""), &["empty"]),
        ("only the head of a gzip", vec![0x1f, 0x8b], &[]),
        ("a zip", b"PK\x03\x04results".to_vec(), &[]),
        ("deep", "[".repeat(100_000).into_bytes(), &[]),
        ("deep in what is passed over", format!("{{\"extra\": {}{}, \"samples\": []}}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(), &[]),
        ("a Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 1\n".to_vec(), &[]),
        ("merge conflict", format!("<<<<<<< HEAD\n{GOOD}\n=======\n{GOOD}\n>>>>>>> b\n").into_bytes(), &[]),
    ];
    let mut faults = Vec::new();
    for (name, bytes, mention) in &cases {
        for ran in as_either(bytes) {
            let said = ran.said();
            let mut wrong: Vec<String> = mention
                .iter()
                .filter(|word| !said.contains(**word))
                .map(|word| format!("no {word:?}"))
                .collect();
            if ran.code != Some(3) {
                wrong.push(format!("exits {:?}", ran.code));
            }
            if !said.contains("odd.json") {
                wrong.push("no file name".to_owned());
            }
            if !wrong.is_empty() {
                faults.push(format!(
                    "{name}: {}\n    {}",
                    wrong.join(", "),
                    said.chars().take(400).collect::<String>()
                ));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn a_bare_nan_is_a_failed_score() {
    for text in [
        r#"{"faithfulness": NaN}"#.to_owned(),
        Full::of("faithfulness", same(10, 0.875))
            .text()
            .replace("0.875", "NaN"),
        Full::of("faithfulness", same(10, 0.875))
            .text()
            .replacen("0.875", "NaN", 1),
    ] {
        let folder = Folder::with(&text, GOOD);
        folder.check().exits(3);
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let whole = r#"{"run":{"complete":true},"samples":[{"id":"é","scores":{"faithfulness":0.9,"mrr":NaN}}]}"#;
    let folder = Folder::with(GOOD, whole);
    folder.run("check baseline.json baseline.json").exits(3);
    let start = std::time::Instant::now();
    for length in 0..whole.len() {
        folder.write("cut.json", &whole.as_bytes()[..length]);
        let ran = folder.run("check cut.json baseline.json");
        assert_eq!(
            ran.code,
            Some(3),
            "cut after {length} bytes: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(ran.stderr.contains("cut.json"), "{}", ran.stderr);
    }
    assert!(
        start.elapsed().as_secs() < 30,
        "starting the command takes too long"
    );
}

#[test]
fn a_flat_file_cut_anywhere_is_refused() {
    let whole = GOOD;
    let folder = Folder::with(GOOD, GOOD);
    for length in 0..whole.len() {
        folder.write("cut.json", &whole.as_bytes()[..length]);
        folder.run("check cut.json baseline.json").exits(3);
        folder.run("check results.json cut.json").exits(3);
    }
}

#[test]
fn a_line_and_a_column_lead_to_the_place() {
    let folder = Folder::with(
        "{\n  \"samples\": [\n    {\"id\": \"q1\", \"scores\": {\"faithfulness\": \"0.9\"}}\n  ]\n}\n",
        GOOD,
    );
    folder.check().exits(3).mentions(&["line 3"]);
}

#[cfg(unix)]
#[test]
fn a_folder_or_a_file_that_may_not_be_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(GOOD, GOOD)
        .file("closed.json", GOOD)
        .file("folder/file", "");
    folder
        .run("check folder baseline.json")
        .exits(3)
        .mentions(&["folder"]);
    folder
        .run("check results.json folder")
        .exits(3)
        .mentions(&["folder"]);
    std::fs::set_permissions(
        folder.join("closed.json"),
        std::fs::Permissions::from_mode(0),
    )
    .unwrap();
    // The superuser reads everything.
    if std::fs::read(folder.join("closed.json")).is_err() {
        folder
            .run("check closed.json baseline.json")
            .exits(3)
            .mentions(&["closed.json"]);
        folder
            .run("check results.json closed.json")
            .exits(3)
            .mentions(&["closed.json"]);
    }
}
