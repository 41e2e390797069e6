//! Sessions of anonymous callers that were ended. They carry no right and are nobody's, so that this process alone remembers
//! them, and no more of them than it has room for.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use toolgate_core::forget_tenth;

use crate::session::SessionId;

/// Sessions remembered at the most; of more, those are forgotten that run out first.
const MOST: usize = 10_000;

/// Ended sessions by the time at which they would have run out.
#[derive(Default)]
pub(crate) struct EndedSessions(Mutex<HashMap<SessionId, u64>>);

impl EndedSessions {
    pub(crate) fn insert(&self, id: SessionId, expires: u64, now: u64) {
        let mut ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.len() >= MOST {
            ended.retain(|_, expires| *expires > now);
        }
        if ended.len() >= MOST {
            forget_tenth(&mut ended, MOST, |expires| *expires);
        }
        ended.insert(id, expires);
    }

    pub(crate) fn contains(&self, id: &SessionId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u64) -> SessionId {
        let mut id = SessionId::default();
        for (slot, byte) in id.iter_mut().zip(number.to_be_bytes()) {
            *slot = byte;
        }
        id
    }

    #[test]
    fn so_many_are_remembered_and_the_latest_stay() {
        let ended = EndedSessions::default();
        for number in 0..50_000 {
            ended.insert(session(number), 1_000_000 + number, 0);
        }
        assert!(ended.0.lock().unwrap().len() <= MOST);
        assert!(ended.contains(&session(49_999)) && !ended.contains(&session(0)));
        for number in 50_000..100_000 {
            ended.insert(session(number), 7_000_000, 0);
        }
        assert!(ended.0.lock().unwrap().len() <= MOST, "also where all run out at once");
        // those that have run out are forgotten before any other is, once there is no room
        for number in 200_000..200_000 + MOST as u64 {
            ended.insert(session(number), 9_000_000, 8_000_000);
        }
        assert!(!ended.contains(&session(99_999)));
        assert!((200_000..200_000 + MOST as u64).all(|number| ended.contains(&session(number))));
    }
}
