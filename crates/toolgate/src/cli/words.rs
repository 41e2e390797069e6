//! The test that nothing of the command line goes without words.

use clap::Command;

use crate::cli;

#[test]
fn every_command_and_every_argument_has_words() {
    let mut without = Vec::new();
    look(&cli::definition(None), "toolgate", &mut without);
    assert!(without.is_empty(), "no words: {without:#?}");
}

fn look(command: &Command, path: &str, without: &mut Vec<String>) {
    if command.get_about().is_none_or(|about| about.to_string().trim().is_empty()) {
        without.push(path.to_owned());
    }
    for argument in command.get_arguments() {
        let is_built_in = matches!(argument.get_id().as_str(), "help" | "version");
        if !is_built_in && argument.get_help().is_none_or(|help| help.to_string().trim().is_empty()) {
            without.push(format!("{path} {argument}"));
        }
    }
    for inner in command.get_subcommands() {
        look(inner, &format!("{path} {}", inner.get_name()), without);
    }
}
