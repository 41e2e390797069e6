//! The vault pack through the real path, on real folders and real databases.

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
#[path = "vault/world.rs"]
mod world;

#[path = "vault/files.rs"]
mod files;

#[path = "vault/changes.rs"]
mod changes;
#[path = "vault/contract.rs"]
mod contract;
#[path = "vault/databases.rs"]
mod databases;
#[path = "vault/displaced.rs"]
mod displaced;
#[path = "vault/dry_runs.rs"]
mod dry_runs;
#[path = "vault/escapes.rs"]
mod escapes;
#[path = "vault/events.rs"]
mod events;
#[path = "vault/ids.rs"]
mod ids;
#[path = "vault/lists.rs"]
mod lists;
#[path = "vault/policy.rs"]
mod policy;
#[path = "vault/races.rs"]
mod races;
#[path = "vault/retrieval.rs"]
mod retrieval;
#[path = "vault/suggestions.rs"]
mod suggestions;
#[path = "vault/texts.rs"]
mod texts;
#[path = "vault/undo.rs"]
mod undo;
