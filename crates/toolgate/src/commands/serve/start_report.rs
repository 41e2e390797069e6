//! The lines that `serve` prints when it starts: what runs, where, out of which files, and the next command to type.

use std::{fmt::Write, net::IpAddr, path::Path};

use toolgate_core::{Gate, terminal_escape};

use super::super::next_steps::place_options;
use crate::{cli::Place, config::Config, ground::Ground};

/// Everything that the start lines name.
pub struct StartReport<'a> {
    pub resource: &'a str,
    pub ground: &'a Ground,
    pub place: &'a Place,
    pub gate: &'a Gate,
}

impl StartReport<'_> {
    pub fn render(&self) -> String {
        let config = &self.ground.config;
        let mut text = format!("Toolgate {}\n", env!("CARGO_PKG_VERSION"));
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name}: {}", terminal_escape(value));
        };
        line("MCP address", self.resource);
        line("Data folder", &absolute(&self.ground.data));
        match &self.ground.config_path {
            Some(path) => line("Configuration", &absolute(path)),
            None => {
                line("Configuration", "none; the built-in demonstration packs are served");
                line("Your own servers", &format!("toolgate add NAME -- COMMAND{}", place_options(self.place)));
            }
        }
        line("Packs", &packs(config, self.gate));
        if !config.upstreams.is_empty() {
            line("Upstreams", &upstreams(config));
        }
        line("Next", &format!("toolgate connect{}", place_options(self.place)));
        text
    }
}

/// The warning for an address that other machines reach, unless a proxy with TLS stands in front.
pub fn clear_text_warning(config: &Config, address: IpAddr) -> Option<String> {
    let has_tls = config.server.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
    if address.is_loopback() || has_tls {
        return None;
    }
    Some(format!(
        "{address} is reached from other machines, and tokens cross the network in clear text; put a proxy with TLS in \
         front and set [server] public_url = \"https://…/mcp\" (docs/running.md)"
    ))
}

fn packs(config: &Config, gate: &Gate) -> String {
    if config.packs.is_empty() {
        return "none".to_owned();
    }
    let count = |name: &str| gate.catalog().tools().filter(|tool| &*tool.source == name).count();
    let named: Vec<String> = config.packs.keys().map(|name| format!("{name} ({})", tools(count(name)))).collect();
    named.join(", ")
}

fn upstreams(config: &Config) -> String {
    let named: Vec<String> = config
        .upstreams
        .iter()
        .map(|upstream| match upstream.enabled {
            true => upstream.name.clone(),
            false => format!("{} (switched off)", upstream.name),
        })
        .collect();
    named.join(", ")
}

pub fn tools(count: usize) -> String {
    match count {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_others_reach_is_warned_about_unless_a_proxy_has_tls() {
        let (loopback, any) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0]));
        let mut config = Config::default();
        assert!(clear_text_warning(&config, loopback).is_none());
        assert!(clear_text_warning(&config, any).unwrap().contains("clear text"));
        config.server.public_url = Some("http://tools.example/mcp".to_owned());
        assert!(clear_text_warning(&config, any).is_some());
        config.server.public_url = Some("https://tools.example/mcp".to_owned());
        assert!(clear_text_warning(&config, any).is_none());
    }
}
