//! Projects.

use std::sync::Arc;

use super::{agents::One, ids};
use crate::{
    Mark, Page, Paging, StoreError,
    engine::{Engine, Write},
    error::Fault,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    /// Agents are started in active projects only.
    ProjectStatus { Active = "active", Paused = "paused", Archived = "archived" }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProject {
    pub id: String,
    pub name: String,
    pub working_directory: Option<String>,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub id: String,
    pub name: String,
    pub status: ProjectStatus,
    pub working_directory: Option<String>,
    pub created_at: i64,
}

/// What is to be different; what is absent stays. `Some(None)` takes the folder away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectChange {
    pub name: Option<String>,
    pub status: Option<ProjectStatus>,
    pub working_directory: Option<Option<String>>,
}

pub struct Projects {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, name, status, working_directory, created_at"
    };
}

const ADD: &str = concat!(
    "INSERT INTO team_projects (id, name, status, working_directory, created_at) VALUES ($1, $2, 'active', $3, $4)
    RETURNING ",
    columns!()
);
const GET: &str = concat!("SELECT ", columns!(), " FROM team_projects WHERE id = $1");
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM team_projects WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);
const COUNT: &str = "SELECT count(*) FROM team_projects";
const CHANGE: &str = concat!(
    "UPDATE team_projects SET name = coalesce($2, name), status = coalesce($3, status),
        working_directory = CASE WHEN $4 THEN $5 ELSE working_directory END
    WHERE id = $1 RETURNING ",
    columns!()
);

impl Projects {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// A project that exists already is a [`StoreError::Duplicate`].
    pub async fn add(&self, project: NewProject) -> Result<Project, StoreError> {
        let operation = "add a project";
        ids::check(operation, &project.id)?;
        let values = [
            Value::Id(project.id),
            Value::Id(project.name),
            Value::Text(project.working_directory),
            Value::int(project.created_at),
        ];
        let added = self.engine.write_first(operation, Write::new(Statement::new(ADD, values))).await?;
        added.ok_or_else(|| Fault::Other("the project was not stored".to_owned()).during(operation))
    }

    pub async fn get(&self, id: &str) -> Result<Option<Project>, StoreError> {
        self.engine.find("look up a project", Statement::new(GET, [Value::id(id)])).await
    }

    /// Newest first.
    pub async fn list(&self, paging: &Paging) -> Result<Page<Project>, StoreError> {
        Ok(paging.page(self.engine.read("list the projects", Statement::new(LIST, paging.values())).await?))
    }

    pub async fn count(&self) -> Result<i64, StoreError> {
        let count = self.engine.find::<One>("count the projects", Statement::new(COUNT, [])).await?;
        Ok(count.map_or(0, |One(count)| count))
    }

    /// `None` if there is no such project.
    pub async fn change(&self, id: &str, change: ProjectChange) -> Result<Option<Project>, StoreError> {
        let values = [
            Value::id(id),
            Value::Text(change.name),
            Value::maybe_text(change.status.map(ProjectStatus::as_str)),
            Value::Bool(change.working_directory.is_some()),
            Value::Text(change.working_directory.flatten()),
        ];
        self.engine.write_first("change a project", Write::new(Statement::new(CHANGE, values))).await
    }
}

impl Listed for Project {
    fn mark(&self) -> Mark {
        Mark { at: self.created_at, id: self.id.clone() }
    }
}

impl FromRow for Project {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Project {
            id: row.text()?,
            name: row.text()?,
            status: ProjectStatus::from_cell(row)?,
            working_directory: row.maybe_text()?,
            created_at: row.int()?,
        })
    }
}
