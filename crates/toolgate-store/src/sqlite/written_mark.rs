//! The number of writes that the ledger's folder knows of: what says that a database was restored from an older copy.
//!
//! Every commit counts itself, in the database. The count is then kept in the ledger's folder too, which nobody takes back
//! together with the database by accident. So the folder's count is never ahead of the database's, whatever crashes: the
//! database has the commit on disk before the folder hears of it. Where it is ahead, commits are gone from the database.
//!
//! A second count says how far the database file alone had come when the newest write-ahead log began. SQLite begins a log
//! anew, with other salts, only when the file has everything of the one before. A file that is behind is not the one that
//! its log belongs to.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::ledger;

const NAME: &str = "store.writes";
/// Digits of a count, so that a shorter one leaves nothing of a longer one behind.
const DIGITS: usize = 20;
/// Where the header of a write-ahead log has the salts of its frames.
const SALTS_AT: u64 = 16;

/// The content of the file in the ledger's folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WriteCounts {
    /// Commits of the database.
    pub(super) all: i64,
    /// Commits that the database file had, without its write-ahead log, when that log began.
    pub(super) in_file: i64,
}

impl WriteCounts {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
        let all = numbers.next()??;
        // an older program wrote the first alone
        Some(Self { all, in_file: numbers.next().flatten().unwrap_or_default() })
    }

    fn or_more(self, other: Self) -> Self {
        Self { all: self.all.max(other.all), in_file: self.in_file.max(other.in_file) }
    }
}

/// The file in the ledger's folder, for one process that writes to the database.
pub(super) struct WrittenMark {
    path: PathBuf,
    /// Opened when there is a ledger.
    file: Option<File>,
    log: PathBuf,
    /// The newest commit that was seen, and after it the salts of the log that then was.
    seen: (i64, Option<[u8; 8]>),
}

impl WrittenMark {
    /// INVARIANT: `count` was read before this, so that its commit is in the log that is there now or in one before.
    pub(super) fn beside(database: &Path, count: i64) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        Self { path: path_beside(database), file: None, seen: (count, salts(&log)), log }
    }

    /// Keeps a count that is committed. Nothing is lost where that fails: the next one says the same and more.
    pub(super) fn keep(&mut self, count: i64) {
        let (before, old_salts) = std::mem::replace(&mut self.seen, (count, salts(&self.log)));
        let in_file = if self.seen.1 == old_salts { 0 } else { before };
        if let Err(error) = self.try_keep(WriteCounts { all: count, in_file })
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "an older copy of the database would not be noticed");
        }
    }

    fn try_keep(&mut self, counts: WriteCounts) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(open(&self.path)?),
        };
        // another process may have come further
        let kept = read(file)?;
        let newest = counts.or_more(kept.unwrap_or_default());
        if kept == Some(newest) { Ok(()) } else { write(file, newest) }
    }
}

fn path_beside(database: &Path) -> PathBuf {
    ledger::folder_beside(database).join(NAME)
}

/// The counts that were last kept; `None` without a ledger, and for a file that holds none.
pub(super) fn kept(database: &Path) -> Option<WriteCounts> {
    read(&File::open(path_beside(database)).ok()?).ok().flatten()
}

/// Writes counts in the place of what is there, and waits for the disk. Records that reach the disk later find it there.
pub(super) fn replace(database: &Path, counts: WriteCounts) -> io::Result<()> {
    let path = path_beside(database);
    let file = open(&path)?;
    write(&file, counts)?;
    file.sync_all()?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn read(mut file: &File) -> io::Result<Option<WriteCounts>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    match file.take(64).read_to_string(&mut text) {
        Ok(_) => Ok(WriteCounts::parse(&text)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(mut file: &File, WriteCounts { all, in_file }: WriteCounts) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{all:0DIGITS$} {in_file:0DIGITS$}\n").as_bytes())
}

/// The salts of a write-ahead log, which it has for as long as it is not begun anew; `None` for one without a frame.
fn salts(log: &Path) -> Option<[u8; 8]> {
    let mut file = File::open(log).ok()?;
    file.seek(SeekFrom::Start(SALTS_AT)).ok()?;
    let mut salts = [0; 8];
    file.read_exact(&mut salts).ok()?;
    Some(salts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_grow_and_need_a_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("toolgate.db");
        let mut mark = WrittenMark::beside(&database, 0);
        mark.keep(7);
        assert_eq!(kept(&database), None, "there is no ledger yet");
        std::fs::create_dir(folder.path().join("toolgate-ledger")).unwrap();
        for (count, known) in [(9_999, 9_999), (12, 9_999), (10_000, 10_000)] {
            mark.keep(count);
            assert_eq!(kept(&database), Some(WriteCounts { all: known, in_file: 0 }));
        }
    }

    #[test]
    fn a_log_with_other_salts_says_that_the_file_has_what_was_committed_before() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("toolgate.db");
        std::fs::create_dir(folder.path().join("toolgate-ledger")).unwrap();
        let log = |salts: u8| std::fs::write(folder.path().join("toolgate.db-wal"), [salts; 32]).unwrap();
        log(1);
        let mut mark = WrittenMark::beside(&database, 5);
        for (salts, count, in_file) in [(1, 6, 0), (1, 7, 0), (2, 8, 7), (2, 9, 7), (3, 10, 9)] {
            log(salts);
            mark.keep(count);
            assert_eq!(kept(&database), Some(WriteCounts { all: count, in_file }));
        }
    }

    #[test]
    fn a_file_that_holds_no_count_is_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("toolgate-ledger")).unwrap();
        for text in [&b""[..], b"\0\0\0", b"many", b"\xff\xfe"] {
            std::fs::write(folder.path().join("toolgate-ledger").join(NAME), text).unwrap();
            assert_eq!(kept(&folder.path().join("toolgate.db")), None);
        }
    }

    #[test]
    fn the_count_of_an_older_program_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("toolgate-ledger")).unwrap();
        for (text, counts) in [
            ("00000000000000000012\n", WriteCounts { all: 12, in_file: 0 }),
            // written over what this program wrote
            ("00000000000000000012\n00000000000000000007\n", WriteCounts { all: 12, in_file: 7 }),
        ] {
            std::fs::write(folder.path().join("toolgate-ledger").join(NAME), text).unwrap();
            assert_eq!(kept(&folder.path().join("toolgate.db")), Some(counts));
        }
    }
}
