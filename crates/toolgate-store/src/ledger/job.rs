//! One record on its way to the writer, and the way back.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

use super::{Chain, LedgerUnavailable, Link, Place, canonical::Draft, journal::Submitted};

pub(crate) type Answered = oneshot::Sender<Result<Place, LedgerUnavailable>>;
type Receiver = oneshot::Receiver<Result<Place, LedgerUnavailable>>;

pub(crate) struct Job {
    pub(crate) draft: Draft,
    pub(crate) durable: bool,
    pub(crate) answer: Answered,
}

impl Job {
    pub(crate) fn new(draft: Draft, durable: bool) -> (Self, Pending) {
        let (answer, answered) = oneshot::channel();
        (Self { draft, durable, answer }, Pending::waiting(answered))
    }
}

/// A record that was handed over; waiting for it says when it counts.
#[must_use = "a record counts only once this says so"]
pub struct Pending(State);

enum State {
    Submitted(Submitted),
    Waiting(Receiver),
    /// Taken by whoever waits.
    Known(Option<Result<Place, LedgerUnavailable>>),
}

impl Pending {
    pub(crate) fn known(answer: Result<Place, LedgerUnavailable>) -> Self {
        Self(State::Known(Some(answer)))
    }

    pub(super) fn submitted(record: Submitted) -> Self {
        Self(State::Submitted(record))
    }

    pub(crate) fn waiting(answered: Receiver) -> Self {
        Self(State::Waiting(answered))
    }
}

impl Future for Pending {
    type Output = Result<Place, LedgerUnavailable>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let closed = || Err(LedgerUnavailable::closed());
        match &mut self.0 {
            State::Submitted(record) => Pin::new(record).poll(context),
            State::Waiting(answered) => {
                Pin::new(answered).poll(context).map(|answer| answer.unwrap_or_else(|_| closed()))
            }
            State::Known(answer) => Poll::Ready(answer.take().unwrap_or_else(closed)),
        }
    }
}

/// Tells each of a stored group its place. A genesis record, first if there is one, has nobody to tell.
pub(crate) fn answer_all(chain: &Chain, links: &[Link], answers: Vec<Answered>) {
    let unasked = links.len().saturating_sub(answers.len());
    for (answer, link) in answers.into_iter().zip(links.iter().skip(unasked)) {
        let _ = answer.send(Ok(chain.place(link)));
    }
}

pub(crate) fn refuse_all(answers: Vec<Answered>, unavailable: &LedgerUnavailable) {
    for answer in answers {
        let _ = answer.send(Err(unavailable.clone()));
    }
}
