//! Proposing: the calls are checked and kept, and nothing else happens.

use std::sync::Arc;

use toolgate_core::{Caller, Lang};
use toolgate_store::NewPlan;

use super::{PlanProblem, PlanShown, ProposedCall, call, check::check, make_room::make_room, show};
use crate::{Spine, books::now};

impl Spine {
    /// A list of calls to be run as one. Refused where this caller could not make one of them.
    pub async fn propose_plan(
        &self,
        caller: &Arc<Caller>,
        name: Option<String>,
        calls: Vec<ProposedCall>,
        lang: Lang,
    ) -> Result<PlanShown, PlanProblem> {
        let books = self.plan_books()?;
        let house = self.house();
        let mut calls = call::proposed(calls)?;
        let checked = check(&house, caller, &calls, lang)?;
        for (call, checked) in calls.iter_mut().zip(checked) {
            call.tool = checked.tool.name.to_string();
            call.arguments = checked.arguments;
        }
        let (text, digest) = call::written(&calls)?;
        make_room(books, &house, caller).await?;
        let new = NewPlan {
            name,
            owner: caller.principal(),
            tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
            flow: caller.flow.as_ref().map(|flow| flow.id.clone()),
            steps: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            calls: text,
            digest,
            created: now(),
        };
        let plan = books.store.plans().propose(new).await?;
        Ok(show::shown(&house, &plan, &calls))
    }
}
