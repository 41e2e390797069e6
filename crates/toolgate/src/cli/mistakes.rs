//! Suggestions for what was mistyped: the nearest command first, and the option that a wrong one stands for.

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};
use toolgate_core::suggest::closest;

/// Options that people know from elsewhere, and what they are called here.
const KNOWN_ELSEWHERE: &[(&str, &str)] = &[
    ("--port", "--listen"),
    ("--host", "--listen"),
    ("--bind", "--listen"),
    ("--address", "--listen"),
    ("--addr", "--listen"),
    ("--conf", "--config"),
    ("--data-dir", "--data"),
    ("--dir", "--data"),
    ("--db", "--database"),
    ("--database-url", "--database"),
    ("--format", "--json"),
    ("--output", "--json"),
    ("--max", "--limit"),
    ("--count", "--limit"),
    ("--lines", "--limit"),
];

/// The error with better suggestions, where there are any. `arguments` are those of the command line.
pub fn with_suggestion(mut error: Error, command: &Command, arguments: &[String]) -> Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let within = innermost(command, arguments);
            let names: Vec<&str> = within.get_subcommands().map(Command::get_name).collect();
            if let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand)
                && let Some(near) = closest(wrong, names.iter().copied())
            {
                let near = near.to_owned();
                error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
            }
        }
        ErrorKind::UnknownArgument if error.get(ContextKind::SuggestedArg).is_none() => {
            let within = innermost(command, arguments);
            if let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg)
                && let Some(meant) = meant(within, wrong)
            {
                error.insert(ContextKind::SuggestedArg, ContextValue::String(meant));
            }
        }
        _ => {}
    }
    error
}

/// The command that the arguments name, as far as they name one.
fn innermost<'c>(command: &'c Command, arguments: &[String]) -> &'c Command {
    let mut within = command;
    for argument in arguments.iter().filter(|argument| !argument.starts_with('-')) {
        match within.find_subcommand(argument) {
            Some(found) => within = found,
            None => break,
        }
    }
    within
}

/// The option of the command that a wrong one stands for.
fn meant(command: &Command, wrong: &str) -> Option<String> {
    let wrong = wrong.split('=').next().unwrap_or(wrong);
    let near = closest(wrong, KNOWN_ELSEWHERE.iter().map(|(elsewhere, _)| *elsewhere))?;
    let (_, here) = KNOWN_ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == near)?;
    let is_taken = |argument: &clap::Arg| argument.get_long().is_some_and(|long| here.strip_prefix("--") == Some(long));
    command.get_arguments().any(is_taken).then(|| (*here).to_owned())
}

#[cfg(test)]
mod tests {
    use crate::cli;

    fn said(line: &str) -> String {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let error = cli::parse(arguments.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_err();
        error.render().to_string()
    }

    #[test]
    fn the_nearest_command_is_the_one_suggested() {
        let text = said("srve");
        assert!(text.contains("'serve'") && !text.contains("'upstream'"), "{text}");
        assert!(said("tenant ad").contains("'add'"));
        assert!(said("ledger tial").contains("'tail'"));
    }

    #[test]
    fn an_option_of_another_name_is_suggested() {
        for (wrong, right) in [
            ("serve --prt 1", "'--listen'"),
            ("serve --port 1", "'--listen'"),
            ("serve --confg x", "'--config'"),
            ("receipts list --lines 3", "'--limit'"),
            ("check --db x", "'--database'"),
        ] {
            let text = said(wrong);
            assert!(text.contains(right), "{wrong}: {text}");
        }
    }
}
