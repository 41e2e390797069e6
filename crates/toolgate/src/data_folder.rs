//! The data folder: the key and the store lie in it, and nobody else should write there.

use std::path::Path;

/// Warns of a folder that was there before and that others than its owner may write to.
#[cfg(unix)]
pub fn warn_of_open_folder(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let Ok(found) = std::fs::metadata(folder) else { return };
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        tracing::warn!(
            folder = %folder.display(),
            mode = format!("{mode:o}"),
            "others may write to the data folder, and so replace its key and its database; chmod 700 it"
        );
    }
}

#[cfg(not(unix))]
pub fn warn_of_open_folder(_folder: &Path) {}
