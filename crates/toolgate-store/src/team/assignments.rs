//! Who works in which project, and which process was asked for and has not signed in yet.

use std::sync::Arc;

use super::agents::shown;
use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// How long nobody else is told to start a process after one was: milliseconds.
const SPAWNING: i64 = 120_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub agent: String,
    pub project: String,
    pub assigned_at: i64,
    pub spawn_started_at: Option<i64>,
}

/// An active project and one AI agent that may work in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staffed {
    pub project: String,
    pub project_name: String,
    pub working_directory: Option<String>,
    pub agent: String,
}

/// Why an agent was not assigned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignFault {
    #[error("there is no agent '{agent}' or no project '{project}'; add them first")]
    Unknown { agent: String, project: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Assignment {
    /// Whether a process was asked for so short ago that it may still come.
    pub fn is_spawning(&self, now: i64) -> bool {
        self.spawn_started_at.is_some_and(|started| now < started.saturating_add(SPAWNING))
    }
}

pub struct Assignments {
    engine: Arc<Engine>,
}

const ASSIGN: &str = "INSERT INTO team_assignments (agent, project, assigned_at)
    SELECT a.id, p.id, $3 FROM team_agents a, team_projects p WHERE a.id = $1 AND p.id = $2
    ON CONFLICT (agent, project) DO UPDATE SET assigned_at = team_assignments.assigned_at
    RETURNING agent, project, assigned_at, spawn_started_at";
const UNASSIGN: &str = "DELETE FROM team_assignments WHERE agent = $1 AND project = $2 RETURNING agent";
const END_SESSIONS: &str = "UPDATE team_sessions SET state = 'ended', ended_at = $3
    WHERE agent = $1 AND project = $2 AND state <> 'ended'";
const GET: &str = "SELECT agent, project, assigned_at, spawn_started_at FROM team_assignments
    WHERE agent = $1 AND project = $2";
const OF_AGENT: &str = "SELECT agent, project, assigned_at, spawn_started_at FROM team_assignments
    WHERE agent = $1 ORDER BY project";
const OF_PROJECT: &str = "SELECT agent, project, assigned_at, spawn_started_at FROM team_assignments
    WHERE project = $1 ORDER BY agent";
macro_rules! staffed {
    ($which:literal) => {
        concat!(
            "SELECT p.id, p.name, p.working_directory, a.id
            FROM team_projects p JOIN team_assignments s ON s.project = p.id JOIN team_agents a ON a.id = s.agent
            WHERE p.status = 'active' AND a.type = 'ai' AND a.status = 'active'",
            $which,
            " ORDER BY p.id, a.id"
        )
    };
}
const STAFFED: &str = staffed!("");
const STAFFED_BY: &str = staffed!(" AND s.agent = $1");
const START_SPAWN: &str = "UPDATE team_assignments SET spawn_started_at = $3
    WHERE agent = $1 AND project = $2 AND (spawn_started_at IS NULL OR spawn_started_at <= $4) RETURNING agent";
const END_SPAWN: &str = "UPDATE team_assignments SET spawn_started_at = NULL
    WHERE agent = $1 AND project = $2 AND spawn_started_at IS NOT NULL RETURNING agent";

impl Assignments {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Lets an agent work in a project. Saying it twice changes nothing.
    pub async fn assign(&self, agent: &str, project: &str, at: i64) -> Result<Assignment, AssignFault> {
        let values = [Value::id(agent), Value::id(project), Value::int(at)];
        let assigned = self.engine.write_first("assign an agent", Write::new(Statement::new(ASSIGN, values))).await?;
        assigned.ok_or_else(|| AssignFault::Unknown { agent: shown(agent), project: shown(project) })
    }

    /// Takes an agent out of a project, and ends its sessions there with it. `false` if it was not in it.
    pub async fn unassign(&self, agent: &str, project: &str, at: i64) -> Result<bool, StoreError> {
        let pair = || [Value::id(agent), Value::id(project)];
        let write = Write::new(Statement::new(UNASSIGN, pair()))
            .then(Statement::new(END_SESSIONS, pair().into_iter().chain([Value::int(at)])));
        Ok(self.engine.write_first::<Touched>("take an agent out of a project", write).await?.is_some())
    }

    pub async fn get(&self, agent: &str, project: &str) -> Result<Option<Assignment>, StoreError> {
        let statement = Statement::new(GET, [Value::id(agent), Value::id(project)]);
        self.engine.find("look up an assignment", statement).await
    }

    pub async fn of_agent(&self, agent: &str) -> Result<Vec<Assignment>, StoreError> {
        self.engine.read("list an agent's projects", Statement::new(OF_AGENT, [Value::id(agent)])).await
    }

    pub async fn of_project(&self, project: &str) -> Result<Vec<Assignment>, StoreError> {
        self.engine.read("list a project's agents", Statement::new(OF_PROJECT, [Value::id(project)])).await
    }

    /// Active projects with their AI agents, or only those of one agent; by project, then agent.
    pub async fn staffed(&self, agent: Option<&str>) -> Result<Vec<Staffed>, StoreError> {
        let statement = match agent {
            None => Statement::new(STAFFED, []),
            Some(agent) => Statement::new(STAFFED_BY, [Value::id(agent)]),
        };
        self.engine.read("list the projects and their agents", statement).await
    }

    /// Marks that a process is to be started; `false` if another was told so within the last two minutes.
    pub async fn start_spawn(&self, agent: &str, project: &str, now: i64) -> Result<bool, StoreError> {
        let values = [Value::id(agent), Value::id(project), Value::int(now), Value::int(now.saturating_sub(SPAWNING))];
        let write = Write::new(Statement::new(START_SPAWN, values));
        Ok(!self.engine.write::<Touched>("mark a process as starting", write).await?.is_empty())
    }

    /// The process that was asked for is there, or is given up.
    pub async fn end_spawn(&self, agent: &str, project: &str) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(END_SPAWN, [Value::id(agent), Value::id(project)]));
        Ok(!self.engine.write::<Touched>("clear the mark of a starting process", write).await?.is_empty())
    }
}

impl FromRow for Assignment {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Assignment {
            agent: row.text()?,
            project: row.text()?,
            assigned_at: row.int()?,
            spawn_started_at: row.maybe_int()?,
        })
    }
}

impl FromRow for Staffed {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Staffed {
            project: row.text()?,
            project_name: row.text()?,
            working_directory: row.maybe_text()?,
            agent: row.text()?,
        })
    }
}
