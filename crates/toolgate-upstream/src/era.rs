//! The two eras of the protocol: metadata on every request, or a handshake at the start.

use std::{borrow::Cow, sync::LazyLock};

use http::HeaderValue;
use toolgate_spine::LogLevel;

use crate::message;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    /// The version agreed on.
    Legacy(&'static str),
}

/// What a request says about whom it is for.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) progress_token: Option<u64>,
    /// A JSON object; empty where nobody can be asked.
    pub(crate) capabilities: Option<Cow<'static, str>>,
    pub(crate) log_level: Option<LogLevel>,
}

impl Era {
    pub(crate) fn version(&self) -> &str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(version) => version,
        }
    }

    pub(crate) fn header(&self) -> HeaderValue {
        match self {
            Self::Modern => HeaderValue::from_static(MODERN),
            Self::Legacy(version) => HeaderValue::from_static(version),
        }
    }

    /// `_meta` of a request, or nothing where it would be empty.
    pub(crate) fn meta(&self, told: &Told) -> Option<String> {
        let token = told.progress_token.map(|token| format!("\"progressToken\":{token}"));
        match (self, token) {
            (Self::Legacy(_), None) => None,
            (Self::Legacy(_), Some(token)) => Some(format!("{{{token}}}")),
            (Self::Modern, token) => {
                let token = token.map(|token| format!(",{token}")).unwrap_or_default();
                let capabilities = told.capabilities.as_deref().unwrap_or("{}");
                let level = told.log_level.and_then(|level| serde_json::to_string(&level).ok());
                let level = level.map(|level| format!(",\"{PREFIX}/logLevel\":{level}")).unwrap_or_default();
                Some([&**SELF, capabilities, &level, &token, "}"].concat())
            }
        }
    }
}

const PREFIX: &str = "io.modelcontextprotocol";

/// The beginning of `_meta`, which is the same for every request.
static SELF: LazyLock<String> = LazyLock::new(|| {
    let client = client_info();
    format!(
        "{{\"{PREFIX}/protocolVersion\":\"{MODERN}\",\"{PREFIX}/clientInfo\":{client},\"{PREFIX}/clientCapabilities\":"
    )
});

/// Who we say we are: never who the caller is.
pub(crate) fn client_info() -> String {
    format!("{{\"name\":\"toolgate\",\"version\":{}}}", message::string(env!("CARGO_PKG_VERSION")))
}
