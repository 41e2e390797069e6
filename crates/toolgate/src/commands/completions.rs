//! `completions`: what a shell needs to complete the command line.

use clap_complete::Shell;

use super::say;
use crate::{CommandResult, Ending, Misuse, cli};

pub fn run(shell: Shell) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::definition(None), "toolgate", &mut script);
    let script = String::from_utf8(script).map_err(|fault| Misuse::from(fault.to_string()))?;
    say(&script)?;
    Ok(Ending::Good)
}
