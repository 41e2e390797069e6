//! Tasks that an agent asks for: whoever stands above it says whether they are worked on.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::caller::Purpose;
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{AgentType, NewMessage, NewTeamTask, TaskApproval, TaskStatus};

use super::{
    failures::task_not_found,
    making::{above, blank, priority_of},
    seat::Seat,
    shown,
};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct Request {
    title: String,
    description: Option<String>,
    priority: Option<String>,
    parent_task_id: Option<String>,
}

pub(super) async fn request_task(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Request { title, description, priority, parent_task_id } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let requester = requester(&seat).await?;
    let tasks = seat.tasks()?;
    let parent = above(&seat, &tasks, parent_task_id.as_deref()).await?;
    let approved = seat.team().agents().is_above(&requester, &seat.agent).await?;
    let approval = if approved { TaskApproval::Approved } else { TaskApproval::Pending };
    let new = NewTeamTask {
        title,
        description: description.unwrap_or_default(),
        priority: priority_of(priority.as_deref()),
        status: TaskStatus::Backlog,
        assignee: Some(seat.agent.clone()),
        requester: Some(requester),
        approval,
        ..blank(&seat, parent.as_ref())?
    };
    let made = tasks.create(&[new], None, seat.now).await?;
    let task = made.first().ok_or_else(Failure::internal)?;
    let mut approvers = Vec::new();
    if !approved {
        for agent in seat.team().agents().above(&seat.agent).await? {
            if agent.agent_type == AgentType::Human {
                let content = format!("Task '{}' ({}) waits for approval.", task.title, task.id);
                let ask =
                    NewMessage { to: Some(agent.id.clone()), content, task: Some(task.id.clone()), conversation: None };
                seat.conversations().send(&ask, seat.now).await?;
            }
            approvers.push(agent.id);
        }
    }
    let message = if approved {
        Text::new("The task is approved", "タスクは承認されました")
    } else {
        Text::new("The task waits for approval", "タスクは承認待ちです")
    };
    said(&json!({
        "success": true, "task_id": task.id, "approval_status": task.approval.as_str(), "approvers": approvers,
        "message": message.get(call.lang()),
    }))
}

/// In a task session the agent itself; in chat whoever asked for it, with the words for it.
async fn requester(seat: &Seat) -> Result<String, Failure> {
    if seat.purpose != Some(Purpose::Chat) {
        return Ok(seat.agent.clone());
    }
    asked_for(seat, "タスク作成").await
}

/// Who asked for something of the agent's task, in so many words: the last message has them behind `@@`, in either width.
pub(super) async fn asked_for(seat: &Seat, what: &str) -> Result<String, Failure> {
    let marks = ["@@", "＠＠"].map(|at| format!("{at}{what}"));
    let newest = seat.desk().newest().await?;
    let asked = newest.filter(|newest| marks.iter().any(|mark| newest.content.contains(mark.as_str())));
    asked.map(|newest| newest.sender).ok_or_else(|| {
        Failure::new(
            "no_request",
            format!("Nobody asked for it: the last message does not hold '@@{what}'"),
            format!("依頼がありません: 最後のメッセージに'@@{what}'が含まれていません"),
        )
    })
}

#[derive(Deserialize)]
struct Answered {
    task_id: String,
    reason: Option<String>,
}

pub(super) async fn approve_task_request(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    answer(pack, call, TaskApproval::Approved).await
}

pub(super) async fn reject_task_request(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    answer(pack, call, TaskApproval::Rejected).await
}

/// Only by who stands above whoever is to do it; to others there is no such request.
async fn answer(pack: &TeamPack, call: &Recorded, approval: TaskApproval) -> Result<ToolAnswer, Failure> {
    let Answered { task_id, reason } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let task = tasks.get(&task_id).await?.ok_or_else(|| task_not_found(&task_id))?;
    let is_above = match &task.assignee {
        Some(assignee) => seat.team().agents().is_above(&seat.agent, assignee).await?,
        None => false,
    };
    if !is_above {
        return Err(task_not_found(&task_id));
    }
    let task = tasks.answer_request(&task.id, approval, &seat.agent, reason.as_deref(), seat.now).await?;
    let answered: Value = shown::task(&task);
    said(&json!({"success": true, "task_id": task.id, "approval_status": task.approval.as_str(), "task": answered}))
}
