//! `[retention]`: how long what is over stays in the store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long what is over stays in the store. The ledger keeps its records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days that receipts, answered or expired approvals with their notices, closed flows, and plans that do not run are kept; 0
    /// for good. What a removed receipt stands for can no longer be undone.
    pub days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self { days: 90 }
    }
}
