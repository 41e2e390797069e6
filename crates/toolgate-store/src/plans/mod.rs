//! Plans: a list of calls, proposed, approved and run as one, step by step.
//!
//! INVARIANT: a plan's calls never change, and a step runs at most once: it begins from waiting,
//! and nothing makes it wait again, whoever resumes the plan.

mod fault;
mod line;
mod run;
mod step;

use std::sync::Arc;

use self::line::{Line, fold};
pub use self::{
    fault::PlanFault,
    run::PlanEnd,
    step::{Step, StepEnd, StepState},
};
use crate::{
    Mark, Page, Paging, Scope, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    page::Listed,
    statement::{Statement, Value},
};

words! {
    PlanState {
        Proposed = "proposed",
        Approved = "approved",
        Running = "running",
        Done = "done",
        Failed = "failed",
        Undone = "undone",
        /// What one of its steps did is not known.
        Unknown = "unknown",
    }
}

/// The most steps of a plan.
const MOST_STEPS: u32 = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPlan {
    pub name: Option<String>,
    pub owner: String,
    pub tenant: Option<String>,
    pub flow: Option<String>,
    /// The calls, as JSON; the store does not look inside.
    pub calls: String,
    /// How many they are.
    pub steps: u32,
    pub digest: [u8; 32],
    pub created: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub id: String,
    pub name: Option<String>,
    pub owner: String,
    pub tenant: Option<String>,
    pub flow: Option<String>,
    pub calls: String,
    pub digest: [u8; 32],
    pub state: PlanState,
    pub approval: Option<String>,
    /// The process that runs it, or ran it last.
    pub executor: Option<String>,
    pub created: i64,
    pub steps: Vec<Step>,
}

/// Which plans to list; what is absent does not limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFilter {
    pub state: Option<PlanState>,
    pub flow: Option<String>,
}

pub struct Plans {
    engine: Arc<Engine>,
}

const PROPOSE: &str = "INSERT INTO plans (id, name, owner, tenant, flow, calls, digest, state, created)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'proposed', $8) RETURNING id";
const STEPS: &str = "INSERT INTO plan_steps (plan, step, state)
    WITH RECURSIVE numbers (n) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < $2)
    SELECT $1, n, 'waiting' FROM numbers RETURNING step";

/// How long a plan that does not run is kept, in milliseconds.
const KEPT: i64 = 30 * 24 * 60 * 60 * 1000;
const FORGET_STEPS: &str = "DELETE FROM plan_steps WHERE plan IN (SELECT id FROM plans WHERE created <= $1
    AND state <> 'running')";
/// A plan that has not begun, and nothing of it: whoever begins it in between finds it gone, steps and all.
const DROP_STEPS: &str = "DELETE FROM plan_steps WHERE plan = $1
    AND EXISTS (SELECT 1 FROM plans WHERE id = $1 AND state IN ('proposed', 'approved'))";
const DROP: &str = "DELETE FROM plans WHERE id = $1 AND state IN ('proposed', 'approved') RETURNING id";

/// Not one that has steps still: another has begun or ended it at this very moment.
const FORGET: &str = "DELETE FROM plans WHERE created <= $1 AND state <> 'running'
    AND NOT EXISTS (SELECT 1 FROM plan_steps WHERE plan = plans.id)";

/// Plans and their steps in one statement, so that they fit together. The calls come with the first
/// step only.
macro_rules! plans {
    ($which:expr, $order:literal) => {
        concat!(
            "SELECT p.id, p.name, p.owner, p.tenant, p.flow, CASE WHEN s.step = 0 THEN p.calls END, p.digest, p.state,
                p.approval, p.executor, p.created, s.step, s.state, s.receipt, s.result
            FROM (SELECT * FROM plans WHERE ",
            $which,
            ") AS p JOIN plan_steps AS s ON s.plan = p.id ORDER BY ",
            $order,
            ", s.step"
        )
    };
}
const GET: &str = plans!(concat!(in_scope!("owner"), " AND id = $4"), "p.id");
macro_rules! list {
    ($indexed:literal) => {
        plans!(
            concat!(
                in_scope!("owner"),
                $indexed,
                " AND ($4 IS NULL OR state = $4) AND ($5 IS NULL OR flow = $5) AND (created, id) < ($6, $7)
                ORDER BY created DESC, id DESC LIMIT $8"
            ),
            "p.created DESC, p.id DESC"
        )
    };
}
const LIST: &str = list!("");
/// Says again what the scope says, in words that SQLite can look up.
const LIST_OF_OWNER: &str = list!(" AND owner = $3");
const RUNNING: &str = plans!("state = 'running' AND ($1 IS NULL OR executor = $1)", "p.created, p.id");

impl Plans {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Keeps a plan, and forgets those that were proposed 30 days before it or earlier and do not run.
    pub async fn propose(&self, new: NewPlan) -> Result<Plan, StoreError> {
        let operation = "propose a plan";
        if !(1..=MOST_STEPS).contains(&new.steps) {
            let reason = format!("it has {} steps; give it between 1 and {MOST_STEPS}", new.steps);
            return Err(Fault::Invalid(reason).during(operation));
        }
        let id = fresh::id("plan_").map_err(|fault| fault.during(operation))?;
        let steps = Statement::new(STEPS, [Value::id(&id), Value::int(i64::from(new.steps))]);
        let old = || [Value::int(new.created.saturating_sub(KEPT))];
        let (forget_steps, forget) = (Statement::new(FORGET_STEPS, old()), Statement::new(FORGET, old()));
        let values = [
            Value::id(&id),
            Value::Text(new.name),
            Value::Id(new.owner),
            Value::maybe_id(new.tenant.as_deref()),
            Value::maybe_id(new.flow.as_deref()),
            Value::Text(Some(new.calls)),
            Value::digest(&new.digest),
            Value::int(new.created),
        ];
        let write = Write::new(Statement::new(PROPOSE, values)).then(steps).then(forget_steps).then(forget);
        self.engine.write::<Touched>(operation, write).await?;
        let missing = || Fault::Other("the plan was not stored".to_owned()).during(operation);
        self.get(&Scope::Everything, &id).await?.ok_or_else(missing)
    }

    /// Forgets a plan that has not begun to run. Whether it did.
    pub async fn forget(&self, id: &str) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(run::HOLD, [Value::id(id)]))
            .then(Statement::new(DROP_STEPS, [Value::id(id)]))
            .then(Statement::new(DROP, [Value::id(id)]));
        Ok(!self.engine.write::<Touched>("forget a plan", write).await?.is_empty())
    }

    pub async fn get(&self, scope: &Scope, id: &str) -> Result<Option<Plan>, StoreError> {
        let values = scope.values().into_iter().chain([Value::id(id)]);
        let lines = self.engine.read::<Line>("look up a plan", Statement::new(GET, values)).await?;
        Ok(fold(lines).into_iter().next())
    }

    /// Newest first.
    pub async fn list(&self, scope: &Scope, filter: &PlanFilter, paging: &Paging) -> Result<Page<Plan>, StoreError> {
        let limits = [Value::maybe_text(filter.state.map(PlanState::as_str)), Value::maybe_id(filter.flow.as_deref())];
        let values = scope.values().into_iter().chain(limits).chain(paging.values());
        let sql = if matches!(scope, Scope::Principal { .. }) { LIST_OF_OWNER } else { LIST };
        let lines = self.engine.read::<Line>("list the plans", Statement::new(sql, values)).await?;
        Ok(paging.page(fold(lines)))
    }

    /// Plans that are running, oldest first: all, for resuming what a crash left behind, or those of
    /// one process.
    pub async fn running(&self, executor: Option<&str>) -> Result<Vec<Plan>, StoreError> {
        let statement = Statement::new(RUNNING, [Value::maybe_id(executor)]);
        Ok(fold(self.engine.read::<Line>("list the running plans", statement).await?))
    }
}

impl Listed for Plan {
    fn mark(&self) -> Mark {
        Mark { at: self.created, id: self.id.clone() }
    }
}
