//! The disk: the operations whose failure the ledger must survive. Tests put faults into it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use super::segment::Day;

/// File operations of the ledger's own threads.
#[derive(Clone, Default)]
pub(super) struct Disk {
    #[cfg(test)]
    pub(super) faults: std::sync::Arc<super::disk_faults::DiskFaults>,
}

impl Disk {
    pub(super) fn today(&self) -> Day {
        #[cfg(test)]
        if let Some(day) = self.faults.today() {
            return day;
        }
        Day::today()
    }

    /// Waits until what was written is on the disk.
    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        #[cfg(test)]
        self.faults.sync(file)?;
        file.sync_data()
    }

    /// Appends as much as the disk takes.
    pub(super) fn append(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        if let Some(taken) = self.faults.takes() {
            let taken = bytes.get(..taken.min(bytes.len())).unwrap_or_default();
            return file.write(taken);
        }
        file.write(bytes)
    }

    /// Opens a segment to be appended to. That the file exists is as sure as what is in it.
    pub(super) fn open(&self, folder: &Path, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).read(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(folder.join(name))?;
        // also where who made it ended before the folder was synced
        if file.metadata()?.len() == 0 {
            self.sync_folder(folder)?;
        }
        Ok(file)
    }

    pub(super) fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        #[cfg(test)]
        self.faults.folder(folder);
        File::open(folder)?.sync_all()
    }

    /// Makes the folder, for its owner alone, and sees to it that it and every folder made for it are on the disk.
    pub(super) fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|part| is_missing(part)).collect();
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        for made in missing {
            match made.parent() {
                Some(parent) if parent.as_os_str().is_empty() => self.sync_folder(Path::new("."))?,
                Some(parent) => self.sync_folder(parent)?,
                None => {}
            }
        }
        Ok(())
    }
}

fn is_missing(folder: &Path) -> bool {
    !folder.as_os_str().is_empty() && fs::metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
