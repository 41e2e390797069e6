//! A call's answer, and what is said and asked before it: in one JSON message where the answer comes first, else in a
//! stream of events, or in lines.
//!
//! As long as nothing is sent the status is still free, so that a denial can be a 401 here too.

use std::collections::HashMap;

use bytes::Bytes;
use tokio::{sync::mpsc, time};
use toolgate_spine::{LogLevel, Outcome, Question, Said};

use crate::{
    framing,
    listen::KEEP_ALIVE_EVERY,
    notes::{self, Notes},
    refusal::Refusal,
    render::Asked,
    reply::Reply,
    running::Running,
};

/// How messages reach the client.
pub(crate) enum Out {
    Events(mpsc::Sender<Bytes>),
    Lines(mpsc::Sender<Bytes>),
}

impl Out {
    /// False if the client is gone; what becomes of the call is not decided here.
    async fn send(&self, parts: &[&[u8]]) -> bool {
        match self {
            Self::Events(out) => out.send(framing::event(parts)).await.is_ok(),
            Self::Lines(out) => out.send(framing::line(parts)).await.is_ok(),
        }
    }
}

/// Without a channel to say anything on: the answer alone.
pub(crate) async fn plain(asked: Asked, mut running: Running) -> Result<Reply, Refusal> {
    loop {
        tokio::select! {
            biased;
            Some(said) = running.said.next() => {
                if let Ok(question) = in_the_answer(&asked, said) {
                    return asked.ask(running, question).await.map(Reply::json);
                }
            }
            outcome = &mut running.outcome => {
                // Nothing can be said any more, but what the call lacked is still to be heard.
                running.said.rest();
                return asked.ended(outcome, &running.said, true).map(Reply::json);
            }
            () = asked.called_off() => return Ok(Reply::accepted()),
        }
    }
}

/// Over HTTP: events from the first thing said on, plain JSON if the answer comes before any.
pub(crate) async fn with_events(asked: Asked, mut running: Running, hears: Hears<'_>) -> Result<Reply, Refusal> {
    let mut outcome = None;
    let first = tokio::select! {
        biased;
        Some(said) = running.said.next() => match in_the_answer(&asked, said) {
            Ok(question) => return asked.ask(running, question).await.map(Reply::json),
            Err(said) => vec![said],
        },
        ended = &mut running.outcome => {
            // Something may have been said with the answer; if nothing was, it needs no stream.
            let said = running.said.rest();
            if said.is_empty() {
                return asked.ended(ended, &running.said, true).map(Reply::json);
            }
            outcome = Some(ended);
            said
        }
        // the protocol has no answer for it: the stream ends without
        () = asked.called_off() => return Ok(Reply::events(mpsc::channel(1).1)),
        () = time::sleep(KEEP_ALIVE_EVERY) => Vec::new(),
    };
    Ok(stream(asked, running, hears, first, outcome))
}

/// In the newer era whatever must be asked is asked in the answer.
fn in_the_answer(asked: &Asked, said: Said) -> Result<Question, Said> {
    match said {
        Said::Question(question) if asked.version.is_modern() => Ok(question),
        said => Err(said),
    }
}

fn stream(asked: Asked, running: Running, hears: Hears<'_>, first: Vec<Said>, outcome: Option<Outcome>) -> Reply {
    let (out, events) = mpsc::channel(16);
    let mut talk = Talk::new(asked, hears, Out::Events(out));
    tokio::spawn(async move {
        for said in first {
            talk.say(said).await;
        }
        let answer = talk.answer(running, outcome).await;
        if let Some(answer) = answer {
            talk.send_answer(answer).await;
        }
    });
    Reply::events(events)
}

/// On stdio notes, questions and answers share one channel.
pub(crate) async fn with_lines(
    asked: Asked,
    running: Running,
    hears: Hears<'_>,
    out: &mpsc::Sender<Bytes>,
) -> Result<Reply, Refusal> {
    match Talk::new(asked, hears, Out::Lines(out.clone())).answer(running, None).await {
        Some(answer) => answer.map(Reply::json),
        None => Ok(Reply::accepted()),
    }
}

/// What this request wants to hear. A call that waited for answers may have begun with a request that wanted more.
#[derive(Clone, Copy)]
pub(crate) struct Hears<'a> {
    pub(crate) token: Option<&'a str>,
    pub(crate) log: Option<LogLevel>,
}

struct Talk {
    asked: Asked,
    notes: Option<Notes>,
    log: Option<LogLevel>,
    /// What the client was asked under which id, by the question's number.
    open: HashMap<u64, String>,
    out: Out,
}

impl Talk {
    fn new(asked: Asked, hears: Hears<'_>, out: Out) -> Self {
        Self { asked, notes: hears.token.map(Notes::new), log: hears.log, open: HashMap::new(), out }
    }

    /// Says what is said until there is an answer. `None` if nobody is left to answer to.
    async fn answer(
        &mut self,
        mut running: Running,
        mut outcome: Option<Outcome>,
    ) -> Option<Result<[Bytes; 3], Refusal>> {
        let mut keep_alive = time::interval_at(time::Instant::now() + KEEP_ALIVE_EVERY, KEEP_ALIVE_EVERY);
        let outcome = loop {
            if let Some(outcome) = outcome.take() {
                break outcome;
            }
            // In the modern era hanging up cancels; in the older one the call goes on.
            let gone = match &self.out {
                Out::Events(out) if self.asked.version.is_modern() => Some(out.clone()),
                _ => None,
            };
            tokio::select! {
                biased;
                () = closed(gone.as_ref()) => return None,
                () = self.asked.called_off() => return None,
                Some(said) = running.said.next() => match in_the_answer(&self.asked, said) {
                    Ok(question) => return Some(self.asked.ask(running, question).await),
                    Err(said) => self.say(said).await,
                },
                ended = &mut running.outcome => outcome = Some(ended),
                _ = keep_alive.tick() => {
                    // A call waits for as long as it has a question open, so that none may stay open for ever.
                    self.asked.inner.questions.sweep();
                    // One that finds no room is not needed, and must not hold the call up.
                    if let Out::Events(out) = &self.out {
                        let _ = out.try_send(framing::KEEP_ALIVE);
                    }
                }
            }
        };
        for said in running.said.rest() {
            self.say(said).await;
        }
        Some(self.asked.ended(outcome, &running.said, false))
    }

    async fn say(&mut self, said: Said) {
        match said {
            Said::Progress(note) => {
                if let Some(message) = self.notes.as_mut().and_then(|notes| notes.message(&note)) {
                    self.out.send(&[&message]).await;
                }
            }
            Said::Log(params) => {
                if self.log.is_some_and(|least| notes::is_as_urgent(&params, least)) {
                    self.out.send(&[&notes::log(&params)]).await;
                }
            }
            Said::Question(question) => {
                let Asked { inner, caller, session, .. } = &self.asked;
                let number = question.number;
                if let Some((id, request)) = inner.questions.ask(question, caller, *session) {
                    if self.out.send(&[&request]).await {
                        self.open.insert(number, id);
                    } else {
                        inner.questions.withdraw(&id);
                    }
                }
            }
            Said::Withdrawn(number) => {
                if let Some(id) = self.open.remove(&number) {
                    self.asked.inner.questions.withdraw(&id);
                    self.out.send(&[&notes::withdrawn(&id)]).await;
                }
            }
            Said::Ended(params) => {
                if !self.out.send(&[&notes::ended(&params)]).await
                    && let Some(post) = &self.asked.post
                {
                    post.leave(params);
                }
            }
            Said::Lacks(_) => {}
        }
    }

    async fn send_answer(&self, answer: Result<[Bytes; 3], Refusal>) {
        match answer {
            Ok(parts) => self.out.send(&parts.each_ref().map(|part| &**part)).await,
            Err(refusal) => self.out.send(&[&refusal.body(Some(&self.asked.id))]).await,
        };
    }
}

async fn closed(out: Option<&mpsc::Sender<Bytes>>) {
    match out {
        Some(out) => out.closed().await,
        None => std::future::pending().await,
    }
}
