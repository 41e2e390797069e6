//! Follows changes of rights: a changed catalogue makes a new house before it counts as heard, and open streams look again.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use toolgate_spine::Spine;
use toolgate_store::Follow;

/// Asks whoever keeps the house.
pub struct Follower {
    pub keeper: mpsc::Sender<oneshot::Sender<Result<(), String>>>,
    pub spine: Arc<Spine>,
}

#[async_trait]
impl Follow for Follower {
    async fn catalog(&self) -> Result<(), String> {
        let gone = || "nobody keeps the house any more".to_owned();
        let (answer, answered) = oneshot::channel();
        self.keeper.send(answer).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    fn rights(&self) {
        self.spine.look_again();
    }
}
