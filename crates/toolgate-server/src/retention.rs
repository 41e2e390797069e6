//! The job that removes what is over for long, while the server runs.

use std::time::Duration;

use tokio::sync::watch;
use toolgate_store::Store;

/// Rows of one kind that are removed at once: whoever writes meanwhile waits no longer than for these.
const BATCH: u32 = 200;
const PAUSE: Duration = Duration::from_millis(200);
const EVERY: Duration = Duration::from_secs(10 * 60);

/// Removes what was over `age` ago, until the server stops.
pub async fn keep(store: Store, age: Duration, mut stopped: watch::Receiver<bool>) {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    loop {
        let purged = store.retention().purge(crate::now_millis().saturating_sub(age), BATCH).await;
        let more = match purged {
            Ok(removed) => u32::try_from(removed).is_ok_and(|removed| removed >= BATCH),
            Err(fault) => {
                tracing::warn!(%fault, "what is over could not be removed");
                false
            }
        };
        let pause = if more { PAUSE } else { EVERY };
        if tokio::time::timeout(pause, stopped.wait_for(|stopped| *stopped)).await.is_ok() {
            return;
        }
    }
}
