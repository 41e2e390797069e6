//! The data folder: who may write to it, and how much room its disk has.

use std::path::Path;

use super::{Finding, Severity};

/// Bytes of free disk below which somebody should know.
const LITTLE: u64 = 512 << 20;
/// Bytes of free disk below which the next records may not fit.
const NONE: u64 = 16 << 20;

pub fn look(folder: &Path) -> Vec<Finding> {
    let shown = folder.display();
    if !folder.exists() {
        let detail = format!("{shown} is not there yet: toolgate serve makes it");
        return vec![Finding::new("data folder", Severity::Good, detail)];
    }
    if !folder.is_dir() {
        let detail = format!("{shown} is no folder; name another with --data");
        return vec![Finding::new("data folder", Severity::Bad, detail)];
    }
    let (severity, detail) = rights(folder);
    let mut findings = vec![Finding::new("data folder", severity, detail)];
    findings.extend(room(folder));
    findings
}

#[cfg(unix)]
fn rights(folder: &Path) -> (Severity, String) {
    use std::os::unix::fs::PermissionsExt;

    let shown = folder.display();
    let mode = folder.metadata().map_or(0, |about| about.permissions().mode() & 0o777);
    if rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_err() {
        return (
            Severity::Bad,
            format!("{shown} can't be written to by this user; change its owner, or name another with --data"),
        );
    }
    if mode & 0o022 != 0 {
        let detail = format!(
            "others may write to {shown} (mode {mode:o}), and so replace the key and the database: chmod 700 {shown}"
        );
        return (Severity::Warning, detail);
    }
    (Severity::Good, format!("{shown}, written to by its owner alone"))
}

#[cfg(not(unix))]
fn rights(folder: &Path) -> (Severity, String) {
    (Severity::Good, folder.display().to_string())
}

#[cfg(unix)]
fn room(folder: &Path) -> Option<Finding> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let amount = format!("{} MiB are free", free >> 20);
    Some(match free {
        ..NONE => Finding::new(
            "disk",
            Severity::Bad,
            format!("{amount}; calls stop once the ledger can't be written: make room"),
        ),
        NONE..LITTLE => {
            Finding::new("disk", Severity::Warning, format!("{amount}; calls stop once the ledger can't be written"))
        }
        _ => Finding::new("disk", Severity::Good, amount),
    })
}

#[cfg(not(unix))]
fn room(_folder: &Path) -> Option<Finding> {
    None
}
