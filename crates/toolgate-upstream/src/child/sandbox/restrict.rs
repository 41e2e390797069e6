//! The restriction itself, by Landlock.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Confinement, DEVICES, SYSTEM};

/// What every kernel with Landlock can do (Linux 5.13): without it there is no sandbox.
const NEEDED: ABI = ABI::V1;
/// What newer ones can do: linking and moving between folders (5.19), truncating (6.2), ioctl of devices (6.10).
const WANTED: ABI = ABI::V5;

/// The outcome of creating a ruleset, which restricts nothing yet.
pub(super) fn support() -> Result<(), String> {
    ruleset().map(drop).map_err(|error| {
        format!("its sandbox can't be enforced: this kernel has no Landlock, or it is not enabled ({error})")
    })
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::Signal | Scope::AbstractUnixSocket)?
        .create()
}

/// Restricts the calling thread, and every program that it becomes or starts.
pub(super) fn restrict(asked: &Confinement) -> Result<(), String> {
    let failed = |error: RulesetError| format!("the sandbox can't be set up: {error}");
    let read = AccessFs::from_read(WANTED);
    // a device is a way to the whole disk
    let write = AccessFs::from_all(WANTED) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let mut rules = ruleset().map_err(failed)?;
    rules = rules.add_rules(path_beneath_rules(SYSTEM, read)).map_err(failed)?;
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    rules = rules.add_rules(path_beneath_rules(DEVICES, device)).map_err(failed)?;
    for (paths, access) in [(&asked.read, read), (&asked.write, write)] {
        for path in paths {
            rules = rules.add_rule(rule(path, access)?).map_err(failed)?;
        }
    }
    // the program itself, where it is named by its place
    let program = Path::new(&asked.program);
    if program.components().count() > 1 && program.is_file() {
        let run = AccessFs::ReadFile | AccessFs::Execute;
        rules = rules.add_rule(rule(program, run)?).map_err(failed)?;
    }
    let status = rules.restrict_self().map_err(failed)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err("the sandbox is not enforced by this kernel".to_owned()),
    }
}

/// A rule for a path that must be there. A file has fewer rights than a folder.
fn rule(path: &Path, access: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, String> {
    let missing = |why: String| format!("the sandbox names '{}', which can't be opened: {why}", path.display());
    let found = PathFd::new(path).map_err(|error| missing(error.to_string()))?;
    let is_folder = path.metadata().map_err(|error| missing(error.to_string()))?.is_dir();
    let access = if is_folder { access } else { access & AccessFs::from_file(WANTED) };
    Ok(PathBeneath::new(found, access))
}
