//! The todo pack through the real path, on real databases: every text, limit and criterion of its specification.

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
#[path = "todo/world.rs"]
mod world;

#[path = "todo/acceptance.rs"]
mod acceptance;
#[path = "todo/contract.rs"]
mod contract;
#[path = "todo/lists.rs"]
mod lists;
#[path = "todo/owners.rs"]
mod owners;
#[path = "todo/store_failures.rs"]
mod store_failures;
#[path = "todo/texts.rs"]
mod texts;
#[path = "todo/undo.rs"]
mod undo;
