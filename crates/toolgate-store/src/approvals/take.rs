//! Taking a use of a grant, and giving it back.

use super::{
    Approval, Approvals, Binding,
    question::{columns, flow_is_over, live},
};
use crate::{
    StoreError,
    engine::{Touched, Write},
    statement::{Statement, Value},
};

/// One use of one grant. Made by taking it and by nothing else; it can't be copied, so it can be
/// given back once at most.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    approval: Approval,
}

impl Taken {
    /// The approval as it is after this use.
    pub fn approval(&self) -> &Approval {
        &self.approval
    }
}

/// At most one row of a binding is live, so this takes at most one use. Whoever waited for another's
/// update looks at the row again, as it is then.
const TAKE: &str = concat!(
    "UPDATE approvals SET uses_left = uses_left - 1, state = CASE WHEN uses_left > 1 THEN state ELSE 'spent' END
    WHERE binding = $1 AND ",
    live!(),
    " AND state = 'granted' AND uses_left > 0 AND expires > $2 AND NOT ",
    flow_is_over!("$2"),
    " RETURNING ",
    columns!("state")
);
/// The same of one approval alone, whatever else would cover the call.
const TAKE_NAMED: &str = concat!(
    "UPDATE approvals SET uses_left = uses_left - 1, state = CASE WHEN uses_left > 1 THEN state ELSE 'spent' END
    WHERE binding = $1 AND id = $3 AND ",
    live!(),
    " AND state = 'granted' AND uses_left > 0 AND expires > $2 AND NOT ",
    flow_is_over!("$2"),
    " RETURNING ",
    columns!("state")
);
/// Not while the same was asked for anew: then a human is looking at the new question.
const GIVE_BACK: &str = concat!(
    "UPDATE approvals SET uses_left = uses_left + 1, state = 'granted'
    WHERE id = $1 AND state IN ('granted', 'spent') AND uses_left < uses_granted
    AND (state = 'granted' OR NOT EXISTS (
        SELECT 1 FROM approvals other WHERE other.binding = approvals.binding AND other.",
    live!(),
    ")) RETURNING id"
);

impl Approvals {
    /// Takes one use of the grant for exactly this call, or else of a wide one that covers it.
    /// `None` if there is neither: never granted, expired, used up, or its flow is over.
    pub async fn take(&self, binding: &Binding, now: i64) -> Result<Option<Taken>, StoreError> {
        for digest in [Some(binding.exact()), binding.wide()].into_iter().flatten() {
            let write = Write::new(Statement::new(TAKE, [Value::Bytes(digest), Value::int(now)]));
            if let Some(approval) = self.engine.write_first("take an approval", write).await? {
                return Ok(Some(Taken { approval }));
            }
        }
        Ok(None)
    }

    /// Takes one use of the grant with this id, if it covers this call, and of no other.
    pub async fn take_named(&self, binding: &Binding, id: &str, now: i64) -> Result<Option<Taken>, StoreError> {
        for digest in [Some(binding.exact()), binding.wide()].into_iter().flatten() {
            let values = [Value::Bytes(digest), Value::int(now), Value::id(id)];
            let write = Write::new(Statement::new(TAKE_NAMED, values));
            if let Some(approval) = self.engine.write_first("take an approval", write).await? {
                return Ok(Some(Taken { approval }));
            }
        }
        Ok(None)
    }

    /// For a call that provably did not run. Whether the use is back: not if the approval ended or
    /// was asked for anew meanwhile. It expires as before.
    pub async fn give_back(&self, taken: Taken) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(GIVE_BACK, [Value::id(&taken.approval.id)]));
        match self.engine.write_first::<Touched>("give back an approval", write).await {
            Ok(touched) => Ok(touched.is_some()),
            // Asked for anew at this very moment.
            Err(StoreError::Duplicate { .. }) => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}
