//! W6: what the tools of a team and of tasks read from the store, with a hundred agents and with ten thousand.
//!
//! The store is filled by its own contract, one size after the other, and asked in between.

use std::future::Future;
use std::time::Instant;

use serde::Serialize;
use tokio::task::JoinSet;
use toolgate_store::team::{
    NewMessage, NewTeamTask, TalkFault, TaskApproval, TaskFault, TaskFilter, TaskPriority, TaskStatus, Team, TeamTasks,
};
use toolgate_store::{Location, Mark, Paging, Store, StoreError};

use crate::failure::{Doing, Failure};
use crate::report::median;

/// Agents, tasks and messages.
const SIZES: [(usize, usize, usize); 3] =
    [(100, 1_000, 10_000), (1_000, 10_000, 100_000), (10_000, 100_000, 1_000_000)];
const PROJECT: &str = "growth";
/// Messages that are sent at the same time.
const AT_ONCE: usize = 64;
/// Tasks of one write.
const TOGETHER: usize = 500;
/// How often each is asked.
const ASKED: usize = 400;
/// Who gets every tenth message.
const BUSY: usize = 0;

/// The figures of one size.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Growth {
    pub(crate) agents: usize,
    pub(crate) tasks: usize,
    pub(crate) messages: usize,
    pub(crate) reads: Reads,
}

/// Microseconds of one answer, the median.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Reads {
    /// The first page of a project's open tasks.
    pub(crate) list: f64,
    /// A page from the middle.
    pub(crate) deep: f64,
    /// What waits for an agent.
    pub(crate) waiting: f64,
    /// What `get_next_action` looks at in a chat session.
    pub(crate) poll: f64,
    /// What `get_pending_messages` reads.
    pub(crate) pending: f64,
    /// The same for who has most of them.
    pub(crate) pending_busy: f64,
    /// What `search_knowledge` finds for a word that one text has, among as many as there are tasks.
    pub(crate) search: f64,
}

pub(super) async fn measure(quick: bool) -> Result<Vec<Growth>, Failure> {
    let folder = tempfile::tempdir().doing("making a folder")?;
    let store = Store::open(&Location::Sqlite(folder.path().join("growth.db"))).await?;
    let mut filled = (0, 0);
    let mut growth = Vec::new();
    for (agents, tasks, messages) in SIZES.into_iter().take(if quick { 2 } else { 3 }) {
        eprintln!("growth: {agents} agents, {tasks} tasks, {messages} messages");
        let tasks_room = store.team().tasks(PROJECT)?;
        add_tasks(&tasks_room, agents, filled.0..tasks).await?;
        add_messages(&store, agents, filled.1..messages).await?;
        add_knowledge(&store, filled.0..tasks).await?;
        filled = (tasks, messages);
        let reads = ask(&store, &tasks_room, agents, tasks).await?;
        growth.push(Growth { agents, tasks, messages, reads });
    }
    store.close().await;
    Ok(growth)
}

async fn ask(store: &Store, tasks: &TeamTasks, agents: usize, count: usize) -> Result<Reads, Failure> {
    let (team, knowledge) = (&store.team(), &store.knowledge(None)?);
    let open = TaskFilter { status: Some(TaskStatus::Todo), assignee: None };
    let first = Paging { limit: 50, after: None };
    let middle = i64::try_from(count / 2).unwrap_or(i64::MAX);
    let later = Paging { limit: 50, after: Some(Mark { at: middle, id: String::new() }) };
    // a number that shares no factor with the agents': each is asked in its turn
    let someone = |n: usize| name(n * 7_919 % agents);
    Ok(Reads {
        list: each(async |_| tasks.list(&open, &first).await.map(drop)).await?,
        deep: each(async |_| tasks.list(&open, &later).await.map(drop)).await?,
        waiting: each(async |n| team.waiting(&someone(n), PROJECT).await.map(drop)).await?,
        poll: each(async |n| poll(team, &someone(n)).await).await?,
        pending: each(async |n| pending(team, &someone(n)).await).await?,
        pending_busy: each(async |_| pending(team, &name(BUSY)).await).await?,
        search: each(async |n| knowledge.search(&[own_word(n * 7_919 % count)], 1).await.map(drop)).await?,
    })
}

async fn poll(team: &Team, agent: &str) -> Result<(), StoreError> {
    team.desk(PROJECT, agent).state().await?;
    team.conversations(PROJECT, agent).open().await?;
    team.delegations(PROJECT, agent).open().await.map(drop)
}

async fn pending(team: &Team, agent: &str) -> Result<(), StoreError> {
    let desk = team.desk(PROJECT, agent);
    let state = desk.state().await?;
    desk.pending(state.read, 10).await?;
    desk.history(state.received, 20).await.map(drop)
}

/// The median time of one, in microseconds.
async fn each<F: Future<Output = Result<(), StoreError>>>(one: impl Fn(usize) -> F) -> Result<f64, Failure> {
    let mut took = Vec::with_capacity(ASKED);
    for n in 0..ASKED + ASKED / 4 {
        let start = Instant::now();
        one(n).await?;
        // the first ones warm up
        if n >= ASKED / 4 {
            took.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(median(&took))
}

async fn add_tasks(tasks: &TeamTasks, agents: usize, numbers: std::ops::Range<usize>) -> Result<(), Failure> {
    let numbers: Vec<usize> = numbers.collect();
    for some in numbers.chunks(TOGETHER) {
        let new: Result<Vec<NewTeamTask>, StoreError> = some.iter().map(|n| task(*n, agents)).collect();
        let at = some.first().copied().and_then(|first| i64::try_from(first).ok()).unwrap_or_default();
        tasks.create(&new?, None, at).await.map_err(|fault| match fault {
            TaskFault::Store(fault) => Failure::Store(fault),
            other => Failure::Answer(other.to_string()),
        })?;
    }
    Ok(())
}

/// Most are finished, as in a project that has gone on for long.
fn task(number: usize, agents: usize) -> Result<NewTeamTask, StoreError> {
    let status = match number % 10 {
        0 => TaskStatus::Todo,
        1 => TaskStatus::Backlog,
        2 => TaskStatus::Blocked,
        _ => TaskStatus::Done,
    };
    Ok(NewTeamTask {
        id: TeamTasks::new_id()?,
        title: format!("Task {number}"),
        description: "What is to be done, in a sentence or two, as people write it.".to_owned(),
        status,
        priority: TaskPriority::Medium,
        assignee: Some(name(number % agents)),
        created_by: name(0),
        parent: None,
        needs: Vec::new(),
        requester: None,
        approval: TaskApproval::Approved,
    })
}

async fn add_messages(store: &Store, agents: usize, numbers: std::ops::Range<usize>) -> Result<(), Failure> {
    let mut under_way = JoinSet::new();
    for n in numbers {
        if under_way.len() >= AT_ONCE {
            sent(under_way.join_next().await)?;
        }
        let receiver = if n % 10 == 0 { BUSY } else { n % agents };
        let team = store.team();
        under_way.spawn(async move {
            let content = "A message of the usual length, which says something and asks something else.".to_owned();
            let new = NewMessage { to: Some(name(receiver)), content, task: None, conversation: None };
            let at = i64::try_from(n).unwrap_or(i64::MAX);
            let sender = team.conversations(PROJECT, &name(agents + n % agents));
            loop {
                match sender.send(&new, at).await {
                    // one more or less does not matter here
                    Err(TalkFault::Store(StoreError::Unavailable { .. } | StoreError::Overloaded { .. })) => {}
                    ended => return ended.map(drop),
                }
            }
        });
    }
    while let Some(one) = under_way.join_next().await {
        sent(Some(one))?;
    }
    Ok(())
}

/// Texts with words that all of them have, and one of their own.
async fn add_knowledge(store: &Store, numbers: std::ops::Range<usize>) -> Result<(), Failure> {
    let mut under_way = JoinSet::new();
    for n in numbers {
        if under_way.len() >= AT_ONCE {
            written(under_way.join_next().await)?;
        }
        let knowledge = store.knowledge(None)?;
        under_way.spawn(async move {
            let mut terms = ["how", "the", "parser", "reads", "a", "line"].map(str::to_owned).to_vec();
            terms.push(own_word(n));
            let at = i64::try_from(n).unwrap_or(i64::MAX);
            knowledge.write(&format!("key-{n}"), &terms.join(" "), "found", &terms, at).await.map(drop)
        });
    }
    while let Some(one) = under_way.join_next().await {
        written(Some(one))?;
    }
    Ok(())
}

fn written(ended: Option<Result<Result<(), StoreError>, tokio::task::JoinError>>) -> Result<(), Failure> {
    match ended {
        None | Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(fault))) => Err(fault.into()),
        Some(Err(fault)) => Err(Failure::Answer(fault.to_string())),
    }
}

fn own_word(number: usize) -> String {
    format!("word{number}")
}

fn sent(ended: Option<Result<Result<(), TalkFault>, tokio::task::JoinError>>) -> Result<(), Failure> {
    match ended {
        None | Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(TalkFault::Store(fault)))) => Err(fault.into()),
        Some(Ok(Err(other))) => Err(Failure::Answer(other.to_string())),
        Some(Err(fault)) => Err(Failure::Answer(fault.to_string())),
    }
}

fn name(number: usize) -> String {
    format!("agent-{number:05}")
}
