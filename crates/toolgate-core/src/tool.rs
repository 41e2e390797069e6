//! What can be called: a tool's definition exactly as its source gave it, and the operator's facts about it.

use std::{collections::BTreeMap, collections::BTreeSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::caller::{Runtime, words};

/// One registered tool, or something else that a source offers under the same gate: a prompt, a resource.
#[derive(Debug, Clone)]
pub struct Tool {
    pub kind: Kind,
    /// The canonical name (`vault.move`); a resource's is its address.
    pub name: ToolName,
    /// The name on the wire (`vault_move` unless names are listed dotted).
    pub wire_name: ToolName,
    /// The name its source knows it by: the canonical one without a configured prefix.
    pub own_name: ToolName,
    /// The pack or upstream that runs it.
    pub source: Arc<str>,
    /// The definition as its source gave it, byte for byte.
    pub definition: Arc<RawValue>,
    pub facts: Facts,
}

impl Tool {
    /// How allowlists and overrides name it: a tool by its name, anything else with its kind before it, so that a prompt
    /// is never let in by a tool of the same name.
    pub fn found_in<T>(&self, names: impl Fn(&str) -> Option<T>) -> Option<T> {
        match self.kind {
            Kind::Tool => names(self.name.as_str()).or_else(|| names(self.wire_name.as_str())),
            Kind::Prompt => names(&format!("prompt:{}", self.name)),
            Kind::Resource | Kind::Template | Kind::Address => names(&format!("resource:{}", self.name)),
        }
    }

    /// `Tool 'vault_move'`, to begin a sentence with.
    pub fn called(&self) -> String {
        format!("{} '{}'", self.kind.word(crate::Lang::En), self.wire_name)
    }

    /// Bound arguments that nothing known of the caller fills.
    pub fn unbound<'a>(&'a self, caller: &'a crate::Caller) -> impl Iterator<Item = &'a str> {
        let missing = |binding: &Binding| binding.value(caller).is_none();
        self.facts.bind.iter().filter(move |(_, binding)| missing(binding)).map(|(argument, _)| argument.as_str())
    }
}

/// Whether an allowlist's entry names a prompt or a resource. Those come and go with their servers, so any name may be one.
pub fn is_of_more(entry: &str) -> bool {
    entry.starts_with("prompt:") || entry.starts_with("resource:")
}

/// A canonical or wire name of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// 1 to 128 of `[A-Za-z0-9_.-]`, as the protocol has it.
    pub fn new(name: &str) -> Result<Self, BadToolName> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if name.is_empty() || name.len() > 128 || !name.chars().all(plain) {
            return Err(BadToolName(name.chars().take(140).collect()));
        }
        Ok(Self(name.into()))
    }

    /// A prompt's name or a resource's address: those may be of any characters.
    pub fn free(name: &str) -> Result<Self, BadToolName> {
        if name.is_empty() || name.len() > 4096 {
            return Err(BadToolName(name.chars().take(140).collect()));
        }
        Ok(Self(name.into()))
    }

    /// The form that widely used clients accept: dots become underscores.
    pub fn to_wire(&self) -> Self {
        if self.0.contains('.') { Self(self.0.replace('.', "_").into()) } else { self.clone() }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text, to be kept.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool name '{0}' is not 1 to 128 of letters, digits, '_', '.' and '-'")]
pub struct BadToolName(pub String);

/// The operator's facts about a tool. A pack ships them, configuration may override each.
///
/// The default is what an unknown tool gets: for signed-in callers, hidden from others, writing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Facts {
    pub permission: Permission,
    pub scope: Scope,
    /// Listed for every caller of no tenant, marked where the caller can't call it.
    pub advertised: bool,
    pub effect: Effect,
    pub approval: Approval,
    pub runtimes: BTreeSet<Runtime>,
    /// Name of the lowest plan; absent is the lowest there is.
    pub min_plan: Option<String>,
    /// On for a tenant without an override.
    pub enabled_by_default: bool,
    /// Switched off for everyone.
    pub disabled: bool,
    pub when_denied: WhenDenied,
    /// Whether `help` may name the tool to a caller who can't use it.
    pub help_names: bool,
    /// OAuth scopes the credential must carry.
    pub oauth_scopes: BTreeSet<String>,
    /// Only callable within a flow.
    pub requires_flow: bool,
    /// The catalogue's category.
    pub group: Option<String>,
    /// Arguments filled from the caller and removed from the listed schema.
    pub bind: BTreeMap<String, Binding>,
    pub limits: Limits,
    /// JSON pointers into arguments and results whose values are never recorded or shown.
    pub redact: BTreeSet<String>,
    /// Whoever approves a call must be someone else than who asked.
    pub four_eyes: bool,
    /// How what a call did is taken back, where its source has no way of its own.
    pub undo: Option<Undoing>,
    /// The tool that shows what a call would do.
    pub preview: Option<Counterpart>,
    /// An example call for `help`, as JSON.
    pub example: Option<Example>,
    /// Descriptions in other languages, by language code.
    pub descriptions: BTreeMap<String, String>,
    /// Texts of parameters and of the example in other languages: by language code, and by the text in English.
    pub phrases: BTreeMap<String, Phrases>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            permission: Permission::SignedIn,
            scope: Scope::Shared,
            advertised: false,
            effect: Effect::Write,
            approval: Approval::None,
            runtimes: Runtime::ALL.iter().copied().collect(),
            min_plan: None,
            enabled_by_default: true,
            disabled: false,
            when_denied: WhenDenied::Hidden,
            help_names: false,
            oauth_scopes: BTreeSet::new(),
            requires_flow: false,
            group: None,
            bind: BTreeMap::new(),
            limits: Limits::default(),
            redact: BTreeSet::new(),
            four_eyes: false,
            undo: None,
            preview: None,
            example: None,
            descriptions: BTreeMap::new(),
            phrases: BTreeMap::new(),
        }
    }
}

/// A call of another tool that goes with a call of this one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Counterpart {
    /// Its canonical or wire name.
    pub tool: String,
    /// JMESPath over the call's `input` and, once it has run, its `output`: gives the arguments.
    pub arguments: String,
}

/// How what a call did is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Undoing {
    By(Counterpart),
    /// Not at all, and why.
    Never(String),
}

/// An example's arguments: JSON text, compared and hashed as such.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Example(pub String);

/// How much one call may take. Absent is the server's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub timeout_ms: Option<u64>,
    pub argument_bytes: Option<u64>,
    pub result_bytes: Option<u64>,
    /// What becomes of a result that is larger.
    pub result: WhenTooLarge,
    /// Calls at the same time, over all callers.
    pub concurrency: Option<u32>,
    /// Calls at the same time, for each caller.
    pub caller_concurrency: Option<u32>,
    /// Calls a minute, for each caller.
    pub per_minute: Option<u32>,
    /// Calls a minute, over all callers.
    pub total_per_minute: Option<u32>,
}

words! {
    /// What becomes of a result that is larger than its tool may give.
    WhenTooLarge("result") {
        Refuse = "refuse",
        /// Its beginning goes out, with a link to the whole.
        Cut = "cut",
    }
}

#[allow(clippy::derivable_impls, reason = "the words! macro writes the derives")]
impl Default for WhenTooLarge {
    fn default() -> Self {
        Self::Refuse
    }
}

words! {
    /// What a source can offer. Rules and facts apply to each in the same way.
    Kind("kind") {
        Tool = "tool",
        Prompt = "prompt",
        Resource = "resource",
        /// A pattern of resources, as its source lists it.
        Template = "template",
        /// A pattern of resources that the operator has facts about; on no list.
        Address = "address",
    }
}

impl Kind {
    /// The type that rules know it by.
    pub const fn entity(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
            Self::Resource | Self::Template | Self::Address => "Resource",
        }
    }

    /// For people.
    pub(crate) const fn word(self, lang: crate::Lang) -> &'static str {
        match (self.entity().as_bytes(), lang) {
            (b"Tool", crate::Lang::En) => "Tool",
            (b"Tool", crate::Lang::Ja) => "ツール",
            (b"Prompt", crate::Lang::En) => "Prompt",
            (b"Prompt", crate::Lang::Ja) => "プロンプト",
            (_, crate::Lang::En) => "Resource",
            (_, crate::Lang::Ja) => "リソース",
        }
    }
}

words! {
    /// Who may use a tool: the seven of the agent hierarchy, and two of ours.
    Permission("permission") {
        Unauthenticated = "unauthenticated",
        CoordinatorOnly = "coordinator_only",
        ManagerOnly = "manager_only",
        WorkerOnly = "worker_only",
        /// An agent session, manager or worker.
        Authenticated = "authenticated",
        ChatOnly = "chat_only",
        TaskOnly = "task_only",
        /// Any identified caller: user, agent or task.
        SignedIn = "signed_in",
        /// An admin or owner of the tenant, or the operator.
        AdminOnly = "admin_only",
        /// Whoever runs this Toolgate.
        OperatorOnly = "operator_only",
    }
}

words! {
    /// Which tasks may use a tool.
    Scope("scope") {
        /// Callers without a task too.
        Shared = "shared",
        /// Any task, and nobody without one.
        Task = "task",
        Orchestrator = "orchestrator",
    }
}

words! {
    /// What a call does to the world.
    Effect("effect") { Read = "read", Write = "write", Log = "log" }
}

words! {
    Approval("approval") { None = "none", Required = "required" }
}

words! {
    /// What a caller who may not use a tool learns of it on a call.
    WhenDenied("when_denied") { Hidden = "hidden", Explained = "explained" }
}

words! {
    /// The caller fact that fills a bound argument.
    Binding("bind") {
        User = "caller.user",
        Tenant = "caller.tenant",
        Agent = "caller.agent",
        Project = "caller.project",
        Task = "caller.task",
        Process = "caller.process",
        Flow = "caller.flow",
    }
}

impl Binding {
    /// The caller's value for this binding, if it has one.
    pub fn value(self, caller: &crate::Caller) -> Option<&str> {
        match self {
            Self::User => caller.user.as_ref().map(|user| user.as_str()),
            Self::Tenant => caller.tenant.as_ref().map(|tenant| tenant.id.as_str()),
            Self::Agent => caller.agent.as_ref().map(|agent| agent.id.as_str()),
            Self::Project => caller.agent.as_ref().and_then(|agent| agent.project.as_deref()),
            Self::Task => caller.task.as_ref().map(|task| task.id.as_str()),
            Self::Process => caller.task.as_ref().and_then(|task| task.process.as_deref()),
            Self::Flow => caller.flow.as_ref().map(|flow| flow.id.as_str()),
        }
    }
}

/// Texts in another language, by their English.
pub type Phrases = BTreeMap<String, String>;
