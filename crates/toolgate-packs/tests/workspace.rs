//! The workspace pack through the real path, on real databases: every tool, every text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test, giving up with a message is how a failure is reported"
)]

#[macro_use]
#[path = "bed/on_both.rs"]
mod on_both;
#[path = "bed/tasks.rs"]
mod world;

#[path = "workspace/artifacts.rs"]
mod artifacts;
#[path = "workspace/contract.rs"]
mod contract;
#[path = "workspace/knowledge.rs"]
mod knowledge;
#[path = "workspace/results.rs"]
mod results;
#[path = "workspace/who.rs"]
mod who;
