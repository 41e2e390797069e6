//! One file for each command.

mod accept_new;
mod add;
mod admin;
mod agent;
mod agent_sessions;
mod approvals;
mod books;
mod caller_words;
mod check;
mod client_file;
mod completions;
mod connect;
mod doctor;
mod events;
mod explain;
mod following;
mod import;
mod init;
mod key;
mod ledger;
mod man;
mod matrix;
mod migrate;
mod next_steps;
mod plans;
mod policy_test;
mod process;
mod project;
mod project_task;
mod put_file;
mod receipts;
mod reload;
mod replay;
mod serve;
mod short_id;
mod sign_in;
mod stop_signal;
mod store;
mod table;
mod task;
mod token;
mod token_show;
mod undo;
mod upstream;
mod when;

use std::io::Write;

use serde::Serialize;

pub use approvals::operator as operator_name;
pub use serve::book_settings;

use crate::{
    CommandResult, Misuse,
    cli::{Command, Output},
};

pub async fn run(command: Command) -> CommandResult {
    match command {
        Command::Serve { place, listen, accept_new } => serve::http(&place, listen, accept_new).await,
        Command::Stdio { place, token, sign_in, accept_new } => serve::stdio(&place, token, &sign_in, accept_new).await,
        Command::Init { place, output } => init::run(&place, output),
        Command::Check { place, schema, output } => check::run(&place, schema, output),
        Command::Explain { tool, caller, approving: Some(asker), place, output, .. } => {
            explain::approving(&place, &tool, &caller.facts, &asker, output).await
        }
        Command::Explain { tool, caller, dry_run, arguments, place, output, .. } => {
            explain::run(&place, &tool, &caller.facts, dry_run, arguments.as_deref(), output).await
        }
        Command::Matrix { callers, tool, differs, place, output } => {
            matrix::run(&place, &callers, tool.as_deref(), differs, output).await
        }
        Command::Completions { shell } => completions::run(shell),
        Command::Man { out, format } => man::run(&out, format),
        Command::Test { files, place, output } => policy_test::run(&place, files, output),
        Command::Token(command) => token::run(command).await,
        Command::Add(asked) => add::run(&asked),
        Command::Upstream(command) => upstream::run(command).await,
        Command::Key(command) => key::run(command).await,
        Command::Task(command) => task::run(command).await,
        Command::Agent(command) => books::ended(agent::run(command).await),
        Command::Project(command) => books::ended(project::run(command).await),
        Command::Tenant(command) => books::ended(admin::tenant(command).await),
        Command::User(command) => books::ended(admin::user(command).await),
        Command::Override(command) => books::ended(admin::switch(command).await),
        Command::Catalog(command) => books::ended(admin::catalog(command).await),
        Command::Process(command) => process::run(command).await,
        Command::Approvals(command) => approvals::run(command).await,
        Command::Ledger(command) => ledger::run(command).await,
        Command::Undo(asked) => undo::run(*asked).await,
        Command::Replay(asked) => replay::run(*asked).await,
        Command::Receipts(command) => receipts::run(command).await,
        Command::Plans(command) => plans::run(command).await,
        Command::Import(asked) => import::run(&asked),
        Command::Connect(wish) => connect::run(&wish).await,
        Command::Store(command) => books::ended(store::run(command).await),
        Command::Migrate { place, output } => books::ended(migrate::run(&place, output).await),
        Command::Doctor { listen, place, output } => doctor::run(&place, listen, output).await,
        Command::Events { principal, limit, place, output } => {
            books::ended(events::run(&principal, limit, &place, output).await)
        }
    }
}

/// JSON where it was asked for, else the text.
fn print(output: Output, value: &impl Serialize, text: &str) -> Result<(), Misuse> {
    if output.json { say(&format!("{}\n", serde_json::to_string_pretty(value)?)) } else { say(text) }
}

/// A reader that has seen enough and gone (`| head`) is no fault.
fn say(text: &str) -> Result<(), Misuse> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        said => Ok(said?),
    }
}
