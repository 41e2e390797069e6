//! Processes: ordered steps, run one after the other by whoever asks for the next, with an orchestrator's word between.
//!
//! INVARIANT: what comes next is worked out from the rows (`progress.rs`). Every change names the turn it has seen and
//! takes effect only if that is still the last one, so that of two runners one is told that the other was first.

mod commits;
mod course;
mod decision;
mod definition;
mod fault;
mod label;
mod progress;
mod run;
mod step;

use std::sync::Arc;

pub use self::{
    decision::{Decision, DecisionKind, Effect, InjectedStep, NewDecision},
    definition::{DefinitionProblem, OrchestratorDefinition, ProcessDefinition, StepDefinition, TaskDefinition},
    fault::ProcessFault,
    label::LabelledTask,
    progress::{Next, Progress, RunEnd, RunTask, Standing},
    run::{Begun, Decided, EndedTask, NewRun},
    step::{Injected, ProcessStep},
};
use crate::{
    Mark, Page, Paging, StoreError, TaskSetting, backoff,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    ProcessState {
        Running = "running",
        Completed = "completed",
        /// A step failed.
        Failed = "failed",
        /// An orchestrator stopped it.
        Aborted = "aborted",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProcess {
    pub definition: ProcessDefinition,
    /// The user its tasks work for.
    pub owner: Option<String>,
    /// Whose knowledge its tasks share.
    pub tenant: Option<String>,
    pub branch: Option<String>,
    pub worktree: Option<String>,
    pub main_repo: Option<String>,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub id: String,
    /// As it was given.
    pub definition: ProcessDefinition,
    pub owner: Option<String>,
    pub tenant: Option<String>,
    pub branch: Option<String>,
    pub worktree: Option<String>,
    pub main_repo: Option<String>,
    pub state: ProcessState,
    pub created_at: i64,
    pub finished_at: Option<i64>,
    turn: String,
}

pub struct Processes {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, definition, owner, tenant, branch, worktree, main_repo, state, turn, created_at, finished_at"
    };
}
const START: &str = "INSERT INTO processes
    (id, name, definition, owner, tenant, branch, worktree, main_repo, state, turn, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9, $10) RETURNING id";
const FIND: &str = concat!("SELECT ", columns!(), " FROM processes WHERE id = $1");
const TENANT: &str = "SELECT tenant FROM processes WHERE id = $1";
macro_rules! list {
    ($which:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM processes WHERE ",
            $which,
            "(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
        )
    };
}
const LIST: &str = list!("");
const LIST_BY_STATE: &str = list!("state = $4 AND ");

/// How often a reader starts over that finds the process changed meanwhile.
const TRIES: u32 = 64;

impl Processes {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn start(&self, new: NewProcess) -> Result<Process, ProcessFault> {
        const OPERATION: &str = "start a process";
        let failed = |fault: Fault| fault.during(OPERATION);
        new.definition.check()?;
        let id = fresh::id("proc_").map_err(failed)?;
        let definition =
            serde_json::to_string(&new.definition).map_err(|fault| failed(Fault::Other(fault.to_string())))?;
        let values = [
            Value::id(&id),
            Value::text(&new.definition.name),
            Value::Text(Some(definition)),
            Value::maybe_id(new.owner.as_deref()),
            Value::maybe_id(new.tenant.as_deref()),
            Value::maybe_text(new.branch.as_deref()),
            Value::maybe_text(new.worktree.as_deref()),
            Value::maybe_text(new.main_repo.as_deref()),
            Value::Id(fresh::id("").map_err(failed)?),
            Value::int(new.created_at),
        ];
        let mut write = Write::new(Statement::new(START, values));
        for (number, step) in (0..).zip(new.definition.steps.clone()) {
            let step = ProcessStep::new(number, new.definition.complete(step), None);
            write = write.then(step.stored(&id, number, None).map_err(failed)?);
        }
        self.engine.write::<Touched>(OPERATION, write).await?;
        self.find(&id).await?.ok_or_else(|| failed(Fault::Other("the process was not stored".to_owned())).into())
    }

    pub async fn find(&self, id: &str) -> Result<Option<Process>, StoreError> {
        self.engine.find("look up a process", Statement::new(FIND, [Value::id(id)])).await
    }

    /// Whose knowledge a process's tasks share; `None` if there is no such process.
    pub async fn tenant(&self, id: &str) -> Result<Option<Option<String>>, StoreError> {
        let found = self.engine.find("look up a process's tenant", Statement::new(TENANT, [Value::id(id)])).await?;
        Ok(found.map(|Tenant(tenant)| tenant))
    }

    /// Newest first.
    pub async fn list(&self, state: Option<ProcessState>, paging: &Paging) -> Result<Page<Process>, StoreError> {
        let mut values: Vec<Value> = paging.values().into();
        values.extend(state.map(|state| Value::text(state.as_str())));
        let sql = if state.is_some() { LIST_BY_STATE } else { LIST };
        Ok(paging.page(self.engine.read("list the processes", Statement::new(sql, values)).await?))
    }

    /// A process and all that happened in it, as of one moment.
    pub async fn progress(&self, id: &str) -> Result<Option<Progress>, ProcessFault> {
        let of = |sql| Statement::new(sql, [Value::id(id)]);
        for attempt in 0..TRIES {
            if attempt > 0 {
                backoff::pause(attempt).await;
            }
            let Some(process) = self.find(id).await? else { return Ok(None) };
            let steps = self.engine.read("list a process's steps", of(step::LIST)).await?;
            let tasks = self.engine.read("list a process's tasks", of(progress::TASKS)).await?;
            let decisions = self.engine.read("list a process's decisions", of(decision::LIST)).await?;
            let after = self.find(id).await?;
            if after.is_some_and(|after| after.turn == process.turn) {
                return Ok(Some(Progress { process, steps, tasks, decisions }));
            }
        }
        Err(ProcessFault::Restless { id: fault::short(id) })
    }

    async fn known(&self, id: &str) -> Result<Progress, ProcessFault> {
        self.progress(id).await?.ok_or_else(|| ProcessFault::Unknown { id: fault::short(id) })
    }
}

impl Process {
    /// What a task of it has where nothing else is said.
    fn setting(&self) -> TaskSetting {
        TaskSetting {
            branch: self.branch.clone(),
            worktree: self.worktree.clone(),
            main_repo: self.main_repo.clone(),
            ..TaskSetting::default()
        }
    }
}

impl Listed for Process {
    fn mark(&self) -> Mark {
        Mark { at: self.created_at, id: self.id.clone() }
    }
}

struct Tenant(Option<String>);

impl FromRow for Tenant {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.maybe_text().map(Tenant)
    }
}

impl FromRow for Process {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, definition) = (row.text()?, row.text()?);
        let unreadable = |_| Fault::Other("a stored process's definition can't be read".to_owned());
        Ok(Process {
            id,
            definition: serde_json::from_str(&definition).map_err(unreadable)?,
            owner: row.maybe_text()?,
            tenant: row.maybe_text()?,
            branch: row.maybe_text()?,
            worktree: row.maybe_text()?,
            main_repo: row.maybe_text()?,
            state: ProcessState::from_cell(row)?,
            turn: row.text()?,
            created_at: row.int()?,
            finished_at: row.maybe_int()?,
        })
    }
}
