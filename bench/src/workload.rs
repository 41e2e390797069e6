//! What is measured: the workloads, the protocol eras and the numbers of connections.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The number of connections the targets are about.
pub(crate) const HEADLINE: usize = 16;
pub(crate) const CONNECTIONS: [usize; 3] = [1, HEADLINE, 64];
/// Tools in the catalogue of the cold view.
pub(crate) const COLD_TOOLS: usize = 10_000;
/// Upstreams of the start, and the tools of each.
pub(crate) const UPSTREAMS: usize = 20;
pub(crate) const TOOLS_EACH: usize = 50;
/// Tools where there are many tenants, and how many of them each tenant has off.
pub(crate) const TENANT_TOOLS: usize = 1_000;
pub(crate) const SWITCHED_OFF: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
pub(crate) enum Workload {
    /// The first list of a caller class, 10,000 tools.
    #[value(name = "W0")]
    W0,
    /// tools/list, 20 tools.
    #[value(name = "W1")]
    W1,
    /// tools/list, 500 tools.
    #[value(name = "W2")]
    W2,
    /// tools/call of `echo`, 200 bytes of text.
    #[value(name = "W3")]
    W3,
    /// The same call, passed on to an upstream of the newer era.
    #[value(name = "W4")]
    W4,
    /// The same, to an upstream of the older era.
    #[value(name = "W4-old")]
    W4Old,
    /// Starting with 20 upstreams of 50 tools each.
    #[value(name = "W5")]
    W5,
    /// What a team's tools read, as its tasks and messages grow.
    #[value(name = "W6")]
    W6,
    /// tools/list of one of many tenants, 1,000 tools.
    #[value(name = "W7")]
    W7,
    /// tools/call of one of them.
    #[value(name = "W7-call")]
    W7Call,
}

impl Workload {
    /// Workloads without upstreams, by the server that is asked.
    pub(crate) const LOADED: [&[Self]; 2] = [&[Self::W1, Self::W3], &[Self::W2]];
    /// Workloads with one.
    pub(crate) const PASSED_ON: [Self; 2] = [Self::W4, Self::W4Old];

    pub(crate) fn tools(self) -> usize {
        match self {
            Self::W0 => COLD_TOOLS,
            Self::W2 => 500,
            Self::W1 | Self::W3 | Self::W4 | Self::W4Old => 20,
            Self::W5 => UPSTREAMS * TOOLS_EACH,
            Self::W6 => 0,
            Self::W7 | Self::W7Call => TENANT_TOOLS - SWITCHED_OFF,
        }
    }

    pub(crate) fn work(self) -> Work {
        match self {
            Self::W3 | Self::W4 | Self::W4Old | Self::W7Call => Work::Call,
            Self::W0 | Self::W1 | Self::W2 | Self::W5 | Self::W6 | Self::W7 => Work::List,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::W0 => "W0 cold view",
            Self::W1 => "W1 list 20",
            Self::W2 => "W2 list 500",
            Self::W3 => "W3 call",
            Self::W4 => "W4 pass on",
            Self::W4Old => "W4 pass on, older upstream",
            Self::W5 => "W5 start",
            Self::W6 => "W6 growth",
            Self::W7 => "W7 list of a tenant",
            Self::W7Call => "W7 call of a tenant",
        }
    }
}

/// The request that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    List,
    Call,
}

impl Work {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::List => "tools/list",
            Self::Call => "tools/call",
        }
    }
}

/// How a caller speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Era {
    /// JSON-RPC without anything of MCP around it; only the limit is asked this way.
    #[value(name = "raw")]
    #[serde(rename = "raw")]
    Raw,
    /// 2025-11-25: `initialize` and one session per connection.
    #[value(name = "2025")]
    #[serde(rename = "2025")]
    Sessions,
    /// 2026-07-28: stateless, facts of the client in `_meta` and mirrored headers.
    #[value(name = "2026")]
    #[serde(rename = "2026")]
    Stateless,
}

impl Era {
    pub(crate) const SPOKEN: [Self; 2] = [Self::Sessions, Self::Stateless];

    /// The eras in the order of one repetition: a server that has just started does worse, and each era bears that in turn.
    pub(crate) fn turns(repetition: usize) -> [Self; 2] {
        let [older, newer] = Self::SPOKEN;
        if repetition % 2 == 1 { [older, newer] } else { [newer, older] }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Sessions => "2025",
            Self::Stateless => "2026",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_era_is_first_in_every_other_repetition() {
        assert_eq!(Era::turns(1), [Era::Sessions, Era::Stateless]);
        assert_eq!(Era::turns(2), [Era::Stateless, Era::Sessions]);
        assert_eq!(Era::turns(3), Era::turns(1));
    }
}
