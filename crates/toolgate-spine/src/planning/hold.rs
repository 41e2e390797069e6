//! Who runs a plan. A process holds one under a name of its own and renews the name while it lives, so that others see that
//! it does; who is silent for a while is taken to be gone.
//!
//! Nothing unsafe follows from being wrong about that: a plan moves from one holder to another in one step, and what the
//! former began is never begun again.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex as Lock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Mutex,
    task::AbortHandle,
    time::{Instant, sleep},
};
use toolgate_store::{Plan, PlanEnd, PlanFault, PlanState, StepEnd, Store};

use super::{PlanProblem, plan_now};
use crate::{Books, books::scope_of};

const RENEWED_EVERY: Duration = Duration::from_secs(1);
/// Several renewals, so that a busy store is not taken for a dead process.
const GONE_AFTER: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The plans that this process has in hand.
#[derive(Default)]
pub(crate) struct Planning {
    in_hand: Lock<HashSet<String>>,
    names: AtomicU64,
}

impl Planning {
    /// `None` while somebody else in this process has it.
    pub(super) fn take_in_hand(&self, plan: &str) -> Option<InHand<'_>> {
        let mut in_hand = self.in_hand.lock().unwrap_or_else(PoisonError::into_inner);
        in_hand.insert(plan.to_owned()).then(|| InHand { planning: self, plan: plan.to_owned() })
    }

    fn name(&self, writer: &str) -> String {
        format!("{writer}/{}", self.names.fetch_add(1, Ordering::Relaxed))
    }
}

/// Out of hand when it is dropped.
pub(super) struct InHand<'a> {
    planning: &'a Planning,
    plan: String,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.planning.in_hand.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.plan);
    }
}

impl InHand<'_> {
    /// Starts a plan that is approved.
    pub(super) async fn start(
        &self,
        books: &Books,
        caller: &toolgate_core::Caller,
    ) -> Result<(Hold, Plan), PlanProblem> {
        let name = self.planning.name(books.ledger.writer());
        let plan = books.store.plans().start(&scope_of(caller), &self.plan, &name).await?;
        Ok((Hold::of(books, &self.plan, name), plan))
    }

    /// Takes up a plan whose process is gone. What that one was at is unknown from then on.
    pub(super) async fn take_up(&self, books: &Books, plan: Plan) -> Result<(Hold, Plan), PlanProblem> {
        let from = plan.executor.clone().unwrap_or_default();
        let own = from.split('/').next() == Some(books.ledger.writer());
        if !own && !is_gone(books, &plan).await? {
            return Err(PlanProblem::Busy(plan.id));
        }
        let name = self.planning.name(books.ledger.writer());
        let plan = books.store.plans().take_over(&self.plan, &from, &name).await?;
        Ok((Hold::of(books, &self.plan, name), plan))
    }
}

/// Whether nobody renews its name, or ends it, for as long as it takes to be sure.
async fn is_gone(books: &Books, plan: &Plan) -> Result<bool, PlanProblem> {
    let until = Instant::now() + GONE_AFTER;
    while Instant::now() < until {
        sleep(LOOK_EVERY).await;
        let now = plan_now(books, &plan.id).await?;
        if now.state != PlanState::Running {
            return Err(PlanProblem::Over { plan: now.id, state: now.state });
        }
        if now.executor != plan.executor {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A running plan that is this process's. Dropped, it is anybody's.
pub(super) struct Hold {
    store: Store,
    plan: String,
    name: Arc<Mutex<String>>,
    renewing: AbortHandle,
}

impl Hold {
    fn of(books: &Books, plan: &str, name: String) -> Self {
        let (base, name) = (name.clone(), Arc::new(Mutex::new(name)));
        let renewed = renew(books.store.clone(), plan.to_owned(), base, Arc::clone(&name));
        let renewing = tokio::spawn(renewed).abort_handle();
        Self { store: books.store.clone(), plan: plan.to_owned(), name, renewing }
    }

    pub(super) async fn begin(&self, step: u32) -> Result<Plan, PlanFault> {
        let name = self.name.lock().await;
        self.store.plans().begin_step(&self.plan, &name, step).await
    }

    pub(super) async fn end(&self, step: u32, end: StepEnd) -> Result<Plan, PlanFault> {
        self.store.plans().end_step(&self.plan, step, end).await
    }

    pub(super) async fn finish(&self, end: PlanEnd) -> Result<Plan, PlanFault> {
        let name = self.name.lock().await;
        self.store.plans().finish(&self.plan, &name, end).await
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

/// Until the plan is not this process's any more, which is seen at the next step.
async fn renew(store: Store, plan: String, base: String, name: Arc<Mutex<String>>) {
    for count in 1_u64.. {
        sleep(RENEWED_EVERY).await;
        let mut name = name.lock().await;
        let next = format!("{base}/{count}");
        match store.plans().take_over(&plan, &name, &next).await {
            Ok(_) => *name = next,
            Err(PlanFault::Store(fault)) => tracing::warn!(plan, %fault, "a running plan could not be renewed"),
            Err(_) => return,
        }
    }
}
