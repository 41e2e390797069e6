//! Archives that are read again: one alone, or all of them before the ledger.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    super::{Checker, Hash, Verification, Wrong, journal::ArchivedFile},
    ArchiveSeal, SealError,
    seal::SEAL_EXTENSION,
};

/// More than all heads that a seal can list.
const LARGEST_SEAL: u64 = 64 << 20;

/// An archive whose seal was read and trusted.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: Arc<Path>,
    seal: ArchiveSeal,
}

/// Why an archive can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenArchiveError {
    #[error("'{}' can't be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("'{}': {source}", path.display())]
    Seal {
        path: PathBuf,
        #[source]
        source: SealError,
    },
    #[error("there is no seal (*{SEAL_EXTENSION}) in '{}'", .0.display())]
    NoSeal(PathBuf),
}

impl Archive {
    /// The archives of a folder, oldest first, or the one of a seal's file. Each seal must be signed with this key.
    pub fn open(path: &Path, public_key: &str) -> Result<Vec<Self>, OpenArchiveError> {
        let unreadable = |source| OpenArchiveError::Unreadable { path: path.to_owned(), source };
        let mut files = Vec::new();
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            for entry in fs::read_dir(path).map_err(unreadable)? {
                let name = entry.map_err(unreadable)?.file_name();
                let is_seal = |name: &&str| name.ends_with(SEAL_EXTENSION) && !name.starts_with('.');
                files.extend(name.to_str().filter(is_seal).map(|name| path.join(name)));
            }
        } else {
            files.push(path.to_owned());
        }
        if files.is_empty() {
            return Err(OpenArchiveError::NoSeal(path.to_owned()));
        }
        let opened: Result<Vec<_>, _> = files.iter().map(|file| Self::open_seal(file, public_key)).collect();
        let mut archives = opened?;
        archives.sort_by_key(|archive| archive.seal.content().until);
        Ok(archives)
    }

    /// The names of archives that are missing between these, which are sorted: each seal names the one before.
    pub fn gaps(archives: &[Self]) -> Vec<String> {
        let pairs = archives.iter().zip(archives.iter().skip(1));
        let gaps = pairs.filter(|(before, after)| after.seal.content().previous != before.seal.hash());
        gaps.map(|(_, after)| before_name(after.seal.file())).collect()
    }

    fn open_seal(path: &Path, public_key: &str) -> Result<Self, OpenArchiveError> {
        let unreadable = |source| OpenArchiveError::Unreadable { path: path.to_owned(), source };
        let bad = |source| OpenArchiveError::Seal { path: path.to_owned(), source };
        let text = read_seal(path).map_err(unreadable)?;
        let seal = ArchiveSeal::from_line(text.trim_end()).map_err(bad)?;
        seal.verify_signature(public_key).map_err(bad)?;
        Ok(Self { folder: path.parent().unwrap_or(Path::new("")).into(), seal })
    }

    pub fn seal(&self) -> &ArchiveSeal {
        &self.seal
    }

    /// Reads the archive alone, and says everything that is wrong with it.
    pub fn verify(&self) -> io::Result<Verification> {
        let content = self.seal.content();
        let mut checker = Checker::resume(&content.begins);
        checker.accept_losses(&content.losses);
        self.read_into(&mut checker)?;
        if checker.all_heads() != content.ends {
            checker.report(Wrong::ArchiveChanged { file: content.file.clone() });
        }
        Ok(checker.finish())
    }

    fn read_into(&self, checker: &mut Checker) -> io::Result<()> {
        let content = self.seal.content();
        let path = self.folder.join(&content.file);
        let file = ArchivedFile { path: &path, name: &content.file, after: content.after };
        if !path.exists() {
            checker.report(Wrong::ArchiveLost { file: content.file.clone() });
            return Ok(());
        }
        if file.digest()? != (content.sha256, content.bytes) {
            checker.report(Wrong::ArchiveChanged { file: content.file.clone() });
        }
        file.show(checker).map(drop)
    }
}

/// Shows the checker every archive, from the first record of the ledger on.
pub(in crate::ledger) fn read_all(archives: &[Archive], newest: Hash, checker: &mut Checker) -> io::Result<()> {
    let mut previous = Hash::NOTHING;
    for archive in archives {
        let content = archive.seal.content();
        checker.accept_losses(&content.losses);
        if content.previous != previous {
            checker.report(Wrong::ArchiveLost { file: before_name(&content.file) });
        }
        archive.read_into(checker)?;
        previous = archive.seal.hash();
    }
    if previous != newest {
        checker.report(Wrong::ArchiveLost { file: "the newest".to_owned() });
    }
    Ok(())
}

/// The text of a seal, if it is a regular file of a size that a seal can have.
fn read_seal(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LARGEST_SEAL {
        return Err(io::Error::other("it is no regular file, or too large for a seal"));
    }
    fs::read_to_string(path)
}

fn before_name(file: &str) -> String {
    format!("the one before {file}")
}
