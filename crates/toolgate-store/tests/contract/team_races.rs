//! Many change a team's tasks at once, through two stores: what must hold, holds.

use toolgate_store::team::{NewTeamTask, TaskFault, TaskStatus, TeamTasks};

use crate::{
    bed::Bed,
    team_stage::{Stage, agent, below, change, task},
};

use TaskStatus::{Blocked, Cancelled, Done, InProgress};

/// The same project through two stores, as two replicas have it.
async fn two(bed: &Bed, stage: &Stage) -> [TeamTasks; 2] {
    [stage.tasks.clone(), bed.open().await.team().tasks("p").unwrap()]
}

on_both! {
    async fn of_many_starts_at_once_an_agent_gets_as_many_as_it_may_have(bed: Bed) {
        let stage = Stage::new(&bed).await;
        agent(&stage.team(), "three", Some("boss"), 3).await;
        let tasks = two(&bed, &stage).await;
        let mut racers = Vec::new();
        for n in 0..12 {
            let id = stage.task("three").await.id;
            let tasks = tasks[n % 2].clone();
            racers.push(tokio::spawn(async move { tasks.change(&id, &change(InProgress, "boss"), 20).await }));
        }
        let (mut started, mut refused) = (0, 0);
        for racer in racers {
            match racer.await.unwrap() {
                Ok(_) => started += 1,
                Err(TaskFault::NoCapacity { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((started, refused), (3, 9));
    }

    async fn a_task_is_never_done_with_a_part_that_came_at_the_same_time(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let tasks = two(&bed, &stage).await;
        for _ in 0..12 {
            let whole = stage.task("boss").await;
            stage.set(&whole, InProgress).await.unwrap();
            let (finish, add) = (tasks[0].clone(), tasks[1].clone());
            let (id, part) = (whole.id.clone(), below(&whole, None));
            let finish = tokio::spawn(async move { finish.change(&id, &change(Done, "boss"), 30).await });
            let add = tokio::spawn(async move { add.create(&[part], None, 30).await });
            let (finished, added) = (finish.await.unwrap(), add.await.unwrap());
            assert!(finished.is_ok() != added.is_ok(), "one of the two: {finished:?} {added:?}");
            if finished.is_err() {
                let part = &added.unwrap()[0];
                stage.set(part, Cancelled).await.unwrap();
                stage.set(&whole, Done).await.unwrap();
            }
        }
    }

    async fn one_step_is_taken_once_however_many_take_it(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let tasks = two(&bed, &stage).await;
        let task = stage.task("ann").await;
        let racers: Vec<_> = (0..8)
            .map(|n| {
                let (tasks, id) = (tasks[n % 2].clone(), task.id.clone());
                tokio::spawn(async move { tasks.change(&id, &change(InProgress, "boss"), 20).await })
            })
            .collect();
        let mut taken = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Ok(_) => taken += 1,
                Err(refused) => {
                    assert_eq!(refused.to_string(), "Invalid status transition from in_progress to in_progress")
                }
            }
        }
        assert_eq!(taken, 1);
    }

    async fn nothing_is_in_progress_below_what_is_blocked_at_the_same_time_unless_it_began_after(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let tasks = two(&bed, &stage).await;
        for _ in 0..8 {
            let whole = stage.task("boss").await;
            stage.set(&whole, InProgress).await.unwrap();
            let part = stage.add(below(&whole, Some("ann"))).await;
            stage.set(&part, InProgress).await.unwrap();
            let (block, report) = (tasks[0].clone(), tasks[1].clone());
            let (top, bit) = (whole.id.clone(), part.id.clone());
            let block = tokio::spawn(async move { block.change(&top, &change(Blocked, "boss"), 30).await });
            let report = tokio::spawn(async move { report.change(&bit, &change(Done, "ann"), 30).await });
            block.await.unwrap().unwrap();
            let reported = report.await.unwrap();
            let left = stage.status(&part).await;
            assert_eq!(left, if reported.is_ok() { Done } else { Blocked }, "{reported:?}");
            if left == Blocked {
                stage.set(&part, Cancelled).await.unwrap();
            }
            stage.set(&whole, Cancelled).await.unwrap();
        }
    }

    async fn a_task_is_split_once(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let tasks = two(&bed, &stage).await;
        let whole = stage.add(NewTeamTask { assignee: None, ..task() }).await;
        let racers: Vec<_> = (0..6)
            .map(|n| {
                let (tasks, id) = (tasks[n % 2].clone(), whole.id.clone());
                tokio::spawn(async move { tasks.split(&id, &[task(), task()], "boss", 40).await })
            })
            .collect();
        let mut made = 0;
        for racer in racers {
            made += racer.await.unwrap().map_or(0, |parts| parts.len());
        }
        assert_eq!(made, 2);
        let all = stage.tasks.list(&Default::default(), &Default::default()).await.unwrap().items;
        assert_eq!(all.len(), 3, "the one that was split and its two parts");
    }
}
