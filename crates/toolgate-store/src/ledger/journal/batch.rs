//! Records that are ready at the same moment, written together.
//!
//! Nobody waits for time to pass: a record waits until whoever else was ready to run has run once, and then the first that runs
//! again wakes the writer for all.

use std::{
    future::Future,
    mem,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::sync::oneshot;

use crate::ledger::{LedgerUnavailable, Place, canonical::Draft};

/// Records that may wait, and the bytes they may have together; more are refused at once.
const MOST_WAITING: usize = 4096;
const MOST_BYTES: usize = 16 << 20;

/// The fate of one record.
pub(super) type Answer = Result<Place, LedgerUnavailable>;
pub(super) type ProbeAnswer = oneshot::Sender<Result<(), LedgerUnavailable>>;

/// Records that are written together.
#[derive(Default)]
pub(super) struct Batch(Mutex<BatchState>);

#[derive(Default)]
struct BatchState {
    written: Option<Vec<Answer>>,
    synced: Option<Result<(), LedgerUnavailable>>,
    wakers: Vec<Waker>,
}

impl Batch {
    fn state(&self) -> MutexGuard<'_, BatchState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut BatchState)) {
        let mut state = self.state();
        change(&mut state);
        let wakers = mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// They are with the operating system, but for those that were refused.
    pub(super) fn settle_written(&self, answers: Vec<Answer>) {
        self.change(|state| state.written = Some(answers));
    }

    /// They are on the disk, or may not be.
    pub(super) fn settle_synced(&self, synced: Result<(), LedgerUnavailable>) {
        self.change(|state| state.synced = Some(synced));
    }
}

impl BatchState {
    fn answer(&self, index: usize, durable: bool) -> Option<Answer> {
        let answer = self.written.as_ref()?.get(index).cloned();
        let answer = answer.unwrap_or_else(|| Err(LedgerUnavailable::closed()));
        match (&self.synced, answer) {
            (_, Err(refused)) => Some(Err(refused)),
            (Some(Err(lost)), Ok(_)) if durable => Some(Err(lost.clone())),
            (None, Ok(_)) if durable => None,
            (_, Ok(place)) => Some(Ok(place)),
        }
    }
}

/// The records that wait for the writer, shared by all who record.
#[derive(Default)]
pub(super) struct BatchQueue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

/// A batch on its way, and whether somebody wants to know how the disk is.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) drafts: Vec<Draft>,
    pub(super) batch: Arc<Batch>,
    /// Somebody must know that the records are on the disk.
    pub(super) durable: bool,
    pub(super) probes: Vec<ProbeAnswer>,
    bytes: usize,
    ready: bool,
    pub(super) closed: bool,
}

impl BatchQueue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn submit(self: &Arc<Self>, draft: Draft, durable: bool) -> Result<Submitted, LedgerUnavailable> {
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(LedgerUnavailable::closed());
        }
        waiting.bytes += draft.rest.len();
        // a call that ran must have its outcome recorded; there are no more of them than intents were let in
        let must_be_taken = draft.columns.kind == "outcome";
        if !must_be_taken && (waiting.drafts.len() >= MOST_WAITING || waiting.bytes > MOST_BYTES) {
            waiting.bytes -= draft.rest.len();
            return Err(LedgerUnavailable::busy());
        }
        waiting.drafts.push(draft);
        waiting.durable |= durable;
        let (batch, index) = (Arc::clone(&waiting.batch), waiting.drafts.len() - 1);
        drop(waiting);
        Ok(Submitted { queue: Arc::clone(self), batch, index, durable, stage: Stage::New })
    }

    pub(super) fn probe(&self, answer: ProbeAnswer) {
        let mut waiting = self.waiting();
        if waiting.closed {
            let _ = answer.send(Err(LedgerUnavailable::closed()));
            return;
        }
        waiting.probes.push(answer);
        waiting.ready = true;
        drop(waiting);
        self.wake.notify_one();
    }

    /// Wakes the writer for this batch, unless the writer already has it.
    fn hand_over(&self, batch: &Arc<Batch>) {
        let mut waiting = self.waiting();
        if !Arc::ptr_eq(&waiting.batch, batch) || mem::replace(&mut waiting.ready, true) {
            return;
        }
        drop(waiting);
        self.wake.notify_one();
    }

    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.wake.notify_one();
    }

    /// The next batch; waits for it. The last one says that the ledger is closed.
    pub(super) fn next(&self) -> Waiting {
        let mut waiting = self.waiting();
        while !waiting.ready && !waiting.closed {
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let closed = waiting.closed;
        let next = mem::replace(&mut *waiting, Waiting { closed, ..Waiting::default() });
        drop(waiting);
        next
    }
}

#[derive(PartialEq, Eq)]
enum Stage {
    New,
    /// Every other task that was ready has run once.
    Gathered,
    HandedOver,
}

/// One record of a batch.
pub(in crate::ledger) struct Submitted {
    queue: Arc<BatchQueue>,
    batch: Arc<Batch>,
    index: usize,
    durable: bool,
    stage: Stage,
}

impl Future for Submitted {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.batch.state();
        if let Some(answer) = state.answer(self.index, self.durable) {
            return Poll::Ready(answer);
        }
        if self.stage == Stage::New {
            drop(state);
            self.stage = Stage::Gathered;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        drop(state);
        if self.stage == Stage::Gathered {
            self.stage = Stage::HandedOver;
            self.queue.hand_over(&self.batch);
        }
        Poll::Pending
    }
}

impl Drop for Submitted {
    /// What was submitted is stored, whether somebody waits for it or not.
    fn drop(&mut self) {
        if self.stage != Stage::HandedOver {
            self.queue.hand_over(&self.batch);
        }
    }
}
