//! Questions to clients of the older era: requests of ours, each waiting for the response that comes with another message.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use aws_lc_rs::rand;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use toolgate_core::Caller;
use toolgate_spine::{ClientFault, Question};

use crate::{
    elsewhere,
    json::text,
    message::Message,
    session::{self, PrincipalDigest, SessionId},
    state::PATIENCE_SECS,
};

/// Questions open at once, over all clients. More than that, and no more are asked.
const MOST: usize = 4096;
/// And to one caller, or to all strangers together: nobody takes the places of everybody else.
const MOST_TO_ONE: usize = MOST / 4;

#[derive(Default)]
pub(crate) struct Questions {
    waiting: Mutex<HashMap<String, Waiting>>,
}

struct Waiting {
    question: Question,
    owner: PrincipalDigest,
    /// Where the client has one: it may send its credential with calls only, and then answers as nobody.
    session: Option<SessionId>,
    since: Instant,
}

impl Questions {
    /// Takes a question and gives the request to send, with its id. `None` if there are too many, or the machine has no
    /// randomness to give: then nobody answers.
    pub(crate) fn ask(
        &self,
        question: Question,
        caller: &Caller,
        session: Option<SessionId>,
    ) -> Option<(String, Vec<u8>)> {
        // nobody else can guess it, and so answer in the client's place
        let mut id = [0; 16];
        rand::fill(&mut id).ok()?;
        let id = URL_SAFE_NO_PAD.encode(id);
        let (method, params) = (question.asking.method(), elsewhere::named(question.params.get(), &id));
        let request = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{params}}}"#);
        self.sweep();
        let owner = session::digest_of(caller);
        let mut waiting = self.waiting();
        if waiting.len() >= MOST || waiting.values().filter(|one| one.owner == owner).count() >= MOST_TO_ONE {
            return None;
        }
        waiting.insert(id.clone(), Waiting { question, owner, session, since: Instant::now() });
        Some((id, request.into_bytes()))
    }

    /// Gives up what was asked too long ago, and forgets what nobody wants to know any more.
    pub(crate) fn sweep(&self) {
        let patience = Duration::from_secs(PATIENCE_SECS);
        // whoever asked a dropped question is told that nobody answered
        self.waiting().retain(|_, one| one.since.elapsed() < patience && !one.question.answer.is_closed());
    }

    /// Gives up a question that could not be sent.
    pub(crate) fn withdraw(&self, id: &str) {
        self.waiting().remove(id);
    }

    /// Hands a client's response to whoever asked. A response nobody asked this caller for is nobody's. `session` is one that
    /// the caller may use.
    pub(crate) fn answered(&self, message: &Message<'_>, caller: &Caller, session: Option<SessionId>) {
        let Some(id) = message.id.and_then(text::string) else { return };
        let mut waiting = self.waiting();
        let may_answer =
            |one: &Waiting| session::is_owner(&one.owner, caller) || (session.is_some() && one.session == session);
        if !waiting.get(&*id).is_some_and(may_answer) {
            return;
        }
        if let Some(one) = waiting.remove(&*id) {
            let _ = one.question.answer.send(answer(message));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer(message: &Message<'_>) -> Result<Box<RawValue>, ClientFault> {
    #[derive(Deserialize)]
    struct Error<'a> {
        code: i64,
        message: String,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    let unreadable =
        || ClientFault { code: -32603, message: "the client's answer can't be read".to_owned(), data: None };
    match (message.result, message.error) {
        (Some(result), None) => RawValue::from_string(result.to_owned()).map_err(|_| unreadable()),
        (None, Some(error)) => {
            let error: Error<'_> = serde_json::from_str(error).map_err(|_| unreadable())?;
            let data = error.data.map(|data| data.get().to_owned());
            Err(ClientFault { code: error.code, message: error.message, data })
        }
        _ => Err(unreadable()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use toolgate_core::caller::UserId;
    use toolgate_spine::Asking;

    use super::*;

    type Answered = oneshot::Receiver<Result<Box<RawValue>, ClientFault>>;

    fn question() -> (Question, Answered) {
        let (answer, answered) = oneshot::channel();
        (Question { number: 1, asking: Asking::Roots, params: RawValue::NULL.to_owned(), answer }, answered)
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_do_not_take_everybodys_places_and_what_is_over_makes_room() {
        let questions = Questions::default();
        let (stranger, alice) =
            (Caller::anonymous(), Caller { user: Some(UserId::own("alice").unwrap()), ..Caller::default() });
        let mut open = Vec::new();
        for _ in 0..MOST_TO_ONE {
            let (question, answered) = question();
            assert!(questions.ask(question, &stranger, None).is_some());
            open.push(answered);
        }
        let (one_more, mut answered) = question();
        assert!(questions.ask(one_more, &stranger, None).is_none());
        assert!(matches!(answered.try_recv(), Err(oneshot::error::TryRecvError::Closed)), "nobody will answer");
        assert!(questions.ask(question().0, &alice, None).is_some());
        open.pop();
        let (now_there_is_room, _answered) = question();
        assert!(questions.ask(now_there_is_room, &stranger, None).is_some());
        tokio::time::advance(Duration::from_secs(PATIENCE_SECS)).await;
        questions.sweep();
        assert!(questions.waiting().is_empty());
        assert!(open.iter_mut().all(|answered| answered.try_recv().is_err()));
    }
}
