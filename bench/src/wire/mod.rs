//! The bench's own small HTTP/1.1 and MCP client. It keeps the load generator cheap and the checks in sight.

mod answer;
mod connection;
mod request;
mod session;

pub(crate) use connection::{Answer, Connection};
pub(crate) use request::{Caller, FIRST_ID, Request, TEXT};
pub(crate) use session::Session;
