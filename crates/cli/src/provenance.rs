//! What must be known of a run three months later: which code it measured, and which CI job measured it.

use std::path::Path;

use gate::results::{CiInfo, RunInfo, ToolInfo};
use serde_json::Value;

use crate::git::Repository;

/// What this machine knows of a run that begins now: `tool`, `commit`, `branch`, `dirty` and `ci`.
///
/// `folder` is where gate.toml lies. Outside a git repository nothing is known of the code. `env` gives the value of an
/// environment variable.
pub(crate) fn of(folder: &Path, env: &impl Fn(&str) -> Option<String>) -> RunInfo {
    let env = |name: &str| env(name).filter(|value| !value.is_empty());
    let repository = Repository::around(folder);
    let repository = repository.as_ref();
    // A detached HEAD, as CI checks out, has no branch of its own.
    let branch = repository.and_then(|repository| repository.branch().or_else(|| branch(&env)));
    RunInfo {
        tool: Some(ToolInfo {
            name: Some("rag-gate".to_owned()),
            version: Some(gate::VERSION.to_owned()),
        }),
        commit: repository.and_then(|repository| repository.commit("HEAD").ok().flatten()),
        branch,
        dirty: repository.and_then(Repository::is_dirty),
        ci: ci(&env),
        ..RunInfo::default()
    }
}

/// The branch that the CI says it runs for: that of the change, not the one it is to be merged into.
fn branch(env: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_branch = |name: &str| env(name).as_deref() == Some("branch");
    let of_github = || {
        env("GITHUB_HEAD_REF")
            .or_else(|| env("GITHUB_REF_NAME").filter(|_| is_branch("GITHUB_REF_TYPE")))
    };
    let of_gitlab =
        || env("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME").or_else(|| env("CI_COMMIT_BRANCH"));
    let of_azure = || {
        let heads = |name| env(name)?.strip_prefix("refs/heads/").map(str::to_owned);
        heads("SYSTEM_PULLREQUEST_SOURCEBRANCH").or_else(|| heads("BUILD_SOURCEBRANCH"))
    };
    let of_jenkins = || {
        env("CHANGE_BRANCH")
            .or_else(|| env("BRANCH_NAME"))
            .or_else(|| {
                let name = env("GIT_BRANCH")?;
                Some(name.strip_prefix("origin/").unwrap_or(&name).to_owned())
            })
    };
    match Provider::of(env)? {
        Provider::Github => of_github(),
        Provider::Gitlab => of_gitlab(),
        Provider::Circleci => env("CIRCLE_BRANCH"),
        Provider::Buildkite => env("BUILDKITE_BRANCH"),
        Provider::Azure => of_azure(),
        Provider::Jenkins => of_jenkins(),
    }
}

/// The job, where one is known.
fn ci(env: &impl Fn(&str) -> Option<String>) -> Option<CiInfo> {
    let provider = Provider::of(env)?;
    let run_url = match provider {
        Provider::Github => (|| {
            let run = format!(
                "{}/{}/actions/runs/{}",
                env("GITHUB_SERVER_URL")?,
                env("GITHUB_REPOSITORY")?,
                env("GITHUB_RUN_ID")?
            );
            Some(match env("GITHUB_RUN_ATTEMPT") {
                Some(attempt) => format!("{run}/attempts/{attempt}"),
                None => run,
            })
        })(),
        Provider::Gitlab => env("CI_JOB_URL"),
        Provider::Circleci => env("CIRCLE_BUILD_URL"),
        Provider::Buildkite => env("BUILDKITE_BUILD_URL").map(|build| {
            let job = env("BUILDKITE_JOB_ID").map(|job| format!("#{job}"));
            build + &job.unwrap_or_default()
        }),
        Provider::Azure => (|| {
            Some(format!(
                "{}/{}/_build/results?buildId={}",
                env("SYSTEM_COLLECTIONURI")?.trim_end_matches('/'),
                env("SYSTEM_TEAMPROJECT")?.replace(' ', "%20"),
                env("BUILD_BUILDID")?
            ))
        })(),
        Provider::Jenkins => env("BUILD_URL"),
    };
    let number = |name| env(name)?.parse::<u64>().ok();
    let attempt = match provider {
        Provider::Github => number("GITHUB_RUN_ATTEMPT"),
        Provider::Azure => number("SYSTEM_JOBATTEMPT"),
        // It counts the retries.
        Provider::Buildkite => number("BUILDKITE_RETRY_COUNT").map(|retries| retries + 1),
        Provider::Gitlab | Provider::Circleci | Provider::Jenkins => None,
    };
    Some(CiInfo {
        provider: Some(provider.name().to_owned()),
        run_url: run_url.map(|url| without_credentials(&url)),
        attempt: attempt.map(Value::from),
    })
}

/// A CI service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    Github,
    Gitlab,
    Circleci,
    Buildkite,
    Azure,
    Jenkins,
}

impl Provider {
    /// The service that this process runs in.
    fn of(env: &impl Fn(&str) -> Option<String>) -> Option<Provider> {
        let is_set = |name: &str| {
            env(name).is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
        };
        let found = [
            (is_set("GITHUB_ACTIONS"), Provider::Github),
            (is_set("GITLAB_CI"), Provider::Gitlab),
            (is_set("CIRCLECI"), Provider::Circleci),
            (is_set("BUILDKITE"), Provider::Buildkite),
            (is_set("TF_BUILD"), Provider::Azure),
            (env("JENKINS_URL").is_some(), Provider::Jenkins),
        ];
        found
            .into_iter()
            .find_map(|(is_it, provider)| is_it.then_some(provider))
    }

    fn name(self) -> &'static str {
        match self {
            Provider::Github => "github",
            Provider::Gitlab => "gitlab",
            Provider::Circleci => "circleci",
            Provider::Buildkite => "buildkite",
            Provider::Azure => "azure",
            Provider::Jenkins => "jenkins",
        }
    }
}

/// The URL without a user and password, which some servers are configured with: no secret is written.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::json;

    use super::*;

    /// Variables, what they say of the job, and the branch.
    type Case<'a> = (&'a [(&'a str, &'a str)], Value, Option<&'a str>);

    fn of_env<'a>(env: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn every_service_names_its_job_and_the_branch_of_the_change() {
        let cases: [Case; 7] = [
            (
                &[
                    ("GITHUB_ACTIONS", "true"),
                    ("GITHUB_SERVER_URL", "https://github.com"),
                    ("GITHUB_REPOSITORY", "o/r"),
                    ("GITHUB_RUN_ID", "42"),
                    ("GITHUB_RUN_ATTEMPT", "2"),
                    ("GITHUB_HEAD_REF", "feature/x"),
                    ("GITHUB_REF_NAME", "7/merge"),
                    ("GITHUB_REF_TYPE", "branch"),
                ],
                json!({"provider": "github", "run_url": "https://github.com/o/r/actions/runs/42/attempts/2", "attempt": 2}),
                Some("feature/x"),
            ),
            (
                &[
                    ("GITHUB_ACTIONS", "true"),
                    ("GITHUB_HEAD_REF", ""),
                    ("GITHUB_REF_NAME", "v1.0"),
                    ("GITHUB_REF_TYPE", "tag"),
                ],
                json!({"provider": "github", "run_url": null, "attempt": null}),
                None,
            ),
            (
                &[
                    ("GITLAB_CI", "true"),
                    (
                        "CI_JOB_URL",
                        "https://user:secret@gitlab.example/g/p/-/jobs/9",
                    ),
                    ("CI_COMMIT_BRANCH", "main"),
                ],
                json!({"provider": "gitlab", "run_url": "https://gitlab.example/g/p/-/jobs/9", "attempt": null}),
                Some("main"),
            ),
            (
                &[
                    ("CIRCLECI", "true"),
                    ("CIRCLE_BUILD_URL", "https://circleci.example/1"),
                    ("CIRCLE_BRANCH", "main"),
                ],
                json!({"provider": "circleci", "run_url": "https://circleci.example/1", "attempt": null}),
                Some("main"),
            ),
            (
                &[
                    ("BUILDKITE", "true"),
                    ("BUILDKITE_BUILD_URL", "https://buildkite.example/b/3"),
                    ("BUILDKITE_JOB_ID", "ab"),
                    ("BUILDKITE_RETRY_COUNT", "0"),
                    ("BUILDKITE_BRANCH", "topic"),
                ],
                json!({"provider": "buildkite", "run_url": "https://buildkite.example/b/3#ab", "attempt": 1}),
                Some("topic"),
            ),
            (
                &[
                    ("TF_BUILD", "True"),
                    ("SYSTEM_COLLECTIONURI", "https://dev.example/org/"),
                    ("SYSTEM_TEAMPROJECT", "My Project"),
                    ("BUILD_BUILDID", "5"),
                    ("SYSTEM_JOBATTEMPT", "3"),
                    ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/fix"),
                    ("BUILD_SOURCEBRANCH", "refs/pull/1/merge"),
                ],
                json!({"provider": "azure", "run_url": "https://dev.example/org/My%20Project/_build/results?buildId=5", "attempt": 3}),
                Some("fix"),
            ),
            (
                &[
                    ("JENKINS_URL", "https://jenkins.example/"),
                    ("BUILD_URL", "https://jenkins.example/job/x/3/"),
                    ("GIT_BRANCH", "origin/main"),
                ],
                json!({"provider": "jenkins", "run_url": "https://jenkins.example/job/x/3/", "attempt": null}),
                Some("main"),
            ),
        ];
        for (variables, expected, expected_branch) in cases {
            let plain = of_env(variables);
            let env = |name: &str| plain(name).filter(|value| !value.is_empty());
            assert_eq!(serde_json::to_value(ci(&env)).unwrap(), expected);
            assert_eq!(branch(&env).as_deref(), expected_branch);
        }
    }

    #[test]
    fn outside_a_repository_nothing_is_known_of_the_code() {
        let folder = tempfile::tempdir().unwrap();
        let env = of_env(&[("CIRCLECI", "true"), ("CIRCLE_BRANCH", "main")]);
        let run = of(folder.path(), &env);
        assert_eq!((run.commit, run.branch, run.dirty), (None, None, None));
        assert_eq!(run.ci.unwrap().provider.as_deref(), Some("circleci"));
        let tool = run.tool.unwrap();
        assert_eq!(tool.name.as_deref(), Some("rag-gate"));
        assert_eq!(tool.version.as_deref(), Some(gate::VERSION));
        assert_eq!(of(folder.path(), &of_env(&[])).ci, None);
    }

    #[test]
    fn a_repository_says_which_code_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let env = of_env(&[("CIRCLECI", "true"), ("CIRCLE_BRANCH", "of-the-ci")]);
        git(path, &["init", "--quiet", "--initial-branch", "main"]);
        // No commit yet.
        let run = of(path, &env);
        assert_eq!((run.commit, run.branch.as_deref()), (None, Some("main")));

        std::fs::write(path.join("app.py"), "1").unwrap();
        git(path, &["add", "."]);
        git(path, &["commit", "--quiet", "-m", "one"]);
        let head = git(path, &["rev-parse", "HEAD"]);
        // What is not under version control, such as results, is no change of the code.
        std::fs::create_dir(path.join("eval")).unwrap();
        std::fs::write(path.join("eval/results.json"), "{}").unwrap();
        let run = of(&path.join("eval"), &env);
        assert_eq!(run.commit.as_deref(), Some(head.as_str()));
        assert_eq!(run.branch.as_deref(), Some("main"));
        assert_eq!(run.dirty, Some(false));

        std::fs::write(path.join("app.py"), "2").unwrap();
        git(path, &["checkout", "--quiet", "--detach"]);
        let run = of(path, &env);
        assert_eq!(run.branch.as_deref(), Some("of-the-ci"));
        assert_eq!(run.dirty, Some(true));
        assert_eq!(of(path, &of_env(&[])).branch, None);
    }
}
