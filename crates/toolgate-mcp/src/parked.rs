//! Calls that wait for answers of a client of the newer era: the client goes away with the questions and comes back with
//! the answers, and the call goes on where it stood.
//!
//! They wait in the process that runs them. Another replica does not know them, and says so.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use aws_lc_rs::rand;
use serde_json::value::RawValue;
use tokio::{
    task::AbortHandle,
    time::{Instant, timeout_at},
};
use toolgate_core::Caller;
use toolgate_spine::{Question, Said};

use crate::{
    running::Running,
    session::{self, PrincipalDigest},
    state::PATIENCE_SECS,
};

/// Calls that wait at once. More than that, and no more are let wait.
const MOST: usize = 1024;
/// And of one caller, or of all strangers together: nobody takes the places of everybody else.
const MOST_OF_ONE: usize = MOST / 4;
/// Questions that come within this time are one.
const ASKED_TOGETHER: Duration = Duration::from_millis(30);

#[derive(Default)]
pub(crate) struct Parking {
    parked: Mutex<HashMap<[u8; 16], Waiting>>,
}

/// A call and the task that calls it off in the end.
struct Waiting {
    parked: Parked,
    owner: PrincipalDigest,
    end: AbortHandle,
}

pub(crate) struct Parked {
    pub(crate) running: Running,
    /// By the key the client knows them by.
    pub(crate) questions: BTreeMap<String, Question>,
}

impl Parked {
    /// A call that asked something. What else it asks at once is asked together: every trip to the client may be a trip to a
    /// person.
    pub(crate) async fn wait(running: Running, first: Question) -> Self {
        let mut running = running.driven();
        let mut questions = vec![first];
        let mut notes = Vec::new();
        let until = Instant::now() + ASKED_TOGETHER;
        while let Ok(Some(said)) = timeout_at(until, running.said.next()).await {
            match said {
                Said::Question(question) => questions.push(question),
                said => notes.push(said),
            }
        }
        running.said.keep(notes);
        let numbered = questions.into_iter().enumerate().map(|(at, question)| ((at + 1).to_string(), question));
        Self { questions: numbered.collect(), running }
    }

    /// The questions as `inputRequests`.
    pub(crate) fn requests(&self) -> String {
        let one = |(key, question): (&String, &Question)| {
            let (method, params) = (question.asking.method(), question.params.get());
            format!(r#""{key}":{{"method":"{method}","params":{params}}}"#)
        };
        format!("{{{}}}", self.questions.iter().map(one).collect::<Vec<_>>().join(","))
    }

    /// Hands answers on. What is still open stays so; what the call no longer wants to know does not.
    pub(crate) fn answer(&mut self, responses: &str) {
        let responses: BTreeMap<String, Box<RawValue>> = serde_json::from_str(responses).unwrap_or_default();
        for (key, response) in responses {
            if let Some(question) = self.questions.remove(&key) {
                let _ = question.answer.send(Ok(response));
            }
        }
        self.questions.retain(|_, question| !question.answer.is_closed());
    }
}

impl Parking {
    /// Lets a call wait, for a while. Gives it back where too many wait already.
    pub(crate) fn park(self: &Arc<Self>, parked: Parked, caller: &Caller) -> Result<[u8; 16], Box<Parked>> {
        let mut id = [0; 16];
        let owner = session::digest_of(caller);
        let mut all = self.parked();
        let full = all.len() >= MOST || all.values().filter(|one| one.owner == owner).count() >= MOST_OF_ONE;
        if full || rand::fill(&mut id).is_err() {
            return Err(Box::new(parked));
        }
        let parking = Arc::clone(self);
        // dropped, a call is called off
        let end = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(PATIENCE_SECS)).await;
            parking.take(&id);
        });
        all.insert(id, Waiting { parked, owner, end: end.abort_handle() });
        Ok(id)
    }

    /// Once: who comes second finds nothing.
    pub(crate) fn take(&self, id: &[u8; 16]) -> Option<Parked> {
        let Waiting { parked, end, .. } = self.parked().remove(id)?;
        end.abort();
        Some(parked)
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<[u8; 16], Waiting>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
