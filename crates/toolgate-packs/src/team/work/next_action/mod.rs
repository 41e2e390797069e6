//! `get_next_action`: how things stand becomes what to do. Read, decide, mark what is handed out, tell.
//!
//! INVARIANT: one decision (`task::decide`, `chat::decide`) is behind every answer, whether the caller waited or not. What is
//! read is read after listening began, so that nothing that comes in between is missed.

mod action;
mod chat;
mod task;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;
use toolgate_core::caller::Purpose;
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::{
    Change, Changes, StoreError,
    team::{AgentStatus, SessionState},
};

use self::{
    action::{Action, Standing},
    chat::{ChatSituation, Choice},
    task::TaskSituation,
};
use super::seat::Seat;
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

pub(super) use task::how_to_work;

const DEFAULT_WAIT: Duration = Duration::from_secs(45);
/// The longest wait that can be asked for; the tool's time limit is above it.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// How long before its end a quiet chat session is told to log out: while its token still counts.
const FAREWELL_MS: i64 = 10_000;
/// Between two looks at a store that is away.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
struct Patience {
    timeout_seconds: Option<u64>,
}

pub(super) async fn get_next_action(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Patience { timeout_seconds } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let action = if seat.purpose == Some(Purpose::Chat) {
        let wait = timeout_seconds.map_or(DEFAULT_WAIT, Duration::from_secs).min(LONGEST_WAIT);
        // heard from before the first look, so that nothing in between is missed
        let changes = pack.store.changes();
        let session = seat.session().await?.map(|session| session.id);
        Poll { pack, call, changes, session, until: Instant::now() + wait }.answer().await?
    } else {
        task::decide(&look_at_task(&seat).await?)
    };
    // by the way: what others did, and nobody has to act on at once
    let action = if seat.notifications().any().await? {
        let look = Text::new("Call get_notifications.", "get_notificationsを呼び出してください。");
        action.with("notification", look.get(call.lang()))
    } else {
        action
    };
    said(&action.said(call.lang()))
}

/// Waits for news without a thread, for as long as its caller does.
struct Poll<'a> {
    pack: &'a TeamPack,
    call: &'a Recorded,
    changes: Changes,
    /// It began in a live session: when that is over, so is the wait.
    session: Option<String>,
    until: Instant,
}

/// What one look gave.
enum Look {
    Act(Action),
    /// Nothing yet; the clock itself brings something after this long.
    Nothing(Action, Duration),
    /// The store is away.
    Away(Failure),
}

impl Poll<'_> {
    async fn answer(mut self) -> Result<Action, Failure> {
        loop {
            let look = self.look().await?;
            let over = Instant::now() >= self.until;
            let (wait, instead) = match look {
                Look::Act(action) => return Ok(action),
                Look::Nothing(action, wait) => (wait, Ok(action)),
                Look::Away(failure) => (PAUSE, Err(failure)),
            };
            if over || !self.news(wait).await {
                return instead;
            }
        }
    }

    /// Until there may be something new: news for the agent, the end of the wait, or a time that the clock brings. False if
    /// nothing will ever come.
    async fn news(&mut self, wait: Duration) -> bool {
        let (project, me) = match &self.call.caller().agent {
            Some(agent) => (agent.project.as_deref().unwrap_or_default(), agent.id.as_str()),
            None => return false,
        };
        let until = self.until.min(Instant::now() + wait);
        let (changes, session) = (&mut self.changes, &self.session);
        let news = async {
            loop {
                match tokio::time::timeout_at(until, changes.next()).await {
                    Ok(Some(Change::Team { project: of, agents }))
                        if of == project && agents.iter().any(|agent| agent == me) =>
                    {
                        return true;
                    }
                    Ok(Some(Change::AgentSession { id })) if session.as_ref() == Some(&id) => return true,
                    Ok(Some(Change::Resync)) | Err(_) => return true,
                    Ok(Some(_)) => {}
                    Ok(None) => return false,
                }
            }
        };
        // too many calls of this agent wait already: this one is answered with what there is
        self.call.client().while_waiting(self.call.caller(), news).await.unwrap_or(false)
    }

    async fn look(&self) -> Result<Look, Failure> {
        // as late as can be: the clock goes on while somebody waits
        let seat = Seat::of(self.pack, self.call)?;
        match step(&seat, self.session.is_some()).await {
            Ok(look) => Ok(look),
            Err(fault @ (StoreError::Unavailable { .. } | StoreError::Overloaded { .. })) => {
                Ok(Look::Away(fault.into()))
            }
            Err(fault) => Err(fault.into()),
        }
    }
}

/// Looks until what was decided could also be marked: another session of the same agent may be faster.
async fn step(seat: &Seat, in_session: bool) -> Result<Look, StoreError> {
    loop {
        let (situation, idle_at) = look_at_chat(seat, in_session).await?;
        let talks = seat.conversations();
        let handed_out = match chat::decide(&situation) {
            Choice::Say(action) => return Ok(Look::Act(action)),
            Choice::Wait(action) => return Ok(Look::Nothing(action, next_time(&situation, idle_at))),
            Choice::Accept(talk) => talks.accept(&talk.id, seat.now).await?.map(|talk| chat::accepted(&talk)),
            Choice::Tell(talk) => talks.tell(&talk.id, seat.now).await?.map(|talk| chat::told(&talk, &seat.agent)),
            Choice::Take(delegation) => match seat.delegations().take(&delegation, seat.now).await {
                Ok(taken) => taken.map(|taken| chat::taken(&taken)),
                Err(toolgate_store::team::DelegationFault::Store(fault)) => return Err(fault),
                Err(_) => None,
            },
        };
        if let Some(action) = handed_out {
            return Ok(Look::Act(action));
        }
    }
}

/// When a conversation expires or the session is to be told to log out, if nothing happens before.
fn next_time(situation: &ChatSituation, idle_at: Option<i64>) -> Duration {
    let ends = situation.conversations.iter().filter_map(|talk| talk.expires_at());
    let first = ends.chain(idle_at).min().unwrap_or(i64::MAX);
    let millis = u64::try_from(first.saturating_sub(situation.now)).unwrap_or(0);
    Duration::from_millis(millis).clamp(Duration::from_millis(1), LONGEST_WAIT)
}

async fn look_at_chat(seat: &Seat, in_session: bool) -> Result<(ChatSituation, Option<i64>), StoreError> {
    let session = seat.chat_session().await?;
    let idle_at = session.as_ref().map(|session| session.ends_at().saturating_sub(FAREWELL_MS));
    let state = seat.desk().state().await?;
    let situation = ChatSituation {
        standing: Standing {
            ended: in_session && session.is_none(),
            terminating: session.as_ref().is_some_and(|session| session.state != SessionState::Active),
            unreported: session.as_ref().is_some_and(|session| session.reported_model.is_none()),
        },
        agent: seat.agent.clone(),
        conversations: seat.conversations().open().await?,
        delegations: seat.delegations().open().await?,
        unread: state.read < state.received,
        idle: idle_at.is_some_and(|idle_at| seat.now >= idle_at),
        now: seat.now,
    };
    Ok((situation, idle_at))
}

async fn look_at_task(seat: &Seat) -> Result<TaskSituation, Failure> {
    let session = seat.session().await?;
    let waiting = seat.team().waiting(&seat.agent, &seat.project).await?;
    let tasks = seat.tasks()?;
    let task = match &waiting.task {
        Some(id) => tasks.get(id).await?,
        None => None,
    };
    let standing = Standing {
        ended: false,
        terminating: session.as_ref().is_some_and(|session| session.state != SessionState::Active),
        unreported: session.as_ref().is_some_and(|session| session.reported_model.is_none()),
    };
    let Some(task) = task else {
        return Ok(TaskSituation { standing, manager: seat.manager, ..TaskSituation::default() });
    };
    let known_by = session.as_ref().map_or(task.id.as_str(), |session| session.id.as_str());
    let is_working = |agent: &toolgate_store::team::Agent| agent.status == AgentStatus::Active;
    let mut has_workers = false;
    if seat.manager && waiting.parts.unassigned {
        for agent in seat.team().agents().under(&seat.agent).await?.into_iter().filter(is_working) {
            has_workers |= seat.team().assignments().get(&agent.id, &seat.project).await?.is_some();
        }
    }
    Ok(TaskSituation {
        standing,
        manager: seat.manager,
        fetched: seat.desk().state().await?.fetched.as_deref() == Some(known_by),
        parts: waiting.parts,
        at_work: tasks.at_work(&task.id, &seat.agent).await?,
        startable: tasks.startable(&task.id, &seat.agent).await?,
        dispatchable: tasks.dispatchable(&task.id, &seat.agent).await?,
        blocked: if waiting.parts.blocked || waiting.parts.handled {
            tasks.blocked(&task.id).await?
        } else {
            Vec::new()
        },
        unassigned: if waiting.parts.unassigned { tasks.unassigned(&task.id).await? } else { Vec::new() },
        has_workers,
        task: Some(task),
    })
}
