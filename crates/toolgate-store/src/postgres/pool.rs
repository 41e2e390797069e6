//! The pool of connections: gives up quickly, notices broken ones without testing each before every use, and never
//! leaves more behind on the server than it has places.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{
    Connection, Error, PgConnection,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use tokio::time::timeout;

use super::{PATIENCE, outage::Outage, session};
use crate::error::Fault;

/// Ten with the one that [`Outage`] probes with.
const CONNECTIONS: u32 = 9;
/// Calls that may wait; more are refused at once, since they would only time out later.
const WAITERS: usize = 1024;
/// A connection that was used this recently is trusted to be alive, which saves a round trip.
const FRESH: Duration = Duration::from_secs(1);
/// How long a place stays taken by a connection that was given up and does not answer. By then the server has ended it:
/// see [`session`].
const LETTING_GO: Duration = Duration::from_secs(10);

pub(super) struct Pool {
    pool: PgPool,
    doubt: Arc<Doubt>,
    outage: Arc<Outage>,
    waiting: AtomicUsize,
}

impl Pool {
    pub(super) fn new(options: PgConnectOptions) -> Self {
        let doubt = Arc::new(Doubt { start: Instant::now(), until: AtomicU64::new(0) });
        let seen = doubt.clone();
        let outage = Outage::new(options.clone());
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .after_connect(|connection, _| Box::pin(session::prepare(connection)))
            .before_acquire(move |connection, usage| {
                let test = usage.idle_for > FRESH || seen.holds();
                Box::pin(async move { if test { connection.ping().await.map(|()| true) } else { Ok(true) } })
            })
            .connect_lazy_with(options);
        Self { pool, doubt, outage, waiting: AtomicUsize::new(0) }
    }

    /// Fails at once while the server is known to be away, and as soon as that becomes known.
    pub(super) async fn acquire(&self) -> Result<Checkout, Fault> {
        let mut away = self.outage.watch();
        let _place = Waiting::enter(&self.waiting)?;
        tokio::select! {
            biased;
            Ok(_) = away.wait_for(|away| *away), if !self.pool.is_closed() => {
                Err(Fault::Unavailable("it can't be reached".to_owned()))
            }
            acquired = self.pool.acquire() => match acquired {
                Ok(connection) => Ok(Checkout(Some(connection))),
                Err(Error::PoolClosed) => Err(Fault::Closed),
                Err(error) => {
                    self.outage.suspect();
                    Err(Fault::Unavailable(match error {
                        Error::PoolTimedOut => format!("no connection within {} seconds", PATIENCE.as_secs()),
                        other => other.to_string(),
                    }))
                }
            },
        }
    }

    /// A connection was found broken: the others are tested before use, however fresh, and so is the server.
    pub(super) fn doubt(&self) {
        self.doubt.raise();
        self.outage.suspect();
    }

    pub(super) async fn close(&self) {
        // Bounded: a server that is gone does not answer a goodbye.
        let _ = timeout(PATIENCE, self.pool.close()).await;
    }
}

/// A connection in use. Dropped before its statement was answered, it is given up.
pub(super) struct Checkout(Option<PoolConnection<sqlx::Postgres>>);

impl Checkout {
    pub(super) fn connection(&mut self) -> Result<&mut PgConnection, Fault> {
        self.0.as_deref_mut().ok_or(Fault::Closed)
    }

    /// Gives a connection back that answered.
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }

    /// Closes a connection that is broken: its server is gone, and a goodbye would keep the place in the pool.
    pub(super) fn discard(mut self) {
        drop(self.0.take().map(PoolConnection::detach));
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(let_go(connection));
        }
    }
}

/// Keeps the place in the pool until the server has finished with the statement that nobody waits for: otherwise each
/// caller that gives up would leave one more backend behind.
async fn let_go(mut connection: PoolConnection<sqlx::Postgres>) {
    match timeout(LETTING_GO, connection.ping()).await {
        Ok(Ok(())) => {
            let _ = timeout(PATIENCE, connection.close()).await;
        }
        Ok(Err(_)) | Err(_) => drop(connection.detach()),
    }
}

/// One of the calls that wait for a connection.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(waiting: &'a AtomicUsize) -> Result<Self, Fault> {
        let place = Self(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) < WAITERS { Ok(place) } else { Err(Fault::Overloaded) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Holds for as long as an untested connection could still count as fresh.
struct Doubt {
    start: Instant,
    /// Milliseconds after `start`.
    until: AtomicU64,
}

impl Doubt {
    fn raise(&self) {
        self.until.store(self.millis(self.start.elapsed() + FRESH), Ordering::Relaxed);
    }

    fn holds(&self) -> bool {
        self.millis(self.start.elapsed()) < self.until.load(Ordering::Relaxed)
    }

    fn millis(&self, since: Duration) -> u64 {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
