//! The state a client of the newer era brings back with its answers. It is in the client's hands meanwhile, so it is sealed
//! and good only for the same caller and the same call, for a while.

use aws_lc_rs::digest;
use toolgate_core::{Caller, Kind};

use crate::{seal::Seal, session};

/// How long a client may take to answer.
pub(crate) const PATIENCE_SECS: u64 = 10 * 60;

/// What the state stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// A source's own state, if it gave one.
    Source(Option<String>),
    /// A call of ours that waits for the answers.
    Parked([u8; 16]),
    /// Nothing: the client was sent to an address, and the call is made anew.
    Elsewhere,
}

/// The request that a state belongs to.
pub(crate) struct Belongs<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) kind: Kind,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

pub(crate) struct States(Seal);

impl States {
    pub(crate) fn new(master: &[u8]) -> Self {
        Self(Seal::derive(master, "toolgate request state 1"))
    }

    pub(crate) fn seal(&self, state: &State, to: &Belongs<'_>, now: u64) -> String {
        let mut payload = now.saturating_add(PATIENCE_SECS).to_be_bytes().to_vec();
        match state {
            State::Source(None) => payload.push(0),
            State::Source(Some(text)) => {
                payload.push(1);
                payload.extend_from_slice(text.as_bytes());
            }
            State::Parked(id) => {
                payload.push(2);
                payload.extend_from_slice(id);
            }
            State::Elsewhere => payload.push(3),
        }
        to.bind(|bound| self.0.seal(&payload, bound))
    }

    /// `None` for a state that is made up, of another call or caller, or too old.
    pub(crate) fn open(&self, sealed: &str, to: &Belongs<'_>, now: u64) -> Option<State> {
        let payload = to.bind(|bound| self.0.open_any(sealed, bound))?;
        let (expires, rest) = payload.split_first_chunk::<8>()?;
        if u64::from_be_bytes(*expires) <= now {
            return None;
        }
        match rest.split_first()? {
            (0, []) => Some(State::Source(None)),
            (1, text) => String::from_utf8(text.to_vec()).ok().map(|text| State::Source(Some(text))),
            (2, id) => id.try_into().ok().map(State::Parked),
            (3, []) => Some(State::Elsewhere),
            _ => None,
        }
    }
}

impl Belongs<'_> {
    fn bind<T>(&self, with: impl FnOnce(&[&[u8]]) -> T) -> T {
        let owner = session::digest_of(self.caller);
        let arguments = digest::digest(&digest::SHA256, self.arguments.as_bytes());
        with(&[&owner, self.kind.as_str().as_bytes(), self.name.as_bytes(), arguments.as_ref()])
    }
}

#[cfg(test)]
mod tests {
    use toolgate_core::caller::UserId;

    use super::*;

    #[test]
    fn a_state_opens_for_its_own_caller_and_call_only_and_not_for_ever() {
        let states = States::new(b"key");
        let alice = Caller { user: Some(UserId::own("alice").unwrap()), ..Caller::default() };
        let nobody = Caller::default();
        let to = |caller, name, arguments| Belongs { caller, kind: Kind::Tool, name, arguments };
        for state in [State::Source(None), State::Source(Some("x\"y".into())), State::Parked([7; 16]), State::Elsewhere]
        {
            let sealed = states.seal(&state, &to(&alice, "t", "{}"), 1000);
            assert_eq!(states.open(&sealed, &to(&alice, "t", "{}"), 1500), Some(state));
            assert_eq!(states.open(&sealed, &to(&alice, "t", "{}"), 1600), None);
            assert_eq!(states.open(&sealed, &to(&nobody, "t", "{}"), 1500), None);
            assert_eq!(states.open(&sealed, &to(&alice, "u", "{}"), 1500), None);
            assert_eq!(states.open(&sealed, &to(&alice, "t", "{ }"), 1500), None);
            let prompt = Belongs { kind: Kind::Prompt, ..to(&alice, "t", "{}") };
            assert_eq!(states.open(&sealed, &prompt, 1500), None);
            assert_eq!(States::new(b"other").open(&sealed, &to(&alice, "t", "{}"), 1500), None);
        }
        assert_eq!(states.open("", &to(&alice, "t", "{}"), 1500), None);
    }
}
