//! Changing the lock: taking what an upstream offers, and forgetting what was taken.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{
    canonical::{Canonical, Digest},
    lock::{Lock, read},
};

/// Which tools of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<'a> {
    All,
    Named(&'a [&'a str]),
    /// As someone saw them: a definition that is another one by now is refused.
    Reviewed(&'a [(&'a str, Digest)]),
}

/// What became of the choice, each by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acceptance {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    /// Chosen, no longer offered, and now forgotten.
    pub removed: Vec<String>,
    /// Left as they were.
    pub refused: Vec<Refused>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool '{}' was not accepted: {reason}", super::visible(.name))]
pub struct Refused {
    pub name: String,
    pub reason: String,
}

impl Lock {
    /// Pins the chosen tools as offered. A chosen tool that is gone leaves the lock.
    pub fn accept(&mut self, upstream: &str, choice: Choice<'_>, offered: &[(&str, &RawValue)]) -> Acceptance {
        let offered: BTreeMap<_, _> = read(offered).into_iter().collect();
        let chosen: BTreeMap<String, Option<Digest>> = match choice {
            Choice::All => {
                let pinned = self.accepted(upstream).map(|(name, _)| name);
                offered.keys().copied().chain(pinned).map(|name| (name.to_owned(), None)).collect()
            }
            Choice::Named(names) => names.iter().map(|name| ((*name).to_owned(), None)).collect(),
            Choice::Reviewed(seen) => seen.iter().map(|(name, digest)| ((*name).to_owned(), Some(*digest))).collect(),
        };
        let mut acceptance = Acceptance::default();
        for (name, seen) in chosen {
            match self.take(upstream, &name, seen, offered.get(name.as_str())) {
                Ok(Taken::Added) => acceptance.added.push(name),
                Ok(Taken::Changed) => acceptance.changed.push(name),
                Ok(Taken::Removed) => acceptance.removed.push(name),
                Ok(Taken::Same) => {}
                Err(reason) => acceptance.refused.push(Refused { name, reason }),
            }
        }
        acceptance
    }

    /// Drops the chosen pins; how many there were. A tool still offered is new from then on.
    pub fn forget(&mut self, upstream: &str, choice: Choice<'_>) -> usize {
        let Some(pins) = self.pins.get_mut(upstream) else { return 0 };
        let before = pins.len();
        match choice {
            Choice::All => pins.clear(),
            Choice::Named(names) => pins.retain(|name, _| !names.contains(&name.as_str())),
            Choice::Reviewed(seen) => pins.retain(|name, pin| !seen.contains(&(name.as_str(), pin.digest()))),
        }
        let after = pins.len();
        if after == 0 {
            self.pins.remove(upstream);
        }
        before - after
    }

    fn take(
        &mut self,
        upstream: &str,
        name: &str,
        seen: Option<Digest>,
        offered: Option<&Result<Canonical, String>>,
    ) -> Result<Taken, String> {
        let definition = match offered {
            Some(Ok(definition)) => definition,
            Some(Err(reason)) => return Err(reason.clone()),
            None if seen.is_some() => return Err("it is no longer offered".to_owned()),
            None if self.forget(upstream, Choice::Named(&[name])) > 0 => return Ok(Taken::Removed),
            None => return Err("the upstream offers no tool of this name, and none is in the lock".to_owned()),
        };
        if seen.is_some_and(|seen| seen != definition.digest()) {
            return Err("its definition changed after it was shown: look at the difference again".to_owned());
        }
        if self.pin(upstream, name) == Some(definition) {
            return Ok(Taken::Same);
        }
        let pins = self.pins.entry(upstream.to_owned()).or_default();
        match pins.insert(name.to_owned(), definition.clone()) {
            None => Ok(Taken::Added),
            Some(_) => Ok(Taken::Changed),
        }
    }
}

enum Taken {
    Added,
    Changed,
    Removed,
    Same,
}
