//! An upstream over streamable HTTP: every message is a POST, answered with JSON or with events.

mod body;
mod credentials;
mod events;
mod link;

pub(crate) use credentials::Credentials;
pub(crate) use link::{Head, HttpLink};
