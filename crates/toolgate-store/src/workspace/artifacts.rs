//! Artifacts: documents that tasks hand on, as many for each task as it likes.

use std::sync::Arc;

use super::{json, names, process_of, search::Indexed, search::Source, tenant_of};
use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    ArtifactFormat { Json = "json", Markdown = "markdown", Text = "text", Xml = "xml" }
}

/// Made for exactly one process; nothing outside it exists for it.
///
/// INVARIANT: every statement says `process` with the process it was made for.
pub struct ArtifactRepository {
    engine: Arc<Engine>,
    process: String,
    tenant: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    pub title: String,
    pub content: String,
    pub format: ArtifactFormat,
    pub template_name: Option<String>,
    pub tags: Vec<String>,
    /// What it is found by.
    pub terms: Vec<String>,
    pub at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    pub id: String,
    pub task_id: String,
    pub title: String,
    /// Empty in a list.
    pub content: String,
    pub format: ArtifactFormat,
    pub template_name: Option<String>,
    pub tags: Vec<String>,
    pub created_at: i64,
}

const WRITE: &str = "INSERT INTO artifacts
    (id, process, task_id, title, content, format, template_name, tags, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id";
const TASK: &str = "SELECT task_id FROM tasks WHERE task_id = $1 AND COALESCE(process, task_id) = $2";
const FIND: &str = "SELECT id, task_id, title, content, format, template_name, tags, created_at
    FROM artifacts WHERE process = $1 AND id = $2";
macro_rules! list {
    ($which:literal) => {
        concat!(
            "SELECT id, task_id, title, '', format, template_name, tags, created_at FROM artifacts WHERE process = $1",
            $which,
            " ORDER BY number"
        )
    };
}
const LIST: &str = list!("");
const LIST_OF_TASK: &str = list!(" AND task_id = $2");

impl ArtifactRepository {
    pub(crate) fn new(engine: Arc<Engine>, process: &str, tenant: Option<&str>) -> Result<Self, StoreError> {
        Ok(Self { engine, process: process_of(process)?, tenant: tenant_of(tenant)? })
    }

    /// The id of the new artifact; `None` if the process has no such task.
    pub async fn write(&self, task_id: &str, new: &NewArtifact) -> Result<Option<String>, StoreError> {
        const OPERATION: &str = "write an artifact";
        let failed = |fault: Fault| fault.during(OPERATION);
        let task = Statement::new(TASK, [Value::id(task_id), Value::id(&self.process)]);
        if self.engine.find::<Touched>(OPERATION, task).await?.is_none() {
            return Ok(None);
        }
        let id = fresh::id("art_").map_err(failed)?;
        let values = [
            Value::id(&id),
            Value::id(&self.process),
            Value::id(task_id),
            Value::text(&new.title),
            Value::text(&new.content),
            Value::text(new.format.as_str()),
            Value::maybe_text(new.template_name.as_deref()),
            Value::Text(Some(json(&new.tags).map_err(failed)?)),
            Value::int(new.at),
        ];
        let indexed = Indexed {
            tenant: &self.tenant,
            source: Source::Artifact,
            source_id: &id,
            title: &new.title,
            text: &new.content,
            terms: &new.terms,
            at: new.at,
        };
        let write = indexed.after(Write::new(Statement::new(WRITE, values)), &self.engine);
        self.engine.write::<Touched>(OPERATION, write).await?;
        Ok(Some(id))
    }

    pub async fn find(&self, id: &str) -> Result<Option<Artifact>, StoreError> {
        self.engine.find("look up an artifact", Statement::new(FIND, [Value::id(&self.process), Value::id(id)])).await
    }

    /// In the order they were made, without their content; of one task or of all.
    pub async fn list(&self, task_id: Option<&str>) -> Result<Vec<Artifact>, StoreError> {
        let mut values = vec![Value::id(&self.process)];
        values.extend(task_id.map(Value::id));
        let sql = if task_id.is_some() { LIST_OF_TASK } else { LIST };
        self.engine.read("list the artifacts", Statement::new(sql, values)).await
    }
}

impl FromRow for Artifact {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Artifact {
            id: row.text()?,
            task_id: row.text()?,
            title: row.text()?,
            content: row.text()?,
            format: ArtifactFormat::from_cell(row)?,
            template_name: row.maybe_text()?,
            tags: names(row)?,
            created_at: row.int()?,
        })
    }
}
