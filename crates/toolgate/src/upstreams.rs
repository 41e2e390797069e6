//! The upstreams of a configuration: their connections, and which of their tools are pinned.
//!
//! A tool of an upstream is registered only as it was accepted. What changed, what is new and what is gone is listed to
//! nobody; rules and facts may still name what was accepted once, so that a tool that comes and goes breaks nothing else.

use std::{
    collections::BTreeMap,
    fs,
    future::{Future, pending, poll_fn},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    task::Poll,
};

use serde_json::value::RawValue;
use tokio::{sync::watch, task::JoinSet};
use toolgate_core::{
    Facts, Kind,
    pin::{BadLock, Choice, Judged, Lock, State},
};
use toolgate_spine::{ToolOffer, ToolSource};
use toolgate_upstream::{Upstream, UpstreamConfig, conceal_process};

use crate::{
    bounded_file::read_text,
    config::{self, Config},
    gateway_files::GatewayFiles,
    upstream_connections::connection,
};

#[derive(Debug, thiserror::Error)]
pub enum UpstreamProblem {
    #[error("{path} can't be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{path}: {fault}")]
    Lock { path: String, fault: BadLock },
    #[error("the upstream '{upstream}' takes '{name}' from the variable {variable}, which is not set")]
    NotSet { upstream: String, name: String, variable: String },
    #[error("the upstream '{upstream}' can't run as user '{user}': {reason}")]
    User { upstream: String, user: String, reason: String },
    #[error("the sandbox of the upstream '{upstream}' does not hold: {reason}")]
    Sandbox { upstream: String, reason: String },
}

/// The lock beside a configuration file.
pub struct LockFile {
    path: PathBuf,
}

impl LockFile {
    pub fn beside(config: Option<&Path>) -> Self {
        Self { path: config.and_then(Path::parent).unwrap_or(Path::new("")).join("toolgate.lock") }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A missing file is an empty lock.
    pub fn read(&self) -> Result<Lock, UpstreamProblem> {
        let path = || self.path.display().to_string();
        match read_text(&self.path) {
            Ok(text) => Lock::parse(&text).map_err(|fault| UpstreamProblem::Lock { path: path(), fault }),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Lock::new()),
            Err(fault) => Err(UpstreamProblem::Unreadable { path: path(), reason: fault.to_string() }),
        }
    }

    /// Whole or not at all: written beside and moved into place.
    pub fn write(&self, lock: &Lock) -> io::Result<()> {
        let beside = self.path.with_extension("lock.new");
        fs::write(&beside, lock.render())?;
        fs::rename(&beside, &self.path)
    }
}

/// One upstream's tools, as far as the gate is concerned.
pub struct Pinned {
    pub upstream: String,
    pub prefix: String,
    /// Accepted, and as accepted.
    pub registered: Vec<ToolOffer>,
    /// Accepted once, not there as accepted now.
    pub absent: Vec<ToolOffer>,
    /// Prompts, resources and templates, by kind: its name and its definition. They are not pinned.
    pub more: Vec<(Kind, String, Arc<RawValue>)>,
}

/// From the lock alone: what a configuration has before any upstream has answered, and for commands that connect to none.
pub fn pinned(config: &Config, lock: &Lock) -> Vec<Pinned> {
    config
        .upstreams
        .iter()
        .filter(|upstream| upstream.enabled)
        .map(|upstream| Pinned {
            upstream: upstream.name.clone(),
            prefix: upstream.prefix.clone(),
            registered: accepted(lock, &upstream.name),
            absent: Vec::new(),
            more: Vec::new(),
        })
        .collect()
}

fn accepted(lock: &Lock, upstream: &str) -> Vec<ToolOffer> {
    lock.accepted(upstream).filter_map(|(name, definition)| offer(name, definition.as_str())).collect()
}

/// Foreign tools get the default facts: for signed-in callers, hidden from others, writing.
fn offer(name: &str, definition: &str) -> Option<ToolOffer> {
    let definition = RawValue::from_string(definition.to_owned()).ok()?;
    Some(ToolOffer { name: name.to_owned(), definition, facts: Facts::default() })
}

/// Running connections, by name.
#[derive(Default)]
pub struct Upstreams {
    running: BTreeMap<String, Running>,
    files: GatewayFiles,
}

struct Running {
    config: config::Upstream,
    upstream: Arc<Upstream>,
    offers: watch::Receiver<u64>,
    states: watch::Receiver<toolgate_upstream::State>,
}

impl Running {
    fn start(connection: UpstreamConfig, config: config::Upstream) -> Self {
        let upstream = Upstream::start(connection);
        let (mut offers, states) = (upstream.changes(), upstream.states());
        // it may have been quick
        offers.mark_changed();
        Self { config, upstream, offers, states }
    }

    async fn changed(&mut self) {
        let gone = tokio::select! {
            changed = self.offers.changed() => changed.is_err(),
            changed = self.states.changed() => changed.is_err(),
        };
        if gone {
            pending().await
        }
    }
}

impl Upstreams {
    /// None yet. The sandboxes of those that are started keep them from these files.
    pub fn beside(files: GatewayFiles) -> Self {
        Self { files, ..Self::default() }
    }

    /// Starts what is new, ends what is gone, and leaves what is unchanged alone. INVARIANT: every program of an upstream is
    /// started here, by a process whose memory and environment it can't read.
    pub async fn follow(&mut self, config: &Config) -> Result<(), UpstreamProblem> {
        conceal_process();
        let wanted: BTreeMap<&str, &config::Upstream> = config
            .upstreams
            .iter()
            .filter(|upstream| upstream.enabled)
            .map(|upstream| (upstream.name.as_str(), upstream))
            .collect();
        let mut starting = Vec::new();
        for (name, upstream) in &wanted {
            if self.running.get(*name).is_none_or(|running| running.config != **upstream) {
                starting.push((connection(upstream, config, &self.files)?, (*upstream).clone()));
                if let Some(exposure) = self.files.exposure(upstream) {
                    tracing::warn!("{exposure}");
                }
            }
        }
        let gone: Vec<String> = self
            .running
            .iter()
            .filter(|(name, running)| wanted.get(name.as_str()).is_none_or(|wanted| **wanted != running.config))
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            if let Some(running) = self.running.remove(&name) {
                running.upstream.stop().await;
            }
        }
        for (connection, config) in starting {
            self.running.insert(config.name.clone(), Running::start(connection, config));
        }
        Ok(())
    }

    pub fn sources(&self) -> impl Iterator<Item = Arc<dyn ToolSource>> + '_ {
        self.running.values().map(|running| Arc::clone(&running.upstream) as Arc<dyn ToolSource>)
    }

    /// Changes whenever some upstream offers other tools than before.
    pub fn revision(&self) -> Vec<u64> {
        self.running.values().map(|running| *running.upstream.changes().borrow()).collect()
    }

    /// Waits until some upstream offers other tools than it did, or is up or down since, when this was last waited for.
    pub async fn changed(&mut self) {
        let mut all: Vec<_> = self.running.values_mut().map(|running| Box::pin(running.changed())).collect();
        poll_fn(|context| match all.iter_mut().any(|one| one.as_mut().poll(context).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await
    }

    /// Every upstream has answered, or said why it can't.
    pub fn settled(&self) -> bool {
        self.running.values().all(|running| running.upstream.status().state != toolgate_upstream::State::Starting)
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.running.get(name).map(|running| &running.upstream)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.running.keys().map(String::as_str)
    }

    /// What the gate may register: of an upstream that has not answered yet, what was accepted; of one that has, what it
    /// still offers as accepted.
    pub fn pinned(&self, config: &Config, lock: &Lock) -> Vec<Pinned> {
        let mut all = pinned(config, lock);
        for pinned in &mut all {
            let Some(upstream) = self.get(&pinned.upstream).filter(|upstream| has_answered(upstream)) else { continue };
            pinned.more = more(upstream);
            let offered = upstream.definitions();
            let as_accepted: BTreeMap<String, &Arc<RawValue>> = judge(lock, &pinned.upstream, &offered)
                .into_iter()
                .filter(|judged| judged.state == State::Accepted)
                .filter_map(|judged| {
                    let raw =
                        offered.iter().find(|definition| definition.name == judged.name).map(|found| &found.raw)?;
                    Some((judged.name, raw))
                })
                .collect();
            let (registered, absent) = std::mem::take(&mut pinned.registered)
                .into_iter()
                .partition(|offer| as_accepted.contains_key(&offer.name));
            pinned.absent = absent;
            pinned.registered = registered;
            for offer in &mut pinned.registered {
                // the upstream's own bytes, where they are known
                if let Some(raw) = as_accepted.get(&offer.name) {
                    offer.definition = (***raw).to_owned();
                }
            }
        }
        all
    }

    /// How many tools of an upstream are offered but not as accepted.
    pub fn waiting(&self, name: &str, lock: &Lock) -> usize {
        let Some(upstream) = self.get(name).filter(|upstream| has_answered(upstream)) else { return 0 };
        let judged = judge(lock, name, &upstream.definitions());
        judged.iter().filter(|judged| matches!(judged.state, State::New | State::Changed { .. })).count()
    }

    /// Upstreams nobody has accepted anything of, with what they offer.
    pub fn newcomers(&self, lock: &Lock) -> Vec<(String, Vec<toolgate_upstream::Definition>)> {
        let new = self.running.iter().filter(|(name, running)| !lock.knows(name) && has_answered(&running.upstream));
        new.map(|(name, running)| (name.clone(), running.upstream.definitions())).collect()
    }

    /// Accepts all of the newcomers. Whether the lock changed.
    pub fn accept_new(&self, lock: &mut Lock) -> bool {
        let mut changed = false;
        for (name, offered) in self.newcomers(lock) {
            changed |= !lock.accept(&name, Choice::All, &named(&offered)).added.is_empty();
        }
        changed
    }

    /// Ends all of them, at the same time.
    pub async fn stop(&mut self) {
        let mut stopping = JoinSet::new();
        for (_, running) in std::mem::take(&mut self.running) {
            stopping.spawn(async move { running.upstream.stop().await });
        }
        stopping.join_all().await;
    }
}

fn more(upstream: &Upstream) -> Vec<(Kind, String, Arc<RawValue>)> {
    let kinds = [
        (Kind::Prompt, upstream.prompts()),
        (Kind::Resource, upstream.resources()),
        (Kind::Template, upstream.templates()),
    ];
    let of_kind = |(kind, all): (Kind, Vec<toolgate_upstream::Definition>)| {
        all.into_iter().map(move |definition| (kind, definition.name, definition.raw))
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Its tools were heard of at least once since it was started.
fn has_answered(upstream: &Upstream) -> bool {
    *upstream.changes().borrow() > 0 || upstream.status().state == toolgate_upstream::State::Up
}

pub fn named(offered: &[toolgate_upstream::Definition]) -> Vec<(&str, &RawValue)> {
    offered.iter().map(|definition| (definition.name.as_str(), &*definition.raw)).collect()
}

pub fn judge(lock: &Lock, upstream: &str, offered: &[toolgate_upstream::Definition]) -> Vec<Judged> {
    lock.judge(upstream, &named(offered))
}
