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
use tokio::time::{Instant, timeout_at};
use toolgate_spine::{Question, Said};

use crate::{running::Running, state::PATIENCE_SECS};

/// Calls that wait at once. More than that, and no more are let wait.
const MOST: usize = 1024;
/// Questions that come within this time are one.
const ASKED_TOGETHER: Duration = Duration::from_millis(30);

#[derive(Default)]
pub(crate) struct Parking {
    parked: Mutex<HashMap<[u8; 16], Parked>>,
}

pub(crate) struct Parked {
    pub(crate) running: Running,
    /// By the key the client knows them by.
    pub(crate) questions: BTreeMap<String, Question>,
}

impl Parked {
    /// A call that asked something, or wanted to ask what the client can't be asked. What else it asks at once is asked
    /// together: every trip to the client may be a trip to a person. Without any question there is nothing to wait for.
    pub(crate) async fn wait(mut running: Running, first: Option<Question>) -> Result<Self, Running> {
        let mut questions: Vec<Question> = first.into_iter().collect();
        let until = Instant::now() + ASKED_TOGETHER;
        while let Ok(Some(said)) = timeout_at(until, running.said.recv()).await {
            if let Said::Question(question) = said {
                questions.push(question);
            }
        }
        if questions.is_empty() {
            return Err(running);
        }
        let numbered = questions.into_iter().enumerate().map(|(at, question)| ((at + 1).to_string(), question));
        Ok(Self { questions: numbered.collect(), running })
    }

    /// The questions as `inputRequests`.
    pub(crate) fn requests(&self) -> String {
        let one = |(key, question): (&String, &Question)| {
            let (method, params) = (question.asking.method(), question.params.get());
            format!(r#""{key}":{{"method":"{method}","params":{params}}}"#)
        };
        format!("{{{}}}", self.questions.iter().map(one).collect::<Vec<_>>().join(","))
    }

    /// Hands answers on. What is still open stays so.
    pub(crate) fn answer(&mut self, responses: &str) {
        let responses: BTreeMap<String, Box<RawValue>> = serde_json::from_str(responses).unwrap_or_default();
        for (key, response) in responses {
            if let Some(question) = self.questions.remove(&key) {
                let _ = question.answer.send(Ok(response));
            }
        }
    }
}

impl Parking {
    /// Lets a call wait, for a while. Gives it back where too many wait already.
    pub(crate) fn park(self: &Arc<Self>, parked: Parked) -> Result<[u8; 16], Parked> {
        let mut id = [0; 16];
        if rand::fill(&mut id).is_err() || self.parked().len() >= MOST {
            return Err(parked);
        }
        self.parked().insert(id, parked);
        let parking = Arc::clone(self);
        // dropped, a call is called off
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(PATIENCE_SECS)).await;
            parking.take(&id);
        });
        Ok(id)
    }

    /// Once: who comes second finds nothing.
    pub(crate) fn take(&self, id: &[u8; 16]) -> Option<Parked> {
        self.parked().remove(id)
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<[u8; 16], Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
