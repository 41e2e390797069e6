//! A call's answer, and what is said and asked before it: in one JSON message where the answer comes first, else in a
//! stream of events, or in lines.
//!
//! As long as nothing is sent the status is still free, so that a denial can be a 401 here too.

use bytes::Bytes;
use tokio::{sync::mpsc, time};
use toolgate_spine::{Outcome, Said};

use crate::{
    framing,
    listen::KEEP_ALIVE_EVERY,
    notes::{self, Notes},
    refusal::Refusal,
    render::{Asked, Asks},
    reply::Reply,
    running::Running,
};

/// How messages reach the client.
pub(crate) enum Out {
    Events(mpsc::Sender<Bytes>),
    Lines(mpsc::Sender<Bytes>),
}

impl Out {
    async fn send(&self, parts: &[&[u8]]) {
        // A closed channel means that the client is gone; what becomes of the call is not decided here.
        let _ = match self {
            Self::Events(out) => out.send(framing::event(parts)).await,
            Self::Lines(out) => out.send(framing::line(parts)).await,
        };
    }
}

/// Without a channel to say anything on: the answer alone.
pub(crate) async fn plain(asked: Asked, mut running: Running) -> Result<Reply, Refusal> {
    loop {
        tokio::select! {
            biased;
            Some(said) = running.said.recv() => {
                if let Ok(asks) = in_the_answer(&asked, said) {
                    return asked.ask(running, asks).await.map(Reply::json);
                }
            }
            outcome = &mut running.outcome => return asked.outcome(outcome, true).map(Reply::json),
        }
    }
}

/// Over HTTP: events from the first thing said on, plain JSON if the answer comes before any.
pub(crate) async fn with_events(asked: Asked, mut running: Running, token: Option<&str>) -> Result<Reply, Refusal> {
    let mut outcome = None;
    let first = tokio::select! {
        biased;
        Some(said) = running.said.recv() => Some(said),
        ended = &mut running.outcome => {
            // Something may have been said with the answer; if nothing was, it needs no stream.
            let Ok(said) = running.said.try_recv() else { return asked.outcome(ended, true).map(Reply::json) };
            outcome = Some(ended);
            Some(said)
        }
        () = time::sleep(KEEP_ALIVE_EVERY) => None,
    };
    let first = match first.map(|said| in_the_answer(&asked, said)) {
        Some(Ok(asks)) if outcome.is_none() => return asked.ask(running, asks).await.map(Reply::json),
        Some(Err(said)) => Some(said),
        _ => None,
    };
    Ok(stream(asked, running, token, first, outcome))
}

/// In the newer era whatever must be asked is asked in the answer.
fn in_the_answer(asked: &Asked, said: Said) -> Result<Asks, Said> {
    match said {
        Said::Question(question) if asked.version.is_modern() => Ok(Asks::Question(question)),
        Said::Lacks(asking) if asked.version.is_modern() => Ok(Asks::Lacks(asking)),
        said => Err(said),
    }
}

fn stream(asked: Asked, running: Running, token: Option<&str>, first: Option<Said>, outcome: Option<Outcome>) -> Reply {
    let (out, events) = mpsc::channel(16);
    let mut talk = Talk { asked, notes: token.map(Notes::new), out: Out::Events(out) };
    tokio::spawn(async move {
        if let Some(said) = first {
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
    token: Option<&str>,
    out: &mpsc::Sender<Bytes>,
) -> Result<Reply, Refusal> {
    let mut talk = Talk { asked, notes: token.map(Notes::new), out: Out::Lines(out.clone()) };
    match talk.answer(running, None).await {
        Some(answer) => answer.map(Reply::json),
        None => Ok(Reply::accepted()),
    }
}

struct Talk {
    asked: Asked,
    notes: Option<Notes>,
    out: Out,
}

impl Talk {
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
                Some(said) = running.said.recv() => match in_the_answer(&self.asked, said) {
                    Ok(asks) => return Some(self.asked.ask(running, asks).await),
                    Err(said) => self.say(said).await,
                },
                ended = &mut running.outcome => outcome = Some(ended),
                _ = keep_alive.tick() => {
                    if let Out::Events(out) = &self.out {
                        let _ = out.send(framing::KEEP_ALIVE).await;
                    }
                }
            }
        };
        while let Ok(said) = running.said.try_recv() {
            self.say(said).await;
        }
        Some(self.asked.outcome(outcome, false))
    }

    async fn say(&mut self, said: Said) {
        match said {
            Said::Progress(note) => {
                if let Some(message) = self.notes.as_mut().and_then(|notes| notes.message(&note)) {
                    self.out.send(&[&message]).await;
                }
            }
            Said::Log(params) => self.out.send(&[&notes::log(&params)]).await,
            Said::Question(question) => {
                if let Some(request) = self.asked.inner.questions.ask(question, &self.asked.caller) {
                    self.out.send(&[&request]).await;
                }
            }
            Said::Lacks(_) => {}
        }
    }

    async fn send_answer(&self, answer: Result<[Bytes; 3], Refusal>) {
        match answer {
            Ok(parts) => self.out.send(&parts.each_ref().map(|part| &**part)).await,
            Err(refusal) => self.out.send(&[&refusal.body(Some(&self.asked.id))]).await,
        }
    }
}

async fn closed(out: Option<&mpsc::Sender<Bytes>>) {
    match out {
        Some(out) => out.closed().await,
        None => std::future::pending().await,
    }
}
