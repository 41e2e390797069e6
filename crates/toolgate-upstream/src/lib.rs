//! Upstreams: MCP servers that stand behind the gate, as child processes or over HTTP.
//!
//! INVARIANTS: what an upstream says is passed on byte for byte; nothing of a caller reaches it but the call's arguments,
//! what its client can be asked, and what its client answers; a question reaches the client of its own call or nobody; a
//! call is sent once or not at all; whatever an upstream does, only its own callers notice.

mod backoff;
mod breaker;
mod call;
mod calls;
mod child;
mod config;
mod counts;
mod definition;
mod elsewhere;
mod era;
mod fault;
mod glob;
#[cfg(test)]
mod growth_tests;
mod handshake;
mod health;
mod http;
mod keeper;
#[cfg(test)]
#[path = "../../toolgate-core/tests/linear.rs"]
mod linear;
mod link;
mod listed;
mod listing;
mod logging;
mod marks;
mod message;
mod mirror;
mod questions;
mod result;
mod scan;
mod source;
mod upstream;
mod watching;

pub use child::{
    ChildSandbox, ChildUser, Reaper, conceal_process, raise_descriptor_limit, reap_groups, run_confined,
    sandbox_support,
};
pub use config::{ClientCredentials, Patience, SecretText, Transport, UpstreamConfig};
pub use definition::Definition;
pub use fault::Fault;
pub use upstream::{State, Status, Upstream};
