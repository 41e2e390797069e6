//! Asking. Whoever asks again for the same thing gets the same approval.

use super::{
    Approval, Approvals, Binding, Wide,
    question::{columns, flow_is_over, live},
};
use crate::{
    StoreError,
    engine::Write,
    error::Fault,
    fresh,
    statement::{Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApproval {
    pub binding: Binding,
    pub owner: String,
    pub shown: String,
    pub four_eyes: bool,
    pub asked_at: i64,
    /// Until when it may be answered.
    pub expires: i64,
    pub wide: Option<Wide>,
}

/// Why nothing was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskFault {
    #[error("a wide approval is for one flow, and this call is in none; open a flow, or ask for this call alone")]
    WideWithoutFlow,
    #[error("a wide approval needs at least one use and an end that lies ahead; ask for both")]
    WideOfNothing,
    #[error("an approval that is asked for must expire later than now; give it time to be answered")]
    NoTime,
    #[error("flow '{flow}' is closed or has expired; open a new one and ask in that")]
    FlowIsOver { flow: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

const FIND: &str = concat!(
    "SELECT ",
    columns!("state"),
    " FROM approvals WHERE binding = $1 AND ",
    live!(),
    " AND expires > $2 AND NOT ",
    flow_is_over!("$2")
);
/// The asker is in the binding, and has an index.
const DENIED: &str = concat!(
    "SELECT ",
    columns!("state"),
    " FROM approvals WHERE asked_by = $1 AND binding = $2 AND state = 'denied' AND answered_at > $3
    ORDER BY asked_at DESC, id DESC LIMIT 1"
);
/// Makes room in the index of what is live.
const EXPIRE: &str =
    concat!("UPDATE approvals SET state = 'expired' WHERE binding = $1 AND ", live!(), " AND expires <= $2");
/// Where one is live it is returned; if the tool has become one for four eyes since, so has a
/// question that nobody answered yet.
const ASK: &str = concat!(
    "INSERT INTO approvals (id, state, binding, asked_by, owner, tenant, flow, tool, tool_digest, arguments_digest,
        rulebook_digest, shown, four_eyes, asked_at, expires, wide_uses, wide_until)
    SELECT $1, 'pending', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
    WHERE NOT EXISTS (SELECT 1 FROM flows WHERE id = $6 AND (closed IS NOT NULL OR expires <= $13))
    ON CONFLICT (binding) WHERE ",
    live!(),
    " DO UPDATE SET four_eyes = CASE WHEN approvals.state = 'pending'
        THEN approvals.four_eyes OR excluded.four_eyes ELSE approvals.four_eyes END
    RETURNING ",
    columns!("state")
);

impl Approvals {
    /// What was asked for this binding, as wide or for the call alone, and is pending or granted.
    pub async fn asked(&self, binding: &Binding, wide: bool, now: i64) -> Result<Option<Approval>, StoreError> {
        let Some(digest) = (if wide { binding.wide() } else { Some(binding.exact()) }) else { return Ok(None) };
        let values = [Value::Bytes(digest), Value::int(now)];
        self.engine.find("look up an approval", Statement::new(FIND, values)).await
    }

    /// The newest denial of this binding that was given after a time: as wide, or of the call alone.
    pub async fn denied_since(
        &self,
        binding: &Binding,
        wide: bool,
        since: i64,
    ) -> Result<Option<Approval>, StoreError> {
        let Some(digest) = (if wide { binding.wide() } else { Some(binding.exact()) }) else { return Ok(None) };
        let values = [Value::Id(binding.asked_by.clone()), Value::Bytes(digest), Value::int(since)];
        self.engine.find("look up a denial", Statement::new(DENIED, values)).await
    }

    /// Asks, or returns what was asked for the same binding and is pending or granted.
    pub async fn ask(&self, new: NewApproval) -> Result<Approval, AskFault> {
        let operation = "ask for an approval";
        let binding = check(&new)?;
        // Callers ask again and again while they wait: that should not write.
        let values = [Value::Bytes(binding.clone()), Value::int(new.asked_at)];
        let found = self.engine.find::<Approval>(operation, Statement::new(FIND, values)).await?;
        if let Some(found) = found.filter(|found| found.four_eyes || !new.four_eyes) {
            return Ok(found);
        }
        let id = fresh::id("appr_").map_err(|fault| fault.during(operation))?;
        let expire = [Value::Bytes(binding.clone()), Value::int(new.asked_at)];
        let flow = new.binding.flow.clone();
        let write = Write::new(Statement::new(EXPIRE, expire)).then(Statement::new(ASK, new.values(id, binding)));
        match (self.engine.write(operation, write).await?.into_iter().next(), flow) {
            (Some(approval), _) => Ok(approval),
            (None, Some(flow)) => Err(AskFault::FlowIsOver { flow: flow.chars().take(100).collect() }),
            (None, None) => Err(Fault::Other("the approval was not stored".to_owned()).during(operation).into()),
        }
    }
}

/// The digest by which it is found.
fn check(new: &NewApproval) -> Result<Vec<u8>, AskFault> {
    if new.expires <= new.asked_at {
        return Err(AskFault::NoTime);
    }
    match new.wide {
        None => Ok(new.binding.exact()),
        Some(wide) if wide.uses == 0 || wide.until <= new.asked_at => Err(AskFault::WideOfNothing),
        Some(_) => new.binding.wide().ok_or(AskFault::WideWithoutFlow),
    }
}

impl NewApproval {
    fn values(self, id: String, binding: Vec<u8>) -> [Value; 16] {
        let bound = self.binding;
        [
            Value::Id(id),
            Value::Bytes(binding),
            Value::Id(bound.asked_by),
            Value::Id(self.owner),
            Value::maybe_id(bound.tenant.as_deref()),
            Value::maybe_id(bound.flow.as_deref()),
            Value::Id(bound.tool),
            Value::digest(&bound.tool_digest),
            Value::digest(&bound.arguments_digest),
            Value::digest(&bound.rulebook_digest),
            Value::Text(Some(self.shown)),
            Value::Bool(self.four_eyes),
            Value::int(self.asked_at),
            Value::int(self.expires),
            Value::Int(self.wide.map(|wide| i64::from(wide.uses))),
            Value::Int(self.wide.map(|wide| wide.until)),
        ]
    }
}
