//! The heads that the store last saw: what says that records are gone where the ledger itself can't.

use std::sync::Arc;

use super::{Hash, Head};
use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

const LOAD: &str = "SELECT writer, seq, hash, position, covered FROM ledger_heads ORDER BY writer";
/// Replicas keep them together: none goes back behind what another saw.
const KEEP: &str = "INSERT INTO ledger_heads (writer, seq, hash, position, covered) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (writer) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, position = excluded.position,
        covered = excluded.covered
    WHERE excluded.seq >= ledger_heads.seq RETURNING writer";
const DROP: &str = "DELETE FROM ledger_heads WHERE writer = $1 AND seq <= $2 RETURNING writer";

/// The table of heads.
#[derive(Clone)]
pub(super) struct KnownHeads {
    engine: Arc<Engine>,
}

impl KnownHeads {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub(super) async fn load(&self) -> Result<Vec<Head>, StoreError> {
        let rows: Vec<KnownHead> =
            self.engine.read("read the heads of the ledger that the store knows", Statement::new(LOAD, [])).await?;
        Ok(rows.into_iter().map(|KnownHead(head)| head).collect())
    }

    /// Keeps what is new in `heads`, and forgets of `known` what others name now.
    pub(super) async fn keep(&self, known: &[Head], heads: &[Head]) -> Result<(), StoreError> {
        let kept = heads.iter().filter(|head| !known.contains(head)).map(|head| {
            let hash = Value::Bytes(head.hash.as_bytes().to_vec());
            let (seq, position) = (Value::int(head.seq), Value::int(head.position));
            Statement::new(KEEP, [Value::id(&head.writer), seq, hash, position, Value::Bool(head.covered)])
        });
        let gone = known.iter().filter(|old| heads.iter().all(|head| head.writer != old.writer));
        let dropped = gone.map(|old| Statement::new(DROP, [Value::id(&old.writer), Value::int(old.seq)]));
        let mut statements = kept.chain(dropped);
        let Some(first) = statements.next() else { return Ok(()) };
        let write = statements.fold(Write::new(first), Write::then);
        self.engine.write::<Named>("keep the heads of the ledger", write).await.map(drop)
    }
}

struct KnownHead(Head);

impl FromRow for KnownHead {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (writer, seq, bytes) = (row.text()?, row.int()?, row.bytes()?);
        let (position, covered) = (row.int()?, row.bool()?);
        // A hash that is none is found by verifying, which needs the heads for it.
        let hash = Hash::from_slice(&bytes).unwrap_or(Hash::NOTHING);
        Ok(Self(Head { writer, seq, hash, position, covered }))
    }
}

struct Named;

impl FromRow for Named {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(|_| Self)
    }
}
