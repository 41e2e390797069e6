//! A file beside the database that grows with every change of rights, so that every process on it sees that there was one
//! by looking at the file's length.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

pub(super) struct Mark(File);

impl Mark {
    pub(super) fn open(database: &Path) -> io::Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push("-rights");
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(PathBuf::from(path)).map(Self)
    }

    /// `None` where even that can't be seen: then nothing is known to be current.
    pub(super) fn length(&self) -> Option<u64> {
        self.0.metadata().ok().map(|metadata| metadata.len())
    }

    pub(super) fn grow(&self) -> io::Result<()> {
        (&self.0).write_all(b".")
    }
}
