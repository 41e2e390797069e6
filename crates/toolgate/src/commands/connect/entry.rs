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

pub fn of(wish: &ConnectArgs) -> Result<Value, Misuse> {
    if let Some(token) = &wish.token
        && (token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()))
    {
        return Err("the token is empty or has characters that no token has; mint one: toolgate token mint".into());
    }
    if wish.client == Client::ClaudeDesktop && wish.url.is_some() {
        return Err("claude desktop takes only commands in its file; leave --url out, and it starts toolgate itself, \
                    or add the address under its settings, connectors"
            .into());
    }
    if wish.stdio || wish.client == Client::ClaudeDesktop { command(wish) } else { address(wish) }
}

/// A client starts it from anywhere, so every path is whole. A token among the arguments would be seen by all.
fn command(wish: &ConnectArgs) -> Result<Value, Misuse> {
    let ground = Ground::of(&wish.place)?;
    let program = std::env::current_exe().map_err(|fault| format!("where toolgate is can't be said: {fault}"))?;
    let mut arguments = vec!["stdio".to_owned()];
    let mut add = |option: &str, path| -> Result<(), Misuse> {
        arguments.extend([option.to_owned(), absolute(path)?.display().to_string()]);
        Ok(())
    };
    if let Some(path) = &ground.config_path {
        add("--config", path)?;
    }
    add("--data", &ground.data)?;
    let mut entry = Map::new();
    if !matches!(wish.client, Client::ClaudeDesktop | Client::Windsurf) {
        entry.insert("type".to_owned(), json!("stdio"));
    }
    entry.insert("command".to_owned(), json!(program.display().to_string()));
    entry.insert("args".to_owned(), json!(arguments));
    if let Some(token) = &wish.token {
        entry.insert("env".to_owned(), json!({ "TOOLGATE_TOKEN": token }));
    }
    Ok(Value::Object(entry))
}

fn address(wish: &ConnectArgs) -> Result<Value, Misuse> {
    let url = match &wish.url {
        Some(url) => url.clone(),
        None => configured(&Ground::of(&wish.place)?)?,
    };
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control())) {
        return Err(format!("'{url}' is no address; write it like http://127.0.0.1:8484/mcp").into());
    }
    let mut entry = Map::new();
    if wish.client == Client::Windsurf {
        entry.insert("serverUrl".to_owned(), json!(url));
    } else {
        entry.insert("type".to_owned(), json!("http"));
        entry.insert("url".to_owned(), json!(url));
    }
    if let Some(token) = &wish.token {
        entry.insert("headers".to_owned(), json!({ "Authorization": format!("Bearer {token}") }));
    }
    Ok(Value::Object(entry))
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
