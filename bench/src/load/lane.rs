//! One connection of the load: it asks, checks, and asks again until its time is over.

use std::time::{Duration, Instant};

use super::check::Expected;
use crate::failure::Failure;
use crate::wire::{Caller, FIRST_ID, Request, Session};

/// Requests one lane may make in a run; ids of lanes lie this far apart.
const MOST: u64 = 1_000_000;

pub(crate) struct Lane {
    session: Session,
    request: Request,
    expected: Expected,
    answer_bytes: usize,
    next_id: u64,
    last_id: u64,
    latencies: Vec<Duration>,
}

impl Lane {
    /// Connects and checks the first answer in full.
    pub(super) async fn open(number: usize, caller: Caller, expected: Expected) -> Result<Self, Failure> {
        let mut session = Session::open(caller).await?;
        let first = FIRST_ID + u64::try_from(number).unwrap_or(u64::MAX).saturating_mul(MOST);
        let mut request = session.request(expected.work);
        request.set_id(first);
        let answer = session.ask(&request).await?;
        expected.check_first(&answer, first)?;
        let answer_bytes = answer.body.len();
        Ok(Self {
            session,
            request,
            expected,
            answer_bytes,
            next_id: first + 1,
            last_id: first + MOST - 1,
            latencies: Vec::with_capacity(1 << 16),
        })
    }

    pub(super) async fn run(mut self, until: Instant) -> Result<Self, Failure> {
        while Instant::now() < until && self.next_id <= self.last_id {
            let id = self.next_id;
            self.next_id += 1;
            self.request.set_id(id);
            let asked = Instant::now();
            let answer = self.session.ask(&self.request).await?;
            self.latencies.push(asked.elapsed());
            self.expected.check_later(&answer, id, self.answer_bytes)?;
        }
        Ok(self)
    }

    pub(super) fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }

    /// Drops what the warm-up measured.
    pub(super) fn forget(&mut self) {
        self.latencies.clear();
    }

    pub(super) fn latencies(self) -> Vec<Duration> {
        self.latencies
    }
}
