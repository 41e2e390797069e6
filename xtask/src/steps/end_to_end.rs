//! The end-to-end tests in `tests/e2e`: the binary, the clients, pytest.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use super::{
    Tally,
    suites::{counted, counts},
};
use crate::{
    command::Program,
    fault::{Fault, Outcome},
    needs::{node, python},
    repository::Repository,
};

/// Builds the toolgate binary and says where it is.
pub(super) fn build(repository: &Repository) -> Outcome<PathBuf> {
    repository.cargo().args(["build", "--package", "toolgate", "--quiet"]).run()?;
    let binary = repository.binary("debug", "toolgate")?;
    if binary.is_file() { Ok(binary) } else { Err(Fault::new(format!("cargo left no {}", binary.display()))) }
}

/// Runs every `examples/NAME/run` against the binary.
pub(super) fn examples(repository: &Repository) -> Outcome<Tally> {
    let binary = build(repository)?;
    let folder = repository.join("examples");
    let unreadable = |fault: std::io::Error| Fault::new(format!("{} can't be read: {fault}", folder.display()));
    let mut scripts = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let script = entry.map_err(unreadable)?.path().join("run");
        if script.is_file() {
            scripts.push(script);
        }
    }
    scripts.sort();
    let servers = servers(repository)?;
    let mut tally = Tally::default();
    for script in &scripts {
        Program::new(script)
            .args(["--quiet"])
            .env("TOOLGATE_BIN", &binary)
            .env("EXAMPLE_SERVERS", servers.path())
            .run()?;
        tally.add(Tally::ONE);
    }
    Ok(tally)
}

/// The servers from elsewhere that an example stands in front of: those of the end-to-end tests.
fn servers(repository: &Repository) -> Outcome<tempfile::TempDir> {
    let project = repository.join("tests/e2e");
    let python = python::with(&project.join("requirements.txt"))?;
    let packages = node::packages(&project)?;
    let unmade = |fault: std::io::Error| Fault::new(format!("the examples' servers can't be put together: {fault}"));
    let folder = tempfile::tempdir().map_err(unmade)?;
    symlink(packages.join("node_modules"), folder.path().join("node_modules")).map_err(unmade)?;
    symlink(python::site_packages(&python)?, folder.path().join("python")).map_err(unmade)?;
    Ok(folder)
}

/// The tests of what the README and the book show; the rest of `tests/e2e` is a step of its own.
const SNIPPETS: [&str; 2] = ["test_snippets.py", "test_first_half_hour.py"];

/// Runs the commands that the README and the book show.
pub(super) fn snippets(repository: &Repository) -> Outcome<Tally> {
    pytest(repository, &SNIPPETS.map(str::to_owned))
}

/// Runs every other end-to-end test.
pub(super) fn run(repository: &Repository) -> Outcome<Tally> {
    pytest(repository, &SNIPPETS.map(|file| format!("--ignore={file}")))
}

fn pytest(repository: &Repository, arguments: &[String]) -> Outcome<Tally> {
    let project = repository.join("tests/e2e");
    let binary = build(repository)?;
    let python = python::with(&project.join("requirements.txt"))?;
    let packages = node::packages(&project)?;
    let pytest = Program::new(python)
        .args(["-B", "-m", "pytest", "--numprocesses=auto"])
        .args(arguments)
        .within(&project)
        .env("TOOLGATE_BIN", &binary)
        .env("TOOLGATE_E2E_NODE", &packages);
    counted(pytest, "run one test in tests/e2e with the command above and -k NAME", |line| {
        // `12 failed, 345 passed in 6.7s`, the last line; lines about one test start with its outcome.
        let is_summary = line.starts_with(|first: char| first.is_ascii_digit()) && line.contains(" in ");
        is_summary.then(|| counts(line))
    })
}
