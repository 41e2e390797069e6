//! Where a Toolgate under test has its tools from, and the configuration that says so.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The source of the tools.
pub(crate) enum Catalogue {
    /// The echo pack, with this many tools in `tools.json`.
    Pack { tools: usize },
    /// MCP servers, each with this many tools.
    Upstreams { all: Vec<Upstream>, tools_each: usize },
}

pub(crate) struct Upstream {
    pub(crate) name: String,
    pub(crate) prefix: String,
    pub(crate) place: Place,
}

pub(crate) enum Place {
    Http(SocketAddr),
    /// A program that Toolgate starts, and its arguments.
    Child(PathBuf, Vec<String>),
}

impl Catalogue {
    pub(crate) fn tools(&self) -> usize {
        match self {
            Self::Pack { tools } => *tools,
            Self::Upstreams { all, tools_each } => all.len() * tools_each,
        }
    }

    pub(crate) fn upstreams(&self) -> &[Upstream] {
        match self {
            Self::Pack { .. } => &[],
            Self::Upstreams { all, .. } => all,
        }
    }

    /// The text of `toolgate.toml`.
    pub(crate) fn configuration(&self, listen: SocketAddr) -> String {
        let mut text = format!("[server]\nlisten = \"{listen}\"\n");
        if let Self::Pack { .. } = self {
            text.push_str("\n[packs.echo]\ndefinitions = \"tools.json\"\n");
        }
        for Upstream { name, prefix, place } in self.upstreams() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n[[upstreams]]\nname = \"{name}\"\nprefix = \"{prefix}\"\n");
            let _ = match place {
                Place::Http(address) => writeln!(text, "url = \"http://{address}/mcp\""),
                Place::Child(program, arguments) => {
                    let program = quoted(&program.to_string_lossy());
                    let arguments: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
                    writeln!(text, "command = {program}\nargs = [{}]", arguments.join(", "))
                }
            };
            // What an echo is. Every other fact of an upstream's tool stays as it is without configuration.
            let _ = writeln!(text, "\n[tools.{}]\neffect = \"read\"", quoted(&format!("{prefix}echo")));
        }
        text
    }
}

/// A JSON string is a basic string of TOML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 80);

    #[test]
    fn a_pack_is_named_with_its_definitions() {
        let pack = Catalogue::Pack { tools: 20 };
        let expected = "[server]\nlisten = \"127.0.0.1:80\"\n\n[packs.echo]\ndefinitions = \"tools.json\"\n";
        assert_eq!(pack.configuration(HERE), expected);
        assert_eq!(pack.tools(), 20);
        assert!(pack.upstreams().is_empty());
    }

    #[test]
    fn upstreams_are_named_with_their_places() {
        let upstream = |name: &str, place| Upstream { name: name.to_owned(), prefix: format!("{name}_"), place };
        let child = Place::Child("/a \"b\"".into(), vec!["--tools".to_owned(), "5".to_owned()]);
        let all = vec![upstream("u1", Place::Http(HERE)), upstream("u2", child)];
        let catalogue = Catalogue::Upstreams { all, tools_each: 5 };
        let text = catalogue.configuration(HERE);
        assert!(text.contains("name = \"u1\"\nprefix = \"u1_\"\nurl = \"http://127.0.0.1:80/mcp\"\n"), "{text}");
        assert!(text.contains("command = \"/a \\\"b\\\"\"\nargs = [\"--tools\", \"5\"]\n"), "{text}");
        assert!(text.contains("[tools.\"u2_echo\"]\neffect = \"read\"\n"), "{text}");
        assert_eq!(catalogue.tools(), 10);
    }
}
