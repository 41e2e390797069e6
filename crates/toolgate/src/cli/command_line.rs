//! The command line put together, and read: definitions, groups, examples and suggestions.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::{Cli, Command, examples, groups, mistakes};

/// The meaning of exit codes; shown below `toolgate --help`.
pub const EXIT_CODES: &str = "\
Every command explains itself: toolgate COMMAND --help

Exit codes:
  0  done, or the answer is yes
  1  the answer is no: denied, found wanting, not there, or not all of it done
  2  wrong use, or it could not be carried out";

/// The command line as it was typed.
#[derive(Debug)]
pub struct Parsed {
    pub command: Command,
    /// The configuration file that was named, by an option or the variable.
    pub config: Option<PathBuf>,
}

/// The command line with its groups and examples; `width` is the terminal's.
pub fn definition(width: Option<usize>) -> clap::Command {
    let command = Cli::command();
    let template = groups::help_template(&command, width);
    examples::with_examples(command).help_template(template).after_help(EXIT_CODES)
}

/// Reads the arguments, the program's name left out.
pub fn parse(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Parsed, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let mut definition = definition(crate::terminal::width());
    let whole = std::iter::once(OsString::from("toolgate")).chain(arguments.iter().cloned());
    let read = definition.try_get_matches_from_mut(whole).and_then(|matches| {
        let command = Cli::from_arg_matches(&matches)?.command;
        Ok(Parsed { command, config: config(&matches) })
    });
    let words = || arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>();
    read.map_err(|error| mistakes::with_suggestion(error, &definition, &words()))
}

/// The value of `--config` of the innermost command.
fn config(matches: &ArgMatches) -> Option<PathBuf> {
    match matches.subcommand() {
        Some((_, inner)) => config(inner),
        None => matches.try_get_one::<PathBuf>("config").ok().flatten().cloned(),
    }
}
