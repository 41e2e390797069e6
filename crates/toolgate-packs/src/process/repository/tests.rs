//! The same answers as git's own, on repositories that git made.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::*;

pub(super) fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.org");
    }
    let done = command.args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

pub(super) fn write(folder: &Path, file: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", message]);
}

pub(super) fn open(folder: &Path) -> Repository {
    let budget = WorkBudget::new(Duration::from_secs(60), Arc::new(AtomicBool::new(false)));
    Repository::open(&folder.canonicalize().unwrap(), None, budget).unwrap()
}

/// A difference and a log as git itself prints them; renames only where nothing else changed.
fn assert_like_git(folder: &Path, since: &str) {
    let repository = open(folder);
    let commit = repository.resolve(since).unwrap();
    let rev = format!("{since}^{{commit}}");
    assert_eq!(commit.to_string(), git(folder, &["rev-parse", &rev]).trim(), "{since}");
    let range = format!("{since}..HEAD");
    let expected = git(folder, &["diff", "-M100%", "--no-color", "--abbrev=7", &range]);
    assert_eq!(String::from_utf8_lossy(&repository.diff(&commit, usize::MAX).unwrap()), expected, "{since}");
    let log = repository
        .log(&commit)
        .unwrap()
        .iter()
        .map(|entry| format!("{} {}\n", entry.id, entry.subject))
        .collect::<String>();
    assert_eq!(log, git(folder, &["log", "--format=%H %s", &range]), "{since}");
}

/// Every kind of change that a difference shows.
fn eventful(folder: &Path, format: &str) {
    git(folder, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
    let code: String = (0..120).map(|n| format!("fn item_{n}() {{\n    {n}\n}}\n")).collect();
    write(folder, "src/code.rs", &code);
    write(folder, "moved/from.txt", "to be moved\nsecond line\n");
    write(folder, "gone.txt", "one\ntwo\n");
    write(folder, "no-newline", "text");
    write(folder, "run.sh", "echo\n");
    write(folder, "kind", "a file\n");
    write(folder, "binary", b"\0\x01\x02");
    write(folder, "folder-or-file", "a file\n");
    commit(folder, "first");
    git(folder, &["tag", "-a", "v1", "-m", "a tag"]);
    write(folder, "src/code.rs", code.replace("    60\n", "    61\n    62\n").replace("    5\n", ""));
    fs::create_dir(folder.join("to")).unwrap();
    fs::rename(folder.join("moved/from.txt"), folder.join("to/to.txt")).unwrap();
    fs::remove_file(folder.join("gone.txt")).unwrap();
    write(folder, "no-newline", "text\nand more");
    write(folder, "empty", "");
    write(folder, "水 \"q\"\t.txt", "new\n");
    write(folder, "binary", b"\0\x01\x03");
    commit(folder, "second, of\ntwo lines\n\nand a body");
    git(folder, &["branch", "side", "HEAD~1"]);
    fs::set_permissions(folder.join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::remove_file(folder.join("kind")).unwrap();
    std::os::unix::fs::symlink("run.sh", folder.join("kind")).unwrap();
    fs::remove_file(folder.join("folder-or-file")).unwrap();
    write(folder, "folder-or-file/inside", "now inside\n");
    commit(folder, "third");
    git(folder, &["checkout", "-q", "side"]);
    write(folder, "side.txt", "on the side\n");
    commit(folder, "on the side");
    git(folder, &["checkout", "-q", "main"]);
    git(folder, &["merge", "-q", "--no-edit", "side"]);
}

#[test]
fn loose_and_packed_objects_are_read_as_git_reads_them() {
    for format in ["sha1", "sha256"] {
        let folder = tempfile::tempdir().unwrap();
        eventful(folder.path(), format);
        let short = git(folder.path(), &["rev-parse", "--short=9", "HEAD~2"]);
        let since = [
            "v1",
            "HEAD~1",
            "HEAD^2",
            "main~3",
            "side",
            "HEAD^2~1",
            "heads/side",
            "refs/tags/v1",
            short.trim(),
            "HEAD^0",
        ];
        since.iter().for_each(|since| assert_like_git(folder.path(), since));
        git(folder.path(), &["-c", "pack.depth=50", "gc", "-q", "--aggressive"]);
        assert!(!folder.path().join(".git/refs/heads/main").exists(), "references are packed");
        since.iter().for_each(|since| assert_like_git(folder.path(), since));
    }
}

#[test]
fn a_chain_of_deltas_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    let mut text: String = (0..3_000).map(|n| format!("line {}\n", n * 7_919 % 10_007)).collect();
    for round in 0..30 {
        text.insert_str(text.find(&format!("line {}\n", round * 7_919 % 10_007)).unwrap(), "changed\n");
        write(folder.path(), "large.txt", &text);
        commit(folder.path(), &format!("round {round}"));
    }
    git(folder.path(), &["gc", "-q", "--aggressive"]);
    (1..30).step_by(4).for_each(|back| assert_like_git(folder.path(), &format!("HEAD~{back}")));
}

#[test]
fn a_shallow_clone_ends_where_its_history_does() {
    let folder = tempfile::tempdir().unwrap();
    let (origin, clone) = (folder.path().join("origin"), folder.path().join("clone"));
    fs::create_dir(&origin).unwrap();
    eventful(&origin, "sha1");
    git(folder.path(), &["clone", "-q", "--depth=2", "--no-local", origin.to_str().unwrap(), "clone"]);
    assert_like_git(&clone, "HEAD^1");
    assert_eq!(open(&clone).resolve("HEAD~5").unwrap_err(), RepositoryError::UnknownRevision);
}

#[test]
fn unknown_and_ambiguous_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    eventful(folder.path(), "sha1");
    let repository = open(folder.path());
    for unknown in [
        "nothing",
        "HEAD~99",
        "HEAD^3",
        "0123456789abcdef0123456789abcdef01234567",
        "ffff",
        "main^^^^^^^^^",
        "config",
        "HEAD~1a",
        "HEAD^1x",
    ] {
        assert_eq!(repository.resolve(unknown).unwrap_err(), RepositoryError::UnknownRevision, "{unknown}");
    }
    let blob = git(folder.path(), &["rev-parse", "HEAD:run.sh"]);
    assert_eq!(repository.resolve(blob.trim()).unwrap_err(), RepositoryError::UnknownRevision);
}

#[test]
fn damage_is_an_error_and_never_more() {
    let folder = tempfile::tempdir().unwrap();
    eventful(folder.path(), "sha1");
    git(folder.path(), &["gc", "-q", "--aggressive"]);
    let packs = folder.path().join(".git/objects/pack");
    let files: Vec<_> = fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "pack" || end == "idx")) {
        let whole = fs::read(file).unwrap();
        fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        for place in (0..whole.len()).step_by(whole.len() / 150 + 1) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0xff;
            for content in [&damaged[..], &whole[..place]] {
                fs::write(file, content).unwrap();
                let budget = WorkBudget::new(Duration::from_secs(20), Arc::new(AtomicBool::new(false)));
                let read =
                    Repository::open(&folder.path().canonicalize().unwrap(), None, budget).and_then(|repository| {
                        let since = repository.resolve("v1")?;
                        repository.log(&since)?;
                        repository.diff(&since, 50 << 10)
                    });
                assert_ne!(read.err(), Some(RepositoryError::TimedOut), "{place}");
            }
        }
        fs::write(file, &whole).unwrap();
    }
}

/// Work for a log of so many commits, one after the other.
fn work_for(commits: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    let mut stream = String::new();
    for number in 0..commits {
        let text = format!("text {number}\n");
        let message = format!("commit {number}");
        stream += &format!(
            "commit refs/heads/main\ncommitter t <t@example.org> {} +0000\ndata {}\n{message}\n",
            1_000_000 + number,
            message.len()
        );
        stream += &format!("M 644 inline file-{}\ndata {}\n{text}\n", number % 50, text.len());
    }
    fs::write(folder.path().join(".git/stream"), stream).unwrap();
    let mut import = Command::new("git");
    import.current_dir(folder.path()).args(["fast-import", "--quiet"]);
    assert!(import.stdin(fs::File::open(folder.path().join(".git/stream")).unwrap()).status().unwrap().success());
    let repository = open(folder.path());
    let since = repository.resolve(&format!("HEAD~{}", commits - 1)).unwrap();
    assert_eq!(repository.log(&since).unwrap().len(), commits - 1);
    assert!(!repository.diff(&since, 50 << 10).unwrap().is_empty());
    repository.objects.budget().spent()
}

#[test]
fn work_grows_with_the_commits_and_not_with_their_square() {
    let (few, many) = (work_for(100), work_for(800));
    assert!(many < few * 32, "{few} for 100 commits, {many} for 800");
}

#[test]
fn a_tree_that_holds_itself_ends_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    write(folder.path(), "a", "a\n");
    commit(folder.path(), "first");
    // thirty levels of ten folders each: far more paths than anybody could walk, in thirty objects
    let mut tree = git(folder.path(), &["rev-parse", "HEAD^{tree}"]).trim().to_owned();
    for _ in 0..30 {
        let listed: String = (0..10).map(|n| format!("040000 tree {tree}\tf{n}\n")).collect();
        fs::write(folder.path().join(".git/listed"), listed).unwrap();
        let mut make = Command::new("git");
        make.current_dir(folder.path()).arg("mktree").stdin(fs::File::open(folder.path().join(".git/listed")).unwrap());
        tree = String::from_utf8(make.output().unwrap().stdout).unwrap().trim().to_owned();
    }
    let bomb = git(folder.path(), &["commit-tree", "-p", "HEAD", "-m", "bomb", &tree]);
    git(folder.path(), &["update-ref", "refs/heads/main", bomb.trim()]);
    let repository = open(folder.path());
    let since = repository.resolve("HEAD~1").unwrap();
    assert!(repository.diff(&since, 50 << 10).unwrap().len() > 50 << 10, "what is shown is cut, and the walk with it");
}

#[test]
fn a_file_of_very_many_lines_is_shown_as_git_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    write(folder.path(), "gone", "-\n".repeat(250_000));
    commit(folder.path(), "first");
    fs::remove_file(folder.path().join("gone")).unwrap();
    write(folder.path(), "added", "+\n".repeat(300_000) + "last");
    commit(folder.path(), "second");
    assert_like_git(folder.path(), "HEAD~1");
}

#[test]
fn objects_in_many_packs_are_read_with_few_files_open() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    for round in 0..20 {
        write(folder.path(), &format!("file-{round}"), format!("round {round}\n"));
        commit(folder.path(), &format!("round {round}"));
        git(folder.path(), &["repack", "-q", "-d"]);
    }
    let packs = fs::read_dir(folder.path().join(".git/objects/pack")).unwrap();
    let indexes = packs.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "idx"));
    assert_eq!(indexes.count(), 20);
    (1..20).step_by(6).for_each(|back| assert_like_git(folder.path(), &format!("HEAD~{back}")));
}
