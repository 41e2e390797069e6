//! Whether a process is to be started, and what its end means.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{
    Agent, AgentStatus, Hierarchy, NotificationKind, ProjectStatus, Purpose, TaskWork, Waiting,
};

use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct Pair {
    agent_id: String,
    project_id: String,
}

/// What is to become of an agent in a project, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Start(&'static str),
    Hold(&'static str),
}

/// What there is to do, and who is at it already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct AtWork {
    on_task: bool,
    in_chat: bool,
    /// Somebody directly under a manager.
    under: bool,
}

pub(super) async fn get_agent_action(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Pair { agent_id, project_id } = arguments(call)?;
    let (team, now) = (pack.store.team(), pack.now());
    let agent = team.agents().get(&agent_id).await?.ok_or_else(|| Failure::agent_not_found(&agent_id))?;
    let project = team.projects().get(&project_id).await?.ok_or_else(|| Failure::project_not_found(&project_id))?;
    let Some(assignment) = team.assignments().get(&agent.id, &project.id).await? else {
        return answer(Action::Hold("agent_not_assigned"), None);
    };
    if project.status != ProjectStatus::Active {
        return answer(Action::Hold("project_paused"), None);
    }
    if agent.status != AgentStatus::Active {
        return answer(Action::Hold("agent_inactive"), None);
    }
    let waiting = team.waiting(&agent.id, &project.id).await?;
    let sessions = team.sessions().of_pair(&agent.id, &project.id, now).await?;
    let of = |purpose: Purpose| sessions.iter().any(|session| session.purpose == purpose);
    let under = agent.hierarchy == Hierarchy::Manager
        && team.sessions().is_anyone_under_at_work(&agent.id, &project.id, now).await?;
    let at_work = AtWork { on_task: of(Purpose::Task), in_chat: of(Purpose::Chat), under };
    let action = match decide(&waiting, at_work) {
        Action::Start(_) if assignment.is_spawning(now) => Action::Hold("spawn_in_progress"),
        // of many who ask at once, one is told to start it
        Action::Start(_) if !team.assignments().start_spawn(&agent.id, &project.id, now).await? => {
            Action::Hold("spawn_in_progress")
        }
        action => action,
    };
    answer(action, Some((&agent, &waiting)))
}

fn decide(waiting: &Waiting, at_work: AtWork) -> Action {
    let task = match waiting.task_work() {
        _ if at_work.on_task => Action::Hold("no_work"),
        TaskWork::WorkerBlocked => Action::Start("worker_blocked"),
        TaskWork::Ready if at_work.under => Action::Hold("waiting_for_workers"),
        TaskWork::Ready => Action::Start("has_task_work"),
        TaskWork::WaitingForWorkers => Action::Hold("waiting_for_workers"),
        TaskWork::HandledBlocked => Action::Hold("handled_blocked"),
        TaskWork::Nothing { blocked: true } => Action::Hold("blocked_without_in_progress"),
        TaskWork::Nothing { blocked: false } => Action::Hold("no_work"),
    };
    match task {
        Action::Hold(_) if waiting.chat() && !at_work.in_chat => Action::Start("has_chat_work"),
        task => task,
    }
}

fn answer(action: Action, about: Option<(&Agent, &Waiting)>) -> Result<ToolAnswer, Failure> {
    let (word, reason) = match action {
        Action::Start(reason) => ("start", reason),
        Action::Hold(reason) => ("hold", reason),
    };
    let mut content = Map::new();
    content.insert("success".to_owned(), true.into());
    content.insert("action".to_owned(), word.into());
    content.insert("reason".to_owned(), reason.into());
    if let (Action::Start(_), Some((agent, waiting))) = (action, about) {
        let task = waiting.task.as_ref().filter(|_| reason != "has_chat_work");
        for (key, text) in
            [("task_id", task), ("provider", agent.provider.as_ref()), ("model", agent.model_id.as_ref())]
        {
            if let Some(text) = text {
                content.insert(key.to_owned(), text.clone().into());
            }
        }
    }
    Ok(said(&Value::Object(content))?.never_undone("The mark of a starting process goes by itself after two minutes."))
}

#[derive(Deserialize)]
struct Exited {
    agent_id: String,
    project_id: String,
    remaining_processes: u64,
}

pub(super) async fn report_process_exit(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Exited { agent_id, project_id, remaining_processes } = arguments(call)?;
    let (team, now) = (pack.store.team(), pack.now());
    if team.agents().get(&agent_id).await?.is_none() {
        return Err(Failure::agent_not_found(&agent_id));
    }
    if team.projects().get(&project_id).await?.is_none() {
        return Err(Failure::project_not_found(&project_id));
    }
    let content = if remaining_processes == 0 {
        team.assignments().end_spawn(&agent_id, &project_id).await?;
        let ended = team.sessions().end_pair(&agent_id, &project_id, now).await?;
        team.conversations(&project_id, &agent_id).end_all(now).await?;
        json!({"success": true, "action": "invalidated_all", "ended_sessions": ended})
    } else {
        let sessions = team.sessions().of_pair(&agent_id, &project_id, now).await?;
        let waiting = team.waiting(&agent_id, &project_id).await?;
        let left = orphan(sessions.len(), &waiting);
        let orphan = sessions.iter().find(|session| Some(session.purpose) == left);
        match orphan {
            Some(orphan) if team.sessions().end(&orphan.id, now).await? => {
                json!({"success": true, "action": "deleted_orphan", "orphan_purpose": orphan.purpose.as_str()})
            }
            _ => json!({"success": true, "action": "none"}),
        }
    };
    Ok(said(&content)?.never_undone("What ended is begun by signing in again."))
}

#[derive(Deserialize)]
struct Failed {
    agent_id: String,
    project_id: String,
    error_message: String,
}

/// Told to the agent, for when it is back, and to whom it stands under.
pub(super) async fn report_agent_error(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Failed { agent_id, project_id, error_message } = arguments(call)?;
    let (team, now) = (pack.store.team(), pack.now());
    let agent = team.agents().get(&agent_id).await?.ok_or_else(|| Failure::agent_not_found(&agent_id))?;
    if team.projects().get(&project_id).await?.is_none() {
        return Err(Failure::project_not_found(&project_id));
    }
    let message = Text::new(
        format!("A process of '{agent_id}' failed: {error_message}"),
        format!("'{agent_id}'のプロセスが失敗しました: {error_message}"),
    );
    let next = Text::new("Call get_next_action.", "get_next_actionを呼び出してください。");
    let (message, next) = (message.get(call.lang()), next.get(call.lang()));
    let told: Vec<String> = [Some(agent.id), agent.parent].into_iter().flatten().collect();
    for whom in &told {
        let notifications = team.notifications(&project_id, whom);
        notifications.add(NotificationKind::Message, ("agent_error", message, next), None, now).await?;
    }
    Ok(said(&json!({"success": true, "told": told}))?.never_undone("What was told stays told."))
}

/// The session whose process is gone, where one of two is: the one there is less reason to keep.
fn orphan(sessions: usize, waiting: &Waiting) -> Option<Purpose> {
    match waiting {
        _ if sessions < 2 => None,
        Waiting { task: Some(_), .. } => Some(Purpose::Chat),
        waiting if waiting.chat() => Some(Purpose::Task),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Waiting {
        Waiting { task: Some("t".into()), ..Waiting::default() }
    }

    #[test]
    fn a_process_is_started_for_work_that_nobody_is_at() {
        let nobody = AtWork::default();
        assert_eq!(decide(&task(), nobody), Action::Start("has_task_work"));
        assert_eq!(decide(&task(), AtWork { on_task: true, ..nobody }), Action::Hold("no_work"));
        assert_eq!(decide(&task(), AtWork { under: true, ..nobody }), Action::Hold("waiting_for_workers"));
        assert_eq!(decide(&Waiting::default(), nobody), Action::Hold("no_work"));
        let blocked = Waiting { blocked: true, ..Waiting::default() };
        assert_eq!(decide(&blocked, nobody), Action::Hold("blocked_without_in_progress"));
        let unread = Waiting { unread: true, ..Waiting::default() };
        assert_eq!(decide(&unread, nobody), Action::Start("has_chat_work"));
        assert_eq!(decide(&unread, AtWork { in_chat: true, ..nobody }), Action::Hold("no_work"));
        let both = Waiting { unread: true, ..task() };
        assert_eq!(decide(&both, nobody), Action::Start("has_task_work"));
        assert_eq!(decide(&both, AtWork { on_task: true, ..nobody }), Action::Start("has_chat_work"));
    }

    #[test]
    fn of_two_sessions_the_one_with_less_reason_is_the_orphan() {
        let unread = Waiting { unread: true, ..Waiting::default() };
        assert_eq!(orphan(2, &task()), Some(Purpose::Chat));
        assert_eq!(orphan(2, &unread), Some(Purpose::Task));
        assert_eq!(orphan(2, &Waiting::default()), None);
        assert_eq!(orphan(1, &task()), None);
    }
}
