//! The way of a plan: proposed → approved → running → its end.

use super::{Plan, PlanFault, PlanState, Plans, StepState};
use crate::{
    Approval, Binding, Scope, StoreError,
    approvals::question::{columns, flow_is_over, live},
    engine::{Touched, Write},
    statement::{Statement, Value},
};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEnd {
    /// Every step is done.
    Done,
    /// It stopped; what is done stays done.
    Failed,
    /// It stopped, and nothing that left a receipt is left. A step that left none changed nothing that could be undone.
    Undone,
    /// What one of its steps did is not known.
    Unknown,
}

/// Taken first wherever a plan and its steps depend on each other: who holds the plan's row sees
/// the steps as they are until the end of the transaction.
pub(super) const HOLD: &str = "UPDATE plans SET state = state WHERE id = $1";

const APPROVE: &str = concat!(
    "UPDATE plans SET state = 'approved', approval = $5 WHERE ",
    in_scope!("owner"),
    " AND id = $4 AND state = 'proposed' RETURNING id"
);
/// Both rows are held by whoever approves, the approval first: what the next two statements see of them stays so.
const HOLD_APPROVAL: &str = concat!("UPDATE approvals SET state = state WHERE binding = $1 AND ", live!());
const APPROVE_WITH: &str = concat!(
    "UPDATE plans SET state = 'approved', approval = yes.named FROM (SELECT id AS named FROM approvals WHERE binding = $5 AND ",
    live!(),
    " AND state = 'granted' AND uses_left > 0 AND expires > $6 AND NOT ",
    flow_is_over!("$6"),
    ") AS yes WHERE ",
    in_scope!("owner"),
    " AND id = $4 AND state = 'proposed' RETURNING id"
);
/// Of this plan's own yes, which has one use: what was taken before is not taken again.
const TAKE: &str = concat!(
    "UPDATE approvals SET uses_left = uses_left - 1, state = CASE WHEN uses_left > 1 THEN state ELSE 'spent' END
    WHERE binding = $1 AND state = 'granted' AND uses_left > 0
    AND id = (SELECT approval FROM plans WHERE id = $2 AND state = 'approved') RETURNING ",
    columns!("state")
);
const START: &str = concat!(
    "UPDATE plans SET state = 'running', executor = $5 WHERE ",
    in_scope!("owner"),
    " AND id = $4 AND state = 'approved' RETURNING id"
);
const TAKE_OVER: &str =
    "UPDATE plans SET executor = $3 WHERE id = $1 AND state = 'running' AND executor = $2 RETURNING id";
const FINISH: &str = "UPDATE plans SET state = $3 WHERE id = $1 AND state = 'running' AND executor = $2
    AND NOT EXISTS (SELECT 1 FROM plan_steps WHERE plan = $1 AND (state = 'running'
        OR ($3 = 'done' AND state <> 'done')
        OR ($3 IN ('failed', 'undone') AND state = 'unknown')
        OR ($3 = 'undone' AND state = 'done' AND receipt IS NOT NULL)))
    AND EXISTS (SELECT 1 FROM plan_steps WHERE plan = $1)
    RETURNING id";
const UNDO: &str = "UPDATE plans SET state = 'undone' WHERE id = $1 AND state IN ('done', 'failed')
    AND NOT EXISTS (SELECT 1 FROM plan_steps WHERE plan = $1
        AND (state IN ('running', 'unknown') OR (state = 'done' AND receipt IS NOT NULL)))
    RETURNING id";

impl PlanEnd {
    fn state(self) -> PlanState {
        match self {
            PlanEnd::Done => PlanState::Done,
            PlanEnd::Failed => PlanState::Failed,
            PlanEnd::Undone => PlanState::Undone,
            PlanEnd::Unknown => PlanState::Unknown,
        }
    }
}

impl Plans {
    /// From proposed to approved. `None` says that nothing in the plan needs an approval.
    pub async fn approve(&self, scope: &Scope, id: &str, approval: Option<&str>) -> Result<Plan, PlanFault> {
        let values = scope.values().into_iter().chain([Value::id(id), Value::maybe_id(approval)]);
        self.advance(scope, id, PlanState::Approved, Write::new(Statement::new(APPROVE, values))).await
    }

    /// From proposed to approved by the yes to exactly this plan, which is used up by it: both or neither. `None` if there
    /// is no such yes, or the plan is not proposed any more.
    pub async fn approve_with(
        &self,
        scope: &Scope,
        id: &str,
        binding: &Binding,
        now: i64,
    ) -> Result<Option<Approval>, StoreError> {
        let exact = || Value::Bytes(binding.exact());
        let approve = scope.values().into_iter().chain([Value::id(id), exact(), Value::int(now)]);
        let write = Write::new(Statement::new(HOLD_APPROVAL, [exact()]))
            .then(Statement::new(APPROVE_WITH, approve))
            .then(Statement::new(TAKE, [exact(), Value::id(id)]));
        Ok(self.engine.write("approve a plan", write).await?.into_iter().next())
    }

    /// From approved to running, by the process that will run it: a name that no other process has,
    /// nor this one after a restart.
    pub async fn start(&self, scope: &Scope, id: &str, executor: &str) -> Result<Plan, PlanFault> {
        let values = scope.values().into_iter().chain([Value::id(id), Value::id(executor)]);
        self.advance(scope, id, PlanState::Running, Write::new(Statement::new(START, values))).await
    }

    /// Makes a running plan this process's own, if it is still that of the one that is gone. A step
    /// that the other left running may have taken effect: end it as unknown.
    pub async fn take_over(&self, id: &str, from: &str, executor: &str) -> Result<Plan, PlanFault> {
        let values = [Value::id(id), Value::id(from), Value::id(executor)];
        let (plan, moved) = self.change(&Scope::Everything, id, Write::new(Statement::new(TAKE_OVER, values))).await?;
        match plan.state {
            _ if moved => Ok(plan),
            PlanState::Running => Err(PlanFault::Elsewhere { id: plan.id }),
            _ => Err(PlanFault::state(plan, PlanState::Running)),
        }
    }

    /// Ends a run, by the process that ran it. No step may be running, and the steps must bear out
    /// how it is said to have ended.
    pub async fn finish(&self, id: &str, executor: &str, end: PlanEnd) -> Result<Plan, PlanFault> {
        let values = [Value::id(id), Value::id(executor), Value::text(end.state().as_str())];
        let write = Write::new(Statement::new(HOLD, [Value::id(id)])).then(Statement::new(FINISH, values));
        let (plan, moved) = self.change(&Scope::Everything, id, write).await?;
        match plan.state {
            _ if moved => Ok(plan),
            PlanState::Running if plan.executor.as_deref() != Some(executor) => {
                Err(PlanFault::Elsewhere { id: plan.id })
            }
            PlanState::Running => Err(at_odds(plan, end.state())),
            _ => Err(PlanFault::state(plan, end.state())),
        }
    }

    /// From done or failed to undone, once nothing that was done is left.
    pub async fn undone(&self, id: &str) -> Result<Plan, PlanFault> {
        let write = Write::new(Statement::new(HOLD, [Value::id(id)])).then(Statement::new(UNDO, [Value::id(id)]));
        let (plan, moved) = self.change(&Scope::Everything, id, write).await?;
        match plan.state {
            _ if moved => Ok(plan),
            PlanState::Done | PlanState::Failed => Err(at_odds(plan, PlanState::Undone)),
            _ => Err(PlanFault::state(plan, PlanState::Undone)),
        }
    }

    async fn advance(&self, scope: &Scope, id: &str, wanted: PlanState, write: Write) -> Result<Plan, PlanFault> {
        let (plan, moved) = self.change(scope, id, write).await?;
        if moved { Ok(plan) } else { Err(PlanFault::state(plan, wanted)) }
    }

    /// The plan afterwards, and whether the last statement changed anything.
    pub(super) async fn change(&self, scope: &Scope, id: &str, write: Write) -> Result<(Plan, bool), PlanFault> {
        let moved = !self.engine.write::<Touched>("change a plan", write).await?.is_empty();
        let plan = self.get(scope, id).await?.ok_or_else(|| PlanFault::unknown(id))?;
        Ok((plan, moved))
    }
}

/// The first step that says otherwise.
fn at_odds(plan: Plan, wanted: PlanState) -> PlanFault {
    let step = plan.steps.iter().find(|step| match (wanted, step.state) {
        (_, StepState::Running) => true,
        (PlanState::Done, state) => state != StepState::Done,
        (PlanState::Failed | PlanState::Undone, StepState::Unknown) => true,
        (PlanState::Undone, StepState::Done) => step.receipt.is_some(),
        _ => false,
    });
    match step.map(|step| (step.index, step.state)) {
        Some((step, state)) => PlanFault::Steps { id: plan.id, wanted, step, state },
        None => PlanFault::unexplained("end a plan"),
    }
}
