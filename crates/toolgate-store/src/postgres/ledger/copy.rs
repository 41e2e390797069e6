//! Copies the oldest rows of the ledger into a file, a page at a time.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use sqlx::{Row, postgres::PgConnectOptions, postgres::PgRow};
use toolgate_core::calendar;

use super::{super::session::SCAN_ANSWER, scan::connect, within};
use crate::{
    error::Fault,
    ledger::{CopiedPart, Hash, temporary, write_record},
};

const PAGE: i64 = 4_000;
/// The size from which on the rest goes into another file.
const FILE_BYTES: usize = 256 << 20;
const DAY: i64 = 86_400_000;
/// Settled ones: no earlier position can appear any more.
const ROWS: &str = "SELECT position, time, previous, hash, record FROM ledger_settled WHERE position > $1
    ORDER BY position LIMIT $2";

/// The records that go into one file, as far as they were read.
struct CopiedRows {
    file: File,
    bytes: usize,
    /// Position and time of the first record.
    first: (i64, i64),
    last: i64,
}

/// Copies records up to the first that is not older than a time.
pub(super) async fn copy(
    options: &PgConnectOptions,
    after: i64,
    before: i64,
    folder: &Path,
) -> Result<Option<CopiedPart>, Fault> {
    let mut connection = connect(options).await?;
    let (mut copied, mut from) = (None, after);
    let unnamed = temporary(folder, "rows");
    loop {
        let query = sqlx::query(ROWS).bind(from).bind(PAGE);
        let rows = within(SCAN_ANSWER, query.fetch_all(&mut connection)).await?;
        let path = unnamed.clone();
        let written = tokio::task::spawn_blocking(move || write(rows, before, &path, copied)).await;
        let (now, is_last) = written.map_err(|_| Fault::Closed)?.map_err(|error| unwritten(&error))?;
        from = now.as_ref().map_or(from, |rows: &CopiedRows| rows.last);
        copied = now;
        if is_last {
            break;
        }
    }
    let Some(rows) = copied else { return Ok(None) };
    let (year, month, day) = calendar::date(rows.first.1.div_euclid(DAY));
    let file = format!("{year:04}-{month:02}-{day:02}-rows-{:012}-{:012}.jsonl", rows.first.0, rows.last);
    rows.file.sync_all().map_err(|error| unwritten(&error))?;
    fs::rename(unnamed, temporary(folder, &file)).map_err(|error| unwritten(&error))?;
    Ok(Some(CopiedPart { file, until: rows.last }))
}

/// Appends a page. Returns true where nothing more belongs into the file.
fn write(
    page: Vec<PgRow>,
    before: i64,
    path: &Path,
    copied: Option<CopiedRows>,
) -> io::Result<(Option<CopiedRows>, bool)> {
    let (mut copied, mut lines, mut is_last) = (copied, Vec::new(), page.is_empty());
    let odd = || io::Error::other("a row of the ledger can't be read; verify the ledger");
    for row in &page {
        let (position, time) = row.try_get(0).and_then(|at| Ok((at, row.try_get(1)?))).map_err(|_| odd())?;
        if time >= before || copied.as_ref().is_some_and(|copied| copied.bytes >= FILE_BYTES) {
            is_last = true;
            break;
        }
        let rows = match &mut copied {
            Some(rows) => rows,
            none => none.insert(CopiedRows { file: create(path)?, bytes: 0, first: (position, time), last: position }),
        };
        let hash = |at: usize| row.try_get::<&[u8], _>(at).ok().and_then(Hash::from_slice).ok_or_else(odd);
        let length = lines.len();
        write_record(&mut lines, &hash(2)?, &hash(3)?, row.try_get(4).map_err(|_| odd())?);
        (rows.bytes, rows.last) = (rows.bytes + lines.len() - length, position);
    }
    if let Some(rows) = &mut copied {
        rows.file.write_all(&lines)?;
    }
    Ok((copied, is_last))
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn unwritten(error: &io::Error) -> Fault {
    Fault::Other(format!("the archive can't be written: {error}"))
}
