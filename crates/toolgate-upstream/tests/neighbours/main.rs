//! Upstreams behind a gate, good neighbours and bad ones, over both transports and in both eras.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod changes;
mod children;
mod kinds;
mod lossless;
mod misbehaviour;
mod random;
mod site;
mod web;
