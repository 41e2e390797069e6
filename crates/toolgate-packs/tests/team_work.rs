//! The team's work through the real path, on real databases: tasks, messages, conversations, delegations, and the wait.

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
#[path = "team_work/world.rs"]
mod world;

#[path = "team_work/conversations.rs"]
mod conversations;
#[path = "team_work/delegations.rs"]
mod delegations;
#[path = "team_work/life.rs"]
mod life;
#[path = "team_work/messages.rs"]
mod messages;
#[path = "team_work/permissions.rs"]
mod permissions;
#[path = "team_work/polling.rs"]
mod polling;
#[path = "team_work/reporting.rs"]
mod reporting;
#[path = "team_work/requests.rs"]
mod requests;
#[path = "team_work/tasks.rs"]
mod tasks;
