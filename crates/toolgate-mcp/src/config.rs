//! What the wire is told by whoever starts it.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tokio::sync::watch;

use crate::{anonymous_rate::AnonymousLimits, json::limits::Limits, stream_quota::StreamLimits};

/// Everything about the wire that an operator can set.
#[derive(Clone)]
pub struct WireConfig {
    pub limits: Limits,
    /// Headers that carry a task's key, the first one first.
    pub task_headers: Vec<HeaderName>,
    /// Where callers are sent to sign in, if there is an issuer.
    pub challenge: Option<Challenge>,
    /// Even lists demand a signed-in caller.
    pub challenge_always: bool,
    pub server_name: String,
    pub server_version: String,
    /// Guidance for models on how to use this server.
    pub instructions: Option<String>,
    /// How long a client may think its list fresh.
    pub list_ttl: Duration,
    pub session_ttl: Duration,
    pub streams: StreamLimits,
    pub anonymous: AnonymousLimits,
    /// How long a call that does not say waits for a person's approval; zero is not at all.
    pub approval_wait: Duration,
    /// The master key that sessions and cursors are sealed under; the same on every replica.
    pub seal_key: Vec<u8>,
    /// Turns true when the server goes down; open streams then end in good order.
    pub shutdown: watch::Receiver<bool>,
}

impl WireConfig {
    /// The defaults. A key and a shutdown signal have none.
    pub fn new(seal_key: Vec<u8>, shutdown: watch::Receiver<bool>) -> Self {
        Self {
            limits: Limits::default(),
            task_headers: vec![
                HeaderName::from_static("x-toolgate-task-id"),
                HeaderName::from_static("x-wiggy-task-id"),
            ],
            challenge: None,
            challenge_always: false,
            server_name: "toolgate".to_owned(),
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            list_ttl: Duration::from_secs(60),
            session_ttl: Duration::from_secs(24 * 60 * 60),
            streams: StreamLimits::default(),
            anonymous: AnonymousLimits::default(),
            approval_wait: Duration::ZERO,
            seal_key,
            shutdown,
        }
    }
}

/// How a caller is asked to sign in (RFC 9728).
#[derive(Debug, Clone)]
pub struct Challenge {
    pub resource_metadata_url: String,
    pub scopes: Vec<String>,
}

impl Challenge {
    /// For a caller who is nobody, or whose credential was `rejected`.
    pub(crate) fn sign_in(&self, rejected: bool) -> Option<HeaderValue> {
        let error = if rejected { "error=\"invalid_token\", " } else { "" };
        self.header(error, &self.scopes)
    }

    /// For a caller whose credential lacks `scopes`.
    pub(crate) fn step_up(&self, scopes: &[String]) -> Option<HeaderValue> {
        self.header("error=\"insufficient_scope\", ", scopes)
    }

    fn header(&self, error: &str, scopes: &[String]) -> Option<HeaderValue> {
        let url = quotable(&self.resource_metadata_url);
        let mut value = format!("Bearer {error}resource_metadata=\"{url}\"");
        if !scopes.is_empty() {
            value.push_str(", scope=\"");
            value.push_str(&quotable(&scopes.join(" ")));
            value.push('"');
        }
        HeaderValue::try_from(value).ok()
    }
}

/// Neither an address nor a scope has quotes in it; without them nobody can end the quoted string early.
fn quotable(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '"' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_say_where_to_go_and_what_is_needed() {
        let challenge =
            Challenge { resource_metadata_url: "https://a/.well-known/x".into(), scopes: vec!["tools".into()] };
        assert_eq!(
            challenge.sign_in(false).unwrap(),
            r#"Bearer resource_metadata="https://a/.well-known/x", scope="tools""#
        );
        assert_eq!(
            challenge.sign_in(true).unwrap(),
            r#"Bearer error="invalid_token", resource_metadata="https://a/.well-known/x", scope="tools""#
        );
        assert_eq!(
            challenge.step_up(&["a".into(), "b\"".into()]).unwrap(),
            r#"Bearer error="insufficient_scope", resource_metadata="https://a/.well-known/x", scope="a b""#
        );
    }
}
