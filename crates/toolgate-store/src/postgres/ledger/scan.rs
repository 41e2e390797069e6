//! Reads rows for verifying, a page at a time, on a connection of its own.

use sqlx::{ConnectOptions, Error, PgConnection, Row, postgres::PgConnectOptions, postgres::PgRow};

use super::super::{
    PATIENCE,
    run::fault,
    session::{self, SCAN_ANSWER},
};
use super::within;
use crate::{
    error::Fault,
    ledger::{Checker, Head, Repeated, Scan, StoredRow, Witness, columns},
};

const PAGE: i64 = 4_000;
/// Settled ones: between two pages another replica may commit an earlier position. What is not settled yet is read writer
/// by writer afterwards.
const AFTER: &str =
    concat!("SELECT ", columns!(), " FROM ledger_settled WHERE position > $1 ORDER BY position LIMIT $2");
const WRITER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger WHERE writer = $3 AND seq >= $1 AND (position > $4 OR seq >= $5) ORDER BY seq LIMIT $2"
);

const HEAD: &str = concat!("SELECT ", columns!(), " FROM ledger WHERE writer = $1 AND seq = $2");

pub(super) async fn scan(options: &PgConnectOptions, scans: Vec<Scan>, mut checker: Checker) -> Result<Checker, Fault> {
    let mut connection = connect(options).await?;
    for scan in scans {
        checker = match scan {
            Scan::Heads(heads, witness) => compare(&mut connection, &heads, &witness, checker).await?,
            scan => read(&mut connection, scan, checker).await?,
        };
    }
    Ok(checker)
}

pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, Fault> {
    let mut connection = within(PATIENCE, options.connect()).await?;
    within(PATIENCE, session::prepare_scan(&mut connection)).await?;
    Ok(connection)
}

async fn compare(
    connection: &mut PgConnection,
    heads: &[Head],
    witness: &Witness,
    mut checker: Checker,
) -> Result<Checker, Fault> {
    for head in heads {
        let query = sqlx::query(HEAD).bind(&head.writer).bind(head.seq);
        let found = within(SCAN_ANSWER, query.fetch_optional(&mut *connection)).await?;
        let found = found.as_ref().and_then(|row| stored(row).ok());
        checker.compare(head, found.map(|row| (row.previous, row.hash, row.text)), witness);
    }
    Ok(checker)
}

async fn read(connection: &mut PgConnection, scan: Scan, mut checker: Checker) -> Result<Checker, Fault> {
    let mut from = match &scan {
        Scan::After(position) => *position,
        Scan::Writer { .. } => i64::MIN,
        Scan::Heads(..) => return Ok(checker),
    };
    loop {
        let query = match &scan {
            Scan::Writer { writer, after, from: next } => {
                sqlx::query(WRITER).bind(from).bind(PAGE).bind(writer).bind(after).bind(next)
            }
            Scan::After(_) | Scan::Heads(..) => sqlx::query(AFTER).bind(from).bind(PAGE),
        };
        let rows = within(SCAN_ANSWER, query.fetch_all(&mut *connection)).await?;
        let Some(last) = rows.last() else { return Ok(checker) };
        from = match &scan {
            Scan::After(_) | Scan::Heads(..) => last.try_get(0),
            Scan::Writer { .. } => last.try_get::<i64, _>(2).map(|seq| seq.saturating_add(1)),
        }
        .map_err(|error| fault(&error))?;
        // Hashing is work, not waiting: other tasks get the thread in between.
        let checked = tokio::task::spawn_blocking(move || {
            for row in &rows {
                match stored(row) {
                    Ok(row) => checker.take(&row),
                    Err(_) => checker.unreadable(row.try_get(0).unwrap_or(-1)),
                }
            }
            checker
        });
        checker = checked.await.map_err(|_| Fault::Closed)?;
    }
}

fn stored(row: &PgRow) -> Result<StoredRow<'_>, Error> {
    Ok(StoredRow {
        position: row.try_get(0)?,
        writer: row.try_get(1)?,
        seq: row.try_get(2)?,
        kind: row.try_get(4)?,
        repeated: Some(Repeated {
            time: row.try_get(3)?,
            kind: row.try_get(4)?,
            call: row.try_get(5)?,
            tool: row.try_get(6)?,
            principal: row.try_get(7)?,
            tenant: row.try_get(8)?,
            flow: row.try_get(9)?,
            outcome: row.try_get(10)?,
        }),
        previous: row.try_get(11)?,
        hash: row.try_get(12)?,
        text: row.try_get::<&str, _>(13)?.as_bytes(),
    })
}
