//! Agents, and who stands under whom.

use std::sync::Arc;

use super::ids;
use crate::{
    Mark, Page, Paging, StoreError,
    engine::{Engine, Write},
    error::Fault,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    AgentType { Human = "human", Ai = "ai" }
}

words! {
    /// Where an agent stands.
    Hierarchy { Manager = "manager", Worker = "worker" }
}

words! {
    /// Only an active agent can sign in, and its sessions count only while it is active.
    AgentStatus { Active = "active", Inactive = "inactive", Suspended = "suspended", Archived = "archived" }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgent {
    pub id: String,
    pub name: String,
    pub role: String,
    pub agent_type: AgentType,
    pub hierarchy: Hierarchy,
    pub parent: Option<String>,
    pub max_parallel_tasks: u32,
    pub capabilities: Vec<String>,
    pub system_prompt: Option<String>,
    pub provider: Option<String>,
    pub model_id: Option<String>,
    /// The user it works for.
    pub owner: Option<String>,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: String,
    pub name: String,
    pub role: String,
    pub agent_type: AgentType,
    pub hierarchy: Hierarchy,
    pub parent: Option<String>,
    pub max_parallel_tasks: u32,
    pub capabilities: Vec<String>,
    pub system_prompt: Option<String>,
    pub provider: Option<String>,
    pub model_id: Option<String>,
    pub status: AgentStatus,
    pub owner: Option<String>,
    pub created_at: i64,
}

/// What is to be different; what is absent stays. Where a value can be taken away, `Some(None)` does it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentChange {
    pub name: Option<String>,
    pub role: Option<String>,
    pub hierarchy: Option<Hierarchy>,
    pub parent: Option<Option<String>>,
    pub max_parallel_tasks: Option<u32>,
    pub capabilities: Option<Vec<String>>,
    pub system_prompt: Option<Option<String>>,
    pub provider: Option<Option<String>>,
    pub model_id: Option<Option<String>>,
    pub status: Option<AgentStatus>,
    pub owner: Option<Option<String>>,
}

/// Why an agent was not added or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentFault {
    #[error("there is no agent '{id}'; list the agents to see their ids")]
    Unknown { id: String },
    #[error("there is an agent '{id}' already; choose another id")]
    Taken { id: String },
    #[error("there is no agent '{parent}' to stand under; add it first")]
    UnknownParent { parent: String },
    #[error("agent '{id}' can't stand under '{parent}', which stands under it; move that one first")]
    Circle { id: String, parent: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct Agents {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, name, role, type, hierarchy, parent, max_parallel_tasks, capabilities, system_prompt, provider, model_id,
        status, owner, created_at"
    };
}

const ADD: &str = concat!(
    "INSERT INTO team_agents (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'active', $12, $13) RETURNING ",
    columns!()
);
const GET: &str = concat!("SELECT ", columns!(), " FROM team_agents WHERE id = $1");
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM team_agents WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);
const UNDER: &str = concat!("SELECT ", columns!(), " FROM team_agents WHERE parent = $1 ORDER BY id");
const WORKING: &str = "SELECT id FROM team_agents WHERE type = 'ai' AND status = 'active' ORDER BY id";
/// `$2` is empty where no project is named.
const IS_AT_WORK: &str = "SELECT a.status = 'active' AND ($2 = '' OR EXISTS (
        SELECT 1 FROM team_assignments w JOIN team_projects p ON p.id = w.project AND p.status <> 'archived'
        WHERE w.agent = a.id AND w.project = $2))
    FROM team_agents a WHERE a.id = $1";
const COUNT: &str = "SELECT count(*) FROM team_agents";
/// Waits for whoever changes the hierarchy now, and sees what they changed.
const TAKE_HIERARCHY: &str = "UPDATE team_hierarchy SET changes = changes + 1 WHERE one = 1 RETURNING changes";
/// The agent and everything above it. UNION, not UNION ALL: it ends even if someone edited a circle into the table.
macro_rules! line_of {
    ($start:literal) => {
        concat!(
            "WITH RECURSIVE line AS (
                SELECT id, parent FROM team_agents WHERE id = ",
            $start,
            " UNION SELECT above.id, above.parent FROM team_agents above JOIN line ON above.id = line.parent
            ) "
        )
    };
}
const CHANGE: &str = concat!(
    line_of!("$7"),
    "UPDATE team_agents SET
        name = coalesce($2, name), role = coalesce($3, role), hierarchy = coalesce($4, hierarchy),
        max_parallel_tasks = coalesce($5, max_parallel_tasks),
        parent = CASE WHEN $6 THEN $7 ELSE parent END,
        capabilities = coalesce($8, capabilities), status = coalesce($9, status),
        system_prompt = CASE WHEN $10 THEN $11 ELSE system_prompt END,
        provider = CASE WHEN $12 THEN $13 ELSE provider END,
        model_id = CASE WHEN $14 THEN $15 ELSE model_id END,
        owner = CASE WHEN $16 THEN $17 ELSE owner END
    WHERE id = $1 AND (NOT $6 OR $7 IS NULL OR
        (EXISTS (SELECT 1 FROM line) AND NOT EXISTS (SELECT 1 FROM line WHERE line.id = $1)))
    RETURNING ",
    columns!()
);
const IS_ABOVE: &str = concat!(line_of!("$1"), "SELECT id FROM line WHERE id = $2 AND id <> $1");
const LINE: &str = concat!(
    line_of!("$1"),
    "SELECT a.id, a.name, a.role, a.type, a.hierarchy, a.parent, a.max_parallel_tasks, a.capabilities, a.system_prompt,
        a.provider, a.model_id, a.status, a.owner, a.created_at
    FROM team_agents a JOIN line ON line.id = a.id WHERE a.id <> $1"
);

impl Agents {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn add(&self, agent: NewAgent) -> Result<Agent, AgentFault> {
        let operation = "add an agent";
        ids::check(operation, &agent.id)?;
        if let Some(parent) = &agent.parent
            && self.get(parent).await?.is_none()
        {
            return Err(AgentFault::UnknownParent { parent: shown(parent) });
        }
        let id = shown(&agent.id);
        let values = [
            Value::Id(agent.id),
            Value::Id(agent.name),
            Value::Text(Some(agent.role)),
            Value::text(agent.agent_type.as_str()),
            Value::text(agent.hierarchy.as_str()),
            Value::maybe_id(agent.parent.as_deref()),
            Value::int(i64::from(agent.max_parallel_tasks.max(1))),
            Value::Text(Some(json(&agent.capabilities))),
            Value::Text(agent.system_prompt),
            Value::Text(agent.provider),
            Value::Text(agent.model_id),
            Value::Text(agent.owner),
            Value::int(agent.created_at),
        ];
        match self.engine.write_first(operation, Write::new(Statement::new(ADD, values))).await {
            Ok(Some(added)) => Ok(added),
            Ok(None) => Err(Fault::Other("the agent was not stored".to_owned()).during(operation).into()),
            Err(StoreError::Duplicate { .. }) => Err(AgentFault::Taken { id }),
            Err(fault) => Err(fault.into()),
        }
    }

    pub async fn get(&self, id: &str) -> Result<Option<Agent>, StoreError> {
        self.engine.find("look up an agent", Statement::new(GET, [Value::id(id)])).await
    }

    /// Whether the agent may work: active, and in the project where one is named, unless that is archived. `None` where
    /// there is no such agent.
    pub async fn is_at_work(&self, id: &str, project: Option<&str>) -> Result<Option<bool>, StoreError> {
        let values = [Value::id(id), Value::text(project.unwrap_or_default())];
        let found = self.engine.find("look up whether an agent works", Statement::new(IS_AT_WORK, values)).await?;
        Ok(found.map(|AtWork(at_work)| at_work))
    }

    /// Newest first.
    pub async fn list(&self, paging: &Paging) -> Result<Page<Agent>, StoreError> {
        Ok(paging.page(self.engine.read("list the agents", Statement::new(LIST, paging.values())).await?))
    }

    /// The agents directly under one, by id.
    pub async fn under(&self, parent: &str) -> Result<Vec<Agent>, StoreError> {
        self.engine.read("list subordinates", Statement::new(UNDER, [Value::id(parent)])).await
    }

    /// Everybody above an agent, in no order.
    pub async fn above(&self, agent: &str) -> Result<Vec<Agent>, StoreError> {
        self.engine.read("list who is above an agent", Statement::new(LINE, [Value::id(agent)])).await
    }

    /// Whether `above` stands somewhere above `agent`.
    pub async fn is_above(&self, above: &str, agent: &str) -> Result<bool, StoreError> {
        let found =
            self.engine.find("look up a hierarchy", Statement::new(IS_ABOVE, [Value::id(agent), Value::id(above)]));
        Ok(found.await?.is_some_and(|_: Id| true))
    }

    /// Ids of the AI agents that may work, in order.
    pub async fn working(&self) -> Result<Vec<String>, StoreError> {
        let ids = self.engine.read::<Id>("list the working agents", Statement::new(WORKING, [])).await?;
        Ok(ids.into_iter().map(|Id(id)| id).collect())
    }

    pub async fn count(&self) -> Result<i64, StoreError> {
        let count = self.engine.find::<One>("count the agents", Statement::new(COUNT, [])).await?;
        Ok(count.map_or(0, |One(count)| count))
    }

    /// Changes an agent. A change of its parent waits for others of the hierarchy, so that two of them together make no
    /// circle either.
    pub async fn change(&self, id: &str, change: AgentChange) -> Result<Agent, AgentFault> {
        let moves = change.parent.is_some();
        let parent = change.parent.flatten();
        let given = |value: &Option<Option<String>>| Value::Bool(value.is_some());
        let values = [
            Value::id(id),
            Value::Text(change.name),
            Value::Text(change.role),
            Value::maybe_text(change.hierarchy.map(Hierarchy::as_str)),
            Value::Int(change.max_parallel_tasks.map(|most| i64::from(most.max(1)))),
            Value::Bool(moves),
            Value::maybe_id(parent.as_deref()),
            Value::Text(change.capabilities.as_deref().map(json)),
            Value::maybe_text(change.status.map(AgentStatus::as_str)),
            given(&change.system_prompt),
            Value::Text(change.system_prompt.flatten()),
            given(&change.provider),
            Value::Text(change.provider.flatten()),
            given(&change.model_id),
            Value::Text(change.model_id.flatten()),
            given(&change.owner),
            Value::Text(change.owner.flatten()),
        ];
        let change = Statement::new(CHANGE, values);
        let write =
            if moves { Write::new(Statement::new(TAKE_HIERARCHY, [])).then(change) } else { Write::new(change) };
        if let Some(changed) = self.engine.write("change an agent", write).await?.into_iter().next() {
            return Ok(changed);
        }
        let parent = parent.unwrap_or_default();
        if self.get(id).await?.is_none() {
            return Err(AgentFault::Unknown { id: shown(id) });
        }
        match self.get(&parent).await? {
            None => Err(AgentFault::UnknownParent { parent: shown(&parent) }),
            Some(_) => Err(AgentFault::Circle { id: shown(id), parent: shown(&parent) }),
        }
    }
}

fn json(list: &[String]) -> String {
    serde_json::Value::from(list).to_string()
}

/// An id in a message: as much of it as can be one.
pub(super) fn shown(id: &str) -> String {
    id.chars().take(100).collect()
}

pub(super) struct Id(pub(super) String);

impl FromRow for Id {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Id)
    }
}

pub(super) struct One(pub(super) i64);

impl FromRow for One {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.int().map(One)
    }
}

struct AtWork(bool);

impl FromRow for AtWork {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.bool().map(AtWork)
    }
}

impl Listed for Agent {
    fn mark(&self) -> Mark {
        Mark { at: self.created_at, id: self.id.clone() }
    }
}

impl FromRow for Agent {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let unreadable = |_| Fault::Other("stored capabilities are not a list of texts".to_owned());
        Ok(Agent {
            id: row.text()?,
            name: row.text()?,
            role: row.text()?,
            agent_type: AgentType::from_cell(row)?,
            hierarchy: Hierarchy::from_cell(row)?,
            parent: row.maybe_text()?,
            max_parallel_tasks: row.count()?,
            capabilities: serde_json::from_str(&row.text()?).map_err(unreadable)?,
            system_prompt: row.maybe_text()?,
            provider: row.maybe_text()?,
            model_id: row.maybe_text()?,
            status: AgentStatus::from_cell(row)?,
            owner: row.maybe_text()?,
            created_at: row.int()?,
        })
    }
}
