//! Paths and files that are what nobody expects.

use super::{Folder, Full, feed, same};

const GOOD: &str = r#"{"faithfulness": 0.9}"#;
const BAD: &str = r#"{"faithfulness": 0.5}"#;

#[test]
fn results_can_be_their_own_baseline() {
    let folder = Folder::with(GOOD, GOOD);
    folder.run("check results.json results.json").exits(0);
    assert_eq!(folder.read("results.json"), GOOD);
}

#[test]
fn an_output_never_overwrites_an_input() {
    let folder =
        Folder::with(GOOD, GOOD).file("gate.toml", "version = 1\n[metrics.faithfulness]\n");
    for name in [
        "results.json",
        "baseline.json",
        "gate.toml",
        "./results.json",
        "../FOLDER/results.json",
    ] {
        let name = name.replace(
            "FOLDER",
            folder.path().file_name().unwrap().to_str().unwrap(),
        );
        folder
            .run(&format!(
                "check results.json baseline.json --output json={name}"
            ))
            .exits(2)
            .mentions(&["overwrite"]);
        assert_eq!(folder.read("results.json"), GOOD);
        assert_eq!(folder.read("baseline.json"), GOOD);
    }
    folder.write("history.jsonl", "");
    folder.write("gate.toml", "version = 1\nbaseline = \"baseline.json\"\n");
    folder
        .run("check results.json --output json=baseline.json")
        .exits(2);
    folder
        .run("check results.json baseline.json --output json=history.jsonl")
        .exits(2);
}

#[test]
fn two_outputs_never_share_a_file() {
    let folder = Folder::with(GOOD, GOOD);
    folder
        .run("check results.json baseline.json --output json=out --output markdown=./out")
        .exits(2)
        .mentions(&["out"]);
    folder
        .run("check results.json baseline.json --output json --output markdown=report.md")
        .exits(0);
}

#[test]
fn a_baseline_never_overwrites_the_policy_or_its_history() {
    let folder =
        Folder::with(GOOD, GOOD).file("gate.toml", "version = 1\n[metrics.faithfulness]\n");
    folder
        .run("baseline update results.json --to history.jsonl")
        .exits(2);
    let ran = folder.run("baseline update results.json --to gate.toml");
    assert!(matches!(ran.code, Some(2 | 3)), "{ran:?}");
    assert!(folder.read("gate.toml").starts_with("version"));
}

#[test]
fn paths_with_blanks_letters_and_line_feeds_are_paths() {
    let folder = Folder::new();
    for name in [
        "with blank.json",
        "ünï中😀.json",
        "line\nfeed.json",
        "quote'\"`$(x).json",
        "[brackets]*.json",
        "-dash.json",
        "a=b.json",
    ] {
        folder.write(name, GOOD);
        let mut command = folder.command("check");
        let report = format!("json={name}.verdict");
        command
            .arg("--output")
            .arg(&report)
            .arg("--")
            .arg(name)
            .arg(name);
        let ran = super::Ran::of(&command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        assert!(folder.json(&format!("{name}.verdict"))["outcome"] == "pass");
        folder.write(name, "{");
        let mut command = folder.command("check");
        let ran = super::Ran::of(&command.arg("--").arg(name).arg(name).output().unwrap());
        assert_eq!(ran.code, Some(3), "{name}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_unicode_is_a_path() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::with(GOOD, GOOD);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.json");
    std::fs::write(folder.path().join(name), BAD).unwrap();
    let ran = super::Ran::of(
        &folder
            .command("check")
            .arg(name)
            .arg("baseline.json")
            .output()
            .unwrap(),
    );
    ran.exits(1);
    let ran = super::Ran::of(
        &folder
            .command("check")
            .arg(std::ffi::OsStr::from_bytes(b"\xff"))
            .arg("baseline.json")
            .output()
            .unwrap(),
    );
    ran.exits(3);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_stay_links() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with(GOOD, GOOD).file("old.json", "");
    symlink("results.json", folder.join("link.json")).unwrap();
    symlink("old.json", folder.join("verdict.json")).unwrap();
    symlink("loop.json", folder.join("loop.json")).unwrap();
    symlink("nowhere.json", folder.join("dangling.json")).unwrap();
    folder
        .run("check link.json baseline.json --output json=verdict.json")
        .exits(0);
    assert!(
        std::fs::symlink_metadata(folder.join("verdict.json"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(folder.json("old.json")["outcome"], "pass");
    folder.run("check loop.json baseline.json").exits(3);
    folder.run("check dangling.json baseline.json").exits(3);
    folder.run("check results.json dangling.json").exits(3);
    folder
        .run("check results.json baseline.json --output json=link.json")
        .exits(2);
}

#[cfg(unix)]
#[test]
fn pipes_are_read_and_devices_are_written() {
    let folder = Folder::with(GOOD, GOOD);
    let pipe = folder.join("pipe.json");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let child = folder
        .command("check pipe.json baseline.json")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::fs::write(&pipe, BAD).unwrap();
    super::Ran::of(&child.wait_with_output().unwrap()).exits(1);
    let ran = folder
        .run("check results.json baseline.json --output json=/dev/stdout --output text=/dev/null");
    ran.exits(0).mentions(&["rag-gate/verdict/1"]);
    folder.run("check results.json /dev/null").exits(3);
    feed(
        folder.command("check /dev/stdin baseline.json"),
        BAD.as_bytes(),
    )
    .exits(1);
}

#[test]
fn a_sample_with_a_very_long_text_is_a_sample() {
    let long = "lorem ipsum ".repeat(500_000);
    let side = |score: f64| {
        Full::of("faithfulness", same(1, score)).each(|_, sample| {
            sample["answer"] = serde_json::json!(long);
            sample["reasons"] = serde_json::json!({"faithfulness": long});
        })
    };
    let folder = Folder::with(&side(0.5).text(), &side(0.9).text());
    let ran = folder.check();
    ran.exits(1);
    assert!(ran.stdout.len() < 10_000, "{}", ran.stdout.len());
}

#[test]
fn a_bomb_of_noughts_is_refused_before_it_fills_the_memory() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..64 {
        encoder.write_all(&[b' '; 1 << 20]).unwrap();
    }
    let folder = Folder::with(GOOD, GOOD).file("bomb.json.gz", encoder.finish().unwrap());
    folder
        .run("check bomb.json.gz baseline.json")
        .exits(3)
        .mentions(&["empty"]);
}
