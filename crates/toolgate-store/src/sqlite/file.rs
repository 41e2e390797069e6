//! The database file: made so that only its owner can read it, opened with the settings durability
//! needs.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{PATIENCE, run::fault};
use crate::{StoreError, error::Fault};

pub(super) const OPEN: &str = "open the database";

/// Turning on the write-ahead log does not wait for locks as other statements do, so opening is
/// tried again.
const OPENING: Duration = Duration::from_secs(10);

/// Creates the file (mode 0600) and its directory (mode 0700) where they are missing. SQLite gives
/// its `-wal` and `-shm` files the mode of the database.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    let failed = |what: &Path| {
        let what = what.display().to_string();
        move |error: io::Error| Fault::Other(format!("'{what}' can't be created or opened: {error}")).during(OPEN)
    };
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory).map_err(failed(directory))?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(failed(path))?;
    warn_if_others_can_read(path, &file);
    Ok(())
}

#[cfg(unix)]
fn warn_if_others_can_read(path: &Path, file: &fs::File) {
    use std::os::unix::fs::PermissionsExt;
    if file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        tracing::warn!(
            path = %path.display(),
            "others on this machine can read the database, which holds secrets; chmod 600 it"
        );
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path, _: &fs::File) {}

/// Opens a file that exists, waiting for others who are opening it.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    // An absolute path: SQLite would read a relative one that begins with "file:" as a URL.
    let path = std::path::absolute(path).map_err(|error| Fault::Other(error.to_string()).during(OPEN))?;
    let until = Instant::now() + OPENING;
    loop {
        match try_connect(&path) {
            Ok((connection, journal)) if journal == "wal" => return Ok(connection),
            Ok(_) => {
                let reason = "its file system can't hold a write-ahead log; use a local disk".to_owned();
                return Err(Fault::Other(reason).during(OPEN));
            }
            Err(error) if busy(&error) && Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(fault(&error).during(OPEN)),
        }
    }
}

fn try_connect(path: &Path) -> rusqlite::Result<(Connection, String)> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    let journal = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    // FULL: with a write-ahead log, a commit that was answered survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok((connection, journal))
}

fn busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
