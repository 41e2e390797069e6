//! Agents' sessions: for a task or for chat, for an hour at the most, chat only while something happens in it.

use std::sync::Arc;

use super::agents::{Hierarchy, Id};
use crate::{
    Change, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
};

/// Milliseconds from opening to the end, whatever happens.
pub const SESSION_LASTS: i64 = 3_600_000;
/// Milliseconds without activity after which a chat session is over.
pub const CHAT_IDLE: i64 = 600_000;
/// Activity is written down this often at the most.
const TOUCHED: i64 = 5_000;

words! {
    /// What a session is for.
    Purpose { Task = "task", Chat = "chat" }
}

words! {
    /// Each leads to the next, and none back.
    SessionState {
        Active = "active",
        /// It is to end: the agent is told so when it next asks what to do.
        Terminating = "terminating",
        Ended = "ended",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The token itself is stored nowhere.
    pub token_hash: [u8; 32],
    pub agent: String,
    pub project: String,
    pub purpose: Purpose,
    /// Of a task session, the task it is about.
    pub task: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    pub id: String,
    pub agent: String,
    pub project: String,
    pub purpose: Purpose,
    pub task: Option<String>,
    pub state: SessionState,
    pub opened_at: i64,
    pub expires_at: i64,
    pub last_activity: i64,
    pub reported_provider: Option<String>,
    pub reported_model: Option<String>,
    /// Whether the reported model is the agent's; absent until it reported one.
    pub model_verified: Option<bool>,
    /// Of its agent, as it is now.
    pub hierarchy: Hierarchy,
    pub owner: Option<String>,
}

impl AgentSession {
    /// When it is over if nothing more happens.
    pub fn ends_at(&self) -> i64 {
        match self.purpose {
            Purpose::Task => self.expires_at,
            Purpose::Chat => self.expires_at.min(self.last_activity.saturating_add(CHAT_IDLE)),
        }
    }
}

pub struct AgentSessions {
    engine: Arc<Engine>,
}

macro_rules! live {
    ($now:literal, $idle:literal) => {
        concat!(
            "s.state <> 'ended' AND s.expires_at > ",
            $now,
            " AND (s.purpose = 'task' OR s.last_activity > ",
            $idle,
            ")"
        )
    };
}
/// A session counts while its agent is active and in the project, and the project is not archived.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT s.id, s.agent, s.project, s.purpose, s.task, s.state, s.opened_at, s.expires_at, s.last_activity,
                s.reported_provider, s.reported_model, s.model_verified, a.hierarchy, a.owner
            FROM team_sessions s
            JOIN team_agents a ON a.id = s.agent AND a.status = 'active'
            JOIN team_assignments w ON w.agent = s.agent AND w.project = s.project
            JOIN team_projects p ON p.id = s.project AND p.status <> 'archived'
            WHERE ",
            live!("$1", "$2"),
            $which
        )
    };
}
const BY_TOKEN: &str = select!(" AND s.token_hash = $3");
const BY_PURPOSE: &str = select!(" AND s.agent = $3 AND s.project = $4 AND s.purpose = $5");
const OF_PAIR: &str = select!(" AND s.agent = $3 AND s.project = $4 ORDER BY s.purpose");
/// From the few under one agent, not from the many in a project.
const UNDER_AT_WORK: &str = concat!(
    "SELECT under.id FROM team_agents under WHERE under.parent = $3 AND under.status = 'active' AND EXISTS (
        SELECT 1 FROM team_sessions s WHERE s.agent = under.id AND s.project = $4 AND s.purpose = 'task' AND ",
    live!("$1", "$2"),
    ") LIMIT 1"
);

const END_STALE: &str = concat!(
    "UPDATE team_sessions AS s SET state = 'ended', ended_at = $1
    WHERE s.agent = $3 AND s.project = $4 AND s.purpose = $5 AND s.state <> 'ended' AND NOT (",
    live!("$1", "$2"),
    ")"
);
/// Only where the agent still is in the project.
const OPEN: &str = "INSERT INTO team_sessions
        (id, token_hash, agent, project, purpose, task, state, opened_at, expires_at, last_activity)
    SELECT $1, $2, w.agent, w.project, $5, $6, 'active', $7, $8, $7
    FROM team_assignments w WHERE w.agent = $3 AND w.project = $4
    RETURNING id";
/// What is over stays over.
const TOUCH: &str = concat!(
    "UPDATE team_sessions AS s SET last_activity = $1
    WHERE s.agent = $3 AND s.project = $4 AND s.purpose = $5 AND s.last_activity <= $6 AND ",
    live!("$1", "$2"),
    " RETURNING id"
);
const REPORT_MODEL: &str = "UPDATE team_sessions SET reported_provider = $2, reported_model = $3, model_verified = $4
    WHERE id = $1 AND state <> 'ended' RETURNING id";
const TERMINATE: &str =
    "UPDATE team_sessions SET state = 'terminating' WHERE id = $1 AND state = 'active' RETURNING id";
const END: &str =
    "UPDATE team_sessions SET state = 'ended', ended_at = $2 WHERE id = $1 AND state <> 'ended' RETURNING id";
const END_PAIR: &str = "UPDATE team_sessions SET state = 'ended', ended_at = $3
    WHERE agent = $1 AND project = $2 AND state <> 'ended' RETURNING id";

impl AgentSessions {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Opens a session, unless one of the same purpose is live; of many who try at once one gets it. `None`: there is
    /// one, or the agent is not in the project.
    pub async fn open(&self, session: NewSession, now: i64) -> Result<Option<AgentSession>, StoreError> {
        let operation = "open an agent's session";
        let NewSession { token_hash, agent, project, purpose, task } = session;
        let stale = [
            Value::int(now),
            Value::int(now.saturating_sub(CHAT_IDLE)),
            Value::id(&agent),
            Value::id(&project),
            Value::text(purpose.as_str()),
        ];
        let values = [
            Value::Id(fresh::id("as_").map_err(|fault| fault.during(operation))?),
            Value::digest(&token_hash),
            Value::id(&agent),
            Value::id(&project),
            Value::text(purpose.as_str()),
            Value::Text(task),
            Value::int(now),
            Value::int(now.saturating_add(SESSION_LASTS)),
        ];
        let write = Write::new(Statement::new(END_STALE, stale)).then(Statement::new(OPEN, values));
        match self.engine.write::<Id>(operation, write).await {
            Ok(_) => self.by_token(&token_hash, now).await,
            Err(StoreError::Duplicate { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The live session that this token is of.
    pub async fn by_token(&self, token_hash: &[u8; 32], now: i64) -> Result<Option<AgentSession>, StoreError> {
        self.find(BY_TOKEN, now, [Value::digest(token_hash)]).await
    }

    pub async fn live(
        &self,
        agent: &str,
        project: &str,
        purpose: Purpose,
        now: i64,
    ) -> Result<Option<AgentSession>, StoreError> {
        self.find(BY_PURPOSE, now, [Value::id(agent), Value::id(project), Value::text(purpose.as_str())]).await
    }

    /// Both of an agent's in a project, chat before task.
    pub async fn of_pair(&self, agent: &str, project: &str, now: i64) -> Result<Vec<AgentSession>, StoreError> {
        let values = at(now).into_iter().chain([Value::id(agent), Value::id(project)]);
        self.engine.read("list an agent's sessions", Statement::new(OF_PAIR, values)).await
    }

    /// Whether somebody directly under this agent works on a task in the project.
    pub async fn is_anyone_under_at_work(&self, agent: &str, project: &str, now: i64) -> Result<bool, StoreError> {
        let values = at(now).into_iter().chain([Value::id(agent), Value::id(project)]);
        let found = self.engine.find::<Id>("look who is at work", Statement::new(UNDER_AT_WORK, values));
        Ok(found.await?.is_some())
    }

    async fn find(
        &self,
        sql: &'static str,
        now: i64,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Option<AgentSession>, StoreError> {
        self.engine.find("look up an agent's session", Statement::new(sql, at(now).into_iter().chain(values))).await
    }

    /// Something happened in the live session, if there is one.
    pub async fn touch(&self, agent: &str, project: &str, purpose: Purpose, now: i64) -> Result<(), StoreError> {
        let values = at(now).into_iter().chain([
            Value::id(agent),
            Value::id(project),
            Value::text(purpose.as_str()),
            Value::int(now.saturating_sub(TOUCHED)),
        ]);
        self.write("note activity", TOUCH, values).await.map(drop)
    }

    pub async fn report_model(
        &self,
        id: &str,
        provider: &str,
        model: &str,
        verified: bool,
    ) -> Result<bool, StoreError> {
        let values = [Value::id(id), Value::text(provider), Value::text(model), Value::Bool(verified)];
        self.write("note a session's model", REPORT_MODEL, values).await
    }

    /// It is to end. `false` if it was to end before, or has ended.
    pub async fn terminate(&self, id: &str) -> Result<bool, StoreError> {
        self.over("ask a session to end", Statement::new(TERMINATE, [Value::id(id)]), id).await
    }

    /// Ends it for good. `false` if it had ended before.
    pub async fn end(&self, id: &str, now: i64) -> Result<bool, StoreError> {
        self.over("end an agent's session", Statement::new(END, [Value::id(id), Value::int(now)]), id).await
    }

    /// Ends all of an agent's sessions in a project; returns how many.
    pub async fn end_pair(&self, agent: &str, project: &str, now: i64) -> Result<usize, StoreError> {
        let values = [Value::id(agent), Value::id(project), Value::int(now)];
        let news = Change::Team { project: project.to_owned(), agents: vec![agent.to_owned()] };
        let write = Write::new(Statement::new(END_PAIR, values)).announcing(news);
        Ok(self.engine.write::<Touched>("end an agent's sessions", write).await?.len())
    }

    /// Who waits in a session hears that it is over.
    async fn over(&self, operation: &'static str, statement: Statement, id: &str) -> Result<bool, StoreError> {
        let write = Write::new(statement).announcing(Change::AgentSession { id: id.to_owned() });
        Ok(!self.engine.write::<Touched>(operation, write).await?.is_empty())
    }

    async fn write(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<bool, StoreError> {
        let touched = self.engine.write::<Touched>(operation, Write::new(Statement::new(sql, values))).await?;
        Ok(!touched.is_empty())
    }
}

/// The values of `$1` and `$2` in `live!`.
fn at(now: i64) -> [Value; 2] {
    [Value::int(now), Value::int(now.saturating_sub(CHAT_IDLE))]
}

impl FromRow for AgentSession {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(AgentSession {
            id: row.text()?,
            agent: row.text()?,
            project: row.text()?,
            purpose: Purpose::from_cell(row)?,
            task: row.maybe_text()?,
            state: SessionState::from_cell(row)?,
            opened_at: row.int()?,
            expires_at: row.int()?,
            last_activity: row.int()?,
            reported_provider: row.maybe_text()?,
            reported_model: row.maybe_text()?,
            model_verified: row.maybe_int()?.map(|verified| verified != 0),
            hierarchy: Hierarchy::from_cell(row)?,
            owner: row.maybe_text()?,
        })
    }
}
