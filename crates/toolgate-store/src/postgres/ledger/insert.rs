//! The statements of the appending connection. A group is one statement and so one transaction and one round trip.

use sqlx::{Error, PgConnection, Row};

use crate::ledger::{Hash, Link};

/// The rows of a group come as columns. `unnest` keeps their order, and so do the positions they get. The condition is
/// asked before the first row: it gives the transaction its number before it takes a position, which `ledger_settled`
/// relies on.
macro_rules! insert {
    () => {
        "INSERT INTO ledger
            (writer, seq, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record)
        SELECT $1, u.* FROM unnest($2::BIGINT[], $3::BIGINT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[],
            $8::TEXT[], $9::TEXT[], $10::TEXT[], $11::BYTEA[], $12::BYTEA[], $13::TEXT[]) AS u
        WHERE pg_current_xact_id() IS NOT NULL"
    };
}
const DURABLE: &str = insert!();
/// Commits without waiting for the disk: for this transaction alone.
const ORDERED: &str = concat!(insert!(), " AND set_config('synchronous_commit', 'off', TRUE) IS NOT NULL");
const HEAD: &str = "SELECT seq, hash FROM ledger WHERE writer = $1 ORDER BY seq DESC LIMIT 1";

pub(super) async fn insert(
    connection: &mut PgConnection,
    writer: &str,
    links: &[Link],
    durable: bool,
) -> Result<(), Error> {
    fn all<'a, T>(links: &'a [Link], column: impl Fn(&'a Link) -> T) -> Vec<T> {
        links.iter().map(column).collect()
    }
    let query = sqlx::query(if durable { DURABLE } else { ORDERED })
        .bind(writer)
        .bind(all(links, |link| link.seq))
        .bind(all(links, |link| link.columns.time))
        .bind(all(links, |link| link.columns.kind))
        .bind(all(links, |link| &*link.columns.call))
        .bind(all(links, |link| &*link.columns.tool))
        .bind(all(links, |link| &*link.columns.principal))
        .bind(all(links, |link| link.columns.tenant.as_deref()))
        .bind(all(links, |link| link.columns.flow.as_deref()))
        .bind(all(links, |link| link.columns.outcome))
        .bind(all(links, |link| link.previous.as_bytes().as_slice()))
        .bind(all(links, |link| link.hash.as_bytes().as_slice()))
        .bind(all(links, |link| link.text.as_str()));
    query.execute(connection).await.map(drop)
}

/// This writer's last record.
pub(super) async fn head(connection: &mut PgConnection, writer: &str) -> Result<Option<(i64, Hash)>, Error> {
    let row = sqlx::query(HEAD).bind(writer).fetch_optional(connection).await?;
    row.map(|row| {
        let hash: &[u8] = row.try_get(1)?;
        Ok((row.try_get(0)?, Hash::from_slice(hash).unwrap_or(Hash::NOTHING)))
    })
    .transpose()
}
