//! The methods of MCP that are served, and what holds for each.

use toolgate_core::Kind;

use crate::era::Version;

/// A method that is served. Any other is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Discover,
    Initialize,
    Ping,
    List(Kind),
    /// Call a tool, get a prompt, read a resource.
    Use(Kind),
    Complete,
    SetLevel,
    Subscribe,
    Unsubscribe,
    Listen,
}

/// The protocols that have a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocols {
    Legacy,
    Stateless,
    Both,
}

impl Protocols {
    fn have(self, version: Version) -> bool {
        match self {
            Self::Both => true,
            Self::Stateless => version.is_modern(),
            Self::Legacy => !version.is_modern(),
        }
    }
}

/// Every method there is, the most frequent first.
const METHODS: &[(&str, Protocols, Method)] = &[
    ("tools/call", Protocols::Both, Method::Use(Kind::Tool)),
    ("tools/list", Protocols::Both, Method::List(Kind::Tool)),
    ("prompts/get", Protocols::Both, Method::Use(Kind::Prompt)),
    ("prompts/list", Protocols::Both, Method::List(Kind::Prompt)),
    ("resources/read", Protocols::Both, Method::Use(Kind::Resource)),
    ("resources/list", Protocols::Both, Method::List(Kind::Resource)),
    ("resources/templates/list", Protocols::Both, Method::List(Kind::Template)),
    ("completion/complete", Protocols::Both, Method::Complete),
    ("logging/setLevel", Protocols::Legacy, Method::SetLevel),
    ("resources/subscribe", Protocols::Legacy, Method::Subscribe),
    ("resources/unsubscribe", Protocols::Legacy, Method::Unsubscribe),
    ("initialize", Protocols::Legacy, Method::Initialize),
    ("ping", Protocols::Legacy, Method::Ping),
    ("server/discover", Protocols::Stateless, Method::Discover),
    ("subscriptions/listen", Protocols::Stateless, Method::Listen),
];

/// Names of all methods, with the protocols that have them.
pub fn methods() -> impl Iterator<Item = (&'static str, Protocols)> {
    METHODS.iter().map(|(name, protocols, _)| (*name, *protocols))
}

impl Method {
    pub(crate) fn of(version: Version, name: &str) -> Option<Self> {
        let found = METHODS.iter().find(|(method, protocols, _)| *method == name && protocols.have(version));
        found.map(|(.., method)| *method)
    }

    /// Only there where something behind the gate has more than tools.
    pub(crate) fn is_of_more(self) -> bool {
        match self {
            Self::List(kind) | Self::Use(kind) => kind != Kind::Tool,
            Self::Complete | Self::SetLevel | Self::Subscribe | Self::Unsubscribe => true,
            Self::Discover | Self::Initialize | Self::Ping | Self::Listen => false,
        }
    }

    /// Leaves a record, whatever comes of it.
    pub(crate) fn is_recorded(self) -> bool {
        matches!(self, Self::Use(_) | Self::Complete | Self::Subscribe | Self::Listen)
    }

    /// Streams and calls may last, so that their caller is identified again.
    pub(crate) fn keeps_credentials(self) -> bool {
        matches!(self, Self::Listen | Self::Use(_))
    }

    /// Answered to anyone, even where everything else demands a signed-in caller.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Discover | Self::Initialize | Self::Ping)
    }
}
