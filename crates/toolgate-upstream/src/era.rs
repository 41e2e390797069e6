//! The two eras of the protocol: metadata on every request, or a handshake at the start.

use crate::message;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    /// The version agreed on.
    Legacy(String),
}

impl Era {
    pub(crate) fn version(&self) -> &str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(version) => version,
        }
    }

    /// `"_meta":{…}` of a request, or nothing where it would be empty.
    pub(crate) fn meta(&self, progress_token: Option<u64>) -> String {
        let token = progress_token.map(|token| format!("\"progressToken\":{token}"));
        match (self, token) {
            (Self::Legacy(_), None) => String::new(),
            (Self::Legacy(_), Some(token)) => format!("\"_meta\":{{{token}}}"),
            (Self::Modern, token) => {
                let token = token.map(|token| format!(",{token}")).unwrap_or_default();
                let (client, prefix) = (client_info(), "io.modelcontextprotocol");
                format!(
                    "\"_meta\":{{\"{prefix}/protocolVersion\":\"{MODERN}\",\"{prefix}/clientInfo\":{client},\"{prefix}/clientCapabilities\":{{}}{token}}}"
                )
            }
        }
    }
}

/// Who we say we are. No capabilities are ever declared with it: what an upstream would ask of a client is not passed on.
pub(crate) fn client_info() -> String {
    format!("{{\"name\":\"toolgate\",\"version\":{}}}", message::string(env!("CARGO_PKG_VERSION")))
}
