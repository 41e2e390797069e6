//! Leases on what replicas remember of rights. No clock of the database counts: whoever waits for a lease to end measures
//! its length with a clock of its own, so that a clock that is set, and a server that takes over, change nothing.

use std::time::Duration;

use super::Postgres;
use crate::{
    engine::Write,
    error::Fault,
    rights::{ClockReading, LEASE},
    statement::{Row, Statement, Value},
};

/// How often to look whether all have confirmed.
const LOOK: Duration = Duration::from_millis(10);
/// How much longer than a lease is waited: clocks run at slightly different speeds.
const MARGIN: Duration = Duration::from_millis(100);

/// Waits for a change that is being made, and keeps the next from being made before this is committed: so either the
/// lease is there when the change looks for leases, or the change is here.
const NEWEST: &str = "SELECT seq FROM rights WHERE one = 1 FOR SHARE";
/// When a lease was last renewed is kept for people who look.
const RENEW: &str = "INSERT INTO replicas (id, confirmed, lease_until)
    VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT + $3)
    ON CONFLICT (id) DO UPDATE SET confirmed = excluded.confirmed, lease_until = excluded.lease_until";
const FORGET: &str = "DELETE FROM replicas WHERE id = $1
    OR lease_until < (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT - 3600000";
const LAGGING: &str = "SELECT count(*) FROM replicas WHERE confirmed < $1";
/// Their leases are over. One that comes back asks for a new one.
const FORGET_LAGGING: &str = "DELETE FROM replicas WHERE confirmed < $1";
const SEQ: &str = "SELECT seq FROM rights WHERE one = 1";

impl Postgres {
    /// Says that every change up to `confirmed` has been heard of; the answer is the newest there is.
    pub(crate) async fn renew(&self, replica: &str, confirmed: i64) -> Result<i64, Fault> {
        let lease = i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX);
        let values = [Value::id(replica), Value::int(confirmed), Value::int(lease)];
        let outcome = self.write(Write::new(Statement::new(NEWEST, [])).then(Statement::new(RENEW, values))).await?;
        number(outcome.into_iter().next())
    }

    pub(crate) async fn leave(&self, replica: &str) -> Result<(), Fault> {
        self.write(Write::new(Statement::new(FORGET, [Value::id(replica)]))).await.map(drop)
    }

    /// Waits until every replica with a lease has heard of every change committed by now. A replica that has not heard
    /// of them got its lease before they were committed, and so before this began: once the length of a lease has passed
    /// here, that lease is over, whatever became of the replica.
    pub(crate) async fn confirmed_by_all(&self) -> Result<(), Fault> {
        let newest = number(Some(self.read(Statement::new(SEQ, [])).await?))?;
        // read after the number: a change that is committed before `newest` is read, and after this clock, would count as
        // older than it is, and a lease given in between would be forgotten while it holds
        let began = ClockReading::now();
        loop {
            let lagging = number(Some(self.read(Statement::new(LAGGING, [Value::int(newest)])).await?))?;
            if lagging == 0 {
                return Ok(());
            }
            if ClockReading::now().since(&began) > LEASE + MARGIN {
                let forget = Write::new(Statement::new(FORGET_LAGGING, [Value::int(newest)]));
                let _ = self.write(forget).await;
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn number(rows: Option<Vec<Row>>) -> Result<i64, Fault> {
    let first = rows.and_then(|rows| rows.into_iter().next());
    first.map_or_else(|| Err(Fault::Other("the count of changes is gone".to_owned())), |mut row| row.int())
}
