//! What clients of the older era asked for once and for all, a level of log messages and news of resources, and what waits
//! to be told to them. It lasts as long as their session, in the process that heard it: a client that is served by several
//! replicas must come back to the same one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolgate_core::QuotaPermit;
use toolgate_spine::LogLevel;

use crate::{
    mailbox::Mailbox,
    owner_key::{OwnerKey, OwnerQuota},
    session::SessionId,
    watches::Watches,
    wire::{self, Legacy},
};

/// Sessions whose wishes are kept.
const MOST: usize = 10_000;

/// What a session is told where it has not said: nothing that is only of use to whoever debugs the server.
const DEFAULT_LEVEL: LogLevel = LogLevel::Info;

/// Of them one owner's: its own sessions are refused more, and nobody else's.
const OF_ONE: usize = MOST / 8;

pub(crate) struct Wishes {
    all: Mutex<HashMap<SessionId, Wish>>,
    quota: OwnerQuota,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { all: Mutex::default(), quota: OwnerQuota::new(OF_ONE, MOST / 2) }
    }
}

struct Wish {
    owner: OwnerKey,
    _permit: QuotaPermit<OwnerKey>,
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
    pub(crate) fn set_level(&self, client: &Legacy, level: LogLevel) -> bool {
        self.change(client, |wish| wish.level = level).is_some()
    }

    /// What the session watches; `None` where too many sessions have wishes.
    pub(crate) fn watches(&self, client: &Legacy) -> Option<Arc<Watches>> {
        self.kept(client).map(|kept| kept.watches)
    }

    /// As [`Self::watches`], with what waits to be told.
    pub(crate) fn kept(&self, client: &Legacy) -> Option<Kept> {
        self.change(client, |wish| wish.kept.clone())
    }

    pub(crate) fn forget(&self, session: &SessionId) {
        self.all().remove(session);
    }

    fn change<T>(&self, client: &Legacy, change: impl FnOnce(&mut Wish) -> T) -> Option<T> {
        let Legacy { session, expires, owner, .. } = *client;
        let mut all = self.all();
        if let Some(wish) = all.get_mut(&session) {
            return Some(change(wish));
        }
        let permit = self.quota.take(owner).or_else(|| {
            let now = wire::now();
            let is_needed = |wish: &Wish| now < wish.expires && !wish.is_idle();
            all.retain(|_, wish| wish.owner != owner || is_needed(wish));
            self.quota.take(owner).or_else(|| {
                all.retain(|_, wish| is_needed(wish));
                self.quota.take(owner)
            })
        })?;
        let wish = Wish { owner, _permit: permit, level: DEFAULT_LEVEL, kept: Kept::default(), expires };
        Some(change(all.entry(session).or_insert(wish)))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Wish>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abilities::Abilities;

    fn session(number: usize) -> SessionId {
        let mut id = SessionId::default();
        for (slot, byte) in id.iter_mut().zip(number.to_be_bytes()) {
            *slot = byte;
        }
        id
    }

    /// A session of one owner.
    fn of(owner: u8, number: usize, expires: u64) -> Legacy {
        let owner = OwnerKey::Principal([owner; 32]);
        Legacy { abilities: Abilities::default(), session: session(number), expires, owner }
    }

    #[test]
    fn streams_without_wishes_leave_room_for_sessions_that_have_some() {
        let wishes = Wishes::default();
        let open = wishes.watches(&of(1, 0, u64::MAX)).unwrap();
        assert!(wishes.set_level(&of(1, 1, u64::MAX), LogLevel::Error));
        for number in 2..OF_ONE {
            wishes.watches(&of(1, number, u64::MAX)).unwrap();
        }
        assert!(wishes.set_level(&of(1, OF_ONE, u64::MAX), LogLevel::Debug));
        assert_eq!(wishes.level(&session(1)), LogLevel::Error, "what was wished is kept");
        let again = wishes.watches(&of(1, 0, u64::MAX)).unwrap();
        assert!(Arc::ptr_eq(&open, &again), "what an open stream looks at is kept");
        assert_eq!(wishes.all().len(), 3);
    }

    #[test]
    fn an_owner_of_too_many_sessions_is_refused_more_until_some_run_out_and_others_are_not() {
        let wishes = Wishes::default();
        assert!(wishes.set_level(&of(1, 0, wire::now()), LogLevel::Error));
        for number in 1..OF_ONE {
            assert!(wishes.set_level(&of(1, number, u64::MAX), LogLevel::Error));
        }
        assert!(wishes.set_level(&of(1, OF_ONE, u64::MAX), LogLevel::Error), "the one that ran out made room");
        assert!(!wishes.set_level(&of(1, OF_ONE + 1, u64::MAX), LogLevel::Error));
        assert!(wishes.set_level(&of(2, OF_ONE + 2, u64::MAX), LogLevel::Error), "another owner has its own share");
        wishes.forget(&session(3));
        assert!(wishes.set_level(&of(1, OF_ONE + 1, u64::MAX), LogLevel::Error));
    }

    #[test]
    fn anonymous_callers_of_many_addresses_leave_signed_in_callers_their_room() {
        let wishes = Wishes::default();
        let anonymous = |number: usize| {
            let [.., low, high] = number.to_be_bytes();
            let owner = OwnerKey::Address(Some([10, 0, low, high].into()));
            Legacy { abilities: Abilities::default(), session: session(number), expires: u64::MAX, owner }
        };
        let taken = (0..3 * MOST).filter(|number| wishes.set_level(&anonymous(*number), LogLevel::Error)).count();
        assert_eq!(taken, MOST / 2);
        assert!(wishes.set_level(&of(1, 4 * MOST, u64::MAX), LogLevel::Error));
    }
}
