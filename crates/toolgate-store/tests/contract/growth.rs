//! What a question reads does not depend on how much there is. Counted in the steps of SQLite's machine, which are the same
//! whatever else the computer does; how deep its trees are is all that they leave out.

use std::{collections::BTreeMap, future::Future, ops::Range};

use toolgate_store::{
    Mark, Paging, Store, StoreError,
    team::{NewMessage, NewTeamTask, TaskFilter, TaskStatus, Team},
};

use crate::{bed::Bed, team_stage::task};

const PROJECT: &str = "p";
/// Everyone has as much at each size as at any other, but for the first, who has more.
const TASKS_EACH: usize = 40;
const MESSAGES_EACH: usize = 40;

fn name(number: usize) -> String {
    format!("agent-{number:04}")
}

fn word(number: usize) -> String {
    format!("word{number}")
}

fn at(number: usize) -> i64 {
    i64::try_from(number).unwrap()
}

/// All at the same time: what waits for the disk together waits once.
async fn add_agents(store: &Store, agents: Range<usize>) {
    let all: Vec<_> = agents.map(|agent| tokio::spawn(add_agent(store.clone(), agent))).collect();
    for one in all {
        one.await.unwrap();
    }
}

async fn add_agent(store: Store, agent: usize) {
    let (team, tasks) = (store.team(), store.team().tasks(PROJECT).unwrap());
    let status = |n: usize| if n.is_multiple_of(2) { TaskStatus::Todo } else { TaskStatus::Done };
    let new = |n| NewTeamTask { assignee: Some(name(agent)), status: status(n), ..task() };
    let new: Vec<NewTeamTask> = (0..TASKS_EACH).map(new).collect();
    tasks.create(&new, None, at(agent * TASKS_EACH)).await.unwrap();
    for n in 0..MESSAGES_EACH {
        let to = if n.is_multiple_of(10) { 0 } else { agent };
        let new = NewMessage { to: Some(name(to)), content: "hello".into(), task: None, conversation: None };
        let sender = team.conversations(PROJECT, &name(1_000 + agent));
        sender.send(&new, at(agent * MESSAGES_EACH + n)).await.unwrap();
    }
    let terms = ["how", "a", "line", "is", "read", &word(agent)].map(str::to_owned);
    let knowledge = store.knowledge(None).unwrap();
    knowledge.write(&name(agent), &terms.join(" "), "found", &terms, at(agent)).await.unwrap();
}

async fn steps<F: Future<Output = Result<(), StoreError>>>(store: &Store, question: F) -> u64 {
    let before = store.steps().unwrap();
    question.await.unwrap();
    store.steps().unwrap() - before
}

async fn pending(team: &Team, agent: &str) -> Result<(), StoreError> {
    let desk = team.desk(PROJECT, agent);
    let state = desk.state().await?;
    assert_eq!(desk.pending(state.read, 10).await?.len(), 10);
    assert_eq!(desk.history(state.received, 20).await?.len(), 20);
    Ok(())
}

async fn poll(team: &Team, agent: &str) -> Result<(), StoreError> {
    team.desk(PROJECT, agent).state().await?;
    team.conversations(PROJECT, agent).open().await?;
    team.delegations(PROJECT, agent).open().await.map(drop)
}

/// What each question takes, of somebody from the middle.
async fn asked(store: &Store, agents: usize) -> BTreeMap<&'static str, u64> {
    let (team, tasks, knowledge) = (store.team(), store.team().tasks(PROJECT).unwrap(), store.knowledge(None).unwrap());
    let (someone, busy) = (name(agents / 2), name(0));
    let open = TaskFilter { status: Some(TaskStatus::Todo), assignee: None };
    let own = TaskFilter { status: None, assignee: Some(someone.clone()) };
    let first = Paging { limit: 20, after: None };
    let later = Paging { limit: 20, after: Some(Mark { at: at(agents * TASKS_EACH / 2), id: String::new() }) };
    let search = async {
        let found = knowledge.search(&[word(agents / 2)], 1).await?;
        assert_eq!(found.hits.len(), 1);
        Ok(())
    };
    BTreeMap::from([
        ("open tasks", steps(store, async { tasks.list(&open, &first).await.map(drop) }).await),
        ("open tasks from the middle", steps(store, async { tasks.list(&open, &later).await.map(drop) }).await),
        ("tasks of one", steps(store, async { tasks.list(&own, &first).await.map(drop) }).await),
        ("what waits", steps(store, async { team.waiting(&someone, PROJECT).await.map(drop) }).await),
        ("a poll", steps(store, poll(&team, &someone)).await),
        ("messages", steps(store, pending(&team, &someone)).await),
        ("messages of who has most", steps(store, pending(&team, &busy)).await),
        ("a search", steps(store, search).await),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_as_much_takes_as_many_steps() {
    async fn check(bed: Bed) {
        let store = bed.open().await;
        add_agents(&store, 0..8).await;
        let little = asked(&store, 8).await;
        assert!(little.values().all(|steps| *steps > 0), "{little:?}");
        add_agents(&store, 8..80).await;
        assert_eq!(asked(&store, 80).await, little);
        store.close().await;
    }
    Bed::sqlite().run(check).await;
}
