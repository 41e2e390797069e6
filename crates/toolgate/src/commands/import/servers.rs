//! Finding the servers in a client's file, whichever client it is of.

use std::{collections::BTreeMap, path::Path};

use jsonc_parser::ast::{Object, Value as Node};
use serde_json::{Map, Value};

use crate::commands::client_file::{self, FileProblem};

/// Servers by the name the client has for them, in the file's order.
pub struct Servers {
    pub servers: Vec<(String, Map<String, Value>)>,
    /// What the client asks people for, by id, with the words it asks in.
    pub inputs: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoServers {
    #[error(transparent)]
    File(#[from] FileProblem),
    #[error("{0} has no MCP servers: neither 'mcpServers' nor 'servers' has one")]
    None(String),
}

pub fn of(path: &Path, root: &Object<'_>) -> Result<Servers, NoServers> {
    // the settings of VS Code have them one step down
    let below = root.get("mcp").and_then(|member| member.value.as_object());
    let mut servers = Vec::new();
    let mut inputs = BTreeMap::new();
    for holder in [Some(root), below].into_iter().flatten() {
        for key in ["mcpServers", "servers"] {
            let Some(member) = holder.get(key) else { continue };
            for (name, server) in objects(path, key, &member.value)? {
                servers.push((name.to_owned(), client_file::members(server)));
            }
        }
        for input in holder.get_array("inputs").into_iter().flat_map(|inputs| &inputs.elements) {
            let text = |key| Some(input.as_object()?.get_string(key)?.value.to_string());
            if let Some(id) = text("id") {
                inputs.insert(id, text("description").unwrap_or_default());
            }
        }
    }
    if servers.is_empty() {
        return Err(NoServers::None(path.display().to_string()));
    }
    Ok(Servers { servers, inputs })
}

fn objects<'n, 't>(path: &Path, key: &str, node: &'n Node<'t>) -> Result<Vec<(&'n str, &'n Object<'t>)>, FileProblem> {
    let needed = |place: String, node: &Node<'_>| FileProblem::NotObject {
        path: path.display().to_string(),
        place,
        found: client_file::kind(node),
    };
    let object = node.as_object().ok_or_else(|| needed(format!("'{key}'"), node))?;
    object
        .properties
        .iter()
        .map(|member| {
            let name = member.name.as_str();
            let server = member.value.as_object().ok_or_else(|| needed(format!("'{key}.{name}'"), &member.value))?;
            Ok((name, server))
        })
        .collect()
}
