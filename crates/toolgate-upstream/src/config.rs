//! What the operator says about an upstream.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use toolgate_spine::Asking;

use crate::child::{ChildSandbox, ChildUser, Reaper};

/// One upstream: where it is, which of its tools are wanted, and how much one call may take.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    pub name: String,
    pub transport: Transport,
    /// Globs of tool names (`*`, `?`); none is all.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// What it may ask of clients while it runs their calls. Roots only where someone says so: a server that many share
    /// tends to take one client's folders for everybody's.
    pub ask: Vec<Asking>,
    pub timeout_ms: u64,
    /// Calls at the same time.
    pub concurrency: usize,
    /// Calls of one caller at the same time. Absent: half of those of all callers, and one at least.
    pub caller_concurrency: Option<usize>,
    /// Largest result of one call.
    pub result_bytes: usize,
    pub patience: Patience,
}

impl UpstreamConfig {
    /// With defaults for everything but the name and the place.
    pub fn new(name: &str, transport: Transport) -> Self {
        Self {
            name: name.to_owned(),
            transport,
            include: Vec::new(),
            exclude: Vec::new(),
            ask: vec![Asking::Elicitation, Asking::Sampling],
            timeout_ms: 30_000,
            concurrency: 64,
            caller_concurrency: None,
            result_bytes: 8 << 20,
            patience: Patience::default(),
        }
    }

    pub(crate) fn caller_share(&self) -> usize {
        self.caller_concurrency.unwrap_or(self.concurrency / 2).max(1)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// Longest message that is read at all: lists may be larger than one call's result.
    pub(crate) fn message_bytes(&self) -> usize {
        self.result_bytes.saturating_add(64 << 10).max(4 << 20)
    }
}

#[derive(Debug, Clone)]
pub enum Transport {
    /// A program that speaks over its standard streams. Of the gate's environment it gets what a program needs to run,
    /// and `env`.
    Child {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, SecretText>,
        cwd: Option<PathBuf>,
        /// The user it runs as; absent, the gateway's own.
        user: Option<ChildUser>,
        /// The files it can reach; absent, those that its user can.
        sandbox: Option<ChildSandbox>,
        /// Ends the child where the gateway is killed and can't.
        reaper: Option<Arc<Reaper>>,
    },
    Http {
        url: String,
        headers: Vec<(String, SecretText)>,
        /// Where the upstream takes tokens rather than a header that never changes.
        auth: Option<ClientCredentials>,
    },
}

/// OAuth's client credentials: how the gate itself signs in to an upstream. Nobody's own token ever goes there.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    /// Absent, it is found by the metadata of the authorization server.
    pub token_url: Option<String>,
    /// The authorization server. Absent, the upstream's own metadata names it, and it must have the upstream's origin.
    pub issuer: Option<String>,
    pub client_id: String,
    pub client_secret: SecretText,
    pub scopes: Vec<String>,
    /// What the token is for, by default the upstream's address; empty, it is left unsaid.
    pub resource: Option<String>,
}

/// A value that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How long to bear with an upstream that misbehaves.
#[derive(Debug, Clone)]
pub struct Patience {
    /// An upstream that does not answer `server/discover` by then is asked the older way as well.
    pub probe: Duration,
    /// From the start of a connection to its first list of tools.
    pub connect: Duration,
    /// Shortest and longest pause before connecting again.
    pub reconnect: (Duration, Duration),
    /// Failures in a row after which no more calls are let through.
    pub failures: u32,
    /// Pause until one call is let through again, as a trial.
    pub trial_after: Duration,
    /// Shortest time between two lists of one kind.
    pub relist: Duration,
    /// For a child to end once its standard input is closed, and again once it was told to.
    pub farewell: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            probe: Duration::from_secs(5),
            connect: Duration::from_secs(60),
            reconnect: (Duration::from_millis(200), Duration::from_secs(30)),
            failures: 5,
            trial_after: Duration::from_secs(10),
            relist: Duration::from_secs(1),
            farewell: Duration::from_millis(1500),
        }
    }
}
