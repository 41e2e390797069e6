//! `import`: a client's MCP servers as upstreams, secrets moved out into files of their own.

pub mod render;
pub mod secret;
mod servers;
pub mod translate;
mod values;
mod variable;
pub mod write;

use std::path::{Path, PathBuf};

use serde_json::json;
use toolgate_core::terminal_escape;

pub(super) use translate::normalised;

use super::{client_file, next_steps, print, say};
use crate::{
    CommandResult, Ending, Misuse,
    cli::ImportArgs,
    config::{Config, Writes},
    raise::PACKS,
};

/// Names and keys are whatever the file says, so they are shown with care.
pub fn run(asked: &ImportArgs) -> CommandResult {
    import(asked).map_err(|problem| terminal_escape(&problem.to_string()).into())
}

fn import(asked: &ImportArgs) -> CommandResult {
    let ImportArgs { file, place, output, .. } = asked;
    let output = *output;
    let shown = file.display().to_string();
    let text = client_file::read(file)?.ok_or_else(|| format!("{shown} is not there; name the client's file"))?;
    let (_, text) = client_file::without_mark(&text);
    let servers = servers::of(file, &client_file::object(file, text)?)?;
    let config = place.config.clone().unwrap_or_else(|| PathBuf::from("toolgate.toml"));
    let secrets = place.data.join("secrets");
    let mut imported = translate::all(&shown, servers, &referred(&config, &secrets)?, asked.writes)?;
    if let Some(upstream) = imported.upstreams.iter().find(|upstream| PACKS.contains(&upstream.name.as_str())) {
        let name = &upstream.name;
        return Err(format!("the server '{name}' in {shown} has the name of a pack; rename it there").into());
    }
    if asked.prefix || (!asked.no_prefix && has_several(&config, &imported)) {
        imported.add_prefixes();
    }
    toml::from_str::<Config>(&render::upstreams(&imported.upstreams))
        .map_err(|fault| format!("{shown} can't be imported: {}; mend that server there", fault.message()))?;
    let toml = render::upstreams(&imported.shown());
    let target = write::Target { path: &config, secrets: &secrets, force: asked.force };
    let written = if asked.write { Some(target.add(&imported)?) } else { None };
    let files: Vec<_> =
        imported.secrets.iter().map(|secret| secrets.join(&secret.name).display().to_string()).collect();
    if output.json {
        let value = json!({
            "file": shown,
            "upstreams": imported.shown(),
            "secrets": files,
            "notes": imported.notes,
            "toml": toml,
            "written": written.as_ref().map(|_| config.display().to_string()),
            "added": written,
        });
        print(output, &value, "")?;
        return Ok(Ending::Good);
    }
    for note in &imported.notes {
        eprintln!("{}", terminal_escape(&format!("{}: {}", note.server, note.what)));
    }
    match written {
        None => {
            say(&toml)?;
            eprintln!("Nothing is written yet. To write {}:", config.display());
            let (options, force) = (next_steps::place_options(place), next_steps::import_options(asked));
            eprintln!("  toolgate import {}{force} --write{options}", next_steps::shell_word(&shown));
        }
        Some(added) => {
            let mut text = format!("Added to {}: {}\n", config.display(), listed(&added));
            if !files.is_empty() {
                text.push_str(&format!("Secrets are in: {}\n", files.join(" ")));
                text.push_str(&format!("They also still stand in {shown}.\n"));
            }
            if asked.writes == Writes::Ask && !added.is_empty() {
                text.push_str(next_steps::WRITES_ASK);
            }
            text.push_str(&next_steps::after_import(file, place));
            say(&text)?;
        }
    }
    Ok(Ending::Good)
}

/// Returns true if the gateway will have more than one server: then two of their tools may have one name. What is wrong with the
/// file is told when it is written.
fn has_several(config: &Path, imported: &translate::Imported) -> bool {
    let is_imported = |name: &str| imported.upstreams.iter().any(|upstream| upstream.name == name);
    let there = write::present(config).map(|there| there.upstreams).unwrap_or_default();
    imported.upstreams.len() > 1 || there.iter().any(|other| !is_imported(&other.name))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing, all of it is there already".to_owned() } else { names.join(" ") }
}

/// The secrets' folder as the configuration names it: paths there are relative to the configuration.
pub fn referred(config: &Path, secrets: &Path) -> Result<PathBuf, Misuse> {
    let beside = config.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    Ok(if beside { secrets.to_owned() } else { std::path::absolute(secrets)? })
}
