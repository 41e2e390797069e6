//! Tasks, looked at.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::caller::Purpose;
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::{
    Mark, Paging,
    team::{TaskFilter, TaskStatus, TeamTask, TeamTasks},
};

use super::{failures::task_not_found, next_action::how_to_work, seat::Seat, shown};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

pub(super) async fn get_my_task(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let current = match seat.team().waiting(&seat.agent, &seat.project).await?.task {
        Some(id) => tasks.get(&id).await?,
        None => None,
    };
    let Some(task) = current else {
        let none = Text::new(
            "No task is in progress. Call get_next_action to see what is to be done.",
            "進行中のタスクはありません。get_next_actionを呼び出してください。",
        );
        return said(&json!({"success": true, "has_task": false, "instruction": none.get(call.lang())}));
    };
    // a look from a chat session is no fetch: the task session goes on where it was
    if seat.purpose != Some(Purpose::Chat) {
        let session = seat.session().await?;
        seat.desk().fetched(session.as_ref().map_or(task.id.as_str(), |session| session.id.as_str())).await?;
    }
    let needs = needed(&tasks, &task).await?;
    let mut context =
        json!({"status": task.status.as_str(), "priority": task.priority.as_str(), "created_by": task.created_by});
    if let (Some(parent), Value::Object(context)) = (&task.parent, &mut context) {
        context.insert("parent_task_id".to_owned(), parent.clone().into());
    }
    let handoff: Vec<Value> = needs.iter().map(shown::task).collect();
    let mut told = json!({
        "task_id": task.id, "title": task.title, "description": task.description,
        "workflow_instruction": how_to_work(&task, seat.manager).get(call.lang()), "context": context,
    });
    if let (false, Value::Object(told)) = (handoff.is_empty(), &mut told) {
        told.insert("handoff".to_owned(), handoff.into());
    }
    let next = Text::new(
        "Call get_next_action to see what is to be done next.",
        "次の行動はget_next_actionで確認してください。",
    );
    said(&json!({"success": true, "has_task": true, "task": told, "instruction": next.get(call.lang())}))
}

/// What was done before it and is handed over.
async fn needed(tasks: &TeamTasks, task: &TeamTask) -> Result<Vec<TeamTask>, Failure> {
    let mut needs = Vec::new();
    for id in tasks.needs(&task.id).await?.into_iter().take(20) {
        needs.extend(tasks.get(&id).await?);
    }
    Ok(needs)
}

/// The newest own tasks that are not over, each with its parts.
pub(super) async fn get_my_task_progress(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let mine = TaskFilter { assignee: Some(seat.agent.clone()), status: None };
    let mut progress = Vec::new();
    for task in tasks.list(&mine, &Paging { limit: 50, after: None }).await?.items {
        let parts = tasks.parts(&task.id).await?;
        let mut line = json!({"id": task.id, "task_id": task.id, "title": task.title, "status": task.status.as_str()});
        if let (false, Value::Object(line)) = (parts.is_empty(), &mut line) {
            line.insert("subtasks".to_owned(), parts.iter().map(shown::brief).collect());
        }
        progress.push(line);
    }
    said(&json!({"success": true, "tasks": progress}))
}

#[derive(Deserialize)]
struct Wanted {
    task_id: String,
}

pub(super) async fn get_task(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Wanted { task_id } = arguments(call)?;
    let tasks = Seat::of(pack, call)?.tasks()?;
    let task = tasks.get(&task_id).await?.ok_or_else(|| task_not_found(&task_id))?;
    let parts: Vec<Value> = tasks.parts(&task.id).await?.iter().map(shown::brief).collect();
    let needs = tasks.needs(&task.id).await?;
    said(&json!({"success": true, "task": shown::task(&task), "dependencies": needs, "subtasks": parts}))
}

#[derive(Deserialize)]
struct Listing {
    status: Option<String>,
    assignee_id: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

pub(super) async fn list_team_tasks(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Listing { status, assignee_id, limit, cursor } = arguments(call)?;
    let tasks = Seat::of(pack, call)?.tasks()?;
    let filter = TaskFilter { status: status.as_deref().and_then(TaskStatus::parse), assignee: assignee_id };
    let after = cursor.map(|cursor| place(&cursor).ok_or_else(bad_cursor)).transpose()?;
    let page = tasks.list(&filter, &Paging { limit: limit.unwrap_or(50), after }).await?;
    let listed: Vec<Value> = page.items.iter().map(shown::task).collect();
    let mut answer = json!({"success": true, "tasks": listed, "count": listed.len()});
    if let (Some(next), Value::Object(answer)) = (page.next, &mut answer) {
        answer.insert("next_cursor".to_owned(), format!("{}:{}", next.at, next.id).into());
    }
    said(&answer)
}

fn place(cursor: &str) -> Option<Mark> {
    let (at, id) = cursor.split_once(':')?;
    Some(Mark { at: at.parse().ok()?, id: id.to_owned() })
}

fn bad_cursor() -> Failure {
    Failure::new(
        "invalid_arguments",
        "Invalid arguments: 'cursor' is not one that list_team_tasks gave; leave it out to begin again",
        "引数が正しくありません: 'cursor'はlist_team_tasksが返した値ではありません",
    )
}
