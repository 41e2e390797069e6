//! `project task add|list|set|assign` and `project tell`: giving a team something to do.

use serde_json::{Value, json};
use toolgate_store::{
    Store,
    team::{
        AgentType, Assigner, NewMessage, NewTeamTask, StatusChange, TalkFault, TaskApproval, TaskFault, TaskFilter,
        TaskStatus, TeamTask, TeamTasks,
    },
};

use super::{books, print};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place, ProjectTaskCommand},
    ground,
};

/// Who changed a task, where no agent did.
const OPERATOR: &str = "operator";

pub async fn run(command: ProjectTaskCommand) -> CommandResult {
    match command {
        ProjectTaskCommand::Add { project, title, description, priority, assign, start, place, output } => {
            let store = books::store(&place).await?;
            let new = NewTeamTask {
                id: TeamTasks::new_id()?,
                title,
                description,
                status: TaskStatus::Todo,
                priority,
                assignee: None,
                created_by: OPERATOR.to_owned(),
                parent: None,
                needs: Vec::new(),
                requester: None,
                approval: TaskApproval::Approved,
            };
            let added = add(&store, &project, new, assign.as_deref(), start).await?;
            store.close().await;
            told(output, added, "is added")
        }
        ProjectTaskCommand::List { project, status, assignee, limit, place, output } => {
            let store = books::store(&place).await?;
            let tasks = store.team().tasks(&project)?;
            let filter = TaskFilter { status, assignee };
            let list = async |paging| tasks.list(&filter, &paging).await;
            let (tasks, cut) = books::gathered(limit, list).await?;
            store.close().await;
            let mut text: String = tasks.iter().map(line).collect();
            if tasks.is_empty() {
                text.push_str("There are no such tasks. Add one: toolgate project task add PROJECT TITLE\n");
            }
            let rows: Vec<Value> = tasks.iter().map(task_json).collect();
            print(output, &rows, &text)?;
            books::note_cut(cut, limit);
            Ok(Ending::Good)
        }
        ProjectTaskCommand::Set { project, id, status, reason, place, output } => {
            let store = books::store(&place).await?;
            let change = StatusChange { to: status, by: OPERATOR.to_owned(), reason, report: None };
            let changed = store.team().tasks(&project)?.change(&id, &change, ground::now()).await;
            store.close().await;
            told(output, changed, &format!("is {status}"))
        }
        ProjectTaskCommand::Assign { project, id, agent, place, output } => {
            let store = books::store(&place).await?;
            let tasks = store.team().tasks(&project)?;
            let assigned = tasks.assign(&id, agent.as_deref(), Assigner::Operator, ground::now()).await;
            store.close().await;
            let whose = agent.map_or("is nobody's".to_owned(), |agent| format!("is {agent}'s"));
            told(output, assigned.map(|assigned| assigned.task), &whose)
        }
    }
}

/// All that was asked for, or nothing: a task that can't be given or started is not added.
async fn add(
    store: &Store,
    project: &str,
    new: NewTeamTask,
    assign: Option<&str>,
    start: bool,
) -> Result<Result<TeamTask, TaskFault>, Misuse> {
    if store.team().projects().get(project).await?.is_none() {
        return Err(format!("no project has the id '{}'; see toolgate project list", books::line(project)).into());
    }
    match store.team().tasks(project)?.add(new, assign, start, ground::now()).await {
        Err(fault @ TaskFault::BadTitle) => Err(fault.to_string().into()),
        added => Ok(added),
    }
}

/// A message of a person of the project, who needs no session to write one here.
pub async fn tell(
    (project, agent, text): (String, String, String),
    from: String,
    place: Place,
    output: Output,
) -> CommandResult {
    let store = books::store(&place).await?;
    let team = store.team();
    for id in [&from, &agent] {
        if team.assignments().get(id, &project).await?.is_none() {
            store.close().await;
            let no = format!("no agent '{}' works in '{}'\n", books::line(id), books::line(&project));
            print(output, &json!({"sent": false, "error": no.trim_end()}), &no)?;
            return Ok(Ending::No);
        }
    }
    if team.agents().get(&from).await?.is_none_or(|from| from.agent_type != AgentType::Human) {
        return Err(format!("'{}' is no person; only people write here", books::line(&from)).into());
    }
    let new = NewMessage { to: Some(agent.clone()), content: text, task: None, conversation: None };
    let sent = match team.conversations(&project, &from).send(&new, ground::now()).await {
        Ok(message) => message,
        Err(TalkFault::Store(fault)) => return Err(fault.into()),
        Err(other) => return Err(other.to_string().into()),
    };
    store.close().await;
    print(output, &json!({"sent": true, "message_id": sent.id}), &format!("{agent} is told\n"))?;
    Ok(Ending::Good)
}

fn told(output: Output, outcome: Result<TeamTask, TaskFault>, what: &str) -> CommandResult {
    match outcome {
        Ok(task) => {
            print(output, &task_json(&task), &format!("{} {what}\n", task.id))?;
            Ok(Ending::Good)
        }
        Err(TaskFault::Store(fault)) => Err(fault.into()),
        Err(no) => {
            let no = no.to_string();
            print(output, &json!({"error": no}), &format!("{}\n", books::line(&no)))?;
            Ok(Ending::No)
        }
    }
}

fn line(task: &TeamTask) -> String {
    let whose = task.assignee.as_deref().unwrap_or("-");
    format!("{}  {:<11}  {}  {}\n", task.id, task.status.as_str(), books::line(whose), books::line(&task.title))
}

fn task_json(task: &TeamTask) -> Value {
    json!({
        "id": task.id, "title": task.title, "description": task.description, "status": task.status.as_str(),
        "priority": task.priority.as_str(), "assignee": task.assignee, "created_by": task.created_by,
        "parent": task.parent, "result": task.result.map(|result| result.as_str()), "summary": task.summary,
        "changed_by": task.changed_by, "changed_at": task.changed_at, "blocked_reason": task.blocked_reason,
        "approval": task.approval.as_str(), "created_at": task.created_at,
    })
}
