//! What an agent is to know of what others did.

use std::sync::Arc;

use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    NotificationKind {
        StatusChange = "status_change",
        Interrupt = "interrupt",
        Message = "message",
        ChatSession = "chat_session_notification",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub id: String,
    pub kind: NotificationKind,
    pub action: String,
    pub message: String,
    pub instruction: String,
    pub task: Option<String>,
    pub at: i64,
}

/// Made for one agent in one project.
pub struct Notifications {
    engine: Arc<Engine>,
    project: String,
    agent: String,
}

macro_rules! columns {
    () => {
        "id, type, action, message, instruction, task, at"
    };
}
macro_rules! unseen {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM team_notifications WHERE project = $1 AND agent = $2 AND NOT seen ORDER BY at, id LIMIT $3"
        )
    };
}
const UNSEEN: &str = unseen!("id, type, action, message, instruction, task, at");
/// What is shown is marked, and nothing else.
const SEE: &str = concat!(
    "UPDATE team_notifications SET seen = TRUE WHERE id IN (",
    unseen!("id"),
    ") AND NOT seen RETURNING ",
    columns!()
);
const ADD: &str = concat!(
    "INSERT INTO team_notifications (project, agent, ",
    columns!(),
    ", seen)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, FALSE)"
);
/// Whoever has a task that somebody else changed.
const OF_CHANGE: &str = "INSERT INTO team_notifications
        (id, project, agent, type, action, message, instruction, task, at, seen)
    SELECT $2 || '.' || id, $1, assignee, 'status_change', status, 'Task ''' || title || ''' is now ' || status
        || COALESCE(': ' || blocked_reason, ''), 'Call get_next_action to see what is to be done.', id, $4, FALSE
    FROM team_tasks WHERE project = $1 AND trace = $2 AND assignee <> $3";
/// Whoever has the task that it is part of, where it is over or stuck.
const OF_PART: &str = "INSERT INTO team_notifications
        (id, project, agent, type, action, message, instruction, task, at, seen)
    SELECT $2 || '.above.' || bit.id, $1, above.assignee, 'status_change', bit.status,
        'Subtask ''' || bit.title || ''' is now ' || bit.status || COALESCE(': ' || bit.blocked_reason, ''),
        'Call get_next_action to see what is to be done.', bit.id, $4, FALSE
    FROM team_tasks bit JOIN team_tasks above ON above.id = bit.parent
    WHERE bit.project = $1 AND bit.trace = $2 AND bit.status IN ('blocked', 'done', 'cancelled')
    AND above.assignee <> $3 AND above.assignee IS DISTINCT FROM bit.assignee";
const OF_ASSIGNMENT: &str = "INSERT INTO team_notifications
        (id, project, agent, type, action, message, instruction, task, at, seen)
    SELECT $2 || '.' || id, $1, assignee, 'status_change', 'assigned', 'Task ''' || title || ''' was assigned to you',
        'Wait until it is in progress; then get_my_task gives it to you.', id, $4, FALSE
    FROM team_tasks WHERE project = $1 AND trace = $2 AND assignee <> $3";

/// What follows from a change of tasks, as part of it.
pub(super) fn of_change(project: &str, trace: &str, by: &str, now: i64) -> [Statement; 2] {
    [OF_CHANGE, OF_PART].map(|sql| following(sql, project, trace, by, now))
}

pub(super) fn of_assignment(project: &str, trace: &str, by: &str, now: i64) -> Statement {
    following(OF_ASSIGNMENT, project, trace, by, now)
}

fn following(sql: &'static str, project: &str, trace: &str, by: &str, now: i64) -> Statement {
    Statement::new(sql, [Value::id(project), Value::id(trace), Value::id(by), Value::int(now)])
}

/// The most that are shown at once.
const MOST: i64 = 50;

impl Notifications {
    pub(super) fn new(engine: Arc<Engine>, project: &str, agent: &str) -> Self {
        Self { engine, project: project.to_owned(), agent: agent.to_owned() }
    }

    /// The oldest that were not seen.
    pub async fn unseen(&self) -> Result<Vec<Notification>, StoreError> {
        self.engine.read("list notifications", Statement::new(UNSEEN, self.values(MOST))).await
    }

    /// Whether there is one.
    pub async fn any(&self) -> Result<bool, StoreError> {
        let first = Statement::new(UNSEEN, self.values(1));
        Ok(self.engine.find::<Notification>("look for a notification", first).await?.is_some())
    }

    /// The same, which are seen from then on.
    pub async fn see(&self) -> Result<Vec<Notification>, StoreError> {
        let write = Write::new(Statement::new(SEE, self.values(MOST)));
        let mut seen: Vec<Notification> = self.engine.write("mark notifications", write).await?;
        seen.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        Ok(seen)
    }

    pub async fn add(
        &self,
        kind: NotificationKind,
        (action, message, instruction): (&str, &str, &str),
        task: Option<&str>,
        now: i64,
    ) -> Result<String, StoreError> {
        let id = fresh::id("note_").map_err(|fault| fault.during("notify an agent"))?;
        let values = [
            Value::id(&self.project),
            Value::id(&self.agent),
            Value::id(&id),
            Value::text(kind.as_str()),
            Value::text(action),
            Value::text(message),
            Value::text(instruction),
            Value::maybe_id(task),
            Value::int(now),
        ];
        self.engine.write::<Notification>("notify an agent", Write::new(Statement::new(ADD, values))).await?;
        Ok(id)
    }

    fn values(&self, most: i64) -> [Value; 3] {
        [Value::id(&self.project), Value::id(&self.agent), Value::int(most)]
    }
}

impl FromRow for Notification {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, kind) = (row.text()?, NotificationKind::from_cell(row)?);
        let (action, message, instruction) = (row.text()?, row.text()?, row.text()?);
        Ok(Notification { id, kind, action, message, instruction, task: row.maybe_text()?, at: row.int()? })
    }
}
