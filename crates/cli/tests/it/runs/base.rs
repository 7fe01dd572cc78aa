//! A change cannot judge itself: policy and baseline come from git.

use std::process::Command;

use serde_json::{Value, json};

use super::{Folder, Ran};

const STRICT: &str = "version = 1\nbaseline = \"baseline/main.json\"\n[gate]\nmax_drop = 0.03\n[metrics.faithfulness]\nmin = 0.80\n";
const LAX: &str = "version = 1\nbaseline = \"baseline/main.json\"\n[gate]\nmax_drop = 0.5\n[metrics.faithfulness]\nmin = 0.10\n";

/// A repository on the branch `main`, without settings of the user.
struct Repository(Folder);

impl Repository {
    fn new() -> Self {
        let repository = Repository(Folder::new());
        repository.git("init --quiet --initial-branch=main");
        repository
    }

    /// With a strict policy and a baseline of 0.86 on main.
    fn strict() -> Self {
        let repository = Self::new();
        repository.0.write("gate.toml", STRICT);
        repository
            .0
            .write("baseline/main.json", r#"{"faithfulness": 0.86}"#);
        repository.commit("strict");
        repository
    }

    fn git(&self, arguments: &str) -> String {
        let output = Command::new("git")
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments.split_whitespace())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits everything; the new commit.
    fn commit(&self, message: &str) -> String {
        self.git("add --all");
        self.git(&format!("commit --quiet --allow-empty -m {message}"));
        self.git("rev-parse HEAD")
    }

    /// `check` with results of this faithfulness.
    fn check(&self, faithfulness: f64, arguments: &str) -> Ran {
        self.check_as(faithfulness, arguments, None)
    }

    /// `check` in a job that this event started.
    fn check_as(
        &self,
        faithfulness: f64,
        arguments: &str,
        event: Option<(&str, &Value, &str)>,
    ) -> Ran {
        let outside = Folder::new().file(
            "results.json",
            json!({"faithfulness": faithfulness}).to_string(),
        );
        let mut command = super::rag_gate();
        command
            .current_dir(self.0.path())
            .arg("check")
            .arg(outside.join("results.json"))
            .args(arguments.split_whitespace());
        if let Some((name, event, sha)) = event {
            outside.write("event.json", event.to_string());
            command
                .env("GITHUB_EVENT_NAME", name)
                .env("GITHUB_EVENT_PATH", outside.join("event.json"))
                .env("GITHUB_SHA", sha);
        }
        Ran::of(&command.output().unwrap())
    }
}

#[test]
fn a_change_that_lowers_its_own_limits_and_baseline_is_judged_by_the_base() {
    let repository = Repository::strict();
    repository.git("checkout --quiet -b change");
    repository.0.write("gate.toml", LAX);
    repository
        .0
        .write("baseline/main.json", r#"{"faithfulness": 0.50}"#);
    repository.0.write("history.jsonl", "");
    repository.commit("cheat");
    repository
        .0
        .write("baseline/main.json", r#"{"faithfulness": 0.60}"#);
    repository.check(0.60, "").exits(0);
    let ran = repository.check(0.60, "--base main");
    ran.exits(1).mentions(&[
        "faithfulness 0.600 below the minimum 0.80",
        "dropped by 0.260",
        "this change lowers faithfulness.min from 0.80 to 0.10; it was judged by 0.80",
        "this change raises gate.max_drop from 0.03 to 0.50; it was judged by 0.03",
        "this change edits the baseline: faithfulness from 0.860 to 0.600; it was judged by 0.860",
    ]);
    // The headline stands before the table.
    let (headline, table) = (
        ran.stdout.find("this change lowers"),
        ran.stdout.find("verdict\n"),
    );
    assert!(headline.unwrap() < table.unwrap(), "{}", ran.stdout);
}

#[test]
fn deleting_the_policy_or_the_baseline_changes_nothing() {
    let repository = Repository::strict();
    std::fs::remove_file(repository.0.join("gate.toml")).unwrap();
    std::fs::remove_dir_all(repository.0.join("baseline")).unwrap();
    repository.commit("delete");
    repository.check(0.60, "--base HEAD~1").exits(1).mentions(&[
        "this change deletes gate.toml",
        "this change deletes the baseline",
        "below the minimum 0.80",
    ]);
    repository
        .check(0.85, "--base HEAD~1")
        .exits(0)
        .mentions(&["deletes"]);
}

#[test]
fn renaming_the_baseline_is_judged_by_the_name_of_the_base() {
    let repository = Repository::strict();
    repository.git("mv baseline/main.json baseline/other.json");
    repository
        .0
        .write("gate.toml", STRICT.replace("main.json", "other.json"));
    repository
        .0
        .write("baseline/other.json", r#"{"faithfulness": 0.50}"#);
    repository.commit("rename");
    repository
        .check(0.81, "--base HEAD~1")
        .exits(1)
        .mentions(&["dropped by 0.050"]);
}

#[test]
fn a_change_that_brings_the_gate_is_an_adoption() {
    let repository = Repository::new();
    repository.0.write("readme", "");
    repository.commit("nothing");
    repository.0.write("gate.toml", STRICT);
    repository
        .0
        .write("baseline/main.json", r#"{"faithfulness": 0.99}"#);
    repository.commit("adopt");
    repository
        .check(0.85, "--base HEAD~1")
        .exits(0)
        .mentions(&["brings the policy gate.toml", "brings the baseline"]);
    repository
        .check(0.79, "--base HEAD~1")
        .exits(1)
        .mentions(&["below the minimum 0.80"]);
}

#[test]
fn a_base_with_a_policy_and_no_baseline_anywhere_is_3() {
    let repository = Repository::new();
    repository.0.write("gate.toml", STRICT);
    repository.commit("policy");
    repository
        .check(0.85, "--base HEAD")
        .exits(3)
        .mentions(&["baseline/main.json", "baseline update"]);
    repository
        .check(0.85, "--base HEAD --allow-missing-baseline")
        .exits(0);
    repository
        .check(0.75, "--base HEAD --allow-missing-baseline")
        .exits(1);
}

#[test]
fn a_ref_that_is_not_here_is_3_with_the_command_that_fetches_it() {
    let repository = Repository::strict();
    repository
        .check(0.86, "--base origin/main")
        .exits(3)
        .mentions(&["origin/main", "git fetch"]);
    repository
        .check(0.86, "--base 1234567890123456789012345678901234567890")
        .exits(3)
        .mentions(&["git fetch"]);
    repository
        .check(0.86, "--base HEAD^1")
        .exits(3)
        .mentions(&["git fetch"]);
}

#[test]
fn a_ref_that_looks_like_an_option_is_no_option() {
    let repository = Repository::strict();
    for base in ["--base=-x", "--base=--upload-pack=touch", "--base="] {
        repository.check(0.86, base).exits(2);
    }
    for base in ["HEAD:gate.toml", "HEAD..HEAD", "main@{u}", "a b"] {
        let mut command = repository.0.command("check gate.toml");
        let ran = Ran::of(&command.arg("--base").arg(base).output().unwrap());
        assert!(matches!(ran.code, Some(2 | 3)), "{base}: {ran:?}");
    }
}

#[test]
fn outside_of_git_there_is_no_base() {
    let folder = Folder::with(r#"{"faithfulness": 0.9}"#, r#"{"faithfulness": 0.9}"#);
    folder
        .run("check results.json baseline.json --base main")
        .exits(3)
        .mentions(&["git repository"]);
}

#[test]
fn a_subfolder_finds_the_policy_above_it() {
    let repository = Repository::strict();
    repository
        .0
        .write("app/results.json", r#"{"faithfulness": 0.60}"#);
    repository.0.write("gate.toml", LAX);
    repository.commit("cheat");
    let mut command = super::rag_gate();
    command.current_dir(repository.0.join("app"));
    let ran = Ran::of(
        &command
            .args([
                "check",
                "results.json",
                "--config",
                "../gate.toml",
                "--base",
                "HEAD~1",
            ])
            .output()
            .unwrap(),
    );
    ran.exits(1)
        .mentions(&["below the minimum 0.80", "lowers faithfulness.min"]);
}

#[test]
fn a_policy_of_a_subfolder_has_its_baseline_beside_it() {
    let repository = Repository::new();
    repository.0.write("app/gate.toml", STRICT);
    repository
        .0
        .write("app/baseline/main.json", r#"{"faithfulness": 0.86}"#);
    repository.commit("nested");
    repository
        .check(0.70, "--config app/gate.toml --base HEAD")
        .exits(1)
        .mentions(&["dropped by 0.160"]);
    repository
        .check(0.86, "--config ./app/../app/gate.toml --base HEAD")
        .exits(0);
}

#[test]
fn a_baseline_outside_of_the_repository_cannot_be_trusted() {
    let repository = Repository::strict();
    let outside = Folder::new().file("baseline.json", r#"{"faithfulness": 0.1}"#);
    let path = outside.join("baseline.json");
    let ran = repository.check(0.85, &format!("{} --base HEAD", path.display()));
    ran.exits(2).mentions(&["outside the git repository"]);
}

#[test]
fn evaluation_sections_are_the_changes_own() {
    let repository = Repository::strict();
    repository.0.write(
        "gate.toml",
        format!("{STRICT}[judge]\nmodel = \"b\"\n[dataset]\npath = \"golden.jsonl\"\n"),
    );
    repository.0.write("golden.jsonl", "{}\n");
    repository.commit("evaluate");
    repository
        .check(0.86, "--base HEAD~1")
        .exits(0)
        .mentions(&["judge.model", "golden.jsonl"]);
}

#[test]
fn a_broken_policy_of_the_change_is_2_and_one_of_the_base_too() {
    let repository = Repository::strict();
    repository
        .0
        .write("gate.toml", "version = 1\nmax_drp = 1\n");
    repository
        .check(0.86, "--base HEAD")
        .exits(2)
        .mentions(&["max_drp"]);
    repository.commit("broken");
    repository.0.write("gate.toml", STRICT);
    repository
        .check(0.86, "--base HEAD")
        .exits(2)
        .mentions(&["max_drp"]);
}

#[test]
fn a_broken_baseline_of_the_base_is_3_and_one_of_the_change_is_said() {
    let repository = Repository::strict();
    repository.0.write("baseline/main.json", "<html>");
    repository
        .check(0.86, "--base HEAD")
        .exits(0)
        .mentions(&["unreadable"]);
    repository.commit("broken");
    repository
        .check(0.86, "--base HEAD")
        .exits(3)
        .mentions(&["baseline/main.json of"]);
}

#[test]
fn the_history_of_the_base_finds_the_drift() {
    let line = |mean: f64, day: u8, change: &str| {
        format!(
            "{{\"accepted\": {{\"at\": \"2026-10-0{day}T00:00:00Z\"}}, \"metrics\": {{\"faithfulness\": {{\"mean\": {mean}{change}}}}}}}\n"
        )
    };
    let repository = Repository::strict();
    repository.0.write(
        "gate.toml",
        STRICT.replace("max_drop", "max_drift = 0.05\nmax_drop"),
    );
    repository.0.write(
        "baseline/history.jsonl",
        line(0.90, 1, "")
            + &line(0.88, 2, ", \"change\": -0.02")
            + &line(0.86, 3, ", \"change\": -0.02"),
    );
    repository.commit("history");
    repository
        .0
        .write("baseline/history.jsonl", line(0.86, 3, ""));
    repository.commit("forget");
    repository.check(0.84, "").exits(0);
    repository
        .check(0.84, "--base HEAD~1")
        .exits(1)
        .mentions(&["0.06", "history"]);
}

/// A pull request whose change is lax, merged by the forge for the test.
struct PullRequest {
    repository: Repository,
    base: String,
    head: String,
    merge: String,
}

fn pull_request() -> PullRequest {
    let repository = Repository::strict();
    let base = repository.git("rev-parse HEAD");
    repository.git("checkout --quiet -b change");
    repository.0.write("gate.toml", LAX);
    let head = repository.commit("cheat");
    repository.git("checkout --quiet --detach main");
    repository.git("merge --quiet --no-ff -m merge change");
    let merge = repository.git("rev-parse HEAD");
    PullRequest {
        repository,
        base,
        head,
        merge,
    }
}

impl PullRequest {
    fn event(&self) -> Value {
        json!({"pull_request": {"base": {"sha": self.base}, "head": {"sha": self.head}, "merge_commit_sha": self.merge}, "repository": {"default_branch": "main"}})
    }
}

#[test]
fn auto_takes_the_first_parent_of_a_pull_requests_merge_commit() {
    let request = pull_request();
    request
        .repository
        .check_as(
            0.60,
            "--base auto",
            Some(("pull_request", &request.event(), &request.merge)),
        )
        .exits(1)
        .mentions(&[
            "first parent",
            "below the minimum 0.80",
            "lowers faithfulness.min",
        ]);
}

#[test]
fn auto_does_not_trust_the_first_parent_of_another_merge_commit() {
    // The author's own merge: its first parent is the author's commit.
    let request = pull_request();
    request.repository.git("checkout --quiet change");
    request.repository.0.write("note", "1");
    request.repository.commit("more");
    request.repository.git("checkout --quiet -b side main");
    request.repository.0.write("side", "1");
    request.repository.commit("side");
    request.repository.git("checkout --quiet change");
    request.repository.git("merge --quiet --no-ff -m own side");
    let head = request.repository.git("rev-parse HEAD");
    let mut event = request.event();
    event["pull_request"]["head"]["sha"] = json!(head);
    let ran =
        request
            .repository
            .check_as(0.60, "--base auto", Some(("pull_request", &event, &head)));
    ran.exits(1).mentions(&["below the minimum 0.80"]);
    assert!(!ran.said().contains("first parent"), "{}", ran.said());
    // Nor when the event's merge commit is another one than HEAD.
    let ran = request.repository.check_as(
        0.60,
        "--base auto",
        Some(("pull_request", &event, &request.merge)),
    );
    ran.exits(1).mentions(&["below the minimum 0.80"]);
    assert!(!ran.said().contains("first parent"), "{}", ran.said());
}

#[test]
fn auto_of_a_merge_group_takes_the_base_that_the_event_names() {
    let request = pull_request();
    let event = json!({"merge_group": {"base_sha": request.base, "head_sha": request.merge}});
    request
        .repository
        .check_as(
            0.60,
            "--base auto",
            Some(("merge_group", &event, &request.merge)),
        )
        .exits(1)
        .mentions(&["merge_group.base_sha", "below the minimum 0.80"]);
    let event = json!({"merge_group": {"base_sha": "1".repeat(40)}});
    request
        .repository
        .check_as(
            0.60,
            "--base auto",
            Some(("merge_group", &event, &request.merge)),
        )
        .exits(3)
        .mentions(&["git fetch"]);
}

#[test]
fn auto_of_a_push_takes_what_was_there_before() {
    let request = pull_request();
    let event = json!({"before": request.base, "after": request.merge});
    request
        .repository
        .check_as(0.60, "--base auto", Some(("push", &event, &request.merge)))
        .exits(1)
        .mentions(&["below the minimum 0.80"]);
}

#[test]
fn auto_of_a_new_branch_takes_the_merge_base_with_the_default_branch() {
    let request = pull_request();
    request.repository.git("checkout --quiet change");
    let event = json!({"before": "0".repeat(40), "repository": {"default_branch": "main"}});
    request
        .repository
        .check_as(0.60, "--base auto", Some(("push", &event, &request.head)))
        .exits(1)
        .mentions(&["below the minimum 0.80"]);
    request
        .repository
        .check(0.60, "--base auto")
        .exits(1)
        .mentions(&["below the minimum 0.80"]);
}

#[test]
fn auto_without_anything_to_compare_with_is_3() {
    let repository = Repository::strict();
    repository.git("branch -m main lonely");
    repository
        .check(0.86, "--base auto")
        .exits(3)
        .mentions(&["--base origin/main"]);
    let empty = Repository::new();
    empty
        .check(0.86, "--base auto")
        .exits(3)
        .mentions(&["no commit"]);
}

#[test]
fn a_shallow_clone_says_how_to_fetch_the_base() {
    let request = pull_request();
    let clone = Folder::new();
    let status = Command::new("git")
        .args(["clone", "--quiet", "--depth=1", "--branch=change"])
        .arg(format!("file://{}", request.repository.0.path().display()))
        .arg(clone.join("clone"))
        .status()
        .unwrap();
    assert!(status.success());
    clone.write("results.json", r#"{"faithfulness": 0.6}"#);
    clone.write("event.json", request.event().to_string());
    let ran = Ran::of(
        &super::rag_gate()
            .current_dir(clone.join("clone"))
            .args(["check", "../results.json", "--base", "auto"])
            .env("GITHUB_EVENT_NAME", "pull_request")
            .env("GITHUB_EVENT_PATH", clone.join("event.json"))
            .env("GITHUB_SHA", &request.merge)
            .output()
            .unwrap(),
    );
    ran.exits(3).mentions(&["git fetch"]);
}

#[test]
fn the_age_of_the_baseline_is_said() {
    let repository = Repository::strict();
    repository.0.write(
        "baseline/main.json",
        r#"{"schema": "rag-gate/results/1", "metrics": {"faithfulness": {"mean": 0.86, "n": 10}}, "accepted": {"at": "2020-01-01T00:00:00Z"}}"#,
    );
    repository.commit("accepted");
    let ran = repository.check(0.86, "--base HEAD --output json");
    let verdict: Value = serde_json::from_str(&ran.exits(0).stdout).unwrap();
    assert!(
        verdict["base"]["baseline_age_days"].as_i64().unwrap() > 1000,
        "{verdict}"
    );
    assert_eq!(verdict["base"]["ref"], "HEAD");
    assert_eq!(verdict["base"]["commit"].as_str().unwrap().len(), 40);
}

/// Results that fell, of a judge that is said to have moved by the pinned answers with this hash.
fn excused_by(sha: &str) -> Value {
    let samples: Vec<Value> = (0..10)
        .map(|number| json!({"id": format!("q{number}"), "scores": {"faithfulness": 0.81}}))
        .collect();
    json!({
        "schema": "rag-gate/results/1",
        "run": {"judge": {"drift": {"pinned_sha256": sha, "metrics": {
            "faithfulness": {"moved": true, "n": 10, "changed": 10, "change": -0.05},
        }}}},
        "samples": samples,
    })
}

#[test]
fn a_change_cannot_excuse_itself_by_pinned_answers_of_its_own() {
    // SHA-256 of "pinned\n" and of "mine\n".
    const PINNED: &str = "dbdbfc4eea60c31dfdb68830dcf4393aa7e1fb5b64af6377e444c6c42e909203";
    const MINE: &str = "fcbc800db3f1867000b852f1ce0044b8f1584f76ade1ed6e65189824f95c3cda";
    let policy = format!("{STRICT}[judge]\npinned = \"baseline/judge.jsonl\"\n");
    let repository = Repository::strict();
    repository.0.write("gate.toml", &policy);
    repository.0.write("baseline/judge.jsonl", "pinned\n");
    repository.commit("pinned");
    let check = |sha: &str| {
        let outside = Folder::new().file("results.json", excused_by(sha).to_string());
        let mut command = super::rag_gate();
        command
            .current_dir(repository.0.path())
            .arg("check")
            .arg(outside.join("results.json"))
            .args(["--base", "main"]);
        Ran::of(&command.output().unwrap())
    };
    repository.git("checkout --quiet -b change");
    check(PINNED).exits(3).mentions(&["the judge itself moved"]);
    // As a working tree on Windows has it.
    repository.0.write("baseline/judge.jsonl", "pinned\r\n");
    let ran = check(PINNED);
    ran.exits(3);
    assert!(!ran.said().contains("this change edits"), "{}", ran.said());
    repository.0.write("baseline/judge.jsonl", "mine\n");
    check(MINE).exits(1).mentions(&[
        "dropped by 0.05",
        "this change edits the pinned answers baseline/judge.jsonl; whether the judge moved did not count",
    ]);
    repository.0.write("gate.toml", STRICT);
    check(PINNED).exits(1).mentions(&["dropped by 0.05"]);
}
