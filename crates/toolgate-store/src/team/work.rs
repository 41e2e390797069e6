//! The rooms of a team's work, each made for a project or for an agent in it.

use super::{
    Team,
    conversations::Conversations,
    delegations::Delegations,
    desk::Desk,
    notifications::Notifications,
    tasks::TeamTasks,
    waiting::{Waiting, waiting},
};
use crate::StoreError;

impl Team {
    /// The tasks of exactly one project.
    pub fn tasks(&self, project: &str) -> Result<TeamTasks, StoreError> {
        TeamTasks::new(self.engine.clone(), project)
    }

    /// What one agent got and said in one project.
    pub fn desk(&self, project: &str, agent: &str) -> Desk {
        Desk::new(self.engine.clone(), project, agent)
    }

    pub fn conversations(&self, project: &str, agent: &str) -> Conversations {
        Conversations::new(self.engine.clone(), project, agent)
    }

    pub fn delegations(&self, project: &str, agent: &str) -> Delegations {
        Delegations::new(self.engine.clone(), project, agent)
    }

    pub fn notifications(&self, project: &str, agent: &str) -> Notifications {
        Notifications::new(self.engine.clone(), project, agent)
    }

    /// What waits for an agent in a project.
    pub async fn waiting(&self, agent: &str, project: &str) -> Result<Waiting, StoreError> {
        waiting(&self.engine, agent, project).await
    }
}
