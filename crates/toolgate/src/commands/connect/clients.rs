//! The file of each client, and the key that its servers are under.

use std::{
    env,
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use crate::{Misuse, cli::Client};

/// A client's file.
pub struct ClientPlace {
    pub file: PathBuf,
    pub key: &'static str,
}

/// A file of a client that is installed.
pub struct InstalledClient {
    pub client: Client,
    pub place: ClientPlace,
    /// The file belongs to the current folder, not to the user.
    pub is_project: bool,
}

/// The file that was named, else the project's where there is one, else the user's own.
pub fn place(client: Client, named: Option<&Path>) -> Result<ClientPlace, Misuse> {
    let file = match (named, project_file(client)) {
        (Some(named), _) => named.to_owned(),
        (None, Some(project)) => project,
        (None, None) => own(client)?,
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let hint = if named.is_some() { "make it first" } else { "start the client once, or say --file" };
        return Err(format!("there is no folder {}; {hint}", folder.display()).into());
    }
    Ok(ClientPlace { file, key: key(client) })
}

/// The files of all clients that are installed here: the file or the folder of its settings exists.
pub fn installed() -> Vec<InstalledClient> {
    let mut found = Vec::new();
    for client in Client::value_variants().iter().copied() {
        let mut add = |file: PathBuf, is_project| {
            let place = ClientPlace { file, key: key(client) };
            found.push(InstalledClient { client, place, is_project });
        };
        if let Some(project) = project_file(client) {
            add(project, true);
        }
        if let Ok(file) = own(client)
            && (file.exists() || settings_folder(client, &file).is_some_and(|folder| folder.is_dir()))
        {
            add(file, false);
        }
    }
    found
}

/// The folder that is there once the client was started.
fn settings_folder(client: Client, file: &Path) -> Option<PathBuf> {
    match client {
        // its file lies in the home folder itself
        Client::ClaudeCode => home().ok().map(|home| home.join(".claude")),
        _ => file.parent().map(Path::to_owned),
    }
}

fn key(client: Client) -> &'static str {
    match client {
        Client::VsCode => "servers",
        Client::Zed => "context_servers",
        _ => "mcpServers",
    }
}

/// The file of the current folder, where there is one. In the home folder it is the user's own.
fn project_file(client: Client) -> Option<PathBuf> {
    let file = project(client).map(PathBuf::from).filter(|file| file.exists())?;
    let is_own = own(client).and_then(|own| Ok(own.canonicalize()? == file.canonicalize()?));
    (!is_own.unwrap_or(false)).then_some(file)
}

fn project(client: Client) -> Option<&'static str> {
    match client {
        Client::ClaudeCode => Some(".mcp.json"),
        Client::Cursor => Some(".cursor/mcp.json"),
        Client::VsCode => Some(".vscode/mcp.json"),
        Client::Zed => Some(".zed/settings.json"),
        Client::GeminiCli => Some(".gemini/settings.json"),
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
        // not where other programs of macOS keep settings
        Client::Zed if cfg!(target_os = "macos") => home()?.join(".config/zed/settings.json"),
        Client::Zed if cfg!(windows) => settings()?.join("Zed/settings.json"),
        Client::Zed => settings()?.join("zed/settings.json"),
        Client::GeminiCli => home()?.join(".gemini/settings.json"),
    })
}

/// The folder that programs of this system keep settings in.
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
