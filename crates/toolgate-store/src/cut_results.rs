//! Results that were too large for their call, whole, for whoever called and for a while: on every replica, wherever they were cut.
//!
//! INVARIANT: what is kept never takes more than its room, however many add at the same time. The oldest make way.

use std::sync::Arc;

use crate::{
    Scope, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCutResult {
    pub tenant: Option<String>,
    pub principal: String,
    pub whole: Vec<u8>,
    pub expires_at: i64,
}

/// How many bytes may be kept. Each result counts for a page more than it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutResultRoom {
    pub in_all: i64,
    /// Of one caller.
    pub of_one: i64,
}

pub struct CutResults {
    engine: Arc<Engine>,
}

/// What a row takes besides its bytes; it also bounds how many rows there can be to count.
const PAGE: i64 = 4096;

const ADD: &str =
    "INSERT INTO cut_results (id, tenant, principal, whole, bytes, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
    RETURNING id";
/// From here to the end of the transaction nobody else makes room. After the row was added: sending it takes longest.
const TURN: &str = "UPDATE cut_results_room SET turn = turn + 1 WHERE one = 1";
/// The same where there is something to forget. Where there is not, nothing is written, so that nobody hears of a change.
const TURN_TO_PURGE: &str = "UPDATE cut_results_room SET turn = turn + 1 WHERE one = 1
    AND EXISTS (SELECT 1 FROM cut_results WHERE expires_at <= $1)";
const PURGE: &str = "DELETE FROM cut_results WHERE expires_at <= $1 RETURNING bytes";
/// The new one stays, whatever another replica's clock says.
macro_rules! all_but_the_newest {
    ($which:literal) => {
        concat!(
            "DELETE FROM cut_results WHERE id IN (SELECT id FROM (
                SELECT id, SUM(bytes) OVER (
                    ORDER BY CASE WHEN id = $1 THEN 0 ELSE 1 END, expires_at DESC, id DESC) AS so_far
                FROM cut_results",
            $which,
            ") AS kept WHERE so_far > $2)"
        )
    };
}
const ROOM_OF_ONE: &str = all_but_the_newest!(" WHERE principal = $3 AND tenant IS NOT DISTINCT FROM $4");
const ROOM: &str = all_but_the_newest!("");
const WHOLE: &str =
    concat!("SELECT whole FROM cut_results WHERE ", in_scope!("principal"), " AND id = $4 AND expires_at > $5");

impl CutResults {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Keeps a result and gives it an id; what has expired goes, and the oldest for which there is no room any more. `None`
    /// where one caller may not have as much.
    pub async fn keep(&self, new: NewCutResult, room: CutResultRoom, now: i64) -> Result<Option<String>, StoreError> {
        let operation = "keep a result";
        let bytes = i64::try_from(new.whole.len()).unwrap_or(i64::MAX).saturating_add(PAGE);
        if bytes > room.of_one.min(room.in_all) {
            return Ok(None);
        }
        let id = fresh::id("").map_err(|fault| fault.during(operation))?;
        let (principal, tenant) = (Value::id(&new.principal), Value::maybe_id(new.tenant.as_deref()));
        let added = [
            Value::id(&id),
            Value::maybe_id(new.tenant.as_deref()),
            Value::Id(new.principal),
            Value::Bytes(new.whole),
            Value::int(bytes),
            Value::int(new.expires_at),
        ];
        let write = Write::new(Statement::new(ADD, added))
            .then(Statement::new(TURN, []))
            .then(Statement::new(PURGE, [Value::int(now)]))
            .then(Statement::new(ROOM_OF_ONE, [Value::id(&id), Value::int(room.of_one), principal, tenant]))
            .then(Statement::new(ROOM, [Value::id(&id), Value::int(room.in_all)]));
        self.engine.write::<Touched>(operation, write).await.map(|_| Some(id))
    }

    /// `None` for another's, one that has expired or made way, and one that never was.
    pub async fn whole(&self, scope: &Scope, id: &str, now: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let values = scope.values().into_iter().chain([Value::id(id), Value::int(now)]);
        let found = self.engine.find::<Whole>("look up a result", Statement::new(WHOLE, values)).await?;
        Ok(found.map(|Whole(whole)| whole))
    }

    /// Forgets what has expired; returns how many.
    pub async fn purge(&self, now: i64) -> Result<usize, StoreError> {
        let [turn, purge] = [TURN_TO_PURGE, PURGE].map(|sql| Statement::new(sql, [Value::int(now)]));
        let write = Write::new(turn).then(purge);
        Ok(self.engine.write::<Touched>("purge expired results", write).await?.len())
    }
}

struct Whole(Vec<u8>);

impl FromRow for Whole {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.bytes().map(Whole)
    }
}
