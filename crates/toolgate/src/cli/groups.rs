//! The groups that `toolgate --help` lists commands under.

use clap::Command;

use super::wrap::hanging;

/// Columns of the list of commands, where the terminal is not narrower.
const WIDEST: usize = 100;

/// A heading and the commands under it.
pub struct CommandGroup {
    pub title: &'static str,
    pub commands: &'static [&'static str],
}

/// Every command, once.
pub const GROUPS: &[CommandGroup] = &[
    CommandGroup { title: "Run", commands: &["serve", "stdio", "init", "check", "doctor"] },
    CommandGroup { title: "Servers", commands: &["add", "import", "upstream"] },
    CommandGroup { title: "Clients", commands: &["connect", "token", "key"] },
    CommandGroup { title: "Who may do what", commands: &["explain", "matrix", "test", "replay"] },
    CommandGroup {
        title: "Approvals and records",
        commands: &["approvals", "plans", "receipts", "undo", "ledger", "events"],
    },
    CommandGroup { title: "Tenants", commands: &["tenant", "user", "override", "catalog"] },
    CommandGroup { title: "Agents and processes", commands: &["agent", "project", "task", "process"] },
    CommandGroup { title: "Maintenance", commands: &["migrate", "store", "completions", "man"] },
];

/// The template of `toolgate --help`: clap has no groups of commands, so the list is written into it.
pub fn help_template(command: &Command, width: Option<usize>) -> String {
    let width = width.unwrap_or(WIDEST).min(WIDEST);
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        list(command, width)
    )
}

fn list(command: &Command, width: usize) -> String {
    let names = GROUPS.iter().flat_map(|group| group.commands);
    let column = names.map(|name| name.len()).max().unwrap_or_default() + 4;
    let mut text = String::new();
    for group in GROUPS {
        text.push_str(&format!("{}:\n", group.title));
        for name in group.commands {
            let Some(found) = command.find_subcommand(name) else { continue };
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            text.push_str(&hanging(&format!("  {name}"), column, first_sentence(&about), width));
        }
        text.push('\n');
    }
    text
}

/// The first sentence, without its full stop.
pub fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli;

    #[test]
    fn every_command_is_in_one_group() {
        let command = cli::definition(None);
        let defined: Vec<&str> =
            command.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands.iter().copied()).collect();
        let set = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(grouped.len(), set(&grouped).len(), "a command is in two groups");
        let defined: BTreeSet<&str> = defined.into_iter().collect();
        assert_eq!(defined, set(&grouped).into_iter().collect::<BTreeSet<&str>>());
    }

    #[test]
    fn the_list_of_commands_keeps_to_the_width() {
        let command = cli::definition(None);
        for width in [60, 80, 100] {
            let list = list(&command, width);
            assert!(list.lines().all(|line| line.chars().count() <= width), "{width}: {list}");
            assert!(!list.contains(['{', '}']), "a brace would be read as a tag of the template: {list}");
        }
    }
}
