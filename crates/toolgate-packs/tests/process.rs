//! The process pack through the real path, on real databases and repositories that git itself made: every tool, every text.

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

#[path = "process/deciding.rs"]
mod deciding;
#[path = "process/git.rs"]
mod git;
#[path = "process/hostile_worktree.rs"]
mod hostile_worktree;
#[path = "process/state.rs"]
mod state;
