//! The entry for Toolgate, as each client wants it.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::absolute,
};

use serde_json::{Map, Value, json};

use crate::{
    Misuse,
    cli::{Client, ConnectArgs},
    ground::Ground,
};

/// The entry as it will be, and the address in it; a command has none.
pub struct Entry {
    value: Value,
    pub url: Option<String>,
    is_http: bool,
}

impl Entry {
    /// The entry without a credential.
    pub fn of(wish: &ConnectArgs, client: Client, ground: &Ground) -> Result<Self, Misuse> {
        if client == Client::ClaudeDesktop && wish.url.is_some() {
            return Err(
                "claude desktop takes only commands in its file; leave --url out, and it starts toolgate itself, \
                        or add the address under its settings, connectors"
                    .into(),
            );
        }
        if wish.stdio || client == Client::ClaudeDesktop {
            return Ok(Self { value: command(client, ground)?, url: None, is_http: false });
        }
        let url = match &wish.url {
            Some(url) => url.clone(),
            None => configured(ground)?,
        };
        Ok(Self { value: address(client, &url)?, url: Some(url), is_http: true })
    }

    /// The entry with a credential, where there is one. A token among the arguments of a command would be seen by all.
    pub fn with_token(&self, token: Option<&str>) -> Result<Value, Misuse> {
        let mut value = self.value.clone();
        let (Some(token), Some(members)) = (token, value.as_object_mut()) else { return Ok(value) };
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token is empty or has characters that no token has; mint one: toolgate token mint".into());
        }
        if self.is_http {
            members.insert("headers".to_owned(), json!({ "Authorization": format!("Bearer {token}") }));
        } else {
            members.insert("env".to_owned(), json!({ "TOOLGATE_TOKEN": token }));
        }
        Ok(value)
    }

    /// The credential of an entry that is the same but for the credential: it was given for this very address.
    pub fn token_of(&self, there: &Value) -> Option<String> {
        let place = if self.is_http { "/headers/Authorization" } else { "/env/TOOLGATE_TOKEN" };
        let token = there.pointer(place)?.as_str()?;
        let token = if self.is_http { token.strip_prefix("Bearer ")? } else { token };
        (self.with_token(Some(token)).ok()? == *there).then(|| token.to_owned())
    }
}

/// The content of an entry for this gateway.
pub struct Expected {
    url: Option<String>,
    arguments: Value,
}

impl Expected {
    pub fn of(ground: &Ground) -> Result<Self, Misuse> {
        Ok(Self { url: configured(ground).ok(), arguments: json!(arguments(ground)?) })
    }

    /// Returns true if an entry leads to this gateway.
    pub fn is_met_by(&self, entry: &Value) -> bool {
        let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(key)?.as_str());
        match url {
            Some(url) => self.url.as_deref() == Some(url),
            None => entry.get("args") == Some(&self.arguments),
        }
    }
}

/// A client starts it from anywhere, so every path is whole.
fn arguments(ground: &Ground) -> Result<Vec<String>, Misuse> {
    let mut arguments = vec!["stdio".to_owned()];
    let mut add = |option: &str, path| -> Result<(), Misuse> {
        arguments.extend([option.to_owned(), absolute(path)?.display().to_string()]);
        Ok(())
    };
    if let Some(path) = &ground.config_path {
        add("--config", path)?;
    }
    add("--data", &ground.data)?;
    Ok(arguments)
}

fn command(client: Client, ground: &Ground) -> Result<Value, Misuse> {
    let program = std::env::current_exe().map_err(|fault| format!("where toolgate is can't be said: {fault}"))?;
    let mut entry = Map::new();
    if matches!(client, Client::ClaudeCode | Client::Cursor | Client::VsCode) {
        entry.insert("type".to_owned(), json!("stdio"));
    }
    entry.insert("command".to_owned(), json!(program.display().to_string()));
    entry.insert("args".to_owned(), json!(arguments(ground)?));
    Ok(Value::Object(entry))
}

fn address(client: Client, url: &str) -> Result<Value, Misuse> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control())) {
        return Err(format!("'{url}' is no address; write it like http://127.0.0.1:8484/mcp").into());
    }
    Ok(match client {
        Client::Windsurf => json!({ "serverUrl": url }),
        // its `url` is for the transport before Streamable HTTP
        Client::GeminiCli => json!({ "httpUrl": url }),
        Client::Zed => json!({ "url": url }),
        _ => json!({ "type": "http", "url": url }),
    })
}

/// The address clients on this machine reach it at.
fn configured(ground: &Ground) -> Result<String, Misuse> {
    let server = &ground.config.server;
    if let Some(url) = &server.public_url {
        return Ok(url.clone());
    }
    let listen = &server.listen;
    let Ok(mut address) = listen.parse::<SocketAddr>() else {
        return Ok(format!("http://{listen}/mcp"));
    };
    if address.port() == 0 {
        return Err(format!("[server] listen = \"{listen}\" takes any port; say which with --url").into());
    }
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    Ok(format!("http://{address}/mcp"))
}
