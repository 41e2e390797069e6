//! Steps: each runs once at most, also when processes come and go.

use toolgate_store::{PlanEnd, PlanFault, PlanState, Scope, StepEnd, StepState};

use crate::{
    bed::Bed,
    plans::{good, plan, running, step},
};

const ALL: Scope = Scope::Everything;

on_both! {
    async fn steps_run_in_order_and_only_while_the_plan_does(bed: Bed) {
        let plans = bed.open().await.plans();
        let idle = plans.propose(plan(2, 1)).await.unwrap().id;
        let early = plans.begin_step(&idle, "p1", 0).await;
        let refused = PlanFault::State { id: idle, state: PlanState::Proposed, wanted: PlanState::Running };
        assert_eq!(early, Err(refused));

        let id = running(&plans, 3).await;
        let order = |before, state| Err(PlanFault::Order { id: id.clone(), step: before + 1, before, state });
        let begin = async |step| plans.begin_step(&id, "p1", step).await;
        assert_eq!(begin(1).await, order(0, StepState::Waiting));
        begin(0).await.unwrap();
        assert_eq!(begin(1).await, order(0, StepState::Running));
        plans.end_step(&id, 0, good()).await.unwrap();
        begin(1).await.unwrap();
        plans.end_step(&id, 1, StepEnd::Failed { result: None }).await.unwrap();
        assert_eq!(begin(2).await, order(1, StepState::Failed));
        assert_eq!(begin(3).await, Err(PlanFault::NoStep { id: id.clone(), steps: 3, step: 3 }));
        let none = Err(PlanFault::Unknown { id: "plan_none".into() });
        assert_eq!(plans.begin_step("plan_none", "p1", 0).await, none);
        plans.finish(&id, "p1", PlanEnd::Failed).await.unwrap();
        assert!(matches!(begin(2).await, Err(PlanFault::State { state: PlanState::Failed, .. })));
    }

    async fn no_step_goes_a_way_that_is_not_there(bed: Bed) {
        use StepState::{Done, Failed, Running, Undone, Unknown, Waiting};
        let plans = bed.open().await.plans();
        let id = running(&plans, 2).await;
        let refused = |state, wanted| Err(PlanFault::Step { id: id.clone(), step: 0, state, wanted });
        let unknown = || StepEnd::Unknown { receipt: None, result: None };
        let failed = || StepEnd::Failed { result: None };

        assert_eq!(plans.end_step(&id, 0, good()).await, refused(Waiting, Done));
        assert_eq!(plans.step_undone(&id, 0).await, refused(Waiting, Undone));
        plans.begin_step(&id, "p1", 0).await.unwrap();
        assert_eq!(plans.begin_step(&id, "p1", 0).await, refused(Running, Running));
        assert_eq!(plans.step_undone(&id, 0).await, refused(Running, Undone));
        plans.end_step(&id, 0, good()).await.unwrap();
        assert_eq!(plans.begin_step(&id, "p1", 0).await, refused(Done, Running));
        assert_eq!(plans.end_step(&id, 0, failed()).await, refused(Done, Failed));
        assert_eq!(plans.end_step(&id, 0, unknown()).await, refused(Done, Unknown));
        let undone = plans.step_undone(&id, 0).await.unwrap();
        assert_eq!((undone.steps[0].state, undone.steps[0].receipt.as_deref()), (Undone, Some("rcpt_1")));
        assert_eq!(plans.begin_step(&id, "p1", 0).await, refused(Undone, Running));
        assert_eq!(plans.step_undone(&id, 0).await, refused(Undone, Undone));
        assert_eq!(plans.step_undo_unknown(&id, 0).await, refused(Undone, Unknown));
        assert_eq!(plans.end_step(&id, 9, good()).await, Err(PlanFault::NoStep { id: id.clone(), steps: 2, step: 9 }));
        assert_eq!(plans.end_step("plan_none", 0, good()).await, Err(PlanFault::Unknown { id: "plan_none".into() }));

        let lost = running(&plans, 1).await;
        step(&plans, &lost, 0, good()).await;
        assert_eq!(plans.step_undo_unknown(&lost, 0).await.unwrap().steps[0].state, Unknown);
    }

    async fn one_of_many_begins_a_step(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let id = running(&stores[0].plans(), 5).await;
        let racers = (0..16_usize).map(|n| {
            let (plans, id) = (stores[n % 2].plans(), id.clone());
            tokio::spawn(async move {
                let mut won = Vec::new();
                // Each tries the next step until the last is done, as an executor does.
                for index in 0..5 {
                    loop {
                        match plans.begin_step(&id, "p1", index).await {
                            Ok(_) => {
                                won.push(index);
                                plans.end_step(&id, index, good()).await.unwrap();
                            }
                            Err(PlanFault::Step { state: StepState::Done, .. }) => break,
                            Err(PlanFault::Step { state: StepState::Running, .. }) => tokio::task::yield_now().await,
                            Err(fault) => panic!("{fault}"),
                        }
                    }
                }
                won
            })
        });
        let mut won = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            won.extend(racer.await.unwrap());
        }
        won.sort_unstable();
        assert_eq!(won, [0, 1, 2, 3, 4]);
    }

    async fn after_a_crash_one_process_resumes_and_runs_nothing_twice(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let plans = stores[0].plans();
        let idle = plans.propose(plan(1, 1)).await.unwrap().id;
        let id = running(&plans, 3).await;
        let other = running(&plans, 1).await;
        plans.take_over(&other, "p1", "p9").await.unwrap();
        step(&plans, &id, 0, good()).await;
        plans.begin_step(&id, "p1", 1).await.unwrap();
        // Here p1 dies.

        let left = plans.running(None).await.unwrap();
        assert!(left.iter().all(|plan| plan.id != idle) && left.len() == 2);
        let of_p1 = plans.running(Some("p1")).await.unwrap();
        assert_eq!(of_p1.iter().map(|plan| &plan.id).collect::<Vec<_>>(), [&id]);
        assert_eq!(of_p1[0].steps[1].state, StepState::Running);
        let takers = (0..16_usize).map(|n| {
            let (plans, id) = (stores[n % 2].plans(), id.clone());
            tokio::spawn(async move { (n, plans.take_over(&id, "p1", &format!("new{n}")).await) })
        });
        let mut winner = None;
        for taker in takers.collect::<Vec<_>>() {
            match taker.await.unwrap() {
                (n, Ok(_)) => assert_eq!(winner.replace(format!("new{n}")), None),
                (_, Err(fault)) => assert_eq!(fault, PlanFault::Elsewhere { id: id.clone() }),
            }
        }
        let winner = winner.unwrap();
        let elsewhere = Err(PlanFault::Elsewhere { id: id.clone() });
        assert_eq!(plans.begin_step(&id, "p1", 2).await, elsewhere, "the old one is out");
        assert_eq!(plans.finish(&id, "p1", PlanEnd::Failed).await, elsewhere);
        let again = plans.begin_step(&id, &winner, 1).await;
        let running = PlanFault::Step { id: id.clone(), step: 1, state: StepState::Running, wanted: StepState::Running };
        assert_eq!(again, Err(running));
        plans.end_step(&id, 1, StepEnd::Unknown { receipt: None, result: None }).await.unwrap();
        let late = plans.end_step(&id, 1, good()).await.unwrap_err();
        assert!(matches!(late, PlanFault::Step { state: StepState::Unknown, .. }), "{late}");
        plans.finish(&id, &winner, PlanEnd::Unknown).await.unwrap();
        assert_eq!(plans.running(None).await.unwrap().len(), 1);
        assert_eq!(plans.get(&ALL, &id).await.unwrap().unwrap().state, PlanState::Unknown);
    }

    async fn a_plan_does_not_end_while_a_step_begins(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        for _ in 0..20 {
            let id = running(&stores[0].plans(), 1).await;
            let begin = tokio::spawn({
                let (plans, id) = (stores[0].plans(), id.clone());
                async move { plans.begin_step(&id, "p1", 0).await.is_ok() }
            });
            let finish = tokio::spawn({
                let (plans, id) = (stores[1].plans(), id.clone());
                async move { plans.finish(&id, "p1", PlanEnd::Failed).await.is_ok() }
            });
            let (begun, finished) = (begin.await.unwrap(), finish.await.unwrap());
            assert!(begun != finished, "one of them comes first and keeps the other out");
        }
    }
}
