//! The gateway's own files, and which programs of upstreams can reach them.

use std::{
    ffi::OsString,
    path::{Path, PathBuf, absolute},
};

use toolgate_store::Location;
use toolgate_upstream::ChildSandbox;

use crate::{
    Misuse,
    child_programs::{LAUNCHER_ARGUMENT, find_user, own_program},
    config::{DEFAULT_FILE, Upstream},
    ground::Ground,
};

/// Files that a sandboxed program must not reach.
#[derive(Debug, Clone, Default)]
pub struct GatewayFiles {
    /// The data folder, the signing key, the store and its ledger: not to be read.
    secret: Vec<PathBuf>,
    /// The configuration and the lock: not to be changed.
    settings: Vec<PathBuf>,
}

impl GatewayFiles {
    pub fn of(ground: &Ground) -> Result<Self, Misuse> {
        let mut secret = vec![ground.data.clone()];
        secret.extend(ground.config.identity.key_file.clone());
        if let Location::Sqlite(store) = ground.location()? {
            let mut ledger = store.file_stem().unwrap_or_default().to_owned();
            ledger.push("-ledger");
            secret.extend([store.with_file_name(ledger), store]);
        }
        // one that is not there yet would be followed once it is made
        let config = ground.config_path.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        let settings = [config, ground.lock_file().path().to_owned()];
        Ok(Self {
            secret: secret.iter().map(|path| resolved(path)).collect(),
            settings: settings.iter().map(|path| resolved(path)).collect(),
        })
    }

    /// The sandbox that the configuration gives an upstream, if any. The reason why not, where the sandbox would let the
    /// program reach the gateway's own files.
    pub fn sandbox(&self, upstream: &Upstream) -> Result<Option<ChildSandbox>, String> {
        let Some(sandbox) = &upstream.sandbox else { return Ok(None) };
        let full =
            |paths: &[PathBuf]| paths.iter().map(|path| absolute(path).unwrap_or_else(|_| path.clone())).collect();
        let (read, write): (Vec<PathBuf>, Vec<PathBuf>) = (full(&sandbox.read), full(&sandbox.write));
        let system = ChildSandbox::system_paths().map(Path::to_owned);
        let reached: Vec<PathBuf> = read.iter().chain(&write).cloned().chain(system).collect();
        for path in &reached {
            if let Some(secret) = self.secret.iter().find(|secret| overlap(&resolved(path), secret)) {
                return Err(format!(
                    "it would reach '{}', which is the gateway's own, by way of '{}'; name folders beside it, or move the data folder with --data",
                    secret.display(),
                    path.display()
                ));
            }
        }
        for path in &write {
            if let Some(file) = self.settings.iter().find(|file| file.starts_with(resolved(path))) {
                return Err(format!("it could change '{}' by way of '{}'", file.display(), path.display()));
            }
        }
        let launcher = own_program().map_err(|fault| format!("the gateway's own program is not found: {fault}"))?;
        Ok(Some(ChildSandbox { launcher, argument: LAUNCHER_ARGUMENT.to_owned(), read, write }))
    }

    /// What is to be said of an upstream whose program can read the gateway's secrets.
    pub fn exposure(&self, upstream: &Upstream) -> Option<String> {
        let is_program = upstream.enabled && upstream.command.is_some() && upstream.sandbox.is_none();
        let user = upstream.user.as_deref().and_then(|user| find_user(user).ok());
        if !is_program || user.is_some_and(|user| user.is_apart_from_the_gateways()) {
            return None;
        }
        let data = self.secret.first().map_or_else(|| "the data folder".to_owned(), |data| data.display().to_string());
        Some(format!(
            "the program of the upstream '{}' runs as the gateway's own user and can read {data}, the signing key included; give it sandbox = {{ read = [\"…\"], write = [\"…\"] }}, or user",
            upstream.name
        ))
    }

    /// The same of all upstreams.
    pub fn exposures(&self, upstreams: &[Upstream]) -> Vec<String> {
        upstreams.iter().filter_map(|upstream| self.exposure(upstream)).collect()
    }
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// A path without links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let mut head = absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut tail: Vec<OsString> = Vec::new();
    loop {
        if let Ok(found) = head.canonicalize() {
            return tail.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (head.file_name().map(ToOwned::to_owned), head.parent().map(Path::to_owned)) {
            (Some(name), Some(parent)) => {
                tail.push(name);
                head = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_as_far_as_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("data")).unwrap();
        std::os::unix::fs::symlink("data", real.join("link")).unwrap();
        assert_eq!(resolved(&real.join("link/not/there")), real.join("data/not/there"));
        assert_eq!(resolved(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn folders_overlap_where_one_is_within_the_other() {
        let overlaps = |one: &str, other: &str| overlap(Path::new(one), Path::new(other));
        assert!(overlaps("/a", "/a/b") && overlaps("/a/b", "/a") && overlaps("/a", "/a") && overlaps("/", "/a"));
        assert!(!overlaps("/a/b", "/a/c") && !overlaps("/a/b", "/a/bc"));
    }
}
