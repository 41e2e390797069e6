//! What clients of the older era asked for once and for all: a level of log messages, news of resources. It lasts as long as
//! their session, in the process that heard it: a client that is served by several replicas must come back to the same one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolgate_spine::LogLevel;

use crate::{session::SessionId, watches::Watches, wire};

/// Sessions whose wishes are kept.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct Wishes(Mutex<HashMap<SessionId, Wish>>);

struct Wish {
    level: LogLevel,
    watches: Arc<Watches>,
    expires: u64,
}

impl Wishes {
    /// What a session is told where it has not said: nothing that is only of use to whoever debugs the server.
    pub(crate) fn level(&self, session: &SessionId) -> LogLevel {
        self.all().get(session).map_or(LogLevel::Info, |wish| wish.level)
    }

    /// False where too many sessions have wishes.
    pub(crate) fn set_level(&self, session: SessionId, expires: u64, level: LogLevel) -> bool {
        self.change(session, expires, |wish| wish.level = level).is_some()
    }

    /// What the session watches; `None` where too many sessions have wishes.
    pub(crate) fn watches(&self, session: SessionId, expires: u64) -> Option<Arc<Watches>> {
        self.change(session, expires, |wish| Arc::clone(&wish.watches))
    }

    pub(crate) fn forget(&self, session: &SessionId) {
        self.all().remove(session);
    }

    fn change<T>(&self, session: SessionId, expires: u64, change: impl FnOnce(&mut Wish) -> T) -> Option<T> {
        let mut all = self.all();
        if all.len() >= MOST && !all.contains_key(&session) {
            let now = wire::now();
            all.retain(|_, wish| now < wish.expires);
            if all.len() >= MOST {
                return None;
            }
        }
        let wish =
            all.entry(session).or_insert_with(|| Wish { level: LogLevel::Info, watches: Arc::default(), expires });
        Some(change(wish))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Wish>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
