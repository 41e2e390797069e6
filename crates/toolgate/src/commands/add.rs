//! `add`: one MCP server as an upstream of toolgate.toml, secrets moved out into files of their own.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Map, Value, json};
use toolgate_core::terminal_escape;

use super::{
    import::{
        referred, render,
        translate::{Imported, Work},
        write::{Target, present},
    },
    next_steps::{WRITES_ASK, after_add, shell_word},
    print,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::AddArgs,
    config::{Config, Upstream, Writes, is_name},
    program_search::missing_program,
    raise::PACKS,
};

/// Text of the command line may come from a page that somebody copied, so it is shown with care.
pub fn run(asked: &AddArgs) -> CommandResult {
    add(asked).map_err(|problem| terminal_escape(&problem.to_string()).into())
}

fn add(asked: &AddArgs) -> CommandResult {
    let name = asked.name.as_str();
    let config = asked.place.config.clone().unwrap_or_else(|| PathBuf::from("toolgate.toml"));
    let shown = config.display().to_string();
    check_name(name, &present(&config)?, &shown)?;
    if let Some(url) = asked.url.as_ref().filter(|url| !url.contains("://")) {
        let url = shell_word(url);
        return Err(format!("'{name}' has a url that is not https://… or http://…; write http://{url} for an address; a program stands after --: toolgate add {name} -- {url}").into());
    }
    let secrets = asked.place.data.join("secrets");
    let referred = referred(&config, &secrets)?;
    let mut work = Work { secrets: &referred, inputs: BTreeMap::new(), imported: Imported::default() };
    let upstream = work.upstream(name, name, &fields(asked)?).map_err(|what| format!("'{name}': {what}"))?;
    let Some(upstream) = upstream else { return Err(format!("'{name}' has neither a command nor a url").into()) };
    work.imported.upstreams.push(Upstream { prefix: asked.prefix.clone(), writes: asked.writes, ..upstream });
    let imported = work.imported;
    toml::from_str::<Config>(&render::upstreams(&imported.upstreams))
        .map_err(|fault| fault.message().trim().to_owned())?;
    Target { path: &config, secrets: &secrets, force: asked.force }.add(&imported)?;
    let files: Vec<_> =
        imported.secrets.iter().map(|secret| secrets.join(&secret.name).display().to_string()).collect();
    for note in &imported.notes {
        eprintln!("{}", terminal_escape(&format!("{}: {}", note.server, note.what)));
    }
    for warning in imported.upstreams.iter().filter_map(missing_program) {
        eprintln!("warning: {}", terminal_escape(&warning));
    }
    let shown_upstreams = imported.shown();
    let value = json!({
        "added": name, "written": shown, "upstream": shown_upstreams.first(), "secrets": files, "notes": imported.notes,
    });
    let target = shown_upstreams.first().map(place_of).unwrap_or_default();
    let mut text = format!("Added '{name}' to {shown}: {}\n", terminal_escape(&target));
    if !files.is_empty() {
        text.push_str(&format!("Secrets are in: {}\n", files.join(" ")));
    }
    if asked.writes == Writes::Ask {
        text.push_str(WRITES_ASK);
    }
    text.push_str(&after_add(name, &asked.place));
    print(asked.output, &value, &text)?;
    Ok(Ending::Good)
}

fn check_name(name: &str, there: &Config, file: &str) -> Result<(), Misuse> {
    let problem = if !is_name(name) {
        format!("the name '{name}' is not of a-z, 0-9, - and _, 64 at most")
    } else if PACKS.contains(&name) {
        format!("'{name}' is the name of a pack; choose another name")
    } else if there.upstreams.iter().any(|upstream| upstream.name == name) {
        format!("{file} has an upstream '{name}' already; choose another name, or delete its [[upstreams]] block there")
    } else {
        return Ok(());
    };
    Err(problem.into())
}

/// The server as a client's file has it, so that both are translated by the same code.
fn fields(asked: &AddArgs) -> Result<Map<String, Value>, Misuse> {
    let mut fields = Map::new();
    if let Some(url) = &asked.url {
        fields.insert("url".to_owned(), Value::from(url.as_str()));
        fields.insert("headers".to_owned(), pairs(&asked.headers, ':', "--header 'NAME: VALUE'")?);
    }
    if let Some((command, args)) = asked.command.split_first() {
        fields.insert("command".to_owned(), Value::from(command.as_str()));
        fields.insert("args".to_owned(), Value::from(args));
        fields.insert("env".to_owned(), pairs(&asked.env, '=', "--env NAME=VALUE")?);
    }
    Ok(fields)
}

/// Names and values, split at the first separator. What is wrong is told without the value, which may be a secret.
fn pairs(given: &[String], separator: char, usage: &str) -> Result<Value, Misuse> {
    let mut pairs = Map::new();
    for text in given {
        let (name, value) =
            text.split_once(separator).ok_or_else(|| format!("a value without a name; write {usage}"))?;
        let (name, value) = if separator == ':' { (name.trim(), value.trim()) } else { (name, value) };
        if pairs.insert(name.to_owned(), Value::from(value)).is_some() {
            return Err(format!("'{name}' is given twice; keep one").into());
        }
    }
    Ok(Value::Object(pairs))
}

/// The command line or the address, as far as it may be shown.
fn place_of(upstream: &Upstream) -> String {
    match (&upstream.command, &upstream.url) {
        (Some(command), _) => {
            let words = std::iter::once(command).chain(&upstream.args);
            words.map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
        }
        (None, url) => url.clone().unwrap_or_default(),
    }
}
