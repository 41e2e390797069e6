//! Files of a repository, opened beneath a directory handle. INVARIANT: nothing outside the handle's folder is opened,
//! also not through a link that appears between a check and a use; a special file is neither read nor waited for.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::{fs::OFlags, io::Errno};

use super::error::RepositoryError;

/// Opens a regular file, or returns `None` where there is none.
pub(super) fn open_file(
    folder: &Dir,
    path: impl AsRef<Path>,
    role: &'static str,
) -> Result<Option<File>, RepositoryError> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default());
    let file = match folder.open_with(path, &options) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&error, role)),
    };
    let metadata = file.metadata().map_err(|error| unreadable(&error, role))?;
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Ok(Some(file.into_std())),
        (_, true) => Ok(None),
        _ => Err(RepositoryError::Unreadable(role)),
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
    let read = file.take(most.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|error| unreadable(&error, role))?;
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
        Err(error) => Err(unreadable(&error, role)),
    }
}

/// The names in a folder, which holds at most `most` entries.
pub(super) fn names(folder: &Dir, most: usize, role: &'static str) -> Result<Vec<String>, RepositoryError> {
    let failed = |error: io::Error| unreadable(&error, role);
    let mut names = Vec::new();
    for (count, entry) in folder.entries().map_err(failed)?.enumerate() {
        if count >= most {
            return Err(RepositoryError::TooLarge(role));
        }
        // git's own names are text
        if let Ok(name) = entry.map_err(failed)?.file_name().into_string() {
            names.push(name);
        }
    }
    Ok(names)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Why something can't be opened or read. A link that leads out of the folder is no error of the system: it is refused
/// before the system is asked.
pub(super) fn unreadable(error: &io::Error, role: &'static str) -> RepositoryError {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM) => RepositoryError::Denied(role),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO) => RepositoryError::Failed(role),
        _ => RepositoryError::Unreadable(role),
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn every_entry_of_a_folder_counts_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            std::fs::write(folder.path().join(OsStr::from_bytes(&[0xff, number + 1])), "").unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        assert_eq!(names(&dir, 5, "folder"), Ok(vec![]));
        assert_eq!(names(&dir, 4, "folder"), Err(RepositoryError::TooLarge("folder")));
    }

    #[test]
    fn what_the_system_refuses_is_not_taken_for_a_link() {
        let of = |errno: Errno| unreadable(&io::Error::from_raw_os_error(errno.raw_os_error()), "x");
        assert_eq!(of(Errno::ACCESS), RepositoryError::Denied("x"));
        assert_eq!(of(Errno::MFILE), RepositoryError::Failed("x"));
        assert_eq!(of(Errno::LOOP), RepositoryError::Unreadable("x"));
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("out")).unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        assert_eq!(open_file(&dir, "out", "x").err(), Some(RepositoryError::Unreadable("x")));
    }
}
