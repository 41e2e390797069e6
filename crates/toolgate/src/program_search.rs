//! Whether an upstream's program is there to be started.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::config::Upstream;

/// Folders that are searched where there is no PATH, as the system does.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The warning about an upstream whose program is not found.
pub fn missing_program(upstream: &Upstream) -> Option<String> {
    let command = upstream.command.as_deref().filter(|_| upstream.enabled)?;
    // a relative path with folders in it is meant from the upstream's own folder
    let is_path = command.contains('/');
    let missing = match (is_path, &upstream.cwd) {
        (false, _) => !folders().iter().any(|folder| is_program(&folder.join(command))),
        (true, Some(_)) if !Path::new(command).is_absolute() => false,
        (true, _) => !is_program(Path::new(command)),
    };
    let place = if is_path { "" } else { " in any folder of PATH" };
    missing.then(|| {
        format!("the upstream '{}' has the command '{command}', and no such program is found{place}", upstream.name)
    })
}

fn folders() -> Vec<PathBuf> {
    // a program that the upstream's own `env` gives another PATH is still searched with the gateway's
    let path = env::var_os("PATH").filter(|path| !path.is_empty()).unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    env::split_paths(&path).collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
