//! What a process has heard of: how often each tenant and user changed, and up to which change that is true.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex as StdMutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use tokio::sync::Mutex;

use super::{ClockReading, Follow, LEASE, Subject};

/// Tenants and users are counted together with those that fall into the same place: two that share one are both looked up
/// again when one changes, which costs a little and is never wrong.
const PLACES: u64 = 4096;
const TENANT: u8 = 0;
const USER: u8 = 1;

pub(crate) struct Memory {
    /// The last change heard of; negative before any.
    seen: AtomicI64,
    everybody: AtomicU64,
    tokens: AtomicU64,
    places: Vec<AtomicU64>,
    hash: RandomState,
    /// Notices of changes that reached this process.
    heard: AtomicU64,
    held: StdMutex<Held>,
    /// One at a time catches up; the others find it done.
    pub(super) turn: Mutex<()>,
    pub(super) follower: OnceLock<Arc<dyn Follow>>,
    /// The catalogue changed before there was a follower.
    pub(super) missed: AtomicBool,
    /// The name this process holds its lease by.
    pub(super) replica: OnceLock<String>,
}

/// Under what all this was true, and until when.
#[derive(Default)]
struct Held {
    mark: Option<u64>,
    heard: u64,
    /// When the lease was asked for.
    leased: Option<ClockReading>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            seen: AtomicI64::new(-1),
            everybody: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            places: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
            hash: RandomState::new(),
            heard: AtomicU64::new(0),
            held: StdMutex::default(),
            turn: Mutex::default(),
            follower: OnceLock::new(),
            missed: AtomicBool::new(false),
            replica: OnceLock::new(),
        }
    }
}

impl Memory {
    /// `mark`: how far changes have come, where that can be seen without asking.
    pub(super) fn is_current(&self, mark: Option<u64>) -> bool {
        if self.seen().is_none() {
            return false;
        }
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match mark {
            Some(_) => held.mark == mark,
            None => {
                held.heard == self.heard_of()
                    && held.leased.is_some_and(|leased| ClockReading::now().is_within(LEASE, &leased))
            }
        }
    }

    pub(super) fn hold(&self, mark: Option<u64>, heard: u64, leased: Option<ClockReading>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Held { mark, heard, leased };
    }

    pub(super) fn heard(&self) {
        self.heard.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn heard_of(&self) -> u64 {
        self.heard.load(Ordering::Acquire)
    }

    pub(super) fn seen(&self) -> Option<i64> {
        Some(self.seen.load(Ordering::Acquire)).filter(|seen| *seen >= 0)
    }

    pub(super) fn set_seen(&self, seen: i64) {
        self.seen.store(seen, Ordering::Release);
    }

    pub(super) fn count(&self, tenant: Option<&str>, user: Option<&str>) -> u64 {
        let places = [tenant.and_then(|id| self.place_of(TENANT, id)), user.and_then(|id| self.place_of(USER, id))];
        let load = |place: &AtomicU64| place.load(Ordering::Acquire);
        places.into_iter().flatten().map(load).fold(load(&self.everybody), u64::wrapping_add)
    }

    pub(super) fn token_count(&self) -> u64 {
        self.tokens.load(Ordering::Acquire).wrapping_add(self.everybody.load(Ordering::Acquire))
    }

    pub(super) fn forget(&self, news: &[Subject]) {
        for place in news.iter().filter_map(|subject| self.place(subject)) {
            place.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The catalogue is nobody's: who follows it was told.
    fn place(&self, subject: &Subject) -> Option<&AtomicU64> {
        match subject {
            Subject::Tenant(id) => self.place_of(TENANT, id),
            Subject::User(id) => self.place_of(USER, id),
            Subject::Everybody => Some(&self.everybody),
            Subject::Tokens => Some(&self.tokens),
            Subject::Catalog => None,
        }
    }

    fn place_of(&self, kind: u8, id: &str) -> Option<&AtomicU64> {
        let hash = usize::try_from(self.hash.hash_one((kind, id)) % PLACES).unwrap_or_default();
        self.places.get(hash)
    }
}
