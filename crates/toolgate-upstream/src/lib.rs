//! Upstreams: MCP servers whose tools stand behind the gate, as child processes or over HTTP.
//!
//! INVARIANTS: what an upstream says is passed on byte for byte; nothing of a caller but the call's arguments reaches it;
//! a call is sent once or not at all; whatever an upstream does, only its own callers notice.

mod backoff;
mod breaker;
mod call;
mod child;
mod config;
mod counts;
mod definition;
mod era;
mod fault;
mod glob;
mod handshake;
mod http;
mod keeper;
mod link;
mod listing;
mod message;
mod mirror;
mod scan;
mod source;
mod upstream;

pub use config::{Patience, SecretText, Transport, UpstreamConfig};
pub use definition::Definition;
pub use fault::Fault;
pub use upstream::{State, Status, Upstream};
