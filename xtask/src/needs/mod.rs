//! What the tests need beyond Rust. Each is found, or installed where this machine lets us, or asked for in plain words.
//!
//! A browser joins here as `chromium.rs` when there is a page to look at.

mod debian;
pub(crate) mod mdbook;
pub(crate) mod node;
pub(crate) mod postgres;
pub(crate) mod python;
