//! What was accepted, and what that says of the tools an upstream offers now.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::canonical::{Canonical, Digest};

/// The accepted definitions: by upstream, by the name the upstream gives its tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    // INVARIANT: no upstream without a pin, so that equal locks are written alike.
    pub(super) pins: BTreeMap<String, BTreeMap<String, Canonical>>,
}

/// One tool of an upstream, seen from the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub name: String,
    /// Of the definition offered now; absent where there is none, or none that can be read.
    pub digest: Option<Digest>,
    pub state: State,
}

/// Only `Accepted` may be listed or called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Accepted,
    New,
    /// `before` is the accepted definition's canonical JSON.
    Changed {
        before: String,
    },
    /// In the lock, no longer offered.
    Gone,
    /// Can't be pinned: no canonical form, or offered more than once.
    Unusable {
        reason: String,
    },
}

impl Lock {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether anything of this upstream was ever accepted.
    pub fn knows(&self, upstream: &str) -> bool {
        self.pins.contains_key(upstream)
    }

    pub fn upstreams(&self) -> impl Iterator<Item = &str> {
        self.pins.keys().map(String::as_str)
    }

    /// The accepted tools of an upstream, by name.
    pub fn accepted(&self, upstream: &str) -> impl Iterator<Item = (&str, &Canonical)> {
        self.pins.get(upstream).into_iter().flatten().map(|(name, pin)| (name.as_str(), pin))
    }

    pub(super) fn pin(&self, upstream: &str, name: &str) -> Option<&Canonical> {
        self.pins.get(upstream)?.get(name)
    }

    /// Every tool offered, in the order given, then those that are gone, by name.
    pub fn judge(&self, upstream: &str, offered: &[(&str, &RawValue)]) -> Vec<Judged> {
        let canonical = read(offered);
        let names: BTreeSet<&str> = offered.iter().map(|(name, _)| *name).collect();
        let judged = canonical.into_iter().map(|(name, definition)| {
            let digest = definition.as_ref().ok().map(Canonical::digest);
            let state = match (self.pin(upstream, name), definition) {
                (_, Err(reason)) => State::Unusable { reason },
                (None, Ok(_)) => State::New,
                (Some(pin), Ok(definition)) if *pin == definition => State::Accepted,
                (Some(pin), Ok(_)) => State::Changed { before: pin.as_str().to_owned() },
            };
            Judged { name: name.to_owned(), digest, state }
        });
        let gone = self.accepted(upstream).filter(|(name, _)| !names.contains(name));
        let gone = gone.map(|(name, _)| Judged { name: name.to_owned(), digest: None, state: State::Gone });
        judged.chain(gone).collect()
    }
}

/// Each definition's canonical form, or why it can't be pinned.
pub(super) fn read<'a>(offered: &[(&'a str, &RawValue)]) -> Vec<(&'a str, Result<Canonical, String>)> {
    let mut times = BTreeMap::<&str, usize>::new();
    for (name, _) in offered {
        *times.entry(name).or_default() += 1;
    }
    let read = |&(name, raw): &(&'a str, &RawValue)| match times.get(name) {
        Some(2..) => (name, Err("the upstream offers this name more than once".to_owned())),
        _ => (name, Canonical::of(raw.get()).map_err(|unreadable| unreadable.to_string())),
    };
    offered.iter().map(read).collect()
}
