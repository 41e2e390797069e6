//! The check that a database is the one that its ledger's folder knows, and the way to accept one that is not.

use std::{fmt::Write as _, path::Path};

use rusqlite::{Connection, OpenFlags, OptionalExtension, config::DbConfig};

use super::{
    file,
    run::fault,
    written_mark::{self, WriteCounts},
};
use crate::{RestoredDatabase, StoreError, error::Fault, ledger};

const EXISTS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1";
const COUNTED: &str = "SELECT count FROM store_writes WHERE one = 1";
pub(super) const COUNT: &str = "UPDATE store_writes SET count = count + 1 WHERE one = 1 RETURNING count";
const RAISE: &str = "UPDATE store_writes SET count = MAX(count, $1) + 1 WHERE one = 1 RETURNING count";
const ACCEPT: &str = "accept the restored database";
const OLDER_FILE: &str = "the database file is an older copy, and the write-ahead log beside it (its name ends in '-wal') is \
    that of a newer one: the two do not belong together, and nothing was written to them. Put the newest database file in \
    its place; or move the log away, and what is left is an older copy that `toolgate store accept-restore` accepts";
const OLDER_LOG: &str = "the write-ahead log beside the database file (its name ends in '-wal') is older than the file: the \
    two do not belong together, and nothing was written to them. Move the log away, or put the newest one in its place";

/// The number of writes that a database says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnCount {
    /// A database without tables.
    New,
    /// A database of an older program, which did not count.
    Uncounted,
    Count(i64),
}

impl OwnCount {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let exists = |table: &str| connection.query_row(EXISTS, [table], |_| Ok(())).optional();
        if exists("store_writes")?.is_some() {
            return connection.query_row(COUNTED, [], |row| row.get(0)).map(Self::Count);
        }
        Ok(if exists("toolgate_migrations")?.is_some() { Self::Uncounted } else { Self::New })
    }

    fn number(self) -> i64 {
        match self {
            Self::Count(count) => count,
            Self::New | Self::Uncounted => 0,
        }
    }
}

/// The findings about a database that is opened.
pub(super) struct Checked {
    /// Why it does not count as the newest.
    pub(super) restored: Option<RestoredDatabase>,
    /// The number of commits that it has.
    pub(super) writes: i64,
}

/// Compares the database with what the ledger's folder knows of it. To be done before anything is written to it.
pub(super) fn check(connection: &Connection, database: &Path) -> Result<Checked, StoreError> {
    // In this order: what other processes write in between must not look like a loss.
    let has_records = ledger::has_records_beside(database);
    let known = written_mark::kept(database);
    let in_file = count_in_file(database);
    let own = OwnCount::read(connection).map_err(|error| fault(&error).during(file::OPEN))?;
    if known.is_none() && has_records && own == OwnCount::Uncounted {
        // The first start of a program that counts. The next one finds a count that it can compare.
        keep_first(database, WriteCounts::default())?;
    }
    let writes = own.number();
    let mixed = match (in_file, known) {
        (Some(in_file), _) if in_file > writes => Some(OLDER_LOG),
        (Some(in_file), Some(known)) if in_file < known.in_file && known.all <= writes => Some(OLDER_FILE),
        _ => None,
    };
    if let Some(mixed) = mixed {
        keep_apart(connection)?;
        return Err(Fault::Other(mixed.to_owned()).during(file::OPEN));
    }
    let is_restored = match known {
        Some(known) => known.all > writes,
        None => has_records && own != OwnCount::Uncounted,
    };
    let restored = is_restored.then_some(RestoredDatabase { writes, known: known.map(|known| known.all) });
    Ok(Checked { restored, writes })
}

/// Lets nothing of the write-ahead log into the database file: where the two do not belong together, that would destroy the file.
pub(super) fn keep_apart(connection: &Connection) -> Result<(), StoreError> {
    let set = || {
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
    };
    set().map(drop).map_err(|error| fault(&error).during(file::OPEN))
}

/// Sees to it that the ledger's folder knows the database before the ledger has a record.
pub(super) fn begin(database: &Path) -> Result<(), StoreError> {
    if written_mark::kept(database).is_some() {
        return Ok(());
    }
    let own = OwnCount::read(&file::connect(database)?).map_err(|error| fault(&error).during(file::OPEN))?;
    keep_first(database, WriteCounts { all: own.number(), in_file: 0 })
}

fn keep_first(database: &Path, counts: WriteCounts) -> Result<(), StoreError> {
    written_mark::replace(database, counts).map_err(|error| {
        Fault::Other(format!("'store.writes' of the ledger's folder can't be written: {error}")).during(file::OPEN)
    })
}

/// Lets a restored database count as the newest.
pub(super) fn accept(database: &Path, restored: RestoredDatabase) -> Result<(), StoreError> {
    let connection = file::connect(database)?;
    let failed = |error: rusqlite::Error| fault(&error).during(ACCEPT);
    let sound: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if sound != "ok" {
        let reason = format!("the database is damaged ({sound}): put another copy in its place");
        return Err(Fault::Other(reason).during(ACCEPT));
    }
    // First: the file does not have what the newest file had, and that is known from here on.
    let known = restored.known.unwrap_or(restored.writes);
    keep_first(database, WriteCounts { all: known, in_file: 0 })?;
    let count: i64 = connection.query_row(RAISE, [known], |row| row.get(0)).map_err(failed)?;
    keep_first(database, WriteCounts { all: count, in_file: 0 })?;
    // other processes may need the log; then it stays
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(())
}

/// The count that stands in the database file, whatever its write-ahead log says. `None` where the file alone can't be
/// read: a checkpoint that was interrupted leaves it so, and the log completes it.
fn count_in_file(database: &Path) -> Option<i64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut url = String::from("file:");
    for byte in std::path::absolute(database).ok()?.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => url.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => write!(url, "%{byte:02X}").ok()?,
        }
    }
    // SQLite reads a file that never changes without its log
    url.push_str("?immutable=1");
    let connection = Connection::open_with_flags(url, flags).ok()?;
    OwnCount::read(&connection).ok().map(OwnCount::number)
}
