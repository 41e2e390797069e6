//! Hot reload: a changed file makes a new house; a wrong one leaves the old standing.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use toolgate_spine::Spine;
use toolgate_store::Store;

use crate::{config, ground::Ground, raise};

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(250);

type Stamp = Option<(SystemTime, u64)>;

/// Follows the configuration file and every file it names.
pub async fn follow(mut ground: Ground, spine: Arc<Spine>, store: Store) {
    let Some(path) = ground.config_path.clone() else { return };
    let mut loaded = stamps(&ground);
    let mut seen = loaded.clone();
    loop {
        tokio::time::sleep(EVERY).await;
        let now = stamps(&ground);
        // a file that still changes may be half written: it is read once it has kept still for one look
        let settled = now == seen;
        seen = now;
        if !settled || seen == loaded {
            continue;
        }
        loaded = seen.clone();
        let raised =
            config::load(Some(&path), std::env::vars()).map_err(|problem| problem.to_string()).and_then(|config| {
                match raise::house(&config, &store) {
                    Ok(house) => Ok((config, house)),
                    Err(problem) => Err(problem.to_string()),
                }
            });
        match raised {
            Ok((config, house)) => {
                if needs_restart(&ground.config, &config) {
                    tracing::warn!(
                        "the configuration changed in [server], [identity], [log] or the message [limits]: those parts need a restart"
                    );
                }
                ground.config = config;
                // the new configuration may name other files
                loaded = stamps(&ground);
                seen = loaded.clone();
                spine.replace(house);
                tracing::info!(path = %path.display(), "the configuration was reloaded");
            }
            Err(problem) => {
                tracing::error!(%problem, "the changed configuration is wrong; the old one stays in force");
            }
        }
    }
}

fn needs_restart(old: &config::Config, new: &config::Config) -> bool {
    let served = |config: &config::Config| config::Server { page_size: 0, kept_views: 0, ..config.server.clone() };
    let read = |config: &config::Config| {
        let config::Limits { body_bytes, depth, number_chars, string_bytes, keys, .. } = config.limits;
        [body_bytes, depth, number_chars, string_bytes, keys]
    };
    served(old) != served(new) || read(old) != read(new) || old.identity != new.identity || old.log != new.log
}

fn stamps(ground: &Ground) -> BTreeMap<PathBuf, Stamp> {
    let mut paths: Vec<PathBuf> = ground.config_path.iter().cloned().collect();
    for rules in &ground.config.rules {
        paths.push(rules.clone());
        paths.extend(raise::expand(rules).unwrap_or_default());
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
