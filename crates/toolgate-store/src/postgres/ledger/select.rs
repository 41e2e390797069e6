//! The statements that read records.

use crate::{
    engine::Write,
    error::Fault,
    ledger::{Filter, Hash, Head, Outcome, columns},
    statement::{FromRow, Row, Statement, Value},
};

/// Clocks differ and are set: what has a time can have arrived up to a day before others with that time.
const DAY: i64 = 86_400_000;

/// `$1` to `$8`: the conditions beside the call, over records called `r`. A cast, since PostgreSQL must know a type even for
/// NULL. A call is unknown if its outcome says so, or if it has an intent and no outcome. Records are read in the order
/// of arrival; the last condition lets that begin near the time that is asked for.
macro_rules! conditions {
    () => {
        "time >= $1 AND time < $2
        AND (CAST($3 AS TEXT) IS NULL OR tool = $3) AND (CAST($4 AS TEXT) IS NULL OR principal = $4)
        AND (CAST($5 AS TEXT) IS NULL OR outcome = $5 OR ($5 = 'unknown' AND kind = 'intent' AND NOT EXISTS
            (SELECT 1 FROM ledger o WHERE o.call = r.call AND o.kind = 'outcome')))
        AND (CAST($6 AS TEXT) IS NULL OR flow = $6) AND (CAST($7 AS TEXT) IS NULL OR tenant = $7)
        AND position >= COALESCE((SELECT e.position FROM ledger e WHERE e.time < $8 ORDER BY e.time DESC LIMIT 1), 0)"
    };
}

/// One call's records have a statement of their own, so that the index over calls is used.
macro_rules! select {
    ($from:literal, $rest:literal) => {
        concat!("SELECT ", columns!(), " FROM ", $from, " r WHERE ", conditions!(), $rest)
    };
}
const PAGE: &str = select!("ledger", " AND position > $9 ORDER BY position LIMIT $10");
const PAGE_OF_CALL: &str = select!("ledger", " AND position > $9 AND call = $11 ORDER BY position LIMIT $10");
const TAIL: &str = select!("ledger_settled", " AND position > $9 ORDER BY position LIMIT $10");
const TAIL_OF_CALL: &str = select!("ledger_settled", " AND position > $9 AND call = $11 ORDER BY position LIMIT $10");
const LATEST: &str = select!("ledger", " AND position > $9 ORDER BY position DESC LIMIT $10");
const LATEST_OF_CALL: &str = select!("ledger", " AND position > $9 AND call = $11 ORDER BY position DESC LIMIT $10");
const UNFINISHED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger WHERE time >= $1 AND kind = 'intent' AND NOT EXISTS
    (SELECT 1 FROM ledger o WHERE o.call = ledger.call AND o.kind = 'outcome') ORDER BY position"
);
/// Writers with records after a position, and the last of each: one, also where somebody put a second one there.
const LATE_HEADS: &str = "SELECT DISTINCT ON (l.writer) l.writer, l.seq, l.hash, l.position FROM ledger l
    JOIN (SELECT writer, MAX(seq) AS seq FROM ledger WHERE position > $1 GROUP BY writer) m
        ON m.writer = l.writer AND m.seq = l.seq
    ORDER BY l.writer, l.position";

const REMOVE: &str = "DELETE FROM ledger WHERE position IN
    (SELECT position FROM ledger WHERE position <= $1 ORDER BY position LIMIT 2000) RETURNING position";

pub(crate) fn page(filter: &Filter, after: i64, limit: u32) -> Statement {
    of(filter, (PAGE, PAGE_OF_CALL), after, limit)
}

pub(crate) fn tail(filter: &Filter, after: i64, limit: u32) -> Statement {
    of(filter, (TAIL, TAIL_OF_CALL), after, limit)
}

/// Newest first.
pub(crate) fn latest(filter: &Filter, limit: u32) -> Statement {
    of(filter, (LATEST, LATEST_OF_CALL), i64::MIN, limit)
}

pub(crate) fn unfinished(since: Option<i64>) -> Statement {
    Statement::new(UNFINISHED, [Value::int(since.unwrap_or(i64::MIN))])
}

pub(crate) fn late_heads(after: i64) -> Statement {
    Statement::new(LATE_HEADS, [Value::int(after)])
}

/// Deletes some of the records up to a position, the oldest first: as many as one statement has time for.
pub(crate) fn remove(until: i64) -> Write {
    Write::new(Statement::new(REMOVE, [Value::int(until)]))
}

/// A record that was deleted.
pub(crate) struct Removed;

impl FromRow for Removed {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.int().map(|_| Self)
    }
}

/// A row of a writer's head.
pub(crate) struct LateHead(pub(crate) Head);

impl FromRow for LateHead {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (writer, seq, bytes, position) = (row.text()?, row.int()?, row.bytes()?, row.int()?);
        // A hash that is none is found by verifying, which needs the heads for it.
        let hash = Hash::from_slice(&bytes).unwrap_or(Hash::NOTHING);
        Ok(Self(Head { writer, seq, hash, position, covered: false }))
    }
}

fn of(filter: &Filter, (all, of_call): (&'static str, &'static str), after: i64, limit: u32) -> Statement {
    let word = |word: &Option<String>| Value::maybe_text(word.as_deref());
    let since = filter.since.unwrap_or(i64::MIN);
    let mut values = vec![
        Value::int(since),
        Value::int(filter.until.unwrap_or(i64::MAX)),
        word(&filter.tool),
        word(&filter.principal),
        Value::maybe_text(filter.outcome.map(Outcome::as_str)),
        word(&filter.flow),
        word(&filter.tenant),
        Value::int(since.saturating_sub(DAY)),
        Value::int(after),
        Value::int(limit.into()),
    ];
    match &filter.call {
        None => Statement::new(all, values),
        Some(call) => {
            values.push(Value::text(call));
            Statement::new(of_call, values)
        }
    }
}
