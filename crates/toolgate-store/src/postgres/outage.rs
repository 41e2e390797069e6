//! The one answer to the question whether the server can be reached: found out by one prober, read by every call.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{ConnectOptions, Connection, Error, postgres::PgConnectOptions};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::PATIENCE;

/// How long the prober rests between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Outage {
    away: watch::Sender<bool>,
    probing: AtomicBool,
    options: PgConnectOptions,
}

impl Outage {
    pub(super) fn new(options: PgConnectOptions) -> Arc<Self> {
        Arc::new(Self { away: watch::Sender::new(false), probing: AtomicBool::new(false), options })
    }

    /// True while the server is known to be away.
    pub(super) fn watch(&self) -> watch::Receiver<bool> {
        self.away.subscribe()
    }

    /// Something went wrong that an unreachable server would explain: the prober looks, unless it does so already.
    pub(super) fn suspect(self: &Arc<Self>) {
        if !self.probing.swap(true, Ordering::AcqRel) {
            tokio::spawn(probe(Arc::downgrade(self)));
        }
    }
}

/// Runs until the server is reached, or until nobody wants to know any more.
async fn probe(outage: Weak<Outage>) {
    loop {
        let Some(outage) = outage.upgrade() else { return };
        let reached = is_reachable(&outage.options).await;
        let was_away = outage.away.send_replace(!reached);
        match (was_away, reached) {
            (false, false) => tracing::warn!("the database can't be reached; calls fail at once until it is back"),
            (true, true) => tracing::info!("the database is back"),
            _ => {}
        }
        if reached {
            outage.probing.store(false, Ordering::Release);
            return;
        }
        drop(outage);
        sleep(PAUSE).await;
    }
}

/// A server that has no place for one more connection is there all the same.
async fn is_reachable(options: &PgConnectOptions) -> bool {
    match timeout(PATIENCE, options.connect()).await {
        Ok(Ok(connection)) => {
            let _ = timeout(PATIENCE, connection.close()).await;
            true
        }
        Ok(Err(Error::Database(answer))) => answer.code().is_some_and(|code| code.starts_with("53")),
        Ok(Err(_)) | Err(_) => false,
    }
}
