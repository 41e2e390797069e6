//! Keeps an upstream connected and its lists fresh, until it is told to stop.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolgate_core::LogThrottle;

use crate::{
    Definition, Fault, State,
    backoff::Backoff,
    era::Era,
    handshake::{self, Live},
    link::Link,
    listed::Listed,
    listing,
    upstream::Inner,
};

pub(crate) async fn keep(inner: Arc<Inner>, stop: CancellationToken) {
    // INVARIANT: stopping may come at any point; whatever is dropped then closes its connection and ends its child
    let _ = stop.run_until_cancelled(connect_for_ever(&inner, &stop)).await;
    inner.state.send_replace(State::Stopped);
    if let Some(live) = inner.live.swap(None) {
        live.close().await;
    }
}

async fn connect_for_ever(inner: &Inner, stop: &CancellationToken) {
    let patience = &inner.config.patience;
    let mut backoff = Backoff::new(patience.reconnect);
    let mut reasons = RepeatedReason::default();
    while !stop.is_cancelled() {
        let fault = match timeout(patience.connect, connect(inner)).await {
            Ok(Ok(live)) => {
                let since = Instant::now();
                let why = tend(inner, &live).await;
                inner.state.send_replace(State::Down(Fault::Down { why: why.clone() }));
                inner.live.store(None);
                live.close().await;
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
        reasons.say(&fault, |times| {
            let again = if times == 0 { String::new() } else { format!(" (the same {times} times more)") };
            tracing::warn!(target: "toolgate::upstream", upstream, "not connected, again in {} ms: {fault}{again}", pause.as_millis());
        });
        inner.state.send_replace(State::Down(fault));
        sleep(pause).await;
    }
}

/// A reason that is logged once, and then once a minute for as long as it stays the same.
#[derive(Default)]
struct RepeatedReason {
    last: Option<Fault>,
    throttle: LogThrottle,
}

impl RepeatedReason {
    fn say(&mut self, fault: &Fault, line: impl FnOnce(u64)) {
        if self.last.as_ref() != Some(fault) {
            self.last = Some(fault.clone());
            self.throttle = LogThrottle::default();
        }
        self.throttle.say(line);
    }
}

async fn connect(inner: &Inner) -> Result<Arc<Live>, Fault> {
    let live = Arc::new(handshake::open(&inner.config, &inner.counts, inner.credentials.as_ref()).await?);
    let tools = listing::list(&live, &inner.config, Listed::Tools).await?;
    // the tools do not wait long for the rest
    let soon = inner.config.patience.probe;
    let (prompts, resources, templates) = tokio::join!(
        fresh(inner, &live, Listed::Prompts, soon),
        fresh(inner, &live, Listed::Resources, soon),
        fresh(inner, &live, Listed::Templates, soon),
    );
    inner.connections.fetch_add(1, Ordering::Relaxed);
    publish(inner, [Some((Listed::Tools, tools)), prompts, resources, templates]);
    inner.live.store(Some(Arc::clone(&live)));
    inner.state.send_replace(State::Up);
    let (upstream, version) = (&inner.config.name, live.era.version());
    tracing::info!(target: "toolgate::upstream", upstream, version, "connected");
    Ok(live)
}

/// Lists again whenever that may show something new, until the connection is gone. Says why it is.
async fn tend(inner: &Inner, live: &Arc<Live>) -> String {
    let listening = listen(inner, live);
    tokio::pin!(listening);
    // each at its own pace: one that changes all the time delays no other
    let [tools, prompts, resources] = Listed::TOLD_TOGETHER.map(|lists| relist(inner, live, lists));
    let relisting = async { tokio::join!(tools, prompts, resources) };
    tokio::select! {
        why = live.link.over() => why,
        () = &mut listening => "it tells of no more changes".to_owned(),
        () = inner.probe(live) => "it can't be asked how it is".to_owned(),
        _ = relisting => "its lists can't be read".to_owned(),
    }
}

/// Never ends by itself.
async fn relist(inner: &Inner, live: &Live, lists: &[Listed]) {
    let patience = &inner.config.patience;
    loop {
        let mut read = Vec::new();
        for listed in inner.counts.changed(lists).await {
            read.push(fresh(inner, live, listed, patience.connect).await);
        }
        publish(inner, read);
        // whatever is said meanwhile is one wish
        sleep(patience.relist).await;
    }
}

/// One list read anew; `None` leaves it as it was last known.
async fn fresh(inner: &Inner, live: &Live, listed: Listed, patience: Duration) -> Option<(Listed, Vec<Definition>)> {
    let fault = match timeout(patience, listing::list(live, &inner.config, listed)).await {
        Ok(Ok(definitions)) => return Some((listed, definitions)),
        Ok(Err(fault)) => fault,
        Err(_) => {
            // slow is not wrong: it is asked again, with nobody waiting
            if patience < inner.config.patience.connect {
                inner.counts.outdated(&[listed]);
            }
            Fault::TimedOut(patience)
        }
    };
    let upstream = &inner.config.name;
    tracing::warn!(target: "toolgate::upstream", upstream, "the last known {listed} stay: it {fault}");
    None
}

/// Keeps a stream of changes open, where the upstream has one. Never ends by itself.
async fn listen(inner: &Inner, live: &Live) {
    let told = Listed::ALL.into_iter().filter(|listed| live.does(listed.capability(), "listChanged"));
    let told: Vec<Listed> = told.collect();
    let wanted: Vec<String> = told.iter().filter_map(filter).collect();
    // in the older era that stream carries more than changes
    let older = matches!((&live.link, &live.era), (Link::Http(_), Era::Legacy(_)));
    let mut backoff = Backoff::new(inner.config.patience.reconnect);
    while older || !wanted.is_empty() {
        let since = Instant::now();
        let heard = live.link.listen(&live.era, &wanted.join(",")).await;
        if let Err(Fault::Status { status: 400..=499, .. } | Fault::Refused { .. }) = heard {
            break;
        }
        if since.elapsed() >= inner.config.patience.reconnect.1 {
            backoff.reset();
        }
        sleep(backoff.pause()).await;
        // what changed while nobody listened was not heard
        inner.counts.outdated(&told);
    }
    std::future::pending().await
}

/// What asks for the changes of a list; templates change with the resources.
fn filter(listed: &Listed) -> Option<String> {
    let name = match listed {
        Listed::Tools => "toolsListChanged",
        Listed::Prompts => "promptsListChanged",
        Listed::Resources => "resourcesListChanged",
        Listed::Templates => return None,
    };
    Some(format!("\"{name}\":true"))
}

fn publish(inner: &Inner, lists: impl IntoIterator<Item = Option<(Listed, Vec<Definition>)>>) {
    // nothing was known before the first list, not even that there is none
    let mut changed = *inner.changes.borrow() == 0;
    for (listed, definitions) in lists.into_iter().flatten() {
        changed |= inner.offers.replace(listed, definitions);
    }
    if changed {
        inner.changes.send_modify(|changes| *changes += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_logged_once_until_it_is_another() {
        let missing = Fault::Misconfigured { why: "program 'x' can't be started".to_owned() };
        let ended = Fault::Down { why: "its program ended".to_owned() };
        let (mut reasons, mut lines) = (RepeatedReason::default(), Vec::new());
        for fault in [&missing, &missing, &missing, &ended, &ended, &missing] {
            reasons.say(fault, |_| lines.push(fault.clone()));
        }
        assert_eq!(lines, [missing.clone(), ended, missing]);
    }
}
