//! Hot reload: a changed file or a changed upstream makes a new house; a wrong one leaves the old standing.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::{mpsc, oneshot, watch};
use toolgate_core::pin::{Acceptance, Lock};
use toolgate_spine::{Spine, SpineDoor};
use toolgate_store::Store;

use super::{
    accept_new::{Approved, Newcomers},
    serve::UpstreamReport,
};
use crate::{
    Misuse,
    catalog::Catalog,
    config::{self, DEFAULT_FILE},
    ground::Ground,
    raise, rule_files,
    upstreams::Upstreams,
};

/// How often files are looked at, and how long upstreams rest after one was.
const EVERY: Duration = Duration::from_millis(250);

type Stamp = Option<(SystemTime, u64)>;

/// Every file a house is raised from, as it was when looked at.
pub type Stamps = BTreeMap<PathBuf, Stamp>;

/// Keeps the house in step with the configuration, the lock, and what upstreams offer.
pub struct Keeper {
    pub ground: Ground,
    pub spine: Arc<Spine>,
    pub store: Store,
    pub upstreams: Upstreams,
    /// The files as they were before the first house was raised from them.
    pub loaded: Stamps,
    pub newcomers: Newcomers,
    pub door: Arc<SpineDoor>,
    pub catalog: Catalog,
    /// Whoever wants the house to follow a changed catalogue, and waits until it does.
    pub asked: mpsc::Receiver<oneshot::Sender<Result<(), String>>>,
    pub report: UpstreamReport,
}

impl Keeper {
    /// Runs until told to stop; then ends the upstreams.
    pub async fn keep(mut self, mut stopped: watch::Receiver<bool>) {
        let mut loaded = std::mem::take(&mut self.loaded);
        let mut seen = loaded.clone();
        // the first house was raised before any upstream had answered, whether or not one has by now
        let mut offered = vec![0; self.upstreams.revision().len()];
        let mut look = tokio::time::interval(EVERY);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // one change of an upstream is followed at once; however many follow it, the next house is not before the next look
        let mut rested = true;
        loop {
            tokio::select! {
                _ = look.tick() => rested = true,
                () = self.upstreams.changed(), if rested => {
                    rested = false;
                    self.follow_upstreams(&mut offered);
                    continue;
                }
                approved = self.newcomers.answered() => {
                    self.accept(&approved);
                    continue;
                }
                Some(answer) = self.asked.recv() => {
                    let _ = answer.send(self.follow_catalog().await);
                    continue;
                }
                () = async { drop(stopped.wait_for(|stopped| *stopped).await) } => break,
            }
            let now = stamps(&self.ground);
            // a file that still changes may be half written: it is read once it has kept still for one look
            let settled = now == seen;
            seen = now;
            if settled && seen != loaded {
                self.reload().await;
                // the new configuration may name other files; of the others, what counts is how they were before they were
                // read, so that a change made meanwhile is not missed
                loaded = stamps(&self.ground);
                for (path, stamp) in &mut loaded {
                    if let Some(before) = seen.get(path) {
                        *stamp = *before;
                    }
                }
                seen = loaded.clone();
                // whatever they say next may be of others than before
                offered.clear();
                self.report_upstreams();
            }
        }
        self.upstreams.stop().await;
    }

    fn follow_upstreams(&mut self, offered: &mut Vec<u64>) {
        // both before what they offer is looked at: whatever is settled by now is in the house after this, and what changes
        // meanwhile is not missed
        let (settled, now) = (self.upstreams.settled(), self.upstreams.revision());
        if *offered != now {
            *offered = now;
            self.look_at_upstreams();
        }
        self.spine.settle(settled);
        self.report_upstreams();
    }

    fn report_upstreams(&mut self) {
        match self.ground.lock_file().read() {
            Ok(lock) => self.report.update(&self.upstreams, &lock),
            Err(problem) => tracing::error!(%problem, "the state of the upstreams can't be told"),
        }
    }

    async fn follow_catalog(&mut self) -> Result<(), String> {
        self.catalog = Catalog::read(&self.store).await.map_err(|fault| fault.to_string())?;
        self.raise().map_err(|problem| format!("what the catalogue makes of the tools is wrong: {problem}"))
    }

    async fn reload(&mut self) {
        let is_new = self.ground.config_path.is_none();
        let path = self.ground.config_path.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        if is_new && !path.exists() {
            return;
        }
        let mut config = match config::load(Some(&path), std::env::vars()) {
            Ok(config) => config,
            Err(problem) => return kept(&problem.into()),
        };
        if let Some(listen) = &self.ground.listen {
            config.server.listen.clone_from(listen);
        }
        if let Err(problem) = self.upstreams.follow(&config).await {
            return kept(&problem.into());
        }
        let old = std::mem::replace(&mut self.ground.config, config);
        self.ground.config_path = Some(path.clone());
        match self.raise() {
            Ok(()) => {
                let changed = needs_restart(&old, &self.ground.config);
                if !changed.is_empty() {
                    tracing::warn!("these parts of the configuration need a restart: {}", changed.join(", "));
                }
                if is_new {
                    tracing::info!(path = %path.display(), "there is a configuration file now, and it is in force");
                } else {
                    tracing::info!(path = %path.display(), "the configuration was reloaded");
                }
            }
            Err(problem) => {
                self.ground.config = old;
                if is_new {
                    self.ground.config_path = None;
                }
                kept(&problem);
            }
        }
    }

    fn accept(&mut self, approved: &Approved) {
        let mut acceptance = Acceptance::default();
        let written = self.change_lock(|keeper, lock| {
            acceptance = approved.accept(&keeper.upstreams, lock);
            !acceptance.added.is_empty()
        });
        match written {
            Ok(()) => approved.tell(&acceptance, &self.ground.lock_file().path().display().to_string()),
            Err(problem) => {
                tracing::error!(%problem, "the lock can't be written");
                approved.tell_fault(&problem.to_string());
            }
        }
    }

    fn look_at_upstreams(&mut self) {
        let look = |keeper: &mut Self, lock: &mut Lock| keeper.newcomers.look_at(&keeper.upstreams, lock);
        if let Err(problem) = self.change_lock(look) {
            tracing::error!(%problem, "new tools could not be accepted");
        }
        match self.raise() {
            Ok(()) => tracing::info!("an upstream's tools changed"),
            Err(problem) => {
                tracing::error!(%problem, "an upstream's tools changed, and what they make is wrong; the old house stands")
            }
        }
    }

    /// Writes the lock where `change` changed it; the house follows the file.
    fn change_lock(&mut self, change: impl FnOnce(&mut Self, &mut Lock) -> bool) -> Result<(), Misuse> {
        let file = self.ground.lock_file();
        let mut lock = file.read()?;
        if change(self, &mut lock) {
            file.write(&lock)?;
        }
        Ok(())
    }

    fn raise(&self) -> Result<(), Misuse> {
        let lock = self.ground.lock_file().read()?;
        let house = raise::house(&self.ground, &lock, &self.store, &self.upstreams, &self.catalog, &self.door)?;
        self.spine.replace(house);
        Ok(())
    }
}

fn kept(problem: &Misuse) {
    tracing::error!(%problem, "the changed configuration is wrong; the old one stays in force");
}

/// The sections of the configuration that changed and are read at the start alone.
fn needs_restart(old: &config::Config, new: &config::Config) -> Vec<&'static str> {
    let served = |config: &config::Config| config::Server {
        page_size: 0,
        kept_views: 0,
        kept_page_bytes: 0,
        ..config.server.clone()
    };
    let read = |config: &config::Config| {
        let limits = &config.limits;
        let message = [limits.body_bytes, limits.depth, limits.number_chars, limits.string_bytes, limits.keys];
        let (anonymous, all) = (limits.anonymous_per_minute, limits.anonymous_total_per_minute);
        (message, [anonymous, all, limits.open_plans, limits.open_flows])
    };
    let sections = [
        ("[server]", served(old) != served(new)),
        ("[limits] of messages, plans, flows and anonymous callers", read(old) != read(new)),
        ("[identity]", old.identity != new.identity),
        ("[approvals]", old.approvals != new.approvals),
        ("[ledger]", old.ledger != new.ledger),
        ("[retention]", old.retention != new.retention),
        ("[log]", old.log != new.log),
    ];
    sections.into_iter().filter(|(_, changed)| *changed).map(|(section, _)| section).collect()
}

/// Without a configuration file, the one that would have been read is among them: it may be made later.
pub fn stamps(ground: &Ground) -> Stamps {
    let mut paths = vec![ground.config_path.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE))];
    if !ground.config.upstreams.is_empty() {
        paths.push(ground.lock_file().path().to_owned());
    }
    for rules in &ground.config.rules {
        paths.push(rules.clone());
        paths.extend(rule_files::expand(rules).unwrap_or_default());
    }
    paths.extend(ground.config.packs.values().filter_map(|pack| pack.definitions.clone()));
    paths
        .into_iter()
        .map(|path| {
            let stamp = fs::metadata(&path).ok().and_then(|meta| Some((meta.modified().ok()?, meta.len())));
            (path, stamp)
        })
        .collect()
}
