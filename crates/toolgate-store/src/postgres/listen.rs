//! Hears what every replica, this one included, changed. The connection is found again when it is
//! lost; since what was said in between is gone, a `Resync` follows.

use std::time::Duration;

use sqlx::{
    Executor,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use tokio::{
    sync::broadcast,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{PATIENCE, run::fault, session};
use crate::{Change, error::Fault};

pub(super) const CHANNEL: &str = "toolgate_changes";
/// After this much silence the connection is tested: one cut without a goodbye looks just as
/// silent.
const SILENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(250);

pub(super) async fn start(
    options: PgConnectOptions,
    announcer: broadcast::Sender<Change>,
) -> Result<JoinHandle<()>, Fault> {
    let listener = connect(&options).await.map_err(|error| fault(&error))?;
    Ok(tokio::spawn(listen(options, listener, announcer)))
}

async fn listen(options: PgConnectOptions, mut listener: PgListener, announcer: broadcast::Sender<Change>) {
    loop {
        forward(&mut listener, &announcer).await;
        tracing::warn!("lost the connection that listens for changes; connecting again");
        listener = loop {
            match connect(&options).await {
                Ok(listener) => break listener,
                Err(_) => sleep(PAUSE).await,
            }
        };
        tracing::info!("listening for changes again");
        let _ = announcer.send(Change::Resync);
    }
}

/// Returns when the connection is lost.
async fn forward(listener: &mut PgListener, announcer: &broadcast::Sender<Change>) {
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => {
                // Without a subscriber there is nobody to tell.
                let _ = announcer.send(Change::from_notification(notification.payload()));
            }
            Ok(Ok(None) | Err(_)) => return,
            Err(_) => match timeout(PATIENCE, listener.execute("SELECT 1")).await {
                Ok(Ok(_)) => {}
                _ => return,
            },
        }
    }
}

/// A pool of one for each connection: the driver's own way to reconnect does not recover from every
/// kind of loss.
async fn connect(options: &PgConnectOptions) -> Result<PgListener, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .acquire_timeout(PATIENCE)
        .after_connect(|connection, _| Box::pin(session::prepare(connection)))
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.ignore_pool_close_event(true);
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
