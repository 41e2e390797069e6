//! Who asks: the facts about a caller, resolved once per request from its credentials.
//!
//! Anonymous is the empty set. A fact that nothing supplied is absent, and no rule takes absence for a right.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
    hash::{DefaultHasher, Hash, Hasher},
    ops::Deref,
    str::FromStr,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::SessionDigest;

/// Everything the rulebook may know about whoever sent a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Tenant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    #[serde(default)]
    pub runtime: Runtime,
    /// OAuth scopes of the credential.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scopes: BTreeSet<String>,
    /// Runs this Toolgate: plans, tenants, global disables, upstreams. A tenant's admin is not an operator.
    #[serde(default)]
    pub operator: bool,
    /// The request names a task that is not known or has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_task: bool,
    /// The MCP session of the request, for the record alone: no rule reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionDigest>,
}

impl Caller {
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// A user, an agent, a task or the operator stands behind the request.
    pub fn is_signed_in(&self) -> bool {
        self.user.is_some() || self.agent.is_some() || self.task.is_some() || self.operator
    }

    /// The user behind the caller, as a part of its principal.
    pub fn person(&self) -> Option<String> {
        self.user.as_ref().map(|user| part("user", user.as_str()))
    }

    /// The word `help` uses for this kind of caller.
    pub fn kind(&self) -> &'static str {
        match (&self.agent, &self.task, &self.user) {
            (Some(agent), _, _) => agent.kind.as_str(),
            (None, Some(_), _) => "task",
            (None, None, Some(_)) => "user",
            (None, None, None) if self.operator => "user",
            (None, None, None) => "unauthenticated",
        }
    }

    /// Names the caller, for binding a session, a cursor or a log line to one principal; never a credential.
    ///
    /// INVARIANT: no two callers have the same principal, whatever the names are: blanks part users, agents and tasks, and
    /// a name has none.
    pub fn principal(&self) -> String {
        let mut parts: Vec<String> = self.person().into_iter().collect();
        if let Some(agent) = &self.agent {
            parts.push(part("agent", &agent.id));
        }
        if let Some(task) = &self.task {
            parts.push(part("task", &task.id));
        }
        match (parts.is_empty(), self.operator) {
            (false, _) => parts.join(" "),
            (true, true) => "operator".to_owned(),
            (true, false) => "anonymous".to_owned(),
        }
    }
}

/// One part of a principal. Blanks, control characters and the escape itself are escaped.
fn part(kind: &str, id: &str) -> String {
    let mut part = String::with_capacity(kind.len() + id.len() + 1);
    part.push_str(kind);
    part.push(':');
    for character in id.chars() {
        if character == '%' || character.is_whitespace() || character.is_control() {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // writing to a `String` can't fail
                let _ = write!(part, "%{byte:02X}");
            }
        } else {
            part.push(character);
        }
    }
    part
}

/// A user is an issuer and a subject; the subject alone says nothing across issuers.
///
/// Written `subject` for Toolgate's own tokens and `issuer/subject` for a configured issuer, whose name holds no slash.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(String);

impl UserId {
    /// A user of Toolgate's own tokens and keys. Slashes are refused: they would name another issuer's user.
    pub fn own(subject: &str) -> Result<Self, BadFact> {
        if subject.is_empty() || subject.contains('/') || subject.chars().any(char::is_control) {
            return Err(BadFact::new("user", subject, "a name without '/' and control characters"));
        }
        Ok(Self(subject.to_owned()))
    }

    /// A user of a configured issuer.
    pub fn of_issuer(issuer: &str, subject: &str) -> Result<Self, BadFact> {
        let garbled = |text: &str| text.chars().any(char::is_control);
        if issuer.is_empty() || issuer.contains('/') || subject.is_empty() || garbled(issuer) || garbled(subject) {
            return Err(BadFact::new(
                "user",
                subject,
                "an issuer name without '/' and a subject without control characters",
            ));
        }
        Ok(Self(format!("{issuer}/{subject}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tenant a user acts for, with what that tenant bought and what was switched for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tenant {
    pub id: String,
    #[serde(default)]
    pub role: Role,
    /// The plan's name; its rank comes from the configured order, an unknown one is the lowest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    #[serde(default, skip_serializing_if = "no_overrides")]
    pub overrides: Arc<Overrides>,
}

fn no_overrides(overrides: &Arc<Overrides>) -> bool {
    overrides.is_empty()
}

/// A tenant's switches: canonical tool name to on or off. Hashed once, when they are put together: a tenant may have as
/// many as there are tools, and every request of it looks its view up by them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, bool>", into = "BTreeMap<String, bool>")]
pub struct Overrides {
    hash: u64,
    by_name: BTreeMap<String, bool>,
}

impl Deref for Overrides {
    type Target = BTreeMap<String, bool>;

    fn deref(&self) -> &Self::Target {
        &self.by_name
    }
}

impl Hash for Overrides {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl From<BTreeMap<String, bool>> for Overrides {
    fn from(by_name: BTreeMap<String, bool>) -> Self {
        let mut hasher = DefaultHasher::new();
        by_name.hash(&mut hasher);
        Self { hash: if by_name.is_empty() { 0 } else { hasher.finish() }, by_name }
    }
}

impl From<Overrides> for BTreeMap<String, bool> {
    fn from(overrides: Overrides) -> Self {
        overrides.by_name
    }
}

impl FromIterator<(String, bool)> for Overrides {
    fn from_iter<I: IntoIterator<Item = (String, bool)>>(switches: I) -> Self {
        switches.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

/// An agent and, where it has one, the session it speaks from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Agent {
    pub id: String,
    pub kind: AgentKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// The id of its session, never the token. For the record alone: no rule reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The task a request is made for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Task {
    /// The public id, never the key.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    #[serde(default)]
    pub orchestrator: bool,
}

/// A call chain, narrowed to some tools or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flow {
    pub id: String,
    /// Canonical tool names. Absent: no limit. Empty: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowlist: Option<BTreeSet<String>>,
}

/// A word for a fact that is not one of its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fact} '{value}' is not {expected}")]
pub struct BadFact {
    pub fact: &'static str,
    pub value: String,
    pub expected: String,
}

impl BadFact {
    pub fn new(fact: &'static str, value: &str, expected: &str) -> Self {
        Self { fact, value: value.to_owned(), expected: expected.to_owned() }
    }
}

/// A closed set of words that is the same in configuration, tokens, rules and answers.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident ($fact:literal) { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::caller::BadFact;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::caller::BadFact::new($fact, word, concat!("one of:" $(, " ", $word)+))),
                }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a member may do for the tenant. Admin and owner administer it; billing does not.
    Role("role") { Owner = "owner", Admin = "admin", Billing = "billing", Member = "member" }
}

impl Default for Role {
    /// An unknown role is the lowest.
    fn default() -> Self {
        Self::Member
    }
}

impl Role {
    /// A role named by someone else's claim: unknown words are the lowest role, never an error.
    pub fn from_claim(word: &str) -> Self {
        Self::from_str(word).unwrap_or_default()
    }
}

words! {
    /// Where an agent stands in its hierarchy.
    AgentKind("kind") { Coordinator = "coordinator", Manager = "manager", Worker = "worker" }
}

words! {
    /// What an agent's session is for.
    Purpose("purpose") { Task = "task", Chat = "chat" }
}

words! {
    /// Where the request was made: a browser (or a credential that says so) is a client.
    Runtime("runtime") { Server = "server", Client = "client" }
}

#[allow(clippy::derivable_impls, reason = "the words! macro writes the derives")]
impl Default for Runtime {
    fn default() -> Self {
        Self::Server
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_imitates_a_principal_of_several_parts() {
        let user = |name: &str| UserId::own(name).ok();
        let agent = |id: &str| Agent {
            id: id.to_owned(),
            kind: AgentKind::Worker,
            project: None,
            purpose: None,
            session: None,
        };
        let of = |user: Option<UserId>, agent: Option<Agent>| Caller { user, agent, ..Caller::default() }.principal();
        let both = of(user("ann"), Some(agent("scribe")));
        assert_eq!(both, "user:ann agent:scribe");
        let names = ["ann agent:scribe", "ann%20agent:scribe", "ann\u{a0}agent:scribe", "ann  agent:scribe"];
        let mut all: Vec<String> = names.iter().map(|name| of(user(name), None)).collect();
        all.push(of(None, Some(agent("x task:y"))));
        all.push(both);
        assert!(all[..5].iter().all(|principal| !principal.contains(char::is_whitespace)), "{all:?}");
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
        assert_eq!(of(user("日本 太郎"), None), "user:日本%20太郎");
        assert!(UserId::of_issuer("corp", "a\nb").is_err());
    }
}
