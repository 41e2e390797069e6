//! What the wire hands to identity, and what it gets back: the wire's own types.
//!
//! The wire knows where a credential was found and never what it means; identity knows what it means and never
//! how it travelled.

pub use toolgate_mcp::{Credentials, Identified, Identify, IdentityUnavailable, Rejection};
