//! What the store refuses, in the words people know.

use toolgate_store::team::{DelegationFault, TalkFault, TaskFault};

use crate::team::failure::Failure;

impl From<TaskFault> for Failure {
    fn from(fault: TaskFault) -> Self {
        let en = fault.to_string();
        let (code, ja) = match fault {
            TaskFault::Store(fault) => return fault.into(),
            TaskFault::Unknown { id } => return task_not_found(&id),
            TaskFault::UnknownAgent { agent } => return Self::agent_not_found(&agent),
            TaskFault::NotInProject { agent, project } => return not_in_project(&agent, &project),
            TaskFault::NoStep(_) => ("invalid_transition", "このステータスへは変更できません"),
            TaskFault::NotSubordinate { .. } => ("not_a_subordinate", "直属の部下ではありません"),
            TaskFault::NotActive { .. } => ("agent_not_active", "エージェントは有効ではありません"),
            TaskFault::NoAssignee { .. } => ("no_assignee", "タスクに担当者がいません"),
            TaskFault::NeedsUnmet { .. } => ("dependencies_not_done", "依存するタスクが完了していません"),
            TaskFault::NoCapacity { .. } => ("no_capacity", "担当者はこれ以上のタスクを同時に進められません"),
            TaskFault::OpenParts { .. } => ("unfinished_subtasks", "完了していないサブタスクがあります"),
            TaskFault::Busy { .. } => ("busy", "タスクが同時に変更されました。もう一度お試しください"),
            TaskFault::Over { .. }
            | TaskFault::InProgress { .. }
            | TaskFault::NotApproved { .. }
            | TaskFault::NotSplittable { .. }
            | TaskFault::NotPending { .. } => ("validation", "タスクの状態がこの操作を許しません"),
            TaskFault::BadTitle => ("validation", "タイトルは1〜200文字です"),
        };
        let ja = format!("{ja}: {en}");
        Self::new(code, en, ja)
    }
}

impl From<TalkFault> for Failure {
    fn from(fault: TalkFault) -> Self {
        let en = fault.to_string();
        let (code, ja) = match fault {
            TalkFault::Store(fault) => return fault.into(),
            TalkFault::Unsaid => return Self::internal(),
            TalkFault::Unknown { .. } => ("conversation_not_found", "会話が見つかりません"),
            TalkFault::NotOpen { .. } => ("conversation_not_active", "会話は有効ではありません"),
            TalkFault::Exists { .. } => ("conversation_exists", "この相手との会話がすでにあります"),
        };
        let ja = format!("{ja}: {en}");
        Self::new(code, en, ja)
    }
}

impl From<DelegationFault> for Failure {
    fn from(fault: DelegationFault) -> Self {
        let en = fault.to_string();
        let (code, ja) = match fault {
            DelegationFault::Store(fault) => return fault.into(),
            DelegationFault::Unknown { .. } => ("delegation_not_found", "委譲が見つかりません"),
            DelegationFault::NoStep(_) => ("invalid_transition", "この委譲は終了しています"),
        };
        let ja = format!("{ja}: {en}");
        Self::new(code, en, ja)
    }
}

/// Another project's task and one that never was answer alike.
pub(super) fn task_not_found(id: &str) -> Failure {
    let id: String = id.chars().take(100).collect();
    Failure::new("task_not_found", format!("Task not found: {id}"), format!("タスクが見つかりません: {id}"))
}

pub(super) fn access_denied(id: &str) -> Failure {
    Failure::new(
        "access_denied",
        format!("Access denied: task {id} is neither assigned to you nor part of a task that is"),
        format!("アクセスできません: タスク{id}は自分の担当でも、担当するタスクの一部でもありません"),
    )
}

pub(super) fn not_in_project(agent: &str, project: &str) -> Failure {
    Failure::new(
        "not_in_project",
        format!("Target agent '{agent}' is not assigned to project '{project}'"),
        format!("エージェント'{agent}'はプロジェクト'{project}'に割り当てられていません"),
    )
}

pub(super) fn too_long(length: usize) -> Failure {
    Failure::new(
        "content_too_long",
        format!("Content too long: {length} characters (max 4000)"),
        format!("内容が長すぎます: {length}文字（最大4000）"),
    )
}

pub(super) fn no_task() -> Failure {
    Failure::new(
        "no_task",
        "No in_progress task found for this agent",
        "このエージェントの進行中のタスクが見つかりません",
    )
}
