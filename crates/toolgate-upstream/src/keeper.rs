//! Keeps an upstream connected and its list of tools fresh, until it is told to stop.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Definition, Fault, State,
    backoff::Backoff,
    definition::Known,
    handshake::{self, Live},
    listing,
    upstream::Inner,
};

pub(crate) async fn keep(inner: Arc<Inner>, stop: CancellationToken) {
    // INVARIANT: stopping may come at any point; whatever is dropped then closes its connection and ends its child
    let _ = stop.run_until_cancelled(connect_for_ever(&inner, &stop)).await;
    inner.state.send_replace(State::Stopped);
    if let Some(live) = inner.live.swap(None) {
        live.link.close(&live.era).await;
    }
}

async fn connect_for_ever(inner: &Inner, stop: &CancellationToken) {
    let patience = &inner.config.patience;
    let mut backoff = Backoff::new(patience.reconnect);
    while !stop.is_cancelled() {
        let fault = match timeout(patience.connect, connect(inner)).await {
            Ok(Ok(live)) => {
                let since = Instant::now();
                let why = tend(inner, &live).await;
                inner.state.send_replace(State::Down(Fault::Down { why: why.clone() }));
                inner.live.store(None);
                live.link.close(&live.era).await;
                if since.elapsed() >= patience.reconnect.1 {
                    backoff.reset();
                }
                Fault::Down { why }
            }
            // no call was under way, so there is no doubt about one
            Ok(Err(Fault::Lost { why })) => Fault::Down { why },
            Ok(Err(fault)) => fault,
            Err(_) => Fault::Down { why: format!("it did not get ready within {} ms", patience.connect.as_millis()) },
        };
        let pause = backoff.pause();
        let upstream = &inner.config.name;
        tracing::warn!(target: "toolgate::upstream", upstream, "not connected, again in {} ms: {fault}", pause.as_millis());
        inner.state.send_replace(State::Down(fault));
        sleep(pause).await;
    }
}

async fn connect(inner: &Inner) -> Result<Arc<Live>, Fault> {
    let live = Arc::new(handshake::open(&inner.config, &inner.counts).await?);
    let definitions = listing::list(&live, &inner.config).await?;
    inner.connections.fetch_add(1, Ordering::Relaxed);
    publish(inner, definitions);
    inner.live.store(Some(Arc::clone(&live)));
    inner.state.send_replace(State::Up);
    let (upstream, version) = (&inner.config.name, live.era.version());
    tracing::info!(target: "toolgate::upstream", upstream, version, "connected");
    Ok(live)
}

/// Lists again whenever that may show something new, until the connection is gone. Says why it is.
async fn tend(inner: &Inner, live: &Live) -> String {
    let listening = listen(inner, live);
    tokio::pin!(listening);
    let relisting = relist(inner, live);
    tokio::pin!(relisting);
    tokio::select! {
        why = live.link.over() => why,
        () = &mut listening => "it tells of no more changes".to_owned(),
        () = &mut relisting => "its list can't be read".to_owned(),
    }
}

/// Never ends by itself.
async fn relist(inner: &Inner, live: &Live) {
    let patience = &inner.config.patience;
    loop {
        // a pause first: whatever is said meanwhile is one wish
        sleep(patience.relist).await;
        inner.counts.relist.notified().await;
        let fault = match timeout(patience.connect, listing::list(live, &inner.config)).await {
            Ok(Ok(definitions)) => {
                publish(inner, definitions);
                continue;
            }
            Ok(Err(fault)) => fault,
            Err(_) => Fault::TimedOut(patience.connect),
        };
        let upstream = &inner.config.name;
        tracing::warn!(target: "toolgate::upstream", upstream, "the last known tools stay: {fault}");
    }
}

/// Keeps a stream of changes open, where the upstream has one. Never ends by itself.
async fn listen(inner: &Inner, live: &Live) {
    let mut backoff = Backoff::new(inner.config.patience.reconnect);
    loop {
        let since = Instant::now();
        let heard = if live.tells_changes { live.link.listen(&live.era).await } else { break };
        if let Err(Fault::Status { status: 400..=499, .. } | Fault::Refused { .. }) = heard {
            break;
        }
        if since.elapsed() >= inner.config.patience.reconnect.1 {
            backoff.reset();
        }
        sleep(backoff.pause()).await;
        // what changed while nobody listened was not heard
        inner.counts.relist.notify_one();
    }
    std::future::pending().await
}

fn publish(inner: &Inner, definitions: Vec<Definition>) {
    let same = {
        let known = inner.definitions.load();
        // nothing was known before the first list, not even that there is none
        *inner.changes.borrow() > 0
            && known.all().iter().map(|one| one.raw.get()).eq(definitions.iter().map(|one| one.raw.get()))
    };
    if !same {
        inner.definitions.store(Arc::new(Known::new(definitions)));
        inner.changes.send_modify(|changes| *changes += 1);
    }
}
