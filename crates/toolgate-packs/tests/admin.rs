//! The admin pack through the real path, on real databases: who may what, what a change does, and how it is taken back.

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
#[path = "admin/world.rs"]
mod world;

#[path = "admin/bulk.rs"]
mod bulk;
#[path = "admin/catalog.rs"]
mod catalog;
#[path = "admin/members.rs"]
mod members;
#[path = "admin/overrides.rs"]
mod overrides;
#[path = "admin/tenants.rs"]
mod tenants;
#[path = "admin/undo.rs"]
mod undo;
#[path = "admin/who.rs"]
mod who;
