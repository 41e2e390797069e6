//! The people of the team pack through the real path, on real databases: signing in, sessions, profiles, coordination.

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
#[path = "team_people/world.rs"]
mod world;

#[path = "team_people/coordinator.rs"]
mod coordinator;
#[path = "team_people/guessing.rs"]
mod guessing;
#[path = "team_people/help.rs"]
mod help;
#[path = "team_people/permissions.rs"]
mod permissions;
#[path = "team_people/profiles.rs"]
mod profiles;
#[path = "team_people/sessions.rs"]
mod sessions;
#[path = "team_people/signing_in.rs"]
mod signing_in;
