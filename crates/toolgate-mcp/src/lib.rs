//! MCP on the wire: protocol 2026-07-28 (stateless), 2025-11-25 and 2025-06-18 (with `initialize`), at one HTTP
//! address and on stdio.
//!
//! This is the only crate that knows MCP's messages; it knows no socket. A server hands [`Wire`] a request's head and
//! body, or a line, and writes out what comes back. Every decision is the spine's: here messages are read, checked
//! for form, and answered.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )
)]

mod abilities;
mod anonymous_rate;
mod approval;
mod call;
mod call_identity;
mod config;
mod conversation;
mod cursor;
mod elsewhere;
mod ended_sessions;
mod era;
mod framing;
#[cfg(test)]
mod growth_tests;
mod headers;
mod http_endpoint;
mod identity;
mod json;
#[cfg(test)]
#[path = "../../toolgate-core/tests/linear.rs"]
mod linear;
mod list;
mod listen;
mod mailbox;
mod message;
mod method;
mod mirror;
mod notes;
mod notice;
mod owner_key;
mod parked;
mod pieces;
mod questions;
mod refusal;
mod render;
mod reply;
mod request;
mod running;
mod seal;
mod session;
mod session_check;
mod session_memory;
mod state;
mod stdio;
mod stream_quota;
mod subscription_filter;
mod under_way;
mod unknown_rate;
mod watches;
mod wire;
mod wishes;

pub use anonymous_rate::AnonymousLimits;
pub use approval::MAX_APPROVAL_WAIT;
pub use config::{Challenge, WireConfig};
pub use era::Version;
pub use http_endpoint::Peer;
pub use identity::{Credentials, Identified, Identify, IdentityUnavailable, Rejection};
pub use json::limits::Limits;
pub use method::{Protocols, methods};
pub use refusal::code;
pub use reply::{Reply, ReplyBody};
pub use session::{PrincipalDigest, SessionId};
pub use session_memory::{MemoryUnavailable, ProcessMemory, SessionMemory};
pub use stdio::StdioSession;
pub use stream_quota::StreamLimits;
pub use wire::Wire;
