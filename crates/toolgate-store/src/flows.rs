//! Flows: a chain of calls under one name, with an allowlist of its own and an end.

use std::sync::Arc;

use crate::{
    Change, Mark, Page, Paging, Scope, StoreError,
    engine::{Engine, Write},
    error::Fault,
    fresh,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFlow {
    pub name: String,
    /// The principal that opens it.
    pub owner: String,
    pub tenant: Option<String>,
    /// Tools it may call: `None` is no limit, an empty list is nothing.
    pub allowlist: Option<Vec<String>>,
    pub opened: i64,
    pub expires: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub id: String,
    pub name: String,
    pub owner: String,
    pub tenant: Option<String>,
    pub allowlist: Option<Vec<String>>,
    pub opened: i64,
    pub expires: i64,
    pub closed: Option<i64>,
}

/// Why a flow was not closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowFault {
    #[error("there is no flow '{id}' here; list your flows to see their ids")]
    Unknown { id: String },
    #[error("flow '{id}' is closed already; nothing is left to close")]
    Closed { id: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Flow {
    /// Whether calls may be made in it at this time.
    pub fn is_open(&self, now: i64) -> bool {
        self.closed.is_none() && now < self.expires
    }
}

pub struct Flows {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, name, owner, tenant, allowlist, opened, expires, closed"
    };
}

const OPEN: &str = concat!(
    "INSERT INTO flows (id, name, owner, tenant, allowlist, opened, expires)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ",
    columns!()
);
const GET: &str = concat!("SELECT ", columns!(), " FROM flows WHERE ", in_scope!("owner"), " AND id = $4");
/// With a time, the flows open at that time; without, all.
macro_rules! list {
    ($indexed:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM flows WHERE ",
            in_scope!("owner"),
            $indexed,
            " AND ($4 IS NULL OR (closed IS NULL AND expires > $4)) AND (opened, id) < ($5, $6)
            ORDER BY opened DESC, id DESC LIMIT $7"
        )
    };
}
const LIST: &str = list!("");
/// Says again what the scope says, in words that SQLite can look up.
const LIST_OF_OWNER: &str = list!(" AND owner = $3");
const CLOSE: &str = concat!(
    "UPDATE flows SET closed = $5 WHERE ",
    in_scope!("owner"),
    " AND id = $4 AND closed IS NULL RETURNING ",
    columns!()
);
/// Only if the flow is closed: the statement before may have found nothing in scope.
const END_APPROVALS: &str = "UPDATE approvals SET state = CASE WHEN expires > $2 THEN 'ended' ELSE 'expired' END
    WHERE flow = $1 AND state IN ('pending', 'granted')
    AND EXISTS (SELECT 1 FROM flows WHERE flows.id = $1 AND flows.closed IS NOT NULL)";

impl Flows {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn open(&self, flow: NewFlow) -> Result<Flow, StoreError> {
        let operation = "open a flow";
        let failed = |fault: Fault| fault.during(operation);
        let allowlist = flow.allowlist.as_ref().map(serde_json::to_string).transpose();
        let values = [
            Value::Id(fresh::id("flow_").map_err(failed)?),
            Value::Text(Some(flow.name)),
            Value::Id(flow.owner),
            Value::maybe_id(flow.tenant.as_deref()),
            Value::Text(allowlist.map_err(|error| failed(Fault::Other(error.to_string())))?),
            Value::int(flow.opened),
            Value::int(flow.expires),
        ];
        let opened = self.engine.write_first(operation, Write::new(Statement::new(OPEN, values))).await?;
        opened.ok_or_else(|| failed(Fault::Other("the flow was not stored".to_owned())))
    }

    /// The flow, also if it is closed or expired: ask [`Flow::is_open`].
    pub async fn get(&self, scope: &Scope, id: &str) -> Result<Option<Flow>, StoreError> {
        let values = scope.values().into_iter().chain([Value::id(id)]);
        self.engine.find("look up a flow", Statement::new(GET, values)).await
    }

    /// Newest first; with `open_at`, only those open at that time.
    pub async fn list(&self, scope: &Scope, open_at: Option<i64>, paging: &Paging) -> Result<Page<Flow>, StoreError> {
        let values = scope.values().into_iter().chain([Value::Int(open_at)]).chain(paging.values());
        let sql = if matches!(scope, Scope::Principal { .. }) { LIST_OF_OWNER } else { LIST };
        Ok(paging.page(self.engine.read("list the flows", Statement::new(sql, values)).await?))
    }

    /// Closes a flow and ends the approvals asked for or granted in it, together. One that expired
    /// can still be closed.
    pub async fn close(&self, scope: &Scope, id: &str, now: i64) -> Result<Flow, FlowFault> {
        let values = scope.values().into_iter().chain([Value::id(id), Value::int(now)]);
        let write = Write::new(Statement::new(CLOSE, values))
            .then(Statement::new(END_APPROVALS, [Value::id(id), Value::int(now)]))
            .announcing(Change::Flow { id: id.to_owned() });
        if let Some(closed) = self.engine.write_first("close a flow", write).await? {
            return Ok(closed);
        }
        match self.get(scope, id).await? {
            Some(flow) => Err(FlowFault::Closed { id: flow.id }),
            None => Err(FlowFault::Unknown { id: id.chars().take(100).collect() }),
        }
    }
}

impl Listed for Flow {
    fn mark(&self) -> Mark {
        Mark { at: self.opened, id: self.id.clone() }
    }
}

impl FromRow for Flow {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, name, owner, tenant) = (row.text()?, row.text()?, row.text()?, row.maybe_text()?);
        let unreadable = |_| Fault::Other("a stored allowlist is not a list of names".to_owned());
        let allowlist = row.maybe_text()?.map(|text| serde_json::from_str(&text)).transpose().map_err(unreadable)?;
        let (opened, expires, closed) = (row.int()?, row.int()?, row.maybe_int()?);
        Ok(Flow { id, name, owner, tenant, allowlist, opened, expires, closed })
    }
}
