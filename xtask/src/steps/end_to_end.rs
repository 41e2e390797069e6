//! The end-to-end tests in `tests/e2e`: the binary, the clients, pytest.

use std::path::PathBuf;

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

pub(super) fn run(repository: &Repository) -> Outcome<Tally> {
    let project = repository.join("tests/e2e");
    let binary = build(repository)?;
    let python = python::with(&project.join("requirements.txt"))?;
    let packages = node::packages(&project)?;
    let pytest = Program::new(python)
        .args(["-B", "-m", "pytest", "--numprocesses=auto"])
        .within(&project)
        .env("TOOLGATE_BIN", &binary)
        .env("TOOLGATE_E2E_NODE", &packages);
    counted(pytest, "run one test in tests/e2e with the command above and -k NAME", |line| {
        // `12 failed, 345 passed in 6.7s`, the last line; lines about one test start with its outcome.
        let is_summary = line.starts_with(|first: char| first.is_ascii_digit()) && line.contains(" in ");
        is_summary.then(|| counts(line))
    })
}
