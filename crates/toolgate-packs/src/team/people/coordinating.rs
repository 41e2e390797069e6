//! What a coordinator asks before it starts anything. It learns who and where, never what a task is about.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::Staffed;

use crate::team::{TeamPack, arguments, failure::Failure, said};

pub(super) async fn health_check(pack: &TeamPack) -> Result<ToolAnswer, Failure> {
    let team = pack.store.team();
    let (agents, projects) = (team.agents().count().await?, team.projects().count().await?);
    said(&json!({"success": true, "status": "ok", "agent_count": agents, "project_count": projects}))
}

pub(super) async fn list_managed_agents(pack: &TeamPack) -> Result<ToolAnswer, Failure> {
    let ids = pack.store.team().agents().working().await?;
    said(&json!({"success": true, "agent_ids": ids}))
}

#[derive(Deserialize)]
struct Wanted {
    agent_id: Option<String>,
}

pub(super) async fn list_active_projects(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Wanted { agent_id } = arguments(call)?;
    let team = pack.store.team();
    if let Some(agent) = &agent_id
        && team.agents().get(agent).await?.is_none()
    {
        return Err(Failure::agent_not_found(agent));
    }
    let staffed = team.assignments().staffed(agent_id.as_deref()).await?;
    let projects: Vec<Value> = staffed.chunk_by(|one, next| one.project == next.project).filter_map(project).collect();
    said(&json!({"success": true, "projects": projects}))
}

fn project(staff: &[Staffed]) -> Option<Value> {
    let first = staff.first()?;
    let agents: Vec<&str> = staff.iter().map(|staffed| staffed.agent.as_str()).collect();
    Some(json!({
        "project_id": first.project,
        "project_name": first.project_name,
        "working_directory": first.working_directory,
        "agents": agents,
    }))
}
