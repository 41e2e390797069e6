//! Answering: once, from pending, by someone who may.

use super::{
    Approval, ApprovalState, Approvals,
    question::{columns, flow_is_over},
};
use crate::{
    Change, Scope, StoreError,
    engine::Write,
    error::Fault,
    statement::{Statement, Value},
};

/// What an approver says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// May be narrower than what was asked for, never wider. One use, unless it was asked for as
    /// wide.
    Grant {
        by: String,
        uses: u32,
        until: i64,
    },
    /// What was asked for as wide, for the call alone that asked: its arguments, one use.
    GrantOnce {
        by: String,
        until: i64,
    },
    Deny {
        by: String,
        reason: Option<String>,
    },
}

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    #[error("there is no approval '{id}' here; list the pending ones to see their ids")]
    Unknown { id: String },
    #[error("approval '{id}' was answered already: it is {state}; look at it to see by whom")]
    Answered { id: String, state: ApprovalState },
    #[error("approval '{id}' has expired; the caller has to ask again")]
    Expired { id: String },
    #[error("approval '{id}' ended with its flow; the caller has to ask again in an open one")]
    Ended { id: String },
    #[error("approval '{id}' is not yours to grant; ask its owner")]
    NotOwner { id: String },
    #[error("approval '{id}' needs four eyes: neither who asked nor the owner can grant it; ask someone else to")]
    FourEyes { id: String },
    #[error("approval '{id}' was asked for {uses} use(s){}; grant no more than that, and at least one use",
        until.map(|until| format!(" until {until}")).unwrap_or_default())]
    TooWide { id: String, uses: u32, until: Option<i64> },
    #[error("the call that asked for approval '{id}' is asked for on its own too; answer that one, and deny this")]
    AskedAlone { id: String },
    #[error("a grant of approval '{id}' must end later than now; say until when it holds")]
    Over { id: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AnswerFault {
    /// For programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown",
            Self::Answered { .. } => "answered",
            Self::Expired { .. } => "expired",
            Self::Ended { .. } => "ended",
            Self::NotOwner { .. } => "not_owner",
            Self::FourEyes { .. } => "four_eyes",
            Self::TooWide { .. } => "too_wide",
            Self::AskedAlone { .. } => "asked_alone",
            Self::Over { .. } => "over",
            Self::Store(_) => "store",
        }
    }
}

/// A principal grants what it owns, not what it asked for. What was asked for as one call is one
/// use.
const GRANT: &str = concat!(
    "UPDATE approvals SET state = 'granted', answered_by = $6, answered_at = $4, uses_granted = $7, uses_left = $7,
        expires = $8
    WHERE ",
    in_scope!("owner"),
    " AND id = $5 AND state = 'pending' AND expires > $4 AND NOT ",
    flow_is_over!("$4"),
    " AND (NOT four_eyes OR (asked_by <> $6 AND owner <> $6))
    AND $7 >= 1 AND $7 <= COALESCE(wide_uses, 1) AND $8 > $4 AND $8 <= COALESCE(wide_until, $8)
    RETURNING ",
    columns!("state")
);
/// From here on it is bound to the arguments too, as if it had been asked for like that.
const GRANT_ONCE: &str = concat!(
    "UPDATE approvals SET state = 'granted', answered_by = $6, answered_at = $4, uses_granted = 1, uses_left = 1,
        expires = $7, binding = $8, wide_uses = NULL, wide_until = NULL
    WHERE ",
    in_scope!("owner"),
    " AND id = $5 AND state = 'pending' AND expires > $4 AND NOT ",
    flow_is_over!("$4"),
    " AND (NOT four_eyes OR (asked_by <> $6 AND owner <> $6)) AND $7 > $4
    RETURNING ",
    columns!("state")
);
/// To deny takes no second pair of eyes, and who asked may withdraw: it only narrows.
const DENY: &str = concat!(
    "UPDATE approvals SET state = 'denied', answered_by = $6, answered_at = $4, reason = $7 WHERE ",
    in_scope!("owner", "asked_by"),
    " AND id = $5 AND state = 'pending' AND expires > $4 AND NOT ",
    flow_is_over!("$4"),
    " RETURNING ",
    columns!("state")
);

impl Approvals {
    /// Answers an approval that is pending, in scope, not expired and in a flow that is still open.
    /// The first answer counts. Who may answer beyond the owner is for the caller to decide and to
    /// say by a wider scope.
    pub async fn answer(&self, scope: &Scope, id: &str, answer: Answer, now: i64) -> Result<Approval, AnswerFault> {
        let operation = "answer an approval";
        let values = scope.values().into_iter().chain([Value::int(now), Value::id(id)]);
        let statement = match &answer {
            Answer::Grant { by, uses, until } => {
                let grant = [Value::id(by), Value::int(i64::from(*uses)), Value::int(*until)];
                Statement::new(GRANT, values.chain(grant))
            }
            Answer::GrantOnce { by, until } => {
                // who asked for what never changes, so that reading it first is safe
                let Some(asked) = self.get(scope, id, now).await? else {
                    return Err(AnswerFault::Unknown { id: id.chars().take(100).collect() });
                };
                let grant = [Value::id(by), Value::int(*until), Value::Bytes(asked.binding.exact())];
                Statement::new(GRANT_ONCE, values.chain(grant))
            }
            Answer::Deny { by, reason } => {
                Statement::new(DENY, values.chain([Value::id(by), Value::maybe_text(reason.as_deref())]))
            }
        };
        let write = Write::new(statement).announcing(Change::Approval { id: id.to_owned() });
        match self.engine.write_first(operation, write).await {
            Ok(Some(approval)) => Ok(approval),
            Ok(None) => Err(self.why_not(scope, id, &answer, now).await?),
            Err(StoreError::Duplicate { .. }) => Err(AnswerFault::AskedAlone { id: id.to_owned() }),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Reading afterwards is safe: what keeps an answer from counting does not go away again.
    async fn why_not(&self, scope: &Scope, id: &str, answer: &Answer, now: i64) -> Result<AnswerFault, StoreError> {
        let Some(approval) = self.get(scope, id, now).await? else {
            return Ok(AnswerFault::Unknown { id: id.chars().take(100).collect() });
        };
        let unexplained = || Fault::Other("it changed at the same time; look at it again".to_owned());
        let (id, state) = (approval.id, approval.state);
        Ok(match (state, answer) {
            (ApprovalState::Expired, _) => AnswerFault::Expired { id },
            (ApprovalState::Ended, _) => AnswerFault::Ended { id },
            (ApprovalState::Pending, Answer::Deny { .. }) => unexplained().during("answer an approval").into(),
            (ApprovalState::Pending, Answer::Grant { .. } | Answer::GrantOnce { .. }) => {
                let (by, uses, until) = match answer {
                    Answer::Grant { by, uses, until } => (by, *uses, *until),
                    Answer::GrantOnce { by, until } => (by, 1, *until),
                    Answer::Deny { .. } => return Ok(unexplained().during("answer an approval").into()),
                };
                let most = approval.wide.map_or(1, |wide| wide.uses);
                let longest = approval.wide.map(|wide| wide.until);
                if matches!(scope, Scope::Principal { principal, .. } if *principal != approval.owner) {
                    AnswerFault::NotOwner { id }
                } else if approval.four_eyes && (*by == approval.binding.asked_by || *by == approval.owner) {
                    AnswerFault::FourEyes { id }
                } else if until <= now {
                    AnswerFault::Over { id }
                } else if uses == 0 || uses > most || longest.is_some_and(|longest| until > longest) {
                    AnswerFault::TooWide { id, uses: most, until: longest }
                } else {
                    unexplained().during("answer an approval").into()
                }
            }
            _ => AnswerFault::Answered { id, state },
        })
    }
}
