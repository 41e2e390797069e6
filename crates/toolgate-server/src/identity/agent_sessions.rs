//! Agents' sessions as the store keeps them.

use async_trait::async_trait;
use toolgate_core::caller::{Agent, AgentKind, Purpose, UserId};
use toolgate_store::{
    Store,
    team::{self, Hierarchy, SessionToken},
};

use super::{
    session::{AgentSession, AgentSessions},
    store::RowsUnavailable,
};

/// Looked up for each request, so that a session that ended, or whose agent was stopped or moved, counts no more from the
/// next request on, on every replica.
pub struct StoredAgentSessions {
    store: Store,
}

impl StoredAgentSessions {
    pub fn new(store: Store) -> Self {
        Self { store }
    }
}

#[async_trait]
impl AgentSessions for StoredAgentSessions {
    async fn session(&self, token: &str) -> Result<Option<AgentSession>, RowsUnavailable> {
        let found = self.store.team().sessions().by_token(&SessionToken::hash_of(token), crate::now_millis()).await;
        let found = found.map_err(|fault| RowsUnavailable { reason: fault.to_string() })?;
        Ok(found.map(facts))
    }
}

fn facts(session: team::AgentSession) -> AgentSession {
    let kind = match session.hierarchy {
        Hierarchy::Manager => AgentKind::Manager,
        Hierarchy::Worker => AgentKind::Worker,
    };
    let purpose = match session.purpose {
        team::Purpose::Task => Purpose::Task,
        team::Purpose::Chat => Purpose::Chat,
    };
    AgentSession {
        agent: Agent {
            id: session.agent,
            kind,
            project: Some(session.project),
            purpose: Some(purpose),
            session: Some(session.id),
        },
        owner: session.owner.and_then(|owner| owner_of(&owner)),
        // a team's tasks are its own: they give no rights of a task that runs under a process
        task: None,
    }
}

/// Written as [`UserId`] writes it.
pub(super) fn owner_of(owner: &str) -> Option<UserId> {
    match owner.split_once('/') {
        Some((issuer, subject)) => UserId::of_issuer(issuer, subject).ok(),
        None => UserId::own(owner).ok(),
    }
}
