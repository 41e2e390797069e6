//! A task owns its worktree, `.git` included. Nothing that it can put there shows a file from elsewhere, stops the tool
//! or makes it wait.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use toolgate_core::Caller;
use toolgate_store::TaskSetting;

use crate::{
    git::{commit, git, repository},
    world::{World, calling},
};

const SECRET: &str = "TOP-SECRET";

/// A repository with two commits, and beside it a secret file and another repository whose last commit adds the secret.
struct Scene {
    folder: tempfile::TempDir,
    own: PathBuf,
    other: PathBuf,
    secret: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (own, other, secret) =
            (folder.path().join("own"), folder.path().join("other"), folder.path().join("signing.key"));
        repository(&own);
        commit(&own, "a.txt", "two\n", "second");
        repository(&other);
        commit(&other, "a.txt", &format!("{SECRET}\n"), &format!("add {SECRET}"));
        fs::write(&secret, format!("toolgate-seed-1 {SECRET}\n")).unwrap();
        Self { folder, own, other, secret }
    }

    fn link(&self, name: &str, target: &Path) {
        let place = self.own.join(".git").join(name);
        let _ = fs::remove_file(&place).or_else(|_| fs::remove_dir_all(&place));
        symlink(target, place).unwrap();
    }
}

/// An orchestrating task of its own, in a worktree.
async fn orchestrator(world: &World, worktree: &Path) -> Caller {
    let setting = TaskSetting { worktree: worktree.to_str().map(str::to_owned), ..TaskSetting::default() };
    calling(&world.task(None, None, setting).await.task.unwrap().id, None, true)
}

/// What both tools answer, whatever they are asked; the secret is in no answer.
async fn answers(world: &World, orchestrator: &Caller, since: &[&str]) -> Vec<Value> {
    let mut all = Vec::new();
    for tool in ["get_git_diff", "get_commit_log"] {
        for since in since {
            let answer = world.result(orchestrator, tool, json!({"since_commit": since})).await;
            assert!(!answer.to_string().contains(SECRET), "{tool} {since}: {answer}");
            all.push(answer);
        }
    }
    all
}

on_both! {
    async fn a_link_out_of_the_repository_shows_nothing_of_its_target(world: World) {
        for name in ["shallow", "packed-refs", "config", "HEAD", "refs/heads/main", "refs/heads/stolen", "commondir", "index",
            "objects/info/alternates", "info/grafts", "objects/pack/pack-1.idx"] {
            let scene = Scene::new();
            scene.link(name, &scene.secret);
            let pre = orchestrator(&world, &scene.own).await;
            answers(&world, &pre, &["HEAD~1", "main", "stolen", "x", "0123456"]).await;
        }
    }

    async fn a_link_is_refused_in_our_own_words(world: World) {
        let scene = Scene::new();
        scene.link("shallow", &scene.secret);
        let pre = orchestrator(&world, &scene.own).await;
        let refused = world.bad(&pre, "get_git_diff", json!({"since_commit": "HEAD~1"})).await;
        let text = "git diff failed: the repository's list of shallow commits can't be read: it is no regular file, or a link that leaves the repository";
        assert_eq!(refused, (text.to_owned(), "conflict".to_owned()));
    }

    async fn settings_of_the_repository_are_not_read(world: World) {
        let scene = Scene::new();
        let config = scene.own.join(".git/config");
        let settings = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{settings}[include]\n\tpath = {}\n", scene.secret.display())).unwrap();
        let pre = orchestrator(&world, &scene.own).await;
        answers(&world, &pre, &["x"]).await;
        assert!(world.good(&pre, "get_git_diff", json!({"since_commit": "HEAD~1"})).await["diff"].as_str().unwrap().contains("+two"));
    }

    async fn another_repository_is_not_reached_by_alternates_or_links(world: World) {
        let scene = Scene::new();
        let head = git(&scene.other, &["rev-parse", "HEAD"]);
        let before = git(&scene.other, &["rev-parse", "HEAD~1"]);
        let since = ["HEAD~1", "main~1", &before, &head];
        fs::write(scene.own.join(".git/objects/info/alternates"), format!("{}\n", scene.other.join(".git/objects").display())).unwrap();
        fs::write(scene.own.join(".git/refs/heads/main"), format!("{head}\n")).unwrap();
        let pre = orchestrator(&world, &scene.own).await;
        for answer in answers(&world, &pre, &since).await {
            assert_eq!(answer["isError"], true, "{answer}");
        }
        for names in [&["objects", "refs"][..], &["refs", "objects/pack"], &["commondir"]] {
            let scene = Scene::new();
            git(&scene.other, &["gc", "-q"]);
            for name in names {
                scene.link(name, &scene.other.join(".git").join(if *name == "commondir" { "" } else { name }));
            }
            let pre = orchestrator(&world, &scene.own).await;
            answers(&world, &pre, &since).await;
        }
        let scene = Scene::new();
        fs::write(scene.own.join(".git/commondir"), format!("{}\n", scene.other.join(".git").display())).unwrap();
        let pre = orchestrator(&world, &scene.own).await;
        answers(&world, &pre, &since).await;
    }

    async fn a_link_that_appears_while_others_read_leads_nowhere(world: World) {
        let scene = Scene::new();
        git(&scene.other, &["gc", "-q"]);
        let objects = scene.own.join(".git/objects");
        let aside = scene.folder.path().join("aside");
        let target = scene.other.join(".git/objects");
        let swapping = std::thread::spawn(move || {
            for _ in 0..200 {
                fs::rename(&objects, &aside).unwrap();
                symlink(&target, &objects).unwrap();
                fs::remove_file(&objects).unwrap();
                fs::rename(&aside, &objects).unwrap();
            }
        });
        let head = git(&scene.other, &["rev-parse", "HEAD~1"]);
        let pre = orchestrator(&world, &scene.own).await;
        while !swapping.is_finished() {
            answers(&world, &pre, &[&head]).await;
        }
        swapping.join().unwrap();
    }

    async fn a_special_file_is_refused_at_once(world: World) {
        for name in ["packed-refs", "HEAD", "shallow", "refs/heads/main", "commondir"] {
            let scene = Scene::new();
            let place = scene.own.join(".git").join(name);
            let _ = fs::remove_file(&place);
            assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
            let pre = orchestrator(&world, &scene.own).await;
            // a reader that opens the pipe would wait for a writer for good
            for _ in 0..20 {
                let (error, _) = world.bad(&pre, "get_git_diff", json!({"since_commit": "unknown"})).await;
                assert!(error.contains("it is no regular file"), "{name}: {error}");
            }
        }
    }

    async fn a_worktree_of_another_owner_is_read(world: World) {
        let scene = Scene::new();
        // only the superuser can give files away; elsewhere the owner is the reader's own
        let _ = Command::new("chown").args(["-R", "65534:65534"]).arg(&scene.own).status().unwrap();
        let pre = orchestrator(&world, &scene.own).await;
        let diff = world.good(&pre, "get_git_diff", json!({"since_commit": "HEAD~1"})).await;
        assert!(diff["diff"].as_str().unwrap().contains("-one\n+two"));
        assert_eq!(world.good(&pre, "get_commit_log", json!({"since_commit": "HEAD~1"})).await["commits"][0]["message"], "second");
    }

    async fn a_name_of_a_file_passes_for_no_line_of_the_difference(world: World) {
        let scene = Scene::new();
        commit(&scene.own, "x\n+++ forged", "text\n", "odd name");
        let pre = orchestrator(&world, &scene.own).await;
        let diff = world.good(&pre, "get_git_diff", json!({"since_commit": "HEAD~1"})).await;
        let text = diff["diff"].as_str().unwrap();
        assert!(text.contains(r#"+++ "b/x\n+++ forged""#) && !text.lines().any(|line| line.starts_with("+++ forged")), "{text}");
    }
}
