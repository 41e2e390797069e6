//! Retention: what is over for long is removed, a few rows at a time. The ledger keeps what was done.

use std::sync::Arc;

use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    statement::{Statement, Value},
};

/// Removes rows that nothing needs any more.
pub struct Retention {
    engine: Arc<Engine>,
}

const RECEIPTS: &str = "DELETE FROM receipts WHERE id IN (SELECT id FROM receipts
    WHERE at <= $1 AND state <> 'undoing' ORDER BY at, id LIMIT $2) RETURNING id";
/// Held until both are gone, so that none of them begins to run in between.
const HOLD_PLANS: &str = "UPDATE plans SET state = state WHERE id IN (SELECT id FROM plans
    WHERE created <= $1 AND state <> 'running' ORDER BY created, id LIMIT $2)";
const STEPS: &str = "DELETE FROM plan_steps WHERE plan IN (SELECT id FROM plans
    WHERE created <= $1 AND state <> 'running' ORDER BY created, id LIMIT $2) RETURNING step";
const PLANS: &str = "DELETE FROM plans WHERE id IN (SELECT id FROM plans WHERE created <= $1 AND state <> 'running'
    AND NOT EXISTS (SELECT 1 FROM plan_steps WHERE plan = plans.id) ORDER BY created, id LIMIT $2) RETURNING id";
/// Not one that a plan rests on.
const APPROVALS: &str = "DELETE FROM approvals WHERE id IN (SELECT id FROM approvals
    WHERE asked_at <= $1 AND expires <= $1 AND NOT EXISTS (SELECT 1 FROM plans WHERE plans.approval = approvals.id)
    ORDER BY asked_at, id LIMIT $2) RETURNING id";
const NOTICES: &str = "DELETE FROM approval_notices WHERE approval IN (SELECT approval FROM approval_notices
    WHERE claimed_until <= $1 AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.id = approval_notices.approval)
    LIMIT $2) RETURNING approval";
/// Not one that still ends an approval.
const FLOWS: &str = "DELETE FROM flows WHERE id IN (SELECT id FROM flows
    WHERE opened <= $1 AND (expires <= $1 OR closed <= $1)
    AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.flow = flows.id) ORDER BY opened, id LIMIT $2) RETURNING id";

impl Retention {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Removes what was over at `before`, at most `most` rows of each kind; returns the largest number of one kind.
    pub async fn purge(&self, before: i64, most: u32) -> Result<usize, StoreError> {
        let mut largest = 0;
        let statement = |sql| Statement::new(sql, [Value::int(before), Value::int(i64::from(most))]);
        // a plan and its steps go together: one without steps is nobody's
        let plans = Write::new(statement(HOLD_PLANS)).then(statement(STEPS)).then(statement(PLANS));
        let others = [RECEIPTS, APPROVALS, NOTICES, FLOWS].map(|sql| Write::new(statement(sql)));
        // plans first: an approval goes only once no plan rests on it
        for write in [plans].into_iter().chain(others) {
            let removed: Vec<Touched> = self.engine.write("remove what is over", write).await?;
            largest = largest.max(removed.len());
        }
        Ok(largest)
    }
}
