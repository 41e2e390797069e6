use std::{fs, path::Path, process::Command};

use serde_json::json;
use toolgate_store::TaskSetting;

use crate::{
    state::Driven,
    world::{World, calling},
};

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.org");
    }
    let done = command.args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

pub(crate) fn commit(folder: &Path, file: &str, text: &str, message: &str) -> String {
    fs::write(folder.join(file), text).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", message]);
    git(folder, &["rev-parse", "HEAD"])
}

pub(crate) fn repository(folder: &Path) -> String {
    fs::create_dir_all(folder).unwrap();
    git(folder, &["init", "-q", "-b", "main"]);
    commit(folder, "a.txt", "one\n", "first")
}

/// A process before its first step, in a worktree of its own.
async fn in_worktree(world: &World, worktree: &Path) -> (Driven, toolgate_core::Caller) {
    let mut driven = Driven::start(world, &["analyse"], worktree.to_str()).await;
    let pre = driven.begin().await;
    (driven, pre)
}

on_both! {
    async fn the_difference_and_the_log_begin_at_the_first_commit_of_the_process(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let first = repository(folder.path());
        let (driven, pre) = in_worktree(&world, folder.path()).await;
        let none = "No commit reference found. Provide since_commit or ensure the process has recorded commits.";
        for tool in ["get_git_diff", "get_commit_log"] {
            assert_eq!(world.bad(&pre, tool, json!({})).await, (none.into(), "not_found".into()));
        }
        world.store.processes().add_commit(&driven.task(), &first, 1).await.unwrap();
        let second = commit(folder.path(), "a.txt", "two\n", "second: 'quoted'");
        let third = commit(folder.path(), "b.txt", "three\n", "third");
        world.store.processes().add_commit(&driven.task(), &third, 2).await.unwrap();
        let diff = world.good(&pre, "get_git_diff", json!({})).await;
        assert_eq!((&diff["since_commit"], &diff["truncated"]), (&json!(first), &json!(false)));
        let text = diff["diff"].as_str().unwrap();
        assert!(text.contains("-one\n+two") && text.contains("+three"), "{text}");
        let log = world.good(&pre, "get_commit_log", json!({})).await;
        assert_eq!(log, json!({"since_commit": first, "truncated": false,
            "commits": [{"hash": third, "message": "third"}, {"hash": second, "message": "second: 'quoted'"}]}));
        let later = world.good(&pre, "get_git_diff", json!({"since_commit": "HEAD~1"})).await;
        assert!(!later["diff"].as_str().unwrap().contains("+two") && later["since_commit"] == "HEAD~1");
        assert_eq!(world.good(&pre, "get_commit_log", json!({"since_commit": "main"})).await["commits"], json!([]));
    }

    async fn a_long_difference_is_cut_between_characters(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let first = repository(folder.path());
        commit(folder.path(), "long.txt", &"水道\n".repeat(20_000), "long");
        let (_driven, pre) = in_worktree(&world, folder.path()).await;
        let diff = world.good(&pre, "get_git_diff", json!({"since_commit": first})).await;
        let text = diff["diff"].as_str().unwrap();
        assert!(text.len() <= 50 << 10 && text.len() > (50 << 10) - 4 && !text.contains('\u{fffd}'));
        assert_eq!(diff["truncated"], true);
        assert!(diff["note"].as_str().unwrap().contains("50 KiB"));
    }

    async fn hostile_references_are_refused_before_the_repository_is_read(world: World) {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path());
        let (_driven, pre) = in_worktree(&world, folder.path()).await;
        let target = folder.path().join("written");
        for hostile in ["--output=written", "-p", "a b", "main..main", "$(touch written)", "@{u}", "", ":a.txt", "main\n--output=written"] {
            for tool in ["get_git_diff", "get_commit_log"] {
                let (error, code) = world.bad(&pre, tool, json!({"since_commit": hostile})).await;
                assert!(error.starts_with("Invalid since_commit '") && code == "validation", "{hostile}: {error}");
            }
        }
        assert!(!target.exists());
        let (unknown, code) = world.bad(&pre, "get_git_diff", json!({"since_commit": "no-such-branch"})).await;
        assert_eq!((unknown.as_str(), code.as_str()), ("git diff failed: since_commit names no commit of this repository", "conflict"));
        assert!(world.error(&pre, "get_commit_log", json!({"since_commit": "nothing"})).await.starts_with("git log failed: "));
    }

    async fn nothing_a_task_writes_into_its_worktree_is_run(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let first = repository(folder.path());
        let ran = folder.path().join("ran");
        let program = folder.path().join("evil");
        fs::write(&program, format!("#!/bin/sh\necho x >> {}\ncat \"$1\" 2>/dev/null\n", ran.display())).unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let evil = program.to_str().unwrap();
        for (key, value) in [
            ("diff.external", evil), ("diff.evil.command", evil), ("diff.evil.textconv", evil), ("core.pager", evil), ("pager.diff", evil),
            ("pager.log", evil), ("core.fsmonitor", evil), ("gpg.program", evil), ("log.showSignature", "true"), ("core.sshCommand", evil),
            ("core.hooksPath", folder.path().to_str().unwrap()), ("alias.diff", &format!("!{evil}")),
        ] {
            git(folder.path(), &["config", key, value]);
        }
        fs::write(folder.path().join(".gitattributes"), "* diff=evil\n").unwrap();
        // without the repository's own settings, which would run here
        git(folder.path(), &["-c", "core.fsmonitor=false", "add", "-A"]);
        git(folder.path(), &["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "evil"]);
        let _ = fs::remove_file(&ran);
        let (_driven, pre) = in_worktree(&world, folder.path()).await;
        let diff = world.good(&pre, "get_git_diff", json!({"since_commit": first})).await;
        assert!(diff["diff"].as_str().unwrap().contains("+* diff=evil"));
        world.good(&pre, "get_commit_log", json!({"since_commit": first})).await;
        assert!(!ran.exists(), "the program ran: {}", fs::read_to_string(&ran).unwrap());
    }

    async fn only_the_tasks_own_worktree_is_looked_at(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let (outer, inner, other) = (folder.path().join("outer"), folder.path().join("outer/inner"), folder.path().join("other"));
        repository(&outer);
        repository(&other);
        fs::create_dir(&inner).unwrap();
        let (_driven, pre) = in_worktree(&world, &inner).await;
        assert!(world.error(&pre, "get_git_diff", json!({"since_commit": "main"})).await.contains("not a git repository"), "not one further up");
        fs::write(inner.join(".git"), format!("gitdir: {}\n", other.join(".git").display())).unwrap();
        let pointed = world.bad(&pre, "get_git_diff", json!({"since_commit": "main"})).await;
        assert_eq!(pointed, ("git diff failed: the worktree belongs to a repository that the task was not started for".into(), "conflict".into()));
        fs::write(inner.join(".git"), "gitdir: /no/such/folder/.git\n").unwrap();
        assert_eq!(world.bad(&pre, "get_git_diff", json!({"since_commit": "main"})).await, pointed, "nobody learns which paths there are");
        // a worktree that git itself made is one of the repository that was named
        let linked = folder.path().join("linked");
        git(&outer, &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
        let setting = |main: Option<&Path>| TaskSetting {
            worktree: linked.to_str().map(str::to_owned), main_repo: main.and_then(Path::to_str).map(str::to_owned), ..TaskSetting::default()
        };
        let named = world.task(None, None, setting(Some(&outer))).await;
        let orchestrator = calling(&named.task.unwrap().id, None, true);
        assert_eq!(world.good(&orchestrator, "get_git_diff", json!({"since_commit": "main"})).await["diff"], "");
        let unnamed = world.task(None, None, setting(None)).await;
        world.bad(&calling(&unnamed.task.unwrap().id, None, true), "get_git_diff", json!({"since_commit": "main"})).await;
    }

    async fn a_task_without_a_worktree_or_whose_worktree_is_gone_is_told_so(world: World) {
        let setting = |path: &str| TaskSetting { worktree: Some(path.to_owned()), ..TaskSetting::default() };
        let none = world.task(Some("p"), None, TaskSetting::default()).await.task.unwrap().id;
        for (tool, asked) in [("get_git_diff", json!({"since_commit": "main"})), ("get_commit_log", json!({}))] {
            let error = world.bad(&calling(&none, Some("p"), true), tool, asked).await;
            assert_eq!(error, (format!("No worktree found for task '{none}'."), "not_found".into()));
        }
        for path in ["/no/such/worktree", "relative"] {
            let id = world.task(Some("p"), None, setting(path)).await.task.unwrap().id;
            let error = world.bad(&calling(&id, Some("p"), true), "get_git_diff", json!({"since_commit": "main"})).await;
            assert_eq!(error, (format!("Worktree directory not found: {path}"), "not_found".into()));
        }
    }
}
