//! `[flows.NAME]`: what a flow of that name may call, whoever opens it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flow that can be opened by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlowConfig {
    /// The only tools it may call. Absent: no limit; empty: nothing.
    pub allowlist: Option<Vec<String>>,
    /// The longest it stays open, and how long where nobody says: 90s, 15m, 1h, 7d. Absent: an hour, or as it is asked for.
    pub ttl: Option<String>,
}
