//! Changes: what a replica must hear about at once.

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

/// Something committed to the store that others may have remembered differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    SessionEnded {
        id: String,
    },
    SessionBound {
        id: String,
        principal: String,
    },
    /// This task started or ended. The end of a task is also the end of every task under it.
    Task {
        task_id: String,
    },
    Key {
        id: String,
    },
    /// This flow was closed, and what it still allowed ended with it.
    Flow {
        id: String,
    },
    /// This approval was granted or denied: who waits for it can go on.
    Approval {
        id: String,
    },
    /// This session of an agent ended or is to end.
    AgentSession {
        id: String,
    },
    /// There is news for these agents of a project: who waits for it looks again.
    Team {
        project: String,
        agents: Vec<String>,
    },
    /// A tenant, a member, an override or the catalogue: what exactly, [`crate::Rights`] reads.
    Rights,
    /// Changes may have been missed: forget what was remembered and read again.
    Resync,
}

/// PostgreSQL refuses a notification of 8000 bytes and more.
const MAX_NOTIFICATION: usize = 7_900;

impl Change {
    /// The change as text for a notification. One that is too long becomes `Resync`, which asks
    /// more of the receiver but loses nothing.
    pub(crate) fn to_notification(&self) -> String {
        let resync = || r#"{"kind":"resync"}"#.to_owned();
        match serde_json::to_string(self) {
            Ok(text) if text.len() <= MAX_NOTIFICATION => text,
            _ => resync(),
        }
    }

    /// A notification of an unknown kind comes from a newer replica: it changed something this one
    /// can't name.
    pub(crate) fn from_notification(text: &str) -> Change {
        serde_json::from_str(text).unwrap_or(Change::Resync)
    }
}

/// A subscription to the changes committed after it was made.
pub struct Changes {
    receiver: broadcast::Receiver<Change>,
}

impl Changes {
    pub(crate) fn new(receiver: broadcast::Receiver<Change>) -> Self {
        Self { receiver }
    }

    /// The next change; `None` once the store is closed. A subscriber that falls too far behind
    /// gets `Resync`. May be dropped while waiting without losing a change.
    pub async fn next(&mut self) -> Option<Change> {
        match self.receiver.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::Resync),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_survives_the_way_through_a_notification() {
        for change in [
            Change::SessionEnded { id: "s".into() },
            Change::SessionBound { id: "s".into(), principal: "user:\"é\"".into() },
            Change::Task { task_id: "t".into() },
            Change::Key { id: "k".into() },
            Change::Flow { id: "f".into() },
            Change::Approval { id: "a".into() },
            Change::AgentSession { id: "s".into() },
            Change::Team { project: "p".into(), agents: vec!["a".into(), "b".into()] },
            Change::Rights,
            Change::Resync,
        ] {
            assert_eq!(Change::from_notification(&change.to_notification()), change);
        }
    }

    #[test]
    fn what_can_not_be_said_becomes_a_resync() {
        let long = Change::SessionBound { id: "s".into(), principal: "p".repeat(10_000) };
        assert_eq!(Change::from_notification(&long.to_notification()), Change::Resync);
        assert_eq!(Change::from_notification(r#"{"kind":"from_the_future"}"#), Change::Resync);
    }
}
