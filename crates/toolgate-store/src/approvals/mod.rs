//! Approvals: what a human said yes to, bound to exactly that, until it expires or is used up.
//!
//! INVARIANT: an approval only ever narrows. It is granted once, from pending; a grant is never
//! wider than what was asked for and shown; a use is taken by one caller only; with its flow it
//! ends.

mod ask;
mod binding;
mod notices;
pub(crate) mod question;
mod reply;
mod take;

use std::sync::Arc;

pub use self::{
    ask::{AskFault, NewApproval},
    binding::Binding,
    notices::{Notice, NoticeEvent, Notices},
    reply::{Answer, AnswerFault},
    take::Taken,
};
use crate::{
    Mark, Page, Paging, Scope, StoreError,
    engine::Engine,
    error::Fault,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    ApprovalState {
        Pending = "pending",
        Granted = "granted",
        Denied = "denied",
        Spent = "spent",
        Expired = "expired",
        /// Its flow was closed or expired.
        Ended = "ended",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: String,
    /// As of the time it was read for.
    pub state: ApprovalState,
    pub binding: Binding,
    /// The human who may answer by default.
    pub owner: String,
    /// What the approver sees, as JSON: redacted arguments, the preview.
    pub shown: String,
    /// Whether the one who grants must be neither the asker nor the owner.
    pub four_eyes: bool,
    pub asked_at: i64,
    /// Until when it may be answered, and once granted, until when it may be used.
    pub expires: i64,
    pub answered_by: Option<String>,
    pub answered_at: Option<i64>,
    pub reason: Option<String>,
    pub uses_left: u32,
    pub wide: Option<Wide>,
}

impl Approval {
    /// The beginning of the id that people type: the word and eight digits.
    pub fn short_id(&self) -> &str {
        let end = self.id.find('_').map_or(0, |word| word + 1) + 8;
        self.id.get(..end).unwrap_or(&self.id)
    }

    /// Whether a call with this binding is what was asked for.
    pub fn covers(&self, binding: &Binding) -> bool {
        match self.wide {
            None => self.binding == *binding,
            Some(_) => binding.flow.is_some() && self.binding.wide() == binding.wide(),
        }
    }
}

/// Asked for as wide: this tool in this flow with any arguments, at most so often, at most so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wide {
    pub uses: u32,
    pub until: i64,
}

/// Which approvals to list; what is absent does not limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    pub state: Option<ApprovalState>,
    pub owner: Option<String>,
    pub asked_by: Option<String>,
    pub flow: Option<String>,
}

pub struct Approvals {
    engine: Arc<Engine>,
}

impl Approvals {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// An approval that the scope's principal owns or asked for, as it is at this time.
    pub async fn get(&self, scope: &Scope, id: &str, now: i64) -> Result<Option<Approval>, StoreError> {
        let values = scope.values().into_iter().chain([Value::int(now), Value::id(id)]);
        self.engine.find("look up an approval", Statement::new(question::GET, values)).await
    }

    /// As they are at this time, newest first.
    pub async fn list(
        &self,
        scope: &Scope,
        filter: &ApprovalFilter,
        now: i64,
        paging: &Paging,
    ) -> Result<Page<Approval>, StoreError> {
        let limits = [
            Value::int(now),
            Value::maybe_text(filter.state.map(ApprovalState::as_str)),
            Value::maybe_id(filter.owner.as_deref()),
            Value::maybe_id(filter.asked_by.as_deref()),
            Value::maybe_id(filter.flow.as_deref()),
        ];
        let sql = match filter.state {
            Some(ApprovalState::Pending | ApprovalState::Granted) => question::LIST_LIVE,
            _ => question::LIST,
        };
        let values = scope.values().into_iter().chain(limits).chain(paging.values());
        Ok(paging.page(self.engine.read("list the approvals", Statement::new(sql, values)).await?))
    }
}

impl Listed for Approval {
    fn mark(&self) -> Mark {
        Mark { at: self.asked_at, id: self.id.clone() }
    }
}

impl FromRow for Approval {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Approval {
            id: row.text()?,
            state: ApprovalState::from_cell(row)?,
            binding: Binding {
                asked_by: row.text()?,
                tenant: row.maybe_text()?,
                flow: row.maybe_text()?,
                tool: row.text()?,
                tool_digest: row.digest()?,
                arguments_digest: row.digest()?,
                rulebook_digest: row.digest()?,
            },
            owner: row.text()?,
            shown: row.text()?,
            four_eyes: row.bool()?,
            asked_at: row.int()?,
            expires: row.int()?,
            answered_by: row.maybe_text()?,
            answered_at: row.maybe_int()?,
            reason: row.maybe_text()?,
            uses_left: row.count()?,
            wide: match (row.maybe_count()?, row.maybe_int()?) {
                (Some(uses), Some(until)) => Some(Wide { uses, until }),
                _ => None,
            },
        })
    }
}
