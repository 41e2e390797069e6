//! What an agent with a task does next: a function of how the task stands, and of nothing else.

use serde_json::Value;
use toolgate_store::team::{Parts, TeamTask};

use super::action::{Action, Standing, first_of_all};
use crate::team::{failure::Text, work::shown};

/// How an agent's task stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskSituation {
    pub(super) standing: Standing,
    pub(super) manager: bool,
    pub(super) task: Option<TeamTask>,
    /// Whoever asks knows what the task is.
    pub(super) fetched: bool,
    pub(super) parts: Parts,
    /// Its own part that it is at work on.
    pub(super) at_work: Option<TeamTask>,
    /// Its own part that it can start.
    pub(super) startable: Option<TeamTask>,
    /// Given to somebody and not begun.
    pub(super) dispatchable: Option<TeamTask>,
    pub(super) blocked: Vec<TeamTask>,
    pub(super) unassigned: Vec<TeamTask>,
    /// There is somebody to give a part to.
    pub(super) has_workers: bool,
}

pub(super) fn decide(situation: &TaskSituation) -> Action {
    if let Some(action) = first_of_all(situation.standing) {
        return action;
    }
    let Some(task) = &situation.task else {
        return Action::new(
            "exit",
            "no_task",
            "No task is in progress. Call logout and exit.",
            "進行中のタスクはありません。logoutを呼び出し、プロセスを終了してください。",
        );
    };
    let action = if !situation.fetched {
        Action::new(
            "get_task",
            "needs_task",
            "Call get_my_task to see what is to be done.",
            "get_my_taskを呼び出してタスクを確認してください。",
        )
    } else if situation.manager {
        of_manager(situation)
    } else {
        of_worker(situation, task)
    };
    action.with("task_id", task.id.as_str())
}

fn of_worker(situation: &TaskSituation, task: &TeamTask) -> Action {
    let Parts { any, own, with_others, to_start, unassigned, blocked, handled } = situation.parts;
    if !any {
        // a task that it made for itself is not taken apart again: that would never end
        return if task.is_delegated() { create_subtasks() } else { work(task) };
    }
    if let Some(part) = &situation.at_work {
        return Action::new(
            "execute_subtask",
            "executing_subtask",
            format!("Do the subtask '{}', then set it to done with update_task_status.", part.title),
            format!("サブタスク'{}'を実行し、update_task_statusでdoneにしてください。", part.title),
        )
        .with("subtask", shown::brief(part));
    }
    if let Some(part) = &situation.startable {
        return Action::new(
            "start_subtask",
            "starting_subtask",
            format!("Set the subtask '{}' to in_progress with update_task_status.", part.title),
            format!("サブタスク'{}'をupdate_task_statusでin_progressにしてください。", part.title),
        )
        .with("subtask", shown::brief(part));
    }
    if blocked || handled {
        return review(&situation.blocked);
    }
    if own || with_others || to_start || unassigned {
        return Action::new(
            "dependency_deadlock",
            "dependency_deadlock",
            "What is left waits for tasks that are not done. Change it with update_task_status, or report the task as blocked.",
            "残りのサブタスクは未完了のタスクに依存しています。update_task_statusで調整するか、blockedとして報告してください。",
        );
    }
    report()
}

fn of_manager(situation: &TaskSituation) -> Action {
    let Parts { any, own, with_others, to_start, unassigned, blocked, handled } = situation.parts;
    if !any {
        return create_subtasks();
    }
    if blocked {
        return review(&situation.blocked);
    }
    if unassigned && !situation.has_workers {
        let part = situation.unassigned.first().map_or(Value::Null, shown::brief);
        return Action::new(
            "block_subtask",
            "no_workers",
            "Nobody in the project stands under you. Cancel the subtask with update_task_status, or report your task as blocked.",
            "このプロジェクトに部下がいません。サブタスクをキャンセルするか、タスクをblockedとして報告してください。",
        )
        .with("subtask", part);
    }
    if unassigned || own || with_others || to_start {
        let open: Vec<Value> = situation.unassigned.iter().chain(&situation.dispatchable).map(shown::brief).collect();
        let choices: Vec<Value> = ["dispatch_task", "adjust", "wait"].map(Value::from).to_vec();
        return Action::new(
            "situational_awareness",
            "needs_decision",
            "See how the subtasks stand (get_my_task_progress), then say with select_action what to do: dispatch_task, adjust or wait.",
            "get_my_task_progressで状況を確認し、select_actionでdispatch_task、adjust、waitのいずれかを選択してください。",
        )
        .with("choices", choices)
        .with("to_dispatch", open);
    }
    if handled {
        return review(&situation.blocked);
    }
    Action::new(
        "completion_check",
        "needs_completion",
        "Every subtask is finished. Check what came of them, then call report_completed.",
        "すべてのサブタスクが終了しました。結果を確認し、report_completedを呼び出してください。",
    )
}

fn create_subtasks() -> Action {
    Action::new(
        "create_subtasks",
        "creating_subtasks",
        "Take the task apart with create_task or create_tasks_batch (parent_task_id is your task).",
        "create_taskまたはcreate_tasks_batchでタスクを分割してください（parent_task_idは自分のタスク）。",
    )
}

fn work(task: &TeamTask) -> Action {
    Action::new(
        "work",
        "working",
        format!("Do the task '{}', then call report_completed.", task.title),
        format!("タスク'{}'を実行し、report_completedを呼び出してください。", task.title),
    )
}

fn report() -> Action {
    Action::new(
        "report_completion",
        "needs_completion",
        "Every subtask is finished. Call report_completed.",
        "すべてのサブタスクが終了しました。report_completedを呼び出してください。",
    )
}

fn review(blocked: &[TeamTask]) -> Action {
    Action::new(
        "review_and_resolve_blocks",
        "has_blocked_subtasks",
        "Resolve what blocks these subtasks: set them to in_progress or cancelled with update_task_status, or report your task as blocked.",
        "ブロックされたサブタスクを解決してください。update_task_statusでin_progressまたはcancelledにするか、タスクをblockedとして報告してください。",
    )
    .with("blocked_subtasks", blocked.iter().map(shown::brief).collect::<Vec<Value>>())
}

/// How a task is worked on, told with the task.
pub(in crate::team::work) fn how_to_work(task: &TeamTask, manager: bool) -> Text {
    if manager {
        Text::new(
            "Take the task apart, give the subtasks to your subordinates, and report when all are finished.",
            "タスクをサブタスクに分割して部下に割り当て、すべて終了したら報告してください。",
        )
    } else if task.is_delegated() {
        Text::new(
            "Take the task apart into subtasks, do them one after the other, and report when all are finished.",
            "タスクをサブタスクに分割して順に実行し、すべて終了したら報告してください。",
        )
    } else {
        Text::new("Do the task and report.", "タスクを実行して報告してください。")
    }
}
