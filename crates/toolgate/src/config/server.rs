//! `[server]`: where and to whom Toolgate answers, and what its clients may hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address_words::{host_names, listen_address};

/// Where and to whom Toolgate answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Address and port.
    #[serde(deserialize_with = "listen_address")]
    pub listen: String,
    /// The MCP address as clients reach it, if a proxy stands in front: `https://tools.example/mcp`.
    pub public_url: Option<String>,
    /// Names in `Host` that are let in, beside loopback.
    #[serde(deserialize_with = "host_names")]
    pub hosts: Vec<String>,
    /// Browser origins that are let in, beside loopback: `https://app.example`.
    pub origins: Vec<String>,
    /// Connections at the same time, as far as the process may open files.
    pub connections: usize,
    /// Connections of one address at the same time. Absent: a quarter of `connections`.
    pub connections_per_address: Option<usize>,
    /// Proxies whose word on the client's address counts: addresses and ranges, such as 10.0.0.0/8. They may have any number of
    /// connections.
    pub trusted_proxies: Vec<String>,
    /// The header in which those proxies name the client: "x-forwarded-for" or "forwarded".
    pub forwarded_header: ForwardedHeader,
    /// Messages answered at the same time; beyond them clients are told to try again. Neither open streams nor calls that wait
    /// count.
    pub max_in_flight: usize,
    /// Calls that wait for a person or for news at the same time; beyond them calls are answered without waiting.
    pub max_waiting: usize,
    /// The same for one caller.
    pub max_waiting_per_caller: usize,
    /// Streams that one signed-in caller may have open.
    pub streams_per_caller: usize,
    /// Streams that all anonymous callers may have open together; one address may have an eighth of them.
    pub anonymous_streams: usize,
    /// Bytes of messages that are being read or answered. One address may have a quarter of them; half are for signed-in callers
    /// alone.
    pub body_budget_bytes: usize,
    /// Tools on one page of a list.
    pub page_size: usize,
    /// Kinds of callers whose view is kept, and tenants whose plan and overrides are.
    pub kept_views: usize,
    /// Bytes of lists that are kept ready to send.
    pub kept_page_bytes: u64,
    /// Told to models when they connect.
    pub instructions: Option<String>,
    /// Seconds that calls under way have to finish when the server stops.
    pub grace_seconds: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8484".to_owned(),
            public_url: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            connections: 10_000,
            connections_per_address: None,
            trusted_proxies: Vec::new(),
            forwarded_header: ForwardedHeader::default(),
            max_in_flight: 4096,
            max_waiting: 16_384,
            max_waiting_per_caller: 256,
            streams_per_caller: 1000,
            anonymous_streams: 1000,
            body_budget_bytes: 256 << 20,
            page_size: 1000,
            kept_views: 1000,
            kept_page_bytes: 64 << 20,
            instructions: None,
            grace_seconds: 30,
        }
    }
}

/// The header in which a proxy names the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    #[default]
    XForwardedFor,
    Forwarded,
}
