use toolgate_store::{
    Paging,
    team::{Assigner, NewTeamTask, Report, StatusChange, TaskApproval, TaskFault, TaskFilter, TaskResult, TaskStatus},
};

use crate::{
    bed::Bed,
    team_stage::{Stage, agent, below, change, task},
};

use TaskStatus::{Backlog, Blocked, Cancelled, Done, InProgress, Todo};

fn said(outcome: Result<impl std::fmt::Debug, TaskFault>) -> String {
    outcome.unwrap_err().to_string()
}

on_both! {
    async fn a_task_of_another_project_does_not_exist(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let task = stage.task("ann").await;
        let elsewhere = stage.team().tasks("q").unwrap();
        assert_eq!(elsewhere.get(&task.id).await, Ok(None));
        assert_eq!(elsewhere.parts(&task.id).await, Ok(vec![]));
        let unknown = format!("Task not found: {}", task.id);
        assert_eq!(said(elsewhere.change(&task.id, &change(InProgress, "ann"), 2).await), unknown);
        assert_eq!(said(elsewhere.assign(&task.id, Some("bob"), Assigner::Operator, 2).await), unknown);
        assert_eq!(said(elsewhere.create(&[below(&task, None)], None, 2).await), unknown);
        let needing = NewTeamTask { needs: vec![task.id.clone()], ..crate::team_stage::task() };
        assert_eq!(said(elsewhere.create(&[needing], None, 2).await), unknown);
        assert_eq!(elsewhere.list(&TaskFilter::default(), &Paging::default()).await.unwrap().items, []);
        assert_eq!(stage.tasks.get(&task.id).await, Ok(Some(task)));
    }

    async fn a_title_has_a_length(bed: Bed) {
        let stage = Stage::new(&bed).await;
        for title in [String::new(), "水".repeat(201)] {
            let new = NewTeamTask { title, ..task() };
            assert_eq!(stage.tasks.create(std::slice::from_ref(&new), None, 2).await, Err(TaskFault::BadTitle));
            assert_eq!(stage.tasks.add(new, None, false, 2).await, Err(TaskFault::BadTitle));
        }
        let longest = NewTeamTask { title: "水".repeat(200), ..task() };
        assert!(stage.tasks.add(longest, None, false, 2).await.is_ok());
    }

    async fn only_steps_of_the_drawing_are_taken_and_the_refusal_names_both_ends(bed: Bed) {
        let stage = Stage::new(&bed).await;
        for from in TaskStatus::ALL {
            for to in TaskStatus::ALL {
                let task = stage
                    .add(NewTeamTask { status: *from, assignee: Some(format!("ghost-{from}-{to}")), ..task() })
                    .await;
                let outcome = stage.set(&task, *to).await;
                match toolgate_store::team::Machine::step(*from, *to) {
                    Err(_) => assert_eq!(said(outcome), format!("Invalid status transition from {from} to {to}")),
                    // no agent of that name has room
                    Ok(_) if *to == InProgress => assert!(said(outcome).starts_with("Agent not found")),
                    Ok(_) => assert_eq!(outcome.unwrap().status, *to),
                }
            }
        }
    }

    async fn a_task_starts_only_with_an_assignee_with_room_and_with_everything_done_before(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let free = stage.add(task()).await;
        assert_eq!(
            said(stage.set(&free, InProgress).await),
            format!("Validation error: task {} has no assignee; assign it first", free.id)
        );
        let first = stage.task("ann").await;
        let second =
            stage.add(NewTeamTask { needs: vec![first.id.clone()], assignee: Some("bob".into()), ..task() }).await;
        assert_eq!(stage.tasks.needs(&second.id).await, Ok(vec![first.id.clone()]));
        assert_eq!(
            said(stage.set(&second, InProgress).await),
            format!("Validation error: task {} depends on tasks that are not done: {}", second.id, first.id)
        );
        stage.set(&first, InProgress).await.unwrap();
        let third = stage.task("ann").await;
        assert_eq!(
            said(stage.set(&third, InProgress).await),
            "Validation error: agent 'ann' has 1 task(s) in progress, which is as many as it may have"
        );
        let elsewhere = stage.team().tasks("q").unwrap();
        let there = elsewhere
            .create(&[NewTeamTask { assignee: Some("ann".into()), ..task() }], None, 3)
            .await
            .unwrap()
            .remove(0);
        assert!(
            said(elsewhere.change(&there.id, &change(InProgress, "boss"), 3).await).contains("as many as it may have"),
            "whatever the project"
        );
        stage.set(&first, Done).await.unwrap();
        assert_eq!(stage.set(&second, InProgress).await.unwrap().status, InProgress);
        assert_eq!(stage.set(&third, InProgress).await.unwrap().status, InProgress);
        let unapproved =
            stage.add(NewTeamTask { approval: TaskApproval::Pending, assignee: Some("boss".into()), ..task() }).await;
        assert_eq!(
            said(stage.set(&unapproved, InProgress).await),
            format!("Validation error: task {} is not approved", unapproved.id)
        );
    }

    async fn a_task_that_waits_for_its_own_part_takes_no_room(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let whole = stage.task("ann").await;
        stage.set(&whole, InProgress).await.unwrap();
        let one = stage.add(below(&whole, Some("ann"))).await;
        let two = stage.add(below(&whole, Some("ann"))).await;
        stage.set(&one, InProgress).await.unwrap();
        assert!(matches!(stage.set(&two, InProgress).await, Err(TaskFault::NoCapacity { .. })));
        assert_eq!(
            stage.team().waiting("ann", "p").await.unwrap().task,
            Some(whole.id.clone()),
            "the whole, not the part"
        );
        stage.set(&one, Done).await.unwrap();
        stage.set(&two, InProgress).await.unwrap();
    }

    async fn a_task_is_done_only_with_all_its_parts_and_gets_none_afterwards(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let whole = stage.task("boss").await;
        stage.set(&whole, InProgress).await.unwrap();
        let part = stage.add(below(&whole, Some("ann"))).await;
        let dropped = stage.add(below(&whole, None)).await;
        stage.set(&dropped, Cancelled).await.unwrap();
        assert_eq!(
            said(stage.set(&whole, Done).await),
            format!("Validation error: task {} has unfinished subtasks: {}", whole.id, part.id)
        );
        stage.set(&part, InProgress).await.unwrap();
        stage.set(&part, Done).await.unwrap();
        stage.set(&whole, Done).await.unwrap();
        let late = stage.tasks.create(&[below(&whole, None)], None, 30).await;
        assert_eq!(
            said(late),
            format!("Validation error: task {} is done; nothing can be added to it or changed about it", whole.id)
        );
    }

    async fn blocking_takes_what_is_being_done_below_with_it_and_nothing_else(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let whole = stage.task("boss").await;
        stage.set(&whole, InProgress).await.unwrap();
        let part = stage.add(below(&whole, Some("ann"))).await;
        stage.set(&part, InProgress).await.unwrap();
        let deep = stage.add(below(&part, Some("ann"))).await;
        stage.set(&deep, InProgress).await.unwrap();
        let (waiting, aside) = (stage.add(below(&whole, Some("bob"))).await, stage.task("bob").await);
        stage.set(&aside, InProgress).await.unwrap();
        let blocked = StatusChange { reason: Some("no paint".into()), ..change(Blocked, "boss") };
        let after = stage.tasks.change(&whole.id, &blocked, 50).await.unwrap();
        assert_eq!(
            (after.changed_by.as_str(), after.changed_at, after.blocked_reason.as_deref()),
            ("boss", 50, Some("no paint"))
        );
        assert_eq!([stage.status(&part).await, stage.status(&deep).await], [Blocked, Blocked]);
        assert_eq!([stage.status(&waiting).await, stage.status(&aside).await], [Todo, InProgress]);
        let mut told = stage.team().notifications("p", "ann").see().await.unwrap();
        told.retain(|note| note.action != "in_progress");
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|note| note.action == "blocked" && note.message.ends_with("is now blocked: no paint")));
        assert_eq!(stage.team().notifications("p", "ann").see().await, Ok(vec![]), "once");
        assert_eq!(stage.team().notifications("p", "boss").unseen().await, Ok(vec![]), "who did it knows");
        stage.set(&whole, InProgress).await.unwrap();
        assert_eq!(stage.tasks.get(&whole.id).await.unwrap().unwrap().blocked_reason, None);
    }

    async fn only_who_has_a_task_reports_it_and_whoever_has_the_one_above_is_told(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let whole = stage.task("boss").await;
        stage.set(&whole, InProgress).await.unwrap();
        let part = stage.add(below(&whole, Some("ann"))).await;
        stage.set(&part, InProgress).await.unwrap();
        let report = Report { result: TaskResult::Success, summary: Some("red".into()), next_steps: None };
        let by = |who: &str| StatusChange { report: Some(report.clone()), ..change(Done, who) };
        assert!(matches!(stage.tasks.change(&part.id, &by("bob"), 60).await, Err(TaskFault::Unknown { .. })));
        let done = stage.tasks.change(&part.id, &by("ann"), 60).await.unwrap();
        assert_eq!(
            (done.result, done.summary.as_deref(), done.changed_by.as_str()),
            (Some(TaskResult::Success), Some("red"), "ann")
        );
        let told = stage.team().notifications("p", "boss").unseen().await.unwrap();
        assert_eq!(
            told.iter().map(|note| (note.action.as_str(), note.task.as_deref())).collect::<Vec<_>>(),
            [("done", Some(part.id.as_str()))]
        );
    }

    async fn a_manager_gives_tasks_to_its_own_people_in_the_project_who_are_active(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        agent(&team, "away", Some("boss"), 1).await;
        agent(&team, "deep", Some("ann"), 1).await;
        agent(&team, "gone", Some("boss"), 1).await;
        team.assignments().assign("deep", "p", 1).await.unwrap();
        team.assignments().assign("gone", "p", 1).await.unwrap();
        let inactive = toolgate_store::team::AgentChange {
            status: Some(toolgate_store::team::AgentStatus::Suspended),
            ..Default::default()
        };
        team.agents().change("gone", inactive).await.unwrap();
        let task = stage.add(task()).await;
        let boss = Assigner::Manager("boss");
        let give = async |to: Option<&str>| stage.tasks.assign(&task.id, to, boss, 5).await;
        assert_eq!(said(give(Some("nobody")).await), "Agent not found: nobody");
        assert_eq!(said(give(Some("other")).await), "Agent 'other' is not a subordinate of 'boss'");
        assert_eq!(said(give(Some("deep")).await), "Agent 'deep' is not a subordinate of 'boss'", "directly");
        assert_eq!(said(give(Some("boss")).await), "Agent 'boss' is not a subordinate of 'boss'");
        assert_eq!(said(give(Some("away")).await), "Target agent 'away' is not assigned to project 'p'");
        assert_eq!(said(give(Some("gone")).await), "Agent 'gone' is not active");
        let given = give(Some("ann")).await.unwrap();
        assert_eq!((given.task.assignee.as_deref(), given.previous), (Some("ann"), None));
        let moved = give(Some("bob")).await.unwrap();
        assert_eq!((moved.task.assignee.as_deref(), moved.previous.as_deref()), (Some("bob"), Some("ann")));
        assert_eq!(give(None).await.unwrap().task.assignee, None);
        assert_eq!(team.notifications("p", "ann").see().await.unwrap().len(), 1);
        give(Some("ann")).await.unwrap();
        stage.set(&task, InProgress).await.unwrap();
        for to in [None, Some("bob")] {
            assert_eq!(
                said(give(to).await),
                format!("Validation error: task {} is in progress; block it before it changes hands", task.id)
            );
        }
        stage.set(&task, Done).await.unwrap();
        assert!(said(give(Some("bob")).await).contains("is done"));
    }

    async fn a_split_task_leaves_its_parts_in_its_place(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let whole = stage.task("boss").await;
        let before = stage.add(below(&whole, None)).await;
        let middle = stage.add(NewTeamTask { needs: vec![before.id.clone()], ..below(&whole, None) }).await;
        let after = stage.add(NewTeamTask { needs: vec![middle.id.clone()], ..below(&whole, None) }).await;
        let parts = [below(&whole, None), below(&whole, None)];
        let made = stage.tasks.split(&middle.id, &parts, "boss", 40).await.unwrap();
        assert_eq!(
            made.iter().map(|task| &task.id).collect::<Vec<_>>(),
            [&parts[0].id, &parts[1].id],
            "in their order"
        );
        assert_eq!(stage.status(&middle).await, Cancelled);
        for part in &made {
            assert_eq!(stage.tasks.needs(&part.id).await, Ok(vec![before.id.clone()]));
        }
        let mut both = vec![parts[0].id.clone(), parts[1].id.clone()];
        both.sort();
        assert_eq!(stage.tasks.needs(&after.id).await, Ok(both));
        let again = stage.tasks.split(&middle.id, &[below(&whole, None)], "boss", 41).await;
        assert_eq!(
            said(again),
            format!("Validation error: task {} is cancelled; only a task in todo or backlog can be split", middle.id)
        );
    }

    async fn a_list_is_newest_first_by_status_and_agent_page_after_page(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let mut made = Vec::new();
        for n in 0..9 {
            let new = NewTeamTask {
                assignee: Some(["ann", "bob", "boss"][n % 3].into()),
                status: [Todo, Backlog][n % 2],
                ..task()
            };
            made.push(stage.tasks.create(&[new], None, 100).await.unwrap().remove(0));
        }
        made.sort_by(|one, other| other.id.cmp(&one.id));
        let read = async |filter: TaskFilter| {
            let mut paging = Paging { limit: 2, after: None };
            let mut all = Vec::new();
            loop {
                let page = stage.tasks.list(&filter, &paging).await.unwrap();
                all.extend(page.items);
                match page.next {
                    Some(next) => paging.after = Some(next),
                    None => return all,
                }
            }
        };
        for status in [None, Some(Todo)] {
            for assignee in [None, Some("bob".to_owned())] {
                let wanted = made.iter().filter(|task| status.is_none_or(|status| task.status == status));
                let wanted = wanted.filter(|task| assignee.is_none() || task.assignee == assignee).cloned();
                assert_eq!(read(TaskFilter { status, assignee: assignee.clone() }).await, wanted.collect::<Vec<_>>());
            }
        }
    }

    async fn what_waits_is_seen_in_one_look(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        assert_eq!(team.waiting("boss", "p").await, Ok(Default::default()));
        assert_eq!(team.waiting("no such agent", "p").await, Ok(Default::default()));
        let whole = stage.task("boss").await;
        stage.set(&whole, InProgress).await.unwrap();
        use toolgate_store::team::TaskWork::{HandledBlocked, Nothing, Ready, WaitingForWorkers, WorkerBlocked};
        let work = async || team.waiting("boss", "p").await.unwrap().task_work();
        assert_eq!(work().await, Ready);
        let part = stage.add(below(&whole, None)).await;
        assert_eq!(work().await, Ready, "to be given to somebody");
        stage.tasks.assign(&part.id, Some("ann"), Assigner::Manager("boss"), 5).await.unwrap();
        assert_eq!(work().await, Ready, "to be started");
        let after = stage.add(NewTeamTask { needs: vec![part.id.clone()], ..below(&whole, Some("ann")) }).await;
        stage.set(&part, InProgress).await.unwrap();
        let beside = stage.add(below(&whole, Some("ann"))).await;
        assert_eq!(work().await, WaitingForWorkers, "the others have no room or wait themselves");
        stage.set(&beside, Cancelled).await.unwrap();
        stage.set(&after, Cancelled).await.unwrap();
        assert_eq!(team.waiting("ann", "p").await.unwrap().task, Some(part.id.clone()));
        stage.set(&part, Blocked).await.unwrap();
        assert_eq!(work().await, WorkerBlocked);
        assert!(team.waiting("ann", "p").await.unwrap().blocked);
        stage.tasks.handle_blocked(&whole.id).await.unwrap();
        assert_eq!(work().await, HandledBlocked);
        stage.set(&whole, Blocked).await.unwrap();
        assert_eq!(work().await, Nothing { blocked: true });
        assert_eq!(team.waiting("boss", "q").await, Ok(Default::default()), "elsewhere nothing waits");
    }
}
