//! An upstream over streamable HTTP: every message is a POST, answered with JSON or with events.

mod body;
mod credentials;
mod dial;
mod events;
mod link;
mod place;
mod pool;

pub(crate) use credentials::Credentials;
pub(crate) use link::{Head, HttpLink};
