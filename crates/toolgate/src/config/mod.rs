//! `toolgate.toml`: every key typed and documented here, once. The JSON Schema for editors is made from these types.

mod address_words;
mod approvals;
mod flows;
mod known_word;
mod load;
mod place;
mod retention;
mod server;
mod tools;
mod upstreams;

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use approvals::{Approvals, CommandLineAnswers};
pub use flows::FlowConfig;
pub use load::{ConfigProblem, DISABLED_TOOLS, load};
pub use place::{DEFAULT_FILE, with_place};
pub use retention::Retention;
pub use server::{ForwardedHeader, Server};
pub use tools::ToolConfig;
pub use upstreams::{Auth, FromEnv, FromFile, Given, Upstream, Writes, is_name, suggested_prefix};

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Language of what people read, where a request asks for none: "en" or "ja".
    pub lang: String,
    /// How names with dots are listed: "wire" (vault_move, which every client takes) or "dotted" (vault.move).
    pub naming: Naming,
    /// Plan names, lowest first.
    pub plans: Vec<String>,
    /// Tools switched off for everyone.
    pub disabled_tools: Vec<String>,
    /// Files of your own rules, or folders of `.cedar` files, relative to this file.
    pub rules: Vec<PathBuf>,
    /// Whether the answer of a write ends with a block of text that names its receipt, for models, where the caller may call `undo`.
    pub receipt_notes: bool,
    pub server: Server,
    pub limits: Limits,
    pub identity: Identity,
    pub approvals: Approvals,
    pub ledger: Ledger,
    pub retention: Retention,
    /// Flows that can be opened by name.
    pub flows: BTreeMap<String, FlowConfig>,
    /// The built-in tools to load. A file that names none loads none.
    pub packs: BTreeMap<String, Pack>,
    /// Facts about tools, by name; * stands for any characters. They override the pack's.
    pub tools: BTreeMap<String, ToolConfig>,
    /// Facts about prompts of upstreams, by name; * stands for any characters.
    pub prompts: BTreeMap<String, ToolConfig>,
    /// Facts about resources of upstreams, by address; * stands for any characters.
    pub resources: BTreeMap<String, ToolConfig>,
    /// MCP servers whose tools stand behind the gate.
    #[serde(deserialize_with = "upstreams::checked")]
    pub upstreams: Vec<Upstream>,
    pub log: Log,
}

impl Default for Config {
    /// What a file that says nothing means.
    fn default() -> Self {
        Self {
            lang: "en".to_owned(),
            naming: Naming::default(),
            plans: ["starter", "professional", "enterprise"].map(str::to_owned).to_vec(),
            disabled_tools: Vec::new(),
            rules: Vec::new(),
            receipt_notes: true,
            server: Server::default(),
            limits: Limits::default(),
            identity: Identity::default(),
            approvals: Approvals::default(),
            ledger: Ledger::default(),
            retention: Retention::default(),
            flows: BTreeMap::new(),
            packs: BTreeMap::new(),
            tools: BTreeMap::new(),
            prompts: BTreeMap::new(),
            resources: BTreeMap::new(),
            upstreams: Vec::new(),
            log: Log::default(),
        }
    }
}

impl Config {
    /// The configuration of a gateway without a file: a small demonstration.
    pub fn without_file() -> Self {
        Self {
            packs: ["admin", "gate", "spine", "todo"].map(|name| (name.to_owned(), Pack::default())).into(),
            // as in the file that `init` and `add` write: a gateway that runs need not be started again for it
            approvals: Approvals { wait: "45s".to_owned(), ..Approvals::default() },
            ..Self::default()
        }
    }

    /// The JSON Schema of the file.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Config).to_value()
    }
}

/// What is recorded of every call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ledger {
    /// The embedded store: the largest its files may grow together. At the limit no call is let through. Absent: as far as the disk goes.
    pub max_bytes: Option<u64>,
    /// The embedded store: the size from which on a new file begins. 256 MiB if absent, 512 MiB at the most.
    pub segment_bytes: Option<u64>,
    /// How often `serve` signs the last records, where `checkpoint_file` or `checkpoint_url` is set: "10m", "1h". "1h" if absent.
    pub checkpoint_every: Option<String>,
    /// A file that gets a line for each checkpoint. Keep it where whoever can write to the ledger can't.
    pub checkpoint_file: Option<PathBuf>,
    /// An address that gets a POST with the line of each checkpoint.
    pub checkpoint_url: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    #[default]
    Wire,
    Dotted,
}

/// How large a message, and how long a call, may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of a message.
    pub body_bytes: usize,
    /// Levels of nesting.
    pub depth: usize,
    /// Characters of a number.
    pub number_chars: usize,
    /// Bytes of a string.
    pub string_bytes: usize,
    /// Object keys in a message.
    pub keys: usize,
    /// Milliseconds of a call, where the tool's facts do not say.
    pub timeout_ms: u64,
    /// Bytes of a call's arguments, where the tool's facts do not say.
    pub argument_bytes: u64,
    /// Bytes of a call's result, where the tool's facts do not say.
    pub result_bytes: u64,
    /// Plans of one caller that were proposed and have not run.
    pub open_plans: u32,
    /// Flows that one caller may have open.
    pub open_flows: u32,
    /// Calls a minute of anonymous callers at one address; 0 for no limit.
    pub anonymous_per_minute: u32,
    /// Calls a minute of all anonymous callers together; 0 for no limit.
    pub anonymous_total_per_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let wire = toolgate_mcp::Limits::default();
        let call = toolgate_spine::LimitDefaults::default();
        let anonymous = toolgate_mcp::AnonymousLimits::default();
        Self {
            body_bytes: wire.body_bytes,
            depth: wire.depth,
            number_chars: wire.number_chars,
            string_bytes: wire.string_bytes,
            keys: wire.keys,
            timeout_ms: call.timeout_ms,
            argument_bytes: call.argument_bytes,
            result_bytes: call.result_bytes,
            open_plans: 100,
            open_flows: 1000,
            anonymous_per_minute: anonymous.per_minute.unwrap_or(0),
            anonymous_total_per_minute: anonymous.total_per_minute.unwrap_or(0),
        }
    }
}

/// Whose word counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// The audience of Toolgate's own tokens.
    pub audience: String,
    /// How own tokens are signed: "HS256" or "EdDSA".
    pub algorithm: String,
    /// A key file to use instead of the one in the data folder.
    pub key_file: Option<PathBuf>,
    /// The longest life of an own token: 12h, 90d; 366d at the most.
    pub max_token_ttl: String,
    /// The longest life of an operator's own token.
    pub max_operator_ttl: String,
    /// Whether lists demand a token too: "when_needed" or "always".
    pub challenge: Challenge,
    /// Headers that carry a task's key.
    pub task_headers: Vec<String>,
    /// Take public task ids in that header too. Only on a loopback listener.
    pub trust_task_ids: bool,
    /// A file whose content `coordinator_token` must equal.
    pub coordinator_token_file: Option<PathBuf>,
    /// Scopes named when a caller is asked to sign in.
    pub scopes: Vec<String>,
    /// OAuth issuers whose tokens are taken.
    pub issuers: Vec<Issuer>,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            audience: "toolgate".to_owned(),
            algorithm: "HS256".to_owned(),
            key_file: None,
            max_token_ttl: "90d".to_owned(),
            max_operator_ttl: "7d".to_owned(),
            challenge: Challenge::default(),
            task_headers: ["X-Toolgate-Task-ID", "X-Wiggy-Task-ID"].map(str::to_owned).to_vec(),
            trust_task_ids: false,
            coordinator_token_file: None,
            scopes: Vec::new(),
            issuers: Vec::new(),
        }
    }
}

impl Identity {
    /// The header that messages about a missing task name.
    pub fn named_task_header(&self) -> String {
        self.task_headers.first().cloned().unwrap_or_else(|| "X-Toolgate-Task-ID".to_owned())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Challenge {
    #[default]
    WhenNeeded,
    Always,
}

/// An OAuth issuer. Its claims count only as mapped here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// Short name; its users are written `name/subject`.
    pub name: String,
    /// The `iss` of its tokens.
    pub issuer: String,
    /// The `aud` its tokens must have for us.
    pub audience: String,
    /// Where its keys are.
    #[serde(default)]
    pub jwks_url: Option<String>,
    /// Or a file with them.
    #[serde(default)]
    pub jwks_file: Option<PathBuf>,
    /// Signature algorithms taken. Absent: what each key says.
    #[serde(default)]
    pub algorithms: Vec<String>,
    /// The longest that its keys are trusted while they can't be fetched: 30m, 4h. Absent: 4h.
    #[serde(default)]
    pub max_key_age: Option<String>,
    #[serde(default)]
    pub claims: ClaimNames,
}

/// Which claims of an issuer mean what. An absent mapping gives no such fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimNames {
    /// Absent: "sub".
    pub user: Option<String>,
    pub tenant: Option<String>,
    pub role: Option<String>,
    pub plan: Option<String>,
    pub task: Option<String>,
    /// Absent: "scope", then "scp".
    pub scopes: Option<String>,
    /// The claim and the value that make an operator: { claim = "group", value = "ops" }.
    pub operator: Option<OperatorClaim>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorClaim {
    pub claim: String,
    pub value: String,
}

/// Settings of one pack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pack {
    /// Put before every name of the pack.
    pub prefix: String,
    /// For the pack "echo": a JSON file with an array of tool definitions.
    pub definitions: Option<PathBuf>,
    /// For the pack "vault": the folder of documents.
    pub root: Option<PathBuf>,
    /// For the pack "vault": what `db.query` may ask, by name: a path of an SQLite file or postgres://…
    pub databases: BTreeMap<String, String>,
    /// For the pack "fitness": the folder of activity files, each user's own in a folder of their name. Absent: `fitness` in
    /// the data folder.
    pub files: Option<PathBuf>,
    /// For the pack "team": list its tools to everybody, marked where the caller can't call them.
    pub advertise: bool,
    /// For the pack "workspace": open to callers without a task, too.
    pub open: bool,
    /// For the pack "workspace": a folder of templates, which come before the built-in ones.
    pub templates: Option<PathBuf>,
    /// For the pack "workspace": a program and its arguments that makes the summary of a result: text on its standard
    /// input, summary on its standard output. Absent: Toolgate makes it of the text's own sentences.
    pub summarizer: Vec<String>,
}

impl Pack {
    fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.definitions.iter_mut().chain(&mut self.root).chain(&mut self.files).chain(&mut self.templates)
    }
}

/// What is written to standard error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// "error", "warn", "info", "debug" or "trace", or a filter like "info,toolgate::calls=debug".
    pub level: String,
    /// "text" or "json".
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::default() }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}
