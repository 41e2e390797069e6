//! Writing what was imported: first everything is looked at, then the secrets are written, then the configuration.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    render,
    translate::{Imported, Secret},
};
use crate::{
    Misuse,
    commands::{client_file, put_file},
    config::{self, Config, Upstream},
    sample,
};

/// A configuration file that upstreams are added to.
pub struct Target<'t> {
    pub path: &'t Path,
    /// The folder of secrets.
    pub secrets: &'t Path,
    /// Overwrite secret files that hold something else.
    pub force: bool,
}

/// The configuration that is in a file, with paths as they are written there; the default where there is no file.
pub fn present(path: &Path) -> Result<Config, Misuse> {
    let Some(text) = client_file::read(path)? else { return Ok(Config::default()) };
    // the faults of what is there are told with their places
    config::load(Some(path), std::iter::empty())?;
    Ok(toml::from_str(&text)?)
}

impl Target<'_> {
    /// Adds the upstreams and writes their secrets. The names of those that were added: one that is there already, the same
    /// but for `prefix` and `writes`, is left.
    pub fn add(&self, imported: &Imported) -> Result<Vec<String>, Misuse> {
        let shown = self.path.display();
        let there = present(self.path)?;
        let mut added = Vec::new();
        for upstream in &imported.upstreams {
            match there.upstreams.iter().find(|other| other.name == upstream.name) {
                Some(other) if is_same(other, upstream) => {}
                Some(_) => {
                    let name = &upstream.name;
                    return Err(format!(
                        "{shown} has another upstream '{name}' already; remove it there, or rename this one"
                    )
                    .into());
                }
                None => added.push(upstream.clone()),
            }
        }
        let text = appended(self.path, &render::upstreams(&added))?;
        let wanted = unwritten(self.secrets, &imported.secrets, self.force)?;
        if !wanted.is_empty() {
            let folder = self.secrets;
            put_file::folder(folder).map_err(|fault| format!("{} can't be made: {fault}", folder.display()))?;
        }
        for (file, secret) in wanted {
            // never written into: who may read the old file could be anyone
            let _ = fs::remove_file(&file);
            put_file::create(&file, secret.content.as_bytes(), None)
                .map_err(|fault| format!("{} can't be written: {fault}", file.display()))?;
        }
        if !added.is_empty() {
            put_file::replace(self.path, text.as_bytes())
                .map_err(|fault| format!("{shown} can't be written: {fault}"))?;
        }
        Ok(added.into_iter().map(|upstream| upstream.name).collect())
    }
}

fn is_same(there: &Upstream, wanted: &Upstream) -> bool {
    Upstream { prefix: there.prefix.clone(), writes: there.writes, ..wanted.clone() } == *there
}

/// The text of a configuration file with more at its end; where there is no file, of the one that `init` writes.
pub fn appended(path: &Path, more: &str) -> Result<String, Misuse> {
    let before = client_file::read(path)?.unwrap_or_else(|| sample::CONFIG.to_owned());
    let between = match before.as_str() {
        "" => "",
        before if before.ends_with("\n\n") => "",
        before if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text = format!("{before}{between}{more}");
    toml::from_str::<Config>(&text).map_err(|fault| {
        format!(
            "{} can't be added to: {}; write its upstreams as [[upstreams]] and its tools as [tools.NAME]",
            path.display(),
            fault.message()
        )
    })?;
    Ok(text)
}

/// Secrets that are not in their files yet.
fn unwritten<'s>(folder: &Path, secrets: &'s [Secret], force: bool) -> Result<Vec<(PathBuf, &'s Secret)>, Misuse> {
    let mut wanted = Vec::new();
    for secret in secrets {
        let file = folder.join(&secret.name);
        match fs::symlink_metadata(&file) {
            Err(_) => wanted.push((file, secret)),
            Ok(about) if about.is_dir() => return Err(format!("{} is a folder; move it away", file.display()).into()),
            Ok(about) if about.is_file() && is_private(&about) && holds(&file, secret) => {}
            Ok(about) if force || (about.is_file() && holds(&file, secret)) => wanted.push((file, secret)),
            Ok(_) => {
                let file = file.display();
                return Err(format!("{file} holds something else; --force overwrites it, or move it away").into());
            }
        }
    }
    Ok(wanted)
}

fn holds(file: &Path, secret: &Secret) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes == secret.content.as_bytes())
}

#[cfg(unix)]
fn is_private(about: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}
