//! The tasks that keep a running gateway in step with its store, its files and its upstreams.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::super::{following::Follower, reload::Keeper};

/// Runs until the last call has been answered: upstreams end after the calls they run.
pub struct BackgroundTasks {
    end: watch::Sender<bool>,
    rights: tokio::task::JoinHandle<()>,
    house: tokio::task::JoinHandle<()>,
}

impl BackgroundTasks {
    pub fn start(keeper: Keeper, ask: mpsc::Sender<oneshot::Sender<Result<(), String>>>) -> Self {
        let (end, ended) = watch::channel(false);
        let follower = Arc::new(Follower { keeper: ask, spine: Arc::clone(&keeper.spine) });
        let rights = keeper.store.rights().keep(follower, keeper.store.changes(), ended.clone());
        Self { end, rights: tokio::spawn(rights), house: tokio::spawn(keeper.keep(ended)) }
    }

    pub async fn end(self) {
        self.end.send_replace(true);
        let _ = self.rights.await;
        let _ = self.house.await;
    }
}
