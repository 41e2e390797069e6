//! Making archives: the oldest parts of the ledger are copied, verified, sealed, recorded and only then removed.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    super::{
        CheckpointKey, Durability, Hash, Ledger, LedgerUnavailable, Scope, SystemRecord, Verification,
        canonical::Draft, journal::ArchivedFile, verify::RecordedLosses,
    },
    ArchiveSeal,
    seal::SealContent,
};
use crate::{StoreError, ledger::Checker};

/// What to archive, and where to.
#[derive(Debug, Clone)]
pub struct ArchiveRequest {
    /// Only parts whose records are all older than this, Unix milliseconds.
    pub before: i64,
    /// The folder for archives and their seals.
    pub to: PathBuf,
    /// The time of the seals, Unix milliseconds.
    pub time: i64,
}

/// Why archiving stopped. What was archived before that stays archived.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the ledger is not sound ({} finding(s)), and an archive would cover that up; verify it", .0.found)]
    Unsound(Verification),
    #[error("the archive can't be recorded, and so nothing was removed: {0}")]
    Unrecorded(#[from] LedgerUnavailable),
    #[error("'{}' can't be written: {source}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("'{}' exists already and is another archive; give another folder", .0.display())]
    Exists(PathBuf),
}

impl Ledger {
    /// Moves the oldest parts of the ledger, whole segments, into a folder. Returns their seals, oldest first. The newest
    /// segment stays.
    pub async fn archive(
        &self,
        key: &CheckpointKey,
        request: &ArchiveRequest,
    ) -> Result<Vec<ArchiveSeal>, ArchiveError> {
        let (checker, sealed) = self.reader.check(Scope::Whole).await?;
        let losses = checker.losses().clone();
        let verification = checker.finish();
        if !verification.is_sound() {
            return Err(ArchiveError::Unsound(verification));
        }
        let (mut after, mut begins, mut previous) = (0, Vec::new(), Hash::NOTHING);
        if let Some(sealed) = sealed {
            // an archive that was interrupted before its last step
            self.reader.remove_until(sealed.until).await?;
            (after, begins, previous) = (sealed.until, sealed.ends, sealed.hash);
        }
        let folder = &request.to;
        let to_folder = |source| ArchiveError::Folder { path: folder.clone(), source };
        let _unused = NewFolders::make(folder).map_err(to_folder)?;
        let mut seals = Vec::new();
        while let Some(copied) = self.reader.copy_part(after, request.before, folder).await? {
            let part = Part { copied, after, begins, previous, losses: &losses };
            let content = part.check(folder, request.time).await?;
            let path = folder.join(&content.file);
            let seal = content.sign(key);
            place(folder, &seal).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => ArchiveError::Exists(path),
                _ => to_folder(error),
            })?;
            let record = SystemRecord::archive(seal.hash(), seal.file(), seal.records());
            self.sink.submit(Draft::system(&record, request.time), Durability::Durable).await?;
            self.reader.keep_seal(&seal).await?;
            let content = seal.content();
            self.reader.remove_until(content.until).await?;
            (after, begins, previous) = (content.until, content.ends.clone(), seal.hash());
            seals.push(seal);
        }
        self.reader.keep_heads().await?;
        Ok(seals)
    }
}

/// A copied part and what stands before it.
struct Part<'a> {
    copied: CopiedPart,
    after: i64,
    begins: Vec<super::super::Head>,
    previous: Hash,
    losses: &'a RecordedLosses,
}

/// A part of the ledger in a file of its own, not yet sealed.
pub(crate) struct CopiedPart {
    /// The name that the archive is to have.
    pub(crate) file: String,
    /// The position up to which the part goes.
    pub(crate) until: i64,
}

impl Part<'_> {
    /// Verifies the copy, not the original, so that what is sealed is what was verified.
    async fn check(self, folder: &Path, time: i64) -> Result<SealContent, ArchiveError> {
        let Self { copied: CopiedPart { file, until }, after, begins, previous, losses } = self;
        let path = temporary(folder, &file);
        let mut checker = Checker::resume(&begins);
        checker.accept_losses(losses);
        let read = move || {
            let archived = ArchivedFile { path: &path, name: &file, after };
            let digest = archived.digest()?;
            archived.show(&mut checker).map(|times| (digest, times, file, checker))
        };
        let read = tokio::task::spawn_blocking(read).await.map_err(io::Error::other).flatten();
        let ((sha256, bytes), times, file, checker) =
            read.map_err(|source| ArchiveError::Folder { path: folder.to_owned(), source })?;
        let ends = checker.all_heads();
        let verification = checker.finish();
        if !verification.is_sound() {
            return Err(ArchiveError::Unsound(verification));
        }
        Ok(SealContent {
            v: 1,
            kind: String::new(),
            time,
            file,
            bytes,
            sha256,
            records: verification.records,
            first_time: times.first,
            last_time: times.last,
            after,
            until,
            begins,
            ends,
            losses: losses.clone(),
            previous,
            key: String::new(),
        })
    }
}

/// The file that a part is copied to before it has its name.
pub(crate) fn temporary(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!(".{file}.part"))
}

/// Folders that were made for archives, the innermost first. Those that are still empty go with this value.
struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    fn make(folder: &Path) -> io::Result<Self> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = Self(folder.ancestors().take_while(is_missing).map(Path::to_owned).collect());
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
        Ok(made)
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        // a folder that has something in it is not removed, and neither are those around it
        let _ = self.0.iter().try_for_each(fs::remove_dir);
    }
}

/// Gives the copy its name, and writes the seal beside it. An archive that exists is never replaced by another.
fn place(folder: &Path, seal: &ArchiveSeal) -> io::Result<()> {
    let (path, copy) = (folder.join(seal.file()), temporary(folder, seal.file()));
    let there = ArchivedFile { path: &path, name: seal.file(), after: 0 };
    if path.exists() && there.digest()?.0 != seal.content().sha256 {
        fs::remove_file(copy)?;
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(copy, &path)?;
    let seal_path = folder.join(seal.seal_file());
    let new = temporary(folder, &seal.seal_file());
    let mut file = File::create(&new)?;
    file.write_all(format!("{}\n", seal.to_line()).as_bytes())?;
    file.sync_all()?;
    fs::rename(new, seal_path)?;
    File::open(folder)?.sync_all()
}
