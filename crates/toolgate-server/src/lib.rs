//! HTTP, stdio and identity.

pub mod http;
pub mod identity;
pub mod metadata;
pub mod session_store;
pub mod stdio;
pub mod webhooks;
