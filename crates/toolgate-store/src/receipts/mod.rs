//! Receipts: what every write leaves behind, and how it can be undone.
//!
//! INVARIANT: a receipt is never edited. Only its state moves, and only along the way of an undo.

mod undo;

use std::sync::Arc;

pub use self::undo::{UndoFault, UndoRecord, Undoing};
use crate::{
    Mark, Page, Paging, Scope, StoreError,
    engine::{Engine, Write},
    error::Fault,
    fresh,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    ReceiptState {
        Done = "done",
        Undoing = "undoing",
        Undone = "undone",
        /// Whether the call, or its undo, took effect is not known.
        Unknown = "unknown",
    }
}

words! {
    UndoKind {
        /// The tool's source knows how.
        Native = "native",
        /// Another call makes up for it.
        Compensation = "compensation",
        Impossible = "impossible",
        /// Nobody said how.
        Unknown = "unknown",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReceipt {
    /// A call leaves one receipt: a second for the same call is refused as a duplicate.
    pub call_id: String,
    pub at: i64,
    pub principal: String,
    /// Who acted, as JSON.
    pub actor: String,
    pub tenant: Option<String>,
    pub flow: Option<String>,
    pub plan: Option<String>,
    pub tool: String,
    pub source: String,
    /// The redacted input, as JSON.
    pub input: String,
    pub approval: Option<String>,
    pub approved_by: Option<String>,
    /// Absent if there was no result.
    pub result_digest: Option<[u8; 32]>,
    pub summary: String,
    pub undo: Undo,
    /// What undo takes, as JSON.
    pub undo_record: Option<UndoRecord>,
    /// False if it is not known whether the call took effect; such a receipt begins as unknown.
    pub known: bool,
    /// The receipt of the call that this one undid.
    pub undoes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    pub kind: UndoKind,
    /// Why it can't be undone, or what to know before.
    pub why: Option<String>,
}

/// Without the record that undo takes: see [`Receipts::undo_record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub id: String,
    pub call_id: String,
    pub at: i64,
    pub principal: String,
    pub actor: String,
    pub tenant: Option<String>,
    pub flow: Option<String>,
    pub plan: Option<String>,
    pub tool: String,
    pub source: String,
    pub input: String,
    pub approval: Option<String>,
    pub approved_by: Option<String>,
    pub result_digest: Option<[u8; 32]>,
    pub summary: String,
    pub undo: Undo,
    /// When the undo that is under way, or was the last, began.
    pub undo_began: Option<i64>,
    pub state: ReceiptState,
    pub undone_by: Option<String>,
    pub undoes: Option<String>,
}

/// Which receipts to list; what is absent does not limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptFilter {
    pub principal: Option<String>,
    pub flow: Option<String>,
    pub plan: Option<String>,
    pub tool: Option<String>,
    pub state: Option<ReceiptState>,
    /// The earliest time, included.
    pub since: Option<i64>,
}

pub struct Receipts {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, call_id, at, principal, actor, tenant, flow, plan, tool, source, input, approval, approved_by,
        result_digest, summary, undo_kind, undo_why, undo_began, state, undone_by, undoes"
    };
}
use columns;

const ADD: &str = concat!(
    "INSERT INTO receipts (id, call_id, at, principal, actor, tenant, flow, plan, tool, source, input, approval,
        approved_by, result_digest, summary, undo_kind, undo_why, undo_record, state, undoes)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
    RETURNING ",
    columns!()
);
const GET: &str = concat!("SELECT ", columns!(), " FROM receipts WHERE ", in_scope!("principal"), " AND id = $4");

/// A statement for each column that has an index: what is only compared where it is given can't be
/// looked up by SQLite.
macro_rules! list_by {
    ($indexed:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM receipts WHERE ",
            in_scope!("principal"),
            $indexed,
            " AND ($4 IS NULL OR principal = $4) AND ($5 IS NULL OR flow = $5) AND ($6 IS NULL OR plan = $6)
            AND ($7 IS NULL OR tool = $7) AND ($8 IS NULL OR state = $8) AND ($9 IS NULL OR at >= $9)
            AND (at, id) < ($10, $11) ORDER BY at DESC, id DESC LIMIT $12"
        )
    };
}
const LIST: &str = list_by!("");
const LIST_BY_FLOW: &str = list_by!(" AND flow = $5");
const LIST_BY_PLAN: &str = list_by!(" AND plan = $6");
const LIST_BY_PRINCIPAL: &str = list_by!(" AND principal = $4");
const LIST_OF_SCOPE: &str = list_by!(" AND principal = $3");

impl Receipts {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn add(&self, new: NewReceipt) -> Result<Receipt, StoreError> {
        let operation = "store a receipt";
        let id = fresh::id("rcpt_").map_err(|fault| fault.during(operation))?;
        let added = self.engine.write_first(operation, Write::new(Statement::new(ADD, new.values(id)))).await?;
        added.ok_or_else(|| Fault::Other("the receipt was not stored".to_owned()).during(operation))
    }

    pub async fn get(&self, scope: &Scope, id: &str) -> Result<Option<Receipt>, StoreError> {
        let values = scope.values().into_iter().chain([Value::id(id)]);
        self.engine.find("look up a receipt", Statement::new(GET, values)).await
    }

    /// Newest first, which is the order in which to undo.
    pub async fn list(
        &self,
        scope: &Scope,
        filter: &ReceiptFilter,
        paging: &Paging,
    ) -> Result<Page<Receipt>, StoreError> {
        let limits = [
            Value::maybe_id(filter.principal.as_deref()),
            Value::maybe_id(filter.flow.as_deref()),
            Value::maybe_id(filter.plan.as_deref()),
            Value::maybe_id(filter.tool.as_deref()),
            Value::maybe_text(filter.state.map(ReceiptState::as_str)),
            Value::Int(filter.since),
        ];
        let sql = match (filter, scope) {
            (ReceiptFilter { plan: Some(_), .. }, _) => LIST_BY_PLAN,
            (ReceiptFilter { flow: Some(_), .. }, _) => LIST_BY_FLOW,
            (ReceiptFilter { principal: Some(_), .. }, _) => LIST_BY_PRINCIPAL,
            (_, Scope::Principal { .. }) => LIST_OF_SCOPE,
            _ => LIST,
        };
        let values = scope.values().into_iter().chain(limits).chain(paging.values());
        Ok(paging.page(self.engine.read("list the receipts", Statement::new(sql, values)).await?))
    }
}

impl NewReceipt {
    fn values(self, id: String) -> [Value; 20] {
        let state = if self.known { ReceiptState::Done } else { ReceiptState::Unknown };
        [
            Value::Id(id),
            Value::Id(self.call_id),
            Value::int(self.at),
            Value::Id(self.principal),
            Value::Text(Some(self.actor)),
            Value::maybe_id(self.tenant.as_deref()),
            Value::maybe_id(self.flow.as_deref()),
            Value::maybe_id(self.plan.as_deref()),
            Value::Id(self.tool),
            Value::Text(Some(self.source)),
            Value::Text(Some(self.input)),
            Value::maybe_id(self.approval.as_deref()),
            Value::maybe_id(self.approved_by.as_deref()),
            Value::MaybeBytes(self.result_digest.map(Vec::from)),
            Value::Text(Some(self.summary)),
            Value::text(self.undo.kind.as_str()),
            Value::Text(self.undo.why),
            Value::maybe_text(self.undo_record.as_ref().map(UndoRecord::as_str)),
            Value::text(state.as_str()),
            Value::maybe_id(self.undoes.as_deref()),
        ]
    }
}

impl Listed for Receipt {
    fn mark(&self) -> Mark {
        Mark { at: self.at, id: self.id.clone() }
    }
}

impl FromRow for Receipt {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Receipt {
            id: row.text()?,
            call_id: row.text()?,
            at: row.int()?,
            principal: row.text()?,
            actor: row.text()?,
            tenant: row.maybe_text()?,
            flow: row.maybe_text()?,
            plan: row.maybe_text()?,
            tool: row.text()?,
            source: row.text()?,
            input: row.text()?,
            approval: row.maybe_text()?,
            approved_by: row.maybe_text()?,
            result_digest: row.maybe_digest()?,
            summary: row.text()?,
            undo: Undo { kind: UndoKind::from_cell(row)?, why: row.maybe_text()? },
            undo_began: row.maybe_int()?,
            state: ReceiptState::from_cell(row)?,
            undone_by: row.maybe_text()?,
            undoes: row.maybe_text()?,
        })
    }
}
