//! Tasks, changed: their status, who has them, what came of them.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::caller::Purpose;
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{Assigner, Report, StatusChange, TaskResult, TaskStatus, TeamTask, TeamTasks};

use super::{
    failures::{access_denied, no_task, task_not_found},
    seat::Seat,
    shown,
};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct NewStatus {
    task_id: String,
    status: String,
    reason: Option<String>,
}

pub(super) async fn update_task_status(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let NewStatus { task_id, status, reason } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let task = tasks.get(&task_id).await?.ok_or_else(|| task_not_found(&task_id))?;
    if !is_own_or_below(&seat, &tasks, &task).await? {
        return Err(access_denied(&task.id));
    }
    let to = TaskStatus::parse(&status).ok_or_else(|| invalid_status(&status))?;
    let previous = task.status;
    let change = StatusChange { to, by: seat.agent.clone(), reason, report: None };
    let task = tasks.change(&task.id, &change, seat.now).await?;
    said(&json!({"success": true, "task": shown::task(&task), "previous_status": previous.as_str()}))
}

/// Assigned to the caller, or part of a task that is.
async fn is_own_or_below(seat: &Seat, tasks: &TeamTasks, task: &TeamTask) -> Result<bool, Failure> {
    if task.assignee.as_ref() == Some(&seat.agent) {
        return Ok(true);
    }
    match &task.parent {
        None => Ok(false),
        Some(parent) => Ok(tasks.get(parent).await?.is_some_and(|above| above.assignee.as_ref() == Some(&seat.agent))),
    }
}

pub(super) fn invalid_status(status: &str) -> Failure {
    let status: String = status.chars().take(100).collect();
    let words: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.as_str()).collect();
    Failure::new(
        "invalid_status",
        format!("Invalid status: {status}. Use one of: {}", words.join(", ")),
        format!("ステータスが正しくありません: {status}"),
    )
}

#[derive(Deserialize)]
struct Assignment {
    task_id: String,
    assignee_id: Option<String>,
}

/// Only what the manager itself has, made, or takes apart: a task of others is not its to give away.
pub(super) async fn assign_task(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Assignment { task_id, assignee_id } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let tasks = seat.tasks()?;
    let task = tasks.get(&task_id).await?.ok_or_else(|| task_not_found(&task_id))?;
    if task.created_by != seat.agent && !is_own_or_below(&seat, &tasks, &task).await? {
        return Err(access_denied(&task.id));
    }
    let manager = Assigner::Manager(&seat.agent);
    let assigned = tasks.assign(&task.id, assignee_id.as_deref(), manager, seat.now).await?;
    let mut answer = json!({
        "success": true, "task_id": assigned.task.id, "previous_assignee_id": assigned.previous,
    });
    let message = match (&assigned.task.assignee, &mut answer) {
        (Some(id), Value::Object(answer)) => {
            let name = seat.team().agents().get(id).await?.map_or_else(|| id.clone(), |agent| agent.name);
            answer.insert("assignee_id".to_owned(), id.clone().into());
            answer.insert("assignee_name".to_owned(), name.clone().into());
            Text::new(format!("Task assigned to {name}"), format!("タスクを{name}に割り当てました"))
        }
        _ => Text::new("Task unassigned", "タスクの割り当てを解除しました"),
    };
    if let Value::Object(answer) = &mut answer {
        answer.insert("message".to_owned(), message.get(call.lang()).into());
    }
    said(&answer)
}

#[derive(Deserialize)]
struct Reported {
    result: String,
    summary: Option<String>,
    next_steps: Option<String>,
}

/// Ends the session's own task, and the session with it. Nobody else's task is touched, nor another of the same agent.
pub(super) async fn report_completed(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Reported { result, summary, next_steps } = arguments(call)?;
    let result = TaskResult::parse(&result).ok_or_else(invalid_result)?;
    let seat = Seat::of(pack, call)?;
    let session = seat.session().await?.filter(|_| seat.purpose == Some(Purpose::Task)).ok_or_else(no_task)?;
    let tasks = seat.tasks()?;
    let own = |task: &TeamTask| task.assignee.as_ref() == Some(&seat.agent) && task.status == TaskStatus::InProgress;
    let task = match &session.task {
        Some(id) => tasks.get(id).await?.filter(own),
        None => None,
    };
    let task = task.ok_or_else(no_task)?;
    if result == TaskResult::Success {
        is_finished(&tasks, &task).await?;
    }
    let change = StatusChange {
        to: result.status(),
        by: seat.agent.clone(),
        reason: (result != TaskResult::Success).then(|| summary.clone()).flatten(),
        report: Some(Report { result, summary, next_steps }),
    };
    tasks.change(&task.id, &change, seat.now).await?;
    seat.team().sessions().end(&session.id, seat.now).await?;
    let bye = Text::new(
        "The task is reported and the session has ended. Exit now.",
        "タスクを報告し、セッションを終了しました。プロセスを終了してください。",
    );
    said(&json!({"success": true, "action": "exit", "instruction": bye.get(call.lang())}))
}

/// A task at the top is done by doing its parts.
async fn is_finished(tasks: &TeamTasks, task: &TeamTask) -> Result<(), Failure> {
    if task.parent.is_none() && tasks.parts(&task.id).await?.is_empty() {
        return Err(Failure::new(
            "no_subtasks",
            "The task has no subtasks. Create subtasks with create_task and finish them before reporting success",
            "サブタスクがありません。create_taskでサブタスクを作成し、完了してから報告してください",
        ));
    }
    let open = tasks.unfinished(&task.id).await?;
    if open.is_empty() {
        return Ok(());
    }
    let listed: Vec<Value> = open.iter().map(shown::brief).collect();
    let names: Vec<String> = open.iter().take(10).map(|part| format!("'{}' ({})", part.title, part.status)).collect();
    let names = names.join(", ");
    Err(Failure::new(
        "unfinished_subtasks",
        format!("The task has unfinished subtasks: {names}"),
        format!("完了していないサブタスクがあります: {names}"),
    )
    .with("unfinished_subtasks", listed))
}

pub(super) fn invalid_result() -> Failure {
    Failure::new(
        "invalid_result",
        "Invalid result value. Use 'success', 'failed', or 'blocked'",
        "resultの値が正しくありません。'success'、'failed'、'blocked'のいずれかを指定してください",
    )
}

#[derive(Deserialize)]
struct Selected {
    action: String,
}

/// What a manager does next, having seen how its task stands.
pub(super) async fn select_action(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Selected { action } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let waiting = seat.team().waiting(&seat.agent, &seat.project).await?;
    let task = waiting.task.clone().ok_or_else(no_task)?;
    let instruction = match action.as_str() {
        "dispatch_task" => Text::new(
            "Give a subtask to a subordinate with assign_task and start it with update_task_status (in_progress).",
            "assign_taskで部下に割り当て、update_task_status（in_progress）で開始してください。",
        ),
        "adjust" => Text::new(
            "Change what is planned with create_task, split_task, assign_task or update_task_status.",
            "create_task、split_task、assign_task、update_task_statusで計画を調整してください。",
        ),
        "complete" => Text::new("Call report_completed.", "report_completedを呼び出してください。"),
        _ => {
            if !waiting.parts.with_others {
                return Err(Failure::new(
                    "nothing_to_wait_for",
                    "Validation error: nobody is at work on a subtask, and none is assigned; dispatch one first",
                    "作業中または割り当て済みのサブタスクがないため、待機できません",
                ));
            }
            seat.tasks()?.handle_blocked(&task).await?;
            if let Some(session) = seat.session().await? {
                seat.team().sessions().end(&session.id, seat.now).await?;
            }
            let bye = Text::new(
                "Others are at work. The session has ended; you are started again when there is something to do. Exit now.",
                "部下が作業中です。セッションを終了しました。必要になれば再び起動されます。プロセスを終了してください。",
            );
            return said(&json!({"success": true, "action": "exit", "instruction": bye.get(call.lang())}));
        }
    };
    said(&json!({"success": true, "action": action, "instruction": instruction.get(call.lang())}))
}
