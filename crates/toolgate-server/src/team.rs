//! Agents and projects as JSON, for people and programs that run a team.

use serde_json::{Value, json};
use toolgate_store::team::{Agent, Assignment, Project};

pub fn agent_json(agent: &Agent) -> Value {
    json!({
        "id": agent.id,
        "name": agent.name,
        "role": agent.role,
        "type": agent.agent_type.as_str(),
        "hierarchy": agent.hierarchy.as_str(),
        "parent": agent.parent,
        "max_parallel_tasks": agent.max_parallel_tasks,
        "capabilities": agent.capabilities,
        "system_prompt": agent.system_prompt,
        "provider": agent.provider,
        "model_id": agent.model_id,
        "status": agent.status.as_str(),
        "owner": agent.owner,
        "created_at": agent.created_at,
    })
}

/// With the projects it works in.
pub fn agent_with_projects(agent: &Agent, assigned: &[Assignment]) -> Value {
    let projects: Vec<&str> = assigned.iter().map(|assigned| assigned.project.as_str()).collect();
    with(agent_json(agent), "projects", json!(projects))
}

pub fn project_json(project: &Project) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "status": project.status.as_str(),
        "working_directory": project.working_directory,
        "created_at": project.created_at,
    })
}

/// With the agents that work in it.
pub fn project_with_agents(project: &Project, assigned: &[Assignment]) -> Value {
    let agents: Vec<&str> = assigned.iter().map(|assigned| assigned.agent.as_str()).collect();
    with(project_json(project), "agents", json!(agents))
}

pub(crate) fn with(mut object: Value, key: &str, value: Value) -> Value {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
    object
}
