//! Steps that are one question to cargo.

use super::Tally;
use crate::{fault::Outcome, repository::Repository};

pub(super) fn format(repository: &Repository) -> Outcome<Tally> {
    ask(repository, &["fmt", "--all", "--check"], "cargo fmt --all")
}

pub(super) fn clippy(repository: &Repository) -> Outcome<Tally> {
    let lint = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    ask(repository, &lint, "mend what clippy names above; allow a lint only with a reason")
}

pub(super) fn doc(repository: &Repository) -> Outcome<Tally> {
    let doc = repository.cargo().args(["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-Dwarnings");
    doc.run().map_err(|fault| fault.remedy("mend the comments that rustdoc names above"))?;
    Ok(Tally::ONE)
}

fn ask(repository: &Repository, arguments: &[&str], remedy: &str) -> Outcome<Tally> {
    repository.cargo().args(arguments).run().map_err(|fault| fault.remedy(remedy))?;
    Ok(Tally::ONE)
}
