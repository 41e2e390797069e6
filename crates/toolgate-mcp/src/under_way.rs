//! Calls of the older era over HTTP, which their clients call off with a message of its own: hanging up does not say it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{json::text, session::SessionId};

/// By the session and the request's id in it. Without a session nobody could tell whose request is meant.
#[derive(Default)]
pub(crate) struct UnderWay(Mutex<HashMap<(SessionId, String), Arc<Notify>>>);

/// One call, for as long as it is held.
pub(crate) struct Begun {
    all: Arc<UnderWay>,
    key: (SessionId, String),
    off: Arc<Notify>,
}

impl UnderWay {
    pub(crate) fn begin(self: &Arc<Self>, session: SessionId, id: &str) -> Begun {
        let (key, off) = ((session, key(id)), Arc::<Notify>::default());
        self.all().insert(key.clone(), Arc::clone(&off));
        Begun { all: Arc::clone(self), key, off }
    }

    /// What is not under way, or of another session, is let be.
    pub(crate) fn call_off(&self, session: SessionId, id: &str) {
        if let Some(off) = self.all().get(&(session, key(id))) {
            off.notify_one();
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<(SessionId, String), Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Begun {
    pub(crate) async fn called_off(&self) {
        self.off.notified().await;
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let mut all = self.all.all();
        // a client that uses an id twice has only its later call to call off
        if all.get(&self.key).is_some_and(|off| Arc::ptr_eq(off, &self.off)) {
            all.remove(&self.key);
        }
    }
}

/// Ids are equal if they say the same, however they are written.
pub(crate) fn key(id: &str) -> String {
    match text::string(id) {
        Some(text) => format!("\"{text}"),
        None => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_is_called_off_in_its_own_session_and_leaves_nothing_behind() {
        let all = Arc::<UnderWay>::default();
        let (one, other) = (all.begin([1; 16], "\"a\""), all.begin([2; 16], "\"a\""));
        all.call_off([1; 16], "\"\\u0061\"");
        one.called_off().await;
        all.call_off([2; 16], "\"b\"");
        let later = all.begin([2; 16], "\"a\"");
        drop(other);
        all.call_off([2; 16], "\"a\"");
        later.called_off().await;
        drop((one, later));
        assert!(all.all().is_empty());
    }
}
