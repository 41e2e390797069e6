//! Tokens that were proven, remembered until they expire or something they rest on changes.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use aws_lc_rs::constant_time;
use quick_cache::{Equivalent, sync::Cache};
use toolgate_core::{Caller, caller::Runtime};

use super::{combine, jwt, standing::Standing};

/// What a proof rests on beside the token itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Basis {
    /// Every issuer's keys.
    pub(super) keys: u64,
    /// The rows of the user and of the tenant it acts for.
    pub(super) rows: u64,
    /// Every revocation of own tokens.
    pub(super) revocations: u64,
}

/// A proven token's facts, and the callers it makes when it is the only credential.
#[derive(Debug)]
pub(super) struct Proven {
    pub(super) standing: Standing,
    alone: Arc<Caller>,
    alone_in_browser: Arc<Caller>,
    until: u64,
    basis: Basis,
}

impl Proven {
    pub(super) fn new(standing: Standing, until: u64, basis: Basis) -> Self {
        let alone = combine::finish(standing.caller.clone(), false);
        let in_browser = Caller { runtime: Runtime::Client, ..alone.clone() };
        Self { standing, alone: Arc::new(alone), alone_in_browser: Arc::new(in_browser), until, basis }
    }

    /// The caller this token makes by itself. `None` where a task's row must be asked first.
    pub(super) fn alone(&self, browser: bool) -> Option<Arc<Caller>> {
        let caller = if browser { &self.alone_in_browser } else { &self.alone };
        self.standing.claimed_task.is_none().then(|| Arc::clone(caller))
    }

    /// An agent may be suspended or moved: its row is asked each time.
    pub(super) fn names_agent(&self) -> bool {
        self.standing.caller.agent.is_some()
    }
}

pub(super) struct ProvenTokens(Cache<Held, Arc<Proven>>);

impl ProvenTokens {
    pub(super) fn new(capacity: usize) -> Self {
        Self(Cache::new(capacity))
    }

    /// Only while everything it rests on is as it was.
    pub(super) fn get(&self, token: &str, basis: impl FnOnce(&Standing) -> Basis) -> Option<Arc<Proven>> {
        self.last_known(token).filter(|proven| proven.basis == basis(&proven.standing))
    }

    /// Whatever became of what it rests on: for showing, never for doing.
    pub(super) fn last_known(&self, token: &str) -> Option<Arc<Proven>> {
        self.0.get(&Shown(token)).filter(|proven| jwt::now() < proven.until)
    }

    /// Only what was proven goes in, so strangers can neither fill the cache nor choose what is in it.
    pub(super) fn put(&self, token: &str, proven: Arc<Proven>) {
        self.0.insert(Held(token.into()), proven);
    }
}

/// A token in the cache, and one that is looked up. The hash is keyed at random per process; equality takes the same time
/// wherever two tokens differ, so that the cache can't be used to guess one byte by byte.
struct Held(Box<str>);
struct Shown<'a>(&'a str);

impl Hash for Held {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Hash for Shown<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        Shown(&other.0).equivalent(self)
    }
}

impl Eq for Held {}

impl Equivalent<Held> for Shown<'_> {
    fn equivalent(&self, held: &Held) -> bool {
        constant_time::verify_slices_are_equal(self.0.as_bytes(), held.0.as_bytes()).is_ok()
    }
}

impl fmt::Debug for ProvenTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProvenTokens").field("len", &self.0.len()).finish()
    }
}
