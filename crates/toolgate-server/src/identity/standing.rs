//! What one valid credential says, before it meets the others of its request.

use toolgate_core::{Caller, caller::Task};

use super::store::TaskRow;

/// The kinds of credential. Two of one kind compete; two of different kinds may combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Agent,
    Task,
}

/// A credential's facts, with whoever it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) caller: Caller,
    /// The public id of a task the credential names; it counts only once its row was found live.
    pub(super) claimed_task: Option<String>,
    /// The user on whose behalf the credential speaks. A task's owner is not its user: the task acts as itself.
    pub(super) owner: Option<String>,
}

impl Standing {
    pub(super) fn new(caller: Caller, claimed_task: Option<String>) -> Self {
        let owner = caller.user.as_ref().map(|user| user.as_str().to_owned());
        Self { caller, claimed_task, owner }
    }

    /// A task's key, and nothing else.
    pub(super) fn of_task(row: TaskRow) -> Self {
        let owner = row.owner.clone();
        let caller = Caller { task: Some(task(row)), ..Caller::default() };
        Self { caller, claimed_task: None, owner }
    }

    /// A task's key in the place of a token: it counts once the task was found live, as a token that names the task does.
    pub(super) fn of_task_key(row: TaskRow) -> Self {
        Self { caller: Caller::default(), claimed_task: Some(row.task_id), owner: None }
    }

    /// The task the credential named is this row, found live. `None`: the task is somebody else's.
    pub(super) fn with_task(mut self, row: TaskRow) -> Option<Self> {
        if self.owner.is_some() && self.owner != row.owner {
            return None;
        }
        self.owner = row.owner.clone();
        self.claimed_task = None;
        self.caller.task = Some(task(row));
        Some(self)
    }

    pub(super) fn kind(&self) -> Kind {
        if self.caller.agent.is_some() {
            Kind::Agent
        } else if self.caller.task.is_some() || self.claimed_task.is_some() {
            Kind::Task
        } else {
            Kind::User
        }
    }
}

/// INVARIANT: whether a task orchestrates comes from its row; there is no claim for it.
fn task(row: TaskRow) -> Task {
    Task { id: row.task_id, process: row.process, orchestrator: row.is_orchestrator }
}
