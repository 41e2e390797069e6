//! What can be done with one user's tasks. The only callers of the repository.

use serde::{Deserialize, Serialize};
use toolgate_store::{TodoChange, TodoRepository, TodoTask};

use super::{failure::Failure, task_undo::TaskChange};

const TITLE_MAX: usize = 200;
const DESCRIPTION_MAX: usize = 1000;

/// A change that was made: what is answered, and what the task was and is.
pub(super) struct Done {
    pub(super) answer: Changed,
    pub(super) change: TaskChange,
}

/// What a change answers.
#[derive(Debug, Serialize)]
pub(super) struct Changed {
    task_id: i64,
    status: &'static str,
    title: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Listed {
    pub(super) id: i64,
    title: String,
    description: Option<String>,
    completed: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    #[default]
    All,
    Pending,
    Completed,
}

pub(super) async fn add_task(
    repository: &TodoRepository,
    title: Option<&str>,
    description: Option<&str>,
) -> Result<Done, Failure> {
    let title = title.ok_or_else(Failure::title_required)?;
    check_title(title)?;
    check_description(description)?;
    let task = repository.add(title, description).await.map_err(|fault| Failure::store("add_task", &fault))?;
    Ok(done(None, Some(task.clone()), task, "created"))
}

/// Newest first; with `before`, those that are older than the task of this id.
pub(super) async fn list_tasks(
    repository: &TodoRepository,
    status: Status,
    before: Option<i64>,
) -> Result<Vec<Listed>, Failure> {
    let tasks = repository.list().await.map_err(|fault| Failure::store("list_tasks", &fault))?;
    let wanted = |task: &TodoTask| match status {
        Status::All => true,
        Status::Pending => !task.completed,
        Status::Completed => task.completed,
    };
    Ok(tasks
        .into_iter()
        .filter(|task| before.is_none_or(|before| task.id < before))
        .filter(wanted)
        .map(|TodoTask { id, title, description, completed }| Listed { id, title, description, completed })
        .collect())
}

pub(super) async fn complete_task(repository: &TodoRepository, id: i64) -> Result<Done, Failure> {
    let change = repository.complete(id).await.map_err(|fault| Failure::store("complete_task", &fault))?;
    let TodoChange { before, after } = change.ok_or_else(|| Failure::not_found(id))?;
    Ok(done(Some(before), Some(after.clone()), after, "completed"))
}

pub(super) async fn delete_task(repository: &TodoRepository, id: i64) -> Result<Done, Failure> {
    let task = repository.delete(id).await.map_err(|fault| Failure::store("delete_task", &fault))?;
    let task = task.ok_or_else(|| Failure::not_found(id))?;
    Ok(done(Some(task.clone()), None, task, "deleted"))
}

pub(super) async fn update_task(
    repository: &TodoRepository,
    id: i64,
    title: Option<&str>,
    description: Option<&str>,
) -> Result<Done, Failure> {
    if title.is_none() && description.is_none() {
        return Err(Failure::validation("At least title or description required"));
    }
    title.map_or(Ok(()), check_title)?;
    check_description(description)?;
    let change = repository.update(id, title, description).await;
    let change = change.map_err(|fault| Failure::store("update_task", &fault))?;
    let TodoChange { before, after } = change.ok_or_else(|| Failure::not_found(id))?;
    Ok(done(Some(before), Some(after.clone()), after, "updated"))
}

fn done(before: Option<TodoTask>, after: Option<TodoTask>, task: TodoTask, status: &'static str) -> Done {
    let answer = Changed { task_id: task.id, status, title: task.title };
    Done { answer, change: TaskChange { before, after } }
}

/// Lengths count characters, and blanks alone are no title.
fn check_title(title: &str) -> Result<(), Failure> {
    if title.trim().is_empty() {
        return Err(Failure::title_required());
    }
    if title.chars().count() > TITLE_MAX {
        return Err(Failure::title_too_long());
    }
    Ok(())
}

fn check_description(description: Option<&str>) -> Result<(), Failure> {
    if description.is_some_and(|description| description.chars().count() > DESCRIPTION_MAX) {
        return Err(Failure::description_too_long());
    }
    Ok(())
}
