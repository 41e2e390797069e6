//! New tasks: one, several that belong together, or several in the place of one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{NewTeamTask, TaskApproval, TaskPriority, TaskStatus, TeamTask, TeamTasks};

use super::{failures::task_not_found, seat::Seat, shown};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct One {
    title: String,
    description: String,
    priority: Option<String>,
    parent_task_id: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

pub(super) async fn create_task(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let One { title, description, priority, parent_task_id, dependencies } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let parent = above(&seat, &tasks, parent_task_id.as_deref()).await?;
    let new = NewTeamTask {
        title,
        description,
        priority: priority_of(priority.as_deref()),
        needs: dependencies,
        ..blank(&seat, parent.as_ref())?
    };
    let made = tasks.create(&[new], taker(&seat), seat.now).await?;
    let task = made.first().ok_or_else(Failure::internal)?;
    said(&json!({
        "success": true,
        "task": shown::task(task),
        "parent_task_reassigned": was_taken(&seat, &tasks, parent.as_ref()).await?,
        "instruction": after(&seat).get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct Batch {
    parent_task_id: String,
    tasks: Vec<Local>,
}

#[derive(Deserialize)]
struct Local {
    local_id: String,
    title: String,
    description: String,
    priority: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

pub(super) async fn create_tasks_batch(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Batch { parent_task_id, tasks: wanted } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let parent = above(&seat, &tasks, Some(&parent_task_id)).await?;
    let mut real = BTreeMap::new();
    for local in &wanted {
        if real.insert(local.local_id.clone(), TeamTasks::new_id()?).is_some() {
            return Err(twice(&local.local_id));
        }
    }
    let mut new = Vec::new();
    for local in wanted {
        let needs = local.dependencies.iter().map(|need| real.get(need).cloned().ok_or_else(|| unknown_local(need)));
        new.push(NewTeamTask {
            id: real.get(&local.local_id).cloned().ok_or_else(Failure::internal)?,
            needs: needs.collect::<Result<_, _>>()?,
            title: local.title,
            description: local.description,
            priority: priority_of(local.priority.as_deref()),
            ..blank(&seat, parent.as_ref())?
        });
    }
    if let Some(circle) = in_a_circle(&new) {
        let named = real.iter().find(|(_, id)| **id == circle).map_or(circle.as_str(), |(local, _)| local);
        return Err(circular(named));
    }
    let made = tasks.create(&new, taker(&seat), seat.now).await?;
    said(&json!({
        "success": true,
        "tasks": made.iter().map(shown::task).collect::<Vec<Value>>(),
        "task_count": made.len(),
        "local_id_to_real_id": real,
        "parent_task_reassigned": was_taken(&seat, &tasks, parent.as_ref()).await?,
        "instruction": after(&seat).get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct Split {
    task_id: String,
    tasks: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    title: String,
    description: String,
    priority: Option<String>,
}

pub(super) async fn split_task(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Split { task_id, tasks: parts } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let whole = tasks.get(&task_id).await?.filter(|task| task.created_by == seat.agent);
    let whole = whole.ok_or_else(|| task_not_found(&task_id))?;
    let mut new = Vec::new();
    for part in parts {
        new.push(NewTeamTask {
            title: part.title,
            description: part.description,
            priority: part.priority.as_deref().and_then(TaskPriority::parse).unwrap_or(whole.priority),
            assignee: whole.assignee.clone(),
            parent: whole.parent.clone(),
            status: whole.status,
            ..blank(&seat, None)?
        });
    }
    let made = tasks.split(&whole.id, &new, &seat.agent, seat.now).await?;
    said(&json!({
        "success": true,
        "original_task_id": whole.id,
        "tasks": made.iter().map(shown::task).collect::<Vec<Value>>(),
        "task_count": made.len(),
        "instruction": after(&seat).get(call.lang()),
    }))
}

/// A worker makes tasks for itself, a manager for whoever it will give them to.
pub(super) fn blank(seat: &Seat, parent: Option<&TeamTask>) -> Result<NewTeamTask, Failure> {
    Ok(NewTeamTask {
        id: TeamTasks::new_id()?,
        title: String::new(),
        description: String::new(),
        status: TaskStatus::Todo,
        priority: TaskPriority::Medium,
        assignee: (!seat.manager).then(|| seat.agent.clone()),
        created_by: seat.agent.clone(),
        parent: parent.map(|task| task.id.clone()),
        needs: Vec::new(),
        requester: None,
        approval: TaskApproval::Approved,
    })
}

pub(super) fn priority_of(word: Option<&str>) -> TaskPriority {
    word.and_then(TaskPriority::parse).unwrap_or(TaskPriority::Medium)
}

/// A task that the caller may put something under: its own, or one that it made. Others do not exist for it.
pub(super) async fn above(seat: &Seat, tasks: &TeamTasks, id: Option<&str>) -> Result<Option<TeamTask>, Failure> {
    let Some(id) = id else { return Ok(None) };
    let own = |task: &TeamTask| task.assignee.as_ref() == Some(&seat.agent) || task.created_by == seat.agent;
    let found = tasks.get(id).await?.filter(own);
    found.map(Some).ok_or_else(|| task_not_found(id))
}

fn taker(seat: &Seat) -> Option<&str> {
    seat.manager.then_some(seat.agent.as_str())
}

async fn was_taken(seat: &Seat, tasks: &TeamTasks, parent: Option<&TeamTask>) -> Result<bool, Failure> {
    let Some(before) = parent.filter(|task| task.assignee.as_ref() != Some(&seat.agent)) else { return Ok(false) };
    Ok(tasks.get(&before.id).await?.is_some_and(|now| now.assignee.as_ref() == Some(&seat.agent)))
}

fn after(seat: &Seat) -> Text {
    if seat.manager {
        Text::new(
            "Give each new task to somebody with assign_task, start it with update_task_status, then call get_next_action.",
            "assign_taskで担当者を割り当て、update_task_statusで開始し、get_next_actionを呼び出してください。",
        )
    } else {
        Text::new(
            "The new tasks are yours. Call get_next_action to begin with the first.",
            "新しいタスクは自分の担当です。get_next_actionを呼び出して始めてください。",
        )
    }
}

/// One of the new tasks that would wait for itself.
fn in_a_circle(new: &[NewTeamTask]) -> Option<String> {
    let mut left: Vec<&NewTeamTask> = new.iter().collect();
    loop {
        let waits = |task: &&NewTeamTask| task.needs.iter().any(|need| left.iter().any(|other| other.id == *need));
        let still: Vec<&NewTeamTask> = left.iter().copied().filter(waits).collect();
        if still.len() == left.len() {
            return still.first().map(|task| task.id.clone());
        }
        left = still;
    }
}

fn unknown_local(id: &str) -> Failure {
    Failure::new(
        "unknown_dependency",
        format!("Unknown dependency local_id: {id}"),
        format!("依存先のlocal_idが見つかりません: {id}"),
    )
}

fn twice(id: &str) -> Failure {
    Failure::new(
        "validation",
        format!("Validation error: local_id '{id}' is there twice"),
        format!("local_idが重複しています: {id}"),
    )
}

fn circular(id: &str) -> Failure {
    Failure::new(
        "validation",
        format!("Validation error: task '{id}' would depend on itself"),
        format!("タスク'{id}'が自分自身に依存します"),
    )
}
