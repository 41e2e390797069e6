//! What waits for an agent in a project: one look, whatever there is in the store.

use std::sync::Arc;

use super::at_work::{at_work, unmet};
use crate::{
    StoreError,
    engine::Engine,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// What there is for an agent to do in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The task in progress that a task session would be about.
    pub task: Option<String>,
    /// A task of the agent is blocked.
    pub blocked: bool,
    /// Messages that were not read.
    pub unread: bool,
    /// A delegation that is not finished.
    pub delegation: bool,
    /// How the parts of that task stand.
    pub parts: Parts,
}

/// Whether a task has parts of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    pub any: bool,
    /// Not finished, and nobody has it.
    pub unassigned: bool,
    /// To be done or being done by somebody else.
    pub with_others: bool,
    /// Given to somebody else who could begin, and not begun: whoever has the task starts it.
    pub to_start: bool,
    /// To be done or being done by the same agent.
    pub own: bool,
    /// Blocked, and nobody looked at it yet.
    pub blocked: bool,
    /// Blocked, and whoever has the task went on without it.
    pub handled: bool,
}

/// What an agent's task asks of it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskWork {
    /// No task is in progress; with `blocked`, one would be.
    Nothing { blocked: bool },
    /// There is something to do.
    Ready,
    /// Somebody is stuck with a part of it.
    WorkerBlocked,
    /// Others are at work on the rest.
    WaitingForWorkers,
    /// What is left is blocked, and was looked at.
    HandledBlocked,
}

impl Waiting {
    /// Something for a chat session.
    pub fn chat(&self) -> bool {
        self.unread || self.delegation
    }

    pub fn task_work(&self) -> TaskWork {
        let Parts { unassigned, with_others, to_start, own, blocked, handled, .. } = self.parts;
        match self.task {
            None => TaskWork::Nothing { blocked: self.blocked },
            Some(_) if blocked => TaskWork::WorkerBlocked,
            Some(_) if unassigned || own || to_start => TaskWork::Ready,
            Some(_) if with_others => TaskWork::WaitingForWorkers,
            Some(_) if handled => TaskWork::HandledBlocked,
            Some(_) => TaskWork::Ready,
        }
    }
}

/// The task in progress that is not part of another of the same agent; the oldest, if there are several.
macro_rules! current {
    () => {
        "(SELECT task.id FROM team_tasks task WHERE task.project = $1 AND task.assignee = $2
            AND task.status = 'in_progress' AND NOT EXISTS (SELECT 1 FROM team_tasks above
                WHERE above.id = task.parent AND above.assignee = $2 AND above.status = 'in_progress')
            ORDER BY task.created_at, task.id LIMIT 1)"
    };
}

macro_rules! part {
    ($condition:literal) => {
        concat!("EXISTS (SELECT 1 FROM team_tasks part WHERE part.parent = mine.id AND ", $condition, ")")
    };
}

const LOOK: &str = concat!(
    "SELECT mine.id,
    EXISTS (SELECT 1 FROM team_tasks WHERE project = $1 AND assignee = $2 AND status = 'blocked'),
    EXISTS (SELECT 1 FROM team_desks WHERE project = $1 AND agent = $2 AND read < received),
    EXISTS (SELECT 1 FROM team_delegations WHERE project = $1 AND agent = $2 AND status IN ('pending', 'processing')), ",
    part!("TRUE"),
    ", ",
    part!("part.assignee IS NULL AND part.status IN ('backlog', 'todo')"),
    ", ",
    part!("part.assignee <> $2 AND part.status IN ('backlog', 'todo', 'in_progress')"),
    ", ",
    "EXISTS (SELECT 1 FROM team_tasks part JOIN team_agents ON team_agents.id = part.assignee
        WHERE part.parent = mine.id AND part.assignee <> $2 AND part.status IN ('backlog', 'todo')
        AND part.approval = 'approved'
        AND NOT EXISTS (SELECT 1 ",
    unmet!("part.id"),
    ") AND ",
    at_work!("part.assignee", "part.parent"),
    " < team_agents.max_parallel_tasks)",
    ", ",
    part!("part.assignee = $2 AND part.status IN ('backlog', 'todo', 'in_progress')"),
    ", ",
    part!("part.status = 'blocked' AND NOT part.handled"),
    ", ",
    part!("part.status = 'blocked' AND part.handled"),
    " FROM (SELECT ",
    current!(),
    " AS id) mine"
);

pub(crate) async fn waiting(engine: &Arc<Engine>, agent: &str, project: &str) -> Result<Waiting, StoreError> {
    let look = Statement::new(LOOK, [Value::id(project), Value::id(agent)]);
    Ok(engine.find("look what waits for an agent", look).await?.unwrap_or_default())
}

impl FromRow for Waiting {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let task = row.maybe_text()?;
        let (blocked, unread, delegation) = (row.bool()?, row.bool()?, row.bool()?);
        let parts = Parts {
            any: row.bool()?,
            unassigned: row.bool()?,
            with_others: row.bool()?,
            to_start: row.bool()?,
            own: row.bool()?,
            blocked: row.bool()?,
            handled: row.bool()?,
        };
        Ok(Waiting { task, blocked, unread, delegation, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_work_unless_others_have_all_of_it() {
        let work = |parts: Parts| Waiting { task: Some("t".into()), parts, ..Waiting::default() }.task_work();
        let none = Parts::default();
        assert_eq!(work(none), TaskWork::Ready);
        assert_eq!(work(Parts { any: true, ..none }), TaskWork::Ready, "all parts are finished");
        assert_eq!(work(Parts { with_others: true, ..none }), TaskWork::WaitingForWorkers);
        assert_eq!(work(Parts { with_others: true, unassigned: true, ..none }), TaskWork::Ready);
        assert_eq!(work(Parts { with_others: true, own: true, ..none }), TaskWork::Ready);
        assert_eq!(work(Parts { with_others: true, to_start: true, ..none }), TaskWork::Ready);
        assert_eq!(work(Parts { with_others: true, blocked: true, ..none }), TaskWork::WorkerBlocked);
        assert_eq!(work(Parts { with_others: true, handled: true, ..none }), TaskWork::WaitingForWorkers);
        assert_eq!(work(Parts { handled: true, ..none }), TaskWork::HandledBlocked);
        assert_eq!(Waiting::default().task_work(), TaskWork::Nothing { blocked: false });
    }
}
