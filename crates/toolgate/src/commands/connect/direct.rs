//! Servers that a client reaches past the gateway, and which of them are behind it too.

use serde_json::{Map, Value};

use super::NAME;
use crate::{cli::Client, commands::import::normalised, config::Upstream};

/// The servers of a client's file beside the entry for Toolgate.
pub struct DirectServers {
    /// Reached past the gateway.
    pub names: Vec<String>,
}

/// The servers behind the gateway. Names are compared as `import` writes them.
pub struct Behind<'u> {
    pub upstreams: &'u [Upstream],
}

impl DirectServers {
    /// Every server that is not switched off, in the order of the file.
    pub fn of(servers: &Map<String, Value>) -> Self {
        let is_on = |server: &Value| {
            server.get("disabled") != Some(&Value::Bool(true)) && server.get("enabled") != Some(&Value::Bool(false))
        };
        let names = servers.iter().filter(|(name, server)| *name != NAME && is_on(server));
        Self { names: names.map(|(name, _)| name.clone()).collect() }
    }
}

/// A sentence on servers that are reached directly.
pub fn sentence(names: &[String]) -> String {
    let servers = if let [_] = names { "1 server is".to_owned() } else { format!("{} servers are", names.len()) };
    format!("{servers} still reached past the gateway: {}.", names.join(", "))
}

impl Behind<'_> {
    fn find(&self, name: &str) -> Option<&Upstream> {
        let name = normalised(name);
        self.upstreams.iter().find(|upstream| upstream.name == name && upstream.enabled)
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns true if the upstream of that name starts another program or calls another address than the client did.
    pub fn is_another(&self, name: &str, server: &Value) -> bool {
        let Some(upstream) = self.find(name) else { return false };
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        let url = text("url").or_else(|| text("serverUrl")).or_else(|| text("httpUrl"));
        match (text("command"), url) {
            (Some(command), _) => upstream.command.as_deref() != Some(command),
            (None, Some(url)) => upstream.url.as_deref() != Some(url),
            (None, None) => false,
        }
    }
}

/// A sentence on a server that no upstream stands for.
pub fn not_behind(name: &str, client: Client, file: &str, options: &str) -> String {
    let how = match client {
        // `import` does not read its file
        Client::Zed => format!("toolgate add {name} -- COMMAND ARGS{options}"),
        _ => format!("toolgate import {file} --write{options}"),
    };
    format!("'{name}' is not behind the gateway yet: {how}")
}
