//! Fills a store by its own contract.

use std::ops::Range;

use tokio::task::JoinSet;
use toolgate_store::team::{
    NewMessage, NewTeamTask, TalkFault, TaskApproval, TaskFault, TaskPriority, TaskStatus, TeamTasks,
};
use toolgate_store::{Store, StoreError};

use super::{BUSY, PROJECT, Size, name, own_word};
use crate::failure::Failure;

/// Messages that are sent at the same time.
const AT_ONCE: usize = 64;
/// Tasks of one write.
const TOGETHER: usize = 500;

pub(super) async fn fill(store: &Store, size: Size) -> Result<(), Failure> {
    let Size { agents, tasks, messages } = size;
    add_tasks(&store.team().tasks(PROJECT)?, agents, 0..tasks).await?;
    add_messages(store, agents, 0..messages).await?;
    add_knowledge(store, 0..tasks).await
}

async fn add_tasks(tasks: &TeamTasks, agents: usize, numbers: Range<usize>) -> Result<(), Failure> {
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

async fn add_messages(store: &Store, agents: usize, numbers: Range<usize>) -> Result<(), Failure> {
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
            // everybody sends as many as everybody else, to all others in turn
            let sender = team.conversations(PROJECT, &name((n + 1 + n / agents) % agents));
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
async fn add_knowledge(store: &Store, numbers: Range<usize>) -> Result<(), Failure> {
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

fn sent(ended: Option<Result<Result<(), TalkFault>, tokio::task::JoinError>>) -> Result<(), Failure> {
    match ended {
        None | Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(TalkFault::Store(fault)))) => Err(fault.into()),
        Some(Ok(Err(other))) => Err(Failure::Answer(other.to_string())),
        Some(Err(fault)) => Err(Failure::Answer(fault.to_string())),
    }
}
