//! A reading thread. Readers share one queue; in WAL mode they neither wait for the writer nor hold
//! it up.

use std::sync::{Mutex, PoisonError, mpsc::Receiver};

use rusqlite::Connection;

use super::{
    Answer, Message,
    run::{Steps, run as run_statement},
};
use crate::statement::{Row, Statement};

pub(super) struct Job {
    pub(super) statement: Statement,
    pub(super) answer: Answer<Vec<Row>>,
}

pub(super) fn run(connection: &Connection, queue: &Mutex<Receiver<Message<Job>>>, steps: &Steps) {
    loop {
        // The lock is held while waiting and let go before the work: one reader waits, the others
        // work or stand in line.
        let message = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Message::Job(job)) = message else {
            return;
        };
        if !job.answer.is_closed() {
            let _ = job.answer.send(run_statement(connection, &job.statement, steps));
        }
    }
}
