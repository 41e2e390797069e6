//! Where tools come from: a pack or an upstream.

use async_trait::async_trait;
use serde_json::value::RawValue;
use tokio::sync::watch;
use toolgate_core::{Denial, Facts, Tool};
use toolgate_store::Approval;

use crate::{ArgumentFault, Previewed, Recorded, ToolAnswer};

/// Offers raw definitions with facts, and runs recorded calls.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// The pack's or upstream's name.
    fn name(&self) -> &str;

    fn tools(&self) -> Vec<ToolOffer>;

    /// Calls the tool, gets the prompt or reads the resource that was recorded.
    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault>;

    /// Whether it has more to offer than tools.
    fn has_more(&self) -> bool {
        false
    }

    /// Completes an argument of a prompt or of a template. `params` are the request's own, without the reference.
    async fn complete(&self, call: Recorded, _params: &RawValue) -> Result<ToolAnswer, SourceFault> {
        Err(SourceFault::unsupported(&call, "completes no arguments"))
    }

    /// Watches a resource for as long as the value lives.
    async fn watch(&self, call: Recorded) -> Result<Watch, SourceFault> {
        Err(SourceFault::unsupported(&call, "tells of no changes of its resources"))
    }

    /// What a call would change, without changing anything. `None` where the source can't tell: the gate then shows the
    /// call itself, labelled so.
    async fn preview(&self, _call: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        Ok(None)
    }

    /// Takes back what an earlier call did. `undo` is what that call's answer said it takes
    /// ([`ToolAnswer::undone_by`]). A world that moved on since is a [`SourceFault::Conflict`].
    async fn undo(&self, call: Recorded, _undo: &RawValue) -> Result<ToolAnswer, SourceFault> {
        Err(SourceFault::unsupported(&call, "takes nothing back"))
    }

    /// Whether a tool of it can be a step of a plan. Not what is about the path itself.
    fn plannable(&self, _tool: &Tool) -> bool {
        true
    }

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

/// A resource that is watched. Dropped, it is watched no more.
pub struct Watch {
    /// Grows with every change.
    pub changes: watch::Receiver<u64>,
    /// Whatever must live as long.
    pub held: Box<dyn Send + Sync>,
}

/// Why a source gave no answer. What a tool itself refuses is an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceFault {
    /// It could not answer at all.
    #[error("{0}")]
    Unavailable(String),
    /// It answered with an error of the protocol.
    #[error("{message} ({code})")]
    Rejected {
        code: i64,
        message: String,
        /// JSON text.
        data: Option<String>,
    },
    /// What was done can't be taken back: it is no longer as that call left it.
    #[error("{0}")]
    Conflict(String),
    /// It wants the client to answer something first, and then the same call again.
    #[error("more input is needed")]
    InputRequired(InputRequired),
    /// It panicked: nobody knows how far it got.
    #[error("the tool failed unexpectedly")]
    Failed,
    /// A person must say yes first, and then the same call again.
    #[error("{}", denial.message)]
    NeedsApproval { denial: Denial, approval: Option<Box<Approval>> },
}

/// Questions to the client, by the source's own keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRequired {
    /// A JSON object of requests; absent where only the state is to come back.
    pub requests: Option<String>,
    /// Whatever the source wants to see again with the answers.
    pub state: Option<String>,
}

/// The answers to an [`InputRequired`], for the same call again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumed {
    /// A JSON object of responses, by the same keys.
    pub responses: Option<String>,
    pub state: Option<String>,
}

impl SourceFault {
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable(why.into())
    }

    fn unsupported(call: &Recorded, what: &str) -> Self {
        let message = format!("'{}' {what}", call.tool().source);
        Self::Rejected { code: -32601, message, data: None }
    }
}
