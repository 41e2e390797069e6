//! Putting files in place whole: nobody ever reads half of one, links stay links, and who may read it stays so.

use std::{
    fs::{self, Metadata, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

#[cfg(unix)]
use std::os::unix::fs::MetadataExt;

use super::client_file::beside;

/// Replaces what `path` leads to. A file that is new is for its owner alone.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Err(fault) if fault.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => path.to_owned(),
        found => found?,
    };
    let about = fs::metadata(&target).ok();
    if about.is_some() {
        writable(&target)?;
    }
    let draft = beside(&target, &format!(".{}.draft", std::process::id()));
    let written = create(&draft, bytes, about.as_ref()).and_then(|()| fs::rename(&draft, &target));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Makes a file that is not there yet: for its owner alone, or with owner and rights of another.
pub fn create(path: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let filled = file.write_all(bytes).and_then(|()| {
        if let Some(about) = like {
            // an administrator keeps the file its owner's; nobody else could give it away
            #[cfg(unix)]
            let _ = std::os::unix::fs::chown(path, Some(about.uid()), Some(about.gid()));
            file.set_permissions(about.permissions())?;
        }
        file.sync_all()
    });
    if filled.is_err() {
        let _ = fs::remove_file(path);
    }
    filled
}

/// A folder for its owner alone, with those above it.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Renaming over a file asks nobody whether it may be written, so it is asked here.
pub fn writable(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.permissions().readonly() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "it is read-only"));
    }
    OpenOptions::new().append(true).open(path).map(drop)
}
