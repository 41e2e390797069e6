//! Files of a repository, opened beneath a directory handle. INVARIANT: nothing outside the handle's folder is opened,
//! also not through a link that appears between a check and a use; a special file is neither read nor waited for.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::error::RepositoryError;

/// Opens a regular file, or returns `None` where there is none.
pub(super) fn open_file(
    folder: &Dir,
    path: impl AsRef<Path>,
    role: &'static str,
) -> Result<Option<File>, RepositoryError> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default());
    let unreadable = RepositoryError::Unreadable(role);
    let file = match folder.open_with(path, &options) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(_) => return Err(unreadable),
    };
    let metadata = file.metadata().map_err(|_| unreadable)?;
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Ok(Some(file.into_std())),
        (_, true) => Ok(None),
        _ => Err(unreadable),
    }
}

/// Reads a whole file of at most `most` bytes, or returns `None` where there is none.
pub(super) fn read_file(
    folder: &Dir,
    path: impl AsRef<Path>,
    most: u64,
    role: &'static str,
) -> Result<Option<Vec<u8>>, RepositoryError> {
    let Some(file) = open_file(folder, path, role)? else { return Ok(None) };
    let mut content = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut content).map_err(|_| RepositoryError::Unreadable(role))?;
    if content.len() as u64 > most {
        return Err(RepositoryError::TooLarge(role));
    }
    Ok(Some(content))
}

/// Opens a folder beneath another, or returns `None` where there is none.
pub(super) fn open_folder(
    folder: &Dir,
    path: impl AsRef<Path>,
    role: &'static str,
) -> Result<Option<Dir>, RepositoryError> {
    match folder.open_dir(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(_) => Err(RepositoryError::Unreadable(role)),
    }
}

/// The names in a folder, at most `most` of them.
pub(super) fn names(folder: &Dir, most: usize, role: &'static str) -> Result<Vec<String>, RepositoryError> {
    let unreadable = |_| RepositoryError::Unreadable(role);
    let mut names = Vec::new();
    for entry in folder.entries().map_err(unreadable)? {
        if names.len() >= most {
            return Err(RepositoryError::TooLarge(role));
        }
        if let Ok(name) = entry.map_err(unreadable)?.file_name().into_string() {
            names.push(name);
        }
    }
    Ok(names)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
