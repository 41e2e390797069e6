//! Lists of a project's tasks, newest first.

use super::{TeamTask, TeamTasks, columns};
use crate::{
    Page, Paging, StoreError,
    statement::{Statement, Value},
    team::TaskStatus,
};

/// Which tasks: all, or those of a status, of an agent, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    pub status: Option<TaskStatus>,
    pub assignee: Option<String>,
}

/// Each as its own statement, so that each has its own index.
macro_rules! list {
    ($condition:literal, $at:literal, $id:literal, $limit:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM team_tasks WHERE project = $1 ",
            $condition,
            " AND (created_at, id) < (",
            $at,
            ", ",
            $id,
            ") ORDER BY created_at DESC, id DESC LIMIT ",
            $limit
        )
    };
}
const ALL: &str = list!("", "$2", "$3", "$4");
const OF_STATUS: &str = list!("AND status = $2", "$3", "$4", "$5");
const OF_AGENT: &str = list!("AND assignee = $2", "$3", "$4", "$5");
const OF_BOTH: &str = list!("AND status = $2 AND assignee = $3", "$4", "$5", "$6");

impl TeamTasks {
    pub async fn list(&self, filter: &TaskFilter, paging: &Paging) -> Result<Page<TeamTask>, StoreError> {
        let status = filter.status.map(|status| Value::text(status.as_str()));
        let assignee = filter.assignee.as_deref().map(Value::id);
        let sql = match (&status, &assignee) {
            (None, None) => ALL,
            (Some(_), None) => OF_STATUS,
            (None, Some(_)) => OF_AGENT,
            (Some(_), Some(_)) => OF_BOTH,
        };
        let values = [self.project()].into_iter().chain(status).chain(assignee).chain(paging.values());
        Ok(paging.page(self.engine.read("list a project's tasks", Statement::new(sql, values)).await?))
    }
}
