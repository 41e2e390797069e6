//! The todo list of one user.
//!
//! INVARIANT: every statement says `user_id = $1` with the user the repository was made for, so
//! another user's task and a task that does not exist are the same to it.

use std::sync::Arc;

use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value, check_id},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoTask {
    pub id: i64,
    pub title: String,
    pub description: Option<String>,
    pub completed: bool,
}

/// A task before a change and after it, with nothing in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoChange {
    pub before: TodoTask,
    pub after: TodoTask,
}

/// How often a change is tried again when others change the same task. Each time one of them got through.
const TRIES: usize = 200;

/// Made for exactly one user; nothing outside that user's list exists for it.
pub struct TodoRepository {
    engine: Arc<Engine>,
    user: String,
}

const ADD: &str = "INSERT INTO todo_tasks (user_id, title, description) VALUES ($1, $2, $3)
    RETURNING id, title, description, completed";
const LIST: &str = "SELECT id, title, description, completed FROM todo_tasks WHERE user_id = $1 ORDER BY id DESC";
const GET: &str = "SELECT id, title, description, completed FROM todo_tasks WHERE user_id = $1 AND id = $2";
const DELETE: &str = "DELETE FROM todo_tasks WHERE user_id = $1 AND id = $2
    RETURNING id, title, description, completed";

/// Only while the task is as it was found, or as the change left it.
const REMOVE_IF: &str = "DELETE FROM todo_tasks WHERE user_id = $1 AND id = $2
    AND title = $3 AND description IS NOT DISTINCT FROM $4 AND completed = $5
    RETURNING id, title, description, completed";
const RESTORE_IF: &str =
    "UPDATE todo_tasks SET title = $6, description = $7, completed = $8 WHERE user_id = $1 AND id = $2
    AND title = $3 AND description IS NOT DISTINCT FROM $4 AND completed = $5
    RETURNING id, title, description, completed";
const PUT_BACK: &str = "INSERT INTO todo_tasks (user_id, id, title, description, completed) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO NOTHING RETURNING id, title, description, completed";

impl TodoRepository {
    pub(crate) fn new(engine: Arc<Engine>, user: &str) -> Result<Self, StoreError> {
        check_id(user).map_err(|fault| fault.during("open a user's todo list"))?;
        Ok(Self { engine, user: user.to_owned() })
    }

    pub async fn add(&self, title: &str, description: Option<&str>) -> Result<TodoTask, StoreError> {
        let operation = "add a todo task";
        let statement = Statement::new(ADD, [self.user(), Value::text(title), Value::maybe_text(description)]);
        let missing = || Fault::Other("the task was not stored".into()).during(operation);
        self.change(operation, statement).await?.ok_or_else(missing)
    }

    /// The user's tasks, newest first.
    pub async fn list(&self) -> Result<Vec<TodoTask>, StoreError> {
        self.engine.read("list the todo tasks", Statement::new(LIST, [self.user()])).await
    }

    pub async fn get(&self, id: i64) -> Result<Option<TodoTask>, StoreError> {
        self.engine.find("look up a todo task", Statement::new(GET, [self.user(), Value::int(id)])).await
    }

    /// Completing a completed task changes nothing and succeeds.
    pub async fn complete(&self, id: i64) -> Result<Option<TodoChange>, StoreError> {
        self.edit("complete a todo task", id, |task| task.completed = true).await
    }

    /// The task as it was before it was deleted.
    pub async fn delete(&self, id: i64) -> Result<Option<TodoTask>, StoreError> {
        self.change("delete a todo task", Statement::new(DELETE, [self.user(), Value::int(id)])).await
    }

    /// `None` leaves a field as it is; an empty description clears it.
    pub async fn update(
        &self,
        id: i64,
        title: Option<&str>,
        description: Option<&str>,
    ) -> Result<Option<TodoChange>, StoreError> {
        let edit = |task: &mut TodoTask| {
            title.into_iter().for_each(|title| title.clone_into(&mut task.title));
            task.description = description.map(str::to_owned).or(task.description.take());
        };
        self.edit("update a todo task", id, edit).await
    }

    /// Changes a task that is as it was found: what came in between is found first.
    async fn edit(
        &self,
        operation: &'static str,
        id: i64,
        edit: impl Fn(&mut TodoTask),
    ) -> Result<Option<TodoChange>, StoreError> {
        for _ in 0..TRIES {
            let Some(before) = self.get(id).await? else { return Ok(None) };
            let mut after = before.clone();
            edit(&mut after);
            if before == after || self.replace(Some(&before), Some(&after)).await? {
                return Ok(Some(TodoChange { before, after }));
            }
        }
        Err(Fault::Overloaded.during(operation))
    }

    /// Takes a task from one state to another, if it is in the first; `None` is a task that is not there. `false` says that
    /// it was in another, and nothing was changed.
    pub async fn replace(&self, from: Option<&TodoTask>, to: Option<&TodoTask>) -> Result<bool, StoreError> {
        let is = |task: &TodoTask| {
            let TodoTask { id, title, description, completed } = task;
            let (title, description) = (Value::text(title), Value::maybe_text(description.as_deref()));
            [self.user(), Value::int(*id), title, description, Value::Bool(*completed)]
        };
        let statement = match (from, to) {
            (None, None) => return Ok(true),
            (Some(from), None) => Statement::new(REMOVE_IF, is(from)),
            (None, Some(to)) => Statement::new(PUT_BACK, is(to)),
            (Some(from), Some(to)) => {
                let [_, _, title, description, completed] = is(to);
                Statement::new(RESTORE_IF, is(from).into_iter().chain([title, description, completed]))
            }
        };
        Ok(self.change("restore a todo task", statement).await?.is_some())
    }

    fn user(&self) -> Value {
        Value::id(&self.user)
    }

    async fn change(&self, operation: &'static str, statement: Statement) -> Result<Option<TodoTask>, StoreError> {
        Ok(self.engine.write(operation, Write::new(statement)).await?.into_iter().next())
    }
}

impl FromRow for TodoTask {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(TodoTask { id: row.int()?, title: row.text()?, description: row.maybe_text()?, completed: row.bool()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_about_one_user() {
        for sql in [LIST, GET, DELETE, REMOVE_IF, RESTORE_IF] {
            assert!(sql.contains("WHERE user_id = $1"), "{sql}");
        }
        assert!(ADD.contains("(user_id, title, description) VALUES ($1, "));
        assert!(PUT_BACK.contains("(user_id, id, title, description, completed) VALUES ($1, "));
    }
}
