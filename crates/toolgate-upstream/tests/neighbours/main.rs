//! Upstreams behind a gate, good neighbours and bad ones, over both transports and in both eras.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod asking;
mod changes;
mod children;
mod credentials;
mod elsewhere;
mod going_on;
mod input;
mod kinds;
mod logs;
mod lossless;
mod misbehaviour;
mod offers;
mod random;
mod site;
mod watching;
mod web;
