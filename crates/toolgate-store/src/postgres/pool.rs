//! The pool of connections: gives up quickly, and notices broken ones without testing each before
//! every use.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{
    Connection, Error,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use tokio::time::timeout;

use super::PATIENCE;
use crate::error::Fault;

const CONNECTIONS: u32 = 10;
/// A connection that was used this recently is trusted to be alive, which saves a round trip.
const FRESH: Duration = Duration::from_secs(1);

pub(super) struct Pool {
    pool: PgPool,
    doubt: Arc<Doubt>,
}

impl Pool {
    pub(super) fn new(options: PgConnectOptions) -> Self {
        let doubt = Arc::new(Doubt { start: Instant::now(), until: AtomicU64::new(0) });
        let seen = doubt.clone();
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .before_acquire(move |connection, usage| {
                let test = usage.idle_for > FRESH || seen.holds();
                Box::pin(async move { if test { connection.ping().await.map(|()| true) } else { Ok(true) } })
            })
            .connect_lazy_with(options);
        Self { pool, doubt }
    }

    pub(super) async fn acquire(&self) -> Result<PoolConnection<sqlx::Postgres>, Fault> {
        self.pool.acquire().await.map_err(|error| match error {
            Error::PoolClosed => Fault::Closed,
            Error::PoolTimedOut => Fault::Unavailable(format!("no connection within {} seconds", PATIENCE.as_secs())),
            other => Fault::Unavailable(other.to_string()),
        })
    }

    /// A connection was found broken: its neighbours are tested before use, however fresh.
    pub(super) fn doubt(&self) {
        self.doubt.raise();
    }

    pub(super) async fn close(&self) {
        // Bounded: a server that is gone does not answer a goodbye.
        let _ = timeout(PATIENCE, self.pool.close()).await;
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
