//! `man`: the manual, made from the definitions of the command line.

use std::{fs, path::Path};

use clap::{Arg, Command};

use super::say;
use crate::{
    CommandResult, Ending, Misuse,
    cli::{self, EXAMPLES, EXIT_CODES, GROUPS, ManualFormat, wrap::wrapped},
};

/// The file that holds the whole manual in Markdown.
const PAGE: &str = "commands.md";
const WIDTH: usize = 96;

pub fn run(folder: &Path, format: ManualFormat) -> CommandResult {
    let failed =
        |fault: std::io::Error| -> Misuse { format!("'{}' can't be written: {fault}", folder.display()).into() };
    fs::create_dir_all(folder).map_err(failed)?;
    let text = match format {
        ManualFormat::Man => {
            clap_mangen::generate_to(cli::definition(None), folder).map_err(failed)?;
            format!("The man pages are in {0}; read the first: man {0}/toolgate.1\n", folder.display())
        }
        ManualFormat::Markdown => {
            fs::write(folder.join(PAGE), markdown()).map_err(failed)?;
            format!("{} is written.\n", folder.join(PAGE).display())
        }
    };
    say(&text)?;
    Ok(Ending::Good)
}

/// Options that most commands take, described once.
const COMMON: [&str; 4] = ["config", "data", "database", "json"];

/// The whole manual on one page.
fn markdown() -> String {
    let mut root = cli::definition(None);
    root.build();
    let mut text = String::from(
        "# Commands\n\nThis page is made from the command line itself, by `toolgate man --format markdown --out docs`.\n\n",
    );
    text.push_str("```text\n");
    let codes = EXIT_CODES.split_once("\n\n").map_or(EXIT_CODES, |(_, codes)| codes);
    text.push_str(&format!("{codes}\n```\n\nMost commands take these options:\n\n"));
    if let Some(command) = root.find_subcommand("check") {
        arguments(&mut text, command, |argument| COMMON.contains(&argument.get_id().as_str()));
    }
    for group in GROUPS {
        text.push_str(&format!("\n## {}\n", group.title));
        for name in group.commands {
            if let Some(command) = root.find_subcommand(name) {
                section(&mut text, name, command);
            }
        }
    }
    text
}

fn section(text: &mut String, path: &str, command: &Command) {
    text.push_str(&format!("\n### `toolgate {path}`\n\n"));
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    paragraph(text, "", &sentence(&about));
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        section(text, &format!("{path} {}", inner.get_name()), inner);
    }
    if command.has_subcommands() {
        return;
    }
    let is_own = |argument: &Arg| !COMMON.contains(&argument.get_id().as_str()) && argument.get_id() != "help";
    if command.get_arguments().any(is_own) {
        text.push('\n');
        arguments(text, command, is_own);
    }
    if let Some((_, lines)) = EXAMPLES.iter().find(|(of, _)| *of == path) {
        text.push_str(&format!("\n```text\n{}\n```\n", lines.join("\n")));
    }
}

fn arguments(text: &mut String, command: &Command, wanted: impl Fn(&Arg) -> bool) {
    for argument in command.get_arguments().filter(|argument| wanted(argument)) {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let mut words = format!("`{}`: {}", argument.to_string().trim(), sentence(&help));
        let values: Vec<String> =
            argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
        let takes_value = argument.get_action().takes_values();
        if takes_value && !values.is_empty() {
            words.push_str(&format!(" One of {}.", values.join(", ")));
        }
        let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if takes_value && defaults.iter().any(|value| !value.is_empty()) {
            words.push_str(&format!(" Default: `{}`.", defaults.join(" ")));
        }
        if let Some(variable) = argument.get_env() {
            words.push_str(&format!(" Variable: `{}`.", variable.to_string_lossy()));
        }
        paragraph(text, "- ", &words);
    }
}

/// clap takes the last full stop away.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', ':', '…']) { text.to_owned() } else { format!("{text}.") }
}

/// Lines of the page's width; those after the first begin below the first's text.
fn paragraph(text: &mut String, mark: &str, words: &str) {
    for (index, line) in wrapped(words, WIDTH).iter().enumerate() {
        let before = if index == 0 { mark.to_owned() } else { " ".repeat(mark.len()) };
        text.push_str(&format!("{before}{line}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_commands_is_the_one_in_the_documentation() {
        let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(PAGE);
        let documented = fs::read_to_string(&documented).unwrap_or_default();
        assert_eq!(markdown(), documented, "write it again: toolgate man --format markdown --out docs");
    }

    #[test]
    fn every_command_has_a_man_page() {
        let folder = tempfile::tempdir().unwrap();
        clap_mangen::generate_to(cli::definition(None), folder.path()).unwrap();
        for (path, lines) in EXAMPLES {
            let page = folder.path().join(format!("toolgate-{}.1", path.replace(' ', "-")));
            let page = fs::read_to_string(&page).unwrap_or_else(|fault| panic!("{}: {fault}", page.display()));
            let first = lines.first().unwrap().split(['\'', '-', '~', '$']).next().unwrap().trim_end();
            assert!(page.contains(first), "{path}: {first}: {page}");
        }
    }
}
