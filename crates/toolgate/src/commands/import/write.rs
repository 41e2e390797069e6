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
    config::{self, Config},
};

/// The names of the upstreams that were added; those that are there already, the same, are left.
pub fn all(path: &Path, secrets: &Path, imported: &Imported, force: bool) -> Result<Vec<String>, Misuse> {
    let shown = path.display();
    let before = client_file::read(path)?;
    let there = match &before {
        None => Config::default(),
        Some(text) => {
            // the faults of what is there are told with their places
            config::load(Some(path), std::iter::empty())?;
            toml::from_str(text)?
        }
    };
    let mut added = Vec::new();
    for upstream in &imported.upstreams {
        match there.upstreams.iter().find(|other| other.name == upstream.name) {
            Some(same) if same == upstream => {}
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
    let text = joined(before.as_deref(), &render::upstreams(&added));
    toml::from_str::<Config>(&text).map_err(|fault| {
        format!("{shown} can't be added to: {}; write its upstreams as [[upstreams]]", fault.message())
    })?;
    let wanted = unwritten(secrets, &imported.secrets, force)?;
    if !wanted.is_empty() {
        put_file::folder(secrets).map_err(|fault| format!("{} can't be made: {fault}", secrets.display()))?;
    }
    for (file, secret) in wanted {
        // never written into: who may read the old file could be anyone
        let _ = fs::remove_file(&file);
        put_file::create(&file, secret.content.as_bytes(), None)
            .map_err(|fault| format!("{} can't be written: {fault}", file.display()))?;
    }
    if !added.is_empty() {
        put_file::replace(path, text.as_bytes()).map_err(|fault| format!("{shown} can't be written: {fault}"))?;
    }
    Ok(added.into_iter().map(|upstream| upstream.name).collect())
}

fn joined(before: Option<&str>, upstreams: &str) -> String {
    match before {
        None => format!("# Made by `toolgate import`. Every key: docs/configuration.md\n\n{upstreams}"),
        Some(before) if before.is_empty() || before.ends_with("\n\n") => format!("{before}{upstreams}"),
        Some(before) if before.ends_with('\n') => format!("{before}\n{upstreams}"),
        Some(before) => format!("{before}\n\n{upstreams}"),
    }
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
