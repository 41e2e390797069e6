//! Where a caller sits: which agent, in which project, for what.

use toolgate_core::caller::{self, AgentKind};
use toolgate_spine::Recorded;
use toolgate_store::{
    StoreError,
    team::{AgentSession, AgentType, Conversations, Delegations, Desk, Notifications, Purpose, Team, TeamTasks},
};

use super::failures::not_in_project;
use crate::team::{TeamPack, failure::Failure};

/// An agent at its place in a project, and the rooms that are its own.
pub(super) struct Seat {
    pub(super) agent: String,
    pub(super) project: String,
    pub(super) manager: bool,
    pub(super) purpose: Option<caller::Purpose>,
    pub(super) now: i64,
    team: Team,
}

impl Seat {
    pub(super) fn of(pack: &TeamPack, call: &Recorded) -> Result<Self, Failure> {
        let agent = call.caller().agent.as_ref().ok_or_else(Failure::no_session)?;
        Ok(Self {
            agent: agent.id.clone(),
            project: agent.project.clone().ok_or_else(Failure::no_session)?,
            manager: agent.kind == AgentKind::Manager,
            purpose: agent.purpose,
            now: pack.now(),
            team: pack.store.team(),
        })
    }

    pub(super) fn team(&self) -> &Team {
        &self.team
    }

    pub(super) fn tasks(&self) -> Result<TeamTasks, Failure> {
        Ok(self.team.tasks(&self.project)?)
    }

    pub(super) fn desk(&self) -> Desk {
        self.team.desk(&self.project, &self.agent)
    }

    pub(super) fn conversations(&self) -> Conversations {
        self.team.conversations(&self.project, &self.agent)
    }

    pub(super) fn delegations(&self) -> Delegations {
        self.team.delegations(&self.project, &self.agent)
    }

    pub(super) fn notifications(&self) -> Notifications {
        self.team.notifications(&self.project, &self.agent)
    }

    /// The live session, where the caller is in one: an operator's token is in none.
    pub(super) async fn session(&self) -> Result<Option<AgentSession>, Failure> {
        let purpose = match self.purpose {
            Some(caller::Purpose::Task) => Purpose::Task,
            Some(caller::Purpose::Chat) => Purpose::Chat,
            None => return Ok(None),
        };
        Ok(self.team.sessions().live(&self.agent, &self.project, purpose, self.now).await?)
    }

    /// The live chat session, where the caller is in one.
    pub(super) async fn chat_session(&self) -> Result<Option<AgentSession>, StoreError> {
        self.team.sessions().live(&self.agent, &self.project, Purpose::Chat, self.now).await
    }

    /// Somebody else of the project, and whether it is a person.
    pub(super) async fn colleague(&self, id: &str) -> Result<AgentType, Failure> {
        let Some(agent) = self.team.agents().get(id).await? else {
            return Err(Failure::agent_not_found(&id.chars().take(100).collect::<String>()));
        };
        match self.team.assignments().get(id, &self.project).await? {
            Some(_) => Ok(agent.agent_type),
            None => Err(not_in_project(&agent.id, &self.project)),
        }
    }

    /// Whether the caller itself is a person.
    pub(super) async fn own_type(&self) -> Result<AgentType, Failure> {
        let me = self.team.agents().get(&self.agent).await?;
        me.map(|agent| agent.agent_type).ok_or_else(Failure::no_session)
    }
}
