//! From configuration to a house: packs, facts and rules put together. Everything wrong is found here, before serving.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use toolgate_core::{
    Blueprint, Gate, GateProblem, Kind, Tool, ToolName, caller::BadFact, pin::Lock, suggest::hint, tool::BadToolName,
};
use toolgate_packs::{
    BadPack,
    admin::AdminPack,
    echo::EchoPack,
    fitness::{FitnessConfig, FitnessPack},
    gate::GatePack,
    process::ProcessPack,
    spine::SpinePack,
    team::{TeamConfig, TeamPack},
    todo::TodoPack,
    vault::{DatabaseConfig, VaultConfig, VaultPack},
    workspace::{WorkspaceConfig, WorkspacePack},
};
use toolgate_spine::{House, HouseProblem, LimitDefaults, NamedFlow, ResultsSource, SpineDoor, ToolOffer, ToolSource};
use toolgate_store::{Location, Store};

use crate::{
    bounded_file::read_text,
    catalog::Catalog,
    config::{Config, FlowConfig, Naming, Pack},
    ground::{Ground, duration},
    more,
    rule_files::rule_files,
    taken_names::{ForeignTool, TakenNames},
    tool_attributes,
    upstreams::{Pinned, Upstreams},
};

#[derive(Debug, thiserror::Error)]
pub enum RaiseProblem {
    #[error("{path} can't be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("there is no pack '{name}'{hint}; the packs are: {known}")]
    UnknownPack { name: String, hint: String, known: String },
    #[error("the pack 'echo' needs definitions: [packs.echo] definitions = \"tools.json\"")]
    NoDefinitions,
    #[error("the pack 'vault' needs a folder: [packs.vault] root = \"documents\"")]
    NoRoot,
    #[error("[packs.vault] databases.{name}: {reason}")]
    BadDatabase { name: String, reason: String },
    #[error("the pack '{pack}' takes neither root nor databases; only 'vault' does")]
    UnwantedRoot { pack: String },
    #[error("the pack '{pack}' takes no advertise; only 'team' does")]
    UnwantedAdvertise { pack: String },
    #[error("the pack '{pack}' takes neither open, templates nor summarizer; only 'workspace' does")]
    UnwantedWorkspace { pack: String },
    #[error("the pack '{pack}' takes no files; only 'fitness' does")]
    UnwantedFiles { pack: String },
    #[error(transparent)]
    Fitness(#[from] toolgate_packs::fitness::FitnessProblem),
    #[error(transparent)]
    Workspace(#[from] toolgate_packs::workspace::WorkspaceProblem),
    #[error(transparent)]
    Vault(#[from] toolgate_packs::vault::VaultProblem),
    #[error("the pack '{pack}' takes no definitions; only 'echo' does")]
    UnwantedDefinitions { pack: String },
    #[error("{place} names the tool '{name}', which is not registered{hint}")]
    UnknownTool { place: &'static str, name: String, hint: String },
    #[error("[tools.\"{pattern}\"] matches no tool that is built in or accepted")]
    NoMatch { pattern: String },
    #[error("{tool}: {fault}")]
    BadFact { tool: String, fault: BadFact },
    #[error("[{place}.\"{name}\"] is about nothing: only upstreams have {place}, and there are no [[upstreams]]")]
    NothingOffers { place: &'static str, name: String },
    #[error("{place}: '{written}' is not in normal form, and so holds for no address; write '{normal}'")]
    NotNormal { place: String, written: String, normal: String },
    #[error("[{place}.\"{name}\"] has source, which is for tools alone; take it out")]
    UnwantedSource { place: &'static str, name: String },
    #[error("[{place}.\"{name}\"] has bind, which is for tools alone; take it out")]
    UnwantedBinding { place: &'static str, name: String },
    #[error("[{place}.\"{name}\"] has limits.result = \"cut\", which is for tools alone; take it out")]
    UnwantedCut { place: &'static str, name: String },
    #[error("[flows.\"{name}\"] ttl: {reason}")]
    BadFlow { name: String, reason: String },
    #[error("the upstream '{name}' is named as a pack; give it another name")]
    UpstreamNamedAsPack { name: String },
    #[error("a tool of {source_name}: {fault}")]
    BadName { source_name: String, fault: BadToolName },
    #[error("lang = \"{0}\": {1}")]
    BadLang(String, BadFact),
    #[error(transparent)]
    Pack(#[from] BadPack),
    #[error(transparent)]
    Gate(#[from] GateProblem),
    #[error(transparent)]
    House(#[from] HouseProblem),
}

/// Every pack there is.
pub const PACKS: &[&str] =
    &["admin", "echo", "fitness", "gate", "process", "spine", "team", "todo", "vault", "workspace"];

/// The gate alone: enough to explain, list and test, without a store and without connecting to anything.
pub fn gate(config: &Config, upstreams: &[Pinned], catalog: &Catalog) -> Result<Arc<Gate>, RaiseProblem> {
    let (packs, foreign) = (pack_tools(config)?, foreign_tools(config, upstreams)?);
    let taken = TakenNames::of(&packs, foreign.iter().map(|foreign| &foreign.tool));
    let (mut tools, mut absent) = taken.admit(packs, foreign);
    tool_attributes::configure(config, &mut tools, &mut absent)?;
    catalog.apply(config, &mut tools);
    tools.extend(more::registered(config, upstreams)?);
    if ResultsSource::is_needed(tools.iter()) {
        let own = |fault| RaiseProblem::BadName { source_name: "Toolgate itself".to_owned(), fault };
        tools.push(ResultsSource::offered().map_err(own)?);
    }
    let lang = config.lang.parse().map_err(|fault| RaiseProblem::BadLang(config.lang.clone(), fault))?;
    let declared = tool_attributes::declared_types(config, tools.iter().chain(&absent))?;
    Ok(Gate::new(Blueprint {
        tools,
        absent,
        rules: rule_files(config)?,
        declared,
        plans: config.plans.clone(),
        task_header: config.identity.named_task_header(),
        lang,
        page_size: config.server.page_size,
        kept_views: config.server.kept_views,
        kept_page_bytes: config.server.kept_page_bytes,
        ..Blueprint::default()
    })?)
}

/// The names of every tool that a pack has or that was accepted of an upstream.
pub fn taken_names(config: &Config, upstreams: &[Pinned]) -> Result<TakenNames, RaiseProblem> {
    let foreign = foreign_tools(config, upstreams)?;
    Ok(TakenNames::of(&pack_tools(config)?, foreign.iter().map(|foreign| &foreign.tool)))
}

/// Warnings about names and patterns in the configuration that no tool has: the tool's server may be away, or nobody has
/// accepted the tool yet.
pub fn attribute_warnings(config: &Config, upstreams: &[Pinned]) -> Result<Vec<String>, RaiseProblem> {
    let (packs, foreign) = (pack_tools(config)?, foreign_tools(config, upstreams)?);
    let taken = TakenNames::of(&packs, foreign.iter().map(|foreign| &foreign.tool));
    let clashes = foreign.iter().filter_map(|ForeignTool { tool, .. }| {
        Some(format!(
            "the tool '{}' of the upstream '{}': {}",
            tool.name,
            tool.source,
            taken.clash(tool)?.warning(tool)
        ))
    });
    let clashes: Vec<String> = clashes.collect();
    let tools = packs.iter().chain(foreign.iter().map(|foreign| &foreign.tool));
    let unknown = tool_attributes::unknown_names(config, tools);
    Ok(unknown.iter().map(ToString::to_string).chain(clashes).collect())
}

fn pack_tools(config: &Config) -> Result<Vec<Tool>, RaiseProblem> {
    let mut tools = Vec::new();
    for (name, pack) in &config.packs {
        for offer in offers(name, pack)? {
            tools.push(registered(name, &pack.prefix, config, offer)?);
        }
    }
    Ok(tools)
}

fn foreign_tools(config: &Config, upstreams: &[Pinned]) -> Result<Vec<ForeignTool>, RaiseProblem> {
    let mut tools = Vec::new();
    for pinned in upstreams {
        if PACKS.contains(&pinned.upstream.as_str()) {
            return Err(RaiseProblem::UpstreamNamedAsPack { name: pinned.upstream.clone() });
        }
        let offers = pinned.registered.iter().map(|offer| (offer, true));
        for (offer, is_offered) in offers.chain(pinned.absent.iter().map(|offer| (offer, false))) {
            let tool = registered(&pinned.upstream, &pinned.prefix, config, offer.clone())?;
            tools.push(ForeignTool { tool, is_offered });
        }
    }
    Ok(tools)
}

/// The gate and what runs behind it.
pub fn house(
    ground: &Ground,
    lock: &Lock,
    store: &Store,
    upstreams: &Upstreams,
    catalog: &Catalog,
    door: &Arc<SpineDoor>,
) -> Result<House, RaiseProblem> {
    let config = &ground.config;
    let gate = gate(config, &upstreams.pinned(config, lock), catalog)?;
    for note in gate.rulebook().notes() {
        tracing::warn!("{note}");
    }
    let mut sources: Vec<Arc<dyn ToolSource>> = upstreams.sources().collect();
    if ResultsSource::is_needed(gate.catalog().tools().map(|tool| &**tool)) {
        sources.push(Arc::new(ResultsSource::new(store.clone())));
    }
    for (name, pack) in &config.packs {
        sources.push(match name.as_str() {
            "admin" => Arc::new(AdminPack::new(store.clone())?),
            "todo" => Arc::new(TodoPack::new(store.clone())?),
            "echo" => Arc::new(echo(pack)?),
            "fitness" => Arc::new(FitnessPack::new(store.clone(), &fitness(pack, &ground.data))?),
            "spine" => Arc::new(SpinePack::new(Arc::clone(door))?),
            "team" => Arc::new(TeamPack::new(store.clone(), team(pack))?),
            "vault" => Arc::new(VaultPack::new(store.clone(), &vault(pack)?)?),
            "process" => Arc::new(ProcessPack::new(store.clone())?),
            "workspace" => Arc::new(WorkspacePack::new(store.clone(), &workspace(pack))?),
            _ => Arc::new(GatePack::new()?),
        });
    }
    let limits = &config.limits;
    let defaults = LimitDefaults {
        timeout_ms: limits.timeout_ms,
        argument_bytes: limits.argument_bytes,
        result_bytes: limits.result_bytes,
    };
    let flows = flows(config, &gate)?;
    Ok(House::new(gate, sources, defaults)?.with_flows(flows).with_receipt_notes(config.receipt_notes))
}

/// The configured flows, with canonical names. A tool that is not here yet stays as it is written, and is let in once it is.
fn flows(config: &Config, gate: &Gate) -> Result<BTreeMap<String, NamedFlow>, RaiseProblem> {
    let canonical =
        |name: &String| gate.catalog().find(name).map_or_else(|| name.clone(), |tool| tool.name.to_string());
    let named = config.flows.iter().map(|(name, flow)| {
        let longest = longest(name, flow)?;
        let allowlist = flow.allowlist.as_ref().map(|names| names.iter().map(canonical).collect());
        Ok((name.clone(), NamedFlow { allowlist, longest }))
    });
    named.collect()
}

pub(crate) fn longest(name: &str, flow: &FlowConfig) -> Result<Option<Duration>, RaiseProblem> {
    let longest = flow.ttl.as_deref().map(duration).transpose();
    longest.map_err(|fault| RaiseProblem::BadFlow { name: name.to_owned(), reason: fault.to_string() })
}

fn offers(name: &str, pack: &Pack) -> Result<Vec<ToolOffer>, RaiseProblem> {
    if pack.definitions.is_some() && name != "echo" {
        return Err(RaiseProblem::UnwantedDefinitions { pack: name.to_owned() });
    }
    if (pack.root.is_some() || !pack.databases.is_empty()) && name != "vault" {
        return Err(RaiseProblem::UnwantedRoot { pack: name.to_owned() });
    }
    if pack.advertise && name != "team" {
        return Err(RaiseProblem::UnwantedAdvertise { pack: name.to_owned() });
    }
    if pack.files.is_some() && name != "fitness" {
        return Err(RaiseProblem::UnwantedFiles { pack: name.to_owned() });
    }
    if (pack.open || pack.templates.is_some() || !pack.summarizer.is_empty()) && name != "workspace" {
        return Err(RaiseProblem::UnwantedWorkspace { pack: name.to_owned() });
    }
    match name {
        "admin" => Ok(toolgate_packs::admin::offered()?),
        "fitness" => Ok(toolgate_packs::fitness::offered()?),
        "process" => Ok(toolgate_packs::process::offered()?),
        "workspace" => Ok(toolgate_packs::workspace::offered(pack.open)?),
        "todo" => Ok(toolgate_packs::todo::offered()?),
        "gate" => Ok(GatePack::new()?.tools()),
        "spine" => Ok(toolgate_packs::spine::offered()?),
        "team" => Ok(toolgate_packs::team::offered(team(pack))?),
        "vault" => {
            vault(pack)?;
            Ok(toolgate_packs::vault::offered()?)
        }
        "echo" => Ok(echo(pack)?.tools()),
        _ => Err(RaiseProblem::UnknownPack {
            name: name.to_owned(),
            hint: hint(name, PACKS.iter().copied()),
            known: PACKS.join(" "),
        }),
    }
}

fn echo(pack: &Pack) -> Result<EchoPack, RaiseProblem> {
    let path = pack.definitions.as_deref().ok_or(RaiseProblem::NoDefinitions)?;
    Ok(EchoPack::new(&path.display().to_string(), &read(path)?)?)
}

fn team(pack: &Pack) -> TeamConfig {
    TeamConfig { advertise: pack.advertise }
}

fn fitness(pack: &Pack, data: &Path) -> FitnessConfig {
    FitnessConfig {
        files: pack.files.clone().unwrap_or_else(|| data.join("fitness")),
        must_exist: pack.files.is_some(),
    }
}

fn workspace(pack: &Pack) -> WorkspaceConfig {
    WorkspaceConfig { open: pack.open, templates: pack.templates.clone(), summarizer: pack.summarizer.clone() }
}

/// The folder of the pack `vault`, where there is one, and can be opened.
pub fn vault_folder(config: &Config) -> Result<Option<PathBuf>, RaiseProblem> {
    let Some(pack) = config.packs.get("vault") else { return Ok(None) };
    let config = vault(pack)?;
    toolgate_packs::vault::check(&config)?;
    Ok(Some(config.root))
}

fn vault(pack: &Pack) -> Result<VaultConfig, RaiseProblem> {
    let mut config = VaultConfig::new(pack.root.clone().ok_or(RaiseProblem::NoRoot)?);
    for (name, place) in &pack.databases {
        let location = if place.contains("://") {
            place.parse().map_err(|fault: toolgate_store::StoreError| RaiseProblem::BadDatabase {
                name: name.clone(),
                reason: fault.to_string(),
            })?
        } else {
            Location::Sqlite(place.into())
        };
        config.databases.insert(name.clone(), DatabaseConfig { location });
    }
    Ok(config)
}

pub(crate) fn registered(source: &str, prefix: &str, config: &Config, offer: ToolOffer) -> Result<Tool, RaiseProblem> {
    let bad = |fault| RaiseProblem::BadName { source_name: format!("'{source}'"), fault };
    let own_name = ToolName::new(&offer.name).map_err(bad)?;
    let name = ToolName::new(&format!("{prefix}{own_name}")).map_err(bad)?;
    Ok(Tool {
        kind: Kind::Tool,
        wire_name: if config.naming == Naming::Dotted { name.clone() } else { name.to_wire() },
        name,
        own_name,
        source: source.into(),
        definition: offer.definition.into(),
        facts: offer.facts,
    })
}

pub(crate) fn read(path: &Path) -> Result<String, RaiseProblem> {
    read_text(path)
        .map_err(|fault| RaiseProblem::Unreadable { path: path.display().to_string(), reason: fault.to_string() })
}
