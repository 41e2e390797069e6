//! What becomes of a call, whichever way it ends.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_core::{Caller, Denial, Tool};
use toolgate_store::Approval;

use crate::{InputRequired, ToolAnswer, answer::OUTCOME_UNKNOWN, conclude::INTERNAL};

/// Protocol errors of a call that did not run: not read, not valid, no such method or tool, unfit arguments, an address
/// to be visited first.
const NOT_RUN: [i64; 5] = [-32700, -32600, -32601, -32602, -32042];

/// What becomes of a call.
#[derive(Debug)]
pub enum Outcome {
    /// The tool's own answer, or a preview.
    Answered(Bytes),
    /// A rule said no, and the caller may know it.
    Denied { tool: Arc<Tool>, denial: Denial, needs_identity: bool, missing_scopes: Vec<String> },
    NeedsApproval {
        tool: Arc<Tool>,
        denial: Denial,
        /// What a person can answer; absent where nothing keeps approvals.
        approval: Option<Box<Approval>>,
    },
    /// A guard said no: arguments or limits.
    Refused { tool: Arc<Tool>, code: &'static str, message: String, answer: ToolAnswer },
    /// Unknown or hidden: one branch.
    Unknown,
    /// A bound argument whose fact the caller lacks.
    Unbound { tool: Arc<Tool>, argument: String },
    /// The source could not answer.
    Unavailable { tool: Arc<Tool>, message: String },
    /// The source answered with an error of the protocol.
    Rejected {
        tool: Arc<Tool>,
        code: i64,
        message: String,
        /// JSON text.
        data: Option<String>,
    },
    /// The ledger can't take it, so nothing was done, or what was done is not on record.
    Unrecorded { message: String },
    /// The client must answer something first, and then call again.
    InputRequired { tool: Arc<Tool>, input: InputRequired },
}

impl Outcome {
    /// The tool it is about, where one was found.
    pub(crate) fn tool(&self) -> Option<&Arc<Tool>> {
        match self {
            Self::Denied { tool, .. }
            | Self::NeedsApproval { tool, .. }
            | Self::Refused { tool, .. }
            | Self::Unbound { tool, .. }
            | Self::Unavailable { tool, .. }
            | Self::Rejected { tool, .. }
            | Self::InputRequired { tool, .. } => Some(tool),
            Self::Answered(_) | Self::Unknown | Self::Unrecorded { .. } => None,
        }
    }

    /// True where a call that was let through to its tool may have taken effect, and nobody can say whether it did. Plans,
    /// receipts, undos and the ledger all take their word from here, so that they agree. What a tool itself calls a
    /// failure is an answer.
    pub(crate) fn may_have_taken_effect(&self) -> bool {
        match self {
            Self::Refused { code, .. } => {
                matches!(*code, "timed_out" | "result_too_large" | INTERNAL | OUTCOME_UNKNOWN)
            }
            Self::Unavailable { .. } | Self::Unrecorded { .. } => true,
            Self::Rejected { code, .. } => !NOT_RUN.contains(code),
            Self::Answered(_)
            | Self::Denied { .. }
            | Self::NeedsApproval { .. }
            | Self::Unknown
            | Self::Unbound { .. }
            | Self::InputRequired { .. } => false,
        }
    }

    pub(crate) fn denied(tool: Arc<Tool>, denial: Denial, caller: &Caller) -> Self {
        let missing_scopes = match denial.code.as_str() {
            // all that the tool needs at once, so that one more sign-in suffices
            "insufficient_scope" => tool.facts.oauth_scopes.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let needs_identity = denial.code == "authentication_required" && !caller.is_signed_in();
        Self::Denied { tool, denial, needs_identity, missing_scopes }
    }
}
