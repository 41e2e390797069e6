//! An upstream over streamable HTTP: every message is a POST, answered with JSON or with events.

mod body;
mod events;
mod link;

pub(crate) use link::{Head, HttpLink};
