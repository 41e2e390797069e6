//! The repository this command was started in.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{
    command::Program,
    fault::{Fault, Outcome, on_path},
};

pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    pub(crate) fn find() -> Outcome<Self> {
        let said = Program::new("git").args(["rev-parse", "--show-toplevel"]).output().map_err(|fault| {
            fault.remedy("run it inside a git clone of Toolgate: the tidy step reads the list of files from git")
        })?;
        Ok(Self { root: PathBuf::from(said.trim_end()) })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// `cargo`, at the root.
    pub(crate) fn cargo(&self) -> Program {
        Program::cargo().within(&self.root)
    }

    /// Every file that is tracked or would be by `git add`, relative to the root, in git's order.
    pub(crate) fn files(&self) -> Outcome<Vec<String>> {
        let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
        let said = Program::new("git").args(listing).within(&self.root).output()?;
        let files = said.split('\0').filter(|name| !name.is_empty() && self.join(name).is_file());
        Ok(files.map(str::to_owned).collect())
    }

    /// The text of a file; nothing for one that is not text.
    pub(crate) fn text(&self, file: &str) -> Outcome<Option<String>> {
        let path = self.join(file);
        Ok(String::from_utf8(on_path(std::fs::read(&path), "read", &path)?).ok())
    }

    /// What cargo knows of the workspace's own packages.
    pub(crate) fn metadata(&self) -> Outcome<Value> {
        let said = self.cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
        serde_json::from_str(&said).map_err(|error| Fault::new(format!("cargo metadata is not JSON: {error}")))
    }

    /// Where cargo puts a binary of this profile (`debug`, `release`).
    pub(crate) fn binary(&self, profile: &str, name: &str) -> Outcome<PathBuf> {
        let metadata = self.metadata()?;
        let target = metadata.get("target_directory").and_then(Value::as_str);
        let target = target.ok_or_else(|| Fault::new("cargo metadata names no target directory"))?;
        Ok(Path::new(target).join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
    }
}
