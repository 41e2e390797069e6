//! The wire in front of a real spine: both eras, over HTTP and on stdio.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod addresses;
mod agreement;
mod calls;
mod completion;
mod credentials;
mod elsewhere;
mod eras;
mod events;
mod house;
mod inputs;
mod kinds;
mod lines;
mod lists;
mod logging;
mod questions_newer;
mod questions_older;
mod requests;
mod sessions;
mod source;
mod states;
mod stdio;
mod streams;
mod traces;
mod uses;
mod wares;
mod watching;
