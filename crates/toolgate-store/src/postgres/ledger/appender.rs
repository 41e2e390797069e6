//! The task that appends: all records that wait share one statement.
//!
//! A connection that breaks leaves open whether the group was stored. The database says so afterwards: either the writer's
//! head is the group's last record, or it is the one before the group, and then the group is sent again. The unique index
//! over writer and number keeps a late commit of the first attempt from standing beside the second. A group that the server
//! refused was not stored, and is not sent again: whoever waits for it hears so at once.

use sqlx::{ConnectOptions, PgConnection, postgres::PgConnectOptions};
use tokio::{sync::mpsc::Receiver, time::timeout};

use super::{
    super::{
        ANSWER, PATIENCE,
        attempt::Failed,
        run::{self, Sent},
        session,
    },
    Message, insert, within,
};
use crate::{
    error::Fault,
    ledger::{Answered, Chain, Job, LedgerUnavailable, Link, answer_all, refuse_all},
};

/// Records in one statement. More would make the first wait for the last.
const GROUP: usize = 512;
/// The first, and one more where the connection was found broken or another commit came late.
const ATTEMPTS: usize = 2;

pub(super) struct Appender {
    options: Box<PgConnectOptions>,
    connection: Option<PgConnection>,
    queue: Receiver<Message>,
    chain: Chain,
}

impl Appender {
    pub(super) fn new(options: Box<PgConnectOptions>, queue: Receiver<Message>, chain: Chain) -> Self {
        Self { options, connection: None, queue, chain }
    }

    pub(super) async fn run(mut self) {
        while let Some(first) = self.queue.recv().await {
            let (mut group, mut probes, mut next) = (Vec::new(), Vec::new(), Some(first));
            while let Some(message) = next {
                match message {
                    Message::Record(job) => group.push(*job),
                    Message::Probe(answer) => probes.push(answer),
                }
                next = if group.len() < GROUP { self.queue.try_recv().ok() } else { None };
            }
            if !group.is_empty() {
                self.commit(group).await;
            }
            if !probes.is_empty() {
                // one question for all of them
                let found = self.head().await.map(drop).map_err(LedgerUnavailable::from);
                for answer in probes {
                    let _ = answer.send(found.clone());
                }
            }
        }
    }

    async fn commit(&mut self, group: Vec<Job>) {
        let durable = group.iter().any(|job| job.durable);
        let (drafts, answers): (Vec<_>, Vec<Answered>) = group.into_iter().map(|job| (job.draft, job.answer)).unzip();
        // Where a group before this one failed, the links depend on what became of it.
        if self.chain.in_doubt()
            && let Err(fault) = self.settle().await
        {
            return refuse_all(answers, &fault.into());
        }
        let links = self.chain.links(drafts.into_iter());
        match self.store(&links, durable).await {
            Ok(()) => {
                if let Some(last) = links.last() {
                    self.chain.stored(last);
                }
                answer_all(&self.chain, &links, answers);
            }
            Err(fault) => {
                self.chain.doubt();
                refuse_all(answers, &fault.into());
            }
        }
    }

    /// Finds out where the chain stands.
    async fn settle(&mut self) -> Result<(), Fault> {
        let head = self.head().await?;
        self.chain.resume(head);
        Ok(())
    }

    async fn store(&mut self, links: &[Link], durable: bool) -> Result<(), Fault> {
        let (Some(first), Some(last)) = (links.first(), links.last()) else { return Ok(()) };
        let mut attempt = 1;
        loop {
            let failed = match self.try_store(links, durable).await {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            let is_open = match &failed {
                Failed::Refused(fault) => matches!(fault, Fault::Duplicate),
                Failed::Conflict(_) | Failed::Broken { .. } | Failed::TimedOut { .. } => true,
            };
            if !is_open || attempt == ATTEMPTS {
                return Err(failed.into_fault());
            }
            attempt += 1;
            let head = self.head().await?;
            if head.is_some_and(|(_, hash)| hash == last.hash) {
                return Ok(());
            }
            if head.map_or(0, |(seq, _)| seq + 1) != first.seq {
                return Err(Fault::Duplicate);
            }
        }
    }

    async fn try_store(&mut self, links: &[Link], durable: bool) -> Result<(), Failed> {
        let writer = self.chain.writer().clone();
        // nothing was sent yet: one more attempt to connect may help
        let connection = self.connected().await.map_err(|fault| match fault {
            Fault::Unavailable(reason) => Failed::Broken { reason, sent: Sent::Nothing },
            fault => Failed::Refused(fault),
        })?;
        let stored = timeout(ANSWER, insert::insert(connection, &writer, links, durable)).await;
        let stored = match stored {
            Ok(answer) => answer.map_err(|error| run::failed(&error, Sent::Commit)),
            Err(_) => Err(Failed::TimedOut { sent: Sent::Commit }),
        };
        if stored.as_ref().is_err_and(Failed::leaves_the_connection_in_doubt) {
            self.connection = None;
        }
        stored
    }

    async fn head(&mut self) -> Result<Option<(i64, crate::ledger::Hash)>, Fault> {
        let writer = self.chain.writer().clone();
        let connection = self.connected().await?;
        let head = within(ANSWER, insert::head(connection, &writer)).await;
        self.keep_unless_broken(head)
    }

    fn keep_unless_broken<T>(&mut self, answer: Result<T, Fault>) -> Result<T, Fault> {
        if matches!(answer, Err(Fault::Unavailable(_))) {
            self.connection = None;
        }
        answer
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, Fault> {
        if self.connection.is_none() {
            let mut connection = within(PATIENCE, self.options.connect()).await?;
            within(PATIENCE, session::prepare(&mut connection)).await?;
            self.connection = Some(connection);
        }
        self.connection.as_mut().ok_or(Fault::Closed)
    }
}
