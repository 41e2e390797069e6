//! `[[upstreams]]`: MCP servers whose tools stand behind the gate, each a command to start or an address to call.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use toolgate_spine::Asking;

/// One MCP server: either `command` or `url`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Short name, in logs and errors: of a-z, 0-9, - and _; its own among the upstreams.
    pub name: String,
    /// Put before every name of its tools.
    #[serde(default)]
    pub prefix: String,
    /// The program to start; it speaks MCP on its standard input and output.
    #[serde(default)]
    pub command: Option<String>,
    /// The program's arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// The program's variables: NAME = "text", { env = "VARIABLE" } or { file = "path" }.
    #[serde(default)]
    pub env: BTreeMap<String, Given>,
    /// The folder the program is started in, relative to this file.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The user the program runs as, where Toolgate runs as root: a name, or "UID:GID".
    #[serde(default)]
    pub user: Option<String>,
    /// The files and folders the program can reach, beside those that programs need to run; Linux with Landlock.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
    /// The MCP address of a server that runs already.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers of every request to it: NAME = "text", { env = "VARIABLE" } or { file = "path" }.
    #[serde(default)]
    pub headers: BTreeMap<String, Given>,
    /// How Toolgate signs in at a url: OAuth client credentials.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Patterns like "read_*": only tools whose own name matches one. Absent: all.
    #[serde(default)]
    pub include: Vec<String>,
    /// Patterns of tools to leave out; they win over `include`.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Addresses of resources that may be read although no list has them, like "file:///notes/*".
    #[serde(default)]
    pub addresses: Vec<String>,
    /// What it may ask of the client whose call it runs: "elicitation", "sampling", "roots". Absent: the first two.
    #[serde(default)]
    pub ask: Option<Vec<Question>>,
    /// "ask": every tool of it requires approval, unless its attributes say effect = "read" or set approval. "allow": none
    /// does by itself.
    #[serde(default)]
    pub writes: Writes,
    /// Milliseconds of a call, where the tool's facts do not say.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Calls at the same time.
    #[serde(default)]
    pub concurrency: Option<u64>,
    /// Calls of one caller at the same time. Absent: half of `concurrency`, and one at least.
    #[serde(default)]
    pub caller_concurrency: Option<u64>,
    /// false: not connected, its tools are not there.
    #[serde(default = "on")]
    pub enabled: bool,
}

/// The approval of tools that are not known to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// A call runs without approval, unless attributes or rules ask for one.
    #[default]
    Allow,
    /// A call waits for approval.
    Ask,
}

/// The files and folders a program can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// May be read, and programs in them run; relative to this file.
    #[serde(default)]
    pub read: Vec<PathBuf>,
    /// May be changed too; relative to this file.
    #[serde(default)]
    pub write: Vec<PathBuf>,
}

/// OAuth client credentials: a token of Toolgate's own for this server, fetched when it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    pub client_id: String,
    /// "text", { env = "VARIABLE" } or { file = "path" }.
    pub client_secret: Given,
    /// Where tokens come from. Absent: where the authorization server's metadata says.
    #[serde(default)]
    pub token_url: Option<String>,
    /// The authorization server, where token_url is absent. Absent: the one that the server's own metadata names, if it
    /// has the origin of the url.
    #[serde(default)]
    pub issuer: Option<String>,
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The resource the token is for (RFC 8707). Absent: the url; empty: none is named.
    #[serde(default)]
    pub resource: Option<String>,
}

/// What a server can ask of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    Elicitation,
    Sampling,
    Roots,
}

impl Question {
    pub const fn asking(self) -> Asking {
        match self {
            Self::Elicitation => Asking::Elicitation,
            Self::Sampling => Asking::Sampling,
            Self::Roots => Asking::Roots,
        }
    }
}

/// A value, or where it is read from: secrets need not stand in the configuration.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected text, { env = \"VARIABLE\" } or { file = \"path\" }")]
pub enum Given {
    /// The text itself.
    Text(String),
    Env(FromEnv),
    File(FromFile),
}

/// Read from a variable of Toolgate's own environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromEnv {
    pub env: String,
}

/// Read from a file, relative to the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromFile {
    pub file: PathBuf,
}

/// Text may be a secret, so it is never shown in logs.
impl fmt::Debug for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => out.write_str("Text(…)"),
            Self::Env(from) => from.fmt(out),
            Self::File(from) => from.fmt(out),
        }
    }
}

impl Upstream {
    /// Every path, to be made relative to the file it stands in.
    pub fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let secret = self.auth.as_mut().map(|auth| &mut auth.client_secret);
        let given = self.env.values_mut().chain(self.headers.values_mut()).chain(secret);
        let files = given.filter_map(|given| match given {
            Given::File(from) => Some(&mut from.file),
            _ => None,
        });
        let sandbox = self.sandbox.iter_mut().flat_map(|sandbox| sandbox.read.iter_mut().chain(&mut sandbox.write));
        self.cwd.iter_mut().chain(files).chain(sandbox)
    }

    fn problem(&self) -> Option<String> {
        let name = &self.name;
        if !is_name(name) {
            return Some(format!("the upstream name '{name}' is not of a-z, 0-9, - and _, 64 at most"));
        }
        let has_command_keys = !self.args.is_empty()
            || !self.env.is_empty()
            || self.cwd.is_some()
            || self.user.is_some()
            || self.sandbox.is_some();
        let what = match (&self.command, &self.url) {
            (Some(_), Some(_)) => "has both command and url; keep one",
            (None, None) => "has neither command nor url; give it one",
            (Some(command), None) if command.trim().is_empty() => "has an empty command; name a program",
            (Some(_), None) if !self.headers.is_empty() || self.auth.is_some() => {
                "has headers or auth, which are for url; a command takes env"
            }
            (None, Some(_)) if has_command_keys => {
                "has args, env, cwd, user or sandbox, which are for command; a url takes headers"
            }
            (None, Some(url)) if !is_address(url) => "has a url that is not https://… or http://…",
            _ if self.auth.as_ref().is_some_and(|auth| auth.client_id.is_empty()) => "has auth without a client_id",
            _ if self.auth.as_ref().and_then(|auth| auth.token_url.as_deref()).is_some_and(|url| !is_address(url)) => {
                "has a token_url that is not https://… or http://…"
            }
            _ if self.auth.as_ref().and_then(|auth| auth.issuer.as_deref()).is_some_and(|url| !is_address(url)) => {
                "has an issuer that is not https://… or http://…"
            }
            _ if self.auth.as_ref().is_some_and(|auth| auth.issuer.is_some() && auth.token_url.is_some()) => {
                "has both issuer and token_url; keep one"
            }
            _ if self.auth.is_some() && self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) => {
                "has auth and an Authorization header; keep one"
            }
            _ if self.env.keys().any(|name| name.is_empty() || name.contains(['=', '\0'])) => {
                "has a variable whose name is empty or has = in it"
            }
            _ if self.headers.keys().any(|name| !is_header(name)) => "has a header whose name is no header's",
            _ if [self.timeout_ms, self.concurrency, self.caller_concurrency].contains(&Some(0)) => {
                "has 0 as timeout_ms, concurrency or caller_concurrency; leave it out or give it more"
            }
            _ => return None,
        };
        Some(format!("the upstream '{name}' {what}"))
    }
}

/// Whether an upstream can be called this.
pub fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= 64 && name.bytes().all(fits)
}

/// The prefix that keeps an upstream's tools apart from others: `time-b` gives `time_b_`.
pub fn suggested_prefix(name: &str) -> String {
    format!("{}_", name.replace('-', "_"))
}

/// Upstreams, refused as one where one is wrong.
pub fn checked<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Upstream>, D::Error> {
    let upstreams = Vec::<Upstream>::deserialize(from)?;
    let mut names = BTreeSet::new();
    for upstream in &upstreams {
        if let Some(problem) = upstream.problem() {
            return Err(D::Error::custom(problem));
        }
        if !names.insert(&upstream.name) {
            return Err(D::Error::custom(format!("two upstreams are named '{}'; rename one", upstream.name)));
        }
    }
    Ok(upstreams)
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace))
}

fn is_header(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

fn on() -> bool {
    true
}
