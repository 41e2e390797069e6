//! The fitness pack through the real path, on real databases and generated files: what is imported, what is said of it, who
//! may ask, and that every change can be tried and taken back.

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
#[path = "fitness/world.rs"]
mod world;

#[path = "fitness/analysis.rs"]
mod analysis;
#[path = "fitness/changes.rs"]
mod changes;
#[path = "fitness/contract.rs"]
mod contract;
#[path = "fitness/data.rs"]
mod data;
#[path = "fitness/examples.rs"]
mod examples;
#[path = "fitness/food.rs"]
mod food;
#[path = "fitness/generate.rs"]
mod generate;
#[path = "fitness/hostile.rs"]
mod hostile;
#[path = "fitness/importing.rs"]
mod importing;
#[path = "fitness/who.rs"]
mod who;
