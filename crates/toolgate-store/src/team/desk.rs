//! An agent's desk in a project: what came in, what was read, what went out.
//!
//! INVARIANT: what comes in is numbered in the order in which it is there to be seen: whoever puts something on a desk has the
//! desk to itself until it is done. So one number says what was read, and nothing that comes later is ever below it.

use std::sync::Arc;

use super::message::{Message, message_columns};
use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// Made for one agent in one project.
pub struct Desk {
    engine: Arc<Engine>,
    project: String,
    agent: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeskState {
    pub received: i64,
    /// Up to which number.
    pub read: i64,
    pub answered: i64,
    pub sent: i64,
    /// The session, or without one the task, that has its task's text.
    pub fetched: Option<String>,
}

const STATE: &str = "SELECT received, read, answered, sent, fetched FROM team_desks WHERE project = $1 AND agent = $2";
const PENDING: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM team_messages
    WHERE project = $1 AND receiver = $2 AND number > $3 ORDER BY number LIMIT $4"
);
/// What came in up to a number, and what went out, each as far back as is wanted: then no more than that of both.
const HISTORY: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM (
        SELECT ",
    message_columns!(),
    " FROM (SELECT ",
    message_columns!(),
    " FROM team_messages
            WHERE project = $1 AND receiver = $2 AND number <= $3 ORDER BY number DESC LIMIT $4) got
        UNION ALL
        SELECT ",
    message_columns!(),
    " FROM (SELECT ",
    message_columns!(),
    " FROM team_messages
            WHERE project = $1 AND sender = $2 ORDER BY at DESC, id DESC LIMIT $4) said
    ) either_way ORDER BY at DESC, id DESC LIMIT $4"
);
const READ: &str = "UPDATE team_desks SET read = $3 WHERE project = $1 AND agent = $2 AND read < $3 AND received >= $3";
const NEWEST: &str = concat!(
    "SELECT ", message_columns!(), " FROM team_messages WHERE project = $1 AND receiver = $2 AND number = (
        SELECT received FROM team_desks WHERE project = $1 AND agent = $2 AND (read < received OR answered < received))"
);
const LAST: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM team_messages WHERE project = $1 AND receiver = $2 ORDER BY number DESC LIMIT 1"
);
const FETCH: &str = "INSERT INTO team_desks (project, agent, received, read, answered, sent, fetched)
    VALUES ($1, $2, 0, 0, 0, 0, $3) ON CONFLICT (project, agent) DO UPDATE SET fetched = excluded.fetched";

impl Desk {
    pub(super) fn new(engine: Arc<Engine>, project: &str, agent: &str) -> Self {
        Self { engine, project: project.to_owned(), agent: agent.to_owned() }
    }

    /// An agent that nothing was ever said to has an empty desk.
    pub async fn state(&self) -> Result<DeskState, StoreError> {
        let state = Statement::new(STATE, self.scope());
        Ok(self.engine.find("look at an agent's desk", state).await?.unwrap_or_default())
    }

    /// The oldest messages that were not read.
    pub async fn pending(&self, read: i64, limit: u32) -> Result<Vec<Message>, StoreError> {
        let values = self.scope().into_iter().chain([Value::int(read), Value::int(i64::from(limit))]);
        self.engine.read("read an agent's messages", Statement::new(PENDING, values)).await
    }

    /// What was said before and read, the oldest first.
    pub async fn history(&self, read: i64, limit: u32) -> Result<Vec<Message>, StoreError> {
        let values = self.scope().into_iter().chain([Value::int(read), Value::int(i64::from(limit))]);
        let mut said: Vec<Message> =
            self.engine.read("read an agent's messages", Statement::new(HISTORY, values)).await?;
        said.reverse();
        Ok(said)
    }

    pub async fn read_up_to(&self, number: i64) -> Result<(), StoreError> {
        let values = self.scope().into_iter().chain([Value::int(number)]);
        let write = Write::new(Statement::new(READ, values));
        self.engine.write::<Touched>("mark an agent's messages", write).await.map(drop)
    }

    /// The newest message, while it or one before it waits for an answer.
    pub async fn unanswered(&self) -> Result<Option<Message>, StoreError> {
        self.engine.find("look for a message to answer", Statement::new(NEWEST, self.scope())).await
    }

    /// The newest message, read or not.
    pub async fn newest(&self) -> Result<Option<Message>, StoreError> {
        self.engine.find("look for the newest message", Statement::new(LAST, self.scope())).await
    }

    /// Notes that the session, or without one the task, was told what its task is.
    pub async fn fetched(&self, by: &str) -> Result<(), StoreError> {
        let values = self.scope().into_iter().chain([Value::text(by)]);
        let write = Write::new(Statement::new(FETCH, values));
        self.engine.write::<Touched>("note that a task was fetched", write).await.map(drop)
    }

    fn scope(&self) -> [Value; 2] {
        [Value::id(&self.project), Value::id(&self.agent)]
    }
}

impl FromRow for DeskState {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (received, read, answered, sent) = (row.int()?, row.int()?, row.int()?, row.int()?);
        Ok(DeskState { received, read, answered, sent, fetched: row.maybe_text()? })
    }
}
