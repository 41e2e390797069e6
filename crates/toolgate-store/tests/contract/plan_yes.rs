//! A plan's yes: used up and noted in one step. And how long plans are kept.

use toolgate_store::{Answer, ApprovalState, Binding, NewApproval, PlanEnd, PlanState, Scope, Store};

use crate::{
    bed::Bed,
    plans::{good, plan, running, step},
};

const ALL: Scope = Scope::Everything;
const DAY: i64 = 24 * 60 * 60 * 1000;

fn binding(plan: &str) -> Binding {
    let mut arguments_digest = [0; 32];
    for (byte, letter) in arguments_digest.iter_mut().zip(plan.bytes().rev()) {
        *byte = letter;
    }
    Binding {
        asked_by: "user:ann".into(),
        tenant: None,
        flow: None,
        tool: "plan".into(),
        tool_digest: [1; 32],
        arguments_digest,
        rulebook_digest: [2; 32],
    }
}

/// A plan and the question about it.
async fn asked(store: &Store) -> (String, String) {
    let plan = store.plans().propose(plan(1, 1)).await.unwrap().id;
    let new = NewApproval {
        binding: binding(&plan),
        owner: "user:ann".into(),
        shown: "{}".into(),
        four_eyes: false,
        asked_at: 1,
        expires: 1_000,
        wide: None,
    };
    let approval = store.approvals().ask(new).await.unwrap().id;
    (plan, approval)
}

async fn grant(store: &Store, approval: &str) {
    let yes = Answer::Grant { by: "operator:bo".into(), uses: 1, until: 500 };
    store.approvals().answer(&ALL, approval, yes, 2).await.unwrap();
}

on_both! {
    async fn a_yes_and_its_plan_move_together(bed: Bed) {
        let store = bed.open().await;
        let plans = store.plans();
        let (plan, approval) = asked(&store).await;
        let own = binding(&plan);
        assert_eq!(plans.approve_with(&ALL, &plan, &own, 3).await, Ok(None), "nobody answered");
        grant(&store, &approval).await;
        for (now, plan, bound) in [(500, plan.as_str(), &own), (3, &plan, &binding("another")), (3, "plan_none", &own)] {
            assert_eq!(plans.approve_with(&ALL, plan, bound, now).await, Ok(None));
        }
        let other = Scope::principal(None, "user:bob");
        assert_eq!(plans.approve_with(&other, &plan, &own, 3).await, Ok(None), "another's plan");
        assert_eq!(plans.get(&ALL, &plan).await.unwrap().unwrap().state, PlanState::Proposed);
        let kept = store.approvals().get(&ALL, &approval, 3).await.unwrap().unwrap();
        assert_eq!(kept.uses_left, 1, "and nothing is used up");

        let taken = plans.approve_with(&ALL, &plan, &own, 3).await.unwrap().unwrap();
        assert_eq!((taken.id.as_str(), taken.state, taken.uses_left), (approval.as_str(), ApprovalState::Spent, 0));
        let approved = plans.get(&ALL, &plan).await.unwrap().unwrap();
        assert_eq!((approved.state, approved.approval.as_deref()), (PlanState::Approved, Some(approval.as_str())));
        assert_eq!(plans.approve_with(&ALL, &plan, &own, 3).await, Ok(None), "once");
    }

    async fn a_yes_is_kept_where_its_plan_was_approved_without_it(bed: Bed) {
        let store = bed.open().await;
        let (plan, approval) = asked(&store).await;
        grant(&store, &approval).await;
        store.plans().approve(&ALL, &plan, None).await.unwrap();
        assert_eq!(store.plans().approve_with(&ALL, &plan, &binding(&plan), 3).await, Ok(None));
        let kept = store.approvals().get(&ALL, &approval, 3).await.unwrap().unwrap();
        assert_eq!((kept.state, kept.uses_left), (ApprovalState::Granted, 1));
    }

    async fn of_many_who_approve_a_plan_at_once_one_does(bed: Bed) {
        let store = bed.open().await;
        let (plan, approval) = asked(&store).await;
        grant(&store, &approval).await;
        let one = |store: Store, plan: String| async move {
            store.plans().approve_with(&ALL, &plan, &binding(&plan), 3).await.unwrap()
        };
        let all: Vec<_> = (0..8).map(|_| tokio::spawn(one(store.clone(), plan.clone()))).collect();
        let mut taken = 0;
        for one in all {
            taken += u32::from(one.await.unwrap().is_some());
        }
        assert_eq!(taken, 1);
        let spent = store.approvals().get(&ALL, &approval, 3).await.unwrap().unwrap();
        assert_eq!((spent.state, spent.uses_left), (ApprovalState::Spent, 0));
    }

    async fn plans_that_do_not_run_are_kept_for_thirty_days(bed: Bed) {
        let plans = bed.open().await.plans();
        let proposed = plans.propose(plan(2, 1)).await.unwrap().id;
        let runs = running(&plans, 2).await;
        let ended = running(&plans, 1).await;
        step(&plans, &ended, 0, good()).await;
        plans.finish(&ended, "p1", PlanEnd::Done).await.unwrap();
        let later = plans.propose(plan(1, 2)).await.unwrap().id;
        let there = async |id: &str| plans.get(&ALL, id).await.unwrap().is_some();
        plans.propose(plan(1, 30 * DAY)).await.unwrap();
        assert!(there(&proposed).await && there(&ended).await, "not a moment too early");
        plans.propose(plan(1, 30 * DAY + 1)).await.unwrap();
        assert!(!there(&proposed).await && !there(&ended).await);
        assert!(there(&runs).await, "what runs stays");
        assert!(there(&later).await);
    }
}
