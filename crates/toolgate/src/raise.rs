//! From configuration to a house: packs, facts and rules put together. Everything wrong is found here, before serving.

use std::{fs, path::Path, sync::Arc};

use toolgate_core::{
    Blueprint, Gate, GateProblem, RuleFile, Tool, ToolName, caller::BadFact, suggest::hint, tool::BadToolName,
};
use toolgate_packs::{BadPack, echo::EchoPack, gate::GatePack, todo::TodoPack};
use toolgate_spine::{House, HouseProblem, LimitDefaults, ToolOffer, ToolSource};
use toolgate_store::Store;

use crate::config::{Config, Naming, Pack};

#[derive(Debug, thiserror::Error)]
pub enum RaiseProblem {
    #[error("{path} can't be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("there is no pack '{name}'{hint}; the packs are: {known}")]
    UnknownPack { name: String, hint: String, known: String },
    #[error("the pack 'echo' needs definitions: [packs.echo] definitions = \"tools.json\"")]
    NoDefinitions,
    #[error("the pack '{pack}' takes no definitions; only 'echo' does")]
    UnwantedDefinitions { pack: String },
    #[error("{place} names the tool '{name}', which is not registered{hint}")]
    UnknownTool { place: &'static str, name: String, hint: String },
    #[error("[tools.\"{tool}\"]: {fault}")]
    BadFact { tool: String, fault: BadFact },
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
pub const PACKS: &[&str] = &["echo", "gate", "todo"];

/// The gate alone: enough to explain, list and test, without a store.
pub fn gate(config: &Config) -> Result<Arc<Gate>, RaiseProblem> {
    let mut tools = Vec::new();
    for (name, pack) in &config.packs {
        for offer in offers(name, pack)? {
            tools.push(registered(name, pack, config, offer)?);
        }
    }
    configure(config, &mut tools)?;
    let lang = config.lang.parse().map_err(|fault| RaiseProblem::BadLang(config.lang.clone(), fault))?;
    let mut declared = std::collections::BTreeMap::new();
    for (name, tool) in &config.tools {
        let types = tool.declared().map_err(|fault| RaiseProblem::BadFact { tool: name.clone(), fault })?;
        let canonical = tools.iter().find(|tool| is_named(tool, name)).map(|tool| tool.name.to_string());
        declared.insert(canonical.unwrap_or_else(|| name.clone()), types);
    }
    Ok(Gate::new(Blueprint {
        tools,
        rules: rule_files(config)?,
        declared,
        plans: config.plans.clone(),
        lang,
        page_size: config.server.page_size,
        kept_views: config.server.kept_views,
        ..Blueprint::default()
    })?)
}

/// The gate and what runs behind it.
pub fn house(config: &Config, store: &Store) -> Result<House, RaiseProblem> {
    let gate = gate(config)?;
    let mut sources: Vec<Arc<dyn ToolSource>> = Vec::new();
    for (name, pack) in &config.packs {
        sources.push(match name.as_str() {
            "todo" => Arc::new(TodoPack::new(store.clone())?),
            "echo" => Arc::new(echo(pack)?),
            _ => Arc::new(GatePack::new()?),
        });
    }
    let limits = &config.limits;
    let defaults = LimitDefaults {
        timeout_ms: limits.timeout_ms,
        argument_bytes: limits.argument_bytes,
        result_bytes: limits.result_bytes,
    };
    Ok(House::new(gate, sources, defaults)?)
}

fn offers(name: &str, pack: &Pack) -> Result<Vec<ToolOffer>, RaiseProblem> {
    if pack.definitions.is_some() && name != "echo" {
        return Err(RaiseProblem::UnwantedDefinitions { pack: name.to_owned() });
    }
    match name {
        "todo" => Ok(toolgate_packs::todo::offered()?),
        "gate" => Ok(GatePack::new()?.tools()),
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

fn registered(source: &str, pack: &Pack, config: &Config, offer: ToolOffer) -> Result<Tool, RaiseProblem> {
    let bad = |fault| RaiseProblem::BadName { source_name: format!("pack '{source}'"), fault };
    let own_name = ToolName::new(&offer.name).map_err(bad)?;
    let name = ToolName::new(&format!("{}{own_name}", pack.prefix)).map_err(bad)?;
    Ok(Tool {
        wire_name: if config.naming == Naming::Dotted { name.clone() } else { name.to_wire() },
        name,
        own_name,
        source: source.into(),
        definition: offer.definition.into(),
        facts: offer.facts,
    })
}

/// Puts configured facts and disables in. A name that no tool has would silently do nothing, so it is refused.
fn configure(config: &Config, tools: &mut [Tool]) -> Result<(), RaiseProblem> {
    for (name, wanted) in &config.tools {
        let tool = named(tools, "[tools]", name)?;
        wanted.apply(&mut tool.facts).map_err(|fault| RaiseProblem::BadFact { tool: name.clone(), fault })?;
    }
    for name in &config.disabled_tools {
        named(tools, "disabled_tools", name)?.facts.disabled = true;
    }
    Ok(())
}

fn named<'t>(tools: &'t mut [Tool], place: &'static str, name: &str) -> Result<&'t mut Tool, RaiseProblem> {
    let hint = hint(name, tools.iter().map(|tool| tool.name.as_str()));
    tools.iter_mut().find(|tool| is_named(tool, name)).ok_or_else(|| RaiseProblem::UnknownTool {
        place,
        name: name.to_owned(),
        hint,
    })
}

/// By canonical or wire name.
fn is_named(tool: &Tool, name: &str) -> bool {
    tool.name.as_str() == name || tool.wire_name.as_str() == name || tool.name.to_wire().as_str() == name
}

/// The operator's files, and every `.cedar` file of the folders, in order of their names.
pub fn rule_files(config: &Config) -> Result<Vec<RuleFile>, RaiseProblem> {
    let mut files = Vec::new();
    for path in &config.rules {
        for path in expand(path)? {
            files.push(RuleFile { name: path.display().to_string(), text: read(&path)? });
        }
    }
    Ok(files)
}

/// A folder's `.cedar` files, or the file itself.
pub fn expand(path: &Path) -> Result<Vec<std::path::PathBuf>, RaiseProblem> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |fault: std::io::Error| RaiseProblem::Unreadable {
        path: path.display().to_string(),
        reason: fault.to_string(),
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        if entry.extension().is_some_and(|extension| extension == "cedar") {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, RaiseProblem> {
    fs::read_to_string(path)
        .map_err(|fault| RaiseProblem::Unreadable { path: path.display().to_string(), reason: fault.to_string() })
}
