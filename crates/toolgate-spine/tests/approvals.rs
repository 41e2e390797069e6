//! A yes is for what was asked, and is used once: on the path itself, over real stores.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "approvals/mutations.rs"]
mod mutations;
#[path = "approvals/racers.rs"]
mod racers;
#[path = "approvals/waiting.rs"]
mod waiting;
#[path = "approvals/world.rs"]
mod world;
