//! HTTP, stdio and identity.

pub mod checkpoints;
pub mod health_probe;
pub mod http;
pub mod identity;
pub mod metadata;
pub mod retention;
pub mod running;
pub mod session_store;
pub mod stdio;
pub mod team;
pub mod webhooks;

/// Unix milliseconds.
fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
