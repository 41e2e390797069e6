//! What a client of the older era is to hear when no call of it is under way, kept until a stream of its session takes it.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::value::RawValue;
use tokio::sync::Notify;
use toolgate_spine::Post;

use crate::{wire::Legacy, wishes::Wishes};

/// Notes that wait for one client. Of more, the oldest are lost: clients must do without them in any case.
const MOST: usize = 64;

#[derive(Default)]
pub(crate) struct Mailbox {
    notes: Mutex<VecDeque<Box<RawValue>>>,
    any: Notify,
}

impl Mailbox {
    pub(crate) fn put(&self, note: Box<RawValue>) {
        let mut notes = self.notes();
        if notes.len() >= MOST {
            notes.pop_front();
        }
        notes.push_back(note);
        self.any.notify_one();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.notes().is_empty()
    }

    /// Waits for notes and takes them, in their order.
    pub(crate) async fn taken(&self) -> Vec<Box<RawValue>> {
        loop {
            let notes: Vec<_> = self.notes().drain(..).collect();
            if !notes.is_empty() {
                return notes;
            }
            self.any.notified().await;
        }
    }

    fn notes(&self) -> MutexGuard<'_, VecDeque<Box<RawValue>>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mailbox of a session, made when there is something to put in.
pub(crate) struct SessionPost {
    wishes: Arc<Wishes>,
    client: Legacy,
}

impl SessionPost {
    /// Of a client that can be sent to an address; of no other is there anything to hear.
    pub(crate) fn of(wishes: &Arc<Wishes>, client: &Legacy) -> Option<Arc<dyn Post>> {
        client
            .abilities
            .includes_addresses()
            .then(|| Arc::new(Self { wishes: Arc::clone(wishes), client: *client }) as _)
    }
}

impl Post for SessionPost {
    fn whose(&self) -> [u8; 16] {
        self.client.session
    }

    fn leave(&self, note: Box<RawValue>) {
        match self.wishes.kept(&self.client) {
            Some(kept) => kept.mailbox.put(note),
            None => tracing::debug!("too many sessions have wishes: one misses that an interaction has ended"),
        }
    }
}

impl fmt::Debug for SessionPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionPost").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn notes_are_taken_in_order_and_of_too_many_the_oldest_are_lost() {
        let mailbox = Mailbox::default();
        for number in 0..MOST + 2 {
            mailbox.put(RawValue::from_string(number.to_string()).unwrap());
        }
        let taken = mailbox.taken().await;
        assert_eq!(taken.len(), MOST);
        assert_eq!((taken[0].get(), taken[MOST - 1].get()), ("2", &*(MOST + 1).to_string()));
        assert!(mailbox.is_empty());
    }
}
