//! Asking upstreams what they offer now: all at the same time, each within a limit.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::timeout};
use toolgate_core::{
    Facts, Tool,
    pin::{Judged, Lock, State, visible},
    suggest::hint,
};
use toolgate_spine::ToolOffer;
use toolgate_upstream::{Definition, Fault};

use crate::{
    Misuse,
    cli::Place,
    config::{Config, ToolConfig, Upstream},
    gateway_files::GatewayFiles,
    ground::Ground,
    progress::Progress,
    raise,
    taken_names::TakenNames,
    tool_attributes::AttributeTables,
    upstreams::{self, Upstreams},
};

/// What every upstream that was asked offers, beside what was accepted.
pub struct Survey {
    pub ground: Ground,
    pub reviews: Vec<ServerReview>,
}

/// One upstream, asked now.
pub struct ServerReview {
    pub name: String,
    pub is_enabled: bool,
    pub offered: Vec<Definition>,
    pub judged: Vec<Judged>,
    /// Why it gave no answer.
    pub fault: Option<String>,
    /// Warnings of names that other tools have, by tool.
    pub clashes: BTreeMap<String, String>,
    /// Warnings of tools that the configuration lets run without approval, by tool.
    pub covered: BTreeMap<String, String>,
}

impl Survey {
    /// Asks the named upstreams, or all where none is named.
    pub async fn take(place: &Place, names: &[String], within: Duration) -> Result<Self, Misuse> {
        let ground = Ground::of(place)?;
        let lock: Lock = ground.lock_file().read()?;
        let mut config = ground.config.clone();
        for name in names {
            check_name(&config, name)?;
        }
        config.upstreams.retain(|upstream| names.is_empty() || names.contains(&upstream.name));
        let mut running = Upstreams::beside(GatewayFiles::of(&ground)?);
        running.follow(&config).await?;
        let mut faults = first_answers(&running, within).await;
        let offered =
            |upstream: &Upstream| running.get(&upstream.name).map(|one| one.definitions()).unwrap_or_default();
        let offers: Vec<(&Upstream, Vec<Definition>)> =
            config.upstreams.iter().map(|upstream| (upstream, offered(upstream))).collect();
        let names = OfferedNames::of(&ground.config, &lock, &offers)?;
        let mut reviews = Vec::new();
        for (upstream, offered) in offers {
            let fault = faults.remove(&upstream.name).flatten();
            let has_answered = upstream.enabled && fault.is_none();
            let judged = if has_answered { upstreams::judge(&lock, &upstream.name, &offered) } else { Vec::new() };
            let (clashes, covered) = (names.clashes(upstream, &offered), names.covered(upstream, &offered));
            let (name, is_enabled) = (upstream.name.clone(), upstream.enabled);
            reviews.push(ServerReview { name, is_enabled, offered, judged, fault, clashes, covered });
        }
        let stopping = Progress::start("ending the servers' programs …");
        running.stop().await;
        drop(stopping);
        Ok(Self { ground, reviews })
    }
}

impl ServerReview {
    pub fn definition(&self, tool: &str) -> Option<&Definition> {
        self.offered.iter().find(|definition| definition.name == tool)
    }

    /// The tools that are offered otherwise than accepted, or no longer.
    pub fn waiting(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| judged.state != State::Accepted)
    }
}

fn check_name(config: &Config, name: &str) -> Result<(), Misuse> {
    match config.upstreams.iter().find(|upstream| upstream.name == name) {
        Some(upstream) if upstream.enabled => Ok(()),
        Some(_) => Err(format!("the upstream '{name}' is switched off; remove enabled = false").into()),
        None => {
            let hint = hint(name, config.upstreams.iter().map(|upstream| upstream.name.as_str()));
            let add = format!("add one with toolgate add {name}; a tool is named with --tool");
            Err(format!("there is no upstream '{name}' in the configuration{hint}; {add}").into())
        }
    }
}

/// Why each upstream does not answer, by name; `None` for one that does.
async fn first_answers(running: &Upstreams, within: Duration) -> BTreeMap<String, Option<String>> {
    let mut waiting: Vec<String> = running.names().map(str::to_owned).collect();
    let mut asking = JoinSet::new();
    for name in &waiting {
        let Some(upstream) = running.get(name).map(Arc::clone) else { continue };
        let name = name.clone();
        asking.spawn(async move { (name, first_answer(&upstream, within).await) });
    }
    let mut faults = BTreeMap::new();
    let progress = Progress::start(waiting_for(&waiting));
    while let Some(answered) = asking.join_next().await {
        let Ok((name, fault)) = answered else { continue };
        waiting.retain(|other| *other != name);
        progress.set(waiting_for(&waiting));
        faults.insert(name, fault);
    }
    faults
}

/// The first attempt counts: a person waits for it.
async fn first_answer(upstream: &toolgate_upstream::Upstream, within: Duration) -> Option<String> {
    let mut states = upstream.states();
    let _ = timeout(within, states.wait_for(|state| *state != toolgate_upstream::State::Starting)).await;
    match upstream.status().state {
        toolgate_upstream::State::Up => None,
        toolgate_upstream::State::Starting => Some(format!("did not answer within {} s", within.as_secs())),
        toolgate_upstream::State::Down(Fault::Down { why }) => Some(format!("is not connected: {why}")),
        toolgate_upstream::State::Down(fault) => Some(fault.to_string()),
        toolgate_upstream::State::Stopped => Some(Fault::Stopped.to_string()),
    }
}

fn waiting_for(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("waiting for {} …", names.join(", "))
}

/// The names that all servers together offer, and what the configuration says of them already.
struct OfferedNames<'c> {
    config: &'c Config,
    taken: TakenNames,
    tables: AttributeTables<'c>,
}

impl<'c> OfferedNames<'c> {
    fn of(config: &'c Config, lock: &Lock, offers: &[(&Upstream, Vec<Definition>)]) -> Result<Self, Misuse> {
        let mut taken = raise::taken_names(config, &upstreams::pinned(config, lock))?;
        for (upstream, offered) in offers {
            let tools = offered.iter().filter_map(|definition| tool_of(config, upstream, definition));
            tools.for_each(|tool| taken.take_offered(&tool));
        }
        Ok(Self { config, taken, tables: AttributeTables::of(config) })
    }

    /// Warnings of tools whose names other tools have, by tool.
    fn clashes(&self, upstream: &Upstream, offered: &[Definition]) -> BTreeMap<String, String> {
        let tools = offered.iter().filter_map(|definition| tool_of(self.config, upstream, definition));
        tools.filter_map(|tool| Some((tool.own_name.to_string(), self.taken.clash(&tool)?.warning(&tool)))).collect()
    }

    /// Warnings of tools that a table of the configuration makes run without approval, by tool.
    fn covered(&self, upstream: &Upstream, offered: &[Definition]) -> BTreeMap<String, String> {
        let reads = |table: &ToolConfig| table.effect.as_deref() == Some("read");
        let allows = |table: &ToolConfig| table.approval.as_deref() == Some("none");
        let covering = |tool: &Tool| {
            let tables = self.tables.about(tool);
            let (key, _) = tables.into_iter().rfind(|(_, table)| reads(table) || allows(table))?;
            let warning = format!("attributes: [tools.\"{}\"] lets this tool run without approval", visible(key));
            Some((tool.own_name.to_string(), warning))
        };
        let tools = offered.iter().filter_map(|definition| tool_of(self.config, upstream, definition));
        tools.filter_map(|tool| covering(&tool)).collect()
    }
}

/// The tool that a definition would be registered as. `None` for a name that is none: it can't be accepted either.
pub fn tool_of(config: &Config, upstream: &Upstream, definition: &Definition) -> Option<Tool> {
    let offer =
        ToolOffer { name: definition.name.clone(), definition: (*definition.raw).to_owned(), facts: Facts::default() };
    raise::registered(&upstream.name, &upstream.prefix, config, offer).ok()
}
