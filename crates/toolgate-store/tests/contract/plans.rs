use toolgate_store::{
    NewPlan, Paging, Plan, PlanEnd, PlanFault, PlanFilter, PlanState, Plans, Scope, Step, StepEnd, StepState,
    StoreError,
};

use crate::bed::Bed;

const ALL: Scope = Scope::Everything;

pub(crate) fn plan(steps: u32, created: i64) -> NewPlan {
    NewPlan {
        name: Some("tidy up".to_owned()),
        owner: "user:ann".to_owned(),
        tenant: None,
        flow: None,
        calls: r#"[{"tool":"vault.move"}]"#.to_owned(),
        steps,
        digest: [5; 32],
        created,
    }
}

/// A plan that runs in process `p1`.
pub(crate) async fn running(plans: &Plans, steps: u32) -> String {
    let id = plans.propose(plan(steps, 1)).await.unwrap().id;
    plans.approve(&ALL, &id, Some("appr_1")).await.unwrap();
    plans.start(&ALL, &id, "p1").await.unwrap();
    id
}

pub(crate) fn good() -> StepEnd {
    StepEnd::Done { receipt: Some("rcpt_1".to_owned()), result: Some("{}".to_owned()) }
}

/// Runs a step to its end.
pub(crate) async fn step(plans: &Plans, id: &str, index: u32, end: StepEnd) {
    plans.begin_step(id, "p1", index).await.unwrap();
    plans.end_step(id, index, end).await.unwrap();
}

fn refused(id: &str, state: PlanState, wanted: PlanState) -> Result<Plan, PlanFault> {
    Err(PlanFault::State { id: id.to_owned(), state, wanted })
}

on_both! {
    async fn a_plan_goes_from_proposed_to_done(bed: Bed) {
        let plans = bed.open().await.plans();
        let proposed = plans.propose(plan(2, 10)).await.unwrap();
        assert!(proposed.id.starts_with("plan_") && proposed.id.len() == 37, "{}", proposed.id);
        let waiting = |index| Step { index, state: StepState::Waiting, receipt: None, result: None };
        let expected = Plan {
            id: proposed.id.clone(),
            name: Some("tidy up".into()),
            owner: "user:ann".into(),
            tenant: None,
            flow: None,
            calls: r#"[{"tool":"vault.move"}]"#.into(),
            digest: [5; 32],
            state: PlanState::Proposed,
            approval: None,
            executor: None,
            created: 10,
            steps: vec![waiting(0), waiting(1)],
        };
        assert_eq!(proposed, expected);
        let id = proposed.id;
        let approved = plans.approve(&ALL, &id, Some("appr_1")).await.unwrap();
        let expected = Plan { state: PlanState::Approved, approval: Some("appr_1".into()), ..expected };
        assert_eq!(approved, expected);
        let started = plans.start(&ALL, &id, "p1").await.unwrap();
        assert_eq!(started, Plan { state: PlanState::Running, executor: Some("p1".into()), ..expected });
        step(&plans, &id, 0, good()).await;
        step(&plans, &id, 1, StepEnd::Done { receipt: None, result: None }).await;
        let done = plans.finish(&id, "p1", PlanEnd::Done).await.unwrap();
        assert_eq!(done.state, PlanState::Done);
        let states: Vec<_> = done.steps.iter().map(|step| (step.state, step.receipt.as_deref())).collect();
        assert_eq!(states, [(StepState::Done, Some("rcpt_1")), (StepState::Done, None)]);
        assert_eq!(plans.get(&ALL, &id).await, Ok(Some(done)));
        assert_eq!(plans.get(&ALL, "plan_none").await, Ok(None));
    }

    async fn a_plan_that_is_no_plan_is_refused(bed: Bed) {
        let plans = bed.open().await.plans();
        for steps in [0, 1_001, u32::MAX] {
            let fault = plans.propose(plan(steps, 1)).await.unwrap_err();
            assert!(matches!(fault, StoreError::Invalid { operation: "propose a plan", .. }), "{fault}");
        }
        let large = plans.propose(plan(1_000, 1)).await.unwrap();
        assert_eq!(large.steps.len(), 1_000);
        assert!(large.steps.iter().zip(0..).all(|(step, index)| step.index == index));
    }

    async fn a_plan_takes_no_step_of_its_way_twice_or_out_of_order(bed: Bed) {
        use PlanState::{Approved, Done, Proposed, Running, Undone};
        let plans = bed.open().await.plans();
        let id = plans.propose(plan(1, 1)).await.unwrap().id;
        assert_eq!(plans.start(&ALL, &id, "p1").await, refused(&id, Proposed, Running));
        assert_eq!(plans.finish(&id, "p1", PlanEnd::Done).await, refused(&id, Proposed, Done));
        assert_eq!(plans.undone(&id).await, refused(&id, Proposed, Undone));
        assert_eq!(plans.take_over(&id, "p1", "p2").await, refused(&id, Proposed, Running));
        plans.approve(&ALL, &id, None).await.unwrap();
        assert_eq!(plans.approve(&ALL, &id, Some("appr_2")).await, refused(&id, Approved, Approved));
        assert_eq!(plans.finish(&id, "p1", PlanEnd::Failed).await, refused(&id, Approved, PlanState::Failed));
        plans.start(&ALL, &id, "p1").await.unwrap();
        assert_eq!(plans.start(&ALL, &id, "p2").await, refused(&id, Running, Running));
        assert_eq!(plans.approve(&ALL, &id, None).await, refused(&id, Running, Approved));
        assert_eq!(plans.undone(&id).await, refused(&id, Running, Undone));
        step(&plans, &id, 0, good()).await;
        plans.finish(&id, "p1", PlanEnd::Done).await.unwrap();
        for end in [PlanEnd::Done, PlanEnd::Failed, PlanEnd::Undone, PlanEnd::Unknown] {
            assert!(matches!(plans.finish(&id, "p1", end).await, Err(PlanFault::State { state: Done, .. })));
        }
        assert_eq!(plans.start(&ALL, &id, "p1").await, refused(&id, Done, Running));
        assert_eq!(plans.take_over(&id, "p1", "p2").await, refused(&id, Done, Running));

        let none = Err(PlanFault::Unknown { id: "plan_none".into() });
        assert_eq!(plans.approve(&ALL, "plan_none", None).await, none);
        assert_eq!(plans.start(&ALL, "plan_none", "p1").await, none);
        assert_eq!(plans.take_over("plan_none", "p1", "p2").await, none);
        assert_eq!(plans.finish("plan_none", "p1", PlanEnd::Done).await, none);
        assert_eq!(plans.undone("plan_none").await, none);
    }

    async fn how_a_plan_ended_must_agree_with_its_steps(bed: Bed) {
        let plans = bed.open().await.plans();
        let at_odds = |id: &str, wanted, step, state| Err(PlanFault::Steps { id: id.to_owned(), wanted, step, state });
        let finish = async |id: &str, end| plans.finish(id, "p1", end).await;

        let id = running(&plans, 3).await;
        plans.begin_step(&id, "p1", 0).await.unwrap();
        for (end, wanted) in [
            (PlanEnd::Done, PlanState::Done),
            (PlanEnd::Failed, PlanState::Failed),
            (PlanEnd::Undone, PlanState::Undone),
            (PlanEnd::Unknown, PlanState::Unknown),
        ] {
            assert_eq!(finish(&id, end).await, at_odds(&id, wanted, 0, StepState::Running));
        }
        plans.end_step(&id, 0, good()).await.unwrap();
        assert_eq!(finish(&id, PlanEnd::Done).await, at_odds(&id, PlanState::Done, 1, StepState::Waiting));
        step(&plans, &id, 1, StepEnd::Failed { result: Some(r#"{"why":"no"}"#.into()) }).await;
        assert_eq!(finish(&id, PlanEnd::Undone).await, at_odds(&id, PlanState::Undone, 0, StepState::Done));
        assert_eq!(finish(&id, PlanEnd::Failed).await.unwrap().state, PlanState::Failed);
        assert_eq!(plans.undone(&id).await, at_odds(&id, PlanState::Undone, 0, StepState::Done));
        plans.step_undone(&id, 0).await.unwrap();
        assert_eq!(plans.undone(&id).await.unwrap().state, PlanState::Undone);

        let id = running(&plans, 2).await;
        step(&plans, &id, 0, StepEnd::Unknown { receipt: Some("rcpt_2".into()), result: None }).await;
        assert_eq!(finish(&id, PlanEnd::Failed).await, at_odds(&id, PlanState::Failed, 0, StepState::Unknown));
        assert_eq!(finish(&id, PlanEnd::Undone).await, at_odds(&id, PlanState::Undone, 0, StepState::Unknown));
        assert_eq!(finish(&id, PlanEnd::Unknown).await.unwrap().state, PlanState::Unknown);

        let id = running(&plans, 2).await;
        step(&plans, &id, 0, good()).await;
        step(&plans, &id, 1, StepEnd::Failed { result: None }).await;
        plans.step_undone(&id, 0).await.unwrap();
        assert_eq!(finish(&id, PlanEnd::Undone).await.unwrap().state, PlanState::Undone);
    }

    async fn plans_are_their_owners_and_their_tenants(bed: Bed) {
        let plans = bed.open().await.plans();
        let of_a = plans.propose(NewPlan { tenant: Some("a".into()), ..plan(2, 1) }).await.unwrap();
        for scope in [
            Scope::principal(Some("a"), "user:bob"),
            Scope::principal(Some("b"), "user:ann"),
            Scope::principal(None, "user:ann"),
            Scope::Tenant(Some("b".into())),
            Scope::Tenant(None),
        ] {
            assert_eq!(plans.get(&scope, &of_a.id).await, Ok(None), "{scope:?}");
            let page = plans.list(&scope, &PlanFilter::default(), &Paging::default()).await.unwrap();
            assert_eq!(page.items, [], "{scope:?}");
            let unknown = Err(PlanFault::Unknown { id: of_a.id.clone() });
            assert_eq!(plans.approve(&scope, &of_a.id, None).await, unknown, "{scope:?}");
            assert_eq!(plans.start(&scope, &of_a.id, "p1").await, unknown, "{scope:?}");
        }
        let own = Scope::principal(Some("a"), "user:ann");
        assert_eq!(plans.get(&own, &of_a.id).await, Ok(Some(of_a.clone())), "nothing was changed");
        let page = plans.list(&own, &PlanFilter::default(), &Paging::default()).await.unwrap();
        assert_eq!(page.items.first(), Some(&of_a));
        plans.approve(&own, &of_a.id, None).await.unwrap();
        plans.start(&own, &of_a.id, "p1").await.unwrap();
    }

    async fn plans_are_listed_newest_first_with_their_steps(bed: Bed) {
        let plans = bed.open().await.plans();
        for n in 0..7_u32 {
            let flow = Some(format!("f{}", n % 2));
            plans.propose(NewPlan { flow, ..plan(n + 1, i64::from(n / 2)) }).await.unwrap();
        }
        let any = PlanFilter::default();
        let whole = plans.list(&ALL, &any, &Paging::default()).await.unwrap().items;
        assert_eq!(whole.len(), 7);
        assert!(whole.is_sorted_by(|newer, older| (newer.created, &newer.id) > (older.created, &older.id)));
        assert_eq!(whole.iter().map(|plan| plan.steps.len()).sum::<usize>(), 1 + 2 + 3 + 4 + 5 + 6 + 7);
        assert!(whole.iter().all(|plan| plan.calls.starts_with('[')));
        let (mut paging, mut seen) = (Paging { limit: 2, after: None }, Vec::new());
        loop {
            let page = plans.list(&ALL, &any, &paging).await.unwrap();
            seen.extend(page.items);
            match page.next {
                Some(mark) => paging.after = Some(mark),
                None => break,
            }
        }
        assert_eq!(seen, whole);

        plans.approve(&ALL, &whole[0].id, None).await.unwrap();
        let filter = PlanFilter { state: Some(PlanState::Approved), ..any.clone() };
        let approved = plans.list(&ALL, &filter, &Paging::default()).await.unwrap().items;
        assert_eq!(approved.iter().map(|plan| &plan.id).collect::<Vec<_>>(), [&whole[0].id]);
        let filter = PlanFilter { flow: Some("f1".into()), ..any };
        assert_eq!(plans.list(&ALL, &filter, &Paging::default()).await.unwrap().items.len(), 3);
    }
}
