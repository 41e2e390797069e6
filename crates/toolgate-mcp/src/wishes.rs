//! What clients of the older era asked for once and for all, a level of log messages and news of resources, and what waits
//! to be told to them. It lasts as long as their session, in the process that heard it: a client that is served by several
//! replicas must come back to the same one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolgate_spine::LogLevel;

use crate::{mailbox::Mailbox, session::SessionId, watches::Watches, wire};

/// Sessions whose wishes are kept.
const MOST: usize = 10_000;

/// What a session is told where it has not said: nothing that is only of use to whoever debugs the server.
const DEFAULT_LEVEL: LogLevel = LogLevel::Info;

#[derive(Default)]
pub(crate) struct Wishes(Mutex<HashMap<SessionId, Wish>>);

struct Wish {
    level: LogLevel,
    kept: Kept,
    expires: u64,
}

/// What a stream of the session looks at.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    pub(crate) watches: Arc<Watches>,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Wish {
    /// Nothing would be lost with it: every stream of a session leaves one behind.
    fn is_idle(&self) -> bool {
        let Kept { watches, mailbox } = &self.kept;
        self.level == DEFAULT_LEVEL
            && watches.is_empty()
            && mailbox.is_empty()
            && Arc::strong_count(watches) == 1
            && Arc::strong_count(mailbox) == 1
    }
}

impl Wishes {
    pub(crate) fn level(&self, session: &SessionId) -> LogLevel {
        self.all().get(session).map_or(DEFAULT_LEVEL, |wish| wish.level)
    }

    /// False where too many sessions have wishes.
    pub(crate) fn set_level(&self, session: SessionId, expires: u64, level: LogLevel) -> bool {
        self.change(session, expires, |wish| wish.level = level).is_some()
    }

    /// What the session watches; `None` where too many sessions have wishes.
    pub(crate) fn watches(&self, session: SessionId, expires: u64) -> Option<Arc<Watches>> {
        self.kept(session, expires).map(|kept| kept.watches)
    }

    /// As [`Self::watches`], with what waits to be told.
    pub(crate) fn kept(&self, session: SessionId, expires: u64) -> Option<Kept> {
        self.change(session, expires, |wish| wish.kept.clone())
    }

    pub(crate) fn forget(&self, session: &SessionId) {
        self.all().remove(session);
    }

    fn change<T>(&self, session: SessionId, expires: u64, change: impl FnOnce(&mut Wish) -> T) -> Option<T> {
        let mut all = self.all();
        if all.len() >= MOST && !all.contains_key(&session) {
            let now = wire::now();
            all.retain(|_, wish| now < wish.expires && !wish.is_idle());
            if all.len() >= MOST {
                return None;
            }
        }
        let wish = all.entry(session).or_insert_with(|| Wish { level: DEFAULT_LEVEL, kept: Kept::default(), expires });
        Some(change(wish))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Wish>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: usize) -> SessionId {
        let mut id = SessionId::default();
        for (slot, byte) in id.iter_mut().zip(number.to_be_bytes()) {
            *slot = byte;
        }
        id
    }

    #[test]
    fn streams_without_wishes_leave_room_for_sessions_that_have_some() {
        let wishes = Wishes::default();
        let open = wishes.watches(session(0), u64::MAX).unwrap();
        assert!(wishes.set_level(session(1), u64::MAX, LogLevel::Error));
        for number in 2..MOST {
            wishes.watches(session(number), u64::MAX).unwrap();
        }
        assert!(wishes.set_level(session(MOST), u64::MAX, LogLevel::Debug));
        assert_eq!(wishes.level(&session(1)), LogLevel::Error, "what was wished is kept");
        let again = wishes.watches(session(0), u64::MAX).unwrap();
        assert!(Arc::ptr_eq(&open, &again), "what an open stream looks at is kept");
        assert_eq!(wishes.all().len(), 3);
    }

    #[test]
    fn where_too_many_sessions_have_wishes_no_more_are_taken_until_some_run_out() {
        let wishes = Wishes::default();
        assert!(wishes.set_level(session(0), wire::now(), LogLevel::Error));
        for number in 1..MOST {
            assert!(wishes.set_level(session(number), u64::MAX, LogLevel::Error));
        }
        assert!(wishes.set_level(session(MOST), u64::MAX, LogLevel::Error), "the one that ran out made room");
        assert!(!wishes.set_level(session(MOST + 1), u64::MAX, LogLevel::Error));
        wishes.forget(&session(3));
        assert!(wishes.set_level(session(MOST + 1), u64::MAX, LogLevel::Error));
    }
}
