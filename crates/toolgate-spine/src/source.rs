//! Where tools come from: a pack or an upstream.

use async_trait::async_trait;
use serde_json::value::RawValue;
use toolgate_core::{Facts, Tool};

use crate::{ArgumentFault, Recorded, ToolAnswer};

/// Offers raw definitions with facts, and runs recorded calls.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// The pack's or upstream's name.
    fn name(&self) -> &str;

    fn tools(&self) -> Vec<ToolOffer>;

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault>;

    /// A source's own words for arguments that do not fit the schema; `None` for the gate's.
    fn word(&self, _tool: &Tool, _fault: &ArgumentFault) -> Option<ToolAnswer> {
        None
    }
}

/// A tool as its source offers it: the definition stays the source's own JSON.
#[derive(Debug, Clone)]
pub struct ToolOffer {
    /// The name in the definition.
    pub name: String,
    pub definition: Box<RawValue>,
    pub facts: Facts,
}

/// The source could not answer at all. What a tool itself refuses is an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceFault(pub String);
