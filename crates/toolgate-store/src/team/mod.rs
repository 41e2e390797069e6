//! A team: agents, who stands under whom, the projects they work in, how they prove who they are, and their sessions.
//!
//! INVARIANT: an agent has at most one session of each purpose in a project; nobody stands under themselves, however many
//! steps away.

mod agents;
mod assignments;
mod at_work;
mod conversation;
mod conversation_state;
mod conversations;
mod credentials;
mod delegation_state;
mod delegations;
mod desk;
mod guesses;
mod ids;
mod machine;
mod message;
mod notifications;
mod passkey;
mod projects;
mod sending;
mod sessions;
mod task_status;
mod tasks;
mod token;
mod waiting;
mod work;

use std::sync::Arc;

use crate::engine::Engine;

pub use agents::{Agent, AgentChange, AgentFault, AgentStatus, AgentType, Agents, Hierarchy, NewAgent};
pub use assignments::{AssignFault, Assignment, Assignments, Staffed};
pub use conversation::{Conversation, NewConversation, TalkFault};
pub use conversation_state::ConversationState;
pub use conversations::Conversations;
pub use credentials::{Credential, Credentials};
pub use delegation_state::DelegationStatus;
pub use delegations::{Delegation, DelegationFault, Delegations, NewDelegation};
pub use desk::{Desk, DeskState};
pub use guesses::{Guesses, Place, Slow};
pub use machine::{Machine, NoStep, Step};
pub use message::Message;
pub use notifications::{Notification, NotificationKind, Notifications};
pub use passkey::{BadPasskey, Passkey};
pub use projects::{NewProject, Project, ProjectChange, ProjectStatus, Projects};
pub use sending::NewMessage;
pub use sessions::{AgentSession, AgentSessions, CHAT_IDLE, NewSession, Purpose, SESSION_LASTS, SessionState};
pub use task_status::{TaskApproval, TaskPriority, TaskResult, TaskStatus};
pub use tasks::{Assigned, Assigner, NewTeamTask, Report, StatusChange, TaskFault, TaskFilter, TeamTask, TeamTasks};
pub use token::SessionToken;
pub use waiting::{Parts, TaskWork, Waiting};

/// The rooms of a team.
pub struct Team {
    engine: Arc<Engine>,
}

impl Team {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub fn agents(&self) -> Agents {
        Agents::new(self.engine.clone())
    }

    pub fn projects(&self) -> Projects {
        Projects::new(self.engine.clone())
    }

    pub fn assignments(&self) -> Assignments {
        Assignments::new(self.engine.clone())
    }

    pub fn credentials(&self) -> Credentials {
        Credentials::new(self.engine.clone())
    }

    pub fn sessions(&self) -> AgentSessions {
        AgentSessions::new(self.engine.clone())
    }

    /// What slows down who guesses passkeys.
    pub fn guesses(&self) -> Guesses {
        Guesses::new(self.engine.clone())
    }
}
