//! How an upstream seems, between two connections: over HTTP nothing else tells that a server is gone.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use crate::{Fault, State, backoff::Backoff, era::Era, handshake::Live, link::Ask, listed::Listed, upstream::Inner};

impl Inner {
    /// Calls still go to it, as far as the breaker lets them.
    pub(crate) fn seems_down(&self, live: &Arc<Live>, fault: &Fault) {
        self.state.send_if_modified(|state| {
            let turned = *state == State::Up && self.is_current(live);
            if turned {
                *state = State::Down(fault.clone());
            }
            turned
        });
    }

    pub(crate) fn seems_up(&self, live: &Arc<Live>) {
        self.state.send_if_modified(|state| {
            let turned = matches!(state, State::Down(_)) && self.is_current(live);
            if turned {
                *state = State::Up;
            }
            turned
        });
    }

    fn is_current(&self, live: &Arc<Live>) -> bool {
        !live.gone.is_cancelled() && self.live.load().as_ref().is_some_and(|current| Arc::ptr_eq(current, live))
    }

    /// Asks a server that seems down whether it is, with growing pauses. Never ends by itself.
    pub(crate) async fn probe(&self, live: &Arc<Live>) {
        let patience = &self.config.patience;
        let mut state = self.state.subscribe();
        while state.wait_for(|state| matches!(state, State::Down(_))).await.is_ok() {
            let mut backoff = Backoff::new(patience.reconnect);
            while matches!(*state.borrow_and_update(), State::Down(_)) {
                sleep(backoff.pause()).await;
                if live.answers(patience.probe).await {
                    self.seems_up(live);
                    // it may have come back as another
                    self.counts.outdated(&Listed::ALL);
                }
            }
        }
        std::future::pending().await
    }
}

impl Live {
    /// Whether it says anything at all to a request that costs nothing.
    async fn answers(&self, patience: Duration) -> bool {
        let method = if self.era == Era::Modern { "server/discover" } else { "ping" };
        let asked = self.link.ask(Some(&self.era), Ask { method, ..Ask::default() });
        matches!(timeout(patience, asked).await, Ok(Ok(_) | Err(Fault::Refused { .. })))
    }
}
