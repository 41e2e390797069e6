//! The wire in front of a real spine: both eras, over HTTP and on stdio.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod calls;
mod credentials;
mod eras;
mod house;
mod lists;
mod requests;
mod sessions;
mod stdio;
mod streams;
