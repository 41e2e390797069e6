//! Who is asking, from the outside: credentials in, caller out.

#![allow(unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod issuer;

#[path = "identity/api_keys.rs"]
mod api_keys;
#[path = "identity/attempts.rs"]
mod attempts;
#[path = "identity/combination.rs"]
mod combination;
#[path = "identity/issuers.rs"]
mod issuers;
#[path = "identity/key_files.rs"]
mod key_files;
#[path = "identity/over_store.rs"]
mod over_store;
#[path = "identity/own_tokens.rs"]
mod own_tokens;
#[path = "identity/properties.rs"]
mod properties;
#[path = "identity/rotation.rs"]
mod rotation;
#[path = "identity/tasks.rs"]
mod tasks;
#[path = "identity/tenants.rs"]
mod tenants;
#[path = "identity/world.rs"]
mod world;
