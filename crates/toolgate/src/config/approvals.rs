//! `[approvals]`: how a person's yes is asked for, and who is told of it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;

/// How a person's yes is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Approvals {
    /// How long one may be answered, and used once it is granted: 90s, 15m, 1h, 7d.
    pub ttl: String,
    /// How long a call that does not say waits for an answer: 45s, 2m, at most 1h. "0s": not at all.
    pub wait: String,
    /// Who may answer with `toolgate approvals`: "any", "tty" (approvals only at a terminal) or "off".
    pub command_line: CommandLineAnswers,
    /// Callers whose own client may be asked, by its user: "user:alice", or "*" for all. Absent: nobody's.
    pub ask_clients_of: Vec<String>,
    /// Approvals of one user that may wait for an answer.
    pub max_pending: u32,
    /// Bytes of what the approvers of one user are shown together.
    pub max_pending_bytes: u64,
    /// Seconds in which a call that was denied gets the same denial, before somebody is asked again.
    pub deny_cooldown_seconds: u64,
    /// Addresses that are told of approvals.
    pub webhooks: Vec<Webhook>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            ttl: "1h".to_owned(),
            wait: "0s".to_owned(),
            command_line: CommandLineAnswers::default(),
            ask_clients_of: Vec::new(),
            max_pending: 100,
            max_pending_bytes: 8 << 20,
            deny_cooldown_seconds: 30,
            webhooks: Vec::new(),
        }
    }
}

/// The answers that the command line may give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandLineAnswers {
    /// Any, also those of scripts.
    Any,
    /// Approvals only where standard input is a terminal; denials always.
    #[default]
    Tty,
    /// None.
    Off,
}

/// An address that gets a signed POST when an approval is asked for, answered, or expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub url: String,
    /// What it is signed with: "text", { env = "VARIABLE" } or { file = "path" }; 16 bytes at least.
    pub secret: Given,
    /// "asked", "answered", "expired". Absent: all.
    #[serde(default)]
    pub events: Vec<String>,
}

impl Approvals {
    /// Every path, to be made relative to the file it stands in.
    pub fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.webhooks.iter_mut().filter_map(|webhook| match &mut webhook.secret {
            Given::File(from) => Some(&mut from.file),
            _ => None,
        })
    }
}
