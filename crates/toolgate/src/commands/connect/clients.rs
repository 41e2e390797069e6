//! Where each client keeps its file, and under which key its servers are.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::{Misuse, cli::Client};

pub struct Place {
    pub file: PathBuf,
    pub key: &'static str,
}

/// The file that was named, else the project's where there is one, else the person's own.
pub fn place(client: Client, named: Option<&Path>) -> Result<Place, Misuse> {
    let key = if client == Client::VsCode { "servers" } else { "mcpServers" };
    let file = match (named, project(client)) {
        (Some(named), _) => named.to_owned(),
        (None, Some(project)) if Path::new(project).exists() => PathBuf::from(project),
        _ => own(client)?,
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let hint = if named.is_some() { "make it first" } else { "start the client once, or say --file" };
        return Err(format!("there is no folder {}; {hint}", folder.display()).into());
    }
    Ok(Place { file, key })
}

fn project(client: Client) -> Option<&'static str> {
    match client {
        Client::ClaudeCode => Some(".mcp.json"),
        Client::Cursor => Some(".cursor/mcp.json"),
        Client::VsCode => Some(".vscode/mcp.json"),
        Client::ClaudeDesktop | Client::Windsurf => None,
    }
}

fn own(client: Client) -> Result<PathBuf, Misuse> {
    Ok(match client {
        Client::ClaudeDesktop => settings()?.join("Claude/claude_desktop_config.json"),
        Client::ClaudeCode => home()?.join(".claude.json"),
        Client::Cursor => home()?.join(".cursor/mcp.json"),
        Client::VsCode => settings()?.join("Code/User/mcp.json"),
        Client::Windsurf => home()?.join(".codeium/windsurf/mcp_config.json"),
    })
}

/// Where programs of this system keep settings.
fn settings() -> Result<PathBuf, Misuse> {
    if cfg!(windows) {
        return variable("APPDATA").ok_or_else(|| "APPDATA is not set; say --file".into());
    }
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support"));
    }
    variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).map_or_else(|| Ok(home()?.join(".config")), Ok)
}

fn home() -> Result<PathBuf, Misuse> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    variable(name).ok_or_else(|| format!("{name} is not set, so the client's file is unknown; say --file").into())
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
