//! Plans through the real path: the spine's own tools, real databases, and a source that keeps count of what it did.

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
#[path = "plans/world.rs"]
mod world;

#[path = "plans/stage.rs"]
mod stage;

#[path = "plans/after_wait.rs"]
mod after_wait;
#[path = "plans/approval.rs"]
mod approval;
#[path = "plans/crash.rs"]
mod crash;
#[path = "plans/dry_check.rs"]
mod dry_check;
#[path = "plans/failure.rs"]
mod failure;
#[path = "plans/flow.rs"]
mod flow;
#[path = "plans/life.rs"]
mod life;
#[path = "plans/preview.rs"]
mod preview;
#[path = "plans/references.rs"]
mod references;
#[path = "plans/refusal.rs"]
mod refusal;
#[path = "plans/room.rs"]
mod room;
#[path = "plans/taken_back.rs"]
mod taken_back;
#[path = "plans/undo_faults.rs"]
mod undo_faults;
