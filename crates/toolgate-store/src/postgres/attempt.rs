//! One attempt to run a statement or a write, what it says about the outcome, and when it is made again.

use std::time::Instant;

use tokio::time::timeout;

use super::{
    ANSWER, Postgres,
    pool::Checkout,
    run::{self, Sent},
};
use crate::{
    backoff,
    engine::{Outcome, Write},
    error::Fault,
    statement::{Row, Statement},
};

/// A write that lost against another transaction is made again at most this often.
const CONFLICTS: u32 = 8;

/// A failed attempt.
pub(super) enum Failed {
    /// The server answered, and nothing was done.
    Refused(Fault),
    /// The server rolled the transaction back because of another one: made again, it may well pass.
    Conflict(Fault),
    /// The connection broke. `sent` says what the server may have done with what it got.
    Broken { reason: String, sent: Sent },
    /// No answer came in time.
    TimedOut { sent: Sent },
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

impl Failed {
    /// Where the commit was sent and not answered, nobody knows what came of it.
    pub(super) fn into_fault(self) -> Fault {
        let (reason, sent) = match self {
            Self::Refused(fault) | Self::Conflict(fault) => return fault,
            Self::Broken { reason, sent } => (reason, sent),
            Self::TimedOut { sent } => (format!("no answer within {} seconds", ANSWER.as_secs()), sent),
        };
        match sent {
            Sent::Commit => Fault::OutcomeUnknown(reason),
            Sent::Nothing | Sent::Uncommitted => Fault::Unavailable(reason),
        }
    }

    /// True unless the server answered and can be expected to take the next statement: one that is short of something,
    /// or read-only since a failover, may not be the one to go on with.
    pub(super) fn leaves_the_connection_in_doubt(&self) -> bool {
        match self {
            Self::Refused(fault) => matches!(fault, Fault::Unavailable(_)),
            Self::Conflict(_) => false,
            Self::Broken { .. } | Self::TimedOut { .. } => true,
        }
    }

    /// A connection that broke had no effect before the commit was sent: another one is tried, once.
    fn is_without_effect(&self) -> bool {
        matches!(self, Self::Broken { sent: Sent::Nothing | Sent::Uncommitted, .. })
    }
}

impl Postgres {
    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, Fault> {
        let mut attempts = Attempts::new();
        loop {
            match self.try_read(&statement).await {
                Err(failed) if attempts.again(&failed).await => {}
                answer => return answer.map_err(Failed::into_fault),
            }
        }
    }

    async fn try_read(&self, statement: &Statement) -> Result<Vec<Row>, Failed> {
        let mut checkout = self.pool.acquire().await?;
        let answer = timeout(ANSWER, run::run(checkout.connection()?, statement)).await;
        let answer = answer.map_err(|_| Failed::TimedOut { sent: Sent::Nothing });
        self.settle(checkout, answer.and_then(|answer| answer.map_err(|error| run::failed(&error, Sent::Nothing))))
    }

    pub(crate) async fn write(&self, write: Write) -> Result<Outcome, Fault> {
        let mut attempts = Attempts::new();
        loop {
            match self.try_write(&write).await {
                Err(failed) if attempts.again(&failed).await => {}
                answer => return answer.map_err(Failed::into_fault),
            }
        }
    }

    async fn try_write(&self, write: &Write) -> Result<Outcome, Failed> {
        let mut checkout = self.pool.acquire().await?;
        let mut sent = Sent::Nothing;
        let answer = timeout(ANSWER, run::apply(checkout.connection()?, write, &mut sent)).await;
        let answer = answer.map_err(|_| Failed::TimedOut { sent });
        self.settle(checkout, answer.and_then(|answer| answer.map_err(|error| run::failed(&error, sent))))
    }

    /// Gives the connection back, or lets go of it where it can't be trusted any more.
    fn settle<T>(&self, checkout: Checkout, answer: Result<T, Failed>) -> Result<T, Failed> {
        match &answer {
            Ok(_) | Err(Failed::Refused(_) | Failed::Conflict(_)) => checkout.give_back(),
            Err(Failed::Broken { .. }) => {
                self.pool.doubt();
                checkout.discard();
            }
            // Dropped unanswered, it keeps its place until the server has finished with it.
            Err(Failed::TimedOut { .. }) => {
                self.pool.doubt();
                drop(checkout);
            }
        }
        answer
    }
}

/// The attempts made so far for one call.
struct Attempts {
    started: Instant,
    conflicts: u32,
    broken: bool,
}

impl Attempts {
    fn new() -> Self {
        Self { started: Instant::now(), conflicts: 0, broken: false }
    }

    /// Returns true, after a pause where that helps, if another attempt is to be made.
    async fn again(&mut self, failed: &Failed) -> bool {
        match failed {
            Failed::Conflict(_) if self.conflicts < CONFLICTS && self.started.elapsed() < ANSWER => {
                self.conflicts += 1;
                backoff::pause(self.conflicts).await;
                true
            }
            failed => failed.is_without_effect() && !std::mem::replace(&mut self.broken, true),
        }
    }
}
