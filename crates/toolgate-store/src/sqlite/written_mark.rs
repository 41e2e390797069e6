//! The number of writes that the ledger's folder knows of: what says that a database was restored from an older copy.
//!
//! Every commit counts itself, in the database. The count is then kept in the ledger's folder too, which nobody takes back
//! together with the database by accident. So the folder's count is never ahead of the database's, whatever crashes: the
//! database has the commit on disk before the folder hears of it. Where it is ahead, commits are gone from the database.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::{file, run::fault};
use crate::{RestoredDatabase, StoreError, ledger};

const NAME: &str = "store.writes";
/// Digits of a count, so that a shorter one leaves nothing of a longer one behind.
const DIGITS: usize = 20;

const COUNTED: &str = "SELECT count FROM store_writes WHERE one = 1";
pub(super) const COUNT: &str = "UPDATE store_writes SET count = count + 1 WHERE one = 1 RETURNING count";
const RAISE: &str = "UPDATE store_writes SET count = MAX(count, $1) + 1 WHERE one = 1";

/// The file in the ledger's folder.
pub(super) struct WrittenMark {
    path: PathBuf,
    /// Opened when there is a ledger.
    file: Option<File>,
}

impl WrittenMark {
    pub(super) fn beside(database: &Path) -> Self {
        Self { path: ledger::folder_beside(database).join(NAME), file: None }
    }

    /// Keeps a count that is committed. Nothing is lost where that fails: the next one says the same and more.
    pub(super) fn keep(&mut self, count: i64) {
        if let Err(error) = self.try_keep(count)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "an older copy of the database would not be noticed");
        }
    }

    fn try_keep(&mut self, count: i64) -> io::Result<()> {
        let mut file = match &self.file {
            Some(file) => file,
            None => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(false);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                self.file.insert(options.open(&self.path)?)
            }
        };
        // another process may have come further
        if read(file)?.is_none_or(|kept| kept < count) {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(format!("{count:0DIGITS$}\n").as_bytes())?;
        }
        Ok(())
    }

    /// The count that was last kept; `None` without a ledger, and for a file that is none.
    fn kept(&self) -> Option<i64> {
        read(&File::open(&self.path).ok()?).ok().flatten()
    }
}

fn read(mut file: &File) -> io::Result<Option<i64>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    match file.take(64).read_to_string(&mut text) {
        Ok(_) => Ok(text.trim_end().parse().ok()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error),
    }
}

/// Compares the database with what the ledger's folder knows of it.
pub(super) fn compare(connection: &Connection, database: &Path) -> Result<Option<RestoredDatabase>, StoreError> {
    // The folder first: what another process commits in between must not look like a loss.
    let Some(known) = WrittenMark::beside(database).kept() else { return Ok(None) };
    let writes =
        connection.query_row(COUNTED, [], |row| row.get(0)).map_err(|error| fault(&error).during(file::OPEN))?;
    Ok((known > writes).then_some(RestoredDatabase { writes, known }))
}

/// Lets a restored database count as the newest.
pub(super) fn accept(database: &Path, restored: RestoredDatabase) -> Result<(), StoreError> {
    let connection = file::connect(database)?;
    let accepted = connection.execute(RAISE, [restored.known]);
    accepted.map(drop).map_err(|error| fault(&error).during("accept the restored database"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_only_grows_and_needs_a_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("toolgate.db");
        let mut mark = WrittenMark::beside(&database);
        mark.keep(7);
        assert_eq!(mark.kept(), None, "there is no ledger yet");
        std::fs::create_dir(folder.path().join("toolgate-ledger")).unwrap();
        for (count, kept) in [(9_999, 9_999), (12, 9_999), (10_000, 10_000)] {
            mark.keep(count);
            assert_eq!(mark.kept(), Some(kept));
            assert_eq!(WrittenMark::beside(&database).kept(), Some(kept));
        }
    }

    #[test]
    fn a_file_that_holds_no_count_is_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("toolgate-ledger")).unwrap();
        for text in [&b""[..], b"\0\0\0", b"many", b"\xff\xfe"] {
            std::fs::write(folder.path().join("toolgate-ledger").join(NAME), text).unwrap();
            assert_eq!(WrittenMark::beside(&folder.path().join("toolgate.db")).kept(), None);
        }
    }
}
