//! Agents, projects, credentials, sessions, and what slows down guessing.

mod agents;
mod assignments;
mod credentials;
mod guesses;
mod sessions;

use toolgate_store::{
    Store,
    team::{AgentType, Hierarchy, NewAgent, NewProject},
};

pub(crate) fn agent(id: &str) -> NewAgent {
    NewAgent {
        id: id.to_owned(),
        name: format!("Agent {id}"),
        role: "does things".to_owned(),
        agent_type: AgentType::Ai,
        hierarchy: Hierarchy::Worker,
        parent: None,
        max_parallel_tasks: 1,
        capabilities: vec!["rust".to_owned()],
        system_prompt: None,
        provider: None,
        model_id: None,
        owner: None,
        created_at: 5,
    }
}

pub(crate) fn under(id: &str, parent: &str) -> NewAgent {
    NewAgent { parent: Some(parent.to_owned()), ..agent(id) }
}

pub(crate) fn project(id: &str) -> NewProject {
    NewProject { id: id.to_owned(), name: format!("Project {id}"), working_directory: None, created_at: 5 }
}

/// An agent `a` that works in the project `p`.
pub(crate) async fn staffed(store: &Store) {
    store.team().agents().add(agent("a")).await.unwrap();
    store.team().projects().add(project("p")).await.unwrap();
    store.team().assignments().assign("a", "p", 6).await.unwrap();
}
