//! The way of an undo: done → undoing → undone, or back to done, or unknown. Each step is taken by
//! one caller only.

use std::fmt;

use super::{Receipt, ReceiptState, Receipts, UndoKind, columns};
use crate::{
    Scope, StoreError,
    engine::Write,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// What undo takes. It holds what the receipt's input hides, so it is in no receipt and no log.
#[derive(Clone, PartialEq, Eq)]
pub struct UndoRecord(String);

/// An undo that has begun and that nobody else can begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoing {
    pub receipt: Receipt,
    pub record: Option<UndoRecord>,
}

/// Why an undo did not go a step further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoFault {
    #[error("there is no receipt '{id}' here; list the receipts to see their ids")]
    Unknown { id: String },
    #[error("receipt '{id}' was undone already, by '{by}'; to redo it, undo that one")]
    Undone { id: String, by: String },
    #[error("receipt '{id}' is being undone right now; wait for that to end")]
    Undoing { id: String },
    #[error("whether receipt '{id}' took effect is not known; look at what it changed before doing anything")]
    Uncertain { id: String },
    #[error("receipt '{id}' can't be undone: {why}")]
    Impossible { id: String, why: String },
    #[error("receipt '{id}' is not being undone: it is {state}; begin the undo first")]
    NotBegun { id: String, state: ReceiptState },
    #[error("receipt '{by}' is not that of an undo of '{id}'; finish with the receipt of the undo itself")]
    NotItsUndo { id: String, by: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

const BEGIN: &str = concat!(
    "UPDATE receipts SET state = 'undoing', undo_began = $5 WHERE ",
    in_scope!("principal"),
    " AND id = $4 AND state = 'done' AND undo_kind IN ('native', 'compensation') RETURNING ",
    columns!(),
    ", undo_record"
);
const FINISH: &str = concat!(
    "UPDATE receipts SET state = 'undone', undone_by = $2 WHERE id = $1 AND state = 'undoing'
    AND EXISTS (SELECT 1 FROM receipts other WHERE other.id = $2 AND other.undoes = $1) RETURNING ",
    columns!()
);
const LEAVE: &str =
    concat!("UPDATE receipts SET state = $2 WHERE id = $1 AND state = 'undoing' RETURNING ", columns!());
const UNDOING: &str =
    concat!("SELECT ", columns!(), " FROM receipts WHERE state = 'undoing' AND undo_began < $1 ORDER BY at, id");
const RECORD: &str = concat!("SELECT undo_record FROM receipts WHERE ", in_scope!("principal"), " AND id = $4");

impl Receipts {
    /// What the undo of a receipt would take, to look at the world before beginning.
    pub async fn undo_record(&self, scope: &Scope, id: &str) -> Result<Option<UndoRecord>, StoreError> {
        let values = scope.values().into_iter().chain([Value::id(id)]);
        let found = self.engine.find("look up what an undo takes", Statement::new(RECORD, values)).await?;
        Ok(found.and_then(|Kept(record)| record))
    }

    /// Undos that began before a time and have not ended, oldest first: what a crash left behind.
    /// They may have taken effect, so they end as unknown.
    pub async fn undoing(&self, began_before: i64) -> Result<Vec<Receipt>, StoreError> {
        let statement = Statement::new(UNDOING, [Value::int(began_before)]);
        self.engine.read("list the undos that have not ended", statement).await
    }

    /// From done to undoing, if it can be undone at all.
    pub async fn begin_undo(&self, scope: &Scope, id: &str, now: i64) -> Result<Undoing, UndoFault> {
        let values = scope.values().into_iter().chain([Value::id(id), Value::int(now)]);
        let write = Write::new(Statement::new(BEGIN, values));
        if let Some(undoing) = self.engine.write_first("begin an undo", write).await? {
            return Ok(undoing);
        }
        let receipt = self.known(scope, id).await?;
        Err(match receipt.state {
            ReceiptState::Done if matches!(receipt.undo.kind, UndoKind::Impossible | UndoKind::Unknown) => {
                let why = receipt.undo.why.unwrap_or_else(|| "nothing says how".to_owned());
                UndoFault::Impossible { id: receipt.id, why }
            }
            _ => standing(receipt),
        })
    }

    /// From undoing to undone, by the receipt that the undo itself left.
    pub async fn finish_undo(&self, id: &str, by: &str) -> Result<Receipt, UndoFault> {
        let write = Write::new(Statement::new(FINISH, [Value::id(id), Value::id(by)]));
        if let Some(undone) = self.engine.write_first("finish an undo", write).await? {
            return Ok(undone);
        }
        let receipt = self.known(&Scope::Everything, id).await?;
        Err(match receipt.state {
            ReceiptState::Undoing => UndoFault::NotItsUndo { id: receipt.id, by: by.chars().take(100).collect() },
            ReceiptState::Undone => standing(receipt),
            state => UndoFault::NotBegun { id: receipt.id, state },
        })
    }

    /// From undoing back to done: the undo provably changed nothing.
    pub async fn undo_failed(&self, id: &str) -> Result<Receipt, UndoFault> {
        self.leave(id, ReceiptState::Done).await
    }

    /// From undoing to unknown: nobody knows whether the undo took effect.
    pub async fn undo_unknown(&self, id: &str) -> Result<Receipt, UndoFault> {
        self.leave(id, ReceiptState::Unknown).await
    }

    async fn leave(&self, id: &str, state: ReceiptState) -> Result<Receipt, UndoFault> {
        let write = Write::new(Statement::new(LEAVE, [Value::id(id), Value::text(state.as_str())]));
        if let Some(receipt) = self.engine.write_first("end an undo", write).await? {
            return Ok(receipt);
        }
        let receipt = self.known(&Scope::Everything, id).await?;
        Err(UndoFault::NotBegun { id: receipt.id, state: receipt.state })
    }

    async fn known(&self, scope: &Scope, id: &str) -> Result<Receipt, UndoFault> {
        let unknown = || UndoFault::Unknown { id: id.chars().take(100).collect() };
        self.get(scope, id).await?.ok_or_else(unknown)
    }
}

/// Why a receipt in this state does not begin to be undone. One that is done by now was being undone
/// a moment ago, and that failed.
fn standing(receipt: Receipt) -> UndoFault {
    let id = receipt.id;
    match receipt.state {
        ReceiptState::Done | ReceiptState::Undoing => UndoFault::Undoing { id },
        ReceiptState::Undone => UndoFault::Undone { id, by: receipt.undone_by.unwrap_or_default() },
        ReceiptState::Unknown => UndoFault::Uncertain { id },
    }
}

impl UndoRecord {
    pub fn new(json: String) -> Self {
        Self(json)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UndoRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("UndoRecord(…)")
    }
}

impl FromRow for Undoing {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Undoing { receipt: Receipt::from_row(row)?, record: row.maybe_text()?.map(UndoRecord) })
    }
}

struct Kept(Option<UndoRecord>);

impl FromRow for Kept {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Kept(row.maybe_text()?.map(UndoRecord)))
    }
}
