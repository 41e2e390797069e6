//! The next steps that a command prints: lines that work when they are typed as they are.

use std::path::Path;

use clap::ValueEnum;

use crate::{
    cli::{Client, ImportArgs, Place},
    config::Writes,
};

/// The meaning of `writes = "ask"`, for a person who has just added a server.
pub const WRITES_ASK: &str = "Calls wait for approval, unless the tool is known to read: [tools.NAME] effect = \"read\".\n\
    To run them without approval: writes = \"allow\" in [[upstreams]].\n";

/// The options that lead to the same configuration and data from another terminal.
pub fn place_options(place: &Place) -> String {
    let mut options = String::new();
    if let Some(config) = &place.config {
        options.push_str(&format!(" --config {}", shell_word(&config.display().to_string())));
    }
    if place.data.as_os_str() != ".toolgate" {
        options.push_str(&format!(" --data {}", shell_word(&place.data.display().to_string())));
    }
    options
}

/// The options of an import that change what is written.
pub fn import_options(asked: &ImportArgs) -> String {
    let mut options = String::new();
    if asked.prefix {
        options.push_str(" --prefix");
    }
    if asked.no_prefix {
        options.push_str(" --no-prefix");
    }
    if asked.writes == Writes::Allow {
        options.push_str(" --writes allow");
    }
    options
}

pub fn after_init(place: &Place) -> String {
    let options = place_options(place);
    steps(&[
        (format!("toolgate add NAME{options} -- COMMAND"), "put an MCP server behind the gateway"),
        (format!("toolgate upstream accept --all{options}"), "review its tools and accept them"),
        (format!("toolgate serve{options}"), ""),
    ])
}

pub fn after_add(name: &str, place: &Place) -> String {
    let options = place_options(place);
    steps(&[
        (format!("toolgate upstream accept {name}{options}"), "review its tools and accept them"),
        (format!("toolgate serve{options}"), "one that runs follows the file by itself"),
    ])
}

pub fn after_import(file: &Path, place: &Place) -> String {
    let options = place_options(place);
    let client =
        client_of(file).and_then(|client| Some(format!(" {} --user YOU", client.to_possible_value()?.get_name())));
    steps(&[
        (format!("toolgate upstream accept --all{options}"), "review their tools and accept them"),
        (format!("toolgate serve{options}"), "one that runs follows the file by itself"),
        (format!("toolgate connect{}{options}", client.unwrap_or_default()), "point the client here"),
    ])
}

fn steps(steps: &[(String, &str)]) -> String {
    let width = steps.iter().filter(|(_, why)| !why.is_empty()).map(|(step, _)| step.chars().count()).max();
    let line = |(step, why): &(String, &str)| match why {
        &"" => format!("  {step}\n"),
        why => format!("  {step:<width$}  # {why}\n", width = width.unwrap_or_default()),
    };
    format!("Next:\n{}", steps.iter().map(line).collect::<String>())
}

/// The client that keeps its servers in a file of this name.
fn client_of(file: &Path) -> Option<Client> {
    let path = std::path::absolute(file).ok()?;
    let parts: Vec<_> = path.components().rev().take(3).map(|part| part.as_os_str().to_string_lossy()).collect();
    let part = |at: usize| parts.get(at).map(AsRef::as_ref).unwrap_or_default();
    match (part(0), part(1), part(2)) {
        ("claude_desktop_config.json", ..) => Some(Client::ClaudeDesktop),
        (".mcp.json" | ".claude.json", ..) => Some(Client::ClaudeCode),
        ("mcp.json", ".cursor", _) => Some(Client::Cursor),
        ("mcp.json", ".vscode", _) | ("mcp.json" | "settings.json", "User", "Code") => Some(Client::VsCode),
        ("mcp_config.json", "windsurf", _) => Some(Client::Windsurf),
        _ => None,
    }
}

/// A word as a shell reads it: in single quotes where it has more than plain characters.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_where_it_keeps_its_file() {
        for (file, client) in [
            ("/a/.cursor/mcp.json", Some(Client::Cursor)),
            ("/p/.vscode/mcp.json", Some(Client::VsCode)),
            ("/a/.config/Code/User/mcp.json", Some(Client::VsCode)),
            ("/p/.mcp.json", Some(Client::ClaudeCode)),
            ("/a/.claude.json", Some(Client::ClaudeCode)),
            ("/x/claude_desktop_config.json", Some(Client::ClaudeDesktop)),
            ("/a/.codeium/windsurf/mcp_config.json", Some(Client::Windsurf)),
            ("/p/mcp.json", None),
        ] {
            assert_eq!(client_of(Path::new(file)), client, "{file}");
        }
    }

    #[test]
    fn a_shell_reads_a_word_as_it_is() {
        for (word, expected) in [("a/b.json", "a/b.json"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''")] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
